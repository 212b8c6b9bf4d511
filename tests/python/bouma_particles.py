"""Particles of the bouma format: summaries, levels of detail, trees and bitmaps. Written from docs/format.md alone. See
bouma_reader.py."""

import functools
import math

import numpy as np

from bouma_codecs import Quantise, zstd
from bouma_exact import ExactList
from bouma_common import TYPES, Chunk, Cursor, Damage, Variable, ceil_div, check, checksum

WORD = 2**64 - 1
BINS = 32


class Particles:
    """A set of particles, in one or more files, with a summary in each subfile that has any."""

    codecs = {1: "zstd", 2: "raw", 6: "quantise", 7: "exact"}

    def __init__(self, cursor, others, number):
        self.number = number
        layout, self.ndims, self.levels = cursor.unpack("BBB")
        cursor.check(layout == 2, f"unknown layout {layout} of particles")
        cursor.check(1 <= self.ndims <= 3, f"particles of {self.ndims} axes")
        cursor.check(1 <= self.levels <= 32, f"{self.levels} levels")
        self.stored_levels = self.levels
        self.name = cursor.name(others)
        self.unit = cursor.text()
        self.leaf, self.whole = cursor.unpack("II")
        self.largest = self.whole
        self.limits = list(cursor.unpack(f"{self.levels}I")) + [0]
        cursor.check(1 <= self.leaf <= 65536, f"leaves of {self.leaf} particles")
        cursor.check(1 <= self.whole <= 32768 and self.whole & (self.whole - 1) == 0, f"chunks of {self.whole} slots")
        cursor.check(self.limits[0] == self.whole and all(a > b for a, b in zip(self.limits, self.limits[1:])),
                     "limits that do not descend from the chunk")
        self.attributes = cursor.attributes()
        self.variables = {}
        self.summaries, self.tree = [], None

    def variable(self, cursor, step, number):
        return Column(cursor, step, self, number)

    def check_position(self, cursor):
        first = next(iter(self.variables.values()), None)
        cursor.check(first and first.name == "position" and first.dtype.kind == "f"
                     and first.components == self.ndims, f"particles {self.name!r} without a proper position")
        self.position = first

    def check_complete(self, cursor, subfiles):
        """All files have all chunks of the same variables."""
        chunks = sum(ceil_div(summary.particles, self.whole) for summary in self.summaries)
        for variable in self.variables.values():
            cursor.check(len(variable.chunks) in (0, chunks), f"variable {variable.name!r} lacks chunks")

    def threshold(self, quality):
        """Section 4, quality: t."""
        wanted = quality * self.whole
        near = [limit for limit in self.limits[:-1] if abs(limit - wanted) <= min(0.5, 0.01 * limit)]
        return near[0] if near else wanted

    def read(self, quality=1.0):
        """The share of the particles, in the order in which they are stored: an array for each variable that is
        present, and '#file', '#slot' (in its file), '#level', '#rank' of each particle."""
        parts = [summary.read(self.threshold(quality)) for summary in self.summaries]
        if not parts:
            return {}
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def check(self):
        """Reads all there is, and compares the particles with what trees, bitmaps and bounds say of them."""
        for summary in self.summaries:
            summary.check()
        self.tree.check()


class Column(Variable):
    def chunk(self, *fields):
        return Slots(*fields)


class Slots(Chunk):
    """The values of one variable at the slots of one chunk."""

    def locate(self):
        particles = self.variable.owner
        summary = self.subfile.summaries[particles.number]
        self.address, self.slack = (self.subfile.number, self.key), 0
        check(self.key < ceil_div(summary.particles, particles.whole), f"{self.what}: a chunk beyond the last particle")
        self.samples = min(particles.whole, summary.particles - self.key * particles.whole)
        self.ranks, self.levels, self.offset = summary.detail(self.key, self.samples)
        self.counts = np.bincount(self.levels, minlength=particles.levels)

    def count(self, level):
        return int(self.counts[level])

    @functools.lru_cache
    def decode(self, level):
        variable, count = self.variable, self.count(level)
        try:
            if variable.codec == "quantise":
                return Quantise(variable.bound, variable.dtype).decode(self.stored(level), count, variable.components)
            if variable.codec == "exact":
                return ExactList(variable.dtype).decode(self.stored(level), count, variable.components)
            return zstd(self.stored(level), count * variable.components, variable.dtype).reshape(
                variable.components, count)
        except Damage as damage:
            raise Damage(f"{self.what}: level {level}: {damage}") from damage

    def read(self, threshold):
        """The chosen slots, and their values, of components and slots."""
        chosen = np.flatnonzero(self.ranks + self.offset < threshold)
        values = np.zeros((self.variable.components, self.samples), self.variable.dtype)
        for level in set(self.levels[chosen].tolist()):
            values[:, self.levels == level] = self.decode(level)
        values = values[:, chosen]
        self.check_range(values, len(chosen) == self.samples)
        return chosen, values


def mix(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & WORD
    x = (x ^ x >> 27) * 0x94d049bb133111eb & WORD
    return x ^ x >> 31


def following(x):
    return mix(x + 0x9e3779b97f4a7c15 & WORD)


@functools.lru_cache
def ranks_without_shift(whole):
    bits = whole.bit_length() - 1
    result = np.zeros(whole, int)
    for h in range(bits):
        flips = np.array([mix((1 << bits - 1 - h) + i) >> 63 for i in range(whole >> h + 1)])
        result |= (np.arange(whole) >> h & 1 ^ np.repeat(flips, 2 << h)) << bits - 1 - h
    return result


def ranks(whole, seed, key):
    """Section 4: the ranks of the slots of a chunk, and the chunk's offset."""
    number = following(following(seed) ^ key)
    return ranks_without_shift(whole)[np.arange(whole) ^ number % whole], (number >> 32) / 2**32


class Row:
    """Section 6: 32 bins over the finite values of one component."""

    def __init__(self, dtype, low, high):
        self.dtype, self.low, self.high = dtype, low, high

    def bins(self, values):
        """The bin of each value; -1 for NaN."""
        if self.dtype.kind != "f":
            low, high = int(self.low), int(self.high)
            width = (high - low) // BINS + 1
            distance = np.clip(values, self.low, self.high).astype("u8")
            distance -= np.array([self.low]).astype("u8")  # modulo 2^64
            return (distance // np.uint64(width)).astype(int)
        values, low, high = values.astype("f8"), float(self.low), float(self.high)
        most = max(abs(low), abs(high))
        unit = 2.0**200 if most < 2.0**-800 else 0.5 if most >= 2.0**1022 else 1.0
        scale = BINS / (high * unit - low * unit) if low != high else np.finfo("f8").max
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.floor((values * unit - low * unit) * scale)
        return np.where(np.isnan(values), -1, np.clip(np.nan_to_num(found, nan=-1), 0, BINS - 1)).astype(int)

    def bitmaps(self, values, starts):
        """Those of runs of values that begin at these indices, each up to the next one."""
        found = self.bins(values)
        return np.bitwise_or.reduceat(np.where(found < 0, 0, 1 << np.maximum(found, 0)), starts).tolist()


class ParticleSummary:
    """Section 6: what a subfile has of a set."""

    def __init__(self, subfile, cursor, objects, is_sum=False):
        self.subfile = subfile
        self.number, self.files = cursor.unpack("II") if is_sum else (cursor.one("I"), 1)
        self.particles, self.strays, self.seed, self.tree_size, self.tree_sum = cursor.unpack("QQQQI")
        cursor.check(self.number < len(objects) and isinstance(objects[self.number], Particles),
                     f"a summary of object {self.number}, which is no set of particles")
        self.owner = objects[self.number]
        self.what = f"{subfile.path}: particles {self.owner.name!r}"
        cursor.check(1 <= self.particles <= self.files * (2**32 - 1) and self.strays <= self.particles,
                     "a bad number of particles")
        cursor.check(self.tree_size < 2**40, "a tree that is too large")
        self.bounds = [cursor.unpack("dd") for _ in range(self.owner.ndims)]
        cursor.check(all(-math.inf < low <= high < math.inf for low, high in self.bounds), "bad bounds of a summary")
        self.rows = []
        for _ in range(cursor.one("I")):
            kind = cursor.one("B")
            cursor.check(kind & 127 in TYPES, f"a row of unknown kind {kind}")
            dtype = np.dtype(TYPES[kind & 127])
            row = Row(dtype, *cursor.array(dtype, 2))
            row.finite, row.bits = bool(kind & 128), cursor.one("I")
            cursor.check(-math.inf < row.low <= row.high < math.inf, "a row of a bad range")
            self.rows.append(row)

    @functools.lru_cache
    def detail(self, key, slots):
        """Section 4: the rank and the level of each slot of a chunk, and the chunk's offset."""
        found, offset = ranks(self.owner.whole, self.seed, key)
        found = found[:slots]
        return found, sum((found < limit).astype(int) for limit in self.owner.limits) - 1, offset

    def variables(self):
        """Those that have a section here."""
        return [v for v in self.owner.variables.values() if v.number in self.subfile.parts]

    def check_parts(self, cursor, parts):
        cursor.check(self.owner.position.number in parts, "a summary without positions")
        types = [v.dtype for v in self.variables()[1:] for _ in range(v.components)]
        cursor.check([row.dtype for row in self.rows] == types, "rows that are not those of the variables")
        chunks = ceil_div(self.particles, self.owner.whole)
        cursor.check(all(parts[v.number].count == chunks for v in self.variables()), "a file that lacks chunks")

    def read(self, threshold):
        variables = self.variables()
        found = {name: [] for name in ["#file", "#slot", "#level", "#rank"] + [v.name for v in variables]}
        for key in range(ceil_div(self.particles, self.owner.whole)):
            for variable in variables:
                chunk = variable.chunks[self.subfile.number, key]
                chosen, values = chunk.read(threshold)
                found[variable.name].append(values[0] if variable.components == 1 else values.T)
            found["#file"].append(np.full(len(chosen), self.subfile.number))
            found["#slot"].append(key * self.owner.whole + chosen)
            found["#level"].append(chunk.levels[chosen])
            found["#rank"].append(chunk.ranks[chosen])
        return {name: np.concatenate(parts) for name, parts in found.items()}

    def tree(self):
        data = self.subfile.pread(self.offset, self.tree_size)
        position = self.owner.position
        check(checksum(self.subfile.step, data, position.number, 2**32 - 1, 0) == self.tree_sum,
              f"{self.what}: a damaged tree")
        return Tree(Cursor(data, 0, f"{self.what}: tree"), self)

    def check(self):
        for variable in self.variables():
            for key in range(ceil_div(self.particles, self.owner.whole)):
                for level in range(self.owner.levels):  # those without values, too
                    variable.chunks[self.subfile.number, key].stored(level)
        tree, found = self.tree(), self.read(self.owner.whole)
        count = self.particles - self.strays
        positions = found["position"].reshape(self.particles, -1)
        good = np.isfinite(positions).all(axis=1)
        check(good[:count].all() and not good[count:].any(), f"{self.what}: strays are not the last ones")
        columns = [found[v.name].reshape(self.particles, -1) for v in self.variables()[1:]]
        values = [c[:, i] for c in columns for i in range(c.shape[1])]
        if count:
            bounds = list(zip(positions[:count].min(axis=0), positions[:count].max(axis=0)))
        else:
            bounds = [(0, 0)] * self.owner.ndims
        check(self.bounds == bounds, f"{self.what}: wrong bounds")
        for row, column in zip(self.rows, values):
            numbers = column[np.isfinite(column)]
            least, most = (numbers.min(), numbers.max()) if numbers.size else (0, 0)
            check((row.low, row.high) == (least, most), f"{self.what}: wrong range of a row")
            check(not row.finite or not np.isinf(column).any(), f"{self.what}: infinities that there should not be")
            check(row.bits == (row.bitmaps(column[:count], [0])[0] if count else 0), f"{self.what}: wrong bitmap")
        tree.check(positions[:count], [column[:count] for column in values])


class Tree:
    """Section 6: the k-d tree over the particles of a file."""

    def __init__(self, cursor, summary):
        self.what, self.summary = cursor.what, summary
        dtype, ndims = summary.owner.position.dtype, summary.owner.ndims
        self.leaf, self.count = cursor.varint(), cursor.varint()
        cursor.check(self.leaf == summary.owner.leaf, "leaves that are not those of the schema")
        cursor.check(self.count == summary.particles - summary.strays, "a wrong number of particles")
        self.inner, self.bounds, self.axes, self.splits = 0, [], [], []
        lefts = []
        if self.count:
            self.bounds = [tuple(cursor.array(dtype, 2)) for _ in range(ndims)]
            cursor.check(self.bounds == summary.bounds, "bounds that are not those of the summary")
            self.inner = cursor.varint()
            cursor.check(self.inner < self.count, "too many nodes")
            self.axes = packed(cursor, self.inner, "u1").tolist()
            cursor.check(all(axis < ndims for axis in self.axes), "a split along no axis")
            inside = Cursor(packed(cursor, cursor.varint(), "u1").tobytes(), 0, cursor.what)
            lefts = [inside.varint() for _ in range(self.inner)]
            inside.end()
            self.splits = packed(cursor, self.inner, dtype)
        self.rows, self.bitmaps = [], []
        for row in summary.rows:
            self.rows.append(Row(row.dtype, *cursor.array(row.dtype, 2)))
            cursor.check((self.rows[-1].low, self.rows[-1].high) == (row.low, row.high),
                         "bins that are not the summary's")
            self.bitmaps.append(self.read_bitmaps(cursor) if self.count else [])
        cursor.end()
        self.nodes = []  # (first, last, region, number of the inner node or None, end of its left child), in preorder
        inner = 0
        waiting = [(0, self.count, [tuple(b) for b in self.bounds])] if self.count else []
        while waiting:
            first, last, region = waiting.pop()
            n = last - first
            if n <= self.leaf:
                self.nodes.append((first, last, region, None, None))
                continue
            cursor.check(inner < self.inner, "too few nodes")
            m = ceil_div(n, self.leaf)
            code = lefts[inner]
            left = ceil_div(n * ceil_div(m, 2), m) + (code // 2 if code % 2 == 0 else -(code + 1) // 2)
            cursor.check(0 < left < n, "a child without particles")
            axis, split = self.axes[inner], self.splits[inner]
            low, high = region[axis]
            cursor.check(low <= split <= high, "a split beyond its region")
            self.nodes.append((first, last, region, inner, first + left))
            waiting.append((first + left, last, region[:axis] + [(split, high)] + region[axis + 1:]))
            waiting.append((first, first + left, region[:axis] + [(low, split)] + region[axis + 1:]))
            inner += 1
        cursor.check(inner == self.inner, "nodes that are of no use")

    def read_bitmaps(self, cursor):
        leaves, distinct = self.inner + 1, cursor.varint()
        if not distinct:
            return packed(cursor, leaves, "<u4").tolist()
        size = 1 if distinct <= 256 else 2
        cursor.check(distinct <= 65536 and 4 * distinct + size * leaves < 4 * leaves, "a list of bitmaps in vain")
        table = packed(cursor, distinct, "<u4").tolist()
        cursor.check(all(a < b for a, b in zip(table, table[1:])), "bitmaps that do not ascend")
        numbers = packed(cursor, leaves, f"<u{size}").tolist()
        cursor.check(set(numbers) == set(range(distinct)), "bitmaps that no leaf has, or a leaf without one")
        return [table[number] for number in numbers]

    def check(self, positions, values):
        """Every particle is in the region of all its nodes, and its values in the bitmaps of its leaf, which have no
        other bits."""
        for first, last, region, inner, middle in self.nodes:
            inside = positions[first:last]
            low, high = np.array(region).T
            check(np.all((low <= inside) & (inside <= high)), f"{self.what}: a particle outside of its node")
            if inner is not None:
                right = positions[middle:last, self.axes[inner]]
                check(right.min() == self.splits[inner], f"{self.what}: a split that is not the smallest on the right")
        leaves = [first for first, _, _, inner, _ in self.nodes if inner is None]
        for row, bitmaps, column in zip(self.rows, self.bitmaps, values):
            check(not leaves or bitmaps == row.bitmaps(column, leaves), f"{self.what}: wrong bitmap of a leaf")
        for row, bitmaps in zip(self.summary.rows, self.bitmaps):
            check(row.bits == functools.reduce(int.__or__, bitmaps, 0), f"{self.what}: not the bitmap of the summary")


def packed(cursor, count, dtype):
    """Section 6: packed values of a tree."""
    data = cursor.take(cursor.varint())
    try:
        return zstd(data, count, np.dtype(dtype))
    except Damage as damage:
        raise Damage(f"{cursor.what}: {damage}") from damage


class FileTree:
    """Section 7: the tree over the files of a set."""

    def __init__(self, cursor, particles, is_stored=True):
        self.summaries, self.what = particles.summaries, f"{cursor.what}: particles {particles.name!r}"
        types = [[row.dtype for row in summary.rows] for summary in self.summaries]
        cursor.check(all(t == types[0] for t in types), "summaries with different rows")
        rows = len(types[0]) if types else 0
        count = cursor.one("Q") if is_stored else 0
        cursor.check(count in (0, 2 * len(self.summaries) - 1), "a tree of a wrong number of files")
        self.nodes = [cursor.unpack("IIId") + (cursor.array("<u4", rows).tolist(),) for _ in range(count)]
        files = 0
        waiting = [0] if count else []  # numbers that nodes must have, the next one last
        for i, (right, file, axis, _, _) in enumerate(self.nodes):
            cursor.check(waiting and waiting.pop() == i, "nodes that are not in preorder")
            if right:
                cursor.check(i + 1 < right < count and axis <= particles.ndims, "a bad node of the tree of files")
                waiting += [right, i + 1]
            else:
                cursor.check(file == files and axis == 0, "files that are not in order")
                files += 1
        cursor.check(not waiting and files in (0, len(self.summaries)), "a tree that lacks files")

    def check(self):
        if not self.nodes:
            return
        for k in range(len(self.summaries[0].rows)):
            parts = [summary.rows[k] for summary in self.summaries]
            filled = [row for row in parts if row.bits]
            all_files = Row(parts[0].dtype, min((row.low for row in filled), default=0),
                            max((row.high for row in filled), default=0))
            for i, (right, file, _, _, bitmaps) in enumerate(self.nodes):
                if right:
                    expected = self.nodes[i + 1][4][k] | self.nodes[right][4][k]
                else:
                    expected = remapped(parts[file], all_files)
                check(bitmaps[k] == expected, f"{self.what}: wrong bitmap in the tree of files")


def remapped(row, target):
    """All bins of target that values in the bins of row can be in."""
    result = 0
    for b, low, high in values_by_bin(row):
        if row.bits >> b & 1:
            first, last = target.bins(np.array([low, high]))
            result |= (2 << int(last)) - (1 << int(first))
    return result if row.finite or row.dtype.kind != "f" else result | row.bits & (1 << BINS - 1 | 1)  # infinities


def values_by_bin(row):
    """(bin, low, high): the least and the largest number from row.low to row.high in each bin that has any. Of floats
    these are f64, whatever the row's type."""
    if row.dtype.kind != "f":
        low, high = int(row.low), int(row.high)
        width = (high - low) // BINS + 1
        starts = range(low, high + 1, width)
        return [(b, row.dtype.type(v), row.dtype.type(min(v + width - 1, high))) for b, v in enumerate(starts)]
    # By bisection, as bins never decrease as values grow: the first step of each bin, and the end.
    first, last = steps_of(np.array([row.low, row.high], "f8"))
    a, c = np.full(BINS, first), np.full(BINS, last)
    while np.any(a < c):
        middle = (a >> 1) + (c >> 1) + (a & c & 1)
        reached = row.bins(values_at(middle)) >= np.arange(BINS)
        a, c = np.where(reached | (a == c), a, middle + 1), np.where(reached, middle, c)
    values = values_at(a)
    held = row.bins(values) >= np.arange(BINS)  # else the bin is beyond the last value
    ends = np.append(a[1:], last) - np.append(held[1:], False)
    return [(b, values[b], values_at(ends[b:b + 1])[0]) for b in range(BINS) if held[b] and a[b] <= ends[b]]


def steps_of(values):
    """An integer for each f64, in the same order."""
    bits = (values + 0.0).view("i8")
    return np.where(bits >= 0, bits, -(bits & 2**63 - 1))


def values_at(steps):
    return np.copysign(np.abs(steps).view("f8"), steps)
