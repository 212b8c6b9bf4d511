"""score.py -- figures of benchmarks in Python: as score.h, which says how they are kept."""
import json
import math
import os
import statistics


class Score:
    """The figures of one run: printed at once, appended to $BENCH_RUNS by end()."""

    def __init__(self, benchmark, **settings):
        self.run = {"benchmark": benchmark, "settings": settings, "results": []}
        self.heading = ""

    def part(self, heading):
        """A headline, part of the names of the figures that follow."""
        self.heading = heading
        if heading:
            print(heading, flush=True)

    def add(self, name, unit, samples, *, reference=None, at_most=None, at_least=None, better="less", curve=None):
        """A figure: a number or a list of samples; 'reference' is a name and its samples."""
        samples = [samples] if isinstance(samples, (int, float)) else list(samples)
        figure = {"part": self.heading, "name": name, "unit": unit}
        figure["better"] = "more" if at_least is not None else "less" if at_most is not None else better
        if at_most is not None:
            figure["target"] = {"at_most": at_most}
        if at_least is not None:
            figure["target"] = {"at_least": at_least}
        if reference:
            figure["reference"] = {"name": reference[0], "samples": [number(x) for x in reference[1]]}
        if curve:
            figure["curve"] = curve
        figure["samples"] = [number(x) for x in samples]
        self.run["results"].append(figure)
        print(line(figure), flush=True)

    def end(self):
        path = os.environ.get("BENCH_RUNS")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(self.run) + "\n")


def number(value):
    """For JSON, which has no infinities."""
    value = float(value)
    return value if math.isfinite(value) else None


def line(figure):
    """A figure as score.c prints it."""
    samples = [x for x in figure["samples"] if x is not None] or [math.nan]
    value, beside = statistics.median(samples), figure["unit"]
    if "reference" in figure:
        other = figure["reference"]["samples"]
        value /= statistics.median(other)
        beside = "%.4g" % (min(samples) / min(other))
    text = "  %-64s %10.4g %9s" % (figure["name"], value, beside)
    for word, limit in figure.get("target", {}).items():
        met = value <= limit if word == "at_most" else value >= limit
        text += "   %s %g %s" % ("<=" if word == "at_most" else ">=", limit, "met" if met else "MISSED")
    return text
