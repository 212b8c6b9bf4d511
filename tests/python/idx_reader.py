"""Reads IDX datasets (OpenVisus, PIDX) with NumPy: all versions of the format, text and XML headers, every codec but
pictures. Written from a description of the format alone, and slow: it computes the address of every sample.

    data = Idx("run.idx").read("rho", 0)  # [z][y][x], or [z][y][x][component]

zfp blocks are decoded by libzfp, through ctypes. Blocks that are missing are filled with the field's default value.
"""

import ctypes
import ctypes.util
import os
import re
import struct
import xml.etree.ElementTree
import zlib

import numpy as np

RAW, ZIP, LZ4, ZFP = 0, 3, 7, 8


class Field:
    def __init__(self, name, dtype, attributes):
        self.name = name
        parts = re.fullmatch(r"(?:(\d+)\*)?(u?int|float)(\d+)(?:\[(\d+)\])?", dtype)
        self.components = int(parts[1] or parts[4] or 1)
        self.kind = parts[2]
        letter = {"uint": "u", "int": "i", "float": "f"}[self.kind]
        self.dtype = np.dtype("<%s%d" % (letter, int(parts[3]) // 8))
        self.fill = int(attributes.get("default_value") or 0) & 255
        self.compression = attributes.get("default_compression", attributes.get("compressed", ""))
        layout = attributes.get("default_layout", "")
        self.row_major = not (layout == "0" or "hz" in layout)

    def sample_bytes(self):
        return self.dtype.itemsize * self.components


# ---- headers -------------------------------------------------------------------------------------------------------


def parse_keys(text):
    """The keys of the text form, and their values."""
    keys, name = {}, None
    for line in text.splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if line.startswith("("):
            name = line
            keys[name] = ""
        elif line:
            keys[name] = (keys[name] + " " + line).strip()
    return keys


def parse_fields(text):
    """Fields are separated by + outside brackets."""
    depth, parts = 0, [""]
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    for part in parts:
        words = part.split(None, 2)
        if words:
            rest = words[2] if len(words) > 2 else ""
            attributes = dict(re.findall(r"(\w+)\(([^()]*)\)", rest))
            if re.search(r"\bcompressed\b(?!\()", rest):
                attributes["compressed"] = "zip"
            yield Field(words[0], words[1], attributes)


def parse_time(text):
    """The timesteps, and their template."""
    words = text.split()
    if re.fullmatch(r"-?\d+|\*", words[0]):
        steps = [] if words[0] == "*" else list(range(int(words[0]), int(words[1]) + 1))
        return steps, words[2] if len(words) > 2 else ""
    steps = []
    for a, b, step in re.findall(r"\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)", text):
        steps += range(int(a), int(b) + 1, int(step))
    return steps, words[0]


# ---- codecs --------------------------------------------------------------------------------------------------------


def decode_lz4(data, size):
    """One raw LZ4 block."""
    out, at = bytearray(), 0

    def length(n, at):
        if n == 15:
            while True:
                n += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        return n, at

    while at < len(data):
        token = data[at]
        count, at = length(token >> 4, at + 1)
        out += data[at : at + count]
        at += count
        if at >= len(data):
            break
        back = data[at] | data[at + 1] << 8
        count, at = length(token & 15, at + 2)
        for _ in range(count + 4):
            out.append(out[-back])
    assert len(out) == size, "an lz4 block has %d bytes, not %d" % (len(out), size)
    return bytes(out)


def decode_zfp(data, field, counts, ndims):
    """'counts' is [nz, ny, nx]."""
    lib = ctypes.CDLL(ctypes.util.find_library("zfp") or "libzfp.so.1")
    for name in "zfp_field_2d", "zfp_field_3d", "zfp_stream_open", "stream_open":
        getattr(lib, name).restype = ctypes.c_void_p
    lib.zfp_decompress.restype = ctypes.c_size_t
    lib.zfp_stream_set_accuracy.restype = ctypes.c_double
    kind = {"<i4": 1, "<i8": 2, "<f4": 3, "<f8": 4}[field.dtype.str]
    out = np.zeros(counts, field.dtype)
    pointer = ctypes.c_void_p(out.ctypes.data)
    sizes = [ctypes.c_size_t(n) for n in counts[::-1]]
    about = (lib.zfp_field_2d if ndims == 2 else lib.zfp_field_3d)(pointer, kind, *sizes[:ndims])
    room = ctypes.create_string_buffer(data, len(data) + 65536)
    bits = lib.stream_open(room, ctypes.c_size_t(len(room)))
    stream = ctypes.c_void_p(lib.zfp_stream_open(ctypes.c_void_p(bits)))
    mode = re.fullmatch(r"zfp-(reversible|precision=(\d+)|accuracy=([\d.e+]+(?:e-\d+)?))-.*", field.compression)
    if mode[1] == "reversible":
        lib.zfp_stream_set_reversible(stream)
    elif mode[2]:
        lib.zfp_stream_set_precision(stream, ctypes.c_uint(int(mode[2])))
    else:
        lib.zfp_stream_set_accuracy(stream, ctypes.c_double(float(mode[3])))
    assert lib.zfp_decompress(stream, ctypes.c_void_p(about)), "zfp"
    return out.tobytes()


# ---- datasets ------------------------------------------------------------------------------------------------------


class Idx:
    def __init__(self, path):
        self.path = path
        text = open(path).read()
        if text.lstrip().startswith("<"):
            self.parse_xml(text)
        else:
            self.parse_text(text)
        self.full = self.mask[0] == "F"
        self.digits = [int(c) for c in self.mask[1:]]
        self.ndims = max(self.digits) + 1
        self.low = self.low[: self.ndims]
        self.high = self.high[: self.ndims]

    def parse_text(self, text):
        keys = parse_keys(text)
        self.version = int(float(keys["(version)"]))
        box = [int(w) for w in keys["(box)"].split()]
        self.low, self.high = box[::2], [n + 1 for n in box[1::2]]
        self.mask = keys["(bits)"]
        self.block_bits = int(keys["(bitsperblock)"])
        self.per_file = int(keys["(blocksperfile)"])
        self.fields = list(parse_fields(keys["(fields)"]))
        self.template = keys.get("(filename_template)")
        self.steps, self.time_template = parse_time(keys.get("(time)", "0 0"))
        self.arco = int(keys.get("(arco)", 0))
        self.big = keys.get("(endian)") == "big"

    def parse_xml(self, text):
        root = xml.etree.ElementTree.fromstring(text).find("idxfile")

        def value(name, otherwise=""):
            found = root.find(name)
            return otherwise if found is None else found.get("value")

        self.version = int(float(value("version")))
        box = [int(w) for w in value("box").split()]
        self.low, self.high = box[::2], box[1::2]
        self.mask = value("bitmask")
        self.block_bits = int(value("bitsperblock"))
        self.per_file = int(value("blocksperfile"))
        self.fields = [Field(f.get("name"), f.get("dtype"), f.attrib) for f in root.findall("field")]
        self.template = value("filename_template", None)
        self.time_template = value("time_template")
        self.steps = []
        for one in root.findall("timestep"):
            if one.get("when") is not None:
                self.steps.append(int(float(one.get("when"))))
            else:
                self.steps += range(int(one.get("from")), int(one.get("to")) + 1, int(one.get("step") or 1))
        self.arco = int(value("arco", "0"))
        self.big = False

    # ---- addresses

    def addresses(self, points):
        """The block of each point (one row for each axis), and its place in there in HZ order."""
        n, b = len(self.digits), self.block_bits
        rest = [p.copy() for p in points]
        z = np.zeros(points[0].shape, "i8")
        for bit, axis in enumerate(reversed(self.digits)):
            z |= (rest[axis] & 1) << bit
            rest[axis] >>= 1
        if self.full:
            return (1 << n - b) - 1 + (z >> b), None
        h = z | 1 << n
        h = h // (h & -h) >> 1
        return h >> b, h & (1 << b) - 1

    def lattice(self, block):
        """The splits that tell the samples of a block apart, and those below: for each axis, bits to shift away,
        and bits that count."""
        n, b = len(self.digits), self.block_bits
        if self.full:
            first = n - b
        else:
            first = block.bit_length() - 1 if block else 0
        inner, below = self.digits[first : first + b], self.digits[first + b :]
        return [below.count(a) for a in range(3)], [inner.count(a) for a in range(3)]

    # ---- files

    def file_name(self, block, field, step):
        here = os.path.dirname(os.path.abspath(self.path))
        stem = os.path.splitext(os.path.basename(self.path))[0]
        if self.arco:
            digits = "%016x" % block
            parts = [digits[i : i + 4] for i in range(0, 16, 4)]
            return os.path.join(here, stem, str(step), self.fields[field].name, *parts) + ".bin"
        template = self.template
        if template is None:
            bits = len(self.digits) - self.block_bits
            template = "./" + stem + "/%02x" * max(0, -(-(bits - 16) // 8)) + "/%04x.bin"
        number = block - block % self.per_file
        time = self.time_template % step if "%" in self.time_template else self.time_template
        pieces = re.split(r"(%0\dx)", template)
        if self.version < 5:
            pieces[1] = time + pieces[1] % number
        elif len(pieces) > 1:
            for i in range(len(pieces) - 2, 0, -2):
                width = int(pieces[i][2])
                pieces[i] = "%0*x" % (width, number & (1 << 4 * width) - 1)
                number >>= 4 * width
            while number:
                pieces[1] = "%0*x/" % (width, number & (1 << 4 * width) - 1) + pieces[1]
                number >>= 4 * width
            pieces[1] = time + pieces[1]
        name = "".join(pieces).replace("$(CurrentFileDirectory)", here)
        return os.path.normpath(os.path.join(here, name)) if name.startswith("./") else name

    def block(self, block, field, step):
        """The samples of a block, as bytes, and whether they are in rows; None if it is not there."""
        about = self.fields[field]
        try:
            data = open(self.file_name(block, field, step), "rb").read()
        except FileNotFoundError:
            return None, False
        if self.arco:
            codec = {"": RAW, "raw": RAW, "zip": ZIP, "lz4": LZ4}.get(about.compression, ZFP)
            row_major = about.row_major
        else:
            slot = field * self.per_file + block % self.per_file
            if self.version >= 6:
                words = struct.unpack_from(">10I", data, 40 + 40 * slot)
                offset, size, flags = words[2] | words[3] << 32, words[4], words[5]
            else:
                offset, size, flags = struct.unpack_from(">3I", data, (16 if self.version > 1 else 0) + 12 * slot)
                flags = ZIP if flags else RAW
            if offset == 0 or size == 0:
                return None, False
            assert offset + size <= len(data), "a block ends behind the file"
            data, codec, row_major = data[offset : offset + size], flags & 15, bool(flags & 16)
        size = about.sample_bytes() << self.block_bits
        if codec == ZIP:
            data = zlib.decompress(data)
        elif codec == LZ4:
            data = decode_lz4(data, size)
        elif codec == ZFP:
            counts = self.lattice(block)[1]
            data = decode_zfp(data, about, [1 << n for n in counts[::-1]], self.ndims)
        assert len(data) == size, "a block has %d bytes, not %d" % (len(data), size)
        return data, row_major

    # ---- samples

    def read(self, name, step):
        field = [f.name for f in self.fields].index(name)
        about = self.fields[field]
        order = ">" if self.big or (self.version <= 2 and about.dtype.str == "<f4") else "<"
        dtype = about.dtype.newbyteorder(order)
        shape = [hi - lo for lo, hi in zip(self.low, self.high)][::-1]
        grid = np.indices(shape).reshape(self.ndims, -1)
        points = [grid[self.ndims - 1 - a] + self.low[a] for a in range(self.ndims)]
        blocks, places = self.addresses(points)
        out = np.full((blocks.size, about.sample_bytes()), about.fill, "u1")
        for block in np.unique(blocks):
            here = np.flatnonzero(blocks == block)
            data, row_major = self.block(int(block), field, step)
            if data is None:
                continue
            if row_major:
                shift, count = self.lattice(int(block))
                at = np.zeros(here.size, "i8")
                for a in range(self.ndims - 1, -1, -1):
                    at = at << count[a] | points[a][here] >> shift[a] & (1 << count[a]) - 1
            else:
                at = places[here]
            out[here] = np.frombuffer(data, "u1").reshape(-1, about.sample_bytes())[at]
        out = out.reshape(-1).view(dtype).reshape(shape + ([about.components] if about.components > 1 else []))
        return out.astype(about.dtype)
