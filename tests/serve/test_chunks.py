"""test_chunks.py -- every chunk of every Zarr view is what its metadata say: for shapes that are no multiple of a chunk, all
types, and one, two and three axes, put together here without a library of Zarr."""
import itertools
import sys
import tempfile

from served import Server, check, equal, finish

try:
    import numpy as np
except ImportError:
    print(f"skipped: {sys.executable} has no numpy")
    sys.exit(77)
import bouma

TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
# Patches that fit into a chunk of 64 once, several times, and not at all; HZ order; axes that are shorter than one.
GRIDS = {
    "line": dict(shape=(300001,), patch=(1024,), levels=3),
    "plane": dict(shape=(513, 7), patch=(16, 4), levels=2),
    "cube": dict(shape=(65, 3, 130), patch=(16, 16, 16), levels=3),
    "odd": dict(shape=(67, 70, 1), patch=(128, 8, 8), levels=2),
    "curve": dict(shape=(20, 66, 9), layout="hz", levels=3),
}
work = tempfile.TemporaryDirectory(prefix="chunks")
path = f"{work.name}/run.bouma"


def values(rng, dtype, shape):
    if dtype[0] == "f":
        found = rng.normal(size=shape).astype(dtype)
        found.flat[:: 7] = np.nan
        found.flat[1] = np.inf
        return found
    limits = np.iinfo(dtype)
    found = rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    found.flat[0], found.flat[-1] = limits.min, limits.max
    return found


def write():
    """Step 1 has all variables, step 0 none but a vector."""
    rng = np.random.default_rng(5)
    with bouma.create(path, durability="fast") as ds:
        grids = {name: ds.grid(name, **about) for name, about in GRIDS.items()}
        variables = {name: [(grid.variable(dtype, dtype), dtype) for dtype in TYPES] for name, grid in grids.items()}
        vectors = {name: grid.variable("v", "i2", components=2) for name, grid in grids.items()}
        for step in (0, 1):
            with ds.step(step, time=step):
                for name, about in GRIDS.items():
                    vectors[name].put(values(rng, "i2", (*about["shape"], 2)))
                    for variable, dtype in variables[name] if step else ():
                        variable.put(values(rng, dtype, about["shape"]))


def assembled(server, base, shape, chunk, dtype, fill, key):
    """The array from its chunks; a missing one is the fill value."""
    whole = np.full([-(-n // c) * c for n, c in zip(shape, chunk)], fill if fill is not None else 0, dtype)
    for index in itertools.product(*(range(-(-n // c)) for n, c in zip(shape, chunk))):
        status, _, body = server.ask(f"{base}/{key(index)}", connection=connection)
        if status == 404 and fill is not None:
            continue
        equal(status, 200, f"{base}/{key(index)}")
        part = np.frombuffer(body, dtype)
        equal(part.size, int(np.prod(chunk)), f"a whole chunk of {base}")
        place = tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunk))
        part = part.reshape(chunk)
        inside = tuple(slice(0, min(c, n - i * c)) for i, c, n in zip(index, chunk, shape))
        rest = part.copy()
        rest[inside] = 0
        check(not rest.any(), f"{base}: what is beyond the edge is 0")
        whole[place] = part
    for axis in range(len(shape)):
        beyond = [0] * len(shape)
        beyond[axis] = -(-shape[axis] // chunk[axis])
        equal(server.ask(f"{base}/{key(beyond)}", connection=connection)[0], 404, f"{base}: no chunk behind the last")
    return whole[tuple(slice(0, n) for n in shape)]


def fill_of(text, dtype):
    return None if text is None else np.dtype(dtype).type(text)


def version_2(server, base, separator):
    about = server.json(f"{base}/.zarray")
    equal((about["zarr_format"], about["order"], about["compressor"], about["filters"]), (2, "C", None, None))
    equal(about["dimension_separator"], separator)
    equal(about["dtype"][0], "|" if about["dtype"][2:] == "1" else "<", "the order of bytes")
    fill = fill_of(about["fill_value"], about["dtype"])
    return assembled(server, base, about["shape"], about["chunks"], about["dtype"], fill, lambda i: separator.join(map(str, i)))


def version_3(server, base):
    about = server.json(f"{base}/zarr.json")
    equal((about["zarr_format"], about["node_type"]), (3, "array"))
    equal(about["codecs"], [{"name": "bytes", "configuration": {"endian": "little"}}])
    equal(about["chunk_key_encoding"], {"name": "default", "configuration": {"separator": "/"}})
    dtype = np.dtype(about["data_type"]).newbyteorder("<")
    chunk = about["chunk_grid"]["configuration"]["chunk_shape"]
    fill = fill_of(about["fill_value"], dtype)
    return assembled(server, base, about["shape"], chunk, dtype, fill, lambda i: "c/" + "/".join(map(str, i)))


def same(found, own, what):
    equal((found.shape, found.dtype), (own.shape, own.dtype), what)
    check(found.tobytes() == own.tobytes() or np.array_equal(found, own, equal_nan=found.dtype.kind == "f"), what)


def own_values(name, variable, level):
    """Both steps; what a step has not is NaN, or 0."""
    steps = [np.asarray(ds[i][f"{name}/{variable}"].level(level)[...]) for i in range(0 if variable == "v" else 1, 2)]
    if variable != "v":
        steps.insert(0, np.full_like(steps[0], np.nan if steps[0].dtype.kind == "f" else 0))
    return np.stack(steps)


def image_values(own, vector):
    """As images have them: components first, and no type that viewers have not."""
    if vector:
        own = np.moveaxis(own, -1, 1)
    if own.dtype in (np.dtype("f8"), np.dtype("i8")):
        own = own.astype("f4")
    return own


write()
ds = bouma.open(path)
server = Server(path)
connection = server.connect()
compared = 0
for name, about in GRIDS.items():
    for variable in (*TYPES, "v"):
        for level in range(about["levels"]):
            own = own_values(name, variable, level)
            same(version_2(server, f"/zarr/run/{name}/{level}/{variable}", "."), own, f"zarr {name} {variable} {level}")
            compared += 1
            if name == "line":
                continue
            image = image_values(own, variable == "v")
            if variable == "i8":  # rounded, so a step without values is NaN
                image[0] = np.nan
            same(version_2(server, f"/ome2/run/{name}/{variable}/{level}", "/"), image, f"ome2 {name} {variable} {level}")
            same(version_3(server, f"/ome/run/{name}/{variable}/{level}"), image, f"ome {name} {variable} {level}")
            compared += 2
print(f"{compared} arrays")
connection.close()
server.end()
finish()
