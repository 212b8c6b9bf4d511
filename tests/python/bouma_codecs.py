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
LIMITS = np.array([1, 4, 10, 16, 24, 34, 46, 60, 76, 96, 120, 148, 180, 216, 256, 300, 352, 412, 480, 560, 660])
CONTEXTS = len(LIMITS) + 1
LONG_ROW = 16
ALL = 2**62  # planes and rows are in one block
QUARTERS = tuple(float.fromhex(x) for x in ("1", "0x1.ae89f995ad3adp-1", "0x1.6a09e667f3bcdp-1", "0x1.306fe0a31b715p-1"))


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

    def __init__(self, n, coarsest, bound, dtype, predicted=None):
        self.n, self.coarsest = tuple(n), coarsest
        self.predicted = predicted  # for pieces of codec exact
        self.dtype, self.type = dtype, dtype.newbyteorder("=").type
        self.passes = (max(n) - 1).bit_length()
        self.bound = bound
        self.quantum(0)

    def quantum(self, finer):
        """Section 5: what a piece with such a bound is rounded to."""
        bound = self.bound * QUARTERS[finer % 4] / 2**(finer // 4)
        if self.dtype.itemsize == 4:
            b = float(np.float32(bound * (1 - 2.0**-22)))
            self.codable = 2.0**-100 < b < 2.0**100
        else:
            b = bound * (1 - 2.0**-51)
            self.codable = 2.0**-900 < b < 2.0**900
        self.step = self.type(b * (2 - 2.0**-9))
        if self.codable:
            self.half = self.type(float(self.type(1 / float(self.step))) / 2)

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
        check(len(data) <= 2 + held * self.dtype.itemsize, "a piece that is too long")
        piece = Bytes(data)
        form = piece.one("B")
        check(form in (0, 2, 3), f"a piece of form {form}")
        if form == 3:
            return self.predicted.decode(piece.data, level, coarse)
        check(len(data) <= 1 + held * self.dtype.itemsize, "a piece that is too long")
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
        root = level == self.coarsest
        passes = [level]
        if root:
            passes = list(reversed(range(level, self.passes)))
        octants = [(number, o, shape) for number in passes for o, shape in self.octants(number)]
        count = sum(math.prod(shape) for _, _, shape in octants) + root
        bits = Bits(piece.data)
        how = bits.take(2)
        finer = bits.golomb(0)
        check(finer < 16, "a bound that is too fine")
        self.quantum(finer)
        check(self.codable, "a piece that is coded in spite of its bound")
        kept = bits.golomb(0)
        check(kept <= count, "more exact samples than samples")
        octants = [(number, o, shape, Shares(bits, o, self.shape(number))) for number, o, shape in octants]
        detail = bits.take(4) if how == 1 else bits.golomb(0) if how == 2 else 0
        blocks = Blocks()
        if how == 3:
            check(not root, "blocks in the coarsest piece")
            detail = blocks = Blocks(bits, self.shape(level + 1), kept)
        piece = Bytes(bits.end())
        kept = blocks.divide(list(zstd(piece.take(piece.one("I")), kept, self.dtype)) if kept else [])
        integers = (Zeros, GolombIntegers, RangeIntegers, BlockIntegers)[how](piece, count, detail)

        if root:
            coarse = np.zeros((1, 1, 1), self.type)
            q, = integers.take([CONTEXTS - 1])
            coarse[...] = self.kept(kept[0], 1)[0] if q is EXACT else self.type(q) * self.step
        for number in passes:
            result = np.empty(self.shape(number), self.type)
            octant_of(result, 0)[...] = coarse
            known, magnitudes = {0: finite(coarse)}, {}
            while octants and octants[0][0] == number:
                _, octant, shape, shares = octants.pop(0)
                part = self.integers(integers, blocks, known, magnitudes, octant, shape, result.shape)
                exact = np.array([q is EXACT for q in part]).reshape(shape)
                q = np.array([q or 0 for q in part]).reshape(shape).astype(self.type)
                prediction = self.predict(known, octant, shape, shares)
                samples = prediction + q * self.step
                for at in np.argwhere(exact):
                    samples[tuple(at)] = self.kept(kept[blocks.at(*at[:2])], 1)[0]
                octant_of(result, octant)[...] = samples
                stand_in = np.where(np.isfinite(prediction), prediction, self.type(0))
                known[octant] = np.where(exact & ~np.isfinite(samples), stand_in, samples)
            coarse = result
        check(not any(kept), "a wrong number of exact samples")
        integers.end()
        return coarse

    @staticmethod
    def kept(samples, count):
        """Takes so many of those that were kept exactly."""
        check(count <= len(samples), "a wrong number of exact samples")
        taken = samples[:count]
        del samples[:count]
        return taken

    def integers(self, source, blocks, known, magnitudes, octant, shape, level_shape):
        """Those of an octant; their magnitudes are added."""
        own = magnitudes[octant] = np.zeros(shape, int)
        axes = [axis for axis in range(3) if octant & 4 >> axis]
        if not source.has_contexts:
            weight, number, beside = 0, 0, None
        elif len(axes) > 1:
            weight, number = 4, 2 * len(axes)
            beside = sum(
                both_sides(magnitudes[octant & ~(4 >> axis)], axis, shape[axis], blocks.edges[axis]) for axis in axes)
        else:
            across = [self.across(known[0], axes[0], axis, shape) for axis in others(octant, level_shape)]
            along = self.along(np.moveaxis(known[0], axes[0], 0), shape[axes[0]], 1, -1)
            along = np.abs(np.moveaxis(along, 0, axes[0]))
            beside = 2 * logarithm((along + along) * self.half)
            weight = number = 2
            if across:
                beside = beside + logarithm((np.abs(across[0]) + np.abs(across[-1])) * self.half)
                weight = number = 3
        result = []
        for z in range(shape[0]):
            for y in range(shape[1]):
                part = None
                contexts = [None] * shape[2]
                if source.has_contexts:
                    source.enter(blocks.at(z, y))
                    before, m = rows_before(own, z, y, blocks.edges)
                    whole = weight + 4 * (m > 0)
                    expected = 32 * beside[z, y] * (8192 * weight // (whole * number)) >> 16
                    if m:
                        expected = expected + (16 * before * (65536 // (whole * m)) >> 16)
                    contexts = np.searchsorted(LIMITS, expected, "left")
                    if shape[2] >= LONG_ROW and expected.max() <= LIMITS[0] and source.is_zero_row():
                        part = [0] * shape[2]
                if part is None:
                    part = source.take(contexts)
                own[z, y] = logarithm(np.array([60000 if q is EXACT else min(abs(q), 60000) for q in part], "f4"))
                result += part
        return result

    def across(self, coarse, odd, axis, shape):
        """How much the samples at both sides along the odd axis bend along another one."""
        coarse = np.moveaxis(coarse, (odd, axis), (0, 1))
        left = np.arange(shape[odd])
        right = np.minimum(left + 1, coarse.shape[0] - 1)
        result = np.zeros((shape[odd],) + coarse.shape[1:], self.type)
        low, middle, high = coarse[:, :-2], coarse[:, 1:-1], coarse[:, 2:]
        result[:, 1:-1] = (((low[left] + high[left]) + (low[right] + high[right])) * self.type(0.25) -
                           (middle[left] + middle[right]) * self.type(0.5))
        return np.moveaxis(result, (0, 1), (odd, axis))

    def predict(self, known, octant, shape, shares):
        """The predictions of an octant; by parts, where samples lack the same right neighbours."""
        result = np.empty(shape, self.type)
        parts = [((), 0)]
        for axis, n in enumerate(shape):
            bit = 4 >> axis
            cuts = [(slice(0, n), 0)]
            if shares.fitted and octant & bit and known[octant ^ bit].shape[axis] <= n:
                cuts = [(slice(0, n - 1), 0), (slice(n - 1, n), bit)]
            parts = [(slices + (cut,), missing | lacks) for slices, missing in parts for cut, lacks in cuts]
        for slices, missing in parts:
            result[slices] = self.predict_part(known, octant, shape, shares, missing)[slices]
        if any(shares.bends):
            odd = (4, 2, 1).index(octant)
            s, t = (self.across(known[0], odd, shares.others[i], shape) for i in (0, -1))
            result = result + (self.type(shares.bends[0]) * s + self.type(shares.bends[1]) * t)
        return result

    def predict_part(self, known, octant, shape, shares, missing):
        line = list(shares.line)
        for without in range(3):
            for axis in range(3):
                if axis != without and missing & ~(4 >> without):
                    line[axis] += shares.diagonal[without] / 2
        if missing:
            line = [share + shares.corner / 3 for share in line]
        total = None
        for axis in (2, 1, 0):
            if shares.cubic[axis] or line[axis]:
                source = np.moveaxis(known[octant & ~(4 >> axis)], axis, 0)
                along = np.moveaxis(self.along(source, shape[axis], shares.cubic[axis], line[axis]), 0, axis)
                total = along if total is None else total + along
        if total is None:
            total = np.zeros(shape, self.type)
        for without in (2, 1, 0):
            if shares.diagonal[without] and not missing & ~(4 >> without):
                source = known[octant & 4 >> without]
                total = total + self.four(source, shape, without, (0, 0, 0), shares.diagonal[without])
        if shares.corner and not missing:
            for z in 0, 1:
                total = total + self.four(known[0], shape, 0, (z, 0, 0), shares.corner / 2)
        return total

    def four(self, source, shape, without, offset, share):
        """A share of the mean of the neighbours that differ along two axes."""
        first, second = (axis for axis in range(3) if axis != without)
        weight, rows = self.type(share / 4), []
        for i in range(4):
            at = list(offset)
            at[first] += i >> 1
            at[second] += i & 1
            row = source
            for axis in range(3):
                row = row.take(np.minimum(np.arange(shape[axis]) + at[axis], source.shape[axis] - 1), axis)
            rows.append(weight * row)
        return (rows[0] + rows[3]) + (rows[1] + rows[2])

    def along(self, source, odd, cubic, line):
        """The predictions at 'odd' odd indices along axis 0, with these shares of cubics and lines."""
        e = source.shape[0]
        result = np.empty((odd,) + source.shape[1:], self.type)
        for j in range(odd):
            lines = (0, 1 / 2, 1 / 2, 0)
            if j >= 1 and j + 2 < e:
                at, cubics = (j - 1, j, j + 1, j + 2), (-1 / 16, 9 / 16, 9 / 16, -1 / 16)
            elif j == 0 and j + 2 < e:
                at, cubics = (0, 0, 1, 2), (0, 3 / 8, 6 / 8, -1 / 8)
            elif j >= 1 and j + 2 == e:
                at, cubics = (j - 1, j, j + 1, 0), (-1 / 8, 6 / 8, 3 / 8, 0)
            elif j + 1 < e:
                at, cubics = (0, j, j + 1, 0), lines
            elif j >= 1:
                lines = (0, -1 / 2, 3 / 2, 0)
                at, cubics = (max(0, j - 2), j - 1, j, 0), (3 / 8, -10 / 8, 15 / 8, 0) if j >= 2 else lines
            else:
                at, cubics = (0, 0, j, 0), (0, 0, 1, 0)
                lines = cubics
            a, b, c, d = (self.type(cubic * u + line * v) * source[i] for i, u, v in zip(at, cubics, lines))
            result[j] = (a + d) + (b + c)
        return result


def logarithm(x):
    """Section 5: L(x)."""
    most = x.dtype.type(60000)
    f = np.where(x < most, x, most).astype("f4") + np.float32(1)
    return (f.view("u4") >> 19).astype(int) - 2032


def rows_before(magnitudes, z, y, edges=(ALL, ALL)):
    """The sum of the magnitudes in the rows above and before row (z, y), in blocks of so many planes and rows, and how
    many they are for each sample."""
    total, number = 0, 0

    def around(row):
        padded = np.pad(row, 1, "edge")
        return 2 * row + padded[:-2] + padded[2:]

    if y % edges[1]:
        total, number = around(magnitudes[z, y - 1]), 4
    if z % edges[0]:
        below = y + 1 if y + 1 < magnitudes.shape[1] and (y + 1) % edges[1] else y
        total, number = total + around(magnitudes[z - 1, y]) + magnitudes[z - 1, below], number + 5
    return total, number


def others(octant, shape):
    """The axes along which an octant is even and there is more than one sample."""
    return [axis for axis in range(3) if not octant & 4 >> axis and shape[axis] > 1]


class Shares:
    """What a prediction is made of: a choice, or weights that are stored."""

    def __init__(self, bits, octant, shape):
        self.cubic, self.line, self.diagonal, self.corner, self.bends = [0] * 3, [0] * 3, [0] * 3, 0, [0] * 2
        self.others = others(octant, shape)
        choice = bits.take(4)
        self.fitted = choice == 0
        if self.fitted:
            self.weigh(bits, [axis for axis in range(3) if octant & 4 >> axis])
            return
        axes = [axis for axis in range(3) if choice & 4 >> axis]
        check(axes and choice & 7 & ~octant == 0, f"choice {choice} in octant {octant}")
        for axis in axes:
            (self.line if choice & 8 else self.cubic)[axis] = 1 / len(axes)

    def weigh(self, bits, axes):
        rest = 1024

        def take(base=0):
            nonlocal rest
            weight = base + unfold(bits.golomb(7), 65535)
            rest -= weight
            return weight / 1024

        for axis in axes[1:]:
            self.cubic[axis] = take(1024 // len(axes))
        for axis in axes:
            self.line[axis] = take()
        for without in (2, 1, 0):
            if len(set(axes) - {without}) == 2:
                self.diagonal[without] = take()
        if len(axes) == 3:
            self.corner = take()
        self.cubic[axes[0]] = rest / 1024
        if len(axes) == 1:
            for i, _ in enumerate(self.others):
                self.bends[i] = take()


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


class Blocks:
    """The blocks of a piece: one, or those that its bits tell; 'shape' is that of octant 0."""

    def __init__(self, bits=None, shape=(1, 1, 1), kept=0):
        shifts = [bits.golomb(0) if bits else 62 for _ in range(2)]
        check(not bits or max(shifts) <= 30, "blocks that are too large")
        self.edges = [2**shift for shift in shifts] + [ALL]
        self.counts = [ceil_div(n, edge) for n, edge in zip(shape[:2], self.edges)]
        self.sizes = []
        if not bits:
            return
        check(1 < math.prod(self.counts) <= 256, "a number of blocks that cannot be")
        for _ in range(math.prod(self.counts)):
            self.sizes.append((bits.golomb(0) if kept else 0, bits.golomb(4), bits.golomb(8)))

    def at(self, z, y):
        return z // self.edges[0] * self.counts[1] + y // self.edges[1]

    def divide(self, samples):
        """Those that are kept exactly, of each block."""
        if not self.sizes:
            return [samples]
        check(sum(kept for kept, _, _ in self.sizes) == len(samples), "a wrong number of exact samples")
        return [Interp.kept(samples, kept) for kept, _, _ in self.sizes]


class Zeros:
    """Integers that are all 0."""
    has_contexts = False

    def __init__(self, piece, _count, _detail):
        check(not piece.data, "bytes behind the end")

    @staticmethod
    def take(contexts):
        return [0] * len(contexts)

    def end(self):
        pass


class GolombIntegers:
    has_contexts = False

    def __init__(self, piece, _count, order):
        self.bits, self.order = Bits(piece.data), order

    def take(self, contexts):
        values = [self.bits.golomb(self.order) for _ in contexts]
        return [unfold(v - 1) if v else EXACT for v in values]

    def end(self):
        check(not self.bits.end(), "bytes behind the end")


class Ranges:
    """The range coder: symbols, each in one of so many contexts."""

    def __init__(self, piece, count, contexts):
        self.slots, data = self.tables(piece.data, contexts)
        self.begin(data, 8 if count >= 65536 else 4 if count >= 2048 else 1)

    @staticmethod
    def tables(data, contexts):
        """The slots of each context, and the bytes behind the tables."""
        bits = Bits(data)
        several = bits.take(1)
        tables = [0]
        for _ in range(contexts - 1):
            tables.append(tables[-1] + (bits.take(1) if several else 0))
        check(tables[-1] < 16, "too many tables")
        slots = [frequency_slots(read_counts(bits)) for _ in range(tables[-1] + 1)]
        return [slots[table] for table in tables], bits.end()

    def begin(self, data, states):
        piece = Bytes(data)
        self.states = [piece.one("I") for _ in range(states)]
        check(len(piece.data) % 2 == 0, "half a word")
        self.words = iter(struct.unpack(f"<{len(piece.data) // 2}H", piece.data))
        self.taken = 0

    def symbol(self, context):
        i = self.taken % len(self.states)
        self.taken += 1
        symbol, frequency, distance = self.slots[context][self.states[i] % 4096]
        state = frequency * (self.states[i] // 4096) + distance
        if state < 2**15:
            word = next(self.words, None)
            check(word is not None, "words end too early")
            state = state * 2**16 + word
        self.states[i] = state
        return symbol

    def end(self):
        check(all(state == 2**15 for state in self.states) and next(self.words, None) is None,
              "the range coder does not end as it must")


class RangeIntegers:
    has_contexts = True

    def __init__(self, piece, count, extra):
        self.extra = Bits(piece.take(extra))
        self.ranges = Ranges(piece, count, CONTEXTS + 1)  # the last one is of rows
        self.has_rows = count >= 2048

    def enter(self, block):
        """The next row is one of this block."""

    def take(self, contexts):
        return [self.one(context) for context in contexts]

    def is_zero_row(self):
        if not self.has_rows:
            return False
        symbol = self.ranges.symbol(CONTEXTS)
        check(symbol < 2, "a row that is neither zero nor not")
        return symbol == 0

    def one(self, context):
        symbol = self.ranges.symbol(context)
        if symbol == KEPT:
            return EXACT
        if symbol < 32:
            return unfold(symbol)
        high = (symbol - 32) // 2 + 5
        return unfold((2 + symbol % 2 << high - 1) + self.extra.take(high - 1))

    def end(self):
        check(not self.extra.end(), "extra bits that are of no use")
        self.ranges.end()


class Stream(Ranges):
    """One block's, with tables that all have."""

    def __init__(self, slots, data):
        self.slots = slots
        self.begin(data, 4)


class BlockIntegers(RangeIntegers):

    def __init__(self, piece, count, blocks):
        slots, data = Ranges.tables(piece.data, CONTEXTS + 1)
        piece = Bytes(data)
        self.parts = [(Bits(piece.take(extra)), Stream(slots, piece.take(size))) for _, extra, size in blocks.sizes]
        check(not piece.data, "bytes behind the end")
        self.has_rows = count >= 2048

    def enter(self, block):
        self.extra, self.ranges = self.parts[block]

    def end(self):
        for part in range(len(self.parts)):
            self.enter(part)
            super().end()


def both_sides(magnitudes, axis, odd, edge=ALL):
    """The sum of the left and the right neighbour of the odd samples along an axis, in blocks of so many."""
    row = np.arange(odd)
    right = np.minimum(row + 1, magnitudes.shape[axis] - 1)
    right = np.where(right % edge, right, row)
    return magnitudes.take(row, axis) + magnitudes.take(right, axis)


def read_counts(bits):
    symbols, precision, paired = bits.take(7), bits.take(2), bits.take(1)
    counts, length = [], 0
    while len(counts) < symbols:
        length += unfold(bits.golomb(0))
        check(0 <= length <= 31, "a bad count")
        below = min(precision, length - 1)
        count = ((1 << below) + bits.take(below) << length - 1 - below) if length else 0
        counts += [count] * (2 if paired and len(counts) % 2 and len(counts) < 31 else 1)
    return counts


def frequency_slots(counts):
    """Of each of the 4096 slots: symbol, frequency, distance from the start of the range."""
    total = sum(counts)
    check(len(counts) <= KEPT + 1, "a symbol that there is not")
    check(total, "a table without symbols")
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
