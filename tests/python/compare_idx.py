#!/usr/bin/python3
"""Reads IDX datasets with idx_reader.py, and compares them with what is in them.

    compare_idx.py DIRECTORY...              each has datasets, as NAME/*.idx
    compare_idx.py --file X.idx [FIELD STEP OUT.npy]...    is what bouma has read of its fields the same?

What is in them: NAME.FIELD.tSTEP.npy beside the header, or else what truth() computes. Exit status 1 if anything
differs.
"""

import os
import sys

import numpy as np

from idx_reader import Idx

TOLERANCE = {"i3d_zfp_acc": 7.6e-5, "i3d_zfp_prec": 4.2e-6}


def truth(idx, field, step):
    """Samples are made of absolute coordinates, the number of the field and the time."""
    number = [f.name for f in idx.fields].index(field)
    about = idx.fields[number]
    shape = [hi - lo for lo, hi in zip(idx.low, idx.high)][::-1]
    points = [p + lo for p, lo in zip(np.indices(shape)[::-1], idx.low)] + [0]
    x, y, z = points[:3]
    if about.compression.startswith("zfp"):
        nz, ny, nx = shape
        values = np.sin(5 * x / nx) * np.cos(3 * y / ny) + (z / nz) ** 2 * (step + 1)
    elif about.dtype.itemsize < 4:
        values = x + 7 * y + 13 * z + 31 * step + 101 * number
    elif about.kind != "float":
        values = x + 1000 * y + 10**6 * z + 100 * number + 10 * step
    else:
        values = x + 1000 * y + 1e6 * z + 0.5 * number + 0.25 * step
    if about.components > 1:
        each = 3 if about.dtype.itemsize < 4 else 0.5
        values = values[..., None] + each * np.arange(about.components)
    return values.astype(about.dtype)


def expected(idx, field, step):
    name = "%s.%s.t%d.npy" % (os.path.splitext(idx.path)[0], field, step)
    return np.load(name) if os.path.exists(name) else truth(idx, field, step)


def same(idx, field, step, data):
    """Whether the data is what should be there: bit for bit, unless it was made with a tolerance."""
    want = expected(idx, field, step)
    name = os.path.basename(os.path.dirname(os.path.abspath(idx.path)))
    if data.shape != want.shape or data.dtype != want.dtype:
        print("%s: %s at step %d: %s %s, not %s %s" % (name, field, step, data.shape, data.dtype, want.shape, want.dtype))
        return False
    if name in TOLERANCE:
        wrong = np.abs(data - want) > TOLERANCE[name]
    else:
        wrong = (data != want) & ~(np.isnan(data) & np.isnan(want))
    if wrong.any():
        print("%s: %s at step %d: %d of %d samples differ" % (name, field, step, wrong.sum(), wrong.size))
    return not wrong.any()


def main():
    if sys.argv[1] == "--file":
        idx, rest = Idx(sys.argv[2]), sys.argv[3:]
        results = [same(idx, f, int(s), np.load(r)) for f, s, r in zip(rest[::3], rest[1::3], rest[2::3])]
        sys.exit(not (results and all(results)))
    failed = count = 0
    for directory in sys.argv[1:]:
        if not os.path.isdir(directory):
            print("%s: is not here, skipped" % directory)
            continue
        for name in sorted(os.listdir(directory)):
            inside = os.path.join(directory, name)
            for header in sorted(f for f in os.listdir(inside) if f.endswith(".idx")):
                idx = Idx(os.path.join(inside, header))
                for field in idx.fields:
                    for step in idx.steps:
                        failed += not same(idx, field.name, step, idx.read(field.name, step))
                        count += 1
    print("%d fields compared, %d differ" % (count, failed))
    sys.exit(failed != 0 or count == 0)


if __name__ == "__main__":
    main()
