"""The pixels of a PNG file, by its specification alone: what bouma draws is
checked by another hand than the one that drew it."""
import re
import struct
import zlib


def read(path):
    """Rows of bytes, which are indices in a list of (red, green, blue). Every
    checksum is looked at."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG file"
    at, packed, palette, kinds = 8, b"", [], []
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        (crc,) = struct.unpack(">I", data[at + 8 + size:at + 12 + size])
        assert crc == zlib.crc32(kind + body), kind
        kinds.append(kind)
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(
                ">IIBBBBB", body)
        elif kind == b"PLTE":
            palette = [tuple(body[i:i + 3]) for i in range(0, size, 3)]
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND"
    assert (depth, colour, interlace) == (8, 3, 0), (depth, colour, interlace)
    lines = zlib.decompress(packed)
    assert len(lines) == height * (width + 1)
    rows, above = [], bytes(width)
    for y in range(height):
        line = lines[y * (width + 1):(y + 1) * (width + 1)]
        above = _unfilter(line[0], line[1:], above)
        rows.append(above)
    return rows, palette


def _unfilter(kind, line, above):
    out = bytearray(line)
    if kind == 0:
        return bytes(out)
    for x in range(len(out)):
        left = out[x - 1] if x else 0
        up, corner = above[x], above[x - 1] if x else 0
        guess = (0, left, up, (left + up) // 2, _paeth(left, up, corner))[kind]
        out[x] = (out[x] + guess) & 255
    return bytes(out)


def _paeth(a, b, c):
    p = a + b - c
    return min((a, b, c), key=lambda v: (abs(p - v), (a, b, c).index(v)))


def frame(rows, palette):
    """Left, top, width and height of what is inside the first black frame: the
    longest run of black pixels in a row, and again below it."""
    black = re.escape(bytes([palette.index((0, 0, 0))]))
    runs = [(m.end() - m.start(), -y, m.start()) for y, row in enumerate(rows)
            for m in re.finditer(black + b"+", row)]
    length, top, left = max(runs, key=lambda run: run[:2])
    bottom = 1 - top
    while not re.fullmatch(black + b"+", rows[bottom][left:left + length]):
        bottom += 1
    return left + 1, 1 - top, length - 2, bottom + top - 1


def inside(path):
    """The colours inside the frame, row by row from the top."""
    rows, palette = read(path)
    left, top, width, height = frame(rows, palette)
    return [[palette[i] for i in row[left:left + width]]
            for row in rows[top:top + height]]
