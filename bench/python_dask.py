"""python_dask.py -- a mean over time by xarray and Dask, of the same field in bouma and in Zarr.

Both have the same chunks, one step each, and zstd at level 1 (bouma's default). A run opens the data and
computes the mean, by threads or by a pool of processes that stays; the runs of both are taken in turns,
after one of each that fills the page cache and starts the pool."""
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import bouma

STEPS = 64
SHAPE = (64, 128, 128)
PATCH = (32, 64, 64)
PROCESSES = 4


def first_step(path):
    """The 41 x 128 x 128 samples of a file, mirrored; or waves of many lengths, with some noise."""
    if path:
        field = np.fromfile(path, "f4").reshape(41, 128, 128)
        return np.pad(field, ((0, SHAPE[0] - 41), (0, 0), (0, 0)), mode="symmetric")
    rng = np.random.default_rng(1)
    at = np.meshgrid(*(np.arange(n) / 128 for n in SHAPE), indexing="ij")
    field = 1e-4 * rng.standard_normal(SHAPE)
    for k in (1, 2, 3, 5, 8, 13, 21, 34):
        direction = rng.standard_normal(3)
        field += np.sin(2 * np.pi * (k * sum(d * x for d, x in zip(direction, at)) + rng.random())) / k
    return field.astype("f4")


def write(xr, folder, path):
    """The field, which moves and grows, in both; the bytes of each."""
    from numcodecs import Zstd

    first = first_step(path)
    steps = np.stack([np.roll(first, i, axis=2) * np.float32(1 + i / 100) for i in range(STEPS)])
    data = xr.Dataset({"v": (("time", "z", "y", "x"), steps)}, {"time": np.arange(float(STEPS))})
    ours, theirs = os.path.join(folder, "mean.bouma"), os.path.join(folder, "mean.zarr")
    bouma.from_xarray(data, ours, codec="zstd", patch=PATCH, durability="fast")
    data.to_zarr(theirs, encoding={"v": {"chunks": (1,) + PATCH, "compressor": Zstd(level=1)}})
    return ours, theirs


def bytes_in(folder):
    return sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(folder) for name in names)


def mean_of(xr, path, engine, **how):
    """The mean, and the seconds it took: on the clock, and of the processors in this process."""
    start, used = time.perf_counter(), time.process_time()
    with xr.open_dataset(path, engine=engine, chunks={}) as data:
        assert data.v.data.chunksize == (1,) + PATCH, data.v.data.chunksize
        mean = data.v.mean("time").compute(**how)
    return mean.values, (time.perf_counter() - start, time.process_time() - used)


def compare(xr, paths, count, **how):
    """Both times of ours, and of Zarr's."""
    found = []
    for _ in range(count + 1):
        ours, theirs = (mean_of(xr, path, engine, **how) for path, engine in zip(paths, ("bouma", "zarr")))
        assert np.allclose(ours[0], theirs[0], rtol=1e-6)
        found.append((ours[1], theirs[1]))
    return np.array(found[1:]).transpose(1, 2, 0).tolist()


def means(score, folder, path, turns):
    try:
        import dask  # noqa: F401
        import xarray as xr
        import zarr  # noqa: F401
    except ImportError as error:
        print("%s: no comparison with Zarr" % error)
        return
    paths = write(xr, folder, path)
    what = "mean over %d steps, %%s, over Zarr" % STEPS
    score.add("bytes of these %d steps over those of Zarr" % STEPS, "", bytes_in(paths[0]) / bytes_in(paths[1]))
    ours, theirs = compare(xr, paths, turns, scheduler="threads")
    score.add(what % "threads", "s", ours[0], reference=("Zarr", theirs[0]), at_most=1.0)
    score.add(what % "threads, processor time", "s", ours[1], reference=("Zarr", theirs[1]))
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        ours, theirs = compare(xr, paths, turns, scheduler="processes", pool=pool)
    score.add(what % ("%d processes" % PROCESSES), "s", ours[0], reference=("Zarr", theirs[0]), at_most=1.0)
