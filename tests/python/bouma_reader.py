"""A reader of the bouma format, written from docs/format.md alone.

    data = Dataset("run.bouma")
    step = data.open(data.steps[-1])
    rho = step.grids["grid"].variables["rho"].read(level=2)
    dust = step.particles["dust"].read(quality=0.1)
    mass = dust["mass"]

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

from bouma_common import (NOMINAL, DATASET, HEAD, MANIFEST, SHEET, Cursor, Damage, ceil_div, check, envelope, front,
                          read_whole)
from bouma_grids import Grid
from bouma_hz import HzGrid
from bouma_particles import FileTree, Particles, ParticleSummary

INDEX_MAGIC = b"bmstep\r\n"
ORDERS = {1: "level", 2: "chunk"}
RECORD = ("raw_bytes stored_bytes moved_bytes shipped_bytes moved_messages shipped_messages largest_file "
          "mean_file files chunks ranks most_patches "
          "describe plan distribute shape ship store commit slowest_encode mean_encode predicted misfits").split()


def read_schema(cursor, step):
    """Section 3: the grids and sets of particles, by name."""
    objects = {}
    variables = 0
    for number in range(cursor.one("Q")):
        kind = cursor.one("B")
        cursor.check(kind in (1, 2), f"an object of unknown kind {kind}")
        owner = read_grid(cursor, objects) if kind == 1 else Particles(cursor, objects, number)
        objects[owner.name] = owner
        for _ in range(cursor.one("Q")):
            variable = owner.variable(cursor, step, variables)
            owner.variables[variable.name] = variable
            variables += 1
            cursor.check(variables <= 4096, "too many variables")
        if kind == 2:
            owner.check_position(cursor)
    return objects


def read_grid(cursor, others):
    layout = cursor.one("B")
    cursor.check(layout in (1, 3), f"unknown layout {layout} of a grid")
    return Grid(cursor, others) if layout == 1 else HzGrid(cursor, others)


class Part(typing.NamedTuple):
    """Section 7: what a subfile has of a variable. The sizes are by level, the losses the largest and all squared."""
    count: int
    sizes: list
    losses: tuple
    box: list  # empty for particles
    ranges: list


def read_part(parts, cursor, variables):
    """The next one, into those by the number of the variable."""
    part, count = cursor.unpack("IQ")
    cursor.check(part < len(variables) and part > max(parts, default=-1), "bad variable number of a part")
    variable = variables[part]
    stored = list(cursor.unpack(f"{variable.owner.stored_levels}Q"))
    losses = cursor.unpack("dd")
    box = [cursor.unpack("qq") for _ in range(variable.owner.ndims if isinstance(variable.owner, Grid) else 0)]
    ranges = np.dtype([("nans", "<u8"), ("others", "<u8"), ("low", variable.dtype), ("high", variable.dtype)])
    parts[part] = Part(count, stored, losses, box, cursor.array(ranges, variable.components).tolist())


def add_parts(parts):
    """Section 7, Sheets: what subfiles have of a variable together."""
    squares = 0.0
    for part in parts:
        squares += part.losses[1]
    ranges = []
    for rows in zip(*(part.ranges for part in parts)):
        some = [row for row in rows if row[1]]
        ranges.append((sum(row[0] for row in rows), sum(row[1] for row in rows),
                       min((row[2] for row in some), default=rows[0][2]), max((row[3] for row in some), default=rows[0][3])))
    return Part(sum(part.count for part in parts), [sum(sizes) for sizes in zip(*(part.sizes for part in parts))],
                (max(part.losses[0] for part in parts), squares),
                [(min(low for low, _ in axis), max(high for _, high in axis)) for axis in zip(*(part.box for part in parts))],
                ranges)


class Sheet:
    """Section 7, Sheets: what the body of a manifest has of one, and then its records."""

    def __init__(self, writing, cursor, number, files):
        self.writing, self.number, self.files, self.path = writing, number, files, cursor.what
        self.size, self.digest, self.bytes, self.largest = cursor.unpack("Q16sQQ")
        objects = list(writing.objects.values())
        sets = [ParticleSummary(self, cursor, objects, True) for _ in range(cursor.one("I"))]
        self.sets = {summary.number: summary for summary in sets}
        cursor.check(sorted(self.sets) == [summary.number for summary in sets], "sets that do not ascend")
        self.parts, self.part_files = {}, []
        for _ in range(cursor.one("I")):
            self.part_files.append(cursor.one("I"))
            read_part(self.parts, cursor, writing.variables)

    def load(self, data):
        check(len(data) == self.size, f"{self.path}: sheet {self.number} is cut off")
        cursor, _ = envelope(data, SHEET, self.writing.dataset.identity, f"{self.path}, sheet {self.number}")
        cursor.check(data[48:64] == self.digest, "not the sheet that the manifest tells of")
        found = cursor.unpack("QIIII")
        cursor.check(found == (self.writing.number, self.writing.epoch, self.writing.attempt, self.number, len(self.files)),
                     "contradicts the manifest")
        objects = list(self.writing.objects.values())
        subfiles = [Subfile(self.writing, i, cursor, objects, self.writing.variables) for i in self.files]
        cursor.end()
        sizes = [subfile.size for subfile in subfiles]
        cursor.check((sum(sizes), max(sizes)) == (self.bytes, self.largest), "bytes that contradict the manifest")
        for part, files in zip(self.parts, self.part_files):
            having = [subfile.parts[part] for subfile in subfiles if part in subfile.parts]
            cursor.check(len(having) == files and repr(add_parts(having)) == repr(self.parts[part]),
                         "parts that contradict the manifest")
        cursor.check(set(self.parts) == {part for subfile in subfiles for part in subfile.parts}, "parts of no subfile")
        for number, total in self.sets.items():
            having = [subfile.summaries[number] for subfile in subfiles if number in subfile.summaries]
            placed = [summary for summary in having if summary.strays < summary.particles]
            bounds = [(min(low for low, _ in axis), max(high for _, high in axis))
                      for axis in zip(*(summary.bounds for summary in placed))] or [(0, 0)] * len(total.bounds)
            cursor.check((total.files, total.particles, total.strays, total.bounds, total.seed, total.tree_size, total.tree_sum)
                         == (len(having), sum(s.particles for s in having), sum(s.strays for s in having), bounds, 0, 0, 0),
                         "particles that contradict the manifest")
        return subfiles


class Subfile:
    """Section 6. Reads and checks both heads, and gives the chunks to their variables."""

    def __init__(self, step, number, cursor, objects, variables):
        self.step, self.number = step, number
        folder = f"{number // 1024:04}" if number >= 1024 else ""
        self.path = os.path.join(step.path, folder, f"d.{number:04}.e{step.epoch}a{step.attempt}")
        self.size, self.head_size, self.digest = cursor.unpack("QQ16s")
        begin = cursor.position
        self.summaries = {}  # by object number
        for _ in range(cursor.one("Q")):
            summary = ParticleSummary(self, cursor, objects)
            cursor.check(summary.number > max(self.summaries, default=-1), "summaries that do not ascend")
            self.summaries[summary.number] = summary
        self.summary_bytes = cursor.data[begin:cursor.position]
        self.parts = {}
        for _ in range(cursor.one("Q")):
            read_part(self.parts, cursor, variables)
        for summary in self.summaries.values():
            summary.check_parts(cursor, self.parts)

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
        owners = {id(variables[number].owner): variables[number].owner for number in self.parts}.values()
        front = max((getattr(owner, "front_size", int)() for owner in owners), default=0)
        check(not front or len(owners) == 1, f"{self.path}: a front, and several objects")
        at = ceil_div(front, 64) * 64
        head = self.pread(at, self.head_size)
        cursor, _ = envelope(head, HEAD, self.step.dataset.identity, self.path)
        check(head[48:64] == self.digest, f"{self.path}: not the head that the manifest names")
        check(self.pread(self.size - self.head_size, self.head_size) == head, f"{self.path}: the heads differ")

        expected = struct.pack("<QdIIIII", self.step.number, self.step.time, self.number, files, self.step.epoch,
                               self.step.attempt, self.step.order)
        check(cursor.take(len(expected)) == expected, f"{self.path}: contradicts the manifest")
        has, stored = cursor.unpack("IQ")
        cursor.check(has <= 3 and stored <= 2**61, "offsets of an unknown kind, or too many bytes")
        has_offsets = has & 1
        start = cursor.one("Q") if has_offsets else 0
        base = cursor.unpack("II") if has & 2 else None
        cursor.check(base == self.step.base, "added to another writing")
        begin = start if has_offsets else at + ceil_div(self.head_size, 64) * 64
        self.data_range = (begin, begin + stored) if has_offsets else None
        check(cursor.take(len(schema)) == schema, f"{self.path}: not the schema of the manifest")
        check(cursor.take(len(self.summary_bytes)) == self.summary_bytes, f"{self.path}: not the summaries of the manifest")
        cursor.check(cursor.one("Q") == len(self.parts), "wrong number of sections")
        sections = [self.section(cursor, variables[number]) for number in self.parts]
        if front:
            cursor.check(cursor.unpack("QQ") == (front, self.head_size), "another front, or size of the head")
        cursor.end()

        room = begin - at
        cursor.check(begin % 64 == 0 and self.head_size <= room <= 4 * self.head_size + 2**20, "no room for the head")
        check(not any(self.pread(at + self.head_size, room - self.head_size)), f"{self.path}: padding that is not zero")
        check(begin + stored + self.head_size == self.size, f"{self.path}: wrong size of the file")
        if has_offsets:
            self.check_offsets(sections)
        else:
            check(self.set_offsets(sections, begin) == begin + stored, f"{self.path}: sizes that do not add up")
        if front:
            is_front = self.pread(0, at) == list(owners)[0].front(sum(sections, [])).ljust(at, b"\0")
            check(is_front, f"{self.path}: the front is not that of the head")

    def section(self, cursor, variable):
        number, largest, squares, count = cursor.unpack("IddQ")
        cursor.check(number == variable.number, "sections that contradict the manifest")
        if variable.kind & NOMINAL:
            cursor.check(largest == squares and largest in (0, math.inf), "errors that nobody has measured")
        else:
            cursor.check(0 <= largest <= variable.bound and squares >= 0, "errors beyond the bound")
        cursor.check(squares > 0 if largest * largest > 0 else largest > 0 or squares == 0,
                     "errors that contradict each other")  # the square of a small one is 0
        cursor.check(1 <= count <= 2**31, f"{count} chunks")
        shape, levels = (count, variable.components), variable.owner.stored_levels
        keys = list(itertools.accumulate(cursor.varint() for _ in range(count)))
        cursor.check(all(a < b for a, b in zip(keys, keys[1:])), "keys that do not ascend")
        ranges = cursor.array(variable.dtype, *shape, 2)
        width = (variable.owner.whole.bit_length() + 7) // 8 if variable.dtype.kind == "f" else 0
        nans = np.array([cursor.number(width) for _ in range(math.prod(shape))], "u8").reshape(shape)
        sizes = [[cursor.varint() for _ in range(levels)] for _ in range(count)]
        cursor.check(all(size < 2**32 for row in sizes for size in row), "a size beyond 2^32")
        offsets = self.read_offsets(cursor, sizes) if self.data_range else [[0] * levels] * count
        checksums = cursor.array("<u4", count, levels).tolist()
        chunks = [variable.chunk(self, variable, keys[i], ranges[i, :, 0], ranges[i, :, 1], nans[i], sizes[i],
                                 checksums[i]) for i in range(count)]
        for chunk, row in zip(chunks, offsets):
            chunk.offsets = list(row)
            check(chunk.address not in variable.chunks, f"{chunk.what}: is there twice")
            variable.chunks[chunk.address] = chunk
        summary = self.summary(chunks, variable, (largest, squares))
        cursor.check(summary == self.parts[number], "chunks that contradict the manifest")
        return chunks

    def summary(self, chunks, variable, losses):
        """Section 7: a part of the manifest, from the chunks."""
        boxes = [c.box for c in chunks] if isinstance(variable.owner, Grid) else []
        box = [(min(low for low, _ in axis), max(high for _, high in axis)) for axis in zip(*boxes)]
        ranges = []
        for i in range(variable.components):
            filled = [c for c in chunks if c.nans[i] < c.samples]
            nans = sum(int(c.nans[i]) for c in chunks)
            low = min((c.low[i].item() for c in filled), default=0)
            high = max((c.high[i].item() for c in filled), default=0)
            ranges.append((nans, sum(c.samples for c in chunks) - nans, low, high))
        sizes = [sum(level) for level in zip(*(c.sizes for c in chunks))]
        return Part(len(chunks), sizes, losses, box, ranges)

    def read_offsets(self, cursor, sizes):
        """Section 6, offsets: those of the levels of a section if they are stored, as the sizes are listed."""
        cursor.check(not self.summaries, "particles in a subfile with stored offsets")
        at, end = self.data_range
        begin = at
        offsets = [[begin] * len(row) for row in sizes]
        row = [(i, k) for i in range(len(sizes)) for k in reversed(range(len(sizes[i])))]
        if ORDERS[self.step.order] == "level":
            row.sort(key=lambda entry: (-entry[1], entry[0]))
        for i, k in row:
            if sizes[i][k]:
                number = cursor.varint()
                at += number // 2 if number % 2 == 0 else -(number + 1) // 2
                cursor.check(begin <= at and at + sizes[i][k] <= end, "a level that lies outside of the data")
                offsets[i][k] = at
                at += sizes[i][k]
        return offsets

    def check_offsets(self, sections):
        """No byte is in two levels."""
        taken = sorted((c.offsets[k], c.offsets[k] + c.sizes[k])
                       for chunks in sections for c in chunks for k in range(len(c.sizes)) if c.sizes[k])
        check(all(a[1] <= b[0] for a, b in zip(taken, taken[1:])), f"{self.path}: levels that overlap")

    def set_offsets(self, sections, offset):
        """Section 6, offsets: sets the offsets of all trees and levels, and returns the end."""
        if ORDERS[self.step.order] == "chunk":
            row = [(c, k) for chunks in sections for c in chunks for k in reversed(range(len(c.sizes)))]
        else:
            most = max((len(chunks[0].sizes) for chunks in sections), default=0)
            row = [(c, k) for k in reversed(range(most)) for chunks in sections for c in chunks if k < len(c.sizes)]
        for summary in self.summaries.values():
            summary.offset = offset
            offset += summary.tree_size
        for chunk, level in row:
            chunk.offsets[level] = offset
            offset += chunk.sizes[level]
        return offset


class Writing:
    """Section 7. The body of a manifest, and all that the heads of the subfiles say. 'base' is the epoch and attempt of
    the writing that it was added to, or None."""

    def __init__(self, dataset, number, cursor):
        self.dataset, self.path, self.base = dataset, dataset.step_path(number), None
        data = cursor.data
        self.number, self.time, self.epoch, self.attempt, self.nonce = cursor.unpack("QdIIQ")
        cursor.check(self.number == number, f"is that of step {self.number}")
        self.order, self.distribute, self.assign, self.place, self.assign_particles = cursor.unpack("5B")
        cursor.check(self.order in ORDERS, f"unknown order {self.order}")
        cursor.check(self.distribute <= 4 and self.assign <= 5 and self.place <= 3 and self.assign_particles <= 8,
                     "unknown way of writing")
        self.earlier, sheets, zero = cursor.unpack("3B")
        cursor.check(sheets <= 21 and not zero, "bytes that are not zero, or not known")
        self.record = dict(zip(RECORD, cursor.unpack("8Q4q9d2q")))
        self.dataset_attributes = cursor.attributes()
        self.attributes = cursor.attributes()
        begin = cursor.position
        self.objects = read_schema(cursor, self)
        self.schema = data[begin:cursor.position]
        self.variables = [variable for owner in self.objects.values() for variable in owner.variables.values()]
        files = cursor.one("Q")
        cursor.check(files <= 2**20, "too many subfiles")
        each = 2**(sheets - 1) if sheets else 1
        self.sheets = [Sheet(self, cursor, i // each, range(i, min(i + each, files)))
                       for i in range(0, files if sheets else 0, each)]
        self.subfiles = []
        if not sheets:
            self.subfiles = [Subfile(self, i, cursor, list(self.objects.values()), self.variables) for i in range(files)]
            self.list_particles(cursor)
        self.grids = {name: owner for name, owner in self.objects.items() if isinstance(owner, Grid)}
        self.particles = {name: owner for name, owner in self.objects.items() if isinstance(owner, Particles)}

    def list_particles(self, cursor):
        for particles in [owner for owner in self.objects.values() if isinstance(owner, Particles)]:
            particles.summaries = [s.summaries[particles.number] for s in self.subfiles if particles.number in s.summaries]
            particles.tree = FileTree(cursor, particles, not self.sheets)

    def load_sheets(self, data, cursor):
        """The sheets, at the beginning of data; what is behind them."""
        for sheet in self.sheets:
            self.subfiles += sheet.load(data[:sheet.size])
            data = data[sheet.size:]
        if self.sheets:
            self.list_particles(cursor)
        return data

    def load(self, cursor):
        variables = [variable for owner in self.objects.values() for variable in owner.variables.values()]
        for subfile in self.subfiles:
            subfile.load(self.schema, variables, len(self.subfiles))
        for owner in self.objects.values():
            owner.check_complete(cursor, self.subfiles)


class Step(Writing):
    """Section 7, Extended steps. The last writing of a step, with what is seen of all."""

    def __init__(self, dataset, number):
        path = os.path.join(dataset.step_path(number), "manifest")
        data = read_whole(path)
        cursor, _ = envelope(front(data), MANIFEST, dataset.identity, path)
        super().__init__(dataset, number, cursor)
        cursor.check(self.earlier <= 64, "too many writings")
        self.writings = []
        for _ in range(self.earlier):
            body = Cursor(cursor.take(cursor.one("Q")), 0, path)
            self.writings.append(Writing(dataset, number, body))
            body.check(self.writings[-1].earlier == 0, "a writing with earlier ones")
            body.end()
        cursor.end()
        self.writings.append(self)
        behind = data[len(front(data)):]
        for writing in self.writings:
            behind = writing.load_sheets(behind, cursor)
        cursor.check(not behind, "bytes behind the last sheet")
        for before, writing in zip(self.writings, self.writings[1:]):
            writing.base = before.epoch, before.attempt
            cursor.check(writing.time == before.time and writing.base < (writing.epoch, writing.attempt),
                         "writings out of order")
        for writing in self.writings:
            writing.load(cursor)
        if self.earlier:
            self.join(cursor)

    def join(self, cursor):
        """What is seen of all writings."""
        seen = {}
        for name in dict.fromkeys(name for writing in self.writings for name in writing.objects):
            owners = [writing.objects[name] for writing in self.writings if name in writing.objects]
            full = [owner for owner in owners if any(v.present for v in owner.variables.values())]
            seen[name] = first = (full or owners)[0]
            for more in full[1:]:
                cursor.check(isinstance(first, Grid) and isinstance(more, Grid), f"{name} twice")
                for variable in [v for v in more.variables.values() if v.present]:
                    old = first.variables.get(variable.name)
                    cursor.check(old is None or not old.present, f"{name}/{variable.name} twice")
                    first.variables[variable.name] = variable
        self.objects = seen
        self.grids = {name: owner for name, owner in seen.items() if isinstance(owner, Grid)}
        self.particles = {name: owner for name, owner in seen.items() if isinstance(owner, Particles)}


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
                envelope(front(read_whole(manifest)), MANIFEST, self.identity, manifest)
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
