"""paper_004.py -- localized aggregation and partitions of grids in HZ order."""
import common
from whole_steps import aggregation, milliseconds, write

SHOWN = True
MACHINES = ("mira", "shaheen2")
RANKS = 256  # 8 x 8 x 4 along x, y, z
PREFIXES = {"zzyyxx": "zzyyyxxx", "zyxzyx": "zyxzyxyx", "xxzzyy": "xxxzzyyy"}
# 32^3 doubles a rank, with a byte for eight: 16^3. Files have 16 blocks of 2^12 samples: 4 MiB.
HZ = ("--layout", "hz", "--codec", "raw", "--type", "f64", "--hz-block-bits", 12, "--hz-blocks-per-file", 16,
      "--no-read", "--warm-up", 0)


def step(ranks, machine, place="local", partitions=1, template="ranks", block="16,16,16"):
    cut = ("--hz-partitions", partitions) if partitions > 1 else ()
    return write(ranks, machine, "--block", block, "--hz-template", template, "--place", place, *cut, *HZ,
                 scale=8)


def templates():
    names = {"spread, zzyyxx": ("spread", "zzyyxx"), **{f"localized, {p}": ("local", p) for p in PREFIXES}}
    values = {m: [aggregation(step(RANKS, m, place, template=PREFIXES[p] + "zyx" * 4))
                  for place, p in names.values()] for m in MACHINES}
    plot = common.bars("Aggregation, 256 ranks", "ms", list(names),
                       [{"name": m, "y": values[m]} for m in MACHINES])
    return [plot], common.table(["ms", *names], [[m, *values[m]] for m in MACHINES])


BLOCKS = {32: "8,16,16", 128: "8,8,8", 512: "4,4,8"}


def first_file():
    """One file of 2^16 samples (4 MiB), from more and more ranks."""
    values = {m: [aggregation(step(n, m, block=b)) for n, b in BLOCKS.items()] for m in MACHINES}
    return ([common.curves("Aggregation of one file of 4 MiB", "ranks", "ms",
                           [common.series(m, BLOCKS, values[m]) for m in MACHINES])],
            common.table(["ms", *(f"{n} ranks" for n in BLOCKS)], [[m, *values[m]] for m in MACHINES]))


SCALES = (64, 256, 512)


def weak():
    """Figure 9 without partitions, figure 13 with one for 64 ranks."""
    pictures, rows = [], []
    for m in MACHINES:
        whole = [aggregation(step(n, m)) for n in SCALES]
        parts = [aggregation(step(n, m, partitions=n // 64)) for n in SCALES]
        pictures.append(common.curves(f"Aggregation, weak scaling, {m}", "ranks", "ms", [
            common.series("one partition", SCALES, whole),
            common.series("a partition for 64 ranks", SCALES, parts)]))
        rows += [[f"{m}, one partition", *whole], [f"{m}, a partition for 64 ranks", *parts]]
    return pictures, common.table(["ms", *(f"{n} ranks" for n in SCALES)], rows)


PARTITIONS = (1, 4, 16)


def partitions():
    pictures, rows = [], []
    for m in MACHINES:
        steps = [step(RANKS, m, partitions=p) for p in PARTITIONS]
        lines = {"aggregation": [aggregation(s) for s in steps],
                 "storing": [1000 * s["phases"]["store"] for s in steps],
                 "the whole step": [milliseconds(s) for s in steps]}
        pictures.append(common.curves(f"Partitions, 256 ranks, {m}", "partitions", "ms",
                                      [common.series(n, PARTITIONS, v) for n, v in lines.items()]))
        rows += [[f"{m}, {n}", *v] for n, v in lines.items()]
    return pictures, common.table(["ms", *(f"{p} partitions" if p > 1 else "one" for p in PARTITIONS)], rows)


def together():
    names = {"spread": ("spread", 1), "localized": ("local", 1), "localized, 4 partitions": ("local", 4)}
    steps = {m: [step(RANKS, m, *names[n]) for n in names] for m in MACHINES}
    rows = [[f"{m}, {what}", *(f(s) for s in steps[m])] for m in MACHINES
            for what, f in (("aggregation", aggregation), ("the whole step", milliseconds))]
    plot = common.bars("Localized aggregation and partitions, 256 ranks", "ms", list(names),
                       [{"name": m, "y": [aggregation(s) for s in steps[m]]} for m in MACHINES])
    return [plot], common.table(["ms", *names], rows)


FIGURES = {"004-5": templates, "004-8": first_file, "004-9": weak, "004-12": partitions, "004-15": together}
