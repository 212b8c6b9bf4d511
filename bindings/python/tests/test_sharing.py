"""Pickles, processes, threads, and a dataset that is being written."""
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import bouma
from bouma import _session


def test_pickles_are_paths(example, monkeypatch):
    monkeypatch.chdir(os.path.dirname(example))
    ds = bouma.open(os.path.basename(example))
    for one in (ds, ds[-1], ds[-1].flow, ds[-1]["flow/density"], ds[-1]["flow/density"].level(1), ds["flow/density"],
                ds[-1].coal, ds[-1]["coal/T"]):
        raw = pickle.dumps(one)
        assert len(raw) < 1000
        with monkeypatch.context() as there:
            there.chdir("/")
            assert repr(pickle.loads(raw)).replace(example, os.path.basename(example)) == repr(one)
    again = pickle.loads(pickle.dumps([ds[0]["flow/density"], ds[1]["flow/density"]]))
    assert again[0].step.dataset._source is again[1].step.dataset._source
    assert np.array_equal(again[1][...], ds[1]["flow/density"][...])


def total(v):
    return float(np.asarray(v[...], "f8").sum())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(example, method):
    ds = bouma.open(example)
    some = [step["flow/density"] for step in ds]
    wanted = [total(v) for v in some]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(total, some * 3) == wanted * 3
    assert [total(v) for v in some] == wanted


def test_threads_read_one_dataset(example):
    ds = bouma.open(example)
    wanted = [(total(step["flow/density"]), step.coal.matches(where="T > 300")) for step in ds]
    failed = []
    begin = threading.Barrier(8)

    def work(seed):
        rng = np.random.default_rng(seed)
        begin.wait()
        try:
            for _ in range(20):
                i = int(rng.integers(0, 3))
                kept = ds[i].coal.query(where="T > 300")
                assert (total(ds[i]["flow/density"]), kept.count) == wanted[i]
                for _ in ds[i]["flow/density"].progressive():
                    break
                del kept
                gc.collect()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed, failed
    assert len(ds._source.free) <= 8 + 1
    ds.close()


def test_the_lock_of_the_interpreter_is_free_while_c_works(example):
    """A thread that reads lets others run: here one that the reading waits for."""
    ds = bouma.open(example)
    p = ds[-1].coal
    reached, go = threading.Event(), threading.Event()
    counts = []

    def slow():
        p.each(lambda table: (reached.set(), go.wait(), counts.append(table.count)))

    thread = threading.Thread(target=slow)
    thread.start()
    reached.wait()
    counts.append(total(ds[-1]["flow/density"]) != 0)  # while the other is inside the library
    go.set()
    thread.join()
    assert counts[0] is True and sum(counts[1:]) == p.count


WRITER = """
import sys
import numpy as np
import bouma
with bouma.create(sys.argv[1], durability="fast") as ds:
    v = ds.grid("g", (16, 16)).variable("v", "i8")
    print("created", flush=True)
    for i in range(5):
        sys.stdin.readline()
        with ds.step(10 * i, time=i):
            v.put(np.full((16, 16), i))
    sys.stdin.readline()
"""


def test_follow_a_running_writer(tmp_path):
    path = str(tmp_path / "run.bouma")
    with subprocess.Popen([sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as writer:
        assert writer.stdout.readline() == "created\n"
        ds = bouma.open(path)
        assert len(ds) == 0

        def more():
            writer.stdin.write("\n")
            writer.stdin.flush()

        more()
        seen = []
        for step in ds.follow(poll=0.01):  # each step is written once the last one was seen
            seen.append((step.number, step.time, int(step["g/v"][3, 3])))
            if len(seen) == 5:
                break
            more()
        assert seen == [(10 * i, float(i), i) for i in range(5)]
        more()
    assert list(ds.refresh().steps) == [0, 10, 20, 30, 40]
    assert [step.number for step in ds.follow(stop=lambda: True, after=20)] == [30, 40]
    assert [step.number for step in ds.follow(timeout=0)] == [0, 10, 20, 30, 40]
    with pytest.raises(ValueError):
        ds.at(time=float("nan"))
    assert ds.at(time=float("inf")).number == ds.steps[-1] and ds.at(time=float("-inf")).number == ds.steps[0]
    assert ds.at(time=2.4).number == 20 and ds.at(step=30).time == 3.0


def test_what_is_in_a_dataset(example, tmp_path):
    ds = bouma.open(example)
    assert "flow/density" in ds and "flow/nothing" not in ds and 0 not in ds
    assert ds[1] in ds and bouma.open(example)[1] not in ds
    bouma.create(tmp_path / "empty.bouma").close()
    assert "flow/density" not in bouma.open(tmp_path / "empty.bouma")


def test_what_notebooks_show(example):
    ds = bouma.open(example)
    assert "flow/density" in ds._repr_html_() and "0.2" in ds._repr_html_()
    assert "kg/m^3" in ds[-1]._repr_html_() and "coal/T" in ds[-1]._repr_html_()
    for one in (ds[-1].flow, ds[-1].flow.density, ds[-1].coal):
        assert one._repr_html_().startswith("<p><b>")
    assert "flow/density" in ds._ipython_key_completions_()
    assert {"flow", "flow/density", "coal/T"} <= set(ds[-1]._ipython_key_completions_())
    assert repr(ds[-1].coal.T) == "<bouma variable 'coal/T' of step 20: (1000,) float32 in K>"
    assert {"open", "create", "append", "from_xarray", "Writer", "NotFoundError"} <= set(dir(bouma))


def test_many_handles_are_not_kept(example):
    ds = bouma.open(example)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        assert ds[0]["flow/density"][0, 0, 0] == ds[0]["flow/density"][0, 0, 0]
        for _ in ds[1]["flow/density"].progressive():
            break
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) < before + 20


def test_refresh_is_that_of_all_threads(tmp_path):
    path = tmp_path / "d.bouma"

    def write(kind, number, value, **options):
        with kind(path, durability="fast", **options) as out:
            if kind is bouma.create:
                out.grid("g", (16, 16), levels=3).variable("v", "f4")
            with out.step(number) as step:
                step["g/v"] = np.full((16, 16), value, "f4")

    write(bouma.create, 0, 1)
    ds = bouma.open(path)
    v = ds[0]["g/v"]
    held = [v.read(max_points=16) for _ in range(3)]  # each has a session of its own
    free = v.read(max_points=16)
    del free
    write(bouma.append, 5, 2, like=-1)
    write(bouma.append, 0, 3, like=-1, replace=True)
    ds.refresh()
    assert ds[0]["g/v"][5, 5] == 3
    del held
    gc.collect()
    new = ds[-1]["g/v"]
    again = [(new.read(max_points=16).array[0, 0], ds[0]["g/v"].read(max_points=16)) for _ in range(5)]
    assert [one[0] for one in again] == [2] * 5
    assert all((one[1].array == 3).all() for one in again)
    ds.close()


def test_what_is_discarded_while_a_session_ends(example):
    ds = bouma.open(example)
    session, freed = ds._source.free[0], []

    class Slow:
        """Another thread discards something while the library frees the dataset."""

        def __getattr__(self, name):
            return getattr(library, name)

        def bouma_dataset_free(self, handle):
            ds._source.discard(session, freed.append, 1)
            library.bouma_dataset_free(handle)

    library, session.library = session.library, Slow()
    ds.close()
    assert freed == [1]
    ds._source.discard(session, freed.append, 2)
    assert freed == [1, 2]


class Counting:
    """A library that counts the steps which are opened, and those that are open now."""

    def __init__(self, library):
        self.library, self.opened, self.open = library, [], 0

    def __getattr__(self, name):
        return getattr(self.library, name)

    def bouma_step_open(self, out, handle, number):
        self.opened.append(number)
        self.open += 1
        return self.library.bouma_step_open(out, handle, number)

    def bouma_step_free(self, handle):
        self.open -= 1
        self.library.bouma_step_free(handle)


@pytest.fixture
def many_steps(tmp_path):
    path = tmp_path / "many.bouma"
    with bouma.create(path, durability="fast") as out:
        v = out.grid("g", (8, 8), patch=(4, 8)).variable("v", "f4")
        for i in range(64):
            with out.step(i):
                v.put(np.full((8, 8), i, "f4"))
    return path


def counted(ds):
    source = ds._source
    source.library = source.free[0].library = Counting(source.library)
    return source.library


def test_steps_are_opened_once_for_all_patches(many_steps):
    with bouma.open(many_steps) as ds:
        v = ds["g/v"]
        library = counted(ds)
        for y in (0, 4):  # as Dask does: all steps of a patch, then of the next one
            for i in range(64):
                assert (v[i, y:y + 4] == i).all()
        assert len(library.opened) == len(set(library.opened))


def test_a_thread_takes_the_session_that_has_the_step(many_steps):
    with bouma.open(many_steps) as ds:
        source, v = ds._source, ds["g/v"]
        one, two = source.take(), source.take()
        one.step(5), two.step(6)
        for order in ((one, two), (two, one)):
            for session in order:
                source.give(session)
            for number, wanted in ((5, one), (6, two)):
                with source.borrow(number) as session:
                    assert session is wanted
            assert (v[5] == 5).all() and (v[6] == 6).all()
            assert 6 not in one.steps and 5 not in two.steps
            source.take(), source.take()
        source.give(one), source.give(two)


def test_all_sessions_share_the_open_files(many_steps, monkeypatch):
    monkeypatch.setattr(_session, "open_files", lambda: 32)
    monkeypatch.setattr(_session, "_sources", [])
    with bouma.open(many_steps) as ds:
        source = ds._source
        library = counted(ds)
        some = [source.take() for _ in range(4)]
        for session in some:
            for i in range(64):
                session.step(i)
        for session in some:
            source.give(session)
        assert [len(session.steps) for session in some] == [8] * 4
        assert library.open == 32
        with bouma.open(many_steps) as other:  # whose steps take the place of those that nobody uses
            for i in range(64):
                assert (other[i]["g/v"][0] == i).all()
            assert sum(len(session.steps) for session in some + other._source.free) == 32
            assert len(other._source.free[0].steps) == 6


def test_steps_of_many_files_are_not_all_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(_session, "open_files", lambda: 40)
    monkeypatch.setattr(_session, "_sources", [])
    paths = [tmp_path / name for name in ("a.bouma", "b.bouma", "c.bouma")]
    for path in paths:
        with bouma.create(path, durability="fast", files=16) as out:
            v = out.grid("g", (16, 16), patch=(4, 4)).variable("v", "f4")
            for i in range(6):
                with out.step(i):
                    v.put(np.full((16, 16), i, "f4"))
    before = len(os.listdir("/proc/self/fd"))
    every = [bouma.open(path) for path in paths]
    some = [ds._source.take() for ds in every for _ in range(3)]
    for session in some:
        for i in range(6):
            session.step(i)
    assert [len(session.steps) for session in some] == [2] + [1] * 8  # what each one is at
    for session, ds in zip(some, [ds for ds in every for _ in range(3)]):
        ds._source.give(session)
    for ds in every:
        for i in range(6):
            assert (ds[i]["g/v"][...] == i).all()
    assert sum(session.held for session in some) <= 40
    assert len(os.listdir("/proc/self/fd")) <= before + 2 * len(some) + 40
    for ds in every:
        ds.close()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_tasks_with_pickles_open_a_dataset_once(many_steps, monkeypatch):
    ds = bouma.open(many_steps)
    made = []
    monkeypatch.setattr("bouma._dataset.Source", lambda *given: made.append(given) or type(ds._source)(*given))
    for _ in range(3):
        assert (pickle.loads(pickle.dumps(ds["g/v"]))[3] == 3).all()  # and forget it
    assert len(made) == 1
    with bouma.append(many_steps, like=-1, replace=True) as out:
        with out.step(3) as step:
            step["g/v"] = np.full((8, 8), 7, "f4")
    ds.refresh()
    assert (pickle.loads(pickle.dumps(ds["g/v"]))[3] == 7).all()
    assert len(made) == 2
    for _ in range(10):
        pickle.loads(pickle.dumps(bouma.open(many_steps)))
    gc.collect()
    from bouma import _dataset
    assert len(_dataset._kept) == 4 and len(_dataset._reopened) == 4


def test_a_step_that_is_written_again(many_steps):
    ds = bouma.open(many_steps)
    v, first = ds["g/v"], ds[0]["g/v"]  # of which no file is open
    with bouma.append(many_steps, durability="fast", replace=True) as out:
        w = out.grid("g", (8, 8), patch=(4, 8)).variable("v", "f4")
        with out.step(0):
            w.put(np.full((8, 8), 100, "f4"))
    with pytest.raises(bouma.StateError, match=r"written again since it was opened; ds.refresh\(\) sees that"):
        first[4, 0]
    ds.refresh()
    assert first[4, 0] == v[0, 4, 0] == 100 and (v[:3, 4, 0] == [100, 1, 2]).all()
