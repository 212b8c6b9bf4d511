#!/usr/bin/env python3
"""heat.py -- heat.c in Python: heat spreads from hot balls; each rank has some planes of the
grid, with ghost cells around them.

    mpirun -n 4 python3 heat.py [heat.bouma]

The temperature is handed over in place, among its ghost cells: a slice of an array is no copy.
The samples are, bit by bit, those of heat.c on as many ranks."""
import sys

import numpy as np
from mpi4py import MPI

import bouma

PLANES, N, ITERATIONS, EVERY = 32, 96, 60, 20
TOLERANCE = 0.05  # K
# z, y, x from the centre; radius, kelvin
BALLS = [((0, 0, 0), 20, 400), ((4, -26, 24), 9, 300), ((-2, 22, 28), 12, 200), ((1, 28, -24), 5, 500),
         ((3, -24, -28), 7, 350)]

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
inside = np.s_[1:-1, 1:-1, 1:-1]  # without the ghost cells


def start():
    t = np.zeros((PLANES + 2, N + 2, N + 2))
    z, y, x = np.ogrid[1:PLANES + 1, 1:N + 1, 1:N + 1]
    for at, radius, kelvin in BALLS:
        dz, dy, dx = rank * PLANES + z - ranks * PLANES // 2 - at[0], y - N // 2 - at[1], x - N // 2 - at[2]
        t[inside][dz**2 + dy**2 + dx**2 < radius**2] = kelvin
    return t


def exchange(t):
    """Get the ghost planes from the neighbours; all other ghost cells stay at zero."""
    below = rank - 1 if rank > 0 else MPI.PROC_NULL
    above = rank + 1 if rank < ranks - 1 else MPI.PROC_NULL
    comm.Sendrecv(t[1], below, 0, t[-1], above, 0)
    comm.Sendrecv(t[-2], above, 1, t[0], below, 1)


def advance(t):
    """One explicit step of dT/dt = div grad T, and the flux."""
    new, flux = np.zeros_like(t), np.empty((PLANES, N, N, 3), "f4")
    now = t[inside]
    new[inside] = now
    for axis in range(3):
        low = np.roll(t, 1, axis)[inside]
        high = np.roll(t, -1, axis)[inside]
        new[inside] += 0.15 * (low + high - 2 * now)
        flux[..., axis] = 0.5 * (low - high)
    return new, flux


def main(path):
    t = start()
    at = (rank * PLANES, 0, 0)
    with bouma.create(path, comm) as ds:
        cube = ds.grid("cube", (ranks * PLANES, N, N), patch=(32, 32, 32), unit="m")
        temperature = cube.variable("temperature", "f8", unit="K", tolerance=TOLERANCE)
        exact = cube.variable("exact", "f8", unit="K", codec="zstd")
        vector = cube.variable("flux", "f4", components=3, unit="K/m")
        ds.attrs["title"] = "hot balls in a cold box"
        for i in range(ITERATIONS + 1):
            exchange(t)
            new, flux = advance(t)
            if i % EVERY == 0:
                with ds.step(i, time=0.15 * i) as step:
                    step.attrs["iteration"] = float(i)
                    temperature.put(t[inside], at=at)
                    exact.put(t[inside], at=at)
                    if i == ITERATIONS:  # in other steps, it is absent
                        vector.put(flux, at=at)
                if rank == 0:
                    r = ds.record
                    print("step %2d: %.1f MiB are %.1f MiB in %d file(s)"
                          % (i, r["raw_bytes"] / 2**20, r["stored_bytes"] / 2**20, r["files"]))
            last, t = t, new

    # Read the last step back, each rank its own planes.
    with bouma.open(path, comm) as ds:
        back = ds[-1]["cube/temperature"].read([(at[0], at[0] + PLANES)], collective=True)
    error = np.abs(back - last[inside]).max()
    if error > TOLERANCE:
        sys.exit("heat.py: rank %d: an error of %g" % (rank, error))


main(sys.argv[1] if len(sys.argv) > 1 else "heat.bouma")
