"""The codec exact of the bouma format, written from section 5 of docs/format.md alone. See bouma_reader.py."""

import math

import numpy as np

from bouma_codecs import (KEPT, ORDER, Bits, Bytes, Interp, Ranges, Shares, both_sides, finite, octant_of, others,
                          rows_before, unfold, zstd)
from bouma_common import check

CONTEXTS = 22
PACKED, CODED, STEPS = range(3)
MENDED = 8


class Exact(Interp):
    """One chunk: n are the samples of level 0 along three axes, coarsest is the coarsest level that has any."""

    def __init__(self, n, coarsest, dtype):
        super().__init__(n, coarsest, 1, dtype)
        self.sample = dtype
        small = dtype == np.dtype("<f4") or dtype.itemsize < 4
        self.type, self.word_type = (np.float32, np.uint32) if small else (np.float64, np.uint64)
        self.bits, self.fraction = (32, 23) if small else (64, 52)
        self.limit = self.type(2.0**(self.fraction - 1))
        self.magic = self.type(3 * 2.0**(self.fraction - 1))
        self.direct, self.halves = (16, 1) if small else (8, 0)

    def decode(self, data, level, coarse):
        if not self.has_piece(level):
            check(not data, "a piece that is of no use")
            return coarse
        held = math.prod(self.shape(level)) - (0 if level == self.coarsest else math.prod(self.shape(level + 1)))
        check(len(data) <= 1 + held * self.sample.itemsize, "a piece that is too long")
        piece = Bytes(data)
        form = piece.one("B")
        check(form <= STEPS, f"a piece of form {form}")
        if form == PACKED:
            return self.packed(piece, level, coarse)
        self.whole, self.step, self.drop = self.sample.kind != "f" or form == STEPS, None, 0
        if form == STEPS:
            check(self.sample.kind == "f", "steps of integers")
            self.step = piece.one("d")
            check(2.0**-100 < self.step < 2.0**100, "a bad step")
        else:
            self.drop = piece.one("B")
            check(self.drop <= (0 if self.whole else self.fraction), "too many bits that are 0")
        with np.errstate(all="ignore"):
            if level != self.coarsest:
                coarse = self.to_views(coarse)
            return self.from_views(self.views(piece, level, coarse))

    def packed(self, piece, level, coarse):
        self.dtype, view = self.sample, self.type
        self.type = self.sample.newbyteorder("=").type
        result = self.exact(piece, level, coarse)
        self.type = view
        return result

    def to_views(self, samples):
        if self.step is not None:
            return np.rint(samples.astype("f8") / self.step).astype(self.type)
        return samples.astype(self.type)

    def from_views(self, views):
        if self.step is not None:
            return (views.astype("f8") * self.step).astype(self.sample.newbyteorder("="))
        return views.astype("i8").astype(self.sample.newbyteorder("=")) if self.whole else views

    # ---- words

    def word(self, x):
        if self.whole:
            return (x + self.magic).view(self.word_type)
        w = x.view(self.word_type)
        top = self.word_type(1 << self.bits - 1)
        return np.where(w & top, ~w, w | top) >> self.word_type(self.drop)

    def from_word(self, w):
        if self.whole:
            return w.view(self.type) - self.magic
        top, drop = self.word_type(1 << self.bits - 1), self.word_type(self.drop)
        w = w << drop
        return (np.where(w & top, w ^ top, ~w) >> drop << drop).view(self.type)

    def logarithm(self, difference):
        """Of a difference of words."""
        top = self.word_type(1 << self.bits - 1)
        v = np.where(difference & top, ~difference, difference).astype(self.type) + self.type(1)
        log = v.view(self.word_type) >> self.word_type(self.fraction - 2)
        return np.minimum(log.astype("i8") - 4 * (2**(self.bits - self.fraction - 2) - 1), 255)

    def settle(self, p):
        if self.whole:
            p = np.where(p < self.limit, p, self.limit)
            return (np.where(p > -self.limit, p, -self.limit) + self.magic) - self.magic
        return np.where(np.isfinite(p), p, self.type(0))

    def away(self, p, more):
        """The logarithm of how far the word of p + more is from that of p."""
        most = self.limit if self.whole else np.finfo(self.type).max
        total = p + more
        total = np.where(total < most, total, most)
        return self.logarithm(self.word(np.where(total > -most, total, -most)) - self.word(p))

    # ---- pieces

    def views(self, piece, level, coarse):
        root = level == self.coarsest
        passes = list(reversed(range(level, self.passes))) if root else [level]
        octants = [(number, o, shape) for number in passes for o, shape in self.octants(number)]
        count = sum(math.prod(shape) for _, _, shape in octants) + root
        self.low, self.every = piece.one("B"), piece.one("B")
        check(1 <= self.every <= 15, "bad ranges of contexts")
        bits = Bits(piece.data)
        kept = bits.golomb(0)
        check(kept <= count and (not kept or self.step is not None or not self.whole), "too many samples are kept")
        octants = [(number, o, shape, self.mending(bits), Shares(bits, o, self.shape(number)))
                   for number, o, shape in octants]
        beside = bits.golomb(0)
        piece = Bytes(bits.end())
        view = np.dtype(self.type).newbyteorder("<")
        self.kept_views = list(zstd(piece.take(piece.one("I")), kept, view)) if kept else []
        self.extra = Bits(piece.take(beside))
        self.ranges = Ranges(piece, count, CONTEXTS)
        if root:
            coarse, _ = self.row(np.zeros(1, self.type), np.array([255]))
            coarse = coarse.reshape(1, 1, 1)
        for number in passes:
            result = np.empty(self.shape(number), self.type)
            octant_of(result, 0)[...] = coarse
            known, magnitudes = {0: finite(coarse)}, {}
            while octants and octants[0][0] == number:
                _, octant, shape, mend, shares = octants.pop(0)
                samples = self.octant(known, magnitudes, octant, shape, mend, shares, result.shape)
                octant_of(result, octant)[...] = samples
            coarse = result
        check(not self.kept_views, "a wrong number of exact samples")
        check(not self.extra.end(), "extra bits that are of no use")
        self.ranges.end()
        return coarse

    def mending(self, bits):
        """Weights for what was missed in the row above and in the plane before, if there are any."""
        begin = bits.at
        if bits.take(4) != MENDED:
            bits.at = begin
            return None
        return [self.type(unfold(bits.golomb(7), 65535) / 1024) for _ in range(2)]

    def octant(self, known, magnitudes, octant, shape, mend, shares, level_shape):
        p = self.settle(self.predict(known, octant, shape, shares))
        axes = [axis for axis in range(3) if octant & 4 >> axis]
        own = magnitudes[octant] = np.zeros(shape, int)
        if len(axes) > 1:
            weight, number = 4, 2 * len(axes)
            beside = sum(both_sides(magnitudes[octant & ~(4 >> axis)], axis, shape[axis]) for axis in axes)
        else:
            across = [self.across(known[0], axes[0], axis, shape) for axis in others(octant, level_shape)]
            along = self.along(np.moveaxis(known[0], axes[0], 0), shape[axes[0]], 1, -1)
            beside, weight = 2 * self.away(p, np.moveaxis(along, 0, axes[0])), 2
            if across:
                mean = (np.abs(across[0]) + np.abs(across[-1])) * self.type(0.5)
                beside, weight = beside + self.away(p, mean), 3
            number = weight
        result, known[octant] = np.empty(shape, self.type), np.empty(shape, self.type)
        missed = np.zeros((shape[0] + 1, shape[1] + 1, shape[2]), self.type)  # the first ones are of no row
        for z in range(shape[0]):
            for y in range(shape[1]):
                before, m = rows_before(own, z, y)
                whole = weight + 4 * (m > 0)
                expected = 32 * beside[z, y] * (8192 * weight // (whole * number)) >> 16
                if m:
                    expected = expected + (16 * before * (65536 // (whole * m)) >> 16)
                mended = p[z, y]
                if mend:
                    mended = self.settle(mended + (mend[0] * missed[z + 1, y] + mend[1] * missed[z, y + 1]))
                result[z, y], stays = self.row(mended, expected >> 2, own[z, y])
                known[octant][z, y] = np.where(stays, mended, result[z, y])
                missed[z + 1, y + 1] = known[octant][z, y] - p[z, y]
        return result

    def row(self, p, lengths, magnitudes=None):
        """Views, and which of them were kept, from their predictions and the lengths that are expected."""
        contexts = np.clip((lengths - self.low) // self.every, 0, CONTEXTS - 1)
        symbols = [self.ranges.symbol(context) for context in contexts]
        stays = np.array([symbol == KEPT for symbol in symbols])
        folded = [0 if symbol == KEPT else self.folded(symbol) for symbol in symbols]
        mask = (1 << self.bits) - 1
        difference = np.array([(f >> 1 ^ -(f & 1)) & mask for f in folded], self.word_type)
        views = self.from_word(self.word(p) + difference)
        if self.whole:
            check(np.all(np.abs(views) <= self.limit), "a number that is too large")
        else:
            check(np.all(np.isfinite(views)), "a number that is not finite")
        if magnitudes is not None:
            magnitudes[...] = np.where(stays, 255, self.logarithm(difference))
        views[stays] = self.kept(self.kept_views, stays.sum())
        return views, stays

    def folded(self, symbol):
        if symbol < self.direct:
            return symbol
        above = symbol - self.direct
        high = self.direct.bit_length() - 1 + (above >> self.halves)
        check(high < self.bits, "a symbol that there is not")
        rest = high - self.halves
        return ((1 << self.halves) + (above & self.halves) << rest) + self.extra.take(rest)


class ExactList:
    """Values of particles: differences from the value before, 32 with as many bits each."""

    def __init__(self, dtype):
        self.dtype, self.bits = dtype, 8 * dtype.itemsize

    def decode(self, data, count, components):
        """An array of components and values."""
        if not count:
            check(not data, "a piece of nothing")
            return np.empty((components, 0), self.dtype)
        piece = Bytes(data)
        form = piece.one("B")
        if form == 0:
            return zstd(piece.data, count * components, self.dtype).reshape(components, count)
        check(form == 1 and self.bits >= 32, f"a piece of form {form}")
        values = [self.component(piece, count) for _ in range(components)]
        check(not piece.data, "bytes that are of no use")
        return np.array(values, f"<u{self.bits // 8}").view(self.dtype)

    def component(self, piece, count):
        drop = piece.one("B")
        check(drop < self.bits, "too many bits that are 0")
        lengths = np.repeat(np.frombuffer(piece.take(-(-count // 32)), "u1"), 32)[:count].tolist()
        check(max(lengths) <= self.bits, "a difference that is too long")
        bits = Bits(piece.take(-(-sum(lengths) // 8)))
        top, mask, word, values = 1 << self.bits - 1, (1 << self.bits) - 1, 0, []
        for length in lengths:
            folded = bits.take(length)
            word = word + (folded >> 1 ^ -(folded & 1)) & mask
            value = word << drop & mask
            if self.dtype.kind == "f":
                value = value ^ top if value & top else value ^ mask
            values.append(value >> drop << drop)
        return values
