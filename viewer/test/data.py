"""data.py DIRECTORY KIND -- datasets for the tests of the viewer. 'follow' is one that gets a step
more for each line of the standard input."""
import os
import sys

import numpy as np

import bouma


def fields(n, i):
    z, y, x = np.mgrid[0:n, 0:n, 0:n] / n
    r = np.hypot(x - 0.5 + 0.15 * np.sin(6 * z + i), y - 0.5 + 0.15 * np.cos(6 * z + i))
    return (np.exp(-40 * r**2) * (1 + 0.3 * np.sin(20 * z + 3 * i))).astype("f4")


def write(path):
    n, count = 64, 50000
    rng = np.random.default_rng(1)
    with bouma.create(path, clobber=True) as ds:
        flow = ds.grid("flow", shape=(n, n, n), patch=(32, 32, 32), spacing=1 / n, unit="m")
        density = flow.variable("density", "f4", unit="kg/m^3")
        # Each side has its own length, and a hole has no values.
        slab = ds.grid("slab", shape=(20, 40, 64), spacing=(1, 2, 1))
        holes = slab.variable("holes", "f4")
        coal = ds.particles("coal", ndims=3, unit="m").variable("T", "f4", unit="K")
        for i in range(3):
            p = rng.random((count, 3)).astype("f4")
            with ds.step(10 * i, time=0.1 * i):
                density.put(fields(n, i))
                z, y, x = np.mgrid[0:20, 0:40, 0:64].astype("f4")
                holes.put(np.where((x > 20) & (x < 30) & (y < 10), np.nan, x + 3 * y - z + i).astype("f4"))
                coal.put({"position": p, "T": (300 + 900 * p[:, 0] + rng.normal(0, 30, count)).astype("f4")})


def follow(path):
    with bouma.create(path, clobber=True) as ds:
        density = ds.grid("flow", shape=(32, 32, 32)).variable("density", "f4")
        i = 0
        for _ in sys.stdin:
            with ds.step(i, time=float(i)):
                density.put(fields(32, i))
            print(i, flush=True)
            i += 1


kinds = {"vortex": write, "follow": follow}
name = {"follow": "live"}.get(sys.argv[2], sys.argv[2])
kinds[sys.argv[2]](os.path.join(sys.argv[1], name + ".bouma"))
