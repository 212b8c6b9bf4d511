"""Answers within a budget keep to it, say what they are, and go on without reading twice."""
import gc
import os
import pickle
import threading

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


def test_histograms_of_grids(run):
    v = run[0]["g/v"]
    box = [(0, 40), (3, 64), (0, 64)]
    right, edges = np.histogram(v.read(box), 11, v.range)
    for limits, basis in (({}, "exact"), ({"exact": False}, "index"), ({"max_points": 9000}, "sample"),
                          ({"max_bytes": 10 ** 7}, "exact"), ({"max_bytes": 1}, "index")):
        h = v.histogram(11, box=box, **limits)
        assert h.basis == basis and np.allclose(h.edges, edges)
        assert (h.lower <= right).all() and (right <= h.upper).all() and h.total[0] == h.total[1] == right.sum()
        assert (np.abs(h.counts - right) <= 5 * h.error).all() or basis == "index"
    assert h.bytes == 0 and h.limit == "bytes" and h.next_bytes > 0
    assert "11 bins" in repr(h) and h.centers.shape == (11,)
    with pytest.raises(IndexError):
        v.histogram(component=1)


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


def test_what_was_refined_before(run):
    v, p = run[0]["g/v"], run[0].p
    a = v.read(np.s_[:, :32, 7:], max_points=600)
    first = a.refine(max_points=10 ** 4)
    whole = first.refine(max_points=10 ** 9)
    for old in (a, first, a):
        if old is a:
            again = old.refine(max_points=10 ** 4)
            assert again.level == first.level and np.array_equal(again.array, first.array)
        again = old.refine(max_points=10 ** 9)
        assert again.complete and np.array_equal(again.array, whole.array)
    some = p.query(limit=100, columns=["id"])
    more = some.refine(limit=200)
    with pytest.raises(bouma.StateError, match="before"):
        some.refine(limit=50)
    rest = more.refine(limit=10 ** 9)
    for old in (some, more):
        with pytest.raises(bouma.StateError, match="before"):
            old.refine(limit=50)
    assert sorted([*some["id"], *more["id"], *rest["id"]]) == list(range(5000))


def test_a_limit_of_what_was_read_already(run):
    some = run[0].p.query(limit=100, columns=["id"])
    seen, free = list(some["id"]), 0
    while not some.complete:
        free += some.answer.next_bytes == 0
        some = some.refine(limit=max(1000, some.answer.next_points), max_bytes=some.answer.next_bytes)
        seen += list(some["id"])
    assert free and sorted(seen) == list(range(5000))
    with pytest.raises(ValueError):
        run[0].p.query(max_bytes=0)


def test_threads_refine_one_answer(run):
    v, p = run[0]["g/v"], run[0].p
    whole = v[...]
    for _ in range(20):
        a, some = v.read(max_points=600), p.query(limit=50, columns=["id"])
        begin, found, counts = threading.Barrier(6), [], []

        def work():
            begin.wait()
            try:
                found.append(np.array_equal(a.refine(max_points=10 ** 9).array, whole))
                counts.append(some.refine(limit=2000).count)
            except bouma.StateError:
                counts.append(0)
            except BaseException as error:
                found.append(error)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert found == [True] * 6 and sorted(counts) == [0] * 5 + [2000]


def test_a_forked_child_refines_for_itself(run):
    v, p = run[0]["g/v"], run[0].p
    a, some = v.read(max_points=600), p.query(limit=50)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            whole = a.refine(max_points=10 ** 9)
            try:
                some.refine()
            except bouma.StateError:
                code = 0 if np.array_equal(whole.array, v[...]) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(a.refine(max_points=10 ** 9).array, v[...])
    assert some.refine(limit=10 ** 9).complete
