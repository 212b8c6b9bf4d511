"""paper_004.py -- localized aggregation and partitions of grids in HZ order."""
import common
from whole_steps import NO_STORAGE, aggregation, milliseconds, write

SHOWN = True
MACHINES = ("mira", "shaheen2", "theta")
PAPERS = MACHINES[:2]
RANKS = 512  # 8 x 8 x 8
PREFIXES = ("zzyyxx", "zyxzyx", "xxzzyy")
# 32^3 doubles a rank, with a byte for eight: 16^3. Files have 16 blocks of 2^12 samples: 4 MiB.
HZ = ("--layout", "hz", "--codec", "raw", "--type", "f64", "--hz-block-bits", 12, "--hz-blocks-per-file", 16,
      "--no-read")


def step(ranks, machine, place="local", partitions=1, template="ranks", block="16,16,16", stored=False, more=(),
         copies=True, changes={}):
    """Without storage; or with it, the second step."""
    cut = ("--hz-partitions", partitions) if partitions > 1 else ()
    return write(ranks, machine, "--block", block, "--hz-template", template, "--place", place, *cut, *HZ, *more,
                 "--warm-up", 1 if stored else 0, scale=8, copies=copies,
                 changes={**({} if stored else NO_STORAGE), **changes})


def template(prefix, ranks):
    """For a cube of ranks: 'zzyyxx' is zzzyyyxxx for 512, then all axes in turn for the samples of a rank."""
    bits = ranks.bit_length() // 3
    if prefix[0] == prefix[1]:
        return "".join(bits * c for c in prefix[::2]) + "zyx" * 4
    return prefix[:3] * bits + "zyx" * 4


def templates():
    """On the torus, spread and localized also with as many ranks as the paper has."""
    names = {"spread, zzyyxx": ("spread", "zzyyxx"), **{f"localized, {p}": ("local", p) for p in PREFIXES}}

    def run(machine, ranks, count):
        return [aggregation(step(ranks, machine, place, template=template(p, ranks)))
                for place, p in list(names.values())[:count]]

    values = {m: run(m, RANKS, len(names)) for m in MACHINES}
    plot = common.bars(f"Aggregation, {RANKS} ranks", "ms", list(names),
                       [{"name": m, "y": v} for m, v in values.items()])
    rows = [[m, *v, v[0] / v[1]] for m, v in values.items()]
    many = run("mira", 4096, 2)
    rows.append(["mira, 4,096 ranks", *many, None, None, many[0] / many[1]])
    return [plot], common.table(["ms", *names, "spread / localized"], rows)


BLOCKS = {32: "8,16,16", 128: "8,8,8", 512: "4,4,8", 2048: "2,4,4"}
OVERHEAD = {"mira": "3us", "shaheen2": "1us"}  # of a message, in the files of the machines


def first_file():
    """One file of 2^16 samples (4 MiB), from more and more ranks. And where a rank is busy with each message that it
    receives for as long as its sender is, which the model leaves out elsewhere."""
    values = {}
    for m in PAPERS:
        values[m] = [aggregation(step(n, m, block=b)) for n, b in BLOCKS.items()]
        values[m + ", one message at a time"] = [
            aggregation(step(n, m, block=b, changes={"receive_seconds": OVERHEAD[m]})) for n, b in BLOCKS.items()]
    return ([common.curves("Aggregation of one file of 4 MiB", "ranks", "ms",
                           [common.series(m, BLOCKS, v, dashed="one" in m) for m, v in values.items()])],
            common.table(["ms", *(f"{n:,} ranks" for n in BLOCKS)], [[m, *v] for m, v in values.items()]))


GROUPS = {16: "16,16,16", 64: "8,8,16", 256: "4,8,8"}  # that have one file of 4 MiB together
GROUP_SCALES = (256, 1024)


def groups():
    """A group is a partition with an index and a file of its own."""
    values = {(m, g): [aggregation(step(n, m, partitions=n // g, block=b, more=("--hz-index", "local") if n > g else ()))
                       for n in GROUP_SCALES] for m in PAPERS for g, b in GROUPS.items()}
    pictures = [common.curves(f"Aggregation by size of groups, {m}", "ranks", "ms", [
        common.series(f"groups of {g}", GROUP_SCALES, values[m, g]) for g in GROUPS]) for m in PAPERS]
    rows = [[f"{m}, groups of {g}", *values[m, g]] for m, g in values]
    return pictures, common.table(["ms", *(f"{n:,} ranks" for n in GROUP_SCALES)], rows)


SCALES = (256, 1024, 2048)


def weak():
    """Without partitions, and with one for 256 ranks, with the files of one order of all samples, or of its own."""
    pictures, rows = [], []
    for m in PAPERS:
        own = [("--hz-index", "local") if n > 256 else () for n in SCALES]
        lines = {"one partition": [aggregation(step(n, m)) for n in SCALES],
                 "one for 256 ranks": [aggregation(step(n, m, partitions=n // 256)) for n in SCALES],
                 "the same, local index": [aggregation(step(n, m, partitions=n // 256, more=o))
                                           for n, o in zip(SCALES, own)]}
        slow = {"receive_seconds": OVERHEAD[m]}
        lines["one partition, one message at a time"] = [aggregation(step(n, m, changes=slow)) for n in SCALES]
        lines["one for 256 ranks, one message at a time"] = [
            aggregation(step(n, m, partitions=n // 256, changes=slow)) for n in SCALES]
        pictures.append(common.curves(f"Aggregation, weak scaling, {m}", "ranks", "ms", [
            common.series(name, SCALES, values) for name, values in lines.items()]))
        rows += [[f"{m}, {name}", *values, values[-1] / values[0]] for name, values in lines.items()]
    return pictures, common.table(["ms", *(f"{n:,} ranks" for n in SCALES), "last / first"], rows)


PARTITIONS = (1, 4, 16)
MANY = 1024


def partitions():
    pictures, rows = [], []
    for m in PAPERS:
        alone = [step(MANY, m, partitions=p) for p in PARTITIONS]
        steps = [step(MANY, m, partitions=p, stored=True) for p in PARTITIONS]
        lines = {"aggregation without storage": [aggregation(s) for s in alone],
                 "storing": [1000 * s["phases"]["store"] for s in steps],
                 "the whole second step": [milliseconds(s) for s in steps]}
        pictures.append(common.curves(f"Partitions, {MANY:,} ranks, {m}", "partitions", "ms",
                                      [common.series(n, PARTITIONS, v) for n, v in lines.items()]))
        rows += [[f"{m}, {n}", *v] for n, v in lines.items()]
    return pictures, common.table(["ms", *(f"{p} partitions" if p > 1 else "one" for p in PARTITIONS)], rows)


def together():
    names = {"spread": ("spread", 1), "localized": ("local", 1), "localized, 4 partitions": ("local", 4)}
    steps = {(m, stored): [step(RANKS, m, *names[n], stored=stored) for n in names]
             for m in MACHINES for stored in (False, True)}
    rows = []
    for m in MACHINES:
        rows += [[f"{m}, aggregation without storage", *(aggregation(s) for s in steps[m, False])],
                 [f"{m}, the whole second step", *(milliseconds(s) for s in steps[m, True])]]
    plot = common.bars(f"Localized aggregation and partitions, {RANKS} ranks", "ms", list(names),
                       [{"name": m, "y": [aggregation(s) for s in steps[m, False]]} for m in MACHINES])
    return [plot], common.table(["ms", *names], rows)


FIGURES = {"004-5": templates, "004-8": first_file, "004-9": groups, "004-12": partitions, "004-13": weak,
           "004-15": together}
