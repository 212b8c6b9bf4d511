#!/usr/bin/python3
"""Makes datasets of particles of many kinds with `bouma import`, reads them with bouma_reader.py, and compares this
with what was given and with what `bouma query` reads.

Usage: BOUMA=build/bin/bouma compare_particles.py

BOUMA names the program. Exit status 1 if anything differs.
"""

import os
import sys
import tempfile

import numpy as np

from bouma_reader import Damage, Dataset
from compare_golden import bouma, compare, compare_lossy, finish, report, same

random = np.random.default_rng(5)


def positions(count, axes, dtype, strays=0):
    found = (random.normal(size=(count, axes))**3).astype(dtype)
    for value in [np.nan, np.inf, -np.inf, np.nan][:strays]:
        found[random.integers(count), random.integers(axes)] = value
    return found


def plain(where):
    """Columns as programs have them, with a number for each particle."""
    count, x = len(where), where[:, 0].astype("f8")
    speed = where[:, :1] * [[1, 2, 3]] + random.normal(size=(count, 3))
    speed[random.integers(count, size=3), range(3)] = np.inf, np.nan, -np.inf
    return {"position": where, "number": random.permutation(count).astype("u8") + np.uint64(2**63),
            "mass": np.abs(3 * x).astype("f4"), "kind": random.integers(-4, 5, count).astype("i1"), "speed": speed,
            "pair": random.integers(0, 65536, (count, 2)).astype("u2")}


def extreme(where):
    """Columns at the ends of what there is."""
    count, x = len(where), where[:, 0].astype("f8")
    wild = random.random((count, 2)) < 0.03
    special = np.array([np.nan, np.inf, -np.inf, 1e30, -0.0])[random.integers(5, size=count)]
    columns = {
        "position": where, "number": np.arange(count, dtype="u4"),
        "half nan": np.where(x > 0.2, x, np.nan).astype("f4"), "all nan": np.full(count, np.nan),
        "only infinite": np.where(x > 0.4, np.inf, np.nan), "some infinite": np.where(x > 0.4, -np.inf, 3.5),
        "i64": random.integers(-2**63, 2**63 - 1, count, endpoint=True),
        "u64": random.integers(0, 2**64 - 1, count, endpoint=True, dtype="u8"),
        "huge": np.where(x > 0, 1.7e308, -1.7e308) * random.random(count),
        "tiny": random.integers(1000, size=count) * 5e-324,
        "tiny f32": (random.integers(-999, 999, count) * 1.4e-45).astype("f4"),
        "zeros": np.where(x > 0, 0.0, -0.0), "constant": np.full(count, 2.5, "f4"),
        "mixed": np.where(wild[:, 0], special, random.normal(size=count)).astype("f4"),
        "far": np.where(wild, 1e300, 100 * random.normal(size=(count, 2))),
        "walk": np.cumsum(random.integers(-40, 40, count)).astype("f8")}
    columns["i64"][:2] = -2**63, 2**63 - 1
    columns["u64"][:2] = 0, 2**64 - 1
    return columns


def tolerances(text):
    return [word for pair in text.split(",") for word in ("--tolerance-of", pair.strip())]


def sets():
    """(columns, options of import)."""
    yield plain(positions(9000, 3, "f4")), []
    yield plain(positions(5000, 3, "f8", strays=4)), ["--files", "3"]
    yield plain(positions(4000, 2, "f4", strays=4)), [
        "--files", "3", "--position-tolerance", "1e-4", *tolerances("mass=1e-3, speed=0.01")]
    yield plain(positions(3000, 1, "f8", strays=2)), [
        "--files", "2", "--position-tolerance", "1e-4", "--order", "chunk", *tolerances("mass=1e-3, speed=0.01")]
    yield plain(positions(900, 3, "f8", strays=1)), [
        "--files", "5", "--codec", "raw", "--order", "chunk", "--leaf", "1"]
    yield plain(positions(40, 3, "f4")), ["--files", "7", "--leaf", "2"]
    yield plain(positions(5000, 3, "f8", strays=4)), ["--files", "3", "--codec", "exact"]
    yield extreme(positions(3000, 3, "f4")), ["--files", "2", "--codec", "exact"]
    yield {"position": np.full((3, 1), np.nan), "number": np.arange(3)}, []
    yield {"position": positions(1, 3, "f8"), "number": np.arange(1)}, []
    yield extreme(positions(2000, 3, "f4")), ["--files", "3"]
    yield extreme(positions(2000, 3, "f4", strays=1)), ["--files", "3", "--leaf", "10", *tolerances(
        "half nan=1e-9, all nan=0.1, only infinite=1, some infinite=0.25, huge=1e290, tiny=1e-310, tiny f32=1e-20, "
        "zeros=0.5, constant=0.1, mixed=1e-3, far=1e-6, walk=1")]
    yield extreme(positions(2000, 2, "f8")), ["--files", "2", "--position-tolerance", "0.3", *tolerances(
        "half nan=1e37, all nan=1e300, huge=1e300, tiny=1e-300, tiny f32=1e-40, zeros=1e-200, constant=1e-7, "
        "mixed=1e-6, far=1e-13, walk=4")]


def compare_given(path, columns):
    """All particles are there, within their bounds; 'number' tells which is which."""
    step = Dataset(path).open(0)
    particles = step.particles["dust"]
    found = particles.read()
    report(same(np.sort(found["number"]), np.sort(columns["number"])), f"{path}: other particles")
    order = np.argsort(columns["number"])[np.argsort(np.argsort(found["number"]))]
    for variable in particles.variables.values():
        what, given = f"{path} {variable.name}", columns[variable.name][order]
        values = found[variable.name].reshape(given.shape)
        if variable.codec == "quantise":
            compare_lossy(what, step, values, given, variable)
        else:
            report(same(values, given), f"{what}: not what was given")


def main():
    if len(sys.argv) != 1 or "BOUMA" not in os.environ:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        for i, (columns, options) in enumerate(sets()):
            source, path = os.path.join(scratch, "given.npz"), os.path.join(scratch, f"{i}.bouma")
            try:
                np.savez(source, **columns)
                bouma("import", source, "--particles", "dust", "--into", path, *options)
                compare_given(path, columns)
                compare(path, scratch)
            except (Damage, RuntimeError, KeyError) as error:
                report(False, f"{path} {' '.join(options)}: {error}")
    return finish({"quantise": 200000, "zstd": 500000, "raw": 20000, "exact": 50000})


if __name__ == "__main__":
    sys.exit(main())
