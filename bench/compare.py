"""compare.py -- what changed from one file of results to another, beyond the noise.

Times are not compared, for no two machines or days are alike, but their ratios to references that were measured
in the same run. Each turn has such a ratio; the ratios of the old and the new file are ranked together (Mann and
Whitney's test). Numbers that are no times, such as bytes, are compared as they are."""
import math
from collections import Counter

import results

CERTAIN = 0.01  # so often may chance alone call something changed that is not
LEAST = 0.05  # a change by less does not matter, however sure it is
LEAST_COUNT = 0.005  # of what is not measured by a clock, but counted
TIMES = ("s", "ms", "us", "/ms", "/s", "GB/s")


def ratios(figure):
    """What is compared: a number for each turn."""
    reference = figure["reference"]
    if not reference:
        return figure["samples"]
    if len(reference["samples"]) == len(figure["samples"]):  # taken in turns
        return [results.divide(a, b) for a, b in zip(figure["samples"], reference["samples"]) if b]
    return [results.divide(a, reference["median"]) for a in figure["samples"] if reference["median"]]


def chance(a, b):
    """How likely ranks as different as those of 'a' and 'b' are if nothing changed: Mann and Whitney's U, both
    sides, exact (counted) where there are no ties and few values, else by the normal distribution."""
    u = sum((x > y) + 0.5 * (x == y) for x in a for y in b)
    n, m = len(a), len(b)
    far = abs(u - n * m / 2)
    if n + m <= 24 and len(set(a) | set(b)) == n + m:
        ways = ways_of(n, m)
        return min(1.0, sum(w for k, w in enumerate(ways) if abs(k - n * m / 2) >= far) / sum(ways))
    ties = sum(t**3 - t for t in Counter(list(a) + list(b)).values())
    all_ = n + m
    variance = n * m / 12 * (all_ + 1 - ties / (all_ * (all_ - 1)))
    return 1.0 if variance <= 0 else math.erfc(max(far - 0.5, 0) / math.sqrt(2 * variance))


def ways_of(n, m):
    """How many orders of n and m values have U = 0, 1, ... n m: the coefficients of Gauss's binomial."""
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):  # times (1 - q^(m+i)) / (1 - q^i)
        for k in range(n * m, m + i - 1, -1):
            ways[k] -= ways[k - m - i]
        for k in range(i, n * m + 1):
            ways[k] += ways[k - i]
    return ways


def verdict(old, new):
    """Old and new value, and a word: faster, slower (better, worse: what is no time), same, or why there is none."""
    a, b = ratios(old), ratios(new)
    if not a or not b:
        return None, None, "not measured"
    before, after = results.quantile(a, 0.5), results.quantile(b, 0.5)
    timed = old["reference"] is not None or old["unit"] in TIMES
    if timed and old["reference"] is None:
        return before, after, "no reference"
    words = ("faster", "slower") if timed else ("better", "worse")
    word = words[(after > before) == (old["better"] == "less")]
    change = abs(after - before) / abs(before) if before else math.inf if after else 0
    if len(a) == 1 and len(b) == 1 and not timed:
        return before, after, word if change > LEAST_COUNT else "same"
    if 2 / math.comb(len(a) + len(b), len(a)) >= CERTAIN:  # no order of so few is unlikely enough
        return before, after, "too few turns"
    return before, after, word if change > LEAST and chance(a, b) < CERTAIN else "same"


def figures(value):
    return {results.key_of(run, figure): figure for run in value["runs"] for figure in run["results"]}


def compare(old, new):
    """(key, old value, new value, word) of each figure, in the order of the files."""
    before, after = figures(old), figures(new)
    rows = []
    for key in list(before) + [key for key in after if key not in before]:
        if key not in after:
            rows.append((key, None, None, "gone"))
        elif key not in before:
            rows.append((key, None, None, "new"))
        else:
            rows.append((key, *verdict(before[key], after[key])))
    return rows


def name_of(key):
    benchmark, _, part, name = key
    return ": ".join(text for text in (benchmark, part, name) if text)


def change_of(before, after):
    return "%+.0f %%" % (100 * (after - before) / abs(before)) if before and after is not None else ""


def tell(old, new, print_=print):
    """The table, what changed first; and what differs between the machines."""
    for name, value in old["machine"].items():
        if value != new["machine"][name] and name != "commit":
            print_("other %s: %s, then %s" % (name.replace("_", " "), value, new["machine"][name]))
    rows = compare(old, new)
    order = ["slower", "worse", "faster", "better", "new", "gone", "too few turns", "not measured", "no reference"]
    for word in order + ["same"]:
        for key, before, after, found in rows:
            if found == word:
                numbers = "" if before is None else "%10.4g %10.4g %8s" % (before, after, change_of(before, after))
                print_("%-13s %-30s %s" % (word, numbers, name_of(key)))
    counts = Counter(row[3] for row in rows)
    print_(", ".join("%d %s" % (counts[word], word) for word in order + ["same"] if counts[word]) or "nothing to compare")
    return rows
