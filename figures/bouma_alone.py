"""bouma_alone.py -- the papers' schemes together, and what each term of the cost model is good for."""
import os

import common
from whole_steps import milliseconds, write

SHOWN = True
RANKS, SCALE = 256, 8
# S3D's 32^3 doubles of 16 variables a rank, with a byte for eight: 16^3.
def flame(patch):
    return ("--load", "s3d", "--variables", 16, "--block", "16,16,16", "--type", "f64", "--patch", patch, "--files",
            32, "--no-read", "--warm-up", 1)


# The model's torus of 16 nodes (sim/machines/mira.txt), as the library is told of it.
NETWORK = "torus:2x2x2x2x1,per=16,io=128"


def told(name, network=NETWORK, more=""):
    path = os.path.join(common.kept, name + ".machine")
    os.makedirs(common.kept, exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(f"machine 1\nnetwork {network} latency 0.6us bandwidth {1800 / SCALE}MB/s\n"
                f"tier dram bandwidth {6000 / SCALE}MB/s\n"
                f"target latency 1ms bandwidth {1900 / SCALE}MB/s\n{more}")
    return "--place", "cost", "--machine", path


def step(*more, patch=32):
    return write(RANKS, "mira", *flame(patch), *more, scale=SCALE)


def grids():
    raw, lossy = ("--codec", "raw"), ("--tolerance", 1e-3)
    ways = {
        "raw, spread, one buffer": (*raw, "--buffers", 1),
        "raw, cost, rounds (paper 003)": (*raw, *told("mira"), "--buffers", 4),
        "interp, greedy, one buffer": (*lossy, "--distribute", "greedy", "--buffers", 1),
        "interp, balanced, one buffer (paper 000)": (*lossy, "--buffers", 1),
        "interp, balanced, cost, rounds": (*lossy, *told("mira"), "--buffers", 4),
        "the same, predicted": (*lossy, *told("mira"), "--buffers", 4, "--predict", "on"),
    }
    steps = {n: step(*w, patch=16) for n, w in ways.items()}
    rows = [[n, milliseconds(s), SCALE * s["stored_bytes"] / 2**20, s["largest_file"] / 2**20]
            for n, s in steps.items()]
    return ([common.bars("A step of a flame, 256 ranks of mira", "ms", list(steps),
                         [{"name": "write", "y": [milliseconds(s) for s in steps.values()]}])],
            common.table(["", "write, ms", "stored, MiB", "largest file, MiB"], rows))


def particles():
    """Plans: the largest file decides how long a step takes."""
    ways = {"AUG": "aug", "adaptive (paper 002)": "kdtree", "split": "split"}
    plans = {n: common.plan("--ranks", 16384, "--particles", "400M", "--clustered", "--assign", w, "--files", 256)
             for n, w in ways.items()}
    rows = [[n, int(p["files"]), p["mean_file"] / 2**20, p["largest_file"] / 2**20, p["balance"]]
            for n, p in plans.items()]
    return ([common.bars("Clustered particles, a plan of 16,384 ranks", "largest file, MiB", list(plans),
                         [{"name": "largest", "y": [r[3] for r in rows]}, {"name": "mean", "y": [r[2] for r in rows]}])],
            common.table(["", "files", "mean file, MiB", "largest, MiB", "largest / mean"], rows))


def tiers():
    """The boiler's last moment on theta: 1.75 MiB a rank, with a byte for 16; files of 32 MB, one for about a
    node; on the file system, or on the SSDs of the nodes, and then copied."""
    ranks, divided = 256, 16
    common_part = ("--load", "boiler", "--bytes", 27018 * 68 // divided, "--file-size", (32 << 20) // divided, "--codec",
                   "raw", "--warm-up", 0, "--no-read")
    ways = {"AUG": ("aug",), "adaptive (paper 002)": ("kdtree",), "split": ("split",),
            "adaptive, SSDs": ("kdtree", "--local", "/local", "--persist"),
            "split, SSDs": ("split", "--local", "/local", "--persist")}
    steps = {n: write(ranks, "theta", *common_part, "--assign", *w, scale=divided) for n, w in ways.items()}
    rows = [[n, int(s["files"]), s["largest_file"] / 2**20, milliseconds(s),
             1000 * s.get("drained_seconds", s["write"])] for n, s in steps.items()]
    return ([common.bars(f"Boiler, {ranks} ranks of theta", "ms", list(ways),
                         [{"name": "the step ends", "y": [r[3] for r in rows]},
                          {"name": "it is in the dataset", "y": [r[4] for r in rows]}])],
            common.table(["", "files", "largest, MiB", "the step ends, ms", "in the dataset, ms"], rows))


# 1,024 nodes of Mira, for plans.
LARGE = "torus:4x4x4x8x2,per=16,io=128"


def terms():
    """Bytes times links in a plan of 16,384 ranks, and times of 256 in the simulation."""
    ways = {"spread": ((), ()), "local": ((), ()), "cost": (NETWORK, ""),
            **{f"without {t}": (NETWORK, f"cost without {t}\n") for t in ("gather", "store", "links", "wait")},
            "without the torus": ("flat,per=16", "")}
    rows = []
    for name, (network, more) in ways.items():
        file = "mira" + "-" * (name != "cost") + name.split()[-1].replace("torus", "flat").replace("cost", "")
        small = told(file, network, more) if network else ("--place", name)
        large = told("large-" + file, LARGE, more) if network else ("--place", name, *told("large-mira", LARGE)[2:])
        s = step("--codec", "raw", *small)
        p = common.plan("--ranks", 16384, "--particles", "400M", "--clustered", "--assign", "kdtree", "--files",
                        256, *large)
        # Links are those of the torus, whatever the library was told.
        hops = p["byte_hops"] / common.GIB if name != "without the torus" else None
        rows.append([name, hops, 1000 * s["phases"]["ship"], milliseconds(s)])
    plotted = [r for r in rows if r[1] is not None]
    return ([common.bars("Bytes times links, a plan of 16,384 ranks", "GiB x links", [r[0] for r in plotted],
                         [{"name": "clustered particles", "y": [r[1] for r in plotted]}])],
            common.table(["", "plan: GiB x links", "simulated: shipping, ms", "the whole step, ms"], rows))


FIGURES = {"bouma-grids": grids, "bouma-particles": particles, "bouma-tiers": tiers, "bouma-terms": terms}
