"""paper_002.py -- adaptive two-phase writes and reads of particles."""
import common
from whole_steps import milliseconds, rate, write

SHOWN = True
MACHINES = ("stampede2", "summit")
# Ranks of writes, and of reads, where each rank has the whole manifest.
SCALES = {"write": (128, 512, 2048), "read": (64, 256)}
CLOUD = 32  # what a byte of the uniform particles stands for
TARGETS = {"8 MB": 8 << 20, "64 MB": 64 << 20, "256 MB": 256 << 20}
TIMES = ("0", "1")


def cloud(ranks, machine, target, operation):
    """32,768 particles of 124 bytes a rank."""
    more = () if operation == "read" else ("--no-read",)
    return write(ranks, machine, "--load", "cloud", "--bytes", 32768 * 124 // CLOUD, "--file-size",
                 TARGETS[target] // CLOUD, "--assign", "kdtree", "--codec", "raw", "--warm-up", 0, *more, scale=CLOUD)


def ior(ranks, machine, operation):
    return common.bench_io(ranks, machine, ("file-per-process", "collective"), "--load", "uniform", "--bytes",
                           32768 * 124, read=operation == "read")


def uniform(operation):
    """Figures 5 (writes) and 7 (reads)."""
    verb = "Writes" if operation == "write" else "Reads"
    others = ("file-per-process", "collective")
    pictures, rows = [], []
    for machine in MACHINES:
        lines = {name: [] for name in (*TARGETS, *others)}
        for ranks in SCALES[operation]:
            for target in TARGETS:
                lines[target].append(rate(cloud(ranks, machine, target, operation), operation))
            for name in others:
                lines[name].append(ior(ranks, machine, operation)[operation][name])
            rows.append([f"{machine}, {ranks:,}", *(lines[name][-1] for name in lines)])
        pictures.append(common.curves(f"{verb} of uniform particles, {machine}", "ranks", "GiB/s", [
            common.series(("bouma, files of " if name in TARGETS else "") + name, SCALES[operation], lines[name],
                          **({} if name in TARGETS else {"dashed": True})) for name in lines]))
    return pictures, common.table(["GiB/s", *(f"files of {t}" for t in TARGETS), *others], rows)


# 1.75 MiB a rank at the end, with a byte for 16; files of 8 MB.
BOILER = 16
WAYS = {"kdtree": "adaptive", "aug": "AUG"}


def boiler(ranks, assign, time, *more, changes={}):
    return write(ranks, "stampede2", "--load", "boiler", "--bytes", 27018 * 68 // BOILER, "--time", time,
                 "--file-size", (8 << 20) // BOILER, "--assign", assign, "--codec", "raw", "--warm-up", 0, *more,
                 scale=BOILER, changes=changes)


def boiler_series():
    """Writes on as many ranks as the paper has; reads, whose memory grows fast, on 256."""
    times, rows, lines = ("0", "0.5", "1"), [], {}
    for a, name in WAYS.items():
        for gateways, more in (("", {}), (", no gateways", {"nodes_per_gateway": 1})):
            lines[name + gateways] = [boiler(1536, a, t, "--no-read", changes=more) for t in times]
        lines[name + ", 256 ranks"] = [boiler(256, a, t) for t in times]
    for i, t in enumerate(times):
        for name in lines:
            s = lines[name][i]
            rows.append([f"time {t}, {name}", int(s["files"]), s["largest_file"] / 2**20, milliseconds(s),
                         milliseconds(s, "read") if s["read"] else None])
        for case in ("", ", no gateways", ", 256 ranks"):
            s, o = lines["adaptive" + case][i], lines["AUG" + case][i]
            rows.append([f"time {t}, AUG / adaptive" + case, None, o["largest_file"] / s["largest_file"],
                         o["write"] / s["write"], o["read"] / s["read"] if s["read"] else None])
    shown = [n for n in lines if "256" not in n]
    return ([common.curves("Coal boiler, writes, 1,536 ranks of stampede2", "time", "ms", [
        common.series(n, map(float, times), [milliseconds(s) for s in lines[n]]) for n in shown], x_scale="linear")],
            common.table(["", "files", "largest, MiB", "write, ms", "read, ms"], rows))


def dam(assign, time):
    """As in the paper: 2 million particles, files of 3 MB."""
    return write(1536, "stampede2", "--load", "dam", "--time", time, "--file-size", "3M", "--assign", assign,
                 "--codec", "raw", "--warm-up", 0)


def series(title, run):
    """Adaptive files and those of a grid, at the first and the last moment of a series."""
    rows, lines = [], []
    for time in TIMES:
        steps = {a: run(a, time) for a in WAYS}
        for a, name in WAYS.items():
            s = steps[a]
            rows.append([f"{'first' if time == '0' else 'last'} step, {name}", int(s["files"]),
                         s["largest_file"] / 2**20, milliseconds(s), milliseconds(s, "read")])
    for a, name in WAYS.items():
        lines.append({"name": name, "y": [milliseconds(run(a, t), o) for t in TIMES for o in ("write", "read")]})
    labels = [f"{o}, {'first' if t == '0' else 'last'}" for t in TIMES for o in ("write", "read")]
    return ([common.bars(title, "ms", labels, lines)],
            common.table(["", "files", "largest, MiB", "write, ms", "read, ms"], rows))


FIGURES = {
    "002-5": lambda: uniform("write"),
    "002-7": lambda: uniform("read"),
    "002-9": boiler_series,
    "002-11": lambda: series("Dam break, 1,536 ranks of stampede2", dam),
}
