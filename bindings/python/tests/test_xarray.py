"""xarray and Dask as they are, on datasets of bouma."""
import pickle

import numpy as np
import pytest

import bouma

xr = pytest.importorskip("xarray")


@pytest.fixture
def truth(example):
    ds = bouma.open(example)
    return np.stack([step["flow/density"][...] for step in ds])


def test_open(example, truth):
    ds = xr.open_dataset(example, engine="bouma")
    assert dict(ds.sizes) == {"time": 3, "z": 32, "y": 32, "x": 32, "component": 3}
    assert ds.density.dims == ("time", "z", "y", "x") and ds.velocity.dims[-1] == "component"
    assert ds.density.attrs["units"] == "kg/m^3" and ds.x.attrs["units"] == "m"
    assert np.allclose(ds.time, [0, 0.1, 0.2]) and list(ds.step.values) == [0, 10, 20]
    assert np.array_equal(ds.x, np.arange(32) / 32)
    assert ds.attrs["code"] == "example"
    assert np.array_equal(ds.density, truth)
    ds.close()
    with pytest.raises(bouma.ClosedError):
        bouma_closed = xr.open_dataset(example, engine="bouma")
        bouma_closed.close()
        bouma_closed.density.values


def test_found_by_name(example):
    assert xr.open_dataset(example).density.shape == (3, 32, 32, 32)  # no engine given


def test_nothing_is_read_before_it_is_used(example):
    ds = bouma.open(example)
    lazy = ds.to_xarray()
    before = ds._info().bytes_read
    part = lazy.density.isel(time=1, z=3).sel(y=slice(0.2, 0.4))
    assert ds._info().bytes_read == before
    part.load()
    assert ds._info().bytes_read > before


def test_levels(example, truth):
    ds = xr.open_dataset(example, engine="bouma", level=2)
    assert np.array_equal(ds.density, truth[:, ::4, ::4, ::4])
    assert np.array_equal(ds.z, np.arange(0, 32, 4) / 32) and ds.attrs["level"] == 2
    with pytest.raises(ValueError, match="no level 9; there are 0 to 3"):
        xr.open_dataset(example, engine="bouma", level=9)


def test_indexing_as_numpy(example, truth):
    ds = xr.open_dataset(example, engine="bouma")
    memory = xr.DataArray(truth, dims=ds.density.dims)
    rng = np.random.default_rng(3)
    for _ in range(200):
        key = {}
        for dim, n in memory.sizes.items():
            kind = rng.integers(5)
            if kind == 0:
                key[dim] = int(rng.integers(-n, n))
            elif kind == 1:
                a, b = sorted(rng.integers(0, n + 1, 2))
                key[dim] = slice(int(a), int(b), int(rng.integers(1, 5)))
            elif kind == 2:
                key[dim] = slice(None, None, -int(rng.integers(1, 4)))
            elif kind == 3:
                key[dim] = rng.integers(0, n, rng.integers(1, 6)).tolist()
        assert np.array_equal(ds.density.isel(key), memory.isel(key)), key
    points = {dim: xr.DataArray(rng.integers(0, n, 7), dims="p") for dim, n in memory.sizes.items()}
    assert np.array_equal(ds.density.isel(points), memory.isel(points))


def test_groups(tmp_path, example):
    path = str(tmp_path / "two.bouma")
    with bouma.create(path) as ds:
        ds.write({"a/v": np.zeros((4, 5)), "b/w": np.ones(6)})
    assert xr.open_dataset(path, engine="bouma", group="b").w.dims == ("time", "x")
    with pytest.raises(ValueError, match="a, b: give one of them as group="):
        xr.open_dataset(path, engine="bouma")
    with pytest.raises(KeyError, match="'c' in step 0; there are 'a', 'b'"):
        xr.open_dataset(path, engine="bouma", group="c")
    assert xr.open_dataset(path, engine="bouma", group="a", drop_variables="v").sizes["y"] == 4
    groups = __import__("bouma._xarray")._xarray.BoumaBackendEntrypoint().open_groups_as_dict(example)
    assert list(groups) == ["/", "/flow"] + ["/flow/%d" % k for k in range(4)]


def test_tree(example, truth):
    if not hasattr(xr, "open_datatree") or not hasattr(xr, "DataTree"):
        pytest.skip("this xarray has no DataTree")
    tree = xr.open_datatree(example, engine="bouma")
    assert np.array_equal(tree["flow/1"].density, truth[:, ::2, ::2, ::2])
    assert set(tree["flow"].children) == {"0", "1", "2", "3"}


def test_there_and_back(tmp_path, example, truth):
    ds = bouma.open(example).to_xarray()
    path = str(tmp_path / "copy.bouma")
    bouma.from_xarray(ds, path, group="flow")
    again = bouma.open(path).to_xarray()
    assert np.array_equal(again.density, truth) and np.array_equal(again.velocity, ds.velocity)
    assert list(again.step.values) == [0, 10, 20] and np.array_equal(again.x, ds.x)
    assert again.density.attrs["units"] == "kg/m^3" and again.attrs["code"] == "example"
    bouma.from_xarray(ds.density.isel(time=0, drop=True), str(tmp_path / "one.bouma"), tolerance=1e-3)
    one = bouma.open(str(tmp_path / "one.bouma"))[0]["grid/density"]
    assert one.tolerance == 1e-3 and np.abs(one[...] - truth[0]).max() <= 1e-3


def test_what_cannot_be_written(tmp_path):
    path = str(tmp_path / "no.bouma")
    with pytest.raises(ValueError, match="not evenly spaced"):
        bouma.from_xarray(xr.DataArray(np.zeros(3), dims="x", coords={"x": [0, 1, 5]}), path)
    with pytest.raises(ValueError, match="1 to 3 axes of space, not 4"):
        bouma.from_xarray(xr.DataArray(np.zeros((2, 2, 2, 2)), dims=("w", "z", "y", "x")), path)
    with pytest.raises(ValueError, match="different axes"):
        bouma.from_xarray(xr.Dataset({"a": ("x", [0.0]), "b": ("y", [1.0])}), path)
    with pytest.raises(TypeError, match="convert dates"):
        times = np.array(["2026-01-01"], "M8[ns]")
        bouma.from_xarray(xr.DataArray(np.zeros((1, 3)), dims=("time", "x"), coords={"time": times}), path)


def test_dask(example, truth):
    pytest.importorskip("dask")
    ds = xr.open_dataset(example, engine="bouma", chunks={})
    assert ds.density.data.chunksize == (1, 16, 16, 16)
    assert bouma.open(example).to_xarray(chunks={}).density.data.chunksize == (1, 16, 16, 16)
    assert np.isclose(float(ds.density.mean()), truth.mean())
    assert np.array_equal(ds.density.max("time"), truth.max(0))
    again = xr.open_dataset(example, engine="bouma", chunks={})
    assert ds.density.data.name == again.density.data.name  # the same tokens
    lazy = pickle.loads(pickle.dumps(bouma.open(example).to_xarray()))
    assert np.array_equal(lazy.density, truth)


def test_a_series_whose_shape_changes(tmp_path):
    path = str(tmp_path / "changes.bouma")
    with bouma.create(path) as ds:
        ds.write({"g/v": np.zeros(8, "f4")})
    with bouma.append(path) as ds:
        ds.write({"g/v": np.ones(9, "f4")})
    with pytest.raises(ValueError, match="has shape"):
        bouma.open(path)["g/v"][:, 0]
    assert bouma.open(path)["g/v"][1:, 0] == [1]


@pytest.mark.parametrize("step", [("step", [1, 2, 3]), 5, ("time", [0.5, 1.5, 2.5, 3.5])])
def test_a_step_that_is_something_else(tmp_path, step):
    axes = ("time", "step", "x") if isinstance(step, tuple) and step[0] == "step" else ("time", "x")
    shape = tuple({"time": 4, "step": 3, "x": 8}[one] for one in axes)
    data = xr.Dataset({"T": (axes, np.arange(np.prod(shape), dtype="f8").reshape(shape))},
                      coords={"time": np.arange(4.0), "step": step})
    bouma.from_xarray(data, tmp_path / "d.bouma")
    ds = bouma.open(tmp_path / "d.bouma")
    assert list(ds.steps) == [0, 1, 2, 3] and np.array_equal(ds["grid/T"][...], data["T"].values)


def test_one_time_is_a_step_at_that_time(tmp_path, example, truth):
    ds = bouma.open(example).to_xarray()
    for i, data in enumerate((ds.isel(time=2), ds.density.isel(time=2), ds.sel(time=0.2))):
        bouma.from_xarray(data, tmp_path / ("%d.bouma" % i))
        one = bouma.open(tmp_path / ("%d.bouma" % i))
        assert list(one.times) == [ds.time.values[2]] and list(one.steps) == [20]
        assert np.array_equal(one["grid/density"][0], truth[2])


@pytest.mark.parametrize("coords, time", [({}, 0.0), ({"time": 2.5}, 2.5), ({"time": 3, "step": 1.5}, 3.0),
                                          ({"step": 7}, 0.0)])
def test_the_time_of_data_without_an_axis_of_time(tmp_path, coords, time):
    bouma.from_xarray(xr.DataArray(np.ones(8), dims="x", coords=coords), tmp_path / "d.bouma")
    ds = bouma.open(tmp_path / "d.bouma")
    assert list(ds.times) == [time] and list(ds.steps) == [0]


def test_one_date_is_refused_as_many_are(tmp_path):
    data = xr.DataArray(np.ones(8), dims="x", coords={"time": np.datetime64("2026-01-01", "ns")})
    with pytest.raises(TypeError, match="convert dates"):
        bouma.from_xarray(data, tmp_path / "d.bouma")
