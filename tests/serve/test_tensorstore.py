"""test_tensorstore.py -- grids of `bouma serve` by TensorStore: Zarr of versions 2 and 3."""
import tempfile

import numpy as np
import tensorstore

from served import Server, check, equal, finish
import bouma
import view_data

work = tempfile.TemporaryDirectory(prefix="tensorstore")
path = view_data.write(f"{work.name}/run.bouma")
ds = bouma.open(path)


def opened(driver, url):
    return tensorstore.open({"driver": driver, "kvstore": url}, read=True).result()


def same(a, b, what):
    equal((a.shape, a.dtype), (b.shape, b.dtype), what)
    check(np.array_equal(a, b), what)


server = Server(path)
for driver, view in (("zarr3", "ome"), ("zarr", "ome2")):
    for level in range(3):
        v = opened(driver, f"{server.url}{view}/run/flow/v/{level}/")
        own = np.stack([ds[t]["flow/v"].level(level)[...] for t in range(3)]).astype("f4")
        same(v.read().result(), np.moveaxis(own, -1, 1), f"{view}, level {level}")
    rho = opened(driver, f"{server.url}{view}/run@20/flow/rho/0/")
    same(rho[3:9, 60:70, 100:].read().result(), ds[2]["flow/rho"][3:9, 60:70, 100:], f"a box of {view}")
    if driver == "zarr3":
        equal(rho.domain.labels, ("z", "y", "x"))
    kind = opened(driver, f"{server.url}{view}/run/flow/kind/1/")
    check(np.isnan(kind[0].read().result()).all(), "a step without values")
for name in ("rho", "v", "kind"):
    one = opened("zarr", f"{server.url}zarr/run/flow/1/{name}/")
    same(one[2].read().result(), ds[2][f"flow/{name}"].level(1)[...], name)
server.end()
finish()
