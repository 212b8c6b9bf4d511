"""A reader of the bouma format, written from docs/format.md alone.

    data = Dataset("run.bouma")
    step = data.open(data.steps[-1])
    rho = step.grids["grid"].variables["rho"].read(level=2)

It is made to be strict and easy to follow, not to be fast. Whatever contradicts the document raises Damage; a
question that makes no sense (no such step, level or box) raises KeyError or ValueError. Section numbers are those of
the document.
"""

import itertools
import math
import os
import struct
import typing

import numpy as np
import xxhash

from bouma_codecs import Damage, Interp, ceil_div, check, zstd

MAGIC = b"BOUMA\r\n\x1a"
INDEX_MAGIC = b"bmstep\r\n"
DATASET, MANIFEST, HEAD = 1, 2, 3
TYPES = {1: "<i1", 2: "<i2", 3: "<i4", 4: "<i8", 5: "<u1", 6: "<u2", 7: "<u4", 8: "<u8", 9: "<f4", 10: "<f8"}
STRING = 11
CODECS = {1: "zstd", 2: "raw", 3: "interp"}
ABSOLUTE, RELATIVE = 0, 1
ORDERS = {1: "level", 2: "chunk"}
RECORD = ("raw_bytes stored_bytes moved_bytes shipped_bytes moved_messages shipped_messages largest_file "
          "mean_file files chunks ranks most_patches "
          "describe plan distribute shape ship store commit").split()


def read_whole(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Damage(f"{path}: {error.strerror}") from error


def envelope(data, kind, identity, what):
    """Section 2: checks an envelope that fills all of data; its body as a Cursor, and the identity."""
    check(len(data) >= 64, f"{what}: shorter than an envelope")
    magic, kind_found, major, minor, size, zero, identity_found, digest = struct.unpack("<8sIHHQQ16s16s", data[:64])
    check(magic == MAGIC, f"{what}: wrong magic")
    check(kind_found == kind, f"{what}: is of kind {kind_found}, not {kind}")
    check(major == 1, f"{what}: unknown version {major}.{minor}")
    check(size == len(data) - 64, f"{what}: the body has {len(data) - 64} bytes, not {size}")
    check(xxhash.xxh3_128_digest(data[:48] + data[64:]) == digest, f"{what}: wrong hash")
    check(zero == 0, f"{what}: bytes that are not zero")
    check(identity in (None, identity_found), f"{what}: belongs to another dataset")
    return Cursor(data, 64, what), identity_found


class Cursor:
    """Reads one part of a body after the other, and never past its end."""

    def __init__(self, data, position, what):
        self.data, self.position, self.what = data, position, what

    def check(self, condition, what):
        check(condition, f"{self.what}: {what}")

    def take(self, size):
        self.check(size <= len(self.data) - self.position, "ends too early")
        self.position += size
        return self.data[self.position - size:self.position]

    def unpack(self, fields):
        return struct.unpack("<" + fields, self.take(struct.calcsize("<" + fields)))

    def one(self, field):
        return self.unpack(field)[0]

    def array(self, dtype, *shape):
        dtype = np.dtype(dtype)
        return np.frombuffer(self.take(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)

    def varint(self):
        """Section 3: seven bits a byte, the lowest first."""
        number = shift = 0
        while True:
            byte = self.one("B")
            number |= (byte & 127) << shift
            if byte < 128:
                self.check((byte or not shift) and number < 2**64, "a varint that is too long")
                return number
            shift += 7
            self.check(shift < 64, "a varint that is too long")

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def end(self):
        self.check(self.position == len(self.data), "bytes behind the end")

    def zero(self, field):
        self.check(self.one(field) == 0, "bytes that are not zero")

    def utf8(self, size):
        try:
            return self.take(size).decode("utf-8")
        except UnicodeDecodeError:
            raise Damage(f"{self.what}: text that is not UTF-8") from None

    def text(self):
        text = self.utf8(self.one("H"))
        self.check("\0" not in text, "text with NUL")
        return text

    def name(self, others):
        """A name that others (names, or a dict by name) do not have yet."""
        name = self.text()
        self.check(1 <= len(name.encode()) <= 255, "a name of a wrong length")
        self.check("/" not in name and all(ord(c) >= 32 and ord(c) != 127 for c in name), f"bad name {name!r}")
        self.check(name not in others, f"the name {name!r} twice")
        return name

    def attributes(self):
        """Section 3: a dict of name to str, or to an array of numbers."""
        found = {}
        for _ in range(self.one("Q")):
            name = self.name(found)
            type_, n = self.unpack("BQ")
            self.check(type_ in TYPES or type_ == STRING, f"attribute {name!r} of unknown type {type_}")
            size = n * np.dtype(TYPES.get(type_, "u1")).itemsize
            self.check(size <= 2**20, f"attribute {name!r} is too large")
            found[name] = self.utf8(n) if type_ == STRING else self.array(TYPES[type_], n)
        return found

    def schema(self, step):
        """Section 3: the grids, by name."""
        grids = {}
        number = 0
        for _ in range(self.one("Q")):
            grid = Grid(self, grids)
            grids[grid.name] = grid
            for _ in range(self.one("Q")):
                variable = Variable(self, step, grid, number)
                grid.variables[variable.name] = variable
                number += 1
                self.check(number <= 4096, "too many variables")
        return grids


class Grid:
    def __init__(self, cursor, others):
        kind, layout, self.ndims, self.levels = cursor.unpack("BBBB")
        cursor.check(kind == 1 and layout == 1, f"unknown kind {kind} or layout {layout} of a grid")
        cursor.check(1 <= self.ndims <= 3, f"a grid of {self.ndims} axes")
        self.name = cursor.name(others)
        self.unit = cursor.text()
        axes = [cursor.unpack("qqdd") for _ in range(self.ndims)]
        self.shape, self.edges, self.origin, self.spacing = zip(*axes)
        for extent, edge in zip(self.shape, self.edges):
            cursor.check(1 <= extent < 2**40, f"bad extent {extent}")
            cursor.check(edge >= 1 and edge & (edge - 1) == 0, f"patch edge {edge} is no power of two")
            cursor.check(edge <= 1 << (extent - 1).bit_length(), f"patch edge {edge} is too large for {extent}")
        cursor.check(1 <= self.levels <= min(32, max(self.edges).bit_length()), f"{self.levels} levels")
        cursor.check(math.prod(self.shape) < 2**62, "too many samples")
        self.places = tuple(ceil_div(extent, edge) for extent, edge in zip(self.shape, self.edges))
        cursor.check(math.prod(self.places) <= 2**31, "too many patches")
        self.attributes = cursor.attributes()
        self.variables = {}

    def place(self, key):
        """Section 4: the place of the patch with this Morton key."""
        place = [0] * self.ndims
        for bit in range(64):
            axis = self.ndims - 1 - bit % self.ndims
            place[axis] |= (key >> bit & 1) << bit // self.ndims
        return tuple(place)

    def patch_box(self, place):
        """Per axis (low, high), half-open, in samples."""
        return [(p * edge, min((p + 1) * edge, extent)) for p, edge, extent in zip(place, self.edges, self.shape)]

    def level_box(self, box, level):
        """The part of a box that a level has, in samples of that level."""
        return [(ceil_div(low, 1 << level), ceil_div(high, 1 << level)) for low, high in box]


class Variable:
    def __init__(self, cursor, step, grid, number):
        self.step, self.grid, self.number = step, grid, number
        self.name = cursor.name(grid.variables)
        self.unit = cursor.text()
        type_, codec, self.codec_level, self.kind, self.components = cursor.unpack("BBBBI")
        self.tolerance, self.bound = cursor.unpack("dd")
        cursor.check(type_ in TYPES, f"variable {self.name!r} of unknown type {type_}")
        cursor.check(codec in CODECS, f"variable {self.name!r} of unknown codec {codec}")
        cursor.check(1 <= self.components <= 256, f"{self.components} components")
        cursor.check(self.codec_level <= 22, f"codec level {self.codec_level}")
        self.dtype, self.codec = np.dtype(TYPES[type_]), CODECS[codec]
        self.check_tolerance(cursor)
        largest = math.prod(map(min, zip(grid.shape, grid.edges)))
        cursor.check(largest * self.components * self.dtype.itemsize <= 2**30, "chunks of more than 1 GiB")
        self.attributes = cursor.attributes()
        self.chunks = {}  # by place; empty if the variable is not in the step

    def check_tolerance(self, cursor):
        cursor.check(self.kind in (ABSOLUTE, RELATIVE), f"unknown kind {self.kind} of tolerance")
        if self.codec != "interp":
            cursor.check(self.tolerance == self.bound == 0, f"a tolerance with codec {self.codec}")
            return
        cursor.check(self.dtype.kind == "f", "codec interp with integers")
        cursor.check(0 < self.tolerance < math.inf and 0 <= self.bound < math.inf, "a bad tolerance")
        cursor.check(self.kind == RELATIVE or self.bound == self.tolerance, "a bound that is not the tolerance")

    @property
    def present(self):
        return bool(self.chunks)

    def read(self, level=0, box=None):
        """The samples of a level in a box, which is (low, high) per axis, half-open, in samples of level 0."""
        grid = self.grid
        if not self.present:
            raise KeyError(f"{grid.name}/{self.name} is not in step {self.step.number}")
        if not 0 <= level < grid.levels:
            raise ValueError(f"no level {level}")
        box = [(0, extent) for extent in grid.shape] if box is None else list(box)
        if len(box) != grid.ndims or any(not 0 <= low <= high <= n for (low, high), n in zip(box, grid.shape)):
            raise ValueError(f"bad box {box}")
        wanted = grid.level_box(box, level)
        result = np.zeros([self.components] + [high - low for low, high in wanted], self.dtype)
        touched = [range(low // edge, ceil_div(high, edge)) for (low, high), edge in zip(box, grid.edges)]
        for place in itertools.product(*touched):
            held = grid.level_box(grid.patch_box(place), level)
            common = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(wanted, held)]
            if all(low < high for low, high in common):
                target = tuple(slice(low - w, high - w) for (low, high), (w, _) in zip(common, wanted))
                source = tuple(slice(low - h, high - h) for (low, high), (h, _) in zip(common, held))
                result[(slice(None),) + target] = self.chunks[place].read(level)[(slice(None),) + source]
        return result[0] if self.components == 1 else np.ascontiguousarray(np.moveaxis(result, 0, -1))


class Chunk:
    """One patch of one variable, in a subfile. The offsets, sizes and checksums are lists by level."""

    def __init__(self, subfile, variable, key, low, high, nans, sizes, checksums):
        self.subfile, self.variable, self.key = subfile, variable, key
        self.low, self.high, self.nans = low, high, nans
        self.sizes, self.checksums = sizes, checksums
        self.offsets = [0] * len(sizes)
        self.place = variable.grid.place(key)
        self.what = f"{subfile.path}: variable {variable.number}, key {key}"
        check(all(p < n for p, n in zip(self.place, variable.grid.places)), f"{self.what}: not in the grid")
        self.box = variable.grid.patch_box(self.place)
        self.samples = math.prod(b - a for a, b in self.box)
        check(all(nans <= self.samples), f"{self.what}: more NaN than samples")
        check(all(low <= high), f"{self.what}: bad range")  # false for NaN, too
        check(all((n < self.samples) or (a == b == 0) for n, a, b in zip(nans, low, high)),
              f"{self.what}: a range of nothing")

        for level, size in enumerate(sizes):
            full = self.count(level) * variable.components * variable.dtype.itemsize
            good = {"raw": size == full, "zstd": size == full or 0 < size < full, "interp": (size > 0) == (full > 0)}
            check(good[variable.codec], f"{self.what}: wrong size of level {level}")
        self.known = {}  # by level: what read_interp made

    def count(self, level):
        """Section 4: how many samples a level stores."""
        grid = self.variable.grid
        held, coarser = (math.prod(b - a for a, b in grid.level_box(self.box, k)) for k in (level, level + 1))
        return held if level == grid.levels - 1 else held - coarser

    def stored(self, level):
        """Section 6: the stored bytes of a level, checked."""
        step, data = self.subfile.step, self.subfile.pread(self.offsets[level], self.sizes[level])
        seed = xxhash.xxh3_64_intdigest(struct.pack(
            "<16sQIIIIQ", step.dataset.identity, step.number, step.epoch, step.attempt, self.variable.number, level,
            self.key))
        check(xxhash.xxh3_64_intdigest(data, seed) & 0xffffffff == self.checksums[level], f"{self.what}: level {level} is damaged")
        return data

    def decode(self, level):
        """Section 5: the values of a level of an exact codec, as an array of components and samples."""
        count = self.count(level) * self.variable.components
        try:
            return zstd(self.stored(level), count, self.variable.dtype).reshape(self.variable.components, -1)
        except Damage as damage:
            raise Damage(f"{self.what}: level {level}: {damage}") from damage

    def pieces(self, level):
        """Section 5: the pieces of a level of codec interp, one for each component."""
        data, components = self.stored(level), self.variable.components
        if components == 1 or not data:
            return [data] * components
        check(len(data) >= 4 * components, f"{self.what}: level {level} is too short")
        ends = np.cumsum([4 * components] + list(struct.unpack_from(f"<{components}I", data))).tolist()
        check(ends[-1] == len(data), f"{self.what}: level {level}: sizes that do not add up")
        return [data[a:b] for a, b in zip(ends, ends[1:])]

    def read_interp(self, level):
        """Section 5: the samples of a level, as an array of components and three axes."""
        if level not in self.known:
            variable, n = self.variable, [b - a for a, b in self.box]
            coarsest = max(k for k in range(variable.grid.levels) if self.has_samples(k))
            codec = Interp([1] * (3 - len(n)) + n, coarsest, variable.bound, variable.dtype)
            coarse = [None] * variable.components if level == coarsest else self.read_interp(level + 1)
            try:
                self.known[level] = np.stack([codec.decode(*p) for p in zip(
                    self.pieces(level), [level] * variable.components, coarse)])
            except Damage as damage:
                raise Damage(f"{self.what}: level {level}: {damage}") from damage
        return self.known[level]

    def has_samples(self, level):
        return all(a < b for a, b in self.variable.grid.level_box(self.box, level))

    def read(self, level):
        """Section 4: the samples of a level, as an array of components and axes."""
        grid = self.variable.grid
        held = grid.level_box(self.box, level)
        patch = np.zeros([self.variable.components] + [b - a for a, b in held], self.variable.dtype)
        if self.variable.codec == "interp":
            if self.has_samples(level):
                patch[...] = self.read_interp(level).reshape(patch.shape)
            self.check_range(patch, level)
            return patch
        for k in reversed(range(level, grid.levels)):
            scale = 1 << (k - level)  # from samples of level k to those of the patch
            indices = [range(a, b) for a, b in grid.level_box(self.box, k)]
            view = patch[(slice(None),) + tuple(
                slice(i.start * scale - a, None, scale) if i else slice(0, 0) for i, (a, _) in zip(indices, held))]
            mask = np.ones(view.shape[1:], bool)
            if k < grid.levels - 1:  # without the samples of level k + 1
                mask[tuple(slice(i.start % 2, None, 2) for i in indices)] = False
            view[:, mask] = self.decode(k)
        self.check_range(patch, level)
        return patch

    def check_range(self, patch, level):
        for values, low, high, nans in zip(patch, self.low, self.high, self.nans):
            numbers = values[~np.isnan(values)]
            missing = values.size - numbers.size
            check(missing == nans if level == 0 else missing <= nans, f"{self.what}: wrong number of NaN")
            if numbers.size:
                least, most = numbers.min(), numbers.max()
                bound = self.variable.bound
                if bound:
                    low, high = float(low) - bound, float(high) + bound
                check(low <= least and most <= high, f"{self.what}: a value out of range")
                check(level > 0 or bound or (low == least and most == high), f"{self.what}: wrong range")


class Part(typing.NamedTuple):
    """Section 7: what a subfile has of a variable. The sizes are by level, the losses the largest and all squared."""
    count: int
    sizes: list
    losses: tuple
    box: list
    ranges: list


class Subfile:
    """Section 6. Reads and checks both heads, and gives the chunks to their variables."""

    def __init__(self, step, number, cursor, variables):
        self.step, self.number = step, number
        self.path = os.path.join(step.path, f"d.{number:04}.e{step.epoch}a{step.attempt}")
        self.size, self.head_size, self.digest = cursor.unpack("QQ16s")
        cursor.check(cursor.one("Q") == 0, "particles, which this reader does not know yet")
        self.parts = {}
        for _ in range(cursor.one("Q")):
            part, count = cursor.unpack("IQ")
            cursor.check(part < len(variables) and part > max(self.parts, default=-1), "bad variable number of a part")
            variable = variables[part]
            stored = list(cursor.unpack(f"{variable.grid.levels}Q"))
            losses = cursor.unpack("dd")
            box = [cursor.unpack("qq") for _ in range(variable.grid.ndims)]
            ranges = np.dtype([("nans", "<u8"), ("others", "<u8"), ("low", variable.dtype), ("high", variable.dtype)])
            self.parts[part] = Part(count, stored, losses, box, cursor.array(ranges, variable.components).tolist())

    def pread(self, offset, size):
        try:
            with open(self.path, "rb") as file:
                file.seek(offset)
                data = file.read(size)
        except OSError as error:
            raise Damage(f"{self.path}: {error.strerror}") from error
        check(len(data) == size, f"{self.path}: ends too early")
        return data

    def load(self, schema, variables, files):
        check(os.path.isfile(self.path), f"{self.path}: missing")
        check(os.path.getsize(self.path) == self.size, f"{self.path}: wrong size of the file")
        check(64 <= self.head_size <= self.size // 2, f"{self.path}: wrong size of the head")
        head = self.pread(0, self.head_size)
        cursor, _ = envelope(head, HEAD, self.step.dataset.identity, self.path)
        check(head[48:64] == self.digest, f"{self.path}: not the head that the manifest names")
        check(self.pread(self.size - self.head_size, self.head_size) == head, f"{self.path}: the heads differ")

        expected = struct.pack("<QdIIIII", self.step.number, self.step.time, self.number, files, self.step.epoch,
                               self.step.attempt, self.step.order)
        check(cursor.take(len(expected)) == expected, f"{self.path}: contradicts the manifest")
        cursor.zero("I")
        stored = cursor.one("Q")
        check(cursor.take(len(schema)) == schema, f"{self.path}: not the schema of the manifest")
        cursor.check(cursor.one("Q") == 0, "particles, which this reader does not know yet")
        cursor.check(cursor.one("Q") == len(self.parts), "wrong number of sections")
        sections = [self.section(cursor, variables[number]) for number in self.parts]
        cursor.end()

        begin = ceil_div(self.head_size, 64) * 64
        check(not any(self.pread(self.head_size, begin - self.head_size)), f"{self.path}: padding that is not zero")
        check(begin + stored + self.head_size == self.size, f"{self.path}: wrong size of the file")
        check(self.set_places(sections, begin) == begin + stored, f"{self.path}: sizes that do not add up")

    def section(self, cursor, variable):
        number, largest, squares, count = cursor.unpack("IddQ")
        cursor.check(number == variable.number, "sections that contradict the manifest")
        cursor.check(0 <= largest <= variable.bound and 0 <= squares < math.inf, "errors beyond the bound")
        cursor.check((largest > 0) == (squares > 0), "errors that contradict each other")
        cursor.check(1 <= count <= 2**31, f"{count} chunks")
        shape, levels = (count, variable.components), variable.grid.levels
        keys = list(itertools.accumulate(cursor.varint() for _ in range(count)))
        cursor.check(all(a < b for a, b in zip(keys, keys[1:])), "keys that do not ascend")
        ranges = cursor.array(variable.dtype, *shape, 2)
        width = (math.prod(variable.grid.edges).bit_length() + 7) // 8 if variable.dtype.kind == "f" else 0
        nans = np.array([cursor.number(width) for _ in range(math.prod(shape))], "u8").reshape(shape)
        sizes = [[cursor.varint() for _ in range(levels)] for _ in range(count)]
        cursor.check(all(size < 2**32 for row in sizes for size in row), "a size beyond 2^32")
        checksums = cursor.array("<u4", count, levels).tolist()
        chunks = [Chunk(self, variable, keys[i], ranges[i, :, 0], ranges[i, :, 1], nans[i], sizes[i], checksums[i])
                  for i in range(count)]
        for chunk in chunks:
            check(chunk.place not in variable.chunks, f"{chunk.what}: is there twice")
            variable.chunks[chunk.place] = chunk
        summary = self.summary(chunks, variable, (largest, squares))
        cursor.check(summary == self.parts[number], "chunks that contradict the manifest")
        return chunks

    def summary(self, chunks, variable, losses):
        """Section 7: a part of the manifest, from the chunks."""
        box = [(min(low for low, _ in axis), max(high for _, high in axis)) for axis in zip(*(c.box for c in chunks))]
        ranges = []
        for i in range(variable.components):
            filled = [c for c in chunks if c.nans[i] < c.samples]
            nans = sum(int(c.nans[i]) for c in chunks)
            low = min((c.low[i].item() for c in filled), default=0)
            high = max((c.high[i].item() for c in filled), default=0)
            ranges.append((nans, sum(c.samples for c in chunks) - nans, low, high))
        sizes = [sum(level) for level in zip(*(c.sizes for c in chunks))]
        return Part(len(chunks), sizes, losses, box, ranges)

    def set_places(self, sections, offset):
        """Section 6, places: sets the offsets of all levels, and returns the end."""
        if ORDERS[self.step.order] == "chunk":
            row = [(c, k) for chunks in sections for c in chunks for k in reversed(range(len(c.sizes)))]
        else:
            most = max((len(chunks[0].sizes) for chunks in sections), default=0)
            row = [(c, k) for k in reversed(range(most)) for chunks in sections for c in chunks if k < len(c.sizes)]
        for chunk, level in row:
            chunk.offsets[level] = offset
            offset += chunk.sizes[level]
        return offset


class Step:
    """Section 7. The manifest, and all that the heads of the subfiles say."""

    def __init__(self, dataset, number):
        self.dataset, self.path = dataset, dataset.step_path(number)
        data = read_whole(os.path.join(self.path, "manifest"))
        cursor, _ = envelope(data, MANIFEST, dataset.identity, os.path.join(self.path, "manifest"))
        self.number, self.time, self.epoch, self.attempt, self.nonce = cursor.unpack("QdIIQ")
        cursor.check(self.number == number, f"is that of step {self.number}")
        self.order, self.distribute, self.assign, self.place = cursor.unpack("BBBB")
        cursor.check(self.order in ORDERS, f"unknown order {self.order}")
        cursor.check(self.distribute <= 3 and self.assign <= 5 and self.place <= 2, "unknown way of writing")
        cursor.check(cursor.one("B") <= 8, "unknown way of writing particles")
        cursor.zero("B")
        cursor.zero("H")
        self.record = dict(zip(RECORD, cursor.unpack("8Q4q9d")))
        self.dataset_attributes = cursor.attributes()
        self.attributes = cursor.attributes()
        begin = cursor.position
        self.grids = cursor.schema(self)
        schema = data[begin:cursor.position]
        variables = [variable for grid in self.grids.values() for variable in grid.variables.values()]
        files = cursor.one("Q")
        cursor.check(files <= 2**20, "too many subfiles")
        self.subfiles = [Subfile(self, i, cursor, variables) for i in range(files)]
        cursor.end()
        for subfile in self.subfiles:
            subfile.load(schema, variables, files)
        for variable in variables:
            patches = math.prod(variable.grid.places)
            cursor.check(len(variable.chunks) in (0, patches), f"variable {variable.name!r} lacks patches")


class Dataset:
    def __init__(self, path):
        self.path = path
        body, self.identity = envelope(
            read_whole(os.path.join(path, "DATASET")), DATASET, None, os.path.join(path, "DATASET"))
        body.end()
        self.steps, self.damaged = [], {}  # damaged: by number, why a step with a manifest does not count
        for number in self.directories():
            try:
                manifest = os.path.join(self.step_path(number), "manifest")
                envelope(read_whole(manifest), MANIFEST, self.identity, manifest)
                self.steps.append(number)
            except Damage as damage:
                self.damaged[number] = damage

    @property
    def attributes(self):
        """Those of the newest step."""
        return self.open(self.steps[-1]).dataset_attributes if self.steps else {}

    def step_path(self, number):
        return os.path.join(self.path, "steps", f"{number:08}")

    def directories(self):
        """Section 1: the numbers of the steps that have a manifest, ascending."""
        steps = os.path.join(self.path, "steps")
        names = os.listdir(steps) if os.path.isdir(steps) else []
        numbers = sorted(int(name) for name in names if name.isascii() and name.isdigit() and f"{int(name):08}" == name)
        return [n for n in numbers if os.path.exists(os.path.join(self.step_path(n), "manifest"))]

    def open(self, number):
        if number in self.damaged:
            raise self.damaged[number]
        if number not in self.steps:
            raise KeyError(f"no step {number}")
        return Step(self, number)

    def index(self):
        """Section 8: step to (time, epoch, attempt), as far as the cache is sound."""
        path = os.path.join(self.path, "index")
        data = read_whole(path) if os.path.exists(path) else b""
        seed = xxhash.xxh3_64_intdigest(self.identity)
        found = {}
        for i in range(0, len(data) - 47, 48):
            magic, step, time, epoch, attempt, zero, checksum = struct.unpack("<8sQdIIQQ", data[i:i + 48])
            if magic == INDEX_MAGIC and zero == 0 and xxhash.xxh3_64_intdigest(data[i:i + 40], seed) == checksum:
                found[step] = time, epoch, attempt
        return found
