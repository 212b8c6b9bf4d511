#!/usr/bin/env python3
"""Cut the golden datasets into seeds for the fuzz targets:
make_seeds.py tests/golden/v1 tests/fuzz/corpus. What else is in the corpus (the
finds of earlier runs) stays."""
import glob
import io
import os
import struct
import sys
import zlib

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
from bouma_reader import Dataset

golden, corpus = sys.argv[1:3]


def save(target, name, data):
    os.makedirs(os.path.join(corpus, target), exist_ok=True)
    with open(os.path.join(corpus, target, "seed_" + name), "wb") as f:
        f.write(data)


def load(path):
    with open(path, "rb") as f:
        return f.read()


def head_of(subfile):
    if subfile[:5] != b"BOUMA":  # behind a front, whose size the end tells
        subfile = subfile[(struct.unpack("<Q", subfile[-16:-8])[0] + 63) // 64 * 64:]
    return subfile[:64 + struct.unpack("<Q", subfile[16:24])[0]]


# One small dataset and, for the many kinds of attributes, one large manifest;
# and one with tolerances; particles, of one file and of several; subfiles whose
# table has the offsets; grids in HZ order, of files with a front, too; and a step
# that was extended, with a file of its last writing.
for name in ("point", "cube", "line_zstd", "interp_plane", "placed_level",
             "placed_chunk", "mote", "foam", "flock", "hz_rows", "hz_local", "hz_curve",
             "hz_wavelet", "hz_idx", "extended"):
    path = os.path.join(golden, name + ".bouma")
    first = sorted(glob.glob(path + "/steps/*/manifest"))[0]
    manifest = load(first)
    subfile = load(sorted(glob.glob(os.path.dirname(first) + "/d.0000.*"))[-1])
    head = head_of(subfile)
    save("fuzz_manifest", name, b"\1" + manifest)
    save("fuzz_head", name, b"\1" + head)
    has = struct.unpack("<I", head[64 + 36:64 + 40])[0]
    save("fuzz_schema", name, head[64 + 48 + 8 * (has & 1) + 8 * (has >> 1):])
    save("fuzz_index", name, b"\1" + load(path + "/index"))
    save("fuzz_dataset_file", name, b"\1" + load(path + "/DATASET"))
save("fuzz_dataset_file", "unsealed", b"\0" + load(path + "/DATASET"))

# Records of losses: of a whole step, of two of its files, of another step.
for name, step, files in ("step", 7, ()), ("files", 7, ((0, 0), (3, 4096))), ("another", 8, ((1, 9),)):
    body = struct.pack("<QdIIqII", step, 0.5, 1, 2, 1700000000, bool(files), len(files))
    save("fuzz_losses", name, b"\1" + bytes(64) + body + b"".join(struct.pack("<IQ", *f) for f in files))
save("fuzz_losses", "unsealed", b"\0" + bytes(64) + body)

# Records of dropped steps: one, several, and some that contradict themselves.
for name, items in (("one", ((-1, 3, 0),)), ("several", ((0, 2, 0), (7, 2, 5), (40, 9, 1))),
                    ("included", ((5, 2, 0), (7, 2, 0))), ("descending", ((7, 2, 0), (5, 3, 0))),
                    ("none", ()), ("epoch", ((5, 0, 1),)), ("step", ((-2, 1, 0),))):
    body = struct.pack("<Q", len(items)) + b"".join(struct.pack("<qII", *i) for i in items)
    save("fuzz_truncations", name, b"\1" + bytes(64) + body)
# Steps that were deleted, with and without such a record; and one that it includes.
for name, items, steps in (("deleted", (), ((3, 1, 0), (9, 2, 1))), ("both", ((5, 2, 0),), ((3, 1, 0), (9, 2, 1))),
                           ("dropped_twice", ((5, 2, 0),), ((9, 1, 0),))):
    body = b"".join(struct.pack("<Q", len(l)) + b"".join(struct.pack("<qII", *i) for i in l) for l in (items, steps))
    save("fuzz_truncations", name, b"\1" + bytes(64) + body)
save("fuzz_truncations", "short", b"\1" + bytes(64) + struct.pack("<QqI", 1, 5, 2))
save("fuzz_truncations", "many", b"\1" + bytes(64) + struct.pack("<QqII", 1 << 60, 5, 2, 0))
save("fuzz_truncations", "unsealed", b"\0" + bytes(64) + struct.pack("<Q", 0))

numbers = bytes(range(64)) * 4
for codec in ("raw", "zstd"):
    for bits in range(4):
        n = len(numbers) >> bits
        save("fuzz_codec_" + codec, "round_trip_%d" % bits,
             bytes([4 | bits, 0, 0]) + numbers)
        save("fuzz_codec_" + codec, "as_it_is_%d" % bits,
             bytes([bits, n & 255, n >> 8]) + numbers)
# zstd's own frames of 256 times "a", and of 4 KiB of zeros.
frames = (("letters", 256, "28b52ffd00484d000010616101007b0a6001"),
          ("zeros", 4096, "28b52ffd00484d00001000000100fbf70116"))
for name, n, frame in frames:
    save("fuzz_codec_zstd", name,
         bytes([0, n & 255, n >> 8]) + bytes.fromhex(frame))

# fuzz_codec_interp: the pieces of the first patch of each lossy variable, and of
# one at odd coordinates, if they are small; and samples.
def save_pieces(variable, chunk, name, most=1000):
    grid = variable.grid
    extents = [1] * 3
    start = [0] * 3
    for axis, (low, high) in enumerate(chunk.box, 3 - grid.ndims):
        extents[axis] = high - low
        start[axis] = chunk.address[axis - 3 + grid.ndims] % 8
    wide = variable.dtype.itemsize == 8
    for level in range(min(grid.levels, 8)):
        piece = chunk.pieces(level)[0]
        head = (wide | (min(grid.levels, 8) - 1) << 2 | level << 5,
                *(n - 1 for n in extents), *start, 256 - (1 if wide else 6), 0)
        if max(extents) <= 256 and 0 < len(piece) <= most:
            save("fuzz_codec_interp", "%s_%d" % (name, level),
                 bytes(head) + piece)


for name in ("interp_line", "interp_plane", "interp_cube"):
    dataset = Dataset(os.path.join(golden, name + ".bouma"))
    step = dataset.open(dataset.steps[0])
    for grid in step.grids.values():
        for variable in grid.variables.values():
            name = grid.name + "_" + variable.name.replace(" ", "_")
            save_pieces(variable, variable.chunks[min(variable.chunks)], name)
            for address, chunk in sorted(variable.chunks.items()):
                full = tuple(b - a for a, b in chunk.box) == grid.edges
                if full and any(p % 2 for p in address):
                    save_pieces(variable, chunk, name + "_odd")
                    break
large = Dataset(os.path.join(golden, "exact_large.bouma"))
variables = large.open(large.steps[0]).grids["cube"].variables
save_pieces(variables["smooth"], variables["smooth"].chunks[(0, 0, 0)], "large", 20000)
blocks = Dataset(os.path.join(golden, "interp_blocks.bouma"))
noise = blocks.open(blocks.steps[0]).grids["plane"].variables["noise f32"]
save_pieces(noise, noise.chunks[(0, 0)], "blocks", 20000)
for flags, type_ in ((2, "f32"), (3, "f64")):
    for name, extents in (("line", (0, 0, 99)), ("cube", (6, 8, 12))):
        save("fuzz_codec_interp", "round_trip_%s_%s" % (type_, name),
             bytes([flags | 2 << 2, *extents, 0, 0, 1, 0, 0]) + numbers)

# fuzz_codec_exact: the pieces of chunks, each with its size before it.
def save_chunk(variable, chunk, name):
    grid = variable.grid
    extents = [b - a for a, b in chunk.box]
    times = 4 if max(extents) > 16 else 1
    n = [extent // times - 1 for extent in extents]
    place = sum((p & 1) << axis for axis, p in enumerate(chunk.address)) | (8 if times > 1 else 0)
    pieces = [chunk.pieces(level)[0] for level in reversed(range(grid.levels))]
    save("fuzz_codec_exact", name,
         bytes([variable.dtype.itemsize == 8, n[0] | n[1] << 4, n[2], grid.levels - 1, place, 0]) +
         b"".join(struct.pack("<I", len(piece)) + piece for piece in pieces))


cube = Dataset(os.path.join(golden, "exact_cube.bouma"))
for variable in cube.open(cube.steps[0]).grids["cube"].variables.values():
    if variable.codec == "exact":
        for address, chunk in sorted(variable.chunks.items()):
            save_chunk(variable, chunk, "%s_%d" % (variable.name.replace(" ", "_"), address[2]))
save_chunk(variables["steps"], variables["steps"].chunks[(0, 0, 0)], "large")

# fuzz_codec_list: values, of both codecs; and differences of numbers whose squares
# are taken, of one and of two components, with bits that are left out.
def differences(values, bits, left_out):
    steps = [(b - a) % (1 << bits) for a, b in zip([0] + values, values)]
    folded = [2 * s if s < 1 << bits - 1 else 2 * ((1 << bits) - s) - 1 for s in steps]
    lengths = [max(folded[i:i + 32]).bit_length() for i in range(0, len(folded), 32)]
    packed = at = 0
    for i, number in enumerate(folded):
        packed |= number << at
        at += lengths[i // 32]
    return bytes([left_out, *lengths]) + packed.to_bytes((at + 7) // 8, "little")


for type_, (bits, number) in enumerate(((32, "f32"), (64, "f64"), (32, "i32"), (64, "i64"))):
    for codec in (0, 32):
        save("fuzz_codec_list", "round_trip_%s_%d" % (number, codec), bytes([type_ | 16 | codec, 0, 0]) + numbers)
    for components in (1, 2):
        for n in (33, 500):
            values = [(1 << bits - 2) + 7 * i * i for i in range(n)]
            save("fuzz_codec_list", "%s_%d_%d" % (number, components, n),
                 bytes([type_ | components - 1 << 6]) + struct.pack("<HB", n, 1) +
                 differences(values, bits, components - 1) * components)

# fuzz_codec_quantise: values; and parts of three values that are all right: in
# Golomb numbers of the orders 0 and 8, in bytes, with one kept, and plain.
for flags, type_ in ((2, "f32"), (3, "f64")):
    for components in (1, 3):
        save("fuzz_codec_quantise", "round_trip_%s_%d" % (type_, components),
             bytes([flags | components - 1 << 2, 0, 0]) + numbers)
for name, part in (("golomb", "020329"), ("golomb_8", "0a03020100"),
                   ("bytes", "01010102"), ("plain", "00" + "23" * 24),
                   ("kept", "82010108000000" + "23" * 8 + "0100"),
                   ("largest", "02ffffffffffffff0100")):
    part = bytes.fromhex(part)
    save("fuzz_codec_quantise", name, bytes([1, 3, 255]) + part)
    save("fuzz_codec_quantise", name + "_twice",
         bytes([1 | 1 << 2, 3, 255, len(part)]) + part + part)

for name, value in (("assign", "optimal"), ("file_size", "1.5GiB"),
                    ("durability", "group=4"), ("timeout", "2.5e3"),
                    ("files", "64"), ("replace", "yes"), ("nothing", "")):
    save("fuzz_options", name, name.encode() + b"\0" + value.encode())
save("fuzz_options", "environment", b"files=4;order=chunk,assign=count")

# fuzz_whole: flags and operations, see there.
ALL = 31
save("fuzz_whole", "unchanged", bytes([0]))
save("fuzz_whole", "unpublished", bytes([ALL | 32]))
save("fuzz_whole", "without_manifest", bytes([ALL | 64]))
save("fuzz_whole", "without_index", bytes([ALL | 128]))
for name, rest in ("", b""), ("other_", bytes(1)), ("hz_", bytes(4)):
    save("fuzz_whole", name + "sealed", bytes([ALL]) + rest)
    for file in range(12):
        save("fuzz_whole", "%sflip_%d" % (name, file), bytes([ALL, 1, file, 70, 0, 1]) + rest)
        save("fuzz_whole", "%scut_%d" % (name, file), bytes([ALL, 4, file, 60, 0, 0]) + rest)
        save("fuzz_whole", "%sinsert_%d" % (name, file), bytes([ALL, 5, file, 100, 0, 7]) + rest)
# In the data of the other dataset: grids, then those with stored offsets, and particles.
for file in 3, 4, 5, 6, 8, 9, 10, 11:
    for at in range(600, 2600, 400):
        save("fuzz_whole", "other_data_%d_%d" % (file, at), struct.pack("<BBBHBB", ALL, 1, file, at, 1 + at % 255, 0))

# In the schemas, tables and data of grids in HZ order.
for file in 2, 3, 4, 5, 6, 8, 9, 10, 11:
    for at in range(120, 3000, 360):
        save("fuzz_whole", "hz_data_%d_%d" % (file, at), struct.pack("<BBBHB", ALL, 1, file, at, 1 + at % 255) + bytes(4))

# Sources of particles, and conditions on them.
size_grid = b'{"format": "bouma-size-grid", "ranks": [2, 1, 2], "variables": [{"name": "T", "bytes": [1, 20, 300, 4000]}'
save("fuzz_size_grid", "plain", size_grid + b"]}")
save("fuzz_size_grid", "two", size_grid + b',{"name": "p", "bytes": [0, 0, 9007199254740992, 5]}]}')
save("fuzz_size_grid", "short", size_grid.replace(b", 4000", b"") + b"]}")
save("fuzz_size_grid", "many", size_grid.replace(b"[2, 1, 2]", b"[2097152, 2097152, 2097152]") + b"]}")

plot = b'{"format": "bouma-plot", "kind": "curves", "title": "t", "x": {"label": "ranks", "scale": "log2"}, "series": [{"name": "a", "x": [1, 2], "y": [3, null], "low": [2, 1e-9]}'
save("fuzz_plot", "curves", plot + b"]}")
save("fuzz_plot", "ends", plot.replace(b'"log2"', b'"log", "low": 0.5, "high": 1e90') + b"]}")
save("fuzz_plot", "negative", plot.replace(b"[1, 2]", b"[-1, 2]") + b"]}")
save("fuzz_plot", "bars", plot.replace(b"curves", b"bars").replace(b'"x": {', b'"labels": ["p", "q"], "y": {') + b"]}")

trace_line = b'{"ph":"X","pid":0,"tid":1000,"cat":"file","name":"write","ts":12.345,"dur":0.5'
save("fuzz_trace_line", "plain", trace_line + b"},")
save("fuzz_trace_line", "args", trace_line + b',"args":{"file":"steps/0/0.data","bytes":4096,"offset":8}},')
save("fuzz_trace_line", "nan", trace_line.replace(b"12.345", b"nan") + b"},")
save("fuzz_csv", "plain", b"x,y,z,id\n1,2.5,-3e4,7\r\n\n4,nan,inf,18446744073709551615\n")
save("fuzz_csv", "quoted", b"# \"a b\";y\n 1 ; \"2\"\n-3;4\n")
save("fuzz_csv", "tabs", b"\xef\xbb\xbfa\tb\n1\t2\n3\t4")
frame = ("ITEM: TIMESTEP\n%d\nITEM: NUMBER OF ATOMS\n2\n"
         "ITEM: BOX BOUNDS %s\n%sITEM: ATOMS %s\n%s")
save("fuzz_lammps", "frames", b"".join(
    (frame % (step, "pp pp ff", "0 1\n0 2\n-1 5e1\n", "id type x y z ix element",
              "1 1 0.5 2 3 0 Cu\n2 3 4 5 6 -1 H \n")).encode()
    for step in (0, 100)))
save("fuzz_lammps", "tilted", b"ITEM: UNITS\nlj\nITEM: TIME\n0.5\n" + (
    frame % (7, "xy xz yz pp pp pp", "0 1 .5\n0 2 .25\n-1 50 -1\n", "xs ys zs",
             "0 .5 1\n.25 .5 .75\n")).encode())
for name, text in (("chain", b"3 < mass <= 5 && v[2] > 0 and x < 1e400"),
                   ("names", b"'mass' == 18446744073709551615 and c[1] >= -.5e-3"),
                   ("no", b"id != 3 || (big < 2)"), ("inf", b"id < -inf"),
                   ("negated", b"not mass != 3 and !(v[0] < 1 | ~(id == 2 & 3 >= big))"),
                   ("nested", b"((((x < 1) | y > 2 & (big != 7)) && id < 3) or mass > 1)"),
                   ("stray_bytes", b"\xa6" * 40 + b"< 3"),
                   ("wide", b" & ".join(b"(mass != %d)" % i for i in range(40)))):
    save("fuzz_where", name, text)
# Timesteps in headers of idx/.
for name, line in (("range", b"0 4 time%09d/\n"), ("runs", b"time%09d/ (0,8,2) (10,12,1) (40,40,1)\n"),
                   ("none", b"time%09d/\n"), ("many", b"0 2147483647 time%09d/\n"), ("cut", b"time%09d/ (0,8,")):
    save("fuzz_idx_steps", name, b"(version)\n6\n(time)\n" + line + b"(arco)\n0\n")
# Headers of IDX datasets, and blocks behind their headers.
idx_text = (b"# made by hand\r\n(version)\n6\n(box)\n3 19 0 8 2 7 0 0\n(fields)\n"
            b"a float64 default_compression(zfp-accuracy=1e-3-accuracy=1e-3) default_layout(hzorder) + \n"
            b"b 3*uint8 default_value(7) min(0 0 0)\n(bits)\nV012012010210\n(bitsperblock)\n5\n(blocksperfile)\n4\n"
            b"(filename_template)\n./d/%01x/%02x.bin\n(time)\nt%04d/ (0,8,2) (10,12,1)\n"
            b"(physic_box)\n0 1 -1 1 0 .5\n(io mode)\nidx\n(endian)\nlittle\n")
save("fuzz_idx_header", "text", idx_text)
save("fuzz_idx_header", "full", idx_text.replace(b"V0", b"F0").replace(b"\n5\n", b"\n12\n"))
save("fuzz_idx_header", "old", b"(version)\n1\n(box)\n0 36 0 20\n(fields)\nv float32 compressed\n(bits)\nV01010101010\n"
     b"(bitsperblock)\n6\n(blocksperfile)\n4\n(logic_to_physic)\n2 0 1\n0 3 1\n0 0 1\n(time)\n* * t%d\n")
save("fuzz_idx_header", "arco", b"(version)\n6\n(box)\n0 36 0 20\n(fields)\nv float32\n(bits)\nV01010101010\n"
     b"(bitsperblock)\n6\n(blocksperfile)\n1\n(arco)\n256\n")
save("fuzz_idx_header", "xml", b'<?xml version="1.0"?><!-- x --><dataset><idxfile><version value="6"/>'
     b'<bitmask value="V0101"/><box value=\'0 4 0 4\' /><bitsperblock value="2"/><blocksperfile value="1"/>'
     b'<time_template value="t&lt;%02d/"/><field name="v" dtype="int16[2]" default_layout="0"/>'
     b'<timestep from="0" to="4" step="2"/><timestep when="9"/></idxfile></dataset>')


def save_block(name, header, flags, data):
    at = struct.pack(">10I", 0, 0, 80, 0, len(data), flags, 0, 0, 0, 0)
    if header == 5:  # of 12 bytes, behind a preamble of 16
        at = struct.pack(">3I28x", 28, len(data), flags)
    save("fuzz_idx_block", name, bytes([header]) + at + data)


save_block("raw", 0, 0x10, bytes(range(256)))
save_block("zip", 0, 3, zlib.compress(bytes(range(256))))
save_block("lz4", 0, 7, b"\x1f\x05\x01\x00" + bytes([231]) + b"\x50\x05\x05\x05\x05\x05")
for header in 1, 2, 3:
    save_block("zfp_%d" % header, header, 0x18, bytes((37 * i + 11) % 251 for i in range(300)))
save_block("full", 4, 0x10, bytes(768))
save_block("old", 5, 1, zlib.compress(bytes(64)))


def save_npz(name, how, **arrays):
    out = io.BytesIO()
    how(out, **arrays)
    save("fuzz_npz", name, out.getvalue())


plain = {"position": np.arange(12, dtype="<f4").reshape(4, 3),
         "mass": np.arange(4, dtype=">f8"),
         "v": np.asfortranarray(np.arange(8, dtype="<i2").reshape(4, 2))}
record = np.zeros(3, dtype=[("x", "<f4"), ("n", "|u1"), ("v", ">f8", (2,))])
save_npz("stored", np.savez, **plain)
save_npz("deflated", np.savez_compressed, **plain)
save_npz("records", np.savez, r=record)
save_npz("records_deflated", np.savez_compressed, r=record)

for name, text in (("step", b"00000042"), ("long_step", b"123456789012"), ("epoch", b"000001"),
                   ("subfile", b"d.0001.e1a2"), ("manifest", b"manifest.tmp.e12a3"),
                   ("below", b"0001/d.1024.e1a2"),
                   ("below_copy", b"0001/copy.1024.0123abcd.e1a2"), ("folder", b"0001"),
                   ("copy", b"copy.0001.0123abcd.e1a2"), ("mended", b"mended.tmp.e7"),
                   ("loss", b"00000042.loss"), ("beyond", b"18446744073709551616")):
    save("fuzz_names", name, text)
for name, text in (("owner", b"\0host node1 pid 123 start 456 namespace 4026531836"),
                   ("closed", b"\1host node1 pid 1 start 1 namespace 4026531836"),
                   ("forced", b"\2host x pid -1 start 99999999999999999999999 namespace 1"),
                   ("empty", b"\0")):
    save("fuzz_owner", name, text)
