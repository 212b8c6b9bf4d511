"""Pictures: what is drawn is what was stored, and no more than the figure can show."""
import subprocess
import sys

import numpy as np
import pytest

import bouma

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture
def step(example):
    yield bouma.open(example)[-1]
    plt.close("all")


def test_a_plane(step):
    v = step["flow/density"]
    image = v.plot()
    assert np.array_equal(image.get_array(), v[16])
    assert image.get_extent() == [-1 / 64, 1 - 1 / 64] * 2  # samples in the middle of their cells
    ax = image.axes
    assert (ax.get_xlabel(), ax.get_ylabel(), image.colorbar.ax.get_ylabel()) == ("x in m", "y in m",
                                                                              "density in kg/m^3")
    assert ax.get_title() == "flow/density, z = 0.5 m, step 20, time 0.2"
    ax.figure.canvas.draw()


def test_other_planes_and_lines(step):
    v = step["flow/velocity"]
    image = v.plot(y=0.3, level=1, colorbar=False, cmap="magma")
    a = v.level(1)[:, 5]
    assert np.allclose(image.get_array(), np.sqrt((a**2).sum(-1))) and image.get_cmap().name == "magma"
    assert image.colorbar is None and (image.axes.get_xlabel(), image.axes.get_ylabel()) == ("x in m", "z in m")
    assert image.axes.get_title() == "flow/velocity, y = 0.3125 m, step 20, time 0.2, level 1"
    figure, ax = plt.subplots()
    line = v.plot(y=0.3, x=0.1, component=2, ax=ax)
    assert line.axes is ax and np.array_equal(line.get_ydata(), v[:, 10, 3, 2])
    assert np.array_equal(line.get_xdata(), step.flow.coords["z"]) and ax.get_ylabel() == "velocity[2] in m/s"


def test_the_size_of_the_figure_chooses_the_level(step):
    truth, read = step["flow/density"][...], []
    for inches, level in ((4, 0), (0.3, 1), (0.1, 2), (0.05, 3), (0.02, 3)):
        ds = bouma.open(step.dataset.path)
        v = ds[-1]["flow/density"]
        before = ds._info().bytes_read
        figure = plt.figure(figsize=(inches, inches), dpi=100)
        image = v.plot(z=0.3, ax=figure.add_axes([0, 0, 1, 1]))
        nth = 1 << level
        nearest = min(range(0, 32, nth), key=lambda i: abs(i / 32 - 0.3))
        assert np.array_equal(image.get_array(), truth[nearest, ::nth, ::nth]), inches
        read.append(ds._info().bytes_read - before)
    assert read[0] > read[1] > read[2] > read[3]
    figure = plt.figure(figsize=(0.1, 0.1), dpi=100)
    image = step["flow/density"].plot(z=31 / 32, ax=figure.add_axes([0, 0, 1, 1]))  # behind the last sample of level 2
    assert np.array_equal(image.get_array(), truth[28, ::4, ::4])
    assert np.array_equal(step["flow/density"].sel(level=2, z=31 / 32), truth[28, ::4, ::4])


def test_grids_with_fewer_axes(tmp_path):
    with bouma.create(tmp_path / "d.bouma") as ds:
        ds.write({"line/a": np.arange(10.0), "plate/b": np.arange(12.0).reshape(3, 4)})
    step = bouma.open(tmp_path / "d.bouma")[0]
    line = step["line/a"].plot()
    assert list(line.get_ydata()) == list(range(10)) and line.axes.get_xlabel() == "x"
    assert step["plate/b"].plot().get_array().shape == (3, 4)
    assert list(step["plate/b"].plot(y=1).get_ydata()) == [4, 5, 6, 7]
    plt.close("all")


def test_particles(step):
    p = step.coal
    points = p.plot("T")
    assert np.array_equal(points.get_offsets(), p["position"][:, :2]) and np.array_equal(points.get_array(), p["T"])
    assert points.axes.get_title() == "coal, 1000 particles, step 20, time 0.2"
    assert points.colorbar.ax.get_ylabel() == "T in K"
    some = p.plot("position[2]", axes="zx", where="T > 300", box={"x": (0, 0.5)}, limit=100)
    at = np.asarray(some.get_offsets())
    assert len(at) == 100 and (at[:, 1] < 0.5).all() and np.array_equal(some.get_array(), at[:, 0].astype("f4"))
    assert some.axes.get_title().startswith("coal, 100 of 1000 particles")
    assert (some.axes.get_xlabel(), some.axes.get_ylabel()) == ("z in m", "x in m")
    solid = p.plot(axes="xyz", limit=50, color=None)
    assert solid.axes.get_zlabel() == "z in m" and solid.get_array() is None
    solid.axes.figure.canvas.draw()
    assert p.plot("position", limit=10).colorbar.ax.get_ylabel() == "|position| in m"


def test_wrong_pictures(step):
    v, p = step["flow/density"], step.coal
    with pytest.raises(ValueError, match="one or two axes, not 0"):
        v.plot(x=0, y=0, z=0)
    with pytest.raises(IndexError, match="z=3 is outside"):
        v.plot(z=3)
    with pytest.raises(TypeError, match="one position"):
        v.plot(z=slice(0, 1))
    with pytest.raises(IndexError, match="level 7"):
        v.plot(level=7)
    with pytest.raises(IndexError, match="component 1"):
        v.plot(component=1)
    with pytest.raises(IndexError, match="components 0 to 2"):
        step["flow/velocity"].plot(component=3)
    with pytest.raises(AttributeError, match="colour"):
        v.plot(colour="red")
    with pytest.raises(KeyError, match="did you mean 'coal/T'|there are"):
        p.plot("Temp")
    with pytest.raises(KeyError, match="axis 'w'"):
        p.plot(axes="xw")
    with pytest.raises(ValueError, match="different ones of xyz"):
        p.plot(axes="xx")
    with pytest.raises(IndexError, match="components 0 to 2"):
        p.plot("position[3]")


@pytest.mark.parametrize("module, call", [("matplotlib", "step.flow.density.plot()"),
                                          ("matplotlib", "step.coal.plot()"), ("yt", "step.to_yt()")])
def test_what_is_missing_is_named(example, module, call):
    program = ("import sys; sys.modules[%r] = None\nimport bouma; step = bouma.open(%r)[-1]\n"
               "try: %s\nexcept ImportError as error: print(error)" % (module, example, call))
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "needs %s: install python3-%s" % (module, module) in said


def test_nothing_is_imported_before_it_is_used(example):
    program = ("import sys, bouma; step = bouma.open(%r)[-1]; step.flow.density[0]; step.coal.query()\n"
               "assert not {'matplotlib', 'yt', 'xarray', 'pandas'} & set(sys.modules)" % example)
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_histogram(step):
    h = step.coal.histogram("T", bins=10)
    steps = h.plot(color="C3")
    assert np.array_equal(steps.get_data().values, h.counts) and steps.axes.get_xlabel() == "T in K"
    ax = step["flow/velocity"].histogram(8, component=2, exact=False).plot().axes
    assert ax.get_xlabel() == "velocity[2] in m/s" and len(ax.patches) == 2  # the band, too
    ax.figure.canvas.draw()
