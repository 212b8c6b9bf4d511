"""Threads that write, copies, interrupts, and what is kept for how long."""
import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import bouma
from bouma import _session


def together(work, count=4):
    """Run work(0), work(1), ... at once; what they raise."""
    failed, begin = [], threading.Barrier(count)

    def run(number):
        begin.wait()
        try:
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    finally:
        sys.setswitchinterval(interval)
    return failed


def one_at_a_time(monkeypatch, library, *names):
    """Watch these functions of C; the list that is returned has what ran at once."""
    inside, found = [], []

    def watched(name, call):
        def run(*arguments):
            inside.append(name)
            time.sleep(0.001)  # others run
            found.extend([list(inside)] if len(inside) > 1 else [])
            try:
                return call(*arguments)
            finally:
                inside.remove(name)

        return run

    for name in names:
        monkeypatch.setattr(library, name, watched(name, getattr(library, name)))
    return found


def test_threads_define_and_put(tmp_path, monkeypatch):
    with bouma.create(tmp_path / "a.bouma", durability="fast") as ds:
        found = one_at_a_time(monkeypatch, ds._library, "bouma_attributes_set", "bouma_variable_define",
                              "bouma_variable_put_borrow", "bouma_attributes_get", "bouma_dataset_note")
        grid = ds.grid("g", (8, 8))
        v = {}

        def define(number):
            v[number] = grid.variable("v%d" % number, "f4")
            for i in range(2):
                ds.attrs["a%d_%d" % (number, i)] = v[number].attrs["n%d" % i] = i
                dict(ds.attrs), ds.notes

        assert together(define) == []
        assert len(ds.attrs) == 8
        with ds.step(0):
            def put(number):
                for i in range(8):
                    v[number].put(np.full((1, 8), 10 * number + i, "f4"), at=(i, 0))

            assert together(put) == []
    assert found == []
    step = bouma.open(tmp_path / "a.bouma")[0]
    for number in range(4):
        one = step.g["v%d" % number]
        assert (one[...] == 10 * number + np.arange(8)[:, None]).all()
        assert one.attrs == {"n%d" % i: i for i in range(2)}


def test_a_thread_closes_while_others_define(tmp_path):
    for _ in range(5):
        ds = bouma.create(tmp_path / "a.bouma", clobber=True, durability="fast")
        grid = ds.grid("g", (8, 8))

        def work(number):
            for i in range(1000 if number else 20):
                grid.variable("v%d_%d" % (number, i), "f4")
                ds.attrs["a%d" % number] = "x" * i
                ds.notes, dict(grid.attrs)
            if number == 0:
                ds.close()

        assert all(isinstance(error, bouma.ClosedError) for error in together(work))
        assert ds.closed


def test_a_writer_is_not_copied(tmp_path):
    with bouma.create(tmp_path / "a.bouma", durability="fast") as ds:
        v = ds.grid("g", (4, 4)).variable("v", "f4")
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="one writer"):
                attempt(ds)
        with pytest.raises(TypeError):
            pickle.dumps(v)
        gc.collect()
        with ds.step(0):
            v.put(np.ones((4, 4), "f4"))
    assert (bouma.open(tmp_path / "a.bouma")[0]["g/v"][...] == 1).all()


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ZeroDivisionError])
def test_what_progress_raises_comes_through(tmp_path, kind):
    def progress(*_):
        if raising:
            raise kind("in progress")

    raising = False
    with bouma.create(tmp_path / "a.bouma", durability="fast", progress=progress) as ds:
        v = ds.grid("g", (4, 4)).variable("v", "f4")
        raising = True
        with pytest.raises(kind, match="in progress"):
            with ds.step():
                v.put(np.ones((4, 4), "f4"))
        raising = False
        with ds.step() as step:  # the one before is complete
            v.put(np.ones((4, 4), "f4"))
        assert step.number == 1
    assert bouma.open(tmp_path / "a.bouma").steps.tolist() == [0, 1]
    with pytest.raises(TypeError, match="progress is a function"):
        bouma.open(tmp_path / "a.bouma", progress=5)


def test_refused_arrays_are_not_kept(tmp_path):
    def refused(put, error, **columns):
        with pytest.raises(error):
            put(**columns)
        return [weakref.ref(one) for one in columns.values()]

    with bouma.create(tmp_path / "a.bouma", durability="fast") as ds:
        v = ds.grid("g", (64, 64)).variable("v", "f4")
        p = ds.particles("p", 3, dtype="f8")
        some = refused(v.put, bouma.StateError, array=np.zeros((64, 64), "f4"))
        some += refused(p.put, bouma.StateError, position=np.zeros((9, 3)))
        gc.collect()
        assert [one() for one in some] == [None, None]


def test_steps_have_whole_numbers(tmp_path):
    with bouma.create(tmp_path / "a.bouma", durability="fast") as ds:
        for wrong in (1.7, "5", np.nan):
            with pytest.raises(TypeError, match="number of a step"):
                ds.step(wrong)
        with pytest.raises(TypeError, match="a name is a text"):
            ds.grid(5, (4, 4))
        with pytest.raises(ValueError, match="masked"):
            ds.attrs["a"] = np.ma.masked


def test_texts_do_not_depend_on_a_session_that_others_use(example, monkeypatch):
    """Another thread may refresh or free the session as soon as it is given back."""
    ds = bouma.open(example)
    step = ds[-1]
    wanted = step.flow.unit, step.coal.unit
    assert wanted[0]
    give = _session.Source.give

    def given(source, session):
        session.clear()
        give(source, session)

    monkeypatch.setattr(_session.Source, "give", given)
    for _ in range(20):
        assert (step.flow.unit, step.coal.unit) == wanted


def test_few_files_stay_open(example):
    ds = bouma.open(example)
    before = len(os.listdir("/proc/self/fd"))
    v, p = ds[-1]["flow/density"], ds[-1].coal
    kept = [v.read(max_points=100) for _ in range(100)] + [p.query(limit=3) for _ in range(100)]
    assert len({one.answer.points for one in kept}) == 2
    del kept
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before + 2 * _session.FREE_SESSIONS
    ds.close()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_batches_can_be_kept(tmp_path):
    with bouma.create(tmp_path / "a.bouma", durability="fast") as ds:
        ds.write({"p": {"position": np.random.default_rng(1).random((5000, 3)), "T": np.arange(5000.0)}})
    kept, p = [], bouma.open(tmp_path / "a.bouma")[0].p
    p.each(kept.append)
    assert len(kept) > 1 and all(one[name].flags.owndata for one in kept for name in one)
    found = np.concatenate([one["T"] for one in kept])
    assert np.array_equal(np.sort(found), np.sort(p.query()["T"]))


LEFT_OPEN = """
import atexit, os, shutil, sys
atexit.register(os._exit, 7)  # right after bouma has closed what is open; nothing is deleted
import numpy as np
import bouma
some = [bouma.create("%d.bouma" % i, durability="fast", group=100) for i in range(6)]
for ds in some:
    v = ds.grid("g", (4, 4)).variable("v", "f4")
    with ds.step(0):
        v.put(np.zeros((4, 4), "f4"))
for i in (0, 2, 4):
    shutil.rmtree("%d.bouma" % i)
"""


def test_a_writer_that_fails_at_the_end_does_not_keep_others_open(tmp_path):
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 7
    for i in (0, 2, 4):
        assert "%d.bouma" % i in done.stderr
    for i in (1, 3, 5):
        assert bouma.open(tmp_path / ("%d.bouma" % i)).steps.tolist() == [0]
