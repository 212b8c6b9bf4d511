"""What each address of `bouma serve` gives is what the command line reads."""

import gzip
import json
import os
import tempfile

from served import SHAPE, PARTICLES, Server, add_step, bouma, check, equal, finish, make_datasets, unpack

work = tempfile.TemporaryDirectory(prefix="serve")
path = make_datasets(work.name)
SAMPLES = "/api/v1/run/1/grid/rho/samples"


def read(*args, code="f"):
    out = f"{work.name}/out.raw"
    bouma("read", path, *args, "-o", out)
    with open(out, "rb") as file:
        return unpack(code, file.read())


def query(*args):
    out = f"{work.name}/out.csv"
    bouma("query", path, "dust", *args, "-o", out)
    with open(out) as file:
        next(file)
        return sorted(tuple(map(float, line.split(","))) for line in file)


def columns(headers, body):
    """By name: a list of tuples, or of numbers."""
    found, at, count = {}, 0, int(headers["Bouma-Count"])
    for text in headers["Bouma-Columns"].split(","):
        name, kind, components = text.split(":")
        code, size = {"f32": ("f", 4), "f64": ("d", 8), "i64": ("q", 8)}[kind]
        at = (at + 7) // 8 * 8
        end = at + count * int(components) * size
        values = unpack(code, body[at:end])
        n = int(components)
        found[name] = values if n == 1 else [tuple(values[i : i + n]) for i in range(0, len(values), n)]
        at = end
    equal(at, len(body), "bytes of columns")
    return found


def metadata(server):
    root = server.json("/api/v1")
    equal(root["datasets"], [{"name": "run", "steps": 4, "last": 3}])
    equal(root["limits"]["url_bytes"], 8192)
    run = server.json("/api/v1/run")
    equal((run["steps"], run["times"]), ([0, 1, 2, 3], [0, 0.25, 2, 3]))
    equal(run["id"], json.loads(bouma("info", path, "--json"))["id"])
    step = server.json("/api/v1/run/1")
    equal((step["step"], step["time"], len(step["tag"])), (1, 0.25, 16))
    grid = step["objects"][0]
    equal((grid["kind"], grid["shape"], grid["patch"]), ("grid", list(SHAPE), [16, 16, 16]))
    values = read("grid/rho", "--step", 1)
    equal(grid["variables"][0]["ranges"], [{"low": min(values), "high": max(values), "nans": 0}])
    dust = server.json("/api/v1/run/last")["objects"][0]
    equal((dust["kind"], dust["count"], dust["dims"]), ("particles", PARTICLES, 3))
    equal([v["name"] for v in dust["variables"]], ["position", "T", "id"])


def boxes(server):
    code, headers, body = server.ask(SAMPLES)
    equal(code, 200)
    equal(unpack("f", body), read("grid/rho", "--step", 1))
    equal((headers["Bouma-Type"], headers["Bouma-Shape"]), ("f32", "20,24,32"))
    code, headers, body = server.ask(SAMPLES + "?box=3:9,:,20:&level=1")
    equal(unpack("f", body), read("grid/rho", "--step", 1, "--box", "3:9,:,20:", "--level", 1))
    equal((headers["Bouma-First"], headers["Bouma-Spacing"]), ("4,0,20", "2,2,2"))
    equal((headers["Bouma-Level"], headers["Bouma-Complete"], headers["Bouma-Step"]), ("1", "0", "1"))
    code, headers, body = server.ask(SAMPLES + "?max_points=3000")
    equal(unpack("f", body), read("grid/rho", "--step", 1, "--limit", 3000))
    equal((headers["Bouma-Limit"], headers["Bouma-Error-Kind"]), ("points", "measured"))
    code, headers, body = server.ask("/api/v1/run/2/grid/v/samples?component=1&level=1")
    equal(unpack("d", body), read("grid/v", "--step", 2, "--level", 1, code="d")[1::3])
    code, headers, body = server.ask("/api/v1/run/2/grid/v/samples?level=2&type=f32")
    equal(headers["Bouma-Shape"], "5,6,8,3")
    equal(unpack("f", body), unpack("f", __import__("array").array("f", read("grid/v", "--step", 2, "--level", 2, code="d")).tobytes()))
    code, headers, body = server.ask(SAMPLES + "?type=u8&low=0&high=1")
    values = read("grid/rho", "--step", 1)
    equal(len(body), len(values))
    check(all(b == 1 for b, v in zip(body, values) if v <= 0), "low values are 1")
    check(all(b == 255 for b, v in zip(body, values) if v >= 1), "high values are 255")
    check(all(abs((b - 1) / 254 - v) < 1 / 400 for b, v in zip(body, values) if 0 < v < 1), "others between")
    equal((headers["Bouma-Low"], headers["Bouma-High"]), ("0", "1"))
    code, headers, body = server.ask(SAMPLES + "?type=f16&level=2")
    equal((headers["Bouma-Type"], len(body)), ("f16", 2 * 5 * 6 * 8))


def ranges(server):
    code, headers, body = server.ask("/api/v1/run/1/grid/rho/ranges")
    equal(headers["Bouma-Shape"], "2,2,2,2")
    pairs, values = unpack("f", body), read("grid/rho", "--step", 1)
    for i in range(8):
        first = [16 * (i >> 2), 16 * (i >> 1 & 1), 16 * (i & 1)]
        own = [
            values[(z * SHAPE[1] + y) * SHAPE[2] + x]
            for z in range(first[0], min(first[0] + 16, SHAPE[0]))
            for y in range(first[1], min(first[1] + 16, SHAPE[1]))
            for x in range(first[2], min(first[2] + 16, SHAPE[2]))
        ]
        equal(pairs[2 * i : 2 * i + 2], [min(own), max(own)])
    code, headers, body = server.ask("/api/v1/run/1/grid/rho/ranges?box=16:17,0:1,16:32")
    equal((headers["Bouma-Shape"], unpack("f", body)), ("1,1,1,2", pairs[10:12]))


def series(server):
    got = server.json("/api/v1/run/series/grid/rho?at=3,4,5")
    at = (3 * SHAPE[1] + 4) * SHAPE[2] + 5
    equal(got["steps"], [0, 1, 2, 3])
    equal(got["values"], [read("grid/rho", "--step", s)[at] for s in (0, 1)] + [None, None])
    got = server.json("/api/v1/run/series/grid/v?at=3,4,5&from=2&to=2&component=2")
    equal(got["values"], [read("grid/v", "--step", 2, code="d")[3 * at + 2]])


def particles(server):
    base = "/api/v1/run/3/dust/particles"
    for url, args in (
        ("", ()),
        ("?where=T+%3E+320", ("--where", "T > 320")),
        ("?where=T<300+%7C+!(id<900)", ("--where", "T<300 | !(id<900)")),
        ("?box=0.2:0.7,:0.5,0.1:", ("--box", "0.2:0.7,:0.5,0.1:")),
        ("?box=:0.5,:,:&where=T<300+%26%26+id>=100", ("--box", ":0.5,:,:", "--where", "T<300 && id>=100")),
        ("?quality=0.3", ("--quality", "0.3")),
        ("?quality=0.6&from=0.3", ("--quality", "0.6", "--from", "0.3")),
    ):
        code, headers, body = server.ask(base + url)
        equal(code, 200, url)
        got = columns(headers, body)
        rows = sorted((*x, t, float(i)) for x, t, i in zip(got["position"], got["T"], got["id"]))
        equal(len(rows), int(headers["Bouma-Count"]))
        expected = query(*args)
        equal([row[4] for row in rows], [row[4] for row in expected], url)
        check(all(abs(a - b) < 1e-4 * (1 + abs(b)) for r, e in zip(rows, expected) for a, b in zip(r, e)), url)
    code, headers, body = server.ask(base + "?variables=id,position&type=f32&origin=0.5,0,0&limit=100")
    got = columns(headers, body)
    equal((list(got), len(got["id"])), (["id", "position"], 100))
    equal(server.ask(base + "?variables='id',%22position%22&type=f32&origin=0.5,0,0&limit=100")[2], body, "names in quotes")
    whole = {row[4]: row for row in query()}
    for name, x in zip(got["id"], got["position"]):
        check(all(abs(a - b) < 1e-5 for a, b in zip(x, (whole[name][0] - 0.5, *whole[name][1:3]))), "origin")
    equal((headers["Bouma-Limit"], headers["Bouma-Complete"]), ("points", "0"))
    code, headers, body = server.ask(base + "?box=5:6,:,:")
    equal((code, headers["Bouma-Count"], len(body)), (200, "0", 0))


def histograms(server):
    """Counted here, from what was read."""
    values = read("grid/rho", "--step", 1)
    got = server.json("/api/v1/run/1/grid/rho/histogram?bins=4&low=-1&high=1&exact=1")
    edges = [-1, -0.5, 0, 0.5, 1]
    equal((got["edges"], got["exact"]), (edges, True))
    counts = [sum(a <= v < b or v == b == 1 for v in values) for a, b in zip(edges, edges[1:])]
    equal((got["estimate"], got["lower"], got["upper"]), (counts, counts, counts))
    equal((got["below"]["lower"], got["all"]["lower"]), (sum(v < -1 for v in values), len(values)))
    temperatures = [row[3] for row in query("--where", "id < 1000")]
    url = "/api/v1/run/3/dust/T/histogram?bins=3&low=200&high=500&where=id<1000"
    got = server.json(url + "&exact=1")
    equal(got["lower"], [sum(a <= t < a + 100 for t in temperatures) for a in (200, 300, 400)])
    index = server.json(url + "&max_bytes=0")
    equal(index["exact"], False)
    check(all(a <= n <= b for a, n, b in zip(index["lower"], got["lower"], index["upper"])), "bounds hold")
    equal(sum(server.json("/api/v1/run/3/dust/position/histogram?component=2")["estimate"]), PARTICLES)
    equal(server.json("/api/v1/run/3/dust/T/histogram?where=id<0")["all"]["upper"], 0)
    for wrong in ("bins=0", "bins=65537", "low=1", "low=2&high=1", "component=1", "exact=1&max_bytes=5", "exact=2"):
        equal(server.ask("/api/v1/run/3/dust/T/histogram?" + wrong)[0], 400, wrong)
    equal(server.ask("/api/v1/run/1/grid/rho/histogram?where=T>1")[0], 400)
    equal(server.ask("/api/v1/run/3/dust/none/histogram")[0], 404)


def files(server):
    listed = server.json("/files/run/")["files"]
    for name, size in listed:
        code, headers, body = server.ask("/files/run/" + name)
        with open(f"{path}/{name}", "rb") as file:
            equal((code, body), (200, file.read()), name)
        equal(len(body), size)
    own = sorted(
        os.path.relpath(os.path.join(at, name), path) for at, _, names in os.walk(path) for name in names
    )
    equal(sorted(name for name, _ in listed), own)
    name = max(listed, key=lambda entry: entry[1])[0]
    code, headers, body = server.ask("/files/run/" + name, Range="bytes=100-199")
    with open(f"{path}/{name}", "rb") as file:
        equal((code, body), (206, file.read()[100:200]))
    tag = headers["ETag"]
    equal(server.ask("/files/run/" + name, If_None_Match=tag)[0], 304)


def long_files():
    """Files are sent in blocks, also those that are longer than an answer may be; who leaves leaves nothing behind."""
    contents = bytes(range(256)) * (5 << 12) + b"end"  # 5 MiB and a bit
    with open(f"{path}/long", "wb") as file:
        file.write(contents)
    with open(f"{path}/block", "wb") as file:
        file.write(contents[: 1 << 20])
    server = Server(path, "--max-answer", "64K", "--memory", "16M")
    equal(server.ask("/files/run/long")[2], contents)
    equal(server.ask("/files/run/block")[2], contents[: 1 << 20])
    code, headers, body = server.ask("/files/run/long", Range="bytes=1000000-4000000", Accept_Encoding="zstd")
    equal((code, headers["Content-Range"]), (206, f"bytes 1000000-4000000/{len(contents)}"))
    check(body == contents[1000000:4000001] and headers["Content-Encoding"] is None, "a part of it")
    for _ in range(40):  # each holds a block for a while; all together have 16
        with server.socket() as connection:
            connection.sendall(b"GET /files/run/long HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.recv(100)
    code, _, body = server.ask("/files/run/long")
    while code == 503:
        code, _, body = server.ask("/files/run/long")
    check(body == contents, "after those who left")
    connection = server.socket()
    connection.sendall(b"GET /files/run/long HTTP/1.1\r\nHost: localhost\r\n\r\n")
    connection.recv(100)
    server.end()  # in the middle of it
    connection.close()
    os.remove(f"{path}/long")
    os.remove(f"{path}/block")


def caching(server):
    code, headers, body = server.ask(SAMPLES)
    tag = headers["Bouma-Tag"]
    equal((headers["ETag"], headers["Cache-Control"]), (f'"{tag}"', "no-cache"))
    code, headers, empty = server.ask(SAMPLES, If_None_Match=f'"{tag}"')
    equal((code, empty, headers["ETag"]), (304, b"", f'"{tag}"'))
    code, headers, again = server.ask(f"{SAMPLES}?tag={tag}")
    equal((code, again), (200, body))
    check("immutable" in headers["Cache-Control"], "immutable")
    code, headers, answer = server.ask(SAMPLES + "?tag=0123456789abcdef")
    equal((code, json.loads(answer)["error"]["code"], headers["Cache-Control"]), (409, 409, "no-store"))
    # Ranges, heads, encodings.
    code, headers, part = server.ask(SAMPLES, Range="bytes=4-11", Accept_Encoding="zstd")
    equal((code, part, headers["Content-Range"]), (206, body[4:12], f"bytes 4-11/{len(body)}"))
    equal(server.ask(SAMPLES, Range="bytes=-8")[2], body[-8:])
    code, headers, answer = server.ask(SAMPLES, Range=f"bytes={len(body)}-")
    equal((code, headers["Content-Range"]), (416, f"bytes */{len(body)}"))
    equal(server.ask(SAMPLES, Range="bytes=0-1,4-5")[2], body)
    code, headers, nothing = server.ask(SAMPLES, "HEAD")
    equal((code, headers["Content-Length"], nothing), (200, str(len(body)), b""))
    code, headers, packed = server.ask(SAMPLES, Accept_Encoding="gzip")
    equal((headers["Content-Encoding"], gzip.decompress(packed)), ("gzip", body))
    equal(server.ask(SAMPLES, If_None_Match=headers["ETag"])[0], 304)
    check(len(packed) < len(body), "shorter")
    code, headers, packed = server.ask(SAMPLES, Accept_Encoding="zstd, gzip")
    equal((headers["Content-Encoding"], packed[:4]), ("zstd", b"\x28\xb5\x2f\xfd"))


# What is known after the work only, and so is not told of HEAD.
OUTCOME = {"Content-Length", "Transfer-Encoding", "Content-Encoding", "Date", "Connection", "Bouma-Bytes-Read",
           "Bouma-Count", "Bouma-Quality", "Bouma-Complete", "Bouma-Limit"}
WITHIN = {"Bouma-Type", "Bouma-Shape", "Bouma-Level", "Bouma-First", "Bouma-Spacing", "Bouma-Error", "Bouma-Error-Kind"}


def told(headers, more=()):
    return {name: value for name, value in headers.items() if name not in OUTCOME and name not in more}


def heads(server):
    """The same code, tag and headers as of GET; and a length if that is the same."""
    largest = max(server.json("/files/run/")["files"], key=lambda entry: entry[1])[0]
    measured = (
        "/api/v1", "/api/v1/run", "/api/v1/run/1", SAMPLES, SAMPLES + "?box=3:9,:,20:&level=1&type=u8",
        "/api/v1/run/2/grid/v/samples?component=1", "/api/v1/run/1/grid/rho/ranges", "/files/run/",
        "/files/run/" + largest, "/zarr/run/grid/0/.zmetadata", "/zarr/run@1/grid/0/rho/0.0.0.0",
        "/zarr/run@1/grid/0/time/0", "/zarr/run@1/grid/0/x/0", "/ome/run@1/grid/rho/zarr.json",
        "/ome/run@1/grid/rho/0/c/0/0/0", "/ome2/run@1/grid/rho/1/0/0/0", "/ept/run/dust/ept.json",
        "/annotations/run/dust/info", "/nothing", "/api/v1/run/9", SAMPLES + "?level=9",
        "/api/v1/run/3/dust/particles?box=5:5,:,:", SAMPLES + "?tag=0123456789abcdef",
    )
    for url in measured + (
        SAMPLES + "?max_points=3000", "/api/v1/run/3/dust/particles", "/api/v1/run/3/dust/particles?limit=10",
        "/api/v1/run/3/dust/T/histogram", "/api/v1/run/1/grid/rho/histogram?exact=1",
        "/api/v1/run/series/grid/rho?at=1,2,3", "/ept/run/dust/ept-hierarchy/0-0-0-0.json",
        "/ept/run/dust/ept-data/0-0-0-0.bin", "/annotations/run/dust/0/0_0_0",
    ):
        for encoding in ("identity", "zstd"):
            code, headers, body = server.ask(url, Accept_Encoding=encoding)
            got, own, nothing = server.ask(url, "HEAD", Accept_Encoding=encoding)
            equal((got, nothing), (code, b""), url)
            within = WITHIN if "max_points" in url else ()
            equal(told(own), told(headers, within), f"{url} {encoding}")
            if own["Content-Length"] is not None:
                equal(own["Content-Length"], headers["Content-Length"], url)
            if encoding == "identity":
                equal(own["Content-Length"] is not None, url in measured, url)
            if headers["ETag"]:
                code, headers, _ = server.ask(url, If_None_Match=headers["ETag"], Accept_Encoding=encoding)
                equal((code, headers["ETag"]), (304, own["ETag"]), url)
    code, headers, _ = server.ask(SAMPLES, "HEAD", Range="bytes=0-1")
    equal((code, headers["Content-Length"]), (200, str(4 * 20 * 24 * 32)), "ranges are for GET")
    equal(server.ask("/api/v1/run/events", "HEAD")[0], 200, "nobody listens")


def cost_of_heads():
    """Samples are not read for the headers: those that are damaged are seen by GET only."""
    copy = f"{work.name}/damaged.bouma"
    add_step(copy, 0, "--codec", "zstd")
    for at, _, names in os.walk(f"{copy}/steps"):
        for name in names:
            if os.path.getsize(f"{at}/{name}") > 20000:
                with open(f"{at}/{name}", "r+b") as file:
                    file.seek(os.path.getsize(file.name) // 2)
                    file.write(bytes(200))
    server = Server(copy)
    url = "/api/v1/damaged/0/grid/rho/samples"
    equal((server.ask(url)[0], server.ask(url, "HEAD")[0]), (500, 200))
    server.end()


def linked():
    """A file of a dataset that is a link to one outside is not read."""
    copy = f"{work.name}/linked.bouma"
    add_step(copy, 0)
    server = Server(copy)
    url = "/api/v1/linked/0/grid/rho/samples"
    equal(server.ask(url)[0], 200)
    server.end()
    for at, _, names in os.walk(f"{copy}/steps"):
        for i, name in enumerate(names):
            os.rename(f"{at}/{name}", f"{work.name}/outside{i}")
            os.symlink(f"{work.name}/outside{i}", f"{at}/{name}")
    server = Server(copy)
    check(server.ask(url)[0] in (404, 500), "a link is not followed")
    server.end()


def rewritten(server):
    """The old tag is gone when the step is another one."""
    tag = server.json("/api/v1/run/0")["tag"]
    add_step(path, 0, "--replace")
    while True:
        code, _, _ = server.ask(f"/api/v1/run/0?tag={tag}")
        if code != 200:
            break
    equal(code, 409)
    check(server.json("/api/v1/run/0")["tag"] != tag, "another tag")


def wrong(server):
    """A short JSON error with the right code, whatever is asked for."""
    for url, code in (
        ("/nothing", 404),
        ("/api/v2", 404),
        ("/api/v1/other", 404),
        ("/api/v1/run/9", 404),
        ("/api/v1/run/-1", 404),
        ("/api/v1/run/99999999999999999999", 404),
        ("/api/v1/run/1/other/rho/samples", 404),
        ("/api/v1/run/1/grid/other/samples", 404),
        ("/api/v1/run/3/dust/T/samples", 404),
        ("/api/v1/run/1/grid/particles", 404),
        (SAMPLES + "?level=-1", 400),
        (SAMPLES + "?level=9", 400),
        (SAMPLES + "?level=x", 400),
        (SAMPLES + "?level=1&level=1", 400),
        (SAMPLES + "?lvl=1", 400),
        (SAMPLES + "?box=0:1", 400),
        (SAMPLES + "?box=0:1000000000000,:,:", 400),
        (SAMPLES + "?box=5:2,:,:", 400),
        (SAMPLES + "?type=f128", 400),
        (SAMPLES + "?component=1", 400),
        (SAMPLES + "?max_points=0", 400),
        (SAMPLES + "?level=1&max_points=5", 400),
        (SAMPLES + "?max_bytes=1", 413),
        (SAMPLES + "?low=1", 400),
        ("/api/v1/run/3/dust/particles?where=T+>", 400),
        ("/api/v1/run/3/dust/particles?where=nope>1", 400),
        ("/api/v1/run/3/dust/particles?quality=2", 400),
        ("/api/v1/run/3/dust/particles?variables=x,y", 404),
        ("/api/v1/run/3/dust/particles?variables='x,y'", 404),
        ("/api/v1/run/3/dust/particles?limit=5&quality=1", 400),
        ("/api/v1/run/series/grid/rho?at=1", 200),
        ("/api/v1/run/series/grid/rho", 400),
        ("/files/run/none", 404),
        ("/files/run/steps", 404),
        ("/files/run/steps/", 404),
        ("/files/other/", 404),
        ("/files/run/../run.bouma/DATASET", 400),
        ("/files/run/%2e%2e/run.bouma/DATASET", 400),
        ("/files/run/..%2frun.bouma%2fDATASET", 404),
        ("/files/run/%2fetc%2fpasswd", 404),
        ("/files/run//etc/passwd", 400),
        ("/files/run/out", 404),
        ("/files/%2e%2e/", 400),
        ("/files/..%2f/", 404),
        ("/api/v1/run/1%00", 400),
        ("/api/v1/run/%zz", 400),
        ("/api/v1?" + "a" * 9000, 414),
    ):
        status, headers, body = server.ask(url)
        equal(status, code, url)
        if code >= 400:
            error = json.loads(body)["error"]
            equal((error["code"], headers["Content-Type"]), (code, "application/json"), url)
            check(error["message"] and error["status"].startswith("BOUMA_E"), url)
            check(work.name not in error["message"], f"{url}: a path: {error}")
            check(len(body) < 2000, "short")
    for method in ("POST", "PUT", "DELETE", "PATCH", "BREW"):
        code, headers, body = server.ask("/api/v1", method)
        equal((code, headers["Allow"]), (405, "GET, HEAD, OPTIONS"), method)
    # Links that lead out are not followed.
    os.symlink("/etc/passwd", f"{path}/out")
    os.symlink("/etc", f"{path}/up")
    equal(server.ask("/files/run/out")[0], 404)
    equal(server.ask("/files/run/up/passwd")[0], 404)
    check(not any("out" in name or "up" in name for name, _ in server.json("/files/run/")["files"]), "links")
    os.remove(f"{path}/out")
    os.remove(f"{path}/up")


server = Server(path)
metadata(server)
boxes(server)
ranges(server)
series(server)
particles(server)
histograms(server)
files(server)
caching(server)
heads(server)
cost_of_heads()
long_files()
linked()
wrong(server)
rewritten(server)
log = server.end()
check('"GET /api/v1/run/1/grid/rho/samples?level=9" 400' in log, "the log")
finish()
