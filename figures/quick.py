"""quick.py -- a figure of few ranks, for the tests: balanced files against files of equal counts."""
import common

SHOWN = False


def quick():
    ranks = (16, 64)
    names = ("running", "count")
    rates = [common.bench_io(n, "theta", names, "--load", "s3d", "--bytes", "160K", "--files", n // 8,
                             scale=8)["write"] for n in ranks]
    lines = [common.series(name, ranks, [r[name] for r in rates]) for name in names]
    rows = [[n, *(r[name] for name in names)] for n, r in zip(ranks, rates)]
    return ([common.curves("Quick", "ranks", "GiB/s", lines)],
            common.table(["ranks", *names], rows))


FIGURES = {"quick": quick}
