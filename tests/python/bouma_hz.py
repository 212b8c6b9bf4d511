"""Grids in HZ order of the bouma format (layout 3). Written from docs/format.md alone. See bouma_reader.py."""

import math
import struct

import numpy as np

from bouma_codecs import zstd
from bouma_common import NOMINAL, Damage, check
from bouma_grids import Grid, GridVariable, Patch

ROWS, CURVE = 1, 2


class HzGrid(Grid):
    def read_layout(self, cursor):
        """Section 3."""
        axes = [cursor.unpack("qdd") for _ in range(self.ndims)]
        self.shape, self.origin, self.spacing = zip(*axes)
        self.template = cursor.text()
        self.block_bits, order, self.blocks_per_file = cursor.unpack("BBI")
        self.order, self.idx = order & 127, order >= 128
        letters = "zyx"[3 - self.ndims:]
        cursor.check(len(self.template) <= 62 and set(self.template) <= set(letters), f"template {self.template!r}")
        cursor.check(1 <= self.block_bits <= 30 or not self.template, f"blocks of 2^{self.block_bits}")
        cursor.check(self.block_bits <= len(self.template), f"blocks of 2^{self.block_bits}")
        cursor.check(self.order in (ROWS, CURVE), f"unknown order {self.order}")
        cursor.check(self.order == CURVE or not self.idx, "IDX with blocks in rows")
        cursor.check(1 <= self.blocks_per_file < 2**31, f"{self.blocks_per_file} blocks per file")
        self.axes = [letters.index(letter) for letter in self.template]
        counts = [self.axes.count(axis) for axis in range(self.ndims)]
        for extent, count in zip(self.shape, counts):
            cursor.check(1 <= extent <= 2**count, f"extent {extent} with template {self.template!r}")
        cursor.check(1 <= self.levels <= min(32, 1 + max(counts)), f"{self.levels} levels")
        cursor.check(-(-2**(len(self.template) - self.block_bits) // self.blocks_per_file) <= 2**20, "too many files")
        self.whole = self.largest = 2**self.block_bits
        self.stored_levels = 1

    def variable(self, cursor, step, number):
        return HzVariable(cursor, step, self, number)

    def front_size(self):
        """Section 6, fronts: bytes before the first head of each file."""
        return 40 * len(self.variables) * (self.blocks_per_file + 1) if self.idx else 0

    def front(self, chunks):
        """Section 6, fronts: these bytes of a file that has these chunks."""
        front, fields = bytearray(self.front_size()), list(self.variables.values())
        for chunk in chunks:
            entry = fields.index(chunk.variable) * self.blocks_per_file + chunk.key % self.blocks_per_file
            low, high = chunk.offsets[0] % 2**32, chunk.offsets[0] >> 32
            struct.pack_into(">IIIIII", front, 40 * (1 + entry), 0, 0, low, high, chunk.sizes[0], 0)
        return bytes(front)

    def index_of(self, z):
        """Section 4: the indices of a Z address."""
        index = [0] * self.ndims
        for i, axis in enumerate(self.axes):
            index[axis] = 2 * index[axis] + (z >> len(self.axes) - 1 - i & 1)
        return index

    def z_of(self, h):
        """Section 4: the Z address of an HZ address."""
        n = len(self.axes)
        return (2 * h + 1) * 2**(n - h.bit_length()) % 2**n

    def lattice(self, block):
        """Section 4: first sample, samples along each axis and how far they are apart; those of the grid only. None
        if there are none."""
        before = max(block.bit_length() - 1, 0)
        own = self.axes[before:before + self.block_bits]
        behind = self.axes[before + self.block_bits:]
        first = self.index_of(self.z_of(block << self.block_bits))
        steps = [2**behind.count(axis) for axis in range(self.ndims)]
        counts = [min(2**own.count(axis), (self.shape[axis] - first[axis] - 1) // steps[axis] + 1)
                  for axis in range(self.ndims)]
        return (first, counts, steps) if min(counts) > 0 else None

    def check_complete(self, cursor, subfiles):
        """Section 4: all blocks that have samples are there, each in its file."""
        blocks = [b for b in range(2**(len(self.axes) - self.block_bits)) if self.lattice(b)]
        files = sorted({b // self.blocks_per_file for b in blocks})
        for variable in self.variables.values():
            if variable.present:
                cursor.check(sorted(variable.chunks) == blocks, f"variable {variable.name!r} lacks blocks")
                parts = [s.number for s in subfiles if variable.number in s.parts]
                cursor.check(len(parts) == len(files), f"variable {variable.name!r} is in {len(parts)} files")
                for chunk in variable.chunks.values():
                    check(chunk.subfile.number == parts[files.index(chunk.key // self.blocks_per_file)],
                          f"{chunk.what}: is in a wrong file")


class HzVariable(GridVariable):
    def chunk(self, *fields):
        return Block(*fields)

    def read(self, level=0, box=None):
        grid = self.grid
        box = self.check_question(level, box)
        wanted = grid.level_box(box, level)
        result = np.zeros([self.components] + [high - low for low, high in wanted], self.dtype)
        missing = np.ones(result.shape[1:], bool)
        for chunk in self.chunks.values():
            source, target = [], []
            for first, count, step, (low, high) in zip(*chunk.lattice, box):
                indices = first + step * np.arange(count)
                chosen = (indices % 2**level == 0) & (low <= indices) & (indices < high)
                source.append(np.flatnonzero(chosen))
                target.append(indices[chosen] // 2**level - -(-low // 2**level))
            if all(map(len, source)):
                every = np.arange(self.components)
                result[np.ix_(every, *target)] = chunk.read(0)[np.ix_(every, *source)]
                missing[np.ix_(*target)] = False
        check(not missing.any(), f"{grid.name}/{self.name}: samples that no block has")
        return self.components_last(result)


class Block(Patch):
    """One block of one variable."""

    def locate(self):
        grid = self.variable.grid
        check(self.key < 2**(len(grid.axes) - grid.block_bits), f"{self.what}: not in the grid")
        self.address, self.lattice = self.key, grid.lattice(self.key)
        check(self.lattice, f"{self.what}: not in the grid")
        self.box = [(first, first + (count - 1) * step + 1) for first, count, step in zip(*self.lattice)]
        self.samples = math.prod(self.extents(0))
        self.slack = self.variable.bound
        self.known = {}

    @property
    def curved(self):
        return self.variable.grid.order == CURVE and self.variable.codec in ("raw", "zstd")

    def extents(self, level):
        return self.lattice[1]

    def count(self, level):
        return self.variable.grid.whole if self.curved else self.samples

    def read(self, level):
        variable, shape = self.variable, [self.variable.components] + self.extents(0)
        if variable.codec in ("interp", "wavelet", "zfp-reversible"):
            samples = self.read_pieces(0).reshape(shape)
        elif self.curved:
            samples = self.from_curve()
        else:
            samples = self.decode(0).reshape(shape)
        if not variable.kind & NOMINAL:
            self.check_range(samples)
        return samples

    def from_curve(self):
        grid, components = self.variable.grid, self.variable.components
        try:
            values = zstd(self.stored(0), grid.whole * components, self.variable.dtype).reshape(-1, components)
        except Damage as damage:
            raise Damage(f"{self.what}: {damage}") from damage
        samples = np.zeros([components] + self.extents(0), self.variable.dtype)
        for i in range(grid.whole):
            index = grid.index_of(grid.z_of((self.key << grid.block_bits) + i))
            if all(at < extent for at, extent in zip(index, grid.shape)):
                place = tuple((at - first) // step for at, first, step in zip(index, self.lattice[0], self.lattice[2]))
                samples[(slice(None),) + place] = values[i]
        return samples
