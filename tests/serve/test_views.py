"""test_views.py -- grids and particles of `bouma serve` by clients that know nothing of bouma: xarray and zarr.
The values are those of the Python package, and no chunk is asked for that is not shown."""
import os
import sys
import tempfile

import numpy as np

from served import Server, check, equal, finish
import view_data


def skip(what):
    print(f"skipped: {what}")
    sys.exit(77)


try:
    import aiohttp  # noqa: F401
    import xarray as xr
    import zarr
except ImportError as missing:
    skip(f"{sys.executable} has no {missing.name}")
import bouma

work = tempfile.TemporaryDirectory(prefix="views")
path = view_data.write(f"{work.name}/run.bouma")
ds = bouma.open(path)
NEW = int(zarr.__version__.split(".")[0]) >= 3


def same(a, b, what):
    a, b = np.asarray(a), np.asarray(b)
    equal((a.shape, a.dtype), (b.shape, b.dtype), what)
    check(a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), what)


def chunks_asked(server, work):
    """Paths of binary answers while 'work' runs."""
    server.log.flush()
    before = os.fstat(server.log.fileno()).st_size
    work()
    with open(f"/proc/self/fd/{server.log.fileno()}", "rb") as log:
        log.seek(before)
        lines = log.read().decode().splitlines()
    return [line for line in lines if " GET " in line or '"GET ' in line]


def xarrays(server):
    """Each level is what the engine of the Python package opens."""
    for level in range(3):
        got = xr.open_zarr(f"{server.url}zarr/run/flow/{level}/", consolidated=True)
        own = bouma.open(path).to_xarray("flow", level=level)
        equal((set(got.data_vars), set(got.coords)), (set(own.data_vars), set(own.coords)))
        equal(dict(got.sizes), dict(own.sizes))
        equal(got.attrs, dict(own.attrs))
        for name in own.coords:
            same(got[name].values, own[name].values, f"{name} of level {level}")
            equal(got[name].attrs, own[name].attrs, name)
        for name in ("rho", "v"):
            same(got[name].values, own[name].values, f"{name} of level {level}")
            equal(got[name].attrs, own[name].attrs, name)
        same(got["kind"].values[1:], np.stack([ds[i]["flow/kind"].level(level)[...] for i in (1, 2)]), "integers")
        same(got["kind"].values[0], np.zeros(got["kind"].shape[1:], "i8"), "a step without it")
    one = xr.open_zarr(f"{server.url}zarr/run@10/flow/1/", consolidated=True)
    equal((one.sizes["time"], float(one.time[0]), int(one.step[0])), (1, 0.5, 10))
    same(one["rho"].values[0], ds[1]["flow/rho"].level(1)[...], "one step")
    for level in range(ds[0]["curve"].levels):
        curve = xr.open_zarr(f"{server.url}zarr/run/curve/{level}/", consolidated=True)
        same(curve["wave"].values[1], ds[1]["curve/wave"].level(level)[...], f"HZ order, level {level}")
    plane = xr.open_zarr(f"{server.url}zarr/run/plane/0/", consolidated=True)
    equal(plane["height"].dims, ("time", "y", "x"))
    same(plane["height"].values[2], ds[2]["plane/height"][...], "two axes")


def all_levels(server):
    """The group above the levels has them all, at the cost of one request."""
    for name in ("run", "run@20"):
        opened = []
        asked = chunks_asked(server, lambda: opened.append(zarr.open_consolidated(f"{server.url}zarr/{name}/flow")))
        check(all("/flow/." in line or "/flow/zarr.json" in line for line in asked), str(asked))
        root = opened[0]
        equal(dict(root.attrs)["grid"], "flow")
        equal(sorted(key for key, _ in root.groups()), ["0", "1", "2"])
        for level in range(3):
            equal(root[str(level)].attrs["level"], level)
            same(root[f"{level}/rho"][-1], ds[2]["flow/rho"].level(level)[...], f"level {level} from above")
            equal(root[f"{level}/x"].shape, (root[f"{level}/rho"].shape[-1],))
        group = zarr.open_group(f"{server.url}zarr/{name}/flow", mode="r")
        same(group["1/v"][-1], ds[2]["flow/v"].level(1)[...], "a group")
    if NEW:
        tree = xr.open_datatree(f"{server.url}zarr/run/flow", engine="zarr", consolidated=True)
        same(tree["2/rho"].values[1], ds[1]["flow/rho"].level(2)[...], "a tree of xarray")


def tags(server):
    """Metadata have tags, and are not sent again to who has them, until a step comes."""
    for address in ("zarr/run/flow/.zmetadata", "zarr/run/flow/.zgroup", "zarr/run/flow/.zattrs", "zarr/run/flow/1/.zmetadata",
                    "zarr/run/flow/1/.zgroup", "zarr/run/flow/1/.zattrs", "zarr/run/flow/1/rho/.zarray",
                    "zarr/run/flow/1/rho/.zattrs", "zarr/run/flow/1/time/0", "zarr/run/flow/1/x/0",
                    "ome/run/flow/rho/zarr.json", "ome/run/flow/rho/0/zarr.json", "ome2/run/flow/rho/.zattrs",
                    "ome2/run/flow/rho/.zgroup", "ome2/run/flow/rho/.zmetadata", "ome2/run/flow/rho/0/.zarray"):
        status, headers, body = server.ask("/" + address)
        equal((status, headers["Cache-Control"]), (200, "no-cache"), address)
        status, again, nothing = server.ask("/" + address, If_None_Match=headers["ETag"])
        equal((status, again["ETag"], nothing), (304, headers["ETag"], b""), address)
        equal(server.ask("/" + address, If_None_Match='"another"')[::2], (200, body), address)


def few_chunks(server):
    """A point of a step is one chunk; a coarse level of it is one, too."""
    got = xr.open_zarr(f"{server.url}zarr/run/flow/0/", consolidated=True)
    asked = chunks_asked(server, lambda: got["rho"][1, 3, 4, 5].values)
    equal(len(asked), 1, str(asked))
    asked = chunks_asked(server, lambda: got["rho"][1, 3, :, 70].values)
    equal(len(asked), 2, str(asked))


def images(server):
    """Zarr of version 2 by any zarr, of version 3 by those that have it."""
    for view in ("ome2", "ome") if NEW else ("ome2",):
        base = f"{server.url}{view}/run/flow"
        group = zarr.open_group(f"{base}/v", mode="r")
        attributes = dict(group.attrs)
        scales = (attributes["ome"] if view == "ome" else attributes)["multiscales"][0]
        equal([axis["name"] for axis in scales["axes"]], list("tczyx"))
        equal(scales["axes"][4]["unit"], "millimeter")
        equal((attributes["bouma"]["type"], attributes["bouma"]["rounded"]), ("f32", True))
        for level, dataset in enumerate(scales["datasets"]):
            scale, translation = (dataset["coordinateTransformations"][i] for i in (0, 1))
            equal(scale["scale"], [0.5, 1, 0.5 * 2**level, 0.25 * 2**level, 0.125 * 2**level])
            equal(translation["translation"], [0, 0, 1, 2, 3])
            array = group[dataset["path"]]
            for t in range(3):
                own = ds[t]["flow/v"].level(level)[...].astype("f4")
                same(array[t], np.moveaxis(own, -1, 0), f"{view}, level {level}")
        one = zarr.open_group(f"{base.replace('run', 'run@last')}/rho", mode="r")
        same(one["1"][...], ds[2]["flow/rho"].level(1)[...], f"{view} of one step")
        kind = zarr.open_group(f"{base}/kind", mode="r")["0"]
        check((kind[0] != kind[0]).all(), "a step without values is NaN")
        same(kind[2], ds[2]["flow/kind"][...].astype("f4"), "i64 as f32")
        plane = zarr.open_group(f"{server.url}{view}/run/plane/height", mode="r")
        same(plane["1"][2], ds[2]["plane/height"].level(1)[...], "two axes")
        scales = (plane.attrs["ome"] if view == "ome" else plane.attrs)["multiscales"][0]
        check(all("unit" not in axis for axis in scales["axes"]), "units that viewers refuse are left out")


def errors(server):
    for address, code in (
        ("/zarr/run/flow/3/.zgroup", 404), ("/zarr/run/flow/00/.zgroup", 404), ("/zarr/run/flow/0/rho/0.0.0", 404),
        ("/zarr/run/flow/0/rho/3.0.0.0", 404), ("/zarr/run/flow/0/rho/0.0.0.-1", 404), ("/zarr/run/flow", 404), ("/zarr/run/flow/.other", 404),
        ("/zarr/run/flow/0/rho/0.0.0.99999999999999999999", 404), ("/zarr/run/flow/0/rho/00.0.0.0", 404),
        ("/zarr/run/dust/0/.zgroup", 404), ("/zarr/run@7/flow/0/.zgroup", 404), ("/zarr/no/flow/0/.zgroup", 404),
        ("/zarr/run/flow/0/.zgroup?level=1", 400), ("/ome/run/flow/no/zarr.json", 404), ("/ome/run/flow/v", 404),
        ("/ome/run/flow/v/0/c/0/3/0/0/0", 404), ("/ome/run/flow/v/0/c/0/0/0/0", 404), ("/ome/run/flow/v/.zattrs", 404),
    ):
        equal(server.json(address, code)["error"]["code"], code, address)
    status, headers, body = server.ask("/zarr/run/flow/0/rho/1.0.0.0")
    status, headers, body = server.ask("/zarr/run/flow/0/rho/1.0.0.0", If_None_Match=headers["ETag"])
    equal((status, body), (304, b""))


def growing(server):
    """What was opened before a step came reads on; what is opened after it has the step."""
    before = xr.open_zarr(f"{server.url}zarr/run/flow/0/", consolidated=True)
    metadata = [f"/{name}" for name in ("zarr/run/flow/.zmetadata", "zarr/run/flow/0/time/0", "ome/run/flow/rho/zarr.json")]
    old = [server.ask(address)[1]["ETag"] for address in metadata]
    with bouma.append(path, like=20) as more:
        with more.step(30, time=7.5):
            more.grid("flow").variable("rho").put(np.full((20, 70, 130), 5, "f4"))
    same(before["rho"][2].values, ds[2]["flow/rho"][...], "opened before")
    same(before["time"].values, np.array([0, 0.5, 1.0]), "times that were known")
    after = xr.open_zarr(f"{server.url}zarr/run/flow/0/", consolidated=True)
    same(after["time"].values, np.array([0, 0.5, 1.0, 7.5]), "times with the new one")
    check((after["rho"][3].values == 5).all(), "the new step")
    for address, tag in zip(metadata, old):
        equal(server.ask(address, If_None_Match=tag)[0], 200, f"another tag of {address}")
    scales = server.json("/ome/run/flow/rho/zarr.json")["attributes"]["ome"]["multiscales"][0]
    equal(scales["datasets"][0]["coordinateTransformations"][0]["scale"][0], 1, "times that are not even")


def main():
    server = Server(path)
    for test in (xarrays, all_levels, tags, few_chunks, images, errors, growing):
        test(server)
    server.end()
    finish()


main()
