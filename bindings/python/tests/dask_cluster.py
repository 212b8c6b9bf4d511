"""dask_cluster.py PATH [WORKERS] -- the mean of a series over several processes.

Writes 24 steps of 16 MiB, and lets 4 workers compute the mean of all and the largest value
over time through xarray. Each of them must stay below what the whole series takes."""
import sys

import numpy as np


def main(path, workers):
    import xarray as xr
    from dask.distributed import Client, LocalCluster

    import bouma

    rng = np.random.default_rng(2)
    base = rng.random((128, 128, 256), "f4")
    total, largest = 0.0, np.zeros((32, 32, 64), "f4")
    with bouma.create(path, clobber=True, durability="fast") as out:
        v = out.grid("g", base.shape, patch=(64, 64, 64)).variable("v", "f4", codec="raw")
        for i in range(24):
            now = base * np.float32(1 + i % 7)
            with out.step(i, time=i / 8):
                v.put(now)
            total += float(now.mean(dtype="f8"))
            largest = np.maximum(largest, now[::4, ::4, ::4])
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None,
                      host="127.0.0.1", memory_limit=0) as cluster, Client(cluster) as client:
        ds = xr.open_dataset(path, engine="bouma", chunks={})
        mean = float(ds.v.mean(dtype="f8").compute())
        assert abs(mean - total / 24) < 1e-6 * mean, (mean, total / 24)
        coarse = xr.open_dataset(path, engine="bouma", chunks={}, level=2)
        assert np.array_equal(coarse.v.max("time").compute(), largest)
        used = client.run(lambda: __import__("resource").getrusage(__import__("resource").RUSAGE_SELF).ru_maxrss)
        print("%d workers, %d MiB of samples, at most %d MiB each"
              % (len(used), 24 * base.nbytes >> 20, max(used.values()) >> 10))
        assert len(used) == workers and max(used.values()) >> 10 < 24 * base.nbytes >> 20


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4)
