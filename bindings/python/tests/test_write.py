"""What is written comes back: arrays of any strides and types, particles, attributes."""
import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import bouma


def test_arrays_of_any_strides(tmp_path):
    rng = np.random.default_rng(1)
    base = rng.random((20, 24, 28))
    arrays = {
        "dense": base[:8, :9, :10].copy(), "section": base[2:10, 3:12, 4:14], "fortran": np.asfortranarray(base[:8, :9, :10]),
        "steps": base[::2, ::2, ::2][:8, :9, :10], "backwards": base[7::-1, 8::-1, 9::-1],
        "transposed": base[:10, :9, :8].T, "swapped": base[:8, :9, :10].astype(">f8"),
        "repeated": np.broadcast_to(base[0, 0, :10], (8, 9, 10)), "one": np.broadcast_to(3.0, (8, 9, 10)),
        "unaligned": np.frombuffer(b"x" + base[:8, :9, :10].tobytes(), np.uint8)[1:].view("f8").reshape(8, 9, 10),
    }
    with bouma.create(tmp_path / "d.bouma") as ds:
        ds.write({"g/" + name: array for name, array in arrays.items()})
    step = bouma.open(tmp_path / "d.bouma")[0]
    for name, array in arrays.items():
        assert np.array_equal(step["g/" + name][...], array), name


def test_every_type_and_components(tmp_path):
    rng = np.random.default_rng(2)
    types = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
    data = {}
    with bouma.create(tmp_path / "d.bouma") as ds:
        grid = ds.grid("g", (5, 6))
        for name in types:
            wide = np.frombuffer(rng.bytes(5 * 6 * 3 * np.dtype(name).itemsize), name).reshape(5, 6, 3)
            if wide.dtype.kind == "f":
                wide = rng.random((5, 6, 3)).astype(name)
            grid.variable(name, name)
            grid.variable("three " + name, name, components=3)
            data["g/" + name], data["g/three " + name] = wide[..., 1], wide[..., ::-1]
        ds.write(data)
    step = bouma.open(tmp_path / "d.bouma")[0]
    for name, array in data.items():
        assert np.array_equal(step[name][...], array), name
        assert step[name].dtype == array.dtype


def test_arrays_are_kept_until_the_step_ends(tmp_path):
    with bouma.create(tmp_path / "d.bouma") as ds:
        v = ds.grid("g", (100000,)).variable("v", "f8")
        with ds.step(0):
            for i in range(10):
                v.put(np.full(10000, float(i)), at=(10000 * i,))  # nobody else has it
                gc.collect()
                np.full(10000, -1.0)
        assert not ds._kept
        with ds.step(1):
            block = np.zeros(100000)
            v.put(block, copy=True)
            block[:] = 7
    ds = bouma.open(tmp_path / "d.bouma")
    assert np.array_equal(ds[0]["g/v"][...], np.repeat(np.arange(10.0), 10000))
    assert ds[1]["g/v"][...].max() == 0


def particles(n=500):
    rng = np.random.default_rng(3)
    return {"position": rng.random((n, 3)), "id": np.arange(n), "v": rng.random((n, 2)).astype("f4")}


def by_id(table):
    order = np.argsort(table["id"])
    return {name: array[order] for name, array in table.items()}


def forms(data):
    n = len(data["id"])
    record = np.empty(n, [("position", "f8", 3), ("pad", "u1"), ("id", "i8"), ("v", "f4", 2)])
    for name, array in data.items():
        record[name] = array
    position = data["position"]
    rest = {"id": data["id"], "v": data["v"]}
    yield "dict", data
    yield "structured", record[["position", "id", "v"]]
    yield "planar", dict(rest, **dict(zip("xyz", np.ascontiguousarray(position.T))))
    yield "columns", dict(rest, **dict(zip("xyz", position.T)))
    yield "mixed", dict(rest, x=position[:, 0], y=position[::-1, 1][::-1], z=position[:, 2].copy())
    yield "swapped", {name: array.astype(array.dtype.newbyteorder()) for name, array in data.items()}
    yield "fortran", dict(data, position=np.asfortranarray(position))


def test_particles_from_anything(tmp_path):
    data = particles()
    for i, (form, given) in enumerate(forms(data)):
        with bouma.create(tmp_path / ("%d.bouma" % i)) as ds:
            ds.write({"dust": given})
        found = by_id(bouma.open(tmp_path / ("%d.bouma" % i))[0].dust.query())
        for name, array in data.items():
            assert np.array_equal(found[name], array), (form, name)


def test_particles_from_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    data = particles()
    frame = pandas.DataFrame({"x": data["position"][:, 0], "y": data["position"][:, 1], "id": data["id"]})
    with bouma.create(tmp_path / "d.bouma") as ds:
        ds.write({"dust": frame})
    dust = bouma.open(tmp_path / "d.bouma")[0].dust
    assert dust.ndims == 2
    back = dust.query().to_pandas().sort_values("id").reset_index(drop=True)[["x", "y", "id"]]
    pandas.testing.assert_frame_equal(back, frame)


def test_wrong_particles(tmp_path):
    data = particles()
    with bouma.create(tmp_path / "d.bouma") as ds:
        dust = ds.particles("dust", ndims=3, dtype="f8").variable("id", "i8")
        with ds.step(0):
            with pytest.raises(ValueError, match="position"):
                dust.put(id=data["id"])
            with pytest.raises(ValueError, match="499|500"):
                dust.put(position=data["position"], id=data["id"][1:])
            with pytest.raises(KeyError, match="id"):
                dust.put(position=data["position"], ids=data["id"])
            with pytest.raises(ValueError, match=r"\(n, 3\)"):
                dust.put(position=data["position"][:, :2], id=data["id"])
            with pytest.raises(TypeError, match="structured"):
                dust.put(data["position"])
            with pytest.raises(TypeError, match="'id'"):
                dust.put(position=data["position"], id=["a"] * 500)
            dust.put(position=data["position"], id=data["id"])
    assert bouma.open(tmp_path / "d.bouma")[0].dust.count == 500


def test_attributes(tmp_path):
    values = {"text": "é", "int": 3, "real": 0.1, "many": np.arange(4, dtype="u2"), "list": [1.5, 2.5], "yes": True}
    with bouma.create(tmp_path / "d.bouma") as ds:
        grid = ds.grid("g", (4,))
        v = grid.variable("v", "f4")
        dust = ds.particles("dust", ndims=1)
        for one in (ds, grid, v, dust):
            one.attrs.update(values)
        with pytest.raises(TypeError, match="'bad'"):
            ds.attrs["bad"] = object()
        assert ds.attrs["int"] == 3 and len(grid.attrs) == len(values)
        with ds.step() as step:
            step.attrs.update(values)
            v.put([1, 2, 3, 4])
            dust.put(position=np.zeros(2, "f4"))
    ds = bouma.open(tmp_path / "d.bouma")
    for one in (ds, ds[0], ds[0].g, ds[0].g.v, ds[0].dust):
        found = one.attrs
        assert set(found) == set(values)
        assert found["text"] == "é" and found["int"] == 3 and found["real"] == 0.1
        assert np.array_equal(found["many"], values["many"]) and found["many"].dtype == np.uint16
        assert list(found["list"]) == [1.5, 2.5]


def test_append_goes_on(tmp_path):
    path = tmp_path / "d.bouma"
    with bouma.create(path) as ds:
        for i in range(3):
            ds.write({"g/v": np.full(4, float(i)), "dust": {"position": np.zeros((2, 3)), "id": np.arange(2)}})
    with bouma.append(path, like=-1) as ds:
        with ds.step() as step:
            assert step.number == 3
            step["g/v"] = np.full(4, 3.0)
            step["dust"] = {"position": np.ones((5, 3)), "id": np.arange(5)}
            step["g/w"] = np.arange(4)
        assert ds.record["raw_bytes"] > 0 and ds.notes == []
        ds.delete(0)
        ds.truncate(3)
    with pytest.raises(KeyError):
        bouma.append(path, like=77)
    ds = bouma.open(path)
    assert list(ds.steps) == [1, 2, 3] and list(ds[-1].g) == ["v", "w"] and ds[-1].dust.count == 5
    assert np.array_equal(ds["g/v"][:, 0], [1, 2, 3])


def test_progress_is_called_here(tmp_path):
    import threading

    seen = []
    here = threading.get_ident()
    with bouma.create(tmp_path / "d.bouma", progress=lambda *a: seen.append((threading.get_ident(),) + a)) as ds:
        ds.write({"g/v": np.random.default_rng(1).random((128, 128, 64))})
    assert all(one[0] == here and isinstance(one[1], str) for one in seen)


def test_what_was_defined_ends_with_the_dataset(tmp_path):
    ds = bouma.create(tmp_path / "d.bouma")
    grid = ds.grid("g", (8, 8))
    v, p = grid.variable("v", "f4"), ds.particles("p", ndims=2)
    with ds.step(0) as step:
        v.put(np.ones((8, 8), "f4"))
        p.put(position=np.ones((3, 2)))
    attrs = [one.attrs for one in (ds, grid, v, p, step)]
    ds.close()
    for one in attrs + [owner.attrs for owner in (ds, grid, v, p)]:
        with pytest.raises(bouma.ClosedError):
            one["k"] = 1
        with pytest.raises(bouma.ClosedError):
            len(one)
    for call in (lambda: v.put(np.ones((8, 8), "f4")), lambda: p.put(position=np.ones((3, 2))),
                 lambda: grid.variable("w"), lambda: step.put("g/v", np.ones((8, 8), "f4"))):
        with pytest.raises(bouma.ClosedError):
            call()
    with bouma.append(tmp_path / "d.bouma", like=0) as ds:
        ds.grid("g")
        with ds.step(1) as step:
            step["g/v"] = np.ones((8, 8), "f4")
            step["p"] = {"position": np.ones((3, 2), "f4")}
    with pytest.raises(bouma.ClosedError):
        step["g/w"] = np.ones((8, 8), "f4")


def in_a_child(function):
    """Run a function in a forked process that then ends as programs do."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if function() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_leaves_the_dataset_alone(tmp_path):
    path = tmp_path / "d.bouma"

    def files():
        return sorted((str(one), one.stat().st_size) for one in path.rglob("*") if one.is_file())

    ds = bouma.create(path)
    v = ds.grid("g", (64, 64)).variable("v", "f4")
    step = ds.step(0)
    step.__enter__()
    v.put(np.ones((64, 64), "f4"))
    before = files()

    def uses():
        for call in (lambda: v.put(np.ones((64, 64), "f4")), lambda: ds.attrs["k"], lambda: ds.flush(),
                     lambda: step.__exit__(None, None, None)):
            with pytest.raises(bouma.StateError, match="process"):
                call()
        return True

    def ends():
        step.__exit__(SystemExit, SystemExit(), None)
        ds.__exit__(None, None, None)
        return ds.closed

    def forgets():
        Writer = type(ds)
        Writer.__del__(ds)
        return True

    for one in (uses, ends, forgets):
        assert in_a_child(one) == 0
        assert files() == before
    step.__exit__(None, None, None)
    with ds.step(1):
        v.put(np.full((64, 64), 2, "f4"))
    ds.close()
    assert [float(one["g/v"][3, 3]) for one in bouma.open(path)] == [1, 2]


def test_numbers_of_steps_follow_the_last_one(tmp_path):
    with bouma.create(tmp_path / "d.bouma") as ds:
        for _ in range(5):
            ds.write({"g/v": np.zeros(3)})
        ds.truncate(1)
        ds.write({"g/v": np.zeros(3)})
        ds.truncate(-1)
        ds.write({"g/v": np.zeros(3)})
        ds.write({"g/v": np.zeros(3)})
    assert list(bouma.open(tmp_path / "d.bouma").steps) == [0, 1]


def test_lists_are_not_truncated(tmp_path):
    def stored(dtype, values, **more):
        with bouma.create(tmp_path / "d.bouma", clobber=True, durability="fast") as ds:
            v = ds.grid("g", (len(values),)).variable("v", dtype)
            with ds.step(0):
                v.put(values, **more)
        return bouma.open(tmp_path / "d.bouma")[0]["g/v"][...].tolist()

    for dtype, values in (("i4", [1.5, 2.7, -3.9]), ("u1", [300, -1, 2]), ("f4", [1e300, 1, 2]), ("i8", [2 ** 63, 1, 2]),
                          ("f4", [2 ** 24 + 1, 1, 2]), ("u8", [2 ** 63 + 1, 1.5, 1]), ("i4", [float("nan"), 1, 2])):
        with pytest.raises(ValueError):
            stored(dtype, values)
    assert stored("i4", [1.5, 2.7, -3.9], round=True) == [2, 3, -4]
    for dtype, values in (("i4", [1, 2.0, -3]), ("u8", [1, 2 ** 63 + 1, 2 ** 64 - 1]), ("u1", [True, False, True]),
                          ("f8", [0.1, 1, float("inf")]), ("u8", [2 ** 63 + 1, 1.0, 0])):
        assert stored(dtype, values) == values
    assert stored("f4", [0.1, 0.2, 3]) == np.array([0.1, 0.2, 3], "f4").tolist()


def test_masked_arrays_are_refused(tmp_path):
    with bouma.create(tmp_path / "d.bouma") as ds:
        v = ds.grid("g", (3,)).variable("v", "f8")
        p = ds.particles("p", 1, dtype="f8").variable("m", "f8")
        with ds.step(0):
            with pytest.raises(ValueError, match="masked"):
                v.put(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]))
            with pytest.raises(ValueError, match="'m'.*masked"):
                p.put(position=np.zeros((3, 1)), m=np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]))
            v.put(np.ma.array([1.0, 2.0, 3.0]))
    assert bouma.open(tmp_path / "d.bouma")[0]["g/v"][...].tolist() == [1, 2, 3]


@pytest.mark.parametrize("box", [[(0, -1)], [(0.9, 2.9)], [(-1, 2)], [(0, 4)], [(None, -2)]])
def test_boxes_that_are_not_there(tmp_path, box):
    with bouma.create(tmp_path / "d.bouma") as ds:
        ds.write({"g/v": np.arange(3.0)})
    with pytest.raises(ValueError):
        bouma.open(tmp_path / "d.bouma")[0]["g/v"].read(box)


LEFT_OPEN = """
import sys
import numpy as np
import bouma
ds = bouma.create(sys.argv[1], **{sys.argv[2]: sys.argv[3]})
v = ds.grid("g", (64, 64)).variable("v", "f8")
for i in range(3):
    with ds.step(i):
        v.put(np.full((64, 64), float(i)))
if sys.argv[4] == "step":
    ds.step(3).__enter__()
    v.put(np.zeros((64, 64)))
elif sys.argv[4] == "fails":
    1 / 0
elif sys.argv[4] == "forgets":
    import gc, warnings
    warnings.simplefilter("error", ResourceWarning)
    sys.unraisablehook = lambda one: None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        del ds, v
        gc.collect()
    assert [one.category for one in told] == [ResourceWarning], told
    assert len(bouma.open(sys.argv[1])) == 3
"""


@pytest.mark.parametrize("end", ["plain", "step", "fails", "forgets"])
@pytest.mark.parametrize("option", ["durability=group=8", "async=yes"])
def test_what_is_left_open_is_closed_at_the_end(tmp_path, option, end):
    name, value = option.split("=", 1)
    path = str(tmp_path / "d.bouma")
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN, path, name, value, end], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert (done.returncode != 0) == (end == "fails"), done.stdout
    assert [float(one["g/v"][3, 3]) for one in bouma.open(path)] == [0, 1, 2]


def test_options_are_paths_of_any_bytes(tmp_path):
    odd = os.fsdecode(bytes(tmp_path) + b"/\xff")
    os.mkdir(odd)
    with bouma.create(tmp_path / "d.bouma", local=odd) as ds:
        ds.write({"g/v": np.zeros(3)})
    assert len(bouma.open(tmp_path / "d.bouma")) == 1


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.filterwarnings("ignore:the dataset .* was not closed:ResourceWarning")
def test_a_writer_that_nobody_has_ends_at_once(tmp_path, no_collector):
    path = tmp_path / "d.bouma"
    ds = bouma.create(path, progress=lambda *a: None)
    grid = ds.grid("g", (8, 8))
    v, p = grid.variable("v", "f4"), ds.particles("p", ndims=2).variable("T", "f4")
    v.attrs["a"] = grid.attrs["b"] = p.attrs["c"] = 1
    with ds.step(0) as step:
        v.put(np.ones((8, 8), "f4"))
        step["p"] = {"position": np.ones((3, 2)), "T": np.ones(3, "f4")}
        step["h/w"] = np.ones(4)
    gone = weakref.ref(ds)
    del ds, grid, v, step
    assert gone() is not None  # what was defined keeps it
    del p
    assert gone() is None
    with bouma.append(path, like=-1) as ds:
        with ds.step(1) as step:
            step["h/w"] = np.zeros(4)
    assert list(bouma.open(path).steps) == [0, 1]


def test_what_is_defined_is_found_again(tmp_path):
    with bouma.create(tmp_path / "d.bouma") as ds:
        ds.grid("g", (8, 8)).variable("v", "f4")
        ds.particles("p", ndims=2).variable("T", "f4")
        with ds.step(0):
            ds.grid("g").variable("v").put(np.ones((8, 8), "f4"))
            ds.particles("p").put(position=np.ones((3, 2)), T=np.ones(3, "f4"))
        with pytest.raises(TypeError, match="'p' is a set of particles"):
            ds.grid("p")
        with pytest.raises(TypeError, match="'g' is a grid"):
            ds.particles("g")
    for call in (lambda: ds.grid("g"), lambda: ds.particles("p")):
        with pytest.raises(bouma.ClosedError):
            call()
