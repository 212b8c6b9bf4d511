"""paper_000.py -- Fan et al., "Load-balancing Parallel I/O of Compressed Hierarchical Layouts", on the
model of Theta: figures 6 to 9 and 11."""
from common import GIB, bench_io, curves, number, series, simulate, table

SHOWN = True
# Of table I, after compression, and the ranks that it was written from.
TURBULENCE = 38989451056 // 32768  # bytes of a rank
FLAME = 786616672  # bytes of all ranks
EACH = 9961472  # of a rank, in figure 11: 9.5 GiB on 1,024 ranks
THETA = {"ranks_per_node": 64}
NAMES = {"file-per-process": "file per process", "count": "equal count", "running": "balanced",
         "collective": "MPI collective", "group-collective": "MPI group collective"}


def s3d(ranks, names, files, each=EACH, variables=16, more=()):
    return bench_io(ranks, "theta", names, "--load", "s3d", "--bytes", int(each), "--variables", variables, "--files",
                    files, *more, changes=THETA)


# ---- figure 6: who encodes a patch ------------------------------------------

# 400^3 samples in patches of 16^3, for the paper's 1600^3 in patches of 64^3: 15,625 patches.
BLOCKS = {512: "50,50,50", 1024: "50,50,25", 2048: "50,25,25"}


def encode(ranks, scheme):
    block = BLOCKS[ranks]
    grid = ",".join(str(400 // int(n)) for n in block.split(","))
    result = simulate(ranks, "theta", "bench", "write", "scratch", "--load", "uniform", "--variables", 1, "--ranks", grid,
                      "--block", block, "--patch", 16, "--distribute", scheme, "--codec", "wavelet", "--relative",
                      "1e-3", "--repetitions", 1, "--warm-up", 0, "--no-read", scale=64, changes=THETA)
    one = result["results"][0]
    return one["phases"]["distribute"] + one["phases"]["shape"], one["most_patches"]


def figure_6():
    ranks = sorted(BLOCKS)
    found = {scheme: [encode(n, scheme) for n in ranks] for scheme in ("balanced", "greedy")}
    seconds = {scheme: [t for t, _ in f] for scheme, f in found.items()}
    rows = [[n, "%.1f" % (15625 / n), found["balanced"][i][1], found["greedy"][i][1], seconds["balanced"][i],
             seconds["greedy"][i], seconds["greedy"][i] / seconds["balanced"][i]] for i, n in enumerate(ranks)]
    lines = [series(s, ranks, seconds[s]) for s in seconds]
    lines.append(series("balanced (paper)", [512, 4096], [1.11, 0.15], dashed=True))
    return ([curves("000, figure 6: distribute, transform and compress", "ranks", "s", lines, y_scale="log")],
            table(["ranks", "patches a rank", "most, balanced", "most, greedy", "balanced, s", "greedy, s", "ratio"], rows))


# ---- figures 7 and 8: how many files ----------------------------------------


def sweep(title, ranks, run, counts, paper, paper_ranks):
    own = run(ranks, ["file-per-process"], ranks)["write"]["file-per-process"]
    found = {n: run(ranks, ["count", "running"], n) for n in counts}
    rows = [[n, found[n]["write"]["running"], found[n]["write"]["count"],
             found[n]["write"]["running"] / found[n]["write"]["count"],
             found[n]["largest"]["running"] / 2.0**20, found[n]["largest"]["count"] / 2.0**20] for n in counts]
    best = {k: max(found[n]["write"][k] for n in counts) for k in ("running", "count")}
    rows.append(["best", best["running"], best["count"], best["running"] / best["count"], None, None])
    rows.append(["paper, {:,} ranks".format(paper_ranks), *paper[:2], paper[0] / paper[1], None, None])
    lines = [series(NAMES[k], counts, [found[n]["write"][k] for n in counts]) for k in ("running", "count")]
    lines.append(series("file per process", [min(counts), max(counts)], [own, own], dashed=True))
    text = list(table(["files", "balanced, GiB/s", "equal count, GiB/s", "ratio", "largest, MiB", "of equal count, MiB"], rows))
    text += ["", "File per process: %s GiB/s here, %s in the paper." % (number(own), number(paper[2]))]
    return [curves(title, "files", "GiB/s", lines)], text


def figure_7():
    """262,144 patches on 32,768 ranks are 8 a rank. Sizes of ranks by a bell, from none to twice the mean."""
    def run(ranks, names, files):
        return bench_io(ranks, "theta", names, "--load", "normal", "--variables", 8, "--bytes", 2 * TURBULENCE, "--files",
                        files, changes=THETA)

    return sweep("000, figure 7: even loads, 2,048 ranks", 2048, run, [128, 512],
                 (58.08, 51.11, 33.01), 32768)


def flame(ranks, names, files):
    """About 5,000 patches: one or two a rank on 4,096."""
    return s3d(ranks, names, files, FLAME / ranks, variables=2 * 4096 // ranks)


def figure_8():
    return sweep("000, figure 8: S3D, 4,096 ranks", 4096, flame, [512, 1024, 2048], (9.97, 7.5, 5.14), 4096)


# ---- figures 9 and 11: scaling ----------------------------------------------


def figure_9():
    ranks = [512, 1024, 2048, 4096]
    found = [flame(n, ["count", "running"], n // 8)["write"] for n in ranks]
    rows = [[n, f["running"], f["count"], f["running"] / f["count"]] for n, f in zip(ranks, found)]
    lines = [series(NAMES[k], ranks, [f[k] for f in found]) for k in ("running", "count")]
    return ([curves("000, figure 9: strong scaling, S3D, %.2f GiB" % (FLAME / GIB), "ranks", "GiB/s", lines)],
            table(["ranks", "balanced, GiB/s", "equal count, GiB/s", "ratio"], rows))


def figure_11():
    ranks = [256, 512, 1024, 2048]
    found = [s3d(n, list(NAMES), n // 8)["write"] for n in ranks]
    lines = [series(NAMES[k], ranks, [f[k] for f in found]) for k in NAMES]
    order = list(NAMES)
    rows = [[n, *(f[k] for k in order), f["running"] / f["count"], f["running"] / f["collective"]]
            for n, f in zip(ranks, found)]
    rows.append(["paper, 16,384", 59.65, None, 72.75, None, None, None, "about 8"])
    return ([curves("000, figure 11: weak scaling, 9.5 MiB a rank", "ranks", "GiB/s", lines)],
            ["In GiB/s; in the last two columns, how many times as fast balanced files are:", "",
             *table(["ranks", "per process", "equal count", "balanced", "collective", "groups", "to equal count",
                     "to collective"], rows)])


FIGURES = {"000-6": figure_6, "000-7": figure_7, "000-8": figure_8, "000-9": figure_9, "000-11": figure_11}
