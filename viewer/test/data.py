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


def write(path, n=64, count=50000, steps=3):
    rng = np.random.default_rng(1)
    with bouma.create(path, clobber=True) as ds:
        flow = ds.grid("flow", shape=(n, n, n), patch=(32, 32, 32), spacing=1 / n, unit="m")
        density = flow.variable("density", "f4", unit="kg/m^3")
        # Each side has its own length, and a hole has no values.
        slab = ds.grid("slab", shape=(20, 40, 64), spacing=(1, 2, 1))
        holes = slab.variable("holes", "f4")
        coal = ds.particles("coal", ndims=3, unit="m").variable("T", "f4", unit="K")
        for i in range(steps):
            p = rng.random((count, 3)).astype("f4")
            with ds.step(10 * i, time=0.1 * i):
                density.put(fields(n, i))
                z, y, x = np.mgrid[0:20, 0:40, 0:64].astype("f4")
                holes.put(np.where((x > 20) & (x < 30) & (y < 10), np.nan, x + 3 * y - z + i).astype("f4"))
                coal.put({"position": p, "T": (300 + 900 * p[:, 0] + rng.normal(0, 30, count)).astype("f4")})


def plume(path):
    """For pictures."""
    write(path, n=128, count=6000, steps=5)


def follow(path):
    with bouma.create(path, clobber=True) as ds:
        density = ds.grid("flow", shape=(32, 32, 32)).variable("density", "f4")
        i = 0
        for _ in sys.stdin:
            with ds.step(i, time=float(i)):
                density.put(fields(32, i))
            print(i, flush=True)
            i += 1


def empty(path):
    bouma.create(path, clobber=True).close()


def dust(path):
    """Particles only, in two axes; and a step without any."""
    rng = np.random.default_rng(2)
    with bouma.create(path, clobber=True, durability="fast") as ds:
        ice = ds.particles("ice", ndims=2, unit="km").variable("mass", "f4", unit="g")
        for i in range(3):
            with ds.step(i, time=float(i)):
                n = 2000 if i < 2 else 0
                ice.put({"position": rng.random((n, 2)).astype("f4"), "mass": rng.random(n).astype("f4")})


def wide(path):
    """200 variables of a grid and of particles, with long names and names that look like HTML."""
    odd = ["<img src=x onerror=hit()>", "a, b", "it's", 'say "hi"', "<b>bold&amp;", "100 %", "ü|ñ", "x" * 200]
    names = odd + [f"variable_with_a_rather_long_name_{i}" for i in range(200 - len(odd))]
    rng = np.random.default_rng(3)
    with bouma.create(path, clobber=True, durability="fast") as ds:
        grid = ds.grid("<i>grid", shape=(8, 8, 8), unit="<u>m</u>")
        variables = [grid.variable(name, "f4", unit="<s>K</s>") for name in names]
        swarm = ds.particles("swarm & co", ndims=3)
        for name in names:
            swarm.variable(name, "f4")
        with ds.step(0, time=0.0):
            for i, variable in enumerate(variables):
                variable.put(rng.random((8, 8, 8)).astype("f4") + i)
            swarm.put({"position": rng.random((500, 3)).astype("f4"), **{name: rng.random(500).astype("f4") for name in names}})


def long(path):
    """5,000 steps."""
    with bouma.create(path, clobber=True, durability="fast") as ds:
        value = ds.grid("cube", shape=(4, 4, 4)).variable("value", "f4")
        for i in range(5000):
            with ds.step(i, time=0.5 * i):
                value.put(np.arange(64, dtype="f4").reshape(4, 4, 4) + i)


def kinds_of_grids(path):
    """Grids of one to three axes, flat, tiny, in HZ order, with axes that go down; all kinds of values."""
    n = 48
    z, y, x = np.mgrid[0:n, 0:n, 0:n] / n
    r = np.sqrt((x - 0.25) ** 2 + (y - 0.25) ** 2 + (z - 0.25) ** 2)
    infinite = x + y + z
    infinite[0, 0, 0], infinite[1, 1, 1], infinite[2, 2, 2] = np.inf, -np.inf, np.nan
    ball = np.where(r < 0.2, 1 - 5 * r, 0).astype("f4")
    values = {
        "ball": ball, "height": z.astype("f4"), "infinite": infinite, "whole": (1000 * x).astype("i8"), "large": (x * 2**63).astype("u8") + np.uint64(2**62),
        "same": np.full((n, n, n), 3, "f4"), "nothing": np.full((n, n, n), np.nan, "f4"), "wind": np.stack([x - 0.5, 0.5 - y, z], -1).astype("f4"),
    }
    with bouma.create(path, clobber=True, durability="fast") as ds:
        cube = ds.grid("cube", shape=(n, n, n), patch=(8, 8, 8), spacing=(1, -2, 0.5), origin=(5, 0, 0))
        variables = {name: cube.variable(name, v.dtype.str[1:], components=3 if v.ndim == 4 else 1) for name, v in values.items()}
        others = {
            "hz/a": (ds.grid("hz", shape=(n, n, n), layout="hz"), ball), "thin/a": (ds.grid("thin", shape=(3, 300, 200)), np.random.default_rng(4).random((3, 300, 200), "f4")),
            "one/a": (ds.grid("one", shape=(1, 1, 1)), np.ones((1, 1, 1), "f4")), "image/a": (ds.grid("image", shape=(300, 700)), np.add.outer(np.arange(300), np.arange(700)).astype("f4")),
            "line/a": (ds.grid("line", shape=(20000,), spacing=0.5, unit="s"), np.sin(np.arange(20000) / 500).astype("f4")),
        }
        plain = {name: grid.variable("a", "f4") for name, (grid, _) in others.items()}
        dust = ds.particles("dust", ndims=3).variable("T", "f4")
        with ds.step(0, time=0.0):
            for name, v in values.items():
                variables[name].put(v)
            for name, (_, v) in others.items():
                plain[name].put(v)
            p = np.random.default_rng(5).random((4000, 3)).astype("f4") * np.array([24, -96, 48], "f4") + np.array([0, 0, 5], "f4")
            dust.put({"position": p, "T": p[:, 2].copy()})


kinds = {"kinds": kinds_of_grids, "vortex": write, "plume": plume, "follow": follow, "empty": empty, "dust": dust, "wide": wide, "long": long}
name = {"follow": "live", "wide": "wide <i>&"}.get(sys.argv[2], sys.argv[2])
kinds[sys.argv[2]](os.path.join(sys.argv[1], name + ".bouma"))
