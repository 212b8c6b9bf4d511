#!/usr/bin/env python3
"""Reads IDX datasets with OpenVisus, at every resolution, and compares the samples with those that idx_reader.py finds;
writes others with OpenVisus.

    openvisus.py X.idx...             is X.idx what idx_reader.py reads there?
    openvisus.py X.idx=OTHER.idx...   is X.idx what idx_reader.py reads in another dataset, from sample 0 on?
    openvisus.py --write DIRECTORY    datasets of all kinds, DIRECTORY/NAME.idx, and DIRECTORY/NAME.FIELD.tSTEP.npy beside
                                      them: what is in them

Says so, and exits with 77, where the OpenVisus wheel is not installed.
"""

import os
import sys

sys.dont_write_bytecode = True
try:
    import OpenVisus as ov
except ImportError:
    print("OpenVisus is not installed (pip install OpenVisus): skipped")
    sys.exit(77)
import numpy as np

from idx_reader import Idx

# ---- reading -------------------------------------------------------------------------------------------------------


def lattice(idx, resolution):
    """The steps between samples along z, y, x."""
    finer = idx.digits[resolution:]
    return [1 << finer.count(a) for a in range(idx.ndims)][::-1]


def compare_field(db, idx, field, step, whole):
    """How many resolutions differ."""
    wrong = 0
    for resolution in range(len(idx.digits) + 1):
        want = whole[tuple(slice(None, None, d) for d in lattice(idx, resolution))]
        got = db.read(field=field, time=step, max_resolution=resolution)
        if got is None or got.dtype != want.dtype or got.reshape(-1).tobytes() != want.tobytes():
            wrong += 1
            shape = None if got is None else got.shape
            print("%s: %s, timestep %d, resolution %d: differs (%s, not %s)" % (idx.path, field, step, resolution, shape, want.shape))
    return wrong


def compare(path, other):
    """How many resolutions of all fields and timesteps are compared, and how many differ."""
    idx, truth, db = Idx(path), Idx(other), ov.LoadDataset(path)
    fields, wrong = [f.name for f in truth.fields], 0
    if [f.name for f in idx.fields] != fields or idx.steps != truth.steps:
        print("%s: has other fields or timesteps than %s" % (path, other))
        return 1, 1
    for field in fields:
        for step in truth.steps:
            wrong += compare_field(db, idx, field, step, truth.read(field, step))
    return len(fields) * len(idx.steps) * (len(idx.digits) + 1), wrong


# ---- writing -------------------------------------------------------------------------------------------------------

# Shape (z, y, x), fields as OpenVisus lists them, and what else CreateIdx() takes.
WRITTEN = {
    "rows2d": ((21, 37), ["v float32 default_layout(row_major)"], {}),
    "curve2d": ((64, 33), ["v uint16 default_layout(hzorder)"], {"bitsperblock": 7, "blocksperfile": 3}),
    "thin": ((2, 40, 24), ["v float64 default_layout(hzorder)"], {"bitsperblock": 6}),
    "bytes": ((17, 9, 30), ["v uint8 default_layout(hzorder) default_compression(zip)"], {"bitsperblock": 10}),
    "lz4": ((17, 9, 30), ["v int32 default_layout(row_major) default_compression(lz4)"], {"bitsperblock": 9}),
    "zfp": (
        (16, 24, 40),
        ["v float32 default_layout(row_major) default_compression(zfp-reversible-reversible)"],
        {"bitsperblock": 12},
    ),
    "vectors": ((11, 12, 13), ["v float32[3] default_layout(hzorder)"], {"bitsperblock": 8, "blocksperfile": 4}),
    "fields": (
        (20, 19, 33),
        ["a float64 default_layout(hzorder)", "b int16 default_layout(row_major)", "c uint8[4] default_compression(zip)"],
        {"bitsperblock": 11, "blocksperfile": 2, "time": [3, 5, "t%03d/"]},
    ),
    "template": ((16, 16, 16), ["v float32"], {"bitmask": "V220102011012", "bitsperblock": 5}),
    "arco": ((20, 30, 40), ["v float32 default_layout(row_major)"], {"arco": "16kb"}),
}


def numpy_type(dtype):
    """The type and the components of "float32[3]"."""
    name, _, count = dtype.partition("[")
    return np.dtype(name), int(count[:-1] or 1) if count else 1


def write(directory):
    chance = np.random.default_rng(7)
    for name, (shape, fields, more) in WRITTEN.items():
        path = os.path.join(directory, name)
        db = ov.CreateIdx(url=path + ".idx", dims=list(shape[::-1]), fields=[ov.Field.fromString(f) for f in fields], **more)
        first, last = more.get("time", [0, 0, ""])[:2]
        for field in fields:
            dtype, components = numpy_type(field.split()[1])
            for step in range(first, last + 1):
                values = (chance.random(shape + (components,) * (components > 1)) * 250).astype(dtype)
                db.write(values, field=field.split()[0], time=step)
                np.save("%s.%s.t%d.npy" % (path, field.split()[0], step), values)


def main():
    if sys.argv[1] == "--write":
        write(sys.argv[2])
        return
    total = failed = 0
    for argument in sys.argv[1:]:
        path, _, other = argument.partition("=")
        count, wrong = compare(path, other or path)
        total += count
        failed += wrong
    print("OpenVisus: %d resolutions compared, %d differ" % (total, failed))
    sys.exit(failed != 0 or total == 0)


if __name__ == "__main__":
    main()
