#!/usr/bin/env python3
"""filter.py FILE -- what Doxygen reads in place of FILE.

The headers have plain comments, and the pages are Markdown as code hosts show it.
Doxygen wants more; this adds it, so that nobody has to write it:

- In a header, a comment in front of a declaration documents it and the ones after
  it, up to a blank line; a comment behind a member documents that. "---- topic ----"
  begins a topic; a comment with a blank line behind it belongs to the topic itself.
- In a page, a block of code may have a file name behind its language; links may name
  sections as code hosts do; and the chapters that a contents page lists stand below it
  in the navigation."""
import os
import re
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# ---- headers ---------------------------------------------------------------


def text_of(comment):
    """The text of a comment, as Markdown."""
    lines = comment[2:-2].split("\n")
    lines = [lines[0].strip()] + [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in lines[1:]]
    if lines and not lines[-1]:
        lines.pop()
    out = []
    for line in lines:
        if not line.startswith("    "):  # an indented block is code
            line = line.replace("<", "&lt;").replace("@", "&#64;")
            line = re.sub(r"(?<![\w'`])'([\w./ -]+)'(?!\w)", r"`\1`", line)
            line = re.sub(r"(?<![\w`*])(\*\w+(\(\))?|_\w+(\(\))?)", r"`\1`", line)
        out.append(line)
    return "\n".join(out)


def pieces(text):
    """(kind, text) of a header: comments, preprocessor lines, blank lines, code."""
    pattern = r"(?P<comment>/\*.*?\*/)|(?P<macro>^[ \t]*#(?:[^\n]*\\\n)*[^\n]*)|(?P<blank>\n[ \t]*(?=\n))|(?P<newline>\n)"
    at = 0
    for match in re.finditer(pattern, text, re.S | re.M):
        if match.start() > at:
            yield "code", text[at : match.start()]
        yield match.lastgroup, match[0]
        at = match.end()
    if at < len(text):
        yield "code", text[at:]


def slug(title):
    return "topic_" + re.sub(r"\W+", "_", title.lower())


def title_of(text):
    """A topic's title: its line as a heading, or "bouma_mpi.h -- WHAT: ..."."""
    text = text.strip("-/* \n")
    return text[0].upper() + text[1:]


def header(path, text):
    items = list(pieces(text))
    name = os.path.basename(path)
    out, depth, doc, fresh, topic = [], 0, None, True, None
    heads = [title_of(t) for kind, t in items if kind == "comment" and re.match(r"/\* -{3,} ", t)]
    for i, (kind, piece) in enumerate(items):
        after = items[i + 1][0] if i + 1 < len(items) else "newline"
        if after == "newline":
            after = items[i + 2][0] if i + 2 < len(items) else "blank"
        line = "".join(t for _, t in items[max(0, i - 8) : i]).rsplit("\n", 1)[-1]
        if kind == "comment" and i == 0:
            out.append("/** @file\n%s */" % text_of(piece))
            if not heads:  # the whole file is a topic
                what = re.match(r"/\*\s*\S+\s+--\s+([^.:]+)", piece)
                topic = title_of(re.sub(r"\s*\n \*\s*", " ", what[1]))
                out.append("\n/** @addtogroup %s %s\n%s */\n/** @{ */" % (slug(name), topic, text_of(piece)))
        elif kind == "comment" and re.match(r"/\* -{3,} ", piece):
            if topic:
                out.append("/** @} */\n")
            topic = title_of(piece)
            out.append("/** @addtogroup %s %s\n@{ */" % (slug(topic), topic))
            doc = None
        elif kind == "comment" and line.strip():  # behind code
            out.append("/**< %s */" % text_of(piece) if depth else piece)
        elif kind == "comment" and depth == 0 and after == "blank":
            group = (slug(topic or name), text_of(piece), slug(topic or name))
            out.append("/** @} */ /** @addtogroup %s\n%s */ /** @addtogroup %s\n@{ */" % group if topic else piece)
            doc = None
        elif kind == "comment":
            out.append("/** %s */" % text_of(piece))
            if depth == 0:
                doc, fresh = text_of(piece), True
        elif kind == "blank":
            if depth == 0:
                doc = None
            out.append(piece)
        elif kind == "macro":
            if depth == 0 and re.match(r"\s*#\s*define", piece):
                if doc and not fresh:
                    out.append("/** %s */\n" % doc)
                fresh = False
            out.append(piece)
        elif kind == "code":
            if piece.strip() and depth == 0 and doc and not piece.lstrip().startswith(("}", '"')):
                starts = not line.strip() and items_end(items, i)
                if starts and not fresh:
                    out.append("/** %s */\n" % doc)
                if starts:
                    fresh = False
            depth += piece.count("{") + piece.count("(") - piece.count("}") - piece.count(")")
            if piece.strip().startswith('extern "C"'):
                depth -= 1
            if piece.strip() == "}" and depth < 0:  # the end of extern "C"
                depth = 0
            out.append(piece)
        else:
            out.append(piece)
    if topic:
        out.append("\n/** @} */\n")
    return "".join(out)


def items_end(items, i):
    """Does a declaration begin at items[i]? So it does if the code before ended one."""
    before = "".join(t for kind, t in items[:i] if kind == "code").rstrip()
    return not before or before[-1] in ";{}"


# ---- pages -----------------------------------------------------------------


def page_name(path):
    return "page_" + re.sub(r"\W", "_", os.path.relpath(path, root)[:-3])


def anchor(path, heading):
    """What names a section of a page: links do it by its words, as code hosts do."""
    words = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    return page_name(path) + "_" + words


def page(path, text):
    folder = os.path.dirname(path)

    def below(match):  # a chapter on a contents page
        there = os.path.normpath(os.path.join(folder, match[3]))
        return '%s@subpage %s "%s"' % (match[1], page_name(there), match[2])

    def section(match):
        there = os.path.normpath(os.path.join(folder, match[2])) if match[2] else path
        return "[%s](@ref %s)" % (match[1], anchor(there, match[3]))

    out, code = [], False
    for line in text.split("\n"):
        fence = re.match(r"```(\w* ?(\S+)?)$", line)
        if fence:
            code = not code
            line = "*%s*\n\n%s" % (fence[2], line.split()[0]) if code and fence[2] else line
        elif not code:
            if line.startswith("##"):
                line += " {#%s}" % anchor(path, line.lstrip("# "))
            elif line.startswith("# "):
                line += " {#%s}" % ("mainpage" if path == os.path.join(root, "README.md") else page_name(path))
            if os.path.basename(path) == "README.md" and folder != root:
                line = re.sub(r"^(- |\d+\. |\| )\[([^]]+)\]\(([\w./-]+\.md)\)", below, line)
            line = re.sub(r"\]\((?:[\w./-]+/)?([\w.-]+\.png)\)", r"](\1)", line)  # Doxygen copies pictures
            line = re.sub(r"\[([^]]+)\]\(([\w./-]+\.md)?#([\w-]+)\)", section, line)
        out.append(line)
    return "\n".join(out)


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    path = os.path.abspath(path)
    sys.stdout.write(page(path, text) if path.endswith(".md") else header(path, text))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
