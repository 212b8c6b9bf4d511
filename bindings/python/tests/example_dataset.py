"""What tests and docstrings share: a dataset with grids and particles."""
import os

import numpy as np
import pytest

import bouma


def write_example(path):
    """Three steps with a grid 'flow' and particles 'coal'."""
    rng = np.random.default_rng(7)
    z, y, x = np.mgrid[0:32, 0:32, 0:32] / 32
    with bouma.create(path, durability="fast") as ds:
        ds.attrs["code"] = "example"
        flow = ds.grid("flow", shape=(32, 32, 32), spacing=1 / 32, patch=(16, 16, 16), levels=4, unit="m")
        density = flow.variable("density", "f4", unit="kg/m^3")
        velocity = flow.variable("velocity", "f8", components=3, unit="m/s")
        coal = ds.particles("coal", ndims=3, dtype="f4", unit="m")
        coal.variable("T", "f4", unit="K").variable("type", "i4")
        for i in range(3):
            with ds.step(10 * i, time=0.1 * i) as step:
                step.attrs["dt"] = 0.1
                density.put((np.sin(7 * x + i) * y + z).astype("f4"))
                velocity.put(np.stack([x, y, z + i], axis=-1))
                coal.put(position=rng.random((1000, 3), "f4"), T=rng.normal(300, 50, 1000).astype("f4"),
                         type=rng.integers(0, 4, 1000).astype("i4"))
    return path


@pytest.fixture
def example(tmp_path):
    return write_example(str(tmp_path / "run.bouma"))


@pytest.fixture(autouse=True)
def doctests(request, doctest_namespace, tmp_path, monkeypatch):
    """Docstrings run in an empty folder, with the dataset 'example'."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
        doctest_namespace["example"] = write_example(os.path.join(str(tmp_path), "run.bouma"))
