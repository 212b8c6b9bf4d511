#!/usr/bin/python3
"""Makes grids of many kinds with `bouma import` and the codecs wavelet and exact, and grids in HZ order with
all codecs; reads them with bouma_reader.py, and compares this with what was given and with what `bouma read` reads, at
every level.

Usage: BOUMA=build/bin/bouma compare_codecs.py

BOUMA names the program. Exit status 1 if anything differs.
"""

import os
import shutil
import sys
import tempfile

import numpy as np

import compare_golden
from bouma_hz import HzGrid
from bouma_reader import Damage, Dataset
from compare_golden import bouma, compare_decoded, finish, report, same

random = np.random.default_rng(11)
FORMS = {}  # codec and form to the number of pieces
HZ = {}  # order of samples in blocks, and codec, to the number of blocks
EXACT = "raw", "zstd", "exact"


def smooth(shape):
    axes = np.meshgrid(*(np.arange(n) * random.uniform(0.05, 0.4) for n in shape), indexing="ij")
    return np.sin(sum(axes)) + 0.01 * random.normal(size=shape)


def integers(shape, dtype):
    most = np.iinfo(dtype).max
    kind = random.integers(4)
    if kind == 0:
        return random.integers(np.iinfo(dtype).min, most, shape, endpoint=True, dtype=dtype)
    values = (min(1000, most // 3) * (smooth(shape) + (dtype.kind == "u"))).astype("i8").astype(dtype)
    if kind == 1:
        values[...] = 0
    if kind == 2:
        values[random.random(shape) < 0.1] = np.iinfo(dtype).min
    return values


def numbers(shape, dtype):
    """Floating-point numbers of all sorts."""
    about = np.finfo(dtype)
    kind = random.integers(9)
    with np.errstate(all="ignore"):
        values = [lambda: smooth(shape),
                  lambda: np.round(8 * smooth(shape)),
                  lambda: smooth(shape) * float(about.tiny) * 3,  # some are denormal
                  lambda: smooth(shape) * float(about.smallest_subnormal) * 1000,
                  lambda: smooth(shape) * float(about.max) * 0.9,
                  lambda: random.normal(size=shape) * 10.0**random.uniform(-30, 30, shape),
                  lambda: np.where(random.random(shape) < 0.8, 0.0, -0.0),
                  lambda: np.full(shape, 2.5),
                  lambda: random.integers(0, 2**63, shape, dtype="u8").view("f8")][kind]().astype(dtype)
    holes = random.integers(4) if kind != 1 else 0
    if holes:
        where = random.random(shape) < (0.03, 0.3, 1)[holes - 1]
        values[where] = np.array([np.nan, np.inf, -np.inf, np.nan])[random.integers(4, size=where.sum())]
    return values


def count_forms(variable):
    for chunk in variable.chunks.values():
        for level in range(variable.grid.stored_levels):
            for piece in chunk.pieces(level):
                if piece:
                    name = variable.codec, piece[0]
                    FORMS[name] = FORMS.get(name, 0) + 1


def compare(number, scratch):
    ndims = int(random.integers(1, 4))
    shape = tuple(int(n) for n in random.integers(1, (70, 19, 12)[ndims - 1], ndims))
    patch = [int(min(2**random.integers(0, 5), 1 << (n - 1).bit_length())) for n in shape]
    levels = int(random.integers(1, max(patch).bit_length() + 1))
    components = int(random.integers(1, 3))
    reversible = bool(random.integers(2))
    codec = "exact" if reversible else "wavelet"
    round_trip(number, scratch, shape, components, codec,
               ["--patch", ",".join(map(str, patch)), "--levels", str(levels)])


def compare_hz(number, scratch):
    """A grid in HZ order: the template has the splits that the shape needs, and sometimes more, in any order."""
    ndims = int(random.integers(1, 4))
    shape = tuple(int(n) for n in random.integers(1, (200, 24, 13)[ndims - 1], ndims))
    letters = [letter for letter, n in zip("zyx"[3 - ndims:], shape)
               for _ in range((n - 1).bit_length() + int(random.random() < 0.15))]
    options = ["--layout", "hz", "--hz-order", ("rows", "hz")[number % 2]]
    bits = sum((n - 1).bit_length() for n in shape)
    if letters and random.integers(4):
        options += ["--hz-template", "".join(random.permutation(letters))]
        bits = len(letters)
    if bits and random.integers(6):
        options += ["--hz-block-bits", str(random.integers(1, bits, endpoint=True)),
                    "--hz-blocks-per-file", str(random.integers(1, 30))]
    codec = ("raw", "zstd", "interp", "wavelet", "exact")[number // 2 % 5]
    if codec in EXACT and number % 3 == 0:
        options += ["--hz-wavelet"]
        options += ["--hz-tile-bits", str(random.integers(1, min(bits, 24), endpoint=True))] if bits else []
    variable = round_trip(number, scratch, shape, int(random.integers(1, 4)), codec, options)
    HZ[variable.grid.order, codec] = HZ.get((variable.grid.order, codec), 0) + len(variable.chunks)


def round_trip(number, scratch, shape, components, codec, options):
    """Values of all sorts, written and read; the variable."""
    rounds = "--hz-wavelet" in options and bool(random.integers(2))
    types = ["f4", "f8"] + (["i4", "i8"] if codec in EXACT and not rounds else [])
    if codec == "exact" and "--hz-wavelet" not in options and random.integers(2):
        types = ["i1", "i2", "u1", "u2", "u4", "u8"]
    dtype = np.dtype(types[random.integers(len(types))])
    full = shape + ((components,) if components > 1 else ())
    given = (numbers if dtype.kind == "f" else integers)(full, dtype)
    options = options + ["--codec", codec]
    if codec not in EXACT or rounds:
        finite = np.abs(given[np.isfinite(given)].astype("f8"))
        size = min(finite.max(initial=0), 1e300) or 1.0
        tolerance = max(size * 10.0**-random.integers(1, 12), 1e-307)
        options += ["--tolerance", repr(float(tolerance))]
        options += ["--nominal"] if codec == "wavelet" and random.integers(5) == 0 else []
    path, source, out = (os.path.join(scratch, name) for name in ("d.bouma", "given.npy", "out.npy"))
    shutil.rmtree(path, ignore_errors=True)
    np.save(source, given)
    what = f"case {number}: {shape} x {components} {dtype} {' '.join(options)}"
    bouma("import", source, "--into", path,
          *(["--components", str(components)] if components > 1 else []), *options)
    dataset = Dataset(path)
    grid = next(iter(dataset.open(dataset.steps[0]).grids.values()))
    variable = next(iter(grid.variables.values()))
    if codec in ("wavelet", "exact"):
        count_forms(variable)
    for level in range(grid.levels):
        bouma("read", path, f"{grid.name}/{variable.name}", "--level", str(level), "-o", out)
        compare_decoded(variable, variable.read(level), np.load(out), f"{what}: level {level}")
    whole = variable.read()
    if codec in EXACT and not rounds:
        report(same(whole, given), f"{what}: not what was given")
    elif not variable.kind & compare_golden.NOMINAL:
        special = ~np.isfinite(given)
        report(np.array_equal(whole[special], given[special], equal_nan=True), f"{what}: NaN or infinity elsewhere")
        with np.errstate(over="ignore"):
            errors = np.abs(whole[~special].astype("g") - given[~special].astype("g"))
        report(np.all(errors <= variable.bound), f"{what}: errors beyond the bound")
    if isinstance(grid, HzGrid):
        compare_boxes(path, variable, whole, what, out)
    return variable


def compare_boxes(path, variable, whole, what, out):
    for level in range(0, variable.grid.levels, 2):
        box = [sorted(random.integers(0, n, 2).tolist()) for n in variable.grid.shape]
        box = [(low, high + 1) for low, high in box]
        ours = variable.read(level, box)
        if variable.grid.wavelet and level:  # averages
            coarse = variable.read(level)
            inside = coarse[tuple(slice(low, high) for low, high in variable.grid.level_box(box, level))]
        else:
            inside = whole[tuple(slice(-(-low // 2**level) * 2**level, high, 2**level) for low, high in box)]
        report(same(ours, inside), f"{what}: level {level} box {box}: not what the whole grid has")
        if ours.size:
            bouma("read", path, f"{variable.grid.name}/{variable.name}", "--level", str(level), "--box",
                  ",".join(f"{low}:{high}" for low, high in box), "-o", out)
            compare_decoded(variable, ours, np.load(out), f"{what}: level {level} box {box}")


def main():
    if "BOUMA" not in os.environ:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(200):
            try:
                (compare if number < 120 else compare_hz)(number, scratch)
            except (Damage, RuntimeError) as error:
                report(False, f"case {number}: {error}")
    every = {(codec, form) for codec in ("wavelet", "exact") for form in range(3)}
    report(set(FORMS) == every, f"not all forms have occurred, but {FORMS}")
    report(len(HZ) == 10 and min(HZ.values()) >= 20, f"not enough blocks in HZ order, but {HZ}")
    return finish({"wavelet": 10000, "exact": 8000, "raw": 1000, "zstd": 1000, "interp": 1000})


if __name__ == "__main__":
    sys.exit(main())
