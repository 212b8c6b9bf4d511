"""results.py -- files of results: how they are made of what benchmarks append to $BENCH_RUNS, and what must be in
them. README.md describes the fields."""
import datetime
import json
import math
import os
import platform
import re
import subprocess

SCHEMA = "bouma-bench 1"


# ---- medians, spreads, ratios ----------------------------------------------


def quantile(values, q):
    """On the straight line between the two values beside it, as measure.c has it."""
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    below = int(position)
    if below + 1 == len(ordered):
        return ordered[below]
    return ordered[below] + (position - below) * (ordered[below + 1] - ordered[below])


def summary(samples):
    """What is told of repeated measurements. None: it could not be measured."""
    found = [x for x in samples if x is not None]
    if not found:
        return {"median": None, "shortest": None, "spread": None, "count": 0, "samples": []}
    return {
        "median": quantile(found, 0.5),
        "shortest": min(found),
        "spread": [quantile(found, 0.25), quantile(found, 0.75)],
        "count": len(found),
        "samples": found,
    }


def divide(a, b):
    return None if a is None or not b else a / b


def is_met(value, target):
    if value is None:
        return False
    return value <= target["at_most"] if "at_most" in target else value >= target["at_least"]


def complete_curve(curve):
    points = [summary(samples) for samples in curve["samples"]]
    done = {"of": curve["of"], "unit": curve["unit"], "x": curve["x"]}
    done["median"] = [p["median"] for p in points]
    done["shortest"] = [p["shortest"] for p in points]
    if "reference" in curve:
        points = [summary(samples) for samples in curve["reference"]["samples"]]
        done["reference"] = {"name": curve["reference"]["name"], "median": [p["median"] for p in points]}
    return done


def complete_figure(figure):
    """A figure as the file has it, of one as benchmarks write it."""
    done = {key: figure[key] for key in ("part", "name", "unit", "better")}
    done.update(summary(figure["samples"]))
    done["reference"] = done["ratio"] = done["ratio_of_shortest"] = None
    if "reference" in figure:
        reference = summary(figure["reference"]["samples"])
        done["reference"] = {"name": figure["reference"]["name"], **reference}
        done["ratio"] = divide(done["median"], reference["median"])
        done["ratio_of_shortest"] = divide(done["shortest"], reference["shortest"])
    done["target"] = figure.get("target")
    value = done["ratio"] if done["reference"] else done["median"]
    done["met"] = is_met(value, done["target"]) if done["target"] else None
    if "curve" in figure:
        done["curve"] = complete_curve(figure["curve"])
    return done


def complete(text):
    """The runs of the lines in $BENCH_RUNS."""
    runs = [json.loads(line) for line in text.splitlines() if line]
    for run in runs:
        run["results"] = [complete_figure(figure) for figure in run["results"]]
    return runs


# ---- the machine -----------------------------------------------------------


def first_line(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip().split("\n")[0]


def found_in(path, pattern):
    try:
        with open(path, encoding="utf-8") as file:
            match = re.search(pattern, file.read(), re.M)
    except OSError:
        match = None
    return match[1] if match else "unknown"


def commit(tree):
    text = first_line(["git", "-C", tree, "rev-parse", "--short=12", "HEAD"])
    changed = subprocess.run(["git", "-C", tree, "diff", "--quiet", "HEAD"], stderr=subprocess.DEVNULL, check=False)
    return text + ("" if changed.returncode == 0 else "+")


def machine(build, directory, mpirun):
    """What the results depend on. No name of the machine, nor of its directories."""
    compiler = found_in(os.path.join(build, "CMakeCache.txt"), r"^CMAKE_C_COMPILER:\w+=(.*)$")
    memory = found_in("/proc/meminfo", r"^MemTotal: *(\d+) kB")
    return {
        "processor": found_in("/proc/cpuinfo", r"^model name\s*: (.*)$"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": int(memory) * 1024 if memory.isdigit() else 0,
        "file_system": first_line(["findmnt", "-n", "-o", "FSTYPE", "-T", directory]),
        "kernel": "%s %s" % (platform.system(), platform.release()),
        "compiler": first_line([compiler, "--version"]),
        "mpi": first_line([mpirun, "--version"]),
        "bouma": first_line([os.path.join(build, "bin", "bouma"), "--version"]),
        "commit": commit(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")),
    }


def document(runs, about, load, seconds, left_out):
    """A whole file."""
    return {
        "schema": SCHEMA,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "machine": about,
        "load": {"before": load[0], "after": load[1]},
        "seconds": seconds,
        "left_out": left_out,
        "runs": runs,
    }


# ---- what must be in a file ------------------------------------------------


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_text(value):
    return isinstance(value, str)


def is_name(value):
    return is_text(value) and value != ""


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def numbers(value):
    return isinstance(value, list) and all(is_number(x) for x in value)


def maybe(check):
    return lambda value: value is None or check(value)


def is_spread(value):
    return numbers(value) and len(value) == 2 and value[0] <= value[1]


def is_target(value):
    return isinstance(value, dict) and list(value) in (["at_most"], ["at_least"]) and is_number(*value.values())


SUMMARY = {
    "median": maybe(is_number),
    "shortest": maybe(is_number),
    "spread": maybe(is_spread),
    "count": is_count,
    "samples": numbers,
}
REFERENCE = {"name": is_name, **SUMMARY}
FIGURE = {
    "part": is_text,
    "name": is_name,
    "unit": is_text,
    "better": lambda value: value in ("less", "more"),
    **SUMMARY,
    "reference": maybe(lambda value: isinstance(value, dict)),
    "ratio": maybe(is_number),
    "ratio_of_shortest": maybe(is_number),
    "target": maybe(is_target),
    "met": lambda value: value in (None, True, False),
}
CURVE = {"of": is_name, "unit": is_text, "x": numbers, "median": numbers, "shortest": numbers}
MACHINE = {
    "processor": is_name,
    "cores": is_count,
    "memory_bytes": is_count,
    "file_system": is_name,
    "kernel": is_name,
    "compiler": is_name,
    "mpi": is_name,
    "bouma": is_name,
    "commit": is_name,
}
LEFT_OUT = {"benchmark": is_name, "why": is_name}
RUN = {
    "benchmark": is_name,
    "settings": lambda value: isinstance(value, dict) and all(is_number(x) or is_text(x) for x in value.values()),
    "results": lambda value: isinstance(value, list),
}
DOCUMENT = {
    "schema": lambda value: value == SCHEMA,
    "date": lambda value: is_text(value) and re.fullmatch(r"\d{4}-\d\d-\d\d", value),
    "machine": lambda value: isinstance(value, dict),
    "load": lambda value: isinstance(value, dict) and sorted(value) == ["after", "before"]
    and all(map(is_number, value.values())),
    "seconds": is_number,
    "left_out": lambda value: isinstance(value, list),
    "runs": lambda value: isinstance(value, list),
}


def check_fields(where, value, fields, optional=()):
    """What is wrong with an object: each field must be there, be as it should, and no other may be there."""
    if not isinstance(value, dict):
        yield "%s: not an object" % where
        return
    for name in fields:
        if name not in value:
            yield "%s: '%s' is missing" % (where, name)
        elif not fields[name](value[name]):
            yield "%s: '%s' cannot be %.60r" % (where, name, value[name])
    for name in value:
        if name not in fields and name not in optional:
            yield "%s: '%s' is not known" % (where, name)


def same(a, b):
    return a == b or (is_number(a) and is_number(b) and math.isclose(a, b, rel_tol=1e-9))


def check_summary(where, value):
    """Medians and the like must be those of the samples."""
    expected = summary(value["samples"])
    for name in ("median", "shortest", "count"):
        if not same(value[name], expected[name]):
            yield "%s: '%s' is not that of the samples" % (where, name)


def check_figure(where, figure):
    wrong = list(check_fields(where, figure, FIGURE, ("curve",)))
    if figure.get("reference") is not None:
        wrong += check_fields(where + ", its reference", figure["reference"], REFERENCE)
    if wrong:
        yield from wrong
        return
    yield from check_summary(where, figure)
    reference = figure["reference"]
    if reference:
        yield from check_summary(where + ", its reference", reference)
        if not same(figure["ratio"], divide(figure["median"], reference["median"])):
            yield "%s: 'ratio' is not that of the medians" % where
    value = figure["ratio"] if reference else figure["median"]
    if figure["met"] != (is_met(value, figure["target"]) if figure["target"] else None):
        yield "%s: 'met' is not what the target says" % where
    if "curve" in figure:
        yield from check_curve(where + ", its curve", figure["curve"])


def check_curve(where, curve):
    wrong = list(check_fields(where, curve, CURVE, ("reference",)))
    yield from wrong
    if wrong:
        return
    lists = [curve["median"], curve["shortest"]]
    if "reference" in curve:
        wrong = list(check_fields(where + ", its reference", curve["reference"], {"name": is_name, "median": numbers}))
        yield from wrong
        lists += [] if wrong else [curve["reference"]["median"]]
    if any(len(values) != len(curve["x"]) for values in lists):
        yield "%s: lists of different lengths" % where


def key_of(run, figure):
    """What is compared with each other."""
    settings = tuple(sorted(run["settings"].items()))
    return (run["benchmark"], settings, figure["part"], figure["name"])


def problems(value):
    """All that is wrong with a file of results, as texts."""
    wrong = list(check_fields("the file", value, DOCUMENT))
    if wrong:
        return wrong
    wrong += check_fields("the machine", value["machine"], MACHINE)
    for i, one in enumerate(value["left_out"]):
        wrong += check_fields("left out, %d" % i, one, LEFT_OUT)
    seen = set()
    for i, run in enumerate(value["runs"]):
        here = list(check_fields("run %d" % i, run, RUN))
        wrong += here
        for k, figure in enumerate([] if here else run["results"]):
            where = "%s, figure %d" % (run["benchmark"], k)
            found = list(check_figure(where, figure))
            wrong += found
            if not found and key_of(run, figure) in seen:
                wrong.append("%s: '%s' is there twice" % (where, figure["name"]))
            if not found:
                seen.add(key_of(run, figure))
    return wrong


def load(path):
    """A file of results; an error if it is none."""
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    wrong = problems(value)
    if wrong:
        raise ValueError("%s: %s" % (path, wrong[0]))
    return value


def save(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
