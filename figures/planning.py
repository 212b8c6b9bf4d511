"""planning.py -- what it takes to plan a write, from 1 k to 1 M ranks."""
from common import curves, plan, series, table

SHOWN = True
SHAPES = {2**10: "512,512,1024", 2**12: "1024,1024,1024", 2**14: "2048,1024,2048", 2**16: "2048,2048,4096",
          2**18: "4096,4096,4096", 2**20: "8192,4096,8192"}
SCHEMES = {"grid": [], "cost, 64 files": ["--place", "cost", "--machine", "flat", "--files", "64"], "patch 32": ["--patch", "32"],
           "hz": ["--layout", "hz"], "particles, kdtree": ["--assign", "kdtree"], "particles, split": ["--assign", "split", "--clustered"]}


def figure():
    ranks = sorted(SHAPES)
    seconds = {}
    for name, options in SCHEMES.items():
        what = (lambda n: ["--particles", 32768 * n]) if name.startswith("particles") else (lambda n: ["--shape", SHAPES[n]])
        seconds[name] = [plan("--ranks", n, *what(n), *options)["cpu_seconds"] for n in ranks]
    lines = [series(name, ranks, t) for name, t in seconds.items()]
    rows = [[n, *("%.2f" % seconds[name][i] for name in SCHEMES)] for i, n in enumerate(ranks)]
    return ([curves("Planning: processor time", "ranks", "s", lines, y_scale="log")],
            table(["ranks", *(name + ", s" for name in SCHEMES)], rows))


FIGURES = {"planning": figure}
