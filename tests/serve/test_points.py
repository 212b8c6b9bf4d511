"""test_points.py -- particles of `bouma serve` as annotations and as point tiles, read as their formats say: all cells
together have each particle once, with the values that the Python package reads."""
import struct
import sys
import tempfile

from served import Server, check, equal, finish

try:
    import numpy as np
except ImportError:
    print(f"skipped: {sys.executable} has no numpy")
    sys.exit(77)
import bouma
import view_data

work = tempfile.TemporaryDirectory(prefix="points")
path = view_data.write(f"{work.name}/run.bouma")


def own_rows(step):
    """By id."""
    dust = bouma.open(path)[step]["dust"].query()
    order = np.argsort(dust["id"])
    return {name: np.asarray(dust[name])[order] for name in ("position", "T", "id", "kind", "v")}


def annotations(server):
    base = "/annotations/run@10/dust"
    info = server.json(f"{base}/info")
    equal([p["id"] for p in info["properties"]], ["v_T", "id", "kind", "v_0", "v_1"])
    equal(info["dimensions"]["x"], [1e-6, "m"])
    check("rounded from i64" in info["properties"][1]["description"], "a rounded value is told")
    types = {"float32": "<f4", "int32": "<i4", "uint32": "<u4"}
    row = np.dtype([("position", "<f4", 3)] + [(p["id"], types[p["type"]]) for p in info["properties"]])
    found, numbers, low = [], [], np.array(info["lower_bound"])
    for level in info["spatial"]:
        for cell in np.ndindex(*level["grid_shape"]):
            body = server.ask(f"{base}/{level['key']}/{'_'.join(map(str, cell))}")[2]
            count = int.from_bytes(body[:8], "little")
            equal(len(body), 8 + count * (row.itemsize + 8))
            check(count <= level["limit"], f"{count} in a cell")
            part = np.frombuffer(body, row, count, 8)
            first = low + np.array(cell) * level["chunk_size"]
            slack = 1e-4
            check((part["position"] >= first - slack).all(), "a cell has what is in it")
            check((part["position"] <= first + level["chunk_size"] + slack).all(), "a cell has what is in it")
            found.append(part)
            numbers.append(np.frombuffer(body, "<u8", count, 8 + count * row.itemsize))
    equal(len(set(np.concatenate(numbers).tolist())), view_data.COUNT, "numbers of annotations")
    one = server.ask(f"{base}/by_id/{numbers[3][7]}")[2]
    equal(one, found[3][7].tobytes(), "by its number")
    equal(server.ask(f"{base}/by_id/{1 << 60}")[0], 404)
    found = np.sort(np.concatenate(found), order="id")
    own = own_rows(1)
    equal(len(found), view_data.COUNT)
    check(np.array_equal(found["id"], own["id"].astype("f4")), "each particle once")
    check(np.array_equal(found["position"], own["position"].astype("f4")), "positions")
    check(np.array_equal(found["v_T"], own["T"]) and np.array_equal(found["kind"], own["kind"]), "values")
    check(np.array_equal(found["v_1"], own["v"][:, 1].astype("f4")), "components")


def las_points(body, ept):
    """The records of a LAS file, as its specification says: as the rows of a binary tile."""
    equal((body[:4], body[24:26]), (b"LASF", b"\x01\x04"))
    header, first, records, kind, length = struct.unpack_from("<HIIBH", body, 94)
    equal((header, records, kind), (375, 1, 6))
    count, returns = struct.unpack_from("<QQ", body, 247)
    numbers = struct.unpack_from("<12d", body, 131)
    equal(numbers[:6], tuple(ept["schema"][i % 3][("scale", "offset")[i // 3]] for i in range(6)))
    equal(numbers[6:], tuple(ept["bounds"][i // 2 + (0 if i % 2 else 3)] for i in range(6)))
    equal((len(body), returns), (first + count * length, count))
    name, number, size = struct.unpack_from("<16sHH", body, 375 + 2)
    equal((name.rstrip(b"\0"), number, first), (b"LASF_Spec", 4, 375 + 54 + size))
    types = [None, "<u1", "<i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8"]
    row = [("X", "<i4"), ("Y", "<i4"), ("Z", "<i4"), ("intensity", "<u2"), ("returns", "u1"), ("rest", "V15")]
    for at in range(375 + 54, first, 192):
        row.append((body[at + 4 : at + 36].rstrip(b"\0").decode(), types[body[at + 2]]))
    row = np.dtype(row)
    equal(row.itemsize, length)
    found = np.frombuffer(body, row, count, first)
    check((found["returns"] == 0x11).all(), "the first return of one")
    return found[[d["name"] for d in ept["schema"]]]


def tiles(server, view, kind, ending):
    base = f"/{view}/run@0/dust"
    ept = server.json(f"{base}/ept.json")
    equal((ept["points"], ept["dataType"]), (view_data.COUNT, kind))
    letters = {"float": "f", "signed": "i", "unsigned": "u"}
    row = np.dtype([(d["name"], f"<{letters[d['type']]}{d['size']}") for d in ept["schema"]])
    found, files, sizes = [], ["0-0-0-0"], {}
    while files:
        top = files.pop()
        for key, count in server.json(f"{base}/ept-hierarchy/{top}.json").items():
            if count < 0:
                check(key != top, "a file has its first cell")
                files.append(key)
                continue
            body = server.ask(f"{base}/ept-data/{key}.{ending}")[2]
            part = np.frombuffer(body, row) if ending == "bin" else las_points(body, ept).astype(row)
            equal(len(part), count, key)
            found.append(part)
            sizes[key] = count
    check(max(sizes.values()) < 15000 and len(sizes) > 16, str(sizes))
    found = np.sort(np.concatenate(found), order="id")
    own = own_rows(0)
    check(np.array_equal(found["id"], own["id"]), "each particle once")
    for axis, name in enumerate("XYZ"):
        d = ept["schema"][axis]
        at = found[name] * d["scale"] + d["offset"]
        check((abs(at - own["position"][:, axis]) <= 0.51 * d["scale"]).all(), "positions are within half a step")
    check(np.array_equal(found["T"], own["T"]) and np.array_equal(found["kind"], own["kind"]), "values")
    check(np.array_equal(found["v_0"], own["v"][:, 0]), "components")


def errors(server):
    for address in ("/ept/run/dust/ept-data/0-0-0-1.bin", "/ept/run/dust/ept-data/1-0-0-2.bin",
                    "/ept/run/dust/ept-data/99-0-0-0.bin", "/ept/run/dust/ept-data/1-0-0.bin", "/ept/run/dust",
                    "/ept/run/flow/ept.json", "/ept/run/no/ept.json", "/annotations/run/dust/0/0_0",
                    "/annotations/run/dust/9/0_0_0", "/annotations/run/dust/1/0_0_2", "/annotations/run/dust/by_id/x",
                    "/annotations/run/flow/info", "/annotations/run@5/dust/info", "/annotations/run@99/dust/info"):
        equal(server.json(address, 404)["error"]["code"], 404, address)
    for view, ending in (("ept", "laz"), ("ept-laszip", "bin")):
        equal(server.ask(f"/{view}/run/dust/ept-data/0-0-0-0.{ending}")[0], 404)
    equal(server.ask("/ept/run/dust/ept-data/18-0-0-0.bin")[::2], (200, b""), "a cell with nothing in it")
    ept = server.json("/ept-laszip/run/dust/ept.json")
    equal(len(las_points(server.ask("/ept-laszip/run/dust/ept-data/18-0-0-0.laz")[2], ept)), 0)


server = Server(path)
annotations(server)
tiles(server, "ept", "binary", "bin")
tiles(server, "ept-laszip", "laszip", "laz")
errors(server)
server.end()
finish()
