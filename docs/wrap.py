#!/usr/bin/env python3
"""wrap.py [--check] PAGE... -- wrap the text of Markdown pages at 100 columns (./dev fmt).

Only paragraphs and list items that have a longer line are wrapped anew. Code, tables,
headings, comments and pictures stay as they are. Links and short code are not broken."""
import re
import sys

WIDTH = 100
ITEM = re.compile(r"( *)((?:[-*]|\d\d?\.) +)")


def words(text):
    """The words of a paragraph; a link and a short piece of code are one word."""
    keep = r"!?\[[^]]*\]\([^)]*\)|``.{1,60}?``|`[^`]{1,60}`"
    parts, at = [], 0
    for match in re.finditer(keep, text):
        parts.append(text[at : match.start()])
        parts.append(match[0].replace(" ", "\0"))
        at = match.end()
    parts.append(text[at:])
    return [word.replace("\0", " ") for word in "".join(parts).split()]


def wrapped(lines):
    """A paragraph or list item, wrapped anew."""
    item = ITEM.match(lines[0])
    if item:
        first, rest = item[0], " " * len(item[0])
    else:
        first = rest = re.match(r" *", lines[0])[0]
    text = " ".join([lines[0][len(first) :]] + [line.strip() for line in lines[1:]])
    out, line = [], first
    for word in words(text):
        if line.strip() and len(line) + len(word) + (line != first and line != rest) > WIDTH and line not in (first, rest):
            out.append(line.rstrip())
            line = rest
        line += word if line in (first, rest) else " " + word
    out.append(line.rstrip())
    # A line must not begin with what makes it a list, a heading or a quotation.
    for i in range(1, len(out)):
        if re.match(r" *([-*+>#]|\d+[.)]) ", out[i] + " "):
            head, _, tail = out[i - 1].rpartition(" ")
            out[i - 1], out[i] = head, rest + tail + " " + out[i].lstrip()
    return out


def blocks(lines):
    """(is text, lines) of a page."""
    text, code = [], False
    for line in lines:
        fence = line.lstrip().startswith("```")
        plain = not (
            code
            or fence
            or not line.strip()
            or re.match(r"(#|\||<!--|!\[|\[[^]]+\]:|---)", line)
            or (line.startswith("    ") and not text)
        )
        if text and (not plain or ITEM.match(line)):
            yield True, text
            text = []
        if plain:
            text.append(line)
        else:
            yield False, [line]
        if fence:
            code = not code
    if text:
        yield True, text


def page(text):
    out = []
    for is_text, lines in blocks(text.split("\n")):
        long = is_text and max(map(len, lines)) > WIDTH
        out += wrapped(lines) if long else lines
    return "\n".join(out)


def main(check, paths):
    failed = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            old = file.read()
        new = page(old)
        if new == old:
            continue
        if check:
            print("%s: has lines of more than %d columns; run ./dev fmt" % (path, WIDTH))
            failed = 1
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    return failed


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not [a for a in arguments if a != "--check"]:
        sys.exit(__doc__)
    sys.exit(main("--check" in arguments, [a for a in arguments if a != "--check"]))
