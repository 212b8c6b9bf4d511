"""Answers within a budget keep to it, say what they are, and go on without reading twice."""
import gc
import pickle

import numpy as np
import pytest

import bouma


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "d.bouma"
    rng = np.random.default_rng(1)
    x = np.mgrid[0:64, 0:64, 0:64].sum(axis=0) / 20
    with bouma.create(path, durability="fast") as ds:
        ds.grid("g", (64, 64, 64), patch=(32, 32, 32), levels=4).variable("v", "f4", codec="raw")
        ds.write({"g/v": np.sin(x).astype("f4"),
                  "p": {"position": rng.random((5000, 3)), "id": np.arange(5000), "T": rng.random(5000)}})
    return bouma.open(path)


def test_grids(run):
    v = run[0]["g/v"]
    whole = v[...]
    a = v.read(max_points=8 ** 3)
    assert a.level == 3 and a.array.shape == (8, 8, 8) and not a.complete and a.answer.limit == "points"
    assert "level 3" in repr(a) and np.asarray(a).shape == (8, 8, 8)
    read = 0
    while not a.complete:
        a = a.refine(max_bytes=a.answer.next_bytes)
        read += a.answer.bytes
        assert np.array_equal(a.array, whole[(slice(None, None, 1 << a.level),) * 3])
    assert a.level == 0 and a.error == 0 and a.answer.error_is_bound and a.answer.limit == "none"
    assert read <= whole.nbytes + 20000 and a.refine() is a
    assert v.read(max_bytes=100000).answer.bytes <= 100000
    near = v.read(max_error=0.05)
    assert near.error <= 0.05
    part = v.read([(0, 32), (0, 32), (0, 16)], max_points=10 ** 9)
    assert part.complete and np.array_equal(part.array, whole[:32, :32, :16])


def test_budgets_that_are_wrong(run):
    v, p = run[0]["g/v"], run[0].p
    with pytest.raises(bouma.LimitError):
        v.read(max_points=1)
    with pytest.raises(ValueError):
        v.read(max_bytes=0)
    with pytest.raises(TypeError, match="level"):
        v.read(level=1, max_bytes=10 ** 6)
    with pytest.raises(bouma.LimitError):
        p.query(max_bytes=1)
    with pytest.raises(ValueError):
        p.query(limit=-1)


def test_particles(run):
    p = run[0].p
    wanted = {int(i) for i in p.query(where="T < 0.5")["id"]}
    some = p.query(where="T < 0.5", limit=300, columns=["id", "T"])
    seen = list(some["id"])
    assert some.count == 300 and 0 < some.quality < 1 and not some.complete
    while not some.complete:
        some = some.refine(limit=1000)
        assert some.count <= 1000 and (some["T"] < 0.5).all()
        seen += list(some["id"])
    assert len(seen) == len(set(seen)) and set(seen) == wanted
    assert some.refine().count == 0
    assert p.query(limit=10 ** 6).count == 5000


def test_pickles(run):
    some = run[0].p.query(limit=10)
    again = pickle.loads(pickle.dumps(some))
    assert again.count == 10 and np.array_equal(again["id"], some["id"])
    with pytest.raises(TypeError, match="array"):
        pickle.dumps(run[0]["g/v"].read(max_points=600))


def test_answers_are_given_back(run):
    v, p = run[0]["g/v"], run[0].p
    kept = []
    for _ in range(20):
        a, some = v.read(max_points=600), p.query(limit=10, columns=["id"])
        kept.append(some["id"])
        assert v[0, 0, 0] == a.array[0, 0, 0]
        del a, some
        gc.collect()
    assert len(run._source.free) <= 4
    held = v.read(max_points=600), p.query(limit=10)
    run.close()
    assert held[0].refine(max_points=10 ** 9).complete and held[1].refine(limit=10 ** 9).complete
    del held, kept
    gc.collect()
