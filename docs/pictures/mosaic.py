#!/usr/bin/env python3
"""mosaic.py OUT.png COLUMNS PICTURE... -- put what is inside the frames of pictures of
bouma render side by side, row by row, without axes and colour bars."""
import struct
import sys
import zlib

import numpy as np

GAP = 8


def load(path):
    """The pixels [y][x][3] of a picture with a palette, one byte per pixel."""
    with open(path, "rb") as file:
        data = file.read()
    at, chunks = 8, {}
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8 : at + 8 + size]
        at += size + 12
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 3), path
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    pixels = np.zeros((height, width), np.uint8)
    for y in range(height):
        kind, row = rows[y, 0], rows[y, 1:].astype(int)
        above = pixels[y - 1].astype(int) if y else np.zeros(width, int)
        if kind == 2:
            row = row + above
        elif kind:  # each pixel needs the one before
            for x in range(width):
                left, corner = (row[x - 1], above[x - 1]) if x else (0, 0)
                if kind == 1:
                    add = left
                elif kind == 3:
                    add = (left + above[x]) // 2
                else:  # Paeth's choice
                    p = left + above[x] - corner
                    add = min((left, above[x], corner), key=lambda v: abs(p - v))
                row[x] = (row[x] + add) % 256
        pixels[y] = row % 256
    return np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)[pixels]


def inside(pixels):
    """The part inside the frame: the first long black line from the top and the left."""
    black = (pixels == 0).all(axis=2)
    height, width = black.shape
    top = next(y for y in range(height) if longest(black[y])[1] > width // 3)
    left, size = longest(black[top])
    column = black[top:, left]
    tall = height - top if column.all() else int(np.argmin(column))
    return pixels[top + 1 : top + tall - 1, left + 1 : left + size - 1]


def longest(line):
    """(start, length) of the longest run of black."""
    best = (0, 0)
    start = None
    for x, black in enumerate(list(line) + [False]):
        if black and start is None:
            start = x
        elif not black and start is not None:
            best = max(best, (start, x - start), key=lambda run: run[1])
            start = None
    return best


def save(path, pixels):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))


def main(out, columns, paths):
    pictures = [inside(load(path)) for path in paths]
    rows = [pictures[i : i + columns] for i in range(0, len(pictures), columns)]
    heights = [max(len(p) for p in row) for row in rows]
    width = max(sum(p.shape[1] for p in row) + GAP * (len(row) - 1) for row in rows)
    result = np.full((sum(heights) + GAP * (len(rows) - 1), width, 3), 255, np.uint8)
    y = 0
    for row, height in zip(rows, heights):
        x = 0
        for picture in row:
            result[y : y + len(picture), x : x + picture.shape[1]] = picture
            x += picture.shape[1] + GAP
        y += height + GAP
    save(out, result)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
