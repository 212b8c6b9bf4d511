#!/usr/bin/env python3
"""run.py -- the figures of docs/scale.md, made anew on simulated machines.

    figures/run.py [--into DIR] [NAME...]

NAME is a figure, such as 000-8, or the beginning of some, such as 000; without one, all are made.
Pictures go to docs/pictures/scale, and tables into the page, between the lines that name them; with
--into, both go to DIR, and the page stays. What was run before is not run again: results are in
build-sim/figures, until the program, the machine or the command becomes another. The processor time
of each figure is told, also of runs that are kept, and is in build-sim/figures/times.json; a run that
two figures share counts for the first. `./dev sim` and `./dev build` make the programs; `./dev figures`
does all."""
import glob
import importlib
import json
import os
import re
import sys

import common

page = os.path.join(common.root, "docs", "scale.md")
BEGIN, END = "<!-- figure %s: made by ./dev figures -->", "<!-- end -->"


def modules():
    """Those that have a table of figures."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(here, "*.py"))):
        name = os.path.basename(path)[:-3]
        if name not in ("run", "common"):
            yield importlib.import_module(name)


def replace(text, name, lines):
    begin = BEGIN % name
    pattern = re.escape(begin) + r"\n.*?" + re.escape(END)
    if not re.search(pattern, text, re.S):
        sys.exit("%s has no line '%s'" % (page, begin))
    block = begin + "\n" + "\n".join(lines) + "\n" + END
    return re.sub(pattern, lambda _: block, text, flags=re.S)


def make(name, figure, into):
    """Draw its pictures; returns the lines for the page."""
    pictures, lines = figure()
    folder = into or os.path.join(common.root, "docs", "pictures", "scale")
    shown = []
    for i, plot in enumerate(pictures):
        file = name + ("" if i == 0 else chr(ord("a") + i)) + ".png"
        common.draw(plot, os.path.join(folder, file))
        shown += ["", "![%s](pictures/scale/%s)" % (plot["title"], file)]
    return ["", *lines, *shown, ""]


def spent(before):
    """Processor seconds of the runs that are not among 'before': what a figure adds to those made before."""
    return round(sum(s for name, s in common.used.items() if name not in before), 1)


def main(arguments):
    into = None
    if arguments[:1] == ["--into"]:
        into, arguments = os.path.abspath(arguments[1]), arguments[2:]
    # Those that no page shows are made only if they are named.
    table = [(name, f, m.SHOWN) for m in modules() for name, f in m.FIGURES.items()]
    names = {n for n, _, _ in table}
    chosen = [(n, f) for n, f, shown in table
              if any(n == a or (a not in names and n.startswith(a)) for a in arguments) or (shown and not arguments)]
    if not chosen:
        sys.exit("there is no such figure; there are: " + ", ".join(n for n, _, _ in table))
    times = {}
    for name, figure in chosen:
        print(name, flush=True)
        before = set(common.used)
        lines = make(name, figure, into)
        times[name] = spent(before)
        print("%s: %.0f s" % (name, times[name]), flush=True)
        if into:
            with open(os.path.join(into, name + ".md"), "w") as f:
                f.write("\n".join(lines) + "\n")
        else:
            with open(page) as f:
                text = f.read()
            with open(page, "w") as f:
                f.write(replace(text, name, lines))
    times["all"] = spent(())
    print("all: %.0f s of one processor" % times["all"])
    with open(os.path.join(common.kept, "times.json"), "w") as f:
        json.dump(times, f, indent=1)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main(sys.argv[1:])
