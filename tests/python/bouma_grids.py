"""Grids of the bouma format: their patches, keys and levels. Written from docs/format.md alone. See
bouma_reader.py."""

import itertools
import math
import struct

import numpy as np

from bouma_codecs import Interp, zstd
from bouma_common import NOMINAL, Chunk, Damage, Variable, ceil_div, check
from bouma_exact import Exact
from bouma_levels import Levels


class Grid:
    codecs = {1: "zstd", 2: "raw", 3: "interp", 4: "wavelet", 7: "exact"}

    def __init__(self, cursor, others):
        self.ndims, self.levels = cursor.unpack("BB")
        cursor.check(1 <= self.ndims <= 3, f"a grid of {self.ndims} axes")
        self.name = cursor.name(others)
        self.unit = cursor.text()
        self.read_layout(cursor)
        self.attributes = cursor.attributes()
        self.variables = {}

    def read_layout(self, cursor):
        axes = [cursor.unpack("qqdd") for _ in range(self.ndims)]
        self.shape, self.edges, self.origin, self.spacing = zip(*axes)
        for extent, edge in zip(self.shape, self.edges):
            cursor.check(1 <= extent < 2**40, f"bad extent {extent}")
            cursor.check(edge >= 1 and edge & (edge - 1) == 0, f"patch edge {edge} is no power of two")
            cursor.check(edge <= 1 << (extent - 1).bit_length(), f"patch edge {edge} is too large for {extent}")
        cursor.check(1 <= self.levels <= min(32, max(self.edges).bit_length()), f"{self.levels} levels")
        cursor.check(math.prod(self.shape) < 2**62, "too many samples")
        self.patch_counts = tuple(ceil_div(extent, edge) for extent, edge in zip(self.shape, self.edges))
        cursor.check(math.prod(self.patch_counts) <= 2**31, "too many patches")
        self.whole = math.prod(self.edges)
        self.largest = math.prod(map(min, zip(self.shape, self.edges)))
        self.stored_levels = self.levels

    def variable(self, cursor, step, number):
        return GridVariable(cursor, step, self, number)

    def check_complete(self, cursor, subfiles):
        """Section 6: every patch of a variable that is present is in one subfile."""
        for variable in self.variables.values():
            patches = math.prod(self.patch_counts)
            cursor.check(len(variable.chunks) in (0, patches), f"variable {variable.name!r} lacks patches")

    def coordinates(self, key):
        """Section 4: the coordinates of the patch with this Morton key."""
        found = [0] * self.ndims
        for bit in range(64):
            axis = self.ndims - 1 - bit % self.ndims
            found[axis] |= (key >> bit & 1) << bit // self.ndims
        return tuple(found)

    def patch_box(self, patch):
        """Per axis (low, high), half-open, in samples."""
        return [(p * edge, min((p + 1) * edge, extent)) for p, edge, extent in zip(patch, self.edges, self.shape)]

    def level_box(self, box, level):
        """The part of a box that a level has, in samples of that level."""
        return [(ceil_div(low, 1 << level), ceil_div(high, 1 << level)) for low, high in box]


class GridVariable(Variable):
    @property
    def grid(self):
        return self.owner

    @property
    def stored_dtype(self):
        return self.dtype

    def chunk(self, *fields):
        return Patch(*fields)

    def check_question(self, level, box):
        """The box, which is the whole grid if it is None."""
        grid = self.grid
        if not self.present:
            raise KeyError(f"{grid.name}/{self.name} is not in step {self.step.number}")
        if not 0 <= level < grid.levels:
            raise ValueError(f"no level {level}")
        box = [(0, extent) for extent in grid.shape] if box is None else list(box)
        if len(box) != grid.ndims or any(not 0 <= low <= high <= n for (low, high), n in zip(box, grid.shape)):
            raise ValueError(f"bad box {box}")
        return box

    def read(self, level=0, box=None):
        """The samples of a level in a box, which is (low, high) per axis, half-open, in samples of level 0."""
        grid = self.grid
        box = self.check_question(level, box)
        wanted = grid.level_box(box, level)
        result = np.zeros([self.components] + [high - low for low, high in wanted], self.dtype)
        touched = [range(low // edge, ceil_div(high, edge)) for (low, high), edge in zip(box, grid.edges)]
        for patch in itertools.product(*touched):
            held = grid.level_box(grid.patch_box(patch), level)
            common = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(wanted, held)]
            if all(low < high for low, high in common):
                target = tuple(slice(low - w, high - w) for (low, high), (w, _) in zip(common, wanted))
                source = tuple(slice(low - h, high - h) for (low, high), (h, _) in zip(common, held))
                result[(slice(None),) + target] = self.chunks[patch].read(level)[(slice(None),) + source]
        return self.components_last(result)

    def components_last(self, result):
        return result[0] if self.components == 1 else np.ascontiguousarray(np.moveaxis(result, 0, -1))


class Patch(Chunk):
    """One patch of one variable."""

    def locate(self):
        grid = self.variable.grid
        self.address = grid.coordinates(self.key)
        check(all(p < n for p, n in zip(self.address, grid.patch_counts)), f"{self.what}: not in the grid")
        self.box = grid.patch_box(self.address)
        self.samples = math.prod(b - a for a, b in self.box)
        self.slack = self.variable.bound
        self.known = {}  # by level: what read_pieces made

    def count(self, level):
        """Section 4: how many samples a level stores."""
        grid = self.variable.grid
        held, coarser = (math.prod(b - a for a, b in grid.level_box(self.box, k)) for k in (level, level + 1))
        return held if level == grid.levels - 1 else held - coarser

    def decode(self, level):
        """Section 5: the values of a level of an exact codec, as an array of components and samples."""
        count = self.count(level) * self.variable.components
        try:
            return zstd(self.stored(level), count, self.variable.stored_dtype).reshape(self.variable.components, -1)
        except Damage as damage:
            raise Damage(f"{self.what}: level {level}: {damage}") from damage

    def pieces(self, level):
        """Section 5: the pieces of a level of codec interp, wavelet or exact, one for each component."""
        data, components = self.stored(level), self.variable.components
        if components == 1 or not data:
            return [data] * components
        check(len(data) >= 4 * components, f"{self.what}: level {level} is too short")
        ends = np.cumsum([4 * components] + list(struct.unpack_from(f"<{components}I", data))).tolist()
        check(ends[-1] == len(data), f"{self.what}: level {level}: sizes that do not add up")
        return [data[a:b] for a, b in zip(ends, ends[1:])]

    def make_codecs(self, coarsest):
        """One for each component."""
        variable, axes = self.variable, [1] * (3 - self.variable.grid.ndims)
        n = axes + self.extents(0)
        if variable.codec == "interp":
            exact = Exact(n, coarsest, variable.dtype)
            return [Interp(n, coarsest, variable.bound, variable.dtype, exact)] * variable.components
        if variable.codec == "exact":
            return [Exact(n, coarsest, variable.stored_dtype)] * variable.components
        shapes = [axes + self.extents(k) for k in range(coarsest + 1)]
        return [Levels(shapes, variable.stored_dtype) for _ in range(variable.components)]

    def read_pieces(self, level):
        """Section 5: the samples of a level, as an array of components and three axes."""
        variable = self.variable
        coarsest = max(k for k in range(variable.grid.stored_levels) if self.has_samples(k))
        if not self.known:
            self.codecs, coarse = self.make_codecs(coarsest), [None] * variable.components
            for k in reversed(range(coarsest + 1)):
                try:
                    coarse = [codec.decode(piece, k, before)
                              for codec, piece, before in zip(self.codecs, self.pieces(k), coarse)]
                except Damage as damage:
                    raise Damage(f"{self.what}: level {k}: {damage}") from damage
                self.known[k] = np.stack(coarse)
        return self.known[level]

    def extents(self, level):
        """Samples of a level along each axis."""
        return [b - a for a, b in self.variable.grid.level_box(self.box, level)]

    def has_samples(self, level):
        return all(self.extents(level))

    def read(self, level):
        """Section 4: the samples of a level, as an array of components and axes."""
        grid = self.variable.grid
        held = grid.level_box(self.box, level)
        patch = np.zeros([self.variable.components] + [b - a for a, b in held], self.variable.dtype)
        if self.variable.codec in ("interp", "wavelet", "exact"):
            if self.has_samples(level):
                patch[...] = self.read_pieces(level).reshape(patch.shape)
            if self.variable.codec != "wavelet" or (level == 0 and not self.variable.kind & NOMINAL):
                self.check_range(patch, level == 0)
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
        self.check_range(patch, level == 0)
        return patch
