"""report.py -- the results in docs/performance.md, and its plots, from a file of results.

    bench/report.py RESULTS.json BOUMA            write them anew
    bench/report.py RESULTS.json BOUMA --check    tell whether the text is out of date

They stand between two lines that say so; nobody writes there. `./dev bench --keep NAME --report` measures, too."""
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

import results

docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
PAGE = os.path.join(docs, "performance.md")
PICTURES = os.path.join("pictures", "performance")
MANY = 12
TITLES = {
    "write": "Raw grids beside plain files and other libraries",
    "open": "Opening a dataset and reading a little",
    "plan": "Plans of a million ranks",
    "codecs": "Lossy codecs beside zfp",
    "grid": "Compressed grids",
    "hz in memory": "HZ order in memory",
    "hz plans": "HZ order: plans",
    "hz in files": "HZ order: files",
    "particles": "Particles",
    "aggregate": "Plain files beside MPI-IO",
    "overlap": "Storing while the next is shaped",
    "scale": "More ranks",
    "python": "Python",
    "serve": "The server",
    "wasm": "The reader for browsers",
}


# ---- words and numbers -----------------------------------------------------


def short(value):
    return "-" if value is None else "%.3g" % value if abs(value) < 1e5 else "{:,.0f}".format(value)


def amount(value, unit):
    """A number with its unit, in one that reads well."""
    if value is None:
        return "-"
    if unit == "s":
        scale, unit = (1e6, "us") if value < 1e-3 else (1e3, "ms") if value < 1 else (1, "s")
        value *= scale
    if unit == "bytes":
        scale, unit = (2**20, "MiB") if value >= 2**20 else (1, "bytes")
        value /= scale
    return (short(value) + " " + unit).strip()


def target(figure):
    if figure["target"] is None:
        return ""
    (word, limit), alone = *figure["target"].items(), figure["reference"] is None
    text = amount(limit, figure["unit"]) if alone else short(limit)
    return "%s %s: %s" % (word.replace("_", " "), text, "met" if figure["met"] else "**missed**")


def spread(figure):
    """Of the ratios of the turns, or of the figure itself, where there were turns."""
    reference = figure["reference"]
    if figure["count"] < 2:
        return ""
    if reference is None:
        return " to ".join(amount(x, figure["unit"]) for x in figure["spread"])
    turns = [results.divide(x, reference["median"]) for x in figure["samples"]]
    if reference["count"] == figure["count"]:
        turns = [results.divide(x, y) for x, y in zip(figure["samples"], reference["samples"])]
    turns = [x for x in turns if x is not None]
    return "%s to %s" % (short(results.quantile(turns, 0.25)), short(results.quantile(turns, 0.75))) if turns else ""


def cell(text):
    return text.replace("|", "\\|")


# ---- tables ----------------------------------------------------------------


def settings_of(run):
    given = ["%s %s" % (name, "{:,}".format(x) if isinstance(x, int) else x) for name, x in run["settings"].items()]
    return ", ".join(given)


def row(figure):
    name = ": ".join(text for text in (figure["part"], figure["name"]) if text)
    if figure["reference"]:
        value, shortest, other = short(figure["ratio"]), short(figure["ratio_of_shortest"]), figure["reference"]["name"]
    else:
        value, shortest, other = amount(figure["median"], figure["unit"]), "", ""
    return "| " + " | ".join(map(cell, (name, other, value, shortest, spread(figure), target(figure)))) + " |"


def rows(part, figures):
    """Of a part with many figures, just those that miss their targets."""
    shown = [figure for figure in figures if len(figures) <= MANY or figure["met"] is False]
    yield from map(row, shown)
    if len(shown) < len(figures):
        yield "| %s: %d other figures |  |  |  |  | met |" % (cell(part), len(figures) - len(shown))


def is_shown(run, figure):
    """Those with a target; and all of bench write, which has few. Growth has a table of its own."""
    if run["benchmark"] == "growth":
        return False
    return figure["target"] is not None or run["benchmark"] == "write"


def table(run):
    figures = [figure for figure in run["results"] if is_shown(run, figure)]
    if not figures:
        return
    title = TITLES.get(run["benchmark"], run["benchmark"])
    given = settings_of(run)
    yield "### " + title + (" (%s)" % given if given else "")
    yield ""
    yield "| figure | reference | median | of shortest | spread | target |"
    yield "|---|---|---|---|---|---|"
    parts = {}
    for figure in figures:
        parts.setdefault(figure["part"], []).append(figure)
    for part, members in parts.items():
        yield from rows(part, members)
    yield ""


def machine(value):
    for item in machine_items(value):
        yield from textwrap.wrap("- " + item, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    yield ""


def machine_items(value):
    about, load = value["machine"], value["load"]
    yield "%s, %d cores, %.0f GiB of memory; file system %s; %s." % (
        about["processor"], about["cores"], about["memory_bytes"] / 2**30, about["file_system"], about["kernel"])
    yield "%s; %s; %s, commit %s; %s." % (
        about["compiler"], about["mpi"], about["bouma"], about["commit"], value["date"])
    yield "%.0f s in all; load %.1f before and %.1f after%s." % (
        value["seconds"], load["before"], load["after"],
        ": **other programs ran beside, so the times are not to be trusted**"
        if load["before"] > 2 * about["cores"] else "")
    for one in value["left_out"]:
        yield "Left out: `%s` (%s)." % (one["benchmark"], one["why"])


# ---- curves ----------------------------------------------------------------


def curves(value):
    """Figures with curves, by what they grow with."""
    found = {}
    for run in value["runs"]:
        for figure in run["results"]:
            if "curve" in figure:
                found.setdefault(figure["curve"]["of"], []).append(figure)
    return found


def growth(value):
    found = curves(value)
    if not found:
        return
    ends = {(f["part"], f["name"]): f for run in value["runs"] for f in run["results"]}
    yield "| cost of | grows with | from | to | exponent | spread | of the last two | target |"
    yield "|---|---|---|---|---|---|---|---|"
    for of, figures in found.items():
        for figure in figures:
            x, end = figure["curve"]["x"], ends[figure["part"], figure["name"] + " of the last two sizes"]
            name = figure["name"].replace(": exponent", "")
            cells = (name, of, "{:,}".format(x[0]), "{:,}".format(x[-1]), "%.2f" % figure["median"],
                     "%.2f to %.2f" % tuple(figure["spread"]), "%.2f" % end["median"], target(end))
            yield "| " + " | ".join(map(cell, cells)) + " |"
    yield ""
    for of in found:
        yield "![Cost over %s](%s/growth_%s.png)" % (of, PICTURES, of)
        yield ""


def plot(of, figures):
    """What `bouma plot` draws."""
    series = []
    for figure in figures:
        curve, name = figure["curve"], figure["name"].replace(": exponent", "")
        series.append({"name": "%s, ^%.2f" % (name, figure["median"]), "x": curve["x"], "y": curve["median"]})
    for figure in figures if of != "ranks" else []:  # one rank is a point of the curve
        curve, reference = figure["curve"], figure["curve"]["reference"]
        shared = [f for f in figures if f["curve"]["reference"] == reference]
        name = reference["name"]
        if len(shared) == 1:
            name = "%s: %s" % (figure["name"].replace(": exponent", ""), name)
        if figure is shared[0]:
            series.append({"name": name, "dashed": True, "x": curve["x"], "y": reference["median"]})
    return {
        "format": "bouma-plot",
        "kind": "curves",
        "title": "Cost over " + of,
        "x": {"label": of, "scale": "log"},
        "y": {"label": "seconds", "scale": "log"},
        "series": series,
    }


def draw(value, bouma, folder):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for of, figures in curves(value).items():
            data = os.path.join(place, of + ".json")
            with open(data, "w", encoding="utf-8") as file:
                json.dump(plot(of, figures), file)
            subprocess.run([bouma, "plot", data, "-o", os.path.join(folder, "growth_%s.png" % of)], check=True,
                           stdout=subprocess.DEVNULL)


# ---- the page --------------------------------------------------------------


def texts(value):
    """The text of each place in the page."""
    tables = [line for run in value["runs"] for line in table(run)]
    return {"machine": list(machine(value)), "results": tables, "growth": list(growth(value))}


def renew(page, value):
    for name, lines in texts(value).items():
        begin = "<!-- %s: made by bench/report.py -->" % name
        pattern = "(^%s\n).*?(^<!-- end -->$)" % re.escape(begin)
        new = "\n" + "".join(line + "\n" for line in lines)
        page, count = re.subn(pattern, lambda m, new=new: m[1] + new + m[2], page, flags=re.S | re.M)
        if count != 1:
            raise ValueError("%d places for '%s', not one" % (count, name))
    return page


def write(path, bouma, check=False):
    """1 if the page was out of date and is just checked."""
    value = results.load(path)
    with open(PAGE, encoding="utf-8") as file:
        old = file.read()
    new = renew(old, value)
    if check:
        return int(new != old)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(new)
    draw(value, bouma, os.path.join(docs, PICTURES))
    print("written anew: docs/performance.md, docs/%s" % PICTURES)
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(write(sys.argv[1], sys.argv[2], len(sys.argv) == 4))
