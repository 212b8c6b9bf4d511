"""Wrong input gets the exceptions of Python, with the words of the library."""
import pickle
import subprocess
import sys

import numpy as np
import pytest

import bouma
from bouma import _api, _library, errors


def test_every_status_has_a_class_of_its_own():
    assert set(errors.CLASSES) == {status for status in _api.STATUSES if status}
    assert len(set(errors.CLASSES.values())) == len(errors.CLASSES)
    for status, kind in errors.CLASSES.items():
        assert kind.status == status == getattr(bouma, _api.STATUSES[status])
        assert issubclass(kind, bouma.BoumaError)


def test_exceptions_have_status_rank_and_message():
    error = errors.error_of(bouma.EIO, "rank 3: run.bouma: disk on fire")
    assert isinstance(error, OSError) and error.rank == 3 and error.status == bouma.EIO
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.rank == 3
    assert errors.error_of(bouma.EINVAL, "no").rank is None


def test_paths(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        bouma.open(tmp_path / "nowhere.bouma")
    (tmp_path / "file").write_text("x")
    with pytest.raises(bouma.BoumaError, match="file"):
        bouma.open(tmp_path / "file")
    bouma.create(tmp_path / "d.bouma").close()
    with pytest.raises(FileExistsError):
        bouma.create(tmp_path / "d.bouma")
    with pytest.raises(ValueError, match="colour"):
        bouma.open(tmp_path / "d.bouma", colour="red")


def test_an_empty_dataset(tmp_path):
    bouma.create(tmp_path / "d.bouma").close()
    ds = bouma.open(tmp_path / "d.bouma")
    assert len(ds) == 0 and list(ds) == [] and ds.keys() == []
    assert "no steps" in repr(ds) and "0 steps" in ds._repr_html_()
    with pytest.raises(IndexError, match="0 steps"):
        ds[-1]


def test_unknown_names_get_suggestions(example):
    ds = bouma.open(example)
    step = ds[-1]
    for name, near in (("flow/densty", "flow/density"), ("flo", "flow"), ("flow/velocty", "flow/velocity")):
        with pytest.raises(KeyError, match="did you mean '%s'" % near) as caught:
            step[name]
        assert isinstance(caught.value, bouma.NotFoundError) and caught.value.status == bouma.ENOTFOUND
    with pytest.raises(AttributeError, match="did you mean 'flow'"):
        step.flo
    with pytest.raises(KeyError, match="did you mean 'coal'"):
        step.particles["coral"]
    with pytest.raises(AttributeError, match="'coal/to_pandas' in step 20; there are 'coal/position'"):
        step.coal.to_pandas  # the name of the set, which all have, makes nothing similar
    with pytest.raises(KeyError, match="20"):
        ds.at(step=21)
    assert "flow/density" in step and "flow/nothing" not in step and not hasattr(step, "nothing")
    assert "density" in dir(step.flow) and "flow" in dir(step)


def test_closed_datasets(example):
    ds = bouma.open(example)
    v = ds[-1]["flow/density"]
    p = ds[-1].coal.query()
    ds.close()
    ds.close()
    for use in (lambda: v[...], lambda: ds[-1], lambda: ds.refresh(), lambda: ds.attrs, lambda: v.range):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert p["T"].sum() > 0  # what was read stays
    assert "closed" in repr(ds)
    with bouma.create(example + ".2") as writer:
        grid = writer.grid("g", (4,))
    with pytest.raises(bouma.ClosedError):
        grid.variable("v", "f4")


@pytest.mark.parametrize("key, error", [
    (32, IndexError), (-33, IndexError), ((0, 0, 0, 0), IndexError), ("x", TypeError), (1.5, TypeError),
    (None, TypeError), (True, TypeError), ((..., ...), IndexError), ([40], IndexError), ([1.5], TypeError),
    (([1], [2]), TypeError), ([[1, 2]], TypeError), (np.ones(5, bool), IndexError), (np.ones((2, 2, 2), bool), IndexError),
])
def test_wrong_indices(example, key, error):
    with pytest.raises(error):
        bouma.open(example)[-1]["flow/density"][key]


def test_wrong_reads(example):
    v = bouma.open(example)[-1]["flow/density"]
    with pytest.raises(IndexError, match="level 9"):
        v.level(9)
    with pytest.raises(ValueError, match="axis 0"):
        v.read([(0, 40)])
    with pytest.raises(ValueError, match="4 axes"):
        v.read([(0, 1)] * 4)
    with pytest.raises(ValueError, match="shape"):
        v.read(out=np.empty(3, "f4"))
    with pytest.raises(TypeError, match="complex"):
        v.read(dtype="c8")
    frozen = np.empty(v.shape, v.dtype)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="written"):
        v.read(out=frozen)


def test_advice_is_for_python(tmp_path):
    """Each advice is one that the library gives, and is given in the words of the package."""
    with open(_library.find("libbouma"), "rb") as f:
        words = f.read()
    for advice in errors.ADVICE:
        assert advice.encode() in words
    with bouma.create(tmp_path / "d.bouma") as ds:
        v = ds.grid("g", 4).variable("v", "i4")
        with pytest.raises(bouma.StateError, match=r"use 'with ds.step\(...\)'"):
            v.put(np.arange(4))
        with pytest.raises(ValueError, match="say round=True"):
            with ds.step(0):
                v.put(np.full(4, 1.5))
        with ds.step(0):
            v.put(np.full(4, 1.5), round=True)
        with pytest.raises(FileExistsError, match="replace=True"):
            with ds.step(0):
                v.put(np.arange(4))
    with pytest.raises(FileExistsError, match=r"bouma.append\(\) to it"):
        bouma.create(tmp_path / "d.bouma")


def test_who_writes_is_told(tmp_path):
    path = str(tmp_path / "d.bouma")
    with bouma.create(path):
        with pytest.raises(bouma.BusyError, match="by this program already .* close it there first"):
            bouma.append(path)
        other = "import bouma, sys; bouma.append(sys.argv[1])"
        done = subprocess.run([sys.executable, "-c", other, path], stderr=subprocess.PIPE, text=True)
    assert done.returncode and "being written by another program" in done.stderr


def test_modes_of_other_libraries_are_explained(example):
    with pytest.raises(TypeError, match=r"bouma.append\(\)"):
        bouma.open(example, "a")


def test_a_failed_open_has_no_other_cause(tmp_path):
    with pytest.raises(FileNotFoundError) as failed:
        bouma.open(tmp_path / "nowhere.bouma")
    assert failed.value.__context__ is None


def test_values_that_do_not_fit(tmp_path):
    with bouma.create(tmp_path / "d.bouma") as ds:
        ds.write({"g/v": np.array([1.0, 300.0, 2.5])})
    v = bouma.open(tmp_path / "d.bouma")[0].g.v
    with pytest.raises(bouma.InvalidError, match="300"):
        v.read(dtype="u1")
    assert list(v.read([(2, 3)], dtype="u1")) == [2]


def test_communicators_that_are_none(example):
    with pytest.raises(TypeError, match="mpi4py"):
        bouma.open(example, comm=3)
    with pytest.raises(TypeError, match="mpi4py"):
        bouma.create(example + ".2", comm="world")


def test_a_damaged_file_is_told(example):
    import glob

    for name in glob.glob(example + "/steps/*/*"):
        if not name.endswith("manifest"):
            with open(name, "r+b") as f:
                raw = bytearray(f.read())
                raw[len(raw) // 2:len(raw) // 2 + 64] = bytes(64)
                f.seek(0)
                f.write(raw)
    with pytest.raises(bouma.FormatError) as caught:
        for step in bouma.open(example):
            for v in step.flow.values():
                v[...]
            step.coal.query()
    assert caught.value.status == bouma.EFORMAT


def test_another_mpi_is_explained():
    check = _library.check_mpi
    check("Open MPI 4.1.4", "Open MPI v4.1.4, package: Debian OpenMPI")
    check("MPICH 4.0.2", "Intel(R) MPI Library 2021.6 for Linux* OS")
    check("something", "Open MPI v5.0")  # not known: let it try
    with pytest.raises(ImportError, match="one of MPICH.*built with Open MPI 4.1.4.*BOUMA_LIBRARY_PATH"):
        check("Open MPI 4.1.4", "MPICH Version:\t4.0.2\nMPICH Release date: ...")
    with pytest.raises(bouma.LibraryError, match="without MPI"):
        check("no", "MPICH Version: 4.0.2")


def test_a_missing_library_is_told(monkeypatch):
    monkeypatch.setattr(_library, "folders", lambda: [])
    with pytest.raises(ImportError, match="BOUMA_LIBRARY_PATH"):
        _library.load("libbouma_nowhere")


def test_wrong_writes(tmp_path):
    with bouma.create(tmp_path / "d.bouma") as ds:
        with pytest.raises(ValueError, match="axes"):
            ds.grid("g", (1, 2, 3, 4))
        with pytest.raises(ValueError, match="spacing"):
            ds.grid("g", (8, 8), spacing=(1, 2, 3))
        with pytest.raises(ValueError, match="layout"):
            ds.grid("g", (8, 8), layout="spiral")
        with pytest.raises(TypeError, match="hz_block_bits"):
            ds.grid("g", (8, 8), hz_blok_bits=3)
        grid = ds.grid("g", (8, 8))
        with pytest.raises(TypeError, match="complex128"):
            grid.variable("v", complex)
        with pytest.raises(ValueError, match="toleran"):
            grid.variable("n", "i4", tolerance=0.5)
        v = grid.variable("v", "f4")
        with pytest.raises(KeyError):
            grid.variable("w")
        with pytest.raises(bouma.StateError):
            ds.step(0).put("g/v", np.zeros((8, 8)))
        with ds.step(0):
            with pytest.raises(ValueError, match="shape"):
                v.put(np.zeros((8, 7), "f4"))
            with pytest.raises(TypeError, match="object|U"):
                v.put(np.array(["a"]))
            with pytest.raises(ValueError):
                v.put(np.zeros((2, 2), "f4"), at=(7, 7))
            v.put(np.zeros((8, 8), "f4"))
        with pytest.raises(ValueError, match="0.1"):
            with ds.step(1):
                v.put(np.full((8, 8), 0.1))
        with pytest.raises(bouma.CoverError):
            with ds.step(1):
                v.put(np.zeros((8, 4), "f4"), np.s_[:, :4])
        with pytest.raises(ZeroDivisionError):
            with ds.step(1):
                v.put(np.zeros((8, 8), "f4"))
                1 / 0
        with ds.step(1):
            v.put(np.full((8, 8), 0.1), round=True)
    assert list(bouma.open(tmp_path / "d.bouma").steps) == [0, 1]


def test_numbers_that_c_has_not(tmp_path, example):
    ds = bouma.open(example)
    v, p = ds[0]["flow/density"], ds[0].coal
    reads = [lambda: p.sample(2 ** 64 + 3), lambda: p.sample(3, seed=2 ** 64 + 1), lambda: v.read(max_points=2 ** 64 + 999),
             lambda: v.read(max_bytes=2 ** 65), lambda: p.query(limit=2 ** 64 + 3), lambda: v.read(max_bytes=0.5),
             lambda: v.read(max_points=float("inf")), lambda: v[np.array([2 ** 64 - 1], "u8")],
             lambda: v[np.uint64(2 ** 64 - 1)]]
    for call in reads:
        with pytest.raises((ValueError, IndexError)):
            call()
    with bouma.create(tmp_path / "d.bouma") as out:
        grid = out.grid("g", (3,))
        w = grid.variable("v", "i4")
        writes = [lambda: out.step(2 ** 64 + 7), lambda: out.grid("h", (2 ** 64 + 3,)),
                  lambda: out.grid("h", (8,), levels=2 ** 32 + 1), lambda: out.grid("h", (8,), patch=(2 ** 64 + 4,)),
                  lambda: grid.variable("w", "f4", components=2 ** 32 + 1), lambda: out.particles("q", 2 ** 32 + 3)]
        for call in writes:
            with pytest.raises(bouma.InvalidError, match=" to "):
                call()
        with out.step(0):
            with pytest.raises(bouma.InvalidError, match=" to "):
                w.put(np.arange(3, dtype="i4"), at=(2 ** 64,))
            w.put(np.arange(3, dtype="i4"), at=(np.int32(0),))
        for call in (lambda: out.truncate(2 ** 64), lambda: out.delete(2 ** 64), lambda: out.like(2 ** 64)):
            with pytest.raises(bouma.InvalidError, match=" to "):
                call()
    assert list(bouma.open(tmp_path / "d.bouma").steps) == [0]


def test_names_are_not_cut(tmp_path, example):
    for call in (lambda: bouma.open(example + "\0more"), lambda: bouma.create(tmp_path / "a\0b"),
                 lambda: bouma.open(example, local="/tmp\0x")):
        with pytest.raises(bouma.InvalidError, match="NUL"):
            call()
    assert not (tmp_path / "a").exists()
    with bouma.create(tmp_path / "d.bouma") as ds:
        grid, p = ds.grid("g", (3,)), ds.particles("p", 3)
        for call in (lambda: ds.grid("g\0x", (3,)), lambda: ds.grid("g\0x"), lambda: grid.variable("v\0w", "f4"),
                     lambda: grid.variable("v\0w"), lambda: p.variable("v\0w", "f4"), lambda: ds.particles("p\0q"),
                     lambda: ds.grid("h", (3,), unit="m\0s"), lambda: grid.variable("v", "f4", unit="m\0s"),
                     lambda: grid.attrs.update({"a\0b": 1})):
            with pytest.raises(bouma.InvalidError, match="NUL"):
                call()
        ds.attrs["text"] = "a\0b"
        ds.write({"g/v": np.zeros(3)})
    assert bouma.open(tmp_path / "d.bouma").attrs["text"] == "a\0b"
