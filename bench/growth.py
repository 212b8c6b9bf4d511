"""growth.py DIRECTORY MPIRUN BENCH_SCALE [--small] [--turns N] -- how cost grows with bytes, patches, particles, steps
and ranks.

Each curve is measured several times; every turn goes through all sizes, and beside each through a reference that
does the least that can be done. Times are those of processors, of all threads, and so hardly depend on other
programs; just those of ranks are on the clock, from a barrier to the end of the slowest rank. A straight line
through the logarithms, by least squares, gives the exponent of each turn: 1 is a cost in proportion. What costs the
same for small and large makes it smaller; so the exponent of the last two sizes is told, too."""
import argparse
import math
import os
import shutil
import subprocess
import time

import numpy as np

import bouma
from score import Score

MOST = 1.1  # of an exponent: a little noise above proportion


def exponent(x, y):
    """The slope of log y over log x, by least squares."""
    u, v = np.log(x), np.log(y)
    u = u - u.mean()
    return float((u * v).sum() / (u * u).sum())


def seconds_of(call):
    """Processor seconds, of this process."""
    begun = time.process_time()
    call()
    return max(time.process_time() - begun, 1e-9)


class Curve:
    """Cost over size, turn by turn, beside a reference."""

    def __init__(self, of, sizes, reference):
        self.of, self.sizes, self.reference = of, sizes, reference
        self.own = [[] for _ in sizes]
        self.other = [[] for _ in sizes]

    def add(self, k, own, other):
        self.own[k].append(own)
        self.other[k].append(other)

    def tell(self, score, name, most=MOST):
        """Its exponent, that of the end of the curve alone, and the ratio at the largest size."""
        turns = list(zip(*self.own))
        curve = {"of": self.of, "unit": "s", "x": self.sizes, "samples": self.own}
        curve["reference"] = {"name": self.reference, "samples": self.other}
        score.add(name + ": exponent", "", [exponent(self.sizes, turn) for turn in turns], at_most=most, curve=curve)
        ends = [exponent(self.sizes[-2:], turn[-2:]) for turn in turns]
        score.add(name + ": exponent of the last two sizes", "", ends, at_most=most)
        largest = "%s, %s %s" % (name, "{:,}".format(self.sizes[-1]), self.of)
        score.add(largest, "s", self.own[-1], reference=(self.reference, self.other[-1]))


def write_plain(path, *arrays):
    with open(path, "wb") as file:
        for array in arrays:
            file.write(memoryview(array).cast("B"))


def read_plain(path, *arrays):
    with open(path, "rb", buffering=0) as file:
        for array in arrays:
            file.readinto(memoryview(array).cast("B"))


def write_grid(path, array, patch):
    with bouma.create(path, clobber=True, durability="fast") as ds:
        v = ds.grid("g", array.shape, patch=patch).variable("v", array.dtype, codec="raw")
        with ds.step(0):
            v.put(array)


def grids(score, folder, turns, shapes, dtype, patch, of, sizes):
    """Writes and reads of grids that grow; the reference is a plain file."""
    path, plain = os.path.join(folder, "grid.bouma"), os.path.join(folder, "grid.raw")
    write, read = Curve(of, sizes, "a plain file"), Curve(of, sizes, "a plain file")
    for turn in range(-1, turns):  # one to warm up
        for k, shape in enumerate(shapes):
            array = np.random.default_rng(k).integers(0, 100, shape).astype(dtype)
            back = np.zeros_like(array)
            times = [seconds_of(lambda: write_grid(path, array, patch)), seconds_of(lambda: write_plain(plain, array))]
            times.append(seconds_of(lambda: bouma.open(path)[0]["g/v"].read(out=back)))
            assert np.array_equal(array, back)
            times.append(seconds_of(lambda: read_plain(plain, back)))
            if turn >= 0:
                write.add(k, *times[:2])
                read.add(k, *times[2:])
            shutil.rmtree(path)
    write.tell(score, "write")
    read.tell(score, "read")


def write_particles(path, columns):
    with bouma.create(path, clobber=True, durability="fast") as ds:
        dust = ds.particles("dust", ndims=3).variable("T", "f4")
        with ds.step(0):
            dust.put(columns)


def particles(score, folder, turns, sizes):
    path, plain = os.path.join(folder, "dust.bouma"), os.path.join(folder, "dust.raw")
    write, read = Curve("particles", sizes, "a plain file"), Curve("particles", sizes, "a plain file")
    for turn in range(-1, turns):
        for k, count in enumerate(sizes):
            rng = np.random.default_rng(k)
            columns = {"position": rng.random((count, 3), "f4"), "T": rng.random(count, "f4")}
            arrays = list(columns.values())
            times = [seconds_of(lambda: write_particles(path, columns)), seconds_of(lambda: write_plain(plain, *arrays))]
            found = []
            times.append(seconds_of(lambda: found.append(bouma.open(path)[0].particles["dust"].query())))
            assert np.isclose(found[0]["T"].sum(dtype="f8"), columns["T"].sum(dtype="f8"))
            times.append(seconds_of(lambda: read_plain(plain, *arrays)))
            if turn >= 0:
                write.add(k, *times[:2])
                read.add(k, *times[2:])
            shutil.rmtree(path)
    write.tell(score, "write")
    read.tell(score, "read")


def steps(score, folder, turns, sizes):
    """Opening and listing a dataset that grows, and writing its steps; the reference lists a directory."""
    path = os.path.join(folder, "steps.bouma")
    listed, opened = Curve("steps", sizes, "a list of their directory"), Curve("steps", sizes, "a list of their directory")
    small = np.zeros(8, "f4")
    with bouma.create(path, clobber=True, durability="fast") as ds:
        v = ds.grid("g", (8,)).variable("v", "f4", codec="raw")
        done = 0
        for k, count in enumerate(sizes):
            for i in range(done, count):
                with ds.step(i):
                    v.put(small)
            done = count
            for turn in range(-1, turns):
                found = []
                own = seconds_of(lambda: found.append(len(bouma.open(path).steps)))
                first = seconds_of(lambda: bouma.open(path)[0]["g/v"][:])
                other = seconds_of(lambda: os.listdir(os.path.join(path, "steps")))
                assert found == [count]
                if turn >= 0:
                    listed.add(k, own, other)
                    opened.add(k, first, other)
    listed.tell(score, "opening and listing")
    opened.tell(score, "opening and reading one")


def step_on(mpirun, program, ranks, folder, side):
    """Seconds of a step after the first."""
    call = [mpirun, "-n", str(ranks), program, "--directory", folder, "--steps", "5", "--side", str(side)]
    environment = dict(
        os.environ,
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        OMPI_MCA_mpi_yield_when_idle="1",
    )
    out = subprocess.run(call, env=environment, stdout=subprocess.PIPE, check=True, text=True, timeout=600).stdout
    return float(out.split()[1])


def ranks(score, folder, turns, sizes, mpirun, program, side):
    """A step of the same grid by more ranks, on the clock; the reference is one rank, in the same turn."""
    curve = Curve("ranks", sizes, "one rank")
    for _ in range(turns):
        found = [step_on(mpirun, program, count, folder, side) for count in sizes]
        for k, seconds in enumerate(found):
            curve.add(k, seconds, found[0])
    curve.tell(score, "a step of %d^3 f32, on the clock" % side, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("directory")
    parser.add_argument("mpirun")
    parser.add_argument("program")
    parser.add_argument("--small", action="store_true", help="just to see that it works")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    edges, patches, counts = [64, 96, 128, 192, 256], [(5, 5, 4), (10, 10, 10), (25, 20, 20), (50, 50, 40)], [4, 5, 6]
    numbers, side = [1, 2, 4, 8, 16], 128
    most_steps, turns = 10000, given.turns
    if given.small:
        edges, patches, counts, numbers, side = [8, 16, 32], patches[:2], [2, 3, 4], [1, 2], 16
        most_steps, turns = 100, 1
    score = Score("growth", edge=edges[-1], steps=most_steps, ranks=numbers[-1], particles=10 ** counts[-1])
    score.part("bytes: grids of f32 in raw patches")
    sizes = [4 * edge**3 for edge in edges]
    grids(score, given.directory, turns, [(edge,) * 3 for edge in edges], "f4", None, "bytes", sizes)
    score.part("patches of 8^3 bytes")
    shapes = [tuple(8 * n for n in shape) for shape in patches]
    grids(score, given.directory, turns, shapes, "u1", (8, 8, 8), "patches", [math.prod(p) for p in patches])
    score.part("particles of 16 bytes")
    particles(score, given.directory, turns, [10**n for n in counts])
    score.part("steps")
    steps(score, given.directory, turns, [10**n for n in range(1, 6) if 10**n <= most_steps])
    score.part("ranks")
    ranks(score, given.directory, turns, numbers, given.mpirun, given.program, side)
    score.end()


if __name__ == "__main__":
    main()
