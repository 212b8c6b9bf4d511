"""What grids and particles have in common: envelopes, the fields of bodies, variables and chunks. Written from
docs/format.md alone. See bouma_reader.py."""

import math
import struct

import numpy as np
import xxhash

MAGIC = b"BOUMA\r\n\x1a"
DATASET, MANIFEST, HEAD, SHEET = 1, 2, 3, 6
TYPES = {1: "<i1", 2: "<i2", 3: "<i4", 4: "<i8", 5: "<u1", 6: "<u2", 7: "<u4", 8: "<u8", 9: "<f4", 10: "<f8"}
STRING = 11
RELATIVE, NOMINAL = 1, 2  # bits of the kind of a tolerance
LOSSY = "interp", "wavelet", "quantise"


class Damage(Exception):
    """A dataset is not what the document says."""


def check(condition, what):
    if not condition:
        raise Damage(what)


def ceil_div(a, b):
    return -(-a // b)


def read_whole(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Damage(f"{path}: {error.strerror}") from error


def envelope(data, kind, identity, what):
    """Section 2: checks an envelope that fills all of data; its body as a Cursor, and the identity."""
    check(len(data) >= 64, f"{what}: shorter than an envelope")
    magic, kind_found, major, minor, size, zero, identity_found, digest = struct.unpack("<8sIHHQQ16s16s", data[:64])
    check(magic == MAGIC, f"{what}: wrong magic")
    check(kind_found == kind, f"{what}: is of kind {kind_found}, not {kind}")
    check(major == 1, f"{what}: unknown version {major}.{minor}")
    check(size == len(data) - 64, f"{what}: the body has {len(data) - 64} bytes, not {size}")
    check(xxhash.xxh3_128_digest(data[:48] + data[64:]) == digest, f"{what}: wrong hash")
    check(zero == 0, f"{what}: bytes that are not zero")
    check(identity in (None, identity_found), f"{what}: belongs to another dataset")
    return Cursor(data, 64, what), identity_found


def front(data):
    """Section 7, Sheets: the envelope and the body, without what may be behind them."""
    return data[:64 + struct.unpack("<Q", data[16:24])[0]] if len(data) >= 64 else data


class Cursor:
    """Reads one part of a body after the other, and never past its end."""

    def __init__(self, data, position, what):
        self.data, self.position, self.what = data, position, what

    def check(self, condition, what):
        check(condition, f"{self.what}: {what}")

    def take(self, size):
        self.check(size <= len(self.data) - self.position, "ends too early")
        self.position += size
        return self.data[self.position - size:self.position]

    def unpack(self, fields):
        return struct.unpack("<" + fields, self.take(struct.calcsize("<" + fields)))

    def one(self, field):
        return self.unpack(field)[0]

    def array(self, dtype, *shape):
        dtype = np.dtype(dtype)
        return np.frombuffer(self.take(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)

    def varint(self):
        """Section 3: seven bits a byte, the lowest first."""
        number = shift = 0
        while True:
            byte = self.one("B")
            number |= (byte & 127) << shift
            if byte < 128:
                self.check((byte or not shift) and number < 2**64, "a varint that is too long")
                return number
            shift += 7
            self.check(shift < 64, "a varint that is too long")

    def rest(self):
        return self.take(len(self.data) - self.position)

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def end(self):
        self.check(self.position == len(self.data), "bytes behind the end")

    def zero(self, field):
        self.check(self.one(field) == 0, "bytes that are not zero")

    def utf8(self, size):
        try:
            return self.take(size).decode("utf-8")
        except UnicodeDecodeError:
            raise Damage(f"{self.what}: text that is not UTF-8") from None

    def text(self):
        text = self.utf8(self.one("H"))
        self.check("\0" not in text, "text with NUL")
        return text

    def name(self, others):
        """A name that others (names, or a dict by name) do not have yet."""
        name = self.text()
        self.check(1 <= len(name.encode()) <= 255, "a name of a wrong length")
        self.check("/" not in name and all(ord(c) >= 32 and ord(c) != 127 for c in name), f"bad name {name!r}")
        self.check(name not in others, f"the name {name!r} twice")
        return name

    def attributes(self):
        """Section 3: a dict of name to str, or to an array of numbers."""
        found = {}
        for _ in range(self.one("Q")):
            name = self.name(found)
            type_, n = self.unpack("BQ")
            self.check(type_ in TYPES or type_ == STRING, f"attribute {name!r} of unknown type {type_}")
            size = n * np.dtype(TYPES.get(type_, "u1")).itemsize
            self.check(size <= 2**20, f"attribute {name!r} is too large")
            found[name] = self.utf8(n) if type_ == STRING else self.array(TYPES[type_], n)
        return found


class Variable:
    """Section 3: a variable of an owner, which is a grid or a set of particles and tells what codecs it may have."""

    rounds = False  # values were rounded before they went to an exact codec

    def __init__(self, cursor, step, owner, number):
        self.step, self.owner, self.number = step, owner, number
        self.name = cursor.name(owner.variables)
        self.unit = cursor.text()
        type_, codec, self.codec_level, self.kind, self.components = cursor.unpack("BBBBI")
        self.tolerance, self.bound = cursor.unpack("dd")
        cursor.check(type_ in TYPES, f"variable {self.name!r} of unknown type {type_}")
        cursor.check(codec in owner.codecs, f"variable {self.name!r} of unknown codec {codec}")
        cursor.check(1 <= self.components <= 256, f"{self.components} components")
        cursor.check(self.codec_level <= 22, f"codec level {self.codec_level}")
        self.dtype, self.codec = np.dtype(TYPES[type_]), owner.codecs[codec]
        self.check_tolerance(cursor)
        cursor.check(owner.largest * self.components * self.dtype.itemsize <= 2**30, "chunks of more than 1 GiB")
        self.attributes = cursor.attributes()
        self.chunks = {}  # by address; empty if the variable is not in the step

    def check_tolerance(self, cursor):
        cursor.check(self.kind <= (3 if self.codec == "wavelet" else 1), f"unknown kind {self.kind} of tolerance")
        if self.rounds:
            cursor.check(self.codec not in LOSSY, f"wavelet coefficients with codec {self.codec}")
            if self.tolerance == self.bound == 0:
                return
        elif self.codec not in LOSSY:
            cursor.check(self.tolerance == self.bound == 0, f"a tolerance with codec {self.codec}")
            return
        cursor.check(self.dtype.kind == "f", f"codec {self.codec} with integers")
        cursor.check(0 < self.tolerance < math.inf and 0 <= self.bound < math.inf, "a bad tolerance")
        cursor.check(self.kind & RELATIVE or self.bound == self.tolerance, "a bound that is not the tolerance")

    @property
    def present(self):
        return bool(self.chunks)


class Chunk:
    """Part of one variable, in a subfile. The offsets, sizes and checksums are lists by level. count(level) tells how
    many samples a level stores."""

    def __init__(self, subfile, variable, key, low, high, nans, sizes, checksums):
        self.subfile, self.variable, self.key = subfile, variable, key
        self.low, self.high, self.nans = low, high, nans
        self.sizes, self.checksums = sizes, checksums
        self.offsets = [0] * len(sizes)
        self.what = f"{subfile.path}: variable {variable.number}, key {key}"
        self.locate()  # sets address, samples and slack: how far values may be beyond their range
        check(all(nans <= self.samples), f"{self.what}: more NaN than samples")
        check(all(low <= high), f"{self.what}: bad range")  # false for NaN, too
        check(all((n < self.samples) or (a == b == 0) for n, a, b in zip(nans, low, high)),
              f"{self.what}: a range of nothing")
        for level, size in enumerate(sizes):
            full = self.count(level) * variable.components * variable.dtype.itemsize
            good = {"raw": size == full, "zstd": size == full or 0 < size < full}
            check(good.get(variable.codec, (size > 0) == (full > 0)), f"{self.what}: wrong size of level {level}")

    def stored(self, level):
        """Section 6: the stored bytes of a level, checked."""
        data = self.subfile.pread(self.offsets[level], self.sizes[level])
        check(checksum(self.subfile.step, data, self.variable.number, level, self.key) == self.checksums[level],
              f"{self.what}: level {level} is damaged")
        return data

    def check_range(self, samples, complete=True):
        """The samples (of components and others), or some of them, are as the head says."""
        for values, low, high, nans in zip(samples, self.low, self.high, self.nans):
            numbers = values[~np.isnan(values)]
            missing = values.size - numbers.size
            check(missing == nans if complete else missing <= nans, f"{self.what}: wrong number of NaN")
            if numbers.size:
                least, most = numbers.min(), numbers.max()
                bound = self.slack
                if bound:
                    low, high = float(low) - bound, float(high) + bound
                check(low <= least and most <= high, f"{self.what}: a value out of range")
                check(not complete or bound or (low == least and most == high), f"{self.what}: wrong range")


def checksum(step, data, variable, level, key):
    """Section 6: of the stored bytes of a level, or of a tree."""
    seed = xxhash.xxh3_64_intdigest(struct.pack(
        "<16sQIIIIQ", step.dataset.identity, step.number, step.epoch, step.attempt, variable, level, key))
    return xxhash.xxh3_64_intdigest(data, seed) & 0xffffffff
