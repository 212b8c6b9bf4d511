#!/usr/bin/env python3
"""check.py HTML -- look at the site in the directory HTML: every link leads to a file,
and to a section of it if it names one; every public name of the headers has a place in
the reference."""
import glob
import os
import re
import sys
from html import unescape
from urllib.parse import unquote

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def load(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def wrong_links(html):
    pages = {os.path.basename(path): load(path) for path in glob.glob(os.path.join(html, "*.html"))}
    places = {name: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for name, text in pages.items()}
    for name, text in sorted(pages.items()):
        for link in sorted(set(re.findall(r'\b(?:href|src)="([^"]+)"', text))):
            if re.match(r"(https?|javascript|mailto|data):", link) or link == "#":
                continue
            file, _, place = unquote(unescape(link)).partition("#")
            file = file or name
            if not os.path.exists(os.path.join(html, file)):
                yield "%s: there is no %s" % (name, link)
            elif place and file in places and place not in places[file]:
                yield "%s: there is no %s" % (name, link)


def public_names():
    """Functions, types and constants, by their spelling alone: docs/api.py parses."""
    for path in glob.glob(os.path.join(root, "include", "*.h")):
        text = re.sub(r"/\*.*?\*/", "", load(path), flags=re.S)
        yield from re.findall(r"^BOUMA_API[^;(]*?\b(bouma_\w+)\(", text, re.M)
        yield from re.findall(r"^typedef (?:struct|enum|union) (bouma_\w+)", text, re.M)
        gone = re.findall(r"^#undef (\w+)", text, re.M)
        for name in re.findall(r"^#define (BOUMA_\w+)", text, re.M):
            if name != "BOUMA_API" and not name.endswith("_H") and name not in gone:
                yield name


def missing_names(html):
    reference = "".join(load(path) for path in glob.glob(os.path.join(html, "group__*.html")))
    known = set(re.findall(r"\b(?:bouma|BOUMA)_\w+", reference))
    for name in sorted(set(public_names())):
        if name not in known:
            yield "%s: is not in the reference" % name


def main(html):
    wrong = list(wrong_links(html)) + list(missing_names(html))
    print("".join(line + "\n" for line in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
