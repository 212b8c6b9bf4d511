"""The dataset of the tests of views: what the Python package reads is what clients must get."""
import numpy as np

import bouma

COUNT = 40000


def write(path, steps=3):
    """A grid with edges that are no multiple of a chunk, a vector, integers, a plane, particles in clusters."""
    rng = np.random.default_rng(3)
    shape = (20, 70, 130)
    z, y, x = np.mgrid[tuple(slice(n) for n in shape)]
    with bouma.create(path, durability="fast") as ds:
        ds.attrs["code"] = "views"
        ds.attrs["runs"] = 2
        flow = ds.grid("flow", shape=shape, origin=(1, 2, 3), spacing=(0.5, 0.25, 0.125), patch=(16, 16, 16), levels=3,
                       unit="mm")
        flow.attrs["code"] = "flow"
        rho = flow.variable("rho", "f4", unit="kg/m^3")
        rho.attrs["long_name"] = "density"
        v = flow.variable("v", "f8", components=3, unit="m/s")
        kind = flow.variable("kind", "i8")
        plane = ds.grid("plane", shape=(40, 50), patch=(16, 16), levels=2, unit="furlong")
        height = plane.variable("height", "u2")
        curve = ds.grid("curve", shape=(20, 30, 70), layout="hz", levels=3)
        wave = curve.variable("wave", "f4")
        dust = ds.particles("dust", ndims=3, dtype="f8", unit="um")
        dust.variable("T", "f4", unit="K").variable("id", "i8").variable("kind", "u1").variable("v", "f8", components=2)
        for i in range(steps):
            with ds.step(10 * i, time=0.5 * i):
                rho.put((np.sin(x / 9 + i) * y + z).astype("f4"))
                v.put(np.stack([x, y + i, z * 0.1], axis=-1).astype("f8"))
                if i:
                    kind.put((x + y * z).astype("i8") * (i + 1))
                height.put((np.add.outer(np.arange(40), np.arange(50)) + i).astype("u2"))
                wave.put((z + x * y + i)[:, :30, :70].astype("f4"))
                where = rng.random((COUNT, 3))
                where[: COUNT // 2] = 0.7 + 0.01 * rng.normal(size=(COUNT // 2, 3))
                dust.put(position=100 * where - 20, T=rng.normal(300, 20, COUNT).astype("f4"),
                         id=np.arange(COUNT, dtype="i8"), kind=rng.integers(0, 200, COUNT).astype("u1"),
                         v=rng.normal(size=(COUNT, 2)))
    return path
