"""v[...] is what NumPy gives, for any index; and it reads no more than it must."""
import numpy as np
import pytest

import bouma

SHAPES = [(37,), (19, 26), (13, 9, 21)]
CODECS = [("zstd", "patch"), ("raw", "hz"), ("interp", "patch"), ("wavelet", "patch")]


def values(shape, components, dtype, rng):
    whole = shape + ((components,) if components > 1 else ())
    return (rng.normal(0, 100, whole)).astype(dtype)


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    """Pairs of a variable and all of its values."""
    path = str(tmp_path_factory.mktemp("slicing") / "all.bouma")
    rng = np.random.default_rng(1)
    data = {}
    with bouma.create(path, durability="fast") as ds:
        for shape in SHAPES:
            for codec, layout in CODECS:
                for components, dtype in ((1, "f4"), (3, "f8"), (1, "i2")):
                    if codec in ("interp", "wavelet") and dtype == "i2":
                        continue
                    grid = "g%d_%s_%d_%s" % (len(shape), codec, components, dtype)
                    made = ds.grid(grid, shape, patch=(8,) * len(shape) if layout == "patch" else None, layout=layout)
                    lossy = {"tolerance": 0.5} if codec in ("interp", "wavelet") else {}
                    made.variable("v", dtype, components=components, codec=codec, **lossy)
                    data[grid + "/v"] = values(shape, components, dtype, rng)
        ds.write(data)
    step = bouma.open(path)[0]
    found = []
    for name, wrote in data.items():
        whole = step[name].read()
        limit = step[name].tolerance
        assert np.abs(whole - wrote).max() <= limit * 1.0001, name
        found.append((step[name], whole))
    return found


def random_slice(n, rng):
    ends = [None if rng.random() < 0.3 else int(rng.integers(-n - 2, n + 3)) for _ in range(2)]
    step = rng.choice([None, 1, 1, 2, 2, 3, 4, 8, 16, -1, -2, -3])
    return slice(ends[0], ends[1], None if step is None else int(step))


def random_index(shape, rng):
    """An index that NumPy and h5py have in common, but for lists."""
    key = []
    for n in shape:
        if rng.random() < 0.3:
            key.append(int(rng.integers(-n, n)))
        elif rng.random() < 0.2:
            k = int(rng.integers(0, 4))
            key.append(slice(int(rng.integers(0, 2)) << k, None, 1 << k))
        else:
            key.append(random_slice(n, rng))
    chance = rng.random()
    if chance < 0.2:
        key = key[:int(rng.integers(0, len(key) + 1))]
    elif chance < 0.4:
        at = int(rng.integers(0, len(key) + 1))
        gone = int(rng.integers(0, len(key) - at + 1))
        key[at:at + gone] = [Ellipsis]
    return key[0] if len(key) == 1 and rng.random() < 0.5 else tuple(key)


def same(got, wanted):
    assert np.shape(got) == np.shape(wanted)
    assert np.asarray(got).dtype == np.asarray(wanted).dtype
    assert np.array_equal(got, wanted)


def test_slices_are_those_of_numpy(variables):
    rng = np.random.default_rng(2)
    for trial in range(3000):
        v, whole = variables[trial % len(variables)]
        key = random_index(v.shape, rng)
        try:
            same(v[key], whole[key])
        except AssertionError as error:
            raise AssertionError("%s[%r] in trial %d: %s" % (v.path, key, trial, error)) from None


def test_levels_are_sliced_like_arrays(variables):
    rng = np.random.default_rng(3)
    for trial in range(600):
        v, _ = variables[trial % len(variables)]
        level = int(rng.integers(0, v.levels))
        part = v.level(level)
        whole = v.read(level=level)
        key = random_index(part.shape, rng)
        same(part.shape, whole.shape)
        same(part[key], whole[key])


def test_a_level_is_the_multiples_unless_it_has_averages(variables):
    for v, whole in variables:
        for level in range(v.levels):
            step = (slice(None, None, 1 << level),) * len(v.grid.shape)
            same(v[step], whole[step])
            if not v.averages:
                same(v.level(level)[...], whole[step])


def test_lists_and_masks_are_those_of_h5py(variables):
    rng = np.random.default_rng(4)
    for trial in range(400):
        v, whole = variables[trial % len(variables)]
        axis = int(rng.integers(0, v.ndim))
        n = v.shape[axis]
        if trial % 3 == 0:
            chosen = rng.random(n) < 0.3
        else:
            chosen = rng.integers(-n, n, int(rng.integers(0, 6)))
            chosen = np.sort(chosen % n) if trial % 3 == 1 else chosen
        key = [random_slice(n, rng) for n in v.shape]
        wanted = whole[tuple(slice(None) if i == axis else one for i, one in enumerate(key))]
        key[axis] = chosen if rng.random() < 0.5 else chosen.tolist()
        picked = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        same(v[tuple(key)], np.take(wanted, picked, axis=axis))
        mask = rng.random(v.shape) < 0.02
        same(v[mask], whole[mask])


def test_a_number_beside_a_list_drops_its_axis(variables):
    v, whole = next((v, whole) for v, whole in variables if v.ndim == 3 and v.components == 1)
    same(v[2, :, [1, 5]], whole[2][:, [1, 5]])  # as h5py; NumPy would transpose


def test_read_takes_boxes_levels_and_arrays(variables):
    rng = np.random.default_rng(5)
    for trial in range(300):
        v, _ = variables[trial % len(variables)]
        shape = v.grid.shape
        level = int(rng.integers(0, v.levels))
        low = [int(rng.integers(0, n)) for n in shape]
        high = [int(rng.integers(a, n + 1)) for a, n in zip(low, shape)]
        whole = v.read(level=level)
        wanted = whole[tuple(slice(-(-a >> level), -(-b >> level)) for a, b in zip(low, high))]
        box = list(zip(low, high)) if trial % 2 else tuple(slice(a, b) for a, b in zip(low, high))
        same(v.read(box, level), wanted)
        room = np.full(tuple(2 * n for n in wanted.shape), 7, v.dtype)
        part = room[tuple(slice(None, None, int(rng.choice([2, -2]))) for _ in wanted.shape)]
        same(v.read(box, level, out=part), wanted)
        assert (room == 7).sum() >= room.size - wanted.size
        swapped = np.empty(wanted.shape, v.dtype.newbyteorder())
        assert np.array_equal(v.read(box, level, out=swapped), wanted)


def test_boxes_by_the_names_of_axes(example):
    v = bouma.open(example)[-1]["flow/density"]
    same(v.read({"x": (3, 9), "z": slice(2, None)}), v[2:, :, 3:9])
    same(v.read({}, level=1), v.level(1)[...])
    with pytest.raises(KeyError, match="axis 'w'"):
        v.read({"w": (0, 1)})
    with pytest.raises(ValueError, match=r"sel\(\) takes positions"):
        v.read({"x": (0.25, 0.5)})


def test_other_types_are_rounded(variables):
    v, whole = variables[0]
    assert v.dtype == np.float32
    assert np.array_equal(v.read(dtype="f8"), whole.astype("f8"))
    assert np.array_equal(v.read(dtype="i4"), np.rint(whole).astype("i4"))


def test_coarse_slices_read_fewer_bytes(tmp_path):
    path = str(tmp_path / "d.bouma")
    with bouma.create(path, durability="fast") as ds:
        ds.grid("g", (64, 64, 64)).variable("v", "f8", codec="raw")
        ds.write({"g/v": np.random.default_rng(1).random((64, 64, 64))})

    def cost(key):
        with bouma.open(path) as reader:
            v = reader[0]["g/v"]
            before = reader._info().bytes_read
            assert v[key].size
            return reader._info().bytes_read - before

    full = cost(np.s_[...])
    assert cost(np.s_[::4, ::4, ::4]) < full / 30
    assert cost(np.s_[8:64:8, ::16, 32::4]) < full / 30
    assert cost(np.s_[1::4, ::4, ::4]) > full / 2


def test_progressive_ends_with_everything(variables):
    for v, whole in variables:
        seen = list(v.progressive())
        assert [level for _, level in seen] == list(range(v.levels))[::-1]
        same(seen[-1][0], whole)
        for array, level in seen:
            same(array, v.level(level)[...])
    v = variables[-1][0]
    box = [(1, n - 1) for n in v.grid.shape]
    same(list(v.progressive(box))[-1][0], v.read(box))
    first = next(v.progressive())  # given up: the session is free again
    assert first[1] == v.levels - 1


def test_positions(example):
    v = bouma.open(example)[-1]["flow/density"]
    whole, x = v[...], v.grid.coords["x"]
    same(v.sel(x=slice(0.25, 0.5)), whole[:, :, (x >= 0.25) & (x <= 0.5)])
    same(v.sel(x=0.26, y=slice(None, 0.1)), whole[:, :4, 8])
    same(v.sel(level=1, z=0.0), v.level(1)[0])
    assert type(v.sel(x=0.5, y=0.5, z=0)) is type(v[0, 16, 16]) and v.sel(x=0.5, y=0.5, z=0) == v[0, 16, 16]
    with pytest.raises(KeyError, match="did you mean|there are"):
        v.sel(q=1)
    with pytest.raises(IndexError):
        v.sel(x=2.0)


def test_arrays_of_other_programs(example):
    v = bouma.open(example)[-1]["flow/density"]
    same(np.asarray(v), v[...])
    assert np.asarray(v, dtype="f8").dtype == np.float64
    assert v.nbytes == v[...].nbytes and v.size == v[...].size and len(v) == 32
    assert v.__dask_tokenize__() == bouma.open(example)[-1]["flow/density"].__dask_tokenize__()
    assert v.__dask_tokenize__() != bouma.open(example)[0]["flow/density"].__dask_tokenize__()
    assert v.level(1).__dask_tokenize__() != v.__dask_tokenize__()
    low, high = v.range
    assert low == v[...].min() and high == v[...].max()


def test_series(example):
    ds = bouma.open(example)
    series = ds["flow/velocity"]
    whole = np.stack([step["flow/velocity"][...] for step in ds])
    assert series.shape == whole.shape
    rng = np.random.default_rng(6)
    for _ in range(60):
        key = random_index(series.shape, rng)
        same(series[key], whole[key])
    same(series[[2, 0], 5], whole[[2, 0], 5])
    same(series[[0, 2], :, 5], whole[[0, 2], :, 5])
    same(series.level(2)[:, 1, 2], whole[:, 4, 8, ::4])
    same(series[3:, 0, 0], whole[3:, 0, 0])


def test_positions_in_a_series(example):
    ds = bouma.open(example)
    series = ds["flow/density"]
    whole, times, x = series[...], ds.times, ds[-1].flow.coords["x"]
    same(series.sel(), whole)
    same(series.sel(x=slice(0.25, 0.5)), whole[:, :, :, (x >= 0.25) & (x <= 0.5)])
    same(series.sel(time=times[1], y=slice(None, 0.1)), whole[1, :, :4])
    same(series.sel(time=slice(times[1], None), x=0.26), whole[1:, :, :, 8])
    same(series.sel(time=slice(None, times[1]), z=0.0, y=0.5, x=0.5), whole[:2, 0, 16, 16])
    same(series.sel(time=np.inf, level=1, z=0.0), ds[-1]["flow/density"].level(1)[0])
    same(series.level(1).sel(time=times[0], z=0.0, x=slice(0.2, 0.8)),
         ds[0]["flow/density"].sel(level=1, z=0.0, x=slice(0.2, 0.8)))
    same(series.level(1).sel(level=0, z=0.0), whole[:, 0])
    assert series.sel(time=slice(99, None)).shape == (0,) + whole.shape[1:]
    with pytest.raises(KeyError, match="did you mean|there are"):
        series.sel(q=1)
    with pytest.raises(KeyError, match="did you mean 'time'"):
        series.sel(times=0.1)
    with pytest.raises(IndexError):
        series.sel(x=2.0)
    with pytest.raises(ValueError, match="no step"):
        series.sel(time=slice(0, 1, 2))


def test_series_of_steps_that_differ(tmp_path):
    with bouma.create(tmp_path / "d.bouma", durability="fast") as ds:
        ds.write({"g/v": np.arange(16, dtype="i4")})
    with bouma.append(tmp_path / "d.bouma") as ds:  # the same shape, another patch and type
        ds.grid("g", (16,), patch=(8,), levels=2).variable("v", "i2", codec="raw")
        ds.write({"g/v": np.arange(16, dtype="i2")})
        ds.write({"g/w": np.arange(16, dtype="i2")})
    ds = bouma.open(tmp_path / "d.bouma")
    with pytest.raises(KeyError):
        ds["g/v"]  # not in the last step
    with pytest.raises(KeyError):
        ds["g/w"][:, 3]
    assert ds["g/w"][-1, 3] == 3
    with bouma.append(tmp_path / "d.bouma", like=1) as more:
        more.write({"g/v": np.arange(16, dtype="i2")}, step=2 + 1)
    ds = bouma.open(tmp_path / "d.bouma")
    assert list(ds["g/v"][[0, 1, 3], 5]) == [5, 5, 5]
    with bouma.append(tmp_path / "d.bouma") as more:
        more.write({"g/v": np.arange(9, dtype="i2")})
    with pytest.raises(ValueError, match="shape"):
        bouma.open(tmp_path / "d.bouma")["g/v"][0, 3]


@pytest.mark.parametrize("codec, components", [("raw", 1), ("zstd", 3)])
def test_series_of_many_steps(tmp_path, codec, components):
    rng = np.random.default_rng(5)
    shape = (9, 12) + ((components,) if components > 1 else ())
    whole = rng.random((90,) + shape).astype("f4")
    with bouma.create(tmp_path / "d.bouma", durability="fast") as ds:
        v = ds.grid("g", (9, 12), patch=(4, 4), levels=2).variable("v", "f4", codec=codec, components=components)
        for i, one in enumerate(whole):
            with ds.step(2 * i, time=i):
                v.put(one, copy=True)
    for threads in (1, 3):
        ds = bouma.open(tmp_path / "d.bouma", threads=threads)
        series = ds["g/v"]
        same(series[...], whole)
        for _ in range(12):
            key = random_index(series.shape, rng)
            same(series[key], whole[key])
        same(series[::-2, ::-1, 1::5], whole[::-2, ::-1, 1::5])
        same(series.level(1)[:, 2], whole[:, 4, ::2])


def test_damage_in_a_series_is_named(tmp_path):
    with bouma.create(tmp_path / "d.bouma", durability="fast") as ds:
        v = ds.grid("g", (64,)).variable("v", "f4", codec="raw")
        for i in range(40):
            with ds.step(i):
                v.put(np.full(64, i, "f4"), copy=True)
    ds = bouma.open(tmp_path / "d.bouma")
    name, = (tmp_path / "d.bouma" / "steps" / "00000021").glob("d.*")
    raw = bytearray(name.read_bytes())
    raw[len(raw) // 2 - 64:len(raw) // 2 + 64] = bytes(128)
    name.write_bytes(bytes(raw))
    with pytest.raises(bouma.BoumaError, match="00000021"):
        ds["g/v"][:, 63]
    assert ds["g/v"][:21, 63].tolist() == list(range(21))


def test_series_of_types_that_differ(tmp_path):
    for i, (dtype, values) in enumerate([("f8", [1.5, 2.5, 1e300, -7.9]), ("i4", [1, 2, 3, -4]), ("f4", [1.5, 2, 3, 4]),
                                         ("u4", [2 ** 32 - 4, 1, 2, 3]), ("i4", [1, 2, 3, 4])]):
        with (bouma.append if i else bouma.create)(tmp_path / "d.bouma", durability="fast") as ds:
            v = ds.grid("g", (4,)).variable("v", dtype)
            with ds.step(i):
                v.put(np.array(values, dtype))
    ds = bouma.open(tmp_path / "d.bouma")
    series = ds["g/v"]
    assert series[1::3].tolist() == [[1, 2, 3, -4], [1, 2, 3, 4]]
    for index in (0, 2, 3):
        with pytest.raises(ValueError, match="type.*one by one"):
            series[index]
    with bouma.append(tmp_path / "d.bouma") as out:
        v = out.grid("g", (4,)).variable("v", "f8")
        with out.step(9):
            v.put(np.zeros(4))
    assert ds.refresh()["g/v"][[0, 1, 2, 4, 5]].tolist() == [
        [1.5, 2.5, 1e300, -7.9], [1, 2, 3, -4], [1.5, 2, 3, 4], [1, 2, 3, 4], [0] * 4]


def test_a_variable_that_some_steps_lack(tmp_path):
    with bouma.create(tmp_path / "a.bouma", durability="fast") as out:
        grid = out.grid("g", (4, 4))
        early, late = grid.variable("early", "f4"), grid.variable("late", "f4")
        for number, v in ((3, early), (5, late)):
            with out.step(number):
                v.put(np.zeros((4, 4), "f4"))
    with bouma.open(tmp_path / "a.bouma") as ds:
        with pytest.raises(bouma.NotFoundError, match="'g/early' in step 5; .*the last step is looked at"):
            ds["g/early"]
        for key in (0, slice(None)):
            with pytest.raises(bouma.NotFoundError, match="'g/late' in step 3; there are 'g/early'"):
                ds["g/late"][key]
