"""make_sets.py BOUMA OUT -- write a dataset for each codec, layout and number of axes, by the command line."""
import subprocess
import sys

import numpy as np

bouma, out = sys.argv[1:]


def put(name, array, *options):
    np.save(f"{out}/v.npy", array)
    files = [] if "hz" in options else ["--files", "2", "--patch", "16" if "fine" not in name else "8"]
    subprocess.run([bouma, "import", f"{out}/v.npy", "--into", f"{out}/{name}.bouma", *files, *options],
                   check=True, stdout=subprocess.DEVNULL)


def wave(shape, dtype):
    """Smooth, with some noise; and not finite here and there."""
    axes = np.meshgrid(*(np.arange(n) for n in shape), indexing="ij")
    values = 50 + 40 * np.sin(sum(axis / (5 + 3 * i) for i, axis in enumerate(axes)))
    values += np.random.default_rng(7).normal(0, 0.01, shape)
    return values.astype(dtype)


def holes(array):
    array = array.copy()
    array.flat[3::97] = np.nan
    array.flat[50::501] = np.inf
    return array


SHAPES = {"1": (700,), "2": (45, 38), "3": (21, 34, 19)}
for axes, shape in SHAPES.items():
    for dtype in "f4", "f8", "i4", "i8", "u1", "u2":
        array = wave(shape, dtype)
        put(f"raw{axes}{dtype}", array, "--codec", "raw")
        put(f"zstd{axes}{dtype}", array, "--codec", "zstd")
        put(f"hz{axes}{dtype}", array, "--layout", "hz", "--hz-block-bits", "7", "--hz-blocks-per-file", "4")
        if dtype in ("f4", "f8", "i4", "i8"):
            put(f"zfp{axes}{dtype}", array, "--codec", "exact")
        if dtype in ("f4", "f8"):
            put(f"zfp_holes{axes}{dtype}", holes(array), "--codec", "exact")
            for codec in "interp", "wavelet":
                put(f"{codec}{axes}{dtype}", array, "--codec", codec, "--tolerance", "0.003")
                put(f"{codec}_fine{axes}{dtype}", array, "--codec", codec, "--relative", "1e-9")
                put(f"{codec}_holes{axes}{dtype}", holes(array), "--codec", codec, "--tolerance", "0.05")
    put(f"hz_curve{axes}", wave(shape, "f4"), "--layout", "hz", "--hz-order", "hz")
    put(f"chunk{axes}", wave(shape, "f4"), "--order", "chunk")
random = np.random.default_rng(3)
# Numbers of all sizes: every exponent that zfp can meet.
bits = random.integers(0, 2**64, (12, 20, 17), "u8")
for dtype, array in ("f8", bits.view("f8")), ("f4", bits.view("u4")[..., :17].view("f4")):
    put(f"bits_{dtype}", array, "--codec", "exact")
    put(f"tiny_{dtype}", wave((9, 19, 9), dtype) * np.finfo(dtype).tiny, "--codec", "wavelet", "--relative", "1e-4")
put("bits_i8", bits.view("i8"), "--codec", "exact")
put("vectors", wave((20, 30, 3), "f4"), "--components", "3", "--codec", "exact")

for n, ndims in (20000, 3), (3000, 2), (1, 3):
    for dtype in "f4", "f8":
        columns = {"position": random.random((n, ndims)).astype(dtype), "mass": random.normal(size=n).astype(dtype),
                   "id": np.arange(n), "kind": random.integers(0, 5, n, "u1"),
                   "velocity": random.normal(size=(n, 3)).astype("f4")}
        np.savez(f"{out}/p.npz", **columns)
        for name, options in ("exact", []), ("lossy", ["--tolerance", "0.001", "--position-tolerance", "0.0001"]):
            subprocess.run([bouma, "import", f"{out}/p.npz", "--particles", "dust", "--into",
                            f"{out}/{name}{n}{dtype}.bouma", *options], check=True, stdout=subprocess.DEVNULL)
