"""planning.py -- what it takes to plan a write, from 1 k to 1 M ranks."""
from common import curves, plan, series, table

SHOWN = True
SHAPES = {2**10: "512,512,1024", 2**12: "1024,1024,1024", 2**14: "2048,1024,2048", 2**16: "2048,2048,4096",
          2**18: "4096,4096,4096", 2**20: "8192,4096,8192"}
SCHEMES = {"grid": [], "cost, 64 files": ["--place", "cost", "--machine", "flat", "--files", "64"], "patch 32": ["--patch", "32"],
           "hz": ["--layout", "hz"], "particles, kdtree": ["--assign", "kdtree"], "particles, split": ["--assign", "split", "--clustered"]}


def figure():
    ranks = sorted(SHAPES)
    found = {}
    for name, options in SCHEMES.items():
        particles = name.startswith("particles")
        found[name] = [plan("--ranks", n, *(["--particles", 32768 * n] if particles else ["--shape", SHAPES[n]]), *options)
                       for n in ranks]
    seconds = [series(name, ranks, [f["cpu_seconds"] for f in all_ranks]) for name, all_ranks in found.items()]
    memory = [series(name, ranks, [f["most_memory"] / 2.0**20 for f in all_ranks]) for name, all_ranks in found.items()]
    rows = [[n, *("%.2f s, %.0f MiB" % (f[i]["cpu_seconds"], f[i]["most_memory"] / 2.0**20) for f in found.values())]
            for i, n in enumerate(ranks)]
    return ([curves("Planning: processor time", "ranks", "s", seconds, y_scale="log"),
             curves("Planning: memory of the process", "ranks", "MiB", memory, y_scale="log")],
            table(["ranks", *SCHEMES], rows))


FIGURES = {"planning": figure}
