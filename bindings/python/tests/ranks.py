"""ranks.py WHAT FOLDER [RANKS] -- run under mpirun by test_mpi.py: writing and reading with ranks."""
import os
import sys
import threading
import time

import numpy as np
from mpi4py import MPI

import bouma

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size


def field(step, n):
    z, y, x = np.mgrid[0:n, 0:20, 0:24]
    return (z * 1000 + y * 50 + x + step).astype("f4")


def write(folder):
    """Slabs of a grid that has no multiple of the ranks, and particles of each rank."""
    n = 37
    low, high = n * rank // ranks, n * (rank + 1) // ranks
    with bouma.create(os.path.join(folder, "run.bouma"), comm, files=2, durability="fast") as ds:
        ds.attrs["ranks"] = ranks
        grid = ds.grid("flow", (n, 20, 24), patch=(8, 8, 8))
        density = grid.variable("density", "f4")
        coal = ds.particles("coal", ndims=3, dtype="f8").variable("id", "i8")
        for i in range(2):
            with ds.step(i, time=0.5 * i) as step:
                density.put(field(i, n)[low:high], at=(low, 0, 0))
                mine = np.arange(1000)[1000 * rank // ranks:1000 * (rank + 1) // ranks]
                position = np.random.default_rng(1).random((1000, 3))[mine]
                step.put("coal", {"position": position, "id": mine})
        assert ds.record["ranks"] == ranks


def read(folder):
    """Each rank reads what it likes; particles come by box or share."""
    with bouma.open(os.path.join(folder, "run.bouma"), comm) as ds:
        assert ds.attrs["ranks"] > 0
        for i, step in enumerate(ds):
            whole = field(i, 37)
            v = step["flow/density"]
            assert np.array_equal(v[rank::2], whole[rank::2])
            part = [(37 * rank // ranks, 37 * (rank + 1) // ranks)]
            assert np.array_equal(v.read(part, collective=True), whole[slice(*part[0])])
            assert np.array_equal(v.read(level=1, collective=True), whole[::2, ::2, ::2])
            share = step.coal.restart()
            ids = np.concatenate(comm.allgather(share["id"]))
            assert sorted(ids.tolist()) == list(range(1000))
            assert share.count <= 1000 // ranks + 1
            box = {"x": (rank / ranks, (rank + 1) / ranks)}
            mine = step.coal.restart(box, columns=["position", "id"])
            inside = (mine["position"][:, 0] >= box["x"][0]) & (mine["position"][:, 0] < box["x"][1])
            assert inside.all() and comm.allreduce(mine.count) == 1000
        ds.refresh()
        del step, v, share, mine


def fail(folder):
    """What fails on one rank fails on all, with its rank."""
    path = os.path.join(folder, "bad.bouma")
    last = ranks - 1
    with bouma.create(path, comm) as ds:
        v = ds.grid("g", (ranks, 4)).variable("v", "f4")
        try:
            with ds.step(0):
                if rank != last or ranks == 1:
                    v.put(np.zeros((1, 3 if ranks == 1 else 4), "f4"), [(rank, rank + 1), (0, 3 if ranks == 1 else 4)])
            raise SystemExit("a rank did not hand over its block, and nothing failed")
        except bouma.CoverError as error:
            assert error.status == bouma.ECOVER
        try:
            with ds.step(0):
                v.put(np.full((1, 4), 0.1 if rank == last else 0.5), at=(rank, 0))
            raise SystemExit("0.1 is no f32, and nothing failed")
        except bouma.InvalidError as error:
            assert "0.1" in str(error) and error.rank == (last if ranks > 1 else None), (str(error), error.rank)
        try:
            with ds.step(0):
                v.put(np.zeros((1, 4), "f4"), at=(rank, 0))
                if rank == last:
                    raise ZeroDivisionError("on this rank only")
            assert rank != last
        except bouma.AbortedError:
            assert rank != last
        except ZeroDivisionError:
            assert rank == last
        with ds.step(0):
            v.put(np.zeros((1, 4), "f4"), at=(rank, 0))
    wrong_reads(path)
    try:
        bouma.open(os.path.join(folder, "nowhere.bouma"), comm)
        raise SystemExit("there is no such dataset, and nothing failed")
    except FileNotFoundError as error:
        assert "nowhere" in str(error)


def wrong_reads(path):
    """A wrong argument on one rank fails the collective call on all, at once."""
    with bouma.append(path, comm) as ds:
        p = ds.particles("p", 3, dtype="f8").variable("T", "f4")
        with ds.step(1):
            p.put(position=np.full((2, 3), 0.5), T=np.ones(2, "f4"))
    with bouma.open(path, comm, timeout=20) as ds:
        v, p = ds[0]["g/v"], ds[1]["p"]
        there, last = (ranks, 4), rank == ranks - 1
        calls = [
            lambda: v.read(out=np.zeros((3,) if last else there, "f4"), collective=True),
            lambda: v.read(dtype=complex if last else None, collective=True),
            lambda: v.read(dtype=">f4" if last else None, collective=True),
            lambda: v.read(box=[(0, 99)] if last else None, collective=True),
            lambda: v.read(level=77 if last else 0, collective=True),
            lambda: p.restart(where="T >" if last else "T > 0"), lambda: p.restart(columns=["Q"] if last else None),
            lambda: p.restart(box=[(0, 1)] if last else None), lambda: p.restart(box={"x": "ab"} if last else None),
        ]
        for i, call in enumerate(calls):
            try:
                call()
                raise SystemExit("call %d with a wrong argument on one rank did not fail" % i)
            except (ValueError, TypeError, KeyError, IndexError) as error:
                assert last or isinstance(error, bouma.InvalidError) and error.rank == ranks - 1, (i, repr(error))
        assert v.read(collective=True).shape == there and comm.allreduce(p.restart().count) == 2 * ranks


def differ(folder):
    """A rank that fails alone, between collective calls, does not keep the others waiting."""
    path, last = os.path.join(folder, "differ.bouma"), rank == ranks - 1
    options = {"clobber": True, "durability": "fast", "timeout": 20}

    def written(body, where=path, **more):
        with bouma.create(where, comm, **options, **more) as ds:
            v = ds.grid("g", (ranks, 4)).variable("v", "f4")
            with ds.step(0):
                v.put(np.zeros((1, 4), "f4"), at=(rank, 0))
            body(ds, v)

    def another_step(number):
        def body(ds, v):
            with ds.step(number):
                v.put(np.zeros((1, 4), "f4"), at=(rank, 0))

        return body

    def opened(body, where=path, **more):
        with bouma.open(where, comm, timeout=20, **more) as ds:
            body(ds)

    def stop(value):
        if last:
            raise ZeroDivisionError("on this rank only")
        return value

    calls = [
        lambda: written(lambda ds, v: another_step(stop(1))(ds, v)), lambda: written(another_step("1" if last else 1)),
        lambda: written(lambda ds, v: ds.grid("h", "ab" if last else (4, 4)) and another_step(1)(ds, v)),
        lambda: written(lambda ds, v: ds.truncate("0" if last else 0)),
        lambda: written(lambda ds, v: ds.delete("0" if last else 0)),
        lambda: written(lambda ds, v: ds.like("0" if last else 0)),
        lambda: written(another_step(1), threads="x" if last else 1),
        lambda: written(another_step(1), 5 if last else path), lambda: written(another_step(1), path),
        lambda: opened(len, path + ("\0" if last else "")), lambda: opened(len, 5 if last else path),
        lambda: opened(len, threads="x" if last else 1), lambda: opened(lambda ds: stop(ds).refresh()),
        lambda: opened(lambda ds: stop(ds[0]["g/v"]).read(collective=True)),
    ]
    for i, call in enumerate(calls):
        try:
            call()
            assert i == 8, "call %d failed on one rank, and not on this one" % i
        except (ValueError, TypeError, ZeroDivisionError) as error:
            assert i != 8 and (last or isinstance(error, (bouma.MismatchError, bouma.InvalidError))), (i, repr(error))


def threads(folder):
    """A thread closes a dataset while others read it."""
    path = os.path.join(folder, "threads.bouma")
    with bouma.create(path, comm, durability="fast") as ds:
        ds.write({"g/v": np.arange(96 ** 3, dtype="f4").reshape(96, 96, 96)})
    for _ in range(5):
        ds, failed, begin = bouma.open(path, comm), [], threading.Barrier(4)
        v, library = ds[0]["g/v"], ds._source.library
        call = type(library).__getattr__(library, "bouma_variable_read")

        def slow(*arguments):
            reads.append(1)
            time.sleep(0.01)  # others run
            try:
                return call(*arguments)
            finally:
                reads.pop()

        library.bouma_variable_read, reads = slow, []

        def work():
            try:
                v[0]
                begin.wait()
                while True:
                    v[...]
            except BaseException as error:
                failed.append(type(error))

        some = [threading.Thread(target=work) for _ in range(3)]
        for one in some:
            one.start()
        begin.wait()
        ds.close()
        assert not reads, "the dataset was closed during a read"
        for one in some:
            one.join()
        assert failed == [bouma.ClosedError] * 3, failed


{"write": write, "read": read, "fail": fail, "differ": differ, "threads": threads}[sys.argv[1]](sys.argv[2])
comm.Barrier()
if rank == 0:
    print("done on %d ranks" % ranks)
