"""datasets.py PATH -- a dataset with three grids and two sets of particles, of many types."""
import sys

import bouma
import numpy as np

SHAPE = (21, 30, 37)  # z, y, x: no powers of two, and all different
ORIGIN, SPACING = (-1.0, 2.0, 0.5), (0.25, 0.5, 0.125)
TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


def values(time):
    """The variables of the grid 'box'."""
    z, y, x = np.mgrid[0:SHAPE[0], 0:SHAPE[1], 0:SHAPE[2]]
    code = x + 37 * y + 37 * 30 * z
    found = {"a_" + t: (code % 120 + int(10 * time)).astype(t) for t in TYPES}
    found["velocity"] = np.stack([x + time, 100 + y, 10000 + z], axis=-1).astype("f4")
    found["pair"] = np.stack([code, -code], axis=-1).astype("i4")
    holes = np.where(code % 7 == 3, np.nan, code + time).astype("f8")
    holes[0, 0, :4] = [np.inf, -np.inf, -0.0, np.nan]
    found["holes"] = holes
    r = np.sqrt((x / 36 - 0.5)**2 + (y / 29 - 0.5)**2 + (z / 20 - 0.5)**2)
    found["bump"] = np.exp(-8 * r**2).astype("f4")
    return found


def plate(time):
    y, x = np.mgrid[0:18, 0:50]
    return {"heat": (x * 100 + y + time).astype("f8"), "wind": np.stack([x, y], axis=-1).astype("f4")}


def dust(time):
    rng = np.random.default_rng(5)
    n = 6000
    at = np.concatenate([rng.random((n // 2, 3)), 0.1 * rng.random((n // 2, 3)) + [0.7, 0.2, 0.5]]) + time / 10
    return {"position": at.astype("f4"), "T": rng.normal(300, 50, n).astype("f4"),
            "velocity": rng.normal(0, 1, (n, 3)), "id": np.arange(n, dtype="i8"),
            "type": (np.arange(n) % 4).astype("u1")}


def write(path):
    with bouma.create(path, clobber=True) as ds:
        box = ds.grid("box", shape=SHAPE, origin=ORIGIN, spacing=SPACING, unit="m")
        writers = {name: box.variable(name, a.dtype, components=1 if a.ndim == 3 else a.shape[3],
                                      unit="m/s" if name == "velocity" else None) for name, a in values(0).items()}
        flat = ds.grid("plate", shape=(18, 50), spacing=(2.0, 3.0))
        heat, wind = flat.variable("heat", "f8"), flat.variable("wind", "f4", components=2)
        rod = ds.grid("rod", shape=(5,), origin=(3.0,), spacing=(0.5,)).variable("v", "f8")
        cloud = ds.particles("dust", ndims=3).variable("T", "f4", unit="K").variable("velocity", "f8", components=3)
        cloud = cloud.variable("id", "i8").variable("type", "u1")
        film = ds.particles("film", ndims=2).variable("id", "i8")
        for i in range(3):
            time = 0.1 * i
            with ds.step(10 * i, time=time):
                for name, array in values(time).items():
                    writers[name].put(array)
                heat.put(plate(time)["heat"])
                wind.put(plate(time)["wind"])
                cloud.put(dust(time))
                rod.put(np.arange(5) + time)
                at = np.random.default_rng(6).random((500, 2)).astype("f4")
                at[[7, 8], 0] = np.nan, np.inf
                film.put({"position": at, "id": np.arange(500)})


def append(path, number):
    """A small dataset that grows."""
    with (bouma.append if number else bouma.create)(path) as ds:
        ds.write({"g/v": np.full((8, 8, 8), number, "f4")}, step=number, time=0.5 * number)


if __name__ == "__main__":
    write(sys.argv[1])
