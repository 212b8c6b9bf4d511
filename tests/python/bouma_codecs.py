"""The codecs of the bouma format, written from section 5 of docs/format.md alone. See bouma_reader.py."""

import math
import struct

import numpy as np
import zstandard

from bouma_common import Cursor, Damage, ceil_div, check

ORDER = 1, 2, 4, 3, 5, 6, 7  # of octants
MOST = 2**25  # folded integers are less
KEPT = 72  # the symbol of a sample that is kept exactly
EXACT = None  # instead of its integer
LIMITS = {2: (0, 1, 3, 9, 23, 59), 3: (0, 2, 5, 14, 35, 89)}  # by the number of odd axes


def zstd(data, count, dtype):
    """So many values, as codec zstd has them."""
    size = count * dtype.itemsize
    if len(data) != size:
        check(0 < len(data) < size, "a wrong size")
        try:
            check(zstandard.frame_content_size(data) in (-1, size), "a frame of a wrong size")
            data = zstandard.ZstdDecompressor().decompress(data, max_output_size=size, allow_extra_data=False)
        except zstandard.ZstdError as error:
            raise Damage(str(error)) from error
        check(len(data) == size, "a frame of a wrong size")
        data = np.frombuffer(data, "u1").reshape(dtype.itemsize, -1).T.tobytes()
    return np.frombuffer(data, dtype)


class Bytes:
    """Takes fields from the front of bytes."""

    def __init__(self, data):
        self.data = data

    def take(self, size):
        check(size <= len(self.data), "ends too early")
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def one(self, field):
        return struct.unpack("<" + field, self.take(struct.calcsize("<" + field)))[0]


class Bits:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        check(self.at + n <= 8 * len(self.data), "bits end too early")
        first, self.at = self.at, self.at + n
        word = int.from_bytes(self.data[first // 8:ceil_div(self.at, 8)], "little")
        return word >> first % 8 & (1 << n) - 1

    def golomb(self, order, most=31):
        ones = 0
        while self.take(1):
            ones += 1
            check(order + ones <= most, "a number that is too large")
        return (1 << order + ones) + self.take(order + ones) - (1 << order)

    def end(self):
        """Goes to the next whole byte; returns what is left."""
        check(self.take(-self.at % 8) == 0, "bits at the end that are not 0")
        return self.data[self.at // 8:]


def unfold(v, most=MOST):
    check(v < most, "an integer that is too large")
    return (v + 1) // 2 if v % 2 else -(v // 2)


class Interp:
    """One chunk of codec interp: n are the samples of level 0 along three axes, coarsest is the coarsest level that has
    any."""

    def __init__(self, n, coarsest, bound, dtype):
        self.n, self.coarsest = tuple(n), coarsest
        self.dtype, self.type = dtype, dtype.newbyteorder("=").type
        self.passes = (max(n) - 1).bit_length()
        if dtype.itemsize == 4:
            b = float(np.float32(bound * (1 - 2.0**-22)))
            self.codable = 2.0**-100 < b < 2.0**100
        else:
            b = bound * (1 - 2.0**-51)
            self.codable = 2.0**-900 < b < 2.0**900
        self.step = self.type(b * (2 - 2.0**-9))

    def shape(self, level):
        return tuple(ceil_div(x, 2**level) for x in self.n)

    def has_piece(self, level):
        return level == self.coarsest or level < min(self.coarsest, self.passes)

    def octants(self, number):
        """Those of a pass that are not empty, without octant 0, as (octant, shape)."""
        shapes = ((o, octant_shape(self.shape(number), o)) for o in ORDER)
        return [(o, shape) for o, shape in shapes if math.prod(shape)]

    def decode(self, data, level, coarse):
        """The samples of a level, from its piece and those of the next coarser level."""
        if not self.has_piece(level):
            check(not data, "a piece that is of no use")
            return coarse
        held = math.prod(self.shape(level)) - (0 if level == self.coarsest else math.prod(self.shape(level + 1)))
        check(len(data) <= 1 + held * self.dtype.itemsize, "a piece that is too long")
        piece = Bytes(data)
        form = piece.one("B")
        check(form in (0, 1), f"a piece of form {form}")
        with np.errstate(over="ignore", invalid="ignore"):
            return (self.coded if form else self.exact)(piece, level, coarse)

    def exact(self, piece, level, coarse):
        result = np.empty(self.shape(level), self.type)
        octants = self.octants(level)
        if level == self.coarsest:
            octants.insert(0, (0, self.shape(level + 1)))
        else:
            octant_of(result, 0)[...] = coarse
        samples = zstd(piece.data, sum(math.prod(shape) for _, shape in octants), self.dtype)
        for octant, shape in octants:
            octant_of(result, octant)[...] = samples[:math.prod(shape)].reshape(shape)
            samples = samples[math.prod(shape):]
        return result

    def coded(self, piece, level, coarse):
        check(self.codable, "a piece that is coded in spite of its bound")
        root = level == self.coarsest
        passes = [level]
        if root:
            passes = list(reversed(range(level, self.passes)))
        how = piece.one("B")
        check(how in (0, 1, 2), f"integers coded in way {how}")
        octants = [(number, o, shape) for number in passes for o, shape in self.octants(number)]
        choices = [piece.one("B") for _ in octants]
        kept = piece.one("I")
        count = sum(math.prod(shape) for _, _, shape in octants) + root
        check(kept <= count, "more exact samples than samples")
        kept = zstd(piece.take(piece.one("I")), kept, self.dtype) if kept else np.empty(0, self.type)
        if how == 0:
            check(not len(kept) and not piece.data, "bytes behind the end")
            integers = [0] * count
        elif how == 1:
            integers = golomb_integers(piece, count)
        else:
            integers = range_integers(piece, count, octants, root)
        check(sum(q is EXACT for q in integers) == len(kept), "a wrong number of exact samples")

        kept, at = list(kept), 0
        if root:
            coarse = np.zeros((1, 1, 1), self.type)
            coarse[...] = self.type(integers[0]) * self.step if integers[0] is not EXACT else kept.pop(0)
            at = 1
        octants = list(zip(octants, choices))
        for number in passes:
            result = np.empty(self.shape(number), self.type)
            octant_of(result, 0)[...] = coarse
            known = {0: finite(coarse)}
            while octants and octants[0][0][0] == number:
                (_, octant, shape), choice = octants.pop(0)
                part = integers[at:at + math.prod(shape)]
                at += len(part)
                exact = np.array([q is EXACT for q in part]).reshape(shape)
                q = np.array([q or 0 for q in part]).reshape(shape).astype(self.type)
                prediction = self.predict(known, octant, shape, choice)
                samples = prediction + q * self.step
                samples[exact] = kept[:exact.sum()]
                kept = kept[exact.sum():]
                octant_of(result, octant)[...] = samples
                stand_in = np.where(np.isfinite(prediction), prediction, self.type(0))
                known[octant] = np.where(exact & ~np.isfinite(samples), stand_in, samples)
            coarse = result
        return coarse

    def predict(self, known, octant, shape, choice):
        axes = [axis for axis in range(3) if choice & 4 >> axis]
        check(choice < 16 and axes and choice & 7 & ~octant == 0, f"choice {choice} in octant {octant}")
        total = None
        for axis in axes:
            source = np.moveaxis(known[octant & ~(4 >> axis)], axis, 0)
            along = np.moveaxis(self.along(source, shape[axis], choice & 8, len(axes)), 0, axis)
            total = along if total is None else total + along
        return total

    def along(self, source, odd, lines, divisor):
        """The predictions at 'odd' odd indices along axis 0."""
        e = source.shape[0]
        result = np.empty((odd,) + source.shape[1:], self.type)
        for j in range(odd):
            if not lines and j >= 1 and j + 2 < e:
                case = (j - 1, j, j + 1, j + 2), (-1 / 16, 9 / 16, 9 / 16, -1 / 16)
            elif not lines and j == 0 and j + 2 < e:
                case = (0, 0, 1, 2), (0, 3 / 8, 6 / 8, -1 / 8)
            elif not lines and j >= 1 and j + 2 == e:
                case = (j - 1, j, j + 1, 0), (-1 / 8, 6 / 8, 3 / 8, 0)
            elif j + 1 < e:
                case = (0, j, j + 1, 0), (0, 1 / 2, 1 / 2, 0)
            elif not lines and j >= 2:
                case = (j - 2, j - 1, j, 0), (3 / 8, -10 / 8, 15 / 8, 0)
            elif j >= 1:
                case = (0, j - 1, j, 0), (0, -1 / 2, 3 / 2, 0)
            else:
                case = (0, 0, j, 0), (0, 0, 1, 0)
            a, b, c, d = (self.type(w / divisor) * source[i] for i, w in zip(*case))
            result[j] = (a + d) + (b + c)
        return result


def octant_shape(shape, octant):
    return tuple(x // 2 if octant & 4 >> axis else ceil_div(x, 2) for axis, x in enumerate(shape))


def octant_of(samples, octant):
    return samples[tuple(slice(1 if octant & 4 >> axis else 0, None, 2) for axis in range(3))]


def finite(samples):
    """Section 5: what predictions take instead of samples that are not finite."""
    row = samples.ravel()
    good = np.isfinite(row)
    if good.all():
        return samples
    if not good.any():
        return np.zeros_like(samples)
    last = np.maximum.accumulate(np.where(good, np.arange(row.size), -1))
    return row[np.where(last < 0, good.argmax(), last)].reshape(samples.shape)


def golomb_integers(piece, count):
    order = piece.one("B")
    check(order <= 16, f"Golomb numbers of order {order}")
    bits = Bits(piece.data)
    values = [bits.golomb(order) for _ in range(count)]
    check(not bits.end(), "bytes behind the end")
    return [unfold(v - 1) if v else EXACT for v in values]


def range_integers(piece, count, octants, root):
    extra = Bits(piece.take(piece.one("I")))
    tables = 10 if count >= 2048 else 1
    bits = Bits(piece.data)
    slots = [frequency_slots(read_counts(bits)) for _ in range(tables)]
    piece = Bytes(bits.end())
    states = [piece.one("I") for _ in range(4)]
    check(len(piece.data) % 2 == 0, "half a word")
    words = iter(struct.unpack(f"<{len(piece.data) // 2}H", piece.data))
    integers = []

    def take(table):
        i = len(integers) % 4
        check(slots[table], "a table without symbols")
        symbol, frequency, distance = slots[table][states[i] % 4096]
        states[i] = frequency * (states[i] // 4096) + distance
        if states[i] < 2**15:
            word = next(words, None)
            check(word is not None, "words end too early")
            states[i] = states[i] * 2**16 + word
        if symbol == KEPT:
            integers.append(EXACT)
        elif symbol < 32:
            integers.append(unfold(symbol))
        else:
            high = (symbol - 32) // 2 + 5
            integers.append(unfold((2 + symbol % 2 << high - 1) + extra.take(high - 1)))

    if root:
        take(0)
    magnitudes = {}  # by octant; of this pass
    for _, octant, shape in octants:
        first = len(integers)
        if tables == 1 or octant in (1, 2, 4):
            for _ in range(math.prod(shape)):
                take((1, 2, 4).index(octant) if tables > 1 else 0)
        else:
            axes = [axis for axis in range(3) if octant & 4 >> axis]
            sums = sum(both_sides(magnitudes[octant & ~(4 >> axis)], axis, shape[axis]) for axis in axes)
            for table in 3 + sum(sums > limit for limit in LIMITS[len(axes)]).ravel():
                take(table)
        magnitudes[octant] = np.array(
            [40 if q is EXACT else min(abs(q), 40) for q in integers[first:]]).reshape(shape)
    check(not extra.end(), "extra bits that are of no use")
    check(states == [2**15] * 4 and next(words, None) is None, "the range coder does not end as it must")
    return integers


def both_sides(magnitudes, axis, odd):
    """The sum of the left and the right neighbour of the odd samples along an axis."""
    row = np.arange(odd)
    right = np.minimum(row + 1, magnitudes.shape[axis] - 1)
    return magnitudes.take(row, axis) + magnitudes.take(right, axis)


def read_counts(bits):
    counts, length = [], 0
    for _ in range(bits.take(7)):
        length += unfold(bits.golomb(0))
        check(0 <= length <= 31, "a bad count")
        below = min(3, length - 1)
        counts.append(((1 << below) + bits.take(below) << length - 1 - below) if length else 0)
    return counts


def frequency_slots(counts):
    """Of each of the 4096 slots: symbol, frequency, distance from the start of the range."""
    total = sum(counts)
    check(len(counts) <= KEPT + 1, "a symbol that there is not")
    if not total:
        return []
    frequencies = [max(1, count * 4096 // total) if count else 0 for count in counts]
    main = counts.index(max(counts))
    frequencies[main] -= sum(frequencies) - 4096
    return [(symbol, f, i) for symbol, f in enumerate(frequencies) for i in range(f)]


class Quantise:
    """Section 5: values of particles, as multiples of a step."""

    def __init__(self, bound, dtype):
        small = dtype.itemsize == 4
        self.dtype, self.most = dtype, 2**20 if small else 2**49
        self.codable = bound >= (2.0**-100 if small else 2.0**-900)
        fraction, exponent = math.frexp(2 * min(bound, 2.0**100 if small else 2.0**900))
        self.step = math.ldexp(math.floor(16 * fraction), exponent - 4)

    def decode(self, data, count, components):
        """An array of components and values."""
        if not count:
            check(not data, "a piece of nothing")
            return np.empty((components, 0), self.dtype)
        check(len(data) <= components * (count * self.dtype.itemsize + 1) + 5 * (components - 1),
              "a piece that is too long")
        piece = Cursor(data, 0, "a piece")
        parts = [piece.take(piece.varint()) for _ in range(components - 1)] + [piece.rest()]
        return np.stack([self.part(Cursor(part, 0, "a part"), count) for part in parts])

    def part(self, part, n):
        form = part.one("B")
        some_kept, form = form & 128, form & 127
        check(form <= 52 and (form or not some_kept), "a part of an unknown form")
        if form == 0:
            return zstd(part.rest(), n, self.dtype)
        check(self.codable, "a part that is coded in spite of its bound")
        values, kept = np.empty(n, self.dtype), np.zeros(n, bool)
        if some_kept:
            r = part.varint()
            check(1 <= r < n, "a bad number of kept values")
            at = -1
            for _ in range(r):
                at += 1 + part.varint()
                check(at < n, "a kept value beyond the end")
                kept[at] = True
            values[kept] = zstd(part.take(part.one("I")), r, self.dtype)
        folded = [part.varint()]
        left = n - int(kept.sum()) - 1
        if form == 1:
            folded += zstd(part.rest(), left, np.dtype("u1")).tolist()
        else:
            bits = Bits(part.rest())
            folded += [bits.golomb(form - 2, 51) for _ in range(left)]
            check(not bits.end(), "bytes behind the end")
        integers = np.cumsum([unfold(v, 2**52) for v in folded])
        check(np.all(np.abs(integers) <= self.most), "an integer beyond the limit")
        values[~kept] = integers * self.step
        return values
