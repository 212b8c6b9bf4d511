"""Grids in HZ order of the bouma format (layout 3). Written from docs/format.md alone. See bouma_reader.py."""

import math
import struct

import numpy as np

from bouma_codecs import zstd
from bouma_common import NOMINAL, Damage, check
from bouma_grids import Grid, GridVariable, Patch
from bouma_subbands import Words, to_samples

ROWS, CURVE = 1, 2
LOCAL, WAVELET, IDX = 32, 64, 128


class HzGrid(Grid):
    def read_layout(self, cursor):
        """Section 3."""
        axes = [cursor.unpack("qdd") for _ in range(self.ndims)]
        self.shape, self.origin, self.spacing = zip(*axes)
        self.template = cursor.text()
        self.block_bits, order, self.blocks_per_file = cursor.unpack("BBI")
        self.order = order & ~(LOCAL | WAVELET | IDX)
        self.wavelet, self.idx = bool(order & WAVELET), bool(order & IDX)
        self.partition_bits = cursor.one("B") if order & LOCAL else 0
        self.tile_bits = cursor.one("B") if self.wavelet else 0
        cursor.check(order & ~3 in (0, LOCAL, WAVELET, IDX), f"unknown order {order}")
        cursor.check(self.tile_bits <= min(24, len(self.template)), f"tiles of 2^{self.tile_bits}")
        cursor.check(self.tile_bits or not self.wavelet or not self.template, "tiles of one sample")
        letters = "zyx"[3 - self.ndims:]
        cursor.check(len(self.template) <= 62 and set(self.template) <= set(letters), f"template {self.template!r}")
        cursor.check(1 <= self.block_bits <= 30 or not self.template, f"blocks of 2^{self.block_bits}")
        cursor.check(self.block_bits <= len(self.template), f"blocks of 2^{self.block_bits}")
        cursor.check(self.order in (ROWS, CURVE), f"unknown order {self.order}")
        cursor.check(self.order == CURVE or not self.idx, "IDX with blocks in rows")
        cursor.check(1 <= self.blocks_per_file < 2**31, f"{self.blocks_per_file} blocks per file")
        if order & LOCAL:
            most = min(16, self.block_bits, len(self.template) - self.block_bits)
            cursor.check(1 <= self.partition_bits <= most, f"2^{self.partition_bits} partitions")
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

    def index_of(self, z, axes=None):
        """Section 4: the indices of a Z address."""
        index = [0] * self.ndims
        axes = self.axes if axes is None else axes
        for i, axis in enumerate(axes):
            index[axis] = 2 * index[axis] + (z >> len(axes) - 1 - i & 1)
        return index

    def place(self, key):
        """Section 4: of a chunk, the partition or None, its file there, the first HZ address (inside), and log2 of the
        addresses. None if there is no such chunk."""
        r, b, rest = self.partition_bits, self.block_bits, len(self.axes) - self.partition_bits
        if not r:
            return (None, key // self.blocks_per_file, key << b, b) if key < 2**(rest - b) else None
        if key == 0:
            return None, 0, 0, b
        m = 2**(rest - b) + r - 1
        p, i = divmod(key - 1, m)
        if p >= 2**r:
            return None
        if i < r:
            split = b - r + i + 1
            return p, 0, 2**(split - 1), split - 1
        block = i - r + 1
        return p, block // self.blocks_per_file, block << b, b

    def index_at(self, partition, h):
        """The indices of an HZ address, which is inside of a partition unless that is None."""
        r = 0 if partition is None else self.partition_bits
        n = len(self.axes) - r
        z = (2 * h + 1) * 2**(n - h.bit_length()) % 2**n
        return self.index_of(z + ((partition or 0) << n))

    def keys(self):
        rest = len(self.axes) - self.partition_bits - self.block_bits
        if not self.partition_bits:
            return range(2**rest)
        return range((2**rest + self.partition_bits - 1 << self.partition_bits) + 1)

    def lattice(self, key):
        """Section 4: first sample, samples along each axis and how far they are apart; those of the grid only. None
        if there are none."""
        partition, _, first, bits = self.place(key)
        before = max((first >> bits).bit_length() - 1, 0)
        axes = self.axes if partition is None else self.axes[self.partition_bits:]
        own = axes[before:before + bits]
        behind = axes[before + bits:]
        first = self.index_at(partition, first)
        steps = [2**behind.count(axis) for axis in range(self.ndims)]
        counts = [min(2**own.count(axis), (self.shape[axis] - first[axis] - 1) // steps[axis] + 1)
                  for axis in range(self.ndims)]
        return (first, counts, steps) if min(counts) > 0 else None

    def file_of(self, key):
        """What sorts files."""
        partition, file, _, _ = self.place(key)
        return -1 if partition is None else partition, file

    def check_complete(self, cursor, subfiles):
        """Section 4: all blocks that have samples are there, each in its file."""
        keys = [key for key in self.keys() if self.lattice(key)]
        files = sorted({self.file_of(key) for key in keys})
        for variable in self.variables.values():
            if variable.present:
                cursor.check(sorted(variable.chunks) == keys, f"variable {variable.name!r} lacks blocks")
                parts = [s.number for s in subfiles if variable.number in s.parts]
                cursor.check(len(parts) == len(files), f"variable {variable.name!r} is in {len(parts)} files")
                for chunk in variable.chunks.values():
                    check(chunk.subfile.number == parts[files.index(self.file_of(chunk.key))],
                          f"{chunk.what}: is in a wrong file")


class HzVariable(GridVariable):
    def chunk(self, *fields):
        return Block(*fields)

    @property
    def rounds(self):
        """Samples are rounded before they become coefficients."""
        return self.grid.wavelet

    @property
    def stored_dtype(self):
        """Coefficients are integers: as numbers that are none, f32 could change when they are copied."""
        return np.dtype(f"<i{self.dtype.itemsize}") if self.grid.wavelet else self.dtype

    def read(self, level=0, box=None):
        if not self.grid.wavelet:
            return self.components_last(self.read_stored(level, box))
        grid, low_high = self.grid, self.check_question(level, box)
        words = Words(self.dtype, self.bound)
        samples = to_samples(words, self.read_stored(level, None), grid.axes, grid.tile_bits, grid.shape, level)
        part = tuple(slice(low, high) for low, high in grid.level_box(low_high, level))
        return self.components_last(samples[(slice(None),) + part])

    def read_stored(self, level, box):
        """Samples, or coefficients, as blocks have them."""
        grid = self.grid
        box = self.check_question(level, box)
        wanted = grid.level_box(box, level)
        result = np.zeros([self.components] + [high - low for low, high in wanted], self.stored_dtype)
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
        return result


class Block(Patch):
    """One block of one variable."""

    def locate(self):
        grid = self.variable.grid
        check(grid.place(self.key), f"{self.what}: not in the grid")
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
        return 2**self.variable.grid.place(self.key)[3] if self.curved else self.samples

    def read(self, level):
        variable, shape = self.variable, [self.variable.components] + self.extents(0)
        if variable.codec in ("interp", "wavelet", "exact"):
            samples = self.read_pieces(0).reshape(shape)
        elif self.curved:
            samples = self.from_curve()
        else:
            samples = self.decode(0).reshape(shape)
        if not variable.kind & NOMINAL and not variable.grid.wavelet:
            self.check_range(samples)
        return samples

    def from_curve(self):
        grid, components = self.variable.grid, self.variable.components
        partition, _, start, bits = grid.place(self.key)
        try:
            values = zstd(self.stored(0), 2**bits * components, self.variable.stored_dtype).reshape(-1, components)
        except Damage as damage:
            raise Damage(f"{self.what}: {damage}") from damage
        samples = np.zeros([components] + self.extents(0), self.variable.stored_dtype)
        for i in range(2**bits):
            index = grid.index_at(partition, start + i)
            if all(at < extent for at, extent in zip(index, grid.shape)):
                place = tuple((at - first) // step for at, first, step in zip(index, self.lattice[0], self.lattice[2]))
                samples[(slice(None),) + place] = values[i]
        return samples
