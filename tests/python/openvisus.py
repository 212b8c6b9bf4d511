#!/usr/bin/env python3
"""Reads an IDX dataset with OpenVisus, at every resolution, and compares it with idx_reader.py's samples.

    openvisus.py X.idx...

Says so, and exits with 77, where the OpenVisus wheel is not installed.
"""

import sys

sys.dont_write_bytecode = True
try:
    import OpenVisus as ov
except ImportError:
    print("OpenVisus is not installed (pip install OpenVisus): skipped")
    sys.exit(77)
import numpy as np

from idx_reader import Idx


def lattice(idx, resolution):
    """The steps between samples along x, y, z."""
    finer = idx.digits[resolution:]
    return [1 << finer.count(a) for a in range(idx.ndims)]


def compare(path):
    """How many resolutions of all fields and timesteps are compared, and how many differ."""
    idx, count, wrong = Idx(path), 0, 0
    db = ov.LoadDataset(path)
    for field in idx.fields:
        for step in idx.steps:
            whole = idx.read(field.name, step)
            for resolution in range(len(idx.digits) + 1):
                want = whole[tuple(slice(None, None, d) for d in lattice(idx, resolution)[::-1])]
                got = db.read(field=field.name, time=step, max_resolution=resolution)
                count += 1
                if got is None or got.reshape(-1).tobytes() != np.ascontiguousarray(want).reshape(-1).tobytes():
                    wrong += 1
                    shape = None if got is None else got.shape
                    print("%s: %s, timestep %d, resolution %d: differs (%s, not %s)" % (path, field.name, step, resolution, shape, want.shape))
    return count, wrong


def main():
    total = failed = 0
    for path in sys.argv[1:]:
        count, wrong = compare(path)
        total += count
        failed += wrong
    print("OpenVisus: %d resolutions compared, %d differ" % (total, failed))
    sys.exit(failed != 0 or total == 0)


if __name__ == "__main__":
    main()
