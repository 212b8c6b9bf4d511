#!/usr/bin/env python3
"""python.py PROGRAM DIRECTORY [--size 512] [--steps 10000] [--turns 9] [--field FILE] [--small]

What the Python package costs.

PROGRAM is bench_python: the same reads in C, by as many threads. Runs of both are taken in turns, the
first of each not counted, and the ratio of their medians is printed, since other programs may run beside.
The time series of a point is read beside h5py, if that is there: one HDF5 file with the same chunks. A mean
over time is computed beside Zarr (python_dask.py)."""
import argparse
import os
import subprocess
import sys
import time

import numpy as np

import bouma
from python_dask import means
from score import Score


def seconds_of_import(module):
    call = [sys.executable, "-c", "import time; a = time.process_time(); import %s; print(time.process_time() - a)"
            % module]
    return float(subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout)


def imports(score, turns):
    """Processor time, in turns; the first of each compiles and fills caches."""
    times = [(seconds_of_import("numpy"), seconds_of_import("bouma")) for _ in range(turns + 1)][1:]
    numpy, ours = zip(*times)
    score.add("import bouma, processor time", "s", ours, reference=("import numpy", numpy), at_most=1.5)


def in_c(program, path, low, high, count):
    """Seconds of each read: on the clock, and of all processors."""
    done = subprocess.run([program, path, str(low), str(high), str(count)], check=True, stdout=subprocess.PIPE,
                          text=True)
    return np.array(done.stdout.split(), float).reshape(-1, 2)


def in_python(call, count):
    """The same; the first read is not counted, as in C."""
    call()
    found = []
    for _ in range(count):
        start, used = time.perf_counter(), time.process_time()
        call()
        found.append((time.perf_counter() - start, time.process_time() - used))
    return np.array(found)


def reads(score, program, path, size, turns):
    with bouma.create(path, durability="fast") as ds:
        ds.grid("g", (size,) * 3).variable("v", "f4", codec="raw")
        ds.write({"g/v": np.random.default_rng(1).random((size,) * 3, "f4")})
    v = bouma.open(path)[0]["g/v"]
    out = np.zeros(v.shape, "f4")
    whole, box = [], []
    low, high = size // 4, size // 4 + 64
    for _ in range(turns):
        whole.append((in_c(program, path, 0, size, 4), in_python(lambda: v.read(out=out), 4)))
        box.append((in_c(program, path, low, high, 50),
                    in_python(lambda: v[low:high, low:high, low:high], 50)))
    (c, c_used), (python, used) = medians(whole)
    score.add("%d^3 f32 raw, Python over C" % size, "s", python, reference=("in C", c), at_most=1.05)
    score.add("the same in processor time", "s", used, reference=("in C", c_used))
    (c, _), (python, _) = medians(box)
    score.add("a 64^3 box, Python over C", "s", python, reference=("in C", c))
    score.add("a 64^3 box, Python - C", "ms", [1000 * (p - q) for p, q in zip(python, c)], at_most=0.3)


def medians(rounds):
    """In C and in Python: the medians of each round, on the clock and of processors."""
    return [np.array([np.median(times, axis=0) for times in way]).T.tolist() for way in zip(*rounds)]


def write_series(folder, field, steps, codec, filters):
    """The same steps in a dataset, and in one HDF5 file with the same chunks, if h5py is there."""
    path, name = os.path.join(folder, "series-%s.bouma" % codec), os.path.join(folder, "series-%s.h5" % codec)
    with bouma.create(path, durability="fast") as ds:
        v = ds.grid("g", field.shape, patch=(16, 16, 16)).variable("v", "f4", codec=codec)
        for i in range(steps):
            with ds.step(i, time=i):
                v.put(field)
    try:
        import h5py
    except ImportError:
        return path, None
    with h5py.File(name, "w") as f:
        made = f.create_dataset("v", (steps,) + field.shape, "f4", chunks=(1, 16, 16, 16), **filters)
        for i in range(steps):
            made[i] = field
    return path, name


def read_directly(path):
    with bouma.open(path) as ds:
        return ds["g/v"][:, 3, 4, 5]


def read_by_xarray(path):
    import xarray

    with xarray.open_dataset(path, engine="bouma") as ds:
        return ds["v"][:, 3, 4, 5].values


def read_by_h5py(name):
    import h5py

    with h5py.File(name, "r") as f:
        return f["v"][:, 3, 4, 5]


def series(score, folder, steps, turns):
    """One point of 32^3 samples in chunks of 16^3, over all steps, opened anew each time. h5py
    has no zstd: compressed, it is zstd beside gzip, which is no fair comparison of formats."""
    field = np.random.default_rng(1).random((32, 32, 32)).astype("f4")
    for codec, filters, most in (("raw", {}, 1.0), ("zstd", {"compression": "gzip", "compression_opts": 1}, None)):
        path, name = write_series(folder, field, steps, codec, filters)
        calls = [lambda: read_directly(path), lambda: read_by_xarray(path)]
        if name is None:
            print("h5py is not there: no comparison")
        else:
            calls.append(lambda: read_by_h5py(name))
        values = [call() for call in calls]
        assert all(np.array_equal(values[0], one) for one in values)
        # In turns: [turn][call][on the clock, of processors]
        times = np.array([[in_python(call, 1)[0] for call in calls] for _ in range(turns)])
        for k, way in enumerate(("directly", "through xarray")):
            what = "%s, a point over %d steps, %s" % (codec, steps, way)
            score.add(what + ", a step", "us", (1e6 * times[:, k, 0] / steps).tolist())
            for name_, unit, limit in (("on the clock", 0, most), ("processor time", 1, None)) if name else ():
                reference = ("h5py", times[:, 2, unit].tolist())
                score.add("%s, %s" % (what, name_), "s", times[:, k, unit].tolist(), reference=reference, at_most=limit)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("directory")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--field")
    parser.add_argument("--small", action="store_true", help="just to see that it works")
    given = parser.parse_args()
    if given.small:
        given.size, given.steps, given.turns = 128, 10, 1
    score = Score("python", size=given.size, steps=given.steps)
    imports(score, given.turns)
    reads(score, given.program, os.path.join(given.directory, "reads.bouma"), given.size, given.turns)
    series(score, given.directory, given.steps, given.turns)
    means(score, given.directory, given.field, given.turns)
    score.end()


if __name__ == "__main__":
    main()
