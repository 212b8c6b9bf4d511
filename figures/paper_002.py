"""paper_002.py -- adaptive two-phase writes and reads of particles."""
import common
from whole_steps import milliseconds, rate, write

SHOWN = True
MACHINES = ("stampede2", "summit")
SCALES = (64, 256)
TARGETS = {"8 MB": "1M", "64 MB": "8M"}  # as in the paper, and with a byte for eight
TIMES = ("0", "1")


def cloud(ranks, machine, target):
    """32,768 particles of 124 bytes a rank, with a byte for eight."""
    return write(ranks, machine, "--load", "cloud", "--bytes", 32768 * 124 // 8, "--file-size", TARGETS[target],
                 "--assign", "kdtree", "--codec", "raw", "--warm-up", 0, scale=8)


def ior(ranks, machine):
    return common.bench_io(ranks, machine, ("file-per-process", "collective"), "--load", "uniform", "--bytes",
                           32768 * 124 // 8, scale=8, read=True)


def uniform(operation):
    """Figures 5 (writes) and 7 (reads)."""
    verb = "Writes" if operation == "write" else "Reads"
    others = ("file-per-process", "collective")
    pictures, rows = [], []
    for machine in MACHINES:
        lines = {name: [] for name in (*TARGETS, *others)}
        for ranks in SCALES:
            for target in TARGETS:
                lines[target].append(rate(cloud(ranks, machine, target), operation))
            for name in others:
                lines[name].append(ior(ranks, machine)[operation][name])
            rows.append([f"{machine}, {ranks:,}", *(lines[name][-1] for name in lines)])
        pictures.append(common.curves(f"{verb} of uniform particles, {machine}", "ranks", "GiB/s", [
            common.series(("bouma, files of " if name in TARGETS else "") + name, SCALES, lines[name],
                          **({} if name in TARGETS else {"dashed": True})) for name in lines]))
    return pictures, common.table(["GiB/s", *(f"files of {t}" for t in TARGETS), *others], rows)


def boiler(assign, time, *more):
    """1.75 MiB a rank at the end, with a byte for four; files of 8 MB."""
    return write(256, "stampede2", "--load", "boiler", "--bytes", 27018 * 68 // 4, "--time", time, "--file-size",
                 "2M", "--assign", assign, "--codec", "raw", "--warm-up", 0, *more, scale=4)


def dam(assign, time):
    return write(512, "stampede2", "--load", "dam", "--time", time, "--file-size", "1M", "--assign", assign,
                 "--codec", "raw", "--warm-up", 0)


def series(title, run):
    """Adaptive files and those of a grid, at the first and the last moment of a series."""
    rows, lines = [], []
    for time in TIMES:
        steps = {a: run(a, time) for a in ("kdtree", "aug")}
        for a, name in (("kdtree", "adaptive"), ("aug", "AUG")):
            s = steps[a]
            rows.append([f"{'first' if time == '0' else 'last'} step, {name}", int(s["files"]),
                         s["largest_file"] / 2**20, milliseconds(s), milliseconds(s, "read")])
    for a, name in (("kdtree", "adaptive"), ("aug", "AUG")):
        lines.append({"name": name, "y": [milliseconds(run(a, t), o) for t in TIMES for o in ("write", "read")]})
    labels = [f"{o}, {'first' if t == '0' else 'last'}" for t in TIMES for o in ("write", "read")]
    return ([common.bars(title, "ms", labels, lines)],
            common.table(["", "files", "largest, MiB", "write, ms", "read, ms"], rows))


FIGURES = {
    "002-5": lambda: uniform("write"),
    "002-7": lambda: uniform("read"),
    "002-9": lambda: series("Coal boiler, 256 ranks of stampede2", boiler),
    "002-11": lambda: series("Dam break, 512 ranks of stampede2", dam),
}
