"""Wavelet coefficients of grids in HZ order (section 4 of docs/format.md), and back to samples. Written from that
document alone. See bouma_reader.py."""

import itertools
import math

import numpy as np

LIMITS = {4: (2**20, 2**22, 2.0**-100, 2.0**100), 8: (2**49, 2**51, 2.0**-900, 2.0**900)}


class Words:
    """Words of one variable: integers of as many bits as its type has."""

    def __init__(self, dtype, bound):
        self.dtype = dtype
        self.integer = np.dtype(f"<i{dtype.itemsize}")
        self.is_float = dtype.kind == "f"
        self.step = 0.0
        if self.is_float:
            self.limit, self.most_detail, least, most = LIMITS[dtype.itemsize]
            if bound >= least:
                mantissa, exponent = math.frexp(min(bound, most))
                self.step = math.ldexp(math.floor(mantissa * 16), exponent - 3)

    def number(self, values):
        """The words of f32 or f64 values, without a step."""
        bits = np.ascontiguousarray(values, self.dtype).view(self.integer)
        most = np.iinfo(self.integer).max
        return np.where(bits < 0, -1 - (bits & most), bits).astype(self.integer)

    def value(self, words):
        """And back."""
        most = np.iinfo(self.integer).max
        bits = np.where(words < 0, (-1 - words) | ~self.integer.type(most), words).astype(self.integer)
        return bits.view(self.dtype)

    def samples(self, words):
        if self.dtype.kind == "u":
            top = np.array(1 << 8 * self.dtype.itemsize - 1, self.dtype)
            return words.view(self.dtype) ^ top
        if not self.is_float:
            return words.view(self.dtype)
        if not self.step:
            return self.value(words)
        small = (-self.limit <= words) & (words <= self.limit)
        edge = int(self.number(np.array([self.limit * self.step]))[0])
        most = np.iinfo(self.integer).max
        others = [min(abs(int(word)) + edge - self.limit, most) for word in words[~small]]
        samples = np.zeros(words.shape, self.dtype)
        samples[small] = (words[small] * self.step).astype(self.dtype)
        bits = np.array(others, self.integer)
        sign = np.where(words[~small] < 0, np.iinfo(self.integer).min, 0).astype(self.integer)
        samples[~small] = (bits | sign).view(self.dtype)  # no arithmetic, which would change a NaN
        return samples

    def detail(self, words):
        """d(x)."""
        return (words >> 1 & np.iinfo(self.integer).max) ^ -(words & 1)

    def as_words(self, values, a, b):
        """What is predicted as values."""
        finite = np.isfinite(values)
        other = np.where(np.isfinite(self.value(a)), a, np.where(np.isfinite(self.value(b)), b, 0))
        return np.where(finite, self.number(np.where(finite, values, 0)), other).astype(self.integer)

    def mean(self, a, b):
        if not self.is_float or self.step:
            return (a & b) + ((a ^ b) >> 1)  # which does not overflow
        x, y = self.value(a), self.value(b)
        if self.dtype.itemsize == 4:
            return self.as_words((0.5 * (x.astype("f8") + y.astype("f8"))).astype("f4"), a, b)
        return self.as_words(0.5 * x + 0.5 * y, a, b)

    def beyond(self, a, b):
        if not self.is_float or self.step:
            return a + (a >> 1) - (b >> 1)
        x, y = self.value(a), self.value(b)
        if self.dtype.itemsize == 4:
            return self.as_words((1.5 * x.astype("f8") - 0.5 * y.astype("f8")).astype("f4"), a, b)
        return self.as_words(x + 0.5 * (x - y), a, b)

    def undo_step(self, x):
        """One step of a reader, in place; lines are along the first axis."""
        m = len(x)
        if self.is_float:
            details = [np.clip(self.detail(x[i]).astype("i8"), -self.most_detail, self.most_detail) if 0 <= i < m else 0
                       for i in range(-1, m + 1)]
            for i in range(0, m, 2):
                x[i] -= np.asarray(details[i] + details[i + 2] + 2 >> 2).astype(self.integer)
        for i in range(1, m, 2):
            prediction = (self.mean(x[i - 1], x[i + 1]) if i + 1 < m else
                          self.beyond(x[i - 1], x[i - 3]) if i >= 3 else x[i - 1])
            x[i] = self.detail(x[i]) + prediction


def steps_of(axes, ndims, tile_bits, level):
    """Axis and strides of each step of a level, the first letter first; 'axes' are those of the letters."""
    for i in range(len(axes) - tile_bits, len(axes)):
        strides = [2**axes[i + 1:].count(axis) for axis in range(ndims)]
        if strides[axes[i]] >= 2**level:
            yield axes[i], [max(stride, 2**level) for stride in strides]


def to_samples(words, coefficients, axes, tile_bits, shape, level):
    """The samples of a level of a whole grid, [components][axes], from its coefficients."""
    x = coefficients.copy()
    ndims = len(shape)
    edges = [2**axes[len(axes) - tile_bits:].count(axis) for axis in range(ndims)]
    with np.errstate(all="ignore"):
        for start in itertools.product(*(range(0, n, edge) for n, edge in zip(shape, edges))):
            for axis, strides in steps_of(axes, ndims, tile_bits, level):
                # multiples of strides in the tile, as indices of the level
                lines = tuple(slice(-(-first // 2**level), -(-min(first + edge, n) // 2**level), stride // 2**level)
                              for first, edge, n, stride in zip(start, edges, shape, strides))
                words.undo_step(np.moveaxis(x[(slice(None),) + lines], axis + 1, 0))
        return words.samples(x)
