"""paper_003.py -- Tessier et al., TAPIOCA, on the models of Theta and Mira: figures 14 to 19."""
from common import bars, bench_io, curves, series, table
from whole_steps import rate, write

SHOWN = True
RANKS = 2048
# 16 ranks a node, and 48 aggregators on 128 nodes, as in figure 14 (and 96 on 256, 384 on 1,024: table 9).
THETA = {"ranks_per_node": 16, "nodes_per_aggregator": 2.667}
KB = 1000
PARTICLE = 38


def figure_14():
    """One shared file by MPI-IO, and one file for each of the 48 aggregators by bouma."""
    labels, found = [], []
    for load in ("uniform", "random", "normal"):
        result = bench_io(RANKS, "theta", ["collective", "running"], "--load", load, "--bytes", 100 * KB, "--files", 48,
                          read=True, changes=THETA)
        for operation in ("write", "read"):
            labels.append("%s, %s" % (load, operation))
            found.append(result[operation])
    lines = [{"name": name, "y": [f[k] for f in found]} for k, name in (("collective", "MPI-IO"), ("running", "bouma"))]
    said = {"random, write": "about 6", "normal, write": "about 29", "random, read": "3", "normal, read": "3"}
    rows = [[label, f["collective"], f["running"], f["running"] / f["collective"], said.get(label, "above 1")]
            for label, f in zip(labels, found)]
    return ([bars("003, figure 14: 2,048 ranks of Theta, up to 100 KB a rank", "GiB/s", labels, lines)],
            table(["sizes", "MPI-IO, GiB/s", "bouma, GiB/s", "ratio", "paper's ratio"], rows))


def figure_15():
    nodes = RANKS // 16
    each = [1, 2, 4, 8]
    found = [bench_io(RANKS, "theta", ["group-collective", "running"], "--load", "uniform", "--bytes", 100 * KB,
                      "--files", nodes // n, changes=THETA)["write"] for n in each]
    lines = [{"name": name, "y": [f[k] for f in found]} for k, name in
             (("group-collective", "MPI-IO"), ("running", "bouma"))]
    rows = [["1:%d" % n, f["group-collective"], f["running"], f["running"] / f["group-collective"]]
            for n, f in zip(each, found)]
    return ([bars("003, figure 15: nodes for each file, 2,048 ranks of Theta", "GiB/s", ["1:%d" % n for n in each], lines)],
            table(["files : nodes", "MPI-IO, GiB/s", "bouma, GiB/s", "ratio"], rows))


def hacc(where, files, particles, names, *more, read=False, buffer=8 << 20):
    return bench_io(RANKS, where, names, "--load", "hacc", "--bytes", PARTICLE * particles, "--files", files, *more,
                    read=read, buffer=buffer, changes=THETA if where == "theta" else {})


PARTICLES = [5000, 25000]


def figure_16():
    """A Pset, with an aggregator for each 8 nodes."""
    found = [hacc("mira", RANKS // 128, n, ["collective", "running"], buffer=16 << 20)["write"] for n in PARTICLES]
    size = [PARTICLE * n / 1e6 for n in PARTICLES]
    lines = [series(name, size, [f[k] for f in found]) for k, name in (("collective", "MPI-IO"), ("running", "bouma"))]
    rows = [["%d" % n, s, f["collective"], f["running"], f["running"] / f["collective"]]
            for n, s, f in zip(PARTICLES, size, found)]
    return ([curves("003, figures 16, 17: HACC-IO, 2,048 ranks of Mira", "MB a rank", "GiB/s", lines, x_scale="linear")],
            table(["particles", "MB a rank", "MPI-IO, GiB/s", "bouma, GiB/s", "ratio"], rows))


def figure_16_place():
    """Which ranks write: 1 MB a rank on the torus."""
    places = [("first", []), ("spread", []), ("local", []), ("cost", ["--machine", "torus:4x4x2x2x2"])]
    found = [hacc("mira", RANKS // 128, 25000, ["running"], "--place", place, *more, buffer=16 << 20)["write"]["running"]
             for place, more in places]
    names = [p for p, _ in places]
    rows = [[p, f, f / found[1]] for p, f in zip(names, found)]
    return ([bars("003, placement: 1 MB a rank, 2,048 ranks of Mira", "GiB/s", names, [{"name": "bouma", "y": found}])],
            table(["place", "GiB/s", "to spread"], rows))


def figure_18():
    names = (("collective", "MPI-IO"), ("running", "bouma"))
    found = [hacc("theta", 48, n, ["collective", "running"], read=True) for n in PARTICLES]
    # A file for each node: the paper's best.
    own = [hacc("theta", RANKS // 16, n, ["running"])["write"]["running"] for n in PARTICLES]
    size = [PARTICLE * n / 1e6 for n in PARTICLES]
    lines = [series("%s, %s" % (name, op), size, [f[op][k] for f in found], dashed=op == "read")
             for op in ("write", "read") for k, name in names]
    lines.append(series("bouma, a file a node", size, own))
    rows = [["%d" % n, s, f["write"]["collective"], f["write"]["running"], f["write"]["running"] / f["write"]["collective"],
             o, f["read"]["collective"], f["read"]["running"], f["read"]["running"] / f["read"]["collective"]]
            for n, s, f, o in zip(PARTICLES, size, found, own)]
    rows.append(["paper, 25000, 16,384 ranks", 0.95, None, None, 13.8, None, None, None, 5.4])
    return ([curves("003, figure 18: HACC-IO, 2,048 ranks of Theta", "MB a rank", "GiB/s", lines, x_scale="linear")],
            table(["particles", "MB a rank", "MPI-IO, write", "bouma", "ratio", "a file a node", "MPI-IO, read",
                   "bouma", "ratio"], rows))


TIERED = 32  # what a byte stands for


def tiered(nodes, *more):
    """The second step, with a file for each node. Two ranks of a node have what 16 have in the paper, 16 MiB, as a raw
    grid: HACC-IO does not sort its particles. And one variable, since manifests are not divided."""
    return write(2 * nodes, "theta", "--load", "uniform", "--variables", 1, "--type", "f64", "--block", "32,32,32",
                 "--patch", 32, "--codec", "raw", "--files", "node", *more, "--warm-up", 1, "--no-read", scale=TIERED,
                 changes={"ranks_per_node": 2})


def figure_19():
    """Figures 19 and 20: with more and more nodes, on the file system and on the SSDs of the nodes."""
    nodes = [128, 512, 1024]
    steps = {"file system": [tiered(n) for n in nodes],
             "SSDs": [tiered(n, "--local", "/local", "--persist") for n in nodes]}
    drained = [s["bytes"] / s["drained_seconds"] / 2**30 for s in steps["SSDs"]]
    rates = {name: [rate(s) for s in list_] for name, list_ in steps.items()}
    rows = [[n, f, s, s / f, d] for n, f, s, d in zip(nodes, rates["file system"], rates["SSDs"], drained)]
    rows.append(["paper, 1,024", None, None, "4 to 9", None])
    return ([curves("003, figures 19, 20: a file for each node of Theta, 16 MiB each", "nodes", "GiB/s",
                    [series(name, nodes, r) for name, r in rates.items()] +
                    [series("SSDs, until all is in the file system", nodes, drained, dashed=True)])],
            table(["nodes", "file system, GiB/s", "SSDs, GiB/s", "ratio", "SSDs, until it is in the file system"], rows))


FIGURES = {"003-14": figure_14, "003-15": figure_15, "003-16": figure_16, "003-16-place": figure_16_place,
           "003-18": figure_18, "003-19": figure_19}
