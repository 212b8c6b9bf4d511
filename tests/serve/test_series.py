"""test_series.py -- a sample over more steps than one answer has, in bounded memory, also where the grid changes."""
import sys
import tempfile

from served import Server, check, equal, finish

try:
    import numpy as np
except ImportError:
    print(f"skipped: {sys.executable} has no numpy")
    sys.exit(77)
import bouma

STEPS = 10500
MOST = 10000  # docs/http.md
SHAPE = (4, 2, 3)
SHAPES = {3000: (5, 2, 3), 3001: SHAPE, 7000: (2, 2, 3)}  # from this step on
work = tempfile.TemporaryDirectory(prefix="series")
path = f"{work.name}/run.bouma"


def value(step):
    return [step + 0.5, -step]


def write():
    """Vectors; every 997th step has none, and some have another grid."""
    first = 0
    for end in [*SHAPES, STEPS]:
        shape = SHAPES.get(first, SHAPE)
        begin = bouma.create if first == 0 else bouma.append
        with begin(path, durability="fast") as ds:
            v = ds.grid("flow", shape=shape, patch=(4, 4, 4)).variable("v", "f8", components=2)
            other = ds.grid("other", shape=(4,)).variable("w", "i4")
            for step in range(first, end):
                with ds.step(2 * step, time=step / 10):
                    other.put(np.full(4, step, "i4"))
                    if step % 997:
                        v.put(np.broadcast_to(np.array(value(step), "f8"), (*shape, 2)).copy())
        first = end


def expected(steps, z):
    found = []
    for step in steps:
        low = [s for s in SHAPES if s <= step]
        deep = SHAPES[low[-1]][0] if low else SHAPE[0]
        found.append(value(step) if step % 997 and z < deep else None)
    return found


def all_of_it(server, z):
    url = f"/api/v1/run/series/flow/v?at={z},1,2"
    one = server.json(url)
    equal((len(one["steps"]), one["next"]), (MOST, 2 * MOST))
    two = server.json(f"{url}&from={one['next']}")
    equal(two["next"], None)
    steps = one["steps"] + two["steps"]
    equal(steps, [2 * i for i in range(STEPS)])
    equal(one["times"] + two["times"], [i / 10 for i in range(STEPS)])
    equal(one["values"] + two["values"], expected(range(STEPS), z))


def parts(server):
    got = server.json("/api/v1/run/series/other/w?at=3&from=100&to=20000&every=100")
    equal(got["steps"], [2 * i for i in range(50, 10001, 100)])
    equal(got["values"], list(range(50, 10001, 100)))
    got = server.json("/api/v1/run/series/flow/v?at=1,1,1&component=1&from=20")
    equal(got["values"][:3], [-10, -11, -12])


write()
server = Server(path, "--memory", "64M", "--workers", 1)
server.json("/api/v1/run/series/flow/v?at=1,1,1")
before = server.memory()
for z in (1, 3, 4):
    all_of_it(server, z)
parts(server)
grown = server.memory() - before
check(grown < 32 << 20, f"{grown} bytes more")
server.end()
finish()
