#!/usr/bin/env python3
"""tables.py -- the lists in the documents that are made from the program's own
tables: commands, their options and the formats of files, and the options of the
library.

    docs/tables.py BOUMA            write them anew (./dev docs)
    docs/tables.py BOUMA --check    tell which are out of date

They stand between two lines that say so; nobody writes there."""
import json
import os
import re
import subprocess
import sys
import textwrap

here = os.path.dirname(os.path.abspath(__file__))


def words(option):
    """What an option can be set to: its choices, or what stands for a value."""
    if option["choices"]:
        return option["choices"].split("|")
    return [option["argument"]] if option["argument"] else ["yes", "no"]


# ---- the guide -------------------------------------------------------------


def guide_options(tables):
    for option in tables["options"]:
        quote = "`%s`" if option["choices"] or not option["argument"] else "%s"
        values = ", ".join(quote % word for word in words(option))
        item = "- `%s` = %s: %s" % (option["name"], values, option["help"])
        yield from textwrap.wrap(item, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


# ---- the manual page -------------------------------------------------------


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def roff_lines(text):
    """A text in lines; none may begin with what troff takes for a request."""
    for line in textwrap.wrap(text, 90, break_long_words=False, break_on_hyphens=False):
        yield ("\\&" if line[0] in ".'" else "") + roff(line)


def man_option(option):
    yield ".TP"
    yield '.BI "%s\\-\\-%s"%s' % (
        "\\-%s, " % option["letter"] if option["letter"] else "",
        roff(option["name"]),
        ' " %s"' % roff(option["argument"]) if option["argument"] else "",
    )
    yield from roff_lines(option["help"])
    if option["choices"]:
        yield "(%s)" % roff(option["choices"].replace("|", ", "))


def man_commands(tables):
    """Each command: how it is called, and the options of its own. Those of the
    library it only names."""
    library = {option["help"] for option in tables["options"]}
    common = {option["name"] for option in tables["common"]}
    for command in tables["commands"]:
        own = [o for o in command["options"] if o["name"] not in common and o["help"] not in library]
        taken = [o["name"] for o in command["options"] if o["help"] in library]
        yield '.SS "bouma %s %s"' % (command["name"], roff(command["usage"]))
        summary = roff(command["summary"])
        yield summary[0].upper() + summary[1:] + "."
        for option in own:
            yield from man_option(option)
        if taken:
            yield ".PP"
            yield "Options of the library, see below:"
            for name in taken[:-1]:
                yield '.BR "\\-\\-%s" ,' % roff(name)
            yield '.BR "\\-\\-%s" .' % roff(taken[-1])


def man_formats(tables):
    """The files that commands read and write."""
    for command in tables["commands"]:
        if not command["formats"]:
            continue
        yield '.SS "bouma %s"' % command["name"]
        for one in command["formats"]:
            yield ".TP"
            yield '.BR "%s" " (%s)"' % (roff(one["name"]), one["of"])
            yield from roff_lines(one["help"])


def man_options(tables):
    for option in tables["options"]:
        yield ".TP"
        yield '.BI "%s=" "%s"' % (option["name"], roff("|".join(words(option))))
        yield from roff_lines(option["help"])


# ---- files -----------------------------------------------------------------

LISTS = {
    ("guide/tuning.md", "options"): guide_options,
    ("man/bouma.1", "commands"): man_commands,
    ("man/bouma.1", "formats"): man_formats,
    ("man/bouma.1", "options"): man_options,
}
MARKS = {".md": ("<!-- %s: made by ./dev docs -->", "<!-- end -->"), ".1": ('.\\" %s: made by ./dev docs', '.\\" end')}


def renew(text, path, tables):
    begin, end = MARKS[os.path.splitext(path)[1]]
    for (file, name), lines in LISTS.items():
        if file != path:
            continue
        pattern = "(^%s\n).*?(^%s$)" % (re.escape(begin % name), re.escape(end))
        new = "".join(line + "\n" for line in lines(tables))
        text, count = re.subn(pattern, lambda m: m[1] + new + m[2], text, flags=re.S | re.M)
        if count != 1:
            sys.exit("docs/%s: %d places for the list '%s', not one" % (path, count, name))
    return text


def main(program, check):
    tables = json.loads(subprocess.check_output([program, "help", "--json"]))
    stale = 0
    for path in sorted({file for file, _ in LISTS}):
        full = os.path.join(here, path)
        with open(full, encoding="utf-8") as file:
            old = file.read()
        new = renew(old, path, tables)
        if new == old:
            continue
        stale = 1
        print("docs/%s: %s" % (path, "is out of date; run ./dev docs" if check else "written anew"))
        if not check:
            with open(full, "w", encoding="utf-8") as file:
                file.write(new)
    return stale if check else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], len(sys.argv) == 3))
