"""Blocks of zfp as docs/format.md has them (section 5, zfp blocks). Written without a look at the library's code or
zfp's, from the published algorithm. See bouma_reader.py."""

import math

import numpy as np

from bouma_common import check

# The order of coefficients: indices along the axes, the fastest one first.
CUBE = """000 100 010 001 011 101 110 200 020 002 111 210 201 021 120 102 012 300 030 003 211 121 112 022 202 220 310
    301 031 130 103 013 122 212 221 311 131 113 320 302 032 230 203 023 222 321 312 132 231 213 123 033 303 330 322
    232 223 133 313 331 233 323 332 333"""
SQUARE = "00 10 01 11 20 02 21 12 30 03 22 31 13 32 23 33"
LINE = "0 1 2 3"
ORDER = {3: CUBE, 2: SQUARE, 1: LINE}


def orders(axes):
    """Where each coefficient belongs in a block in C order."""
    return [sum(int(digit) * 4**axis for axis, digit in enumerate(word)) for word in ORDER[axes].split()]


ORDERS = {axes: orders(axes) for axes in ORDER}


class Stream:
    """Bits, from the lowest of each byte on."""

    def __init__(self, data):
        self.bits = np.unpackbits(np.frombuffer(data, "u1"), bitorder="little").tolist()
        self.at = 0

    def one(self):
        check(self.at < len(self.bits), "blocks end too early")
        self.at += 1
        return self.bits[self.at - 1]

    def number(self, n):
        check(self.at + n <= len(self.bits), "blocks end too early")
        self.at += n
        return sum(bit << i for i, bit in enumerate(self.bits[self.at - n:self.at]))

    def end(self):
        check(len(self.bits) - self.at < 8 and not any(self.bits[self.at:]), "bytes behind the blocks")


class Blocks:
    """Takes blocks of so many axes, of values of a type, from a stream."""

    def __init__(self, stream, axes, dtype, minexp):
        self.stream, self.axes, self.dtype, self.minexp = stream, axes, dtype.newbyteorder("="), minexp
        self.width = 8 * dtype.itemsize
        self.signed = np.dtype(f"i{dtype.itemsize}")
        self.exponent_bits = {4: 8, 8: 11}[dtype.itemsize]
        self.bias = 2**(self.exponent_bits - 1) - 1

    def take(self):
        """The next block, in C order."""
        shape = (4,) * self.axes
        if not self.stream.one():
            return np.zeros(shape, self.dtype)
        exponent = self.stream.number(self.exponent_bits) - self.bias
        planes = min(64, max(0, exponent - self.minexp + 2 * (self.axes + 1)))
        block = self.integers(min(planes, self.width))
        for axis in range(self.axes):  # the slowest first
            lift(np.moveaxis(block, axis, 0))
        return self.scaled(block, exponent)

    def scaled(self, block, exponent):
        with np.errstate(under="ignore"):
            unit = self.dtype.type(math.ldexp(1.0, exponent - (self.width - 2)))
            return unit * block.astype(self.dtype)

    def integers(self, planes):
        """Coefficients, from the highest plane of bits down."""
        size, take = 4**self.axes, self.stream.one
        values, n = [0] * size, 0
        for plane in range(self.width - 1, self.width - 1 - planes, -1):
            bit = 1 << plane
            for i in range(n):
                if take():
                    values[i] |= bit
            while n < size and take():
                while n < size - 1 and not take():
                    n += 1
                values[n] |= bit
                n += 1
        mask = int("10" * (self.width // 2), 2)
        block = np.zeros(size, self.signed)
        for at, value in zip(ORDERS[self.axes], values):
            value = ((value ^ mask) - mask) % 2**self.width
            block[at] = value - 2**self.width if value >> self.width - 1 else value
        return block.reshape((4,) * self.axes)


def quarters(lines):
    """The four parts of an array along axis 0, as views."""
    return [lines[i:i + 1] for i in range(4)]


def lift(lines):
    """The inverse transform along axis 0, in place; integers wrap around."""
    with np.errstate(over="ignore"):
        x, y, z, w = quarters(lines)
        y += w >> 1
        w -= y >> 1
        for a, b in (y, w), (z, x), (y, z), (w, x):
            a += b
            b *= 2
            b -= a


def decode_bands(data, shapes, whole, dtype, minexp):
    """Arrays of these shapes (some may be empty), the bands of a level of the shape 'whole'."""
    check(len(data) >= 1, "no byte in front of blocks")
    stored, stream = data[0], Stream(data[1:])
    check(stored >> len(shapes) == 0, "a band that there is not")
    cut = [axis for axis in range(3) if whole[axis] > 1] or [2]
    blocks = Blocks(stream, len(cut), dtype, minexp)
    bands = []
    for number, shape in enumerate(shapes):
        band = np.zeros(shape, dtype)
        bands.append(band)
        if not stored >> number & 1:
            continue
        starts = [range(0, n, 4) if axis in cut else range(n) for axis, n in enumerate(shape)]
        for z in starts[0]:
            for y in starts[1]:
                for x in starts[2]:
                    at = tuple(slice(s, s + (4 if axis in cut else 1)) for axis, s in enumerate((z, y, x)))
                    part = band[at]
                    block = blocks.take().reshape([4 if axis in cut else 1 for axis in range(3)])
                    part[...] = block[tuple(slice(n) for n in part.shape)]
    stream.end()
    return bands
