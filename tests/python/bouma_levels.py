"""The codec wavelet of the bouma format, written from section 5 of docs/format.md alone. See bouma_reader.py."""

import math

import numpy as np

from bouma_codecs import ORDER, Bytes, octant_of, octant_shape, zstd
from bouma_common import check
from bouma_zfp import decode_bands

# 2^(f/8)
WIDER = (1, 1.09050773266525765921, 1.18920711500272106672, 1.29683955465100966593, 1.41421356237309504880,
         1.54221082540794082361, 1.68179283050742908606, 1.83400808640934246349)


class Levels:
    """One component of one chunk, level by level from the root on: shapes[k] are the samples of level k along three
    axes."""

    def __init__(self, shapes, dtype):
        self.shapes, self.dtype = shapes, dtype
        self.root = max(k for k, shape in enumerate(shapes) if math.prod(shape))
        self.form, self.special = None, None  # of the level before; where it is not finite

    def decode(self, data, level, coarse):
        """The samples of a level, from its piece and those of the next coarser level."""
        shape = self.shapes[level]
        if level != self.root and math.prod(shape) == math.prod(self.shapes[level + 1]):
            check(not data, "a piece that is of no use")
            return coarse
        piece = Bytes(data)
        form = piece.one("B")
        check(form <= 2, f"a piece of form {form}")
        check(level == self.root or (form == 0) == (self.form == 0), "forms that do not agree")
        self.form = form
        octants = [0] if level == self.root else ORDER
        shapes = [shape] if level == self.root else [octant_shape(shape, octant) for octant in octants]
        special = np.zeros(shape, bool)
        exact = stand_in = None
        if form == 0:
            bands = self.plain(piece.data, shapes)
        else:
            e = piece.one("h")
            check(-8592 <= e <= 8191, f"a tolerance of 2^({e}/8)")
            if form == 2:
                special, exact, stand_in = self.not_finite(piece, shape, level)
            bands = decode_bands(piece.data, shapes, shape, self.dtype, e // 8)
            bands = [band * self.dtype.newbyteorder("=").type(WIDER[e % 8]) for band in bands]
        if level == self.root:
            samples = bands[0]
        else:
            samples = np.empty(shape, self.dtype.newbyteorder("="))
            octant_of(samples, 0)[...] = coarse
            if stand_in is not None:
                octant_of(samples, 0)[self.special] = stand_in
            for octant, band in zip(octants, bands):
                octant_of(samples, octant)[...] = band
            if form:
                with np.errstate(all="ignore"):
                    for axis in 2, 1, 0:
                        unlift(np.moveaxis(samples, axis, 0))
        if exact is not None:
            samples[special] = exact
        self.special = special
        return samples

    def plain(self, data, shapes):
        samples = zstd(data, sum(map(math.prod, shapes)), self.dtype)
        ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(samples, ends), shapes)]

    def not_finite(self, piece, shape, level):
        """Form 2: where samples are not finite, these samples, and what stands in for those of the coarser level."""
        n = math.prod(shape)
        parts = [piece.take(piece.one("I")) for _ in range(2 if level == self.root else 3)]
        bits = np.unpackbits(zstd(parts[0], (n + 7) // 8, np.dtype("u1")), bitorder="little")
        check(not bits[n:].any(), "bits of samples that there are not")
        special = bits[:n].astype(bool).reshape(shape)
        exact = zstd(parts[1], special.sum(), self.dtype)
        check(not np.isfinite(exact).any(), "a finite sample among those that are not")
        if level == self.root:
            return special, exact, None
        check(np.array_equal(octant_of(special, 0), self.special), "a coarser level that is not finite elsewhere")
        return special, exact, zstd(parts[2], self.special.sum(), self.dtype)


def unlift(x):
    """The inverse wavelet transform along axis 0, in place."""
    n, type_ = len(x), x.dtype.type
    quarter, half = type_(-0.25), type_(0.5)
    if n == 1:
        return
    before = x.copy()
    for i in range(0, n, 2):
        if i == 0:
            x[i] += quarter * before[1]
        elif i + 1 == n:
            x[i] += quarter * before[i - 1]
        else:
            x[i] += quarter * (before[i - 1] + before[i + 1])
    for i in range(1, n - 1, 2):
        x[i] += half * (x[i - 1] + x[i + 1])
    if n == 2:
        x[1] += x[0]
    elif n % 2 == 0:
        x[n - 1] += x[n - 2] - half * (x[n - 4] - x[n - 2])
