#!/usr/bin/env python3
"""check_used.py -- every public function, struct field and constant is used by an
example, a tool or a test; lists those that are not.

A field counts where a file has the name of its struct and the field behind a dot
or an arrow, or gives it a value by its name. A file may also get the struct from
a function of the API, or hand it to one: then the function's name will do."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..")
sys.path.insert(0, os.path.join(ROOT, "docs"))
import api as headers  # noqa: E402

FOLDERS = ("examples", "tools", "tests", "bench")


def sources():
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".sh", ".f90", ".cpp")):
                    with open(os.path.join(place, name), encoding="utf-8", errors="replace") as f:
                        text = re.sub(r"/\*.*?\*/", " ", f.read(), flags=re.S)
                        yield set(re.findall(r"\w+", text)), set(re.findall(r"(?:\.|->)\s*(\w+)", text))


def names_of(api, struct):
    """The struct, and all whose arguments or fields lead to it."""
    of = re.compile(r"\b%s\b" % struct["name"])
    found = {struct["name"]}
    for one in api["functions"]:
        if any(of.search(str(a)) for a in one["arguments"]) or of.search(one["result"]):
            found.add(one["name"])
    for other in api["structs"]:
        if any(of.search(str(f)) for f in other["fields"]):
            found.add(other["name"])
    return found


def unused(api):
    files = list(sources())
    words = set().union(*(w for w, _ in files))
    for one in api["functions"]:
        if one["name"] not in words:
            yield one["name"] + "()"
    for one in api["constants"]:
        if one["name"] not in words:
            yield one["name"]
    for enum in api["enums"]:
        if enum["name"] not in words and not any(v["name"] in words for v in enum["values"]):
            yield enum["name"]
    for struct in api["structs"]:
        names = names_of(api, struct)
        fields = set().union(*(f for w, f in files if names & w))
        for one in struct["fields"]:
            if one["name"] not in fields:
                yield "%s.%s" % (struct["name"], one["name"])


try:
    missing = list(unused(headers.describe()))
except headers.NotUnderstood as why:
    sys.exit("include/%s" % why)
for name in missing:
    print("%s: no example, tool or test uses it" % name)
sys.exit(len(missing) != 0)
