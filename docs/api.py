#!/usr/bin/env python3
"""api.py -- a description of the public API in JSON, made from the headers.

    docs/api.py                 print it
    docs/api.py -o FILE         write it to FILE, which is installed as
                                share/bouma/api.json
    docs/api.py --check         tell which public names have no comment, which constants are in no
                                list, and which lines are too wide

Bindings take constants, structs and functions from it; docs/api.md describes
it. The headers are parsed strictly: what is not understood is an error, with
its place. Sizes and offsets are those of 64-bit processors (LP64), on which
alone bouma runs; tests/abi compares them with a compiler's."""
import ast
import json
import os
import re
import sys

FORMAT = 1  # of the description; it changes when something is removed from it

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "include")

# Bytes of the types of C. Those of MPI are arguments only.
C_TYPES = {
    "void": 0, "char": 1, "unsigned char": 1, "int": 4, "unsigned": 4, "float": 4, "double": 8, "size_t": 8,
    "int8_t": 1, "int16_t": 2, "int32_t": 4, "int64_t": 8, "uint8_t": 1, "uint16_t": 2, "uint32_t": 4,
    "uint64_t": 8,
}
MPI_TYPES = ("MPI_Comm", "MPI_Fint")
POINTER = 8

TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<string>"(?:\\.|[^"\\])*")
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>-?\d\w*)
  | (?P<mark>[][{}()*,;=])
  | (?P<space>\s+)""", re.X | re.S | re.M)


class NotUnderstood(Exception):
    """Something in a header that has no place in this API."""


class Token:
    def __init__(self, kind, text, header, line):
        self.kind, self.text, self.header, self.line = kind, text, header, line
        self.end = line + text.count("\n")


def fail(token, why):
    raise NotUnderstood("%s:%d: %s" % (token.header, token.line, why))


def tokens_of(text, header):
    at, line, found = 0, 1, []
    while at < len(text):
        match = TOKEN.match(text, at)
        token = Token(match.lastgroup if match else "", match.group() if match else text[at], header, line)
        if not match:
            fail(token, "%r is not understood" % token.text)
        if token.kind != "space":
            found.append(token)
        at, line = match.end(), token.end
    return found


def words_of(comment):
    """The text of a comment, without its marks; lines keep their indentation."""
    lines = comment[2:-2].strip("\n").split("\n")
    lines = [re.sub(r"^\s*\* ?", "", one.rstrip()) if re.match(r"^\s*\*( |$)", one) else one.strip() for one in lines]
    return "\n".join(lines).strip()


# ---- declarations ------------------------------------------------------------


class Reader:
    """A list of tokens, from the first to the last."""

    def __init__(self, tokens):
        self.tokens, self.at = tokens, 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else None

    def next(self, expected=None):
        token = self.peek()
        if token is None:
            fail(self.tokens[-1], "the file ends too early")
        if expected is not None and token.text != expected:
            fail(token, "%r stands where %r should" % (token.text, expected))
        self.at += 1
        return token

    def take(self, text):
        token = self.peek()
        if token is not None and token.text == text:
            self.at += 1
            return True
        return False

    def name(self):
        token = self.next()
        if token.kind != "word":
            fail(token, "%r stands where a name should" % token.text)
        return token.text


class Api:
    def __init__(self):
        self.headers, self.constants, self.enums, self.handles = [], [], [], []
        self.structs, self.functions, self.callbacks, self.macros = [], [], [], []
        self.values = {}  # of constants
        self.sizes = dict(C_TYPES)  # and alignments are the same for these
        self.aligns = {name: size or 1 for name, size in C_TYPES.items()}
        self.known = set(C_TYPES) | set(MPI_TYPES)

    # Types.

    def base_type(self, r):
        constant = r.take("const")
        token = r.next()
        name = token.text
        if name == "unsigned" and r.peek().text == "char":
            name += " " + r.next().text
        if name not in self.known:
            fail(token, "there is no type %r" % name)
        constant = r.take("const") or constant
        return ("const " if constant else "") + name

    def stars(self, r, text):
        while r.take("*"):
            text += "*" if text.endswith("*") else " *"
            if r.take("const"):
                text += "const"
        return text

    def number(self, token):
        if token.kind == "number":
            return int(token.text, 0)
        if token.text not in self.values:
            fail(token, "%r is not a number that is known here" % token.text)
        return self.values[token.text]

    def declarator(self, r, base):
        """What stands behind a base type: a name, an array, a pointer to a function."""
        kind = self.stars(r, base)
        if r.take("("):
            r.next("*")
            one = {"name": r.name(), "type": "function"}
            r.next(")")
            one["result"], one["arguments"] = kind, self.arguments(r)
            return one
        one = {"name": r.name(), "type": kind}
        if r.take("["):
            one["length"] = self.number(r.next())
            r.next("]")
        return one

    def arguments(self, r):
        found = []
        r.next("(")
        if r.peek().text == "void" and r.peek(1).text == ")":
            r.next()
        while not r.take(")"):
            if found:
                r.next(",")
            found.append(self.declarator(r, self.base_type(r)))
        return found

    def extent(self, one, token):
        """Size and alignment of a field."""
        kind = one["type"]
        if kind == "function" or kind.endswith(("*", "*const")):
            size = align = POINTER
        else:
            name = kind.replace("const ", "")
            if not self.sizes.get(name):
                fail(token, "a field cannot have the type %r" % kind)
            size, align = self.sizes[name], self.aligns[name]
        return size * one.get("length", 1), align

    # Items.

    def define_enum(self, r, name, add):
        item = {"name": name, "values": []}
        above, end = "", 0  # a comment above an enumerator; the line of the last one
        while not r.take("}"):
            token = r.next()
            if token.kind == "comment":
                text = " ".join(words_of(token.text).split())
                if token.line == end:
                    item["values"][-1]["doc"] = (item["values"][-1]["doc"] + " " + text).strip()
                else:
                    above = text
                continue
            r.next("=")
            value = r.next()
            if value.kind != "number":
                fail(value, "the value of %s is no number" % token.text)
            prefix = "BOUMA_" if name == "bouma_status" else name.upper() + "_"
            if not token.text.startswith(prefix):
                fail(token, "%s does not begin with %s" % (token.text, prefix))
            item["values"].append({"name": token.text, "value": int(value.text, 0), "doc": above})
            self.values[token.text] = int(value.text, 0)
            above, end = "", value.line
            r.take(",")
        self.known.add(name)
        self.sizes[name] = self.aligns[name] = 4
        add(self.enums, item)

    def define_struct(self, r, kind, name, add):
        item = {"name": name, "kind": kind, "size": 0, "align": 1, "grows": False, "fields": []}
        self.known.add(name)
        above, behind, end = "", [], 0  # a comment above fields; the fields of the last line
        while not r.take("}"):
            token = r.peek()
            if token.kind == "comment":
                r.next()
                text = " ".join(words_of(token.text).split())
                if token.line == end and behind:
                    for field in behind:
                        field["doc"] = (field["doc"] + " " + text).strip()
                else:
                    above = text
                continue
            if token.line > end + 1 and not (r.peek(-1) and r.peek(-1).kind == "comment"):
                above = ""  # a blank line ends what it is about
            behind, end = self.fields(r, item, above)
        last = item["size"] % item["align"]
        item["size"] += item["align"] - last if last else 0
        first = item["fields"][0]
        item["grows"] = (first["name"], first["type"]) == ("size", "size_t")
        self.sizes[name], self.aligns[name] = item["size"], item["align"]
        add(self.structs, item)

    def fields(self, r, item, doc):
        token = r.peek()
        base = self.base_type(r)
        found = []
        while True:
            one = self.declarator(r, base)
            size, align = self.extent(one, token)
            at = 0 if item["kind"] == "union" else -(-item["size"] // align) * align
            one.update(offset=at, size=size, doc=doc)
            item["size"] = max(item["size"], at + size)
            item["align"] = max(item["align"], align)
            item["fields"].append(one)
            found.append(one)
            if not r.take(","):
                break
        return found, r.next(";").line

    def typedef(self, r, add):
        if r.take("enum"):
            name = r.name()
            r.next("{")
            self.define_enum(r, name, add)
        elif r.peek().text in ("struct", "union"):
            kind, name = r.next().text, r.name()
            if not r.take("{"):
                self.known.add(name)
                add(self.handles, {"name": name})
            else:
                self.define_struct(r, kind, name, add)
        else:
            one = self.declarator(r, self.base_type(r))
            if one["type"] != "function":
                fail(r.peek(), "this typedef is none of an enum, a struct or a function")
            self.known.add(one["name"])
            self.sizes[one["name"]] = self.aligns[one["name"]] = POINTER
            add(self.callbacks, one)
            r.next(";")
            return
        again = r.next()
        if again.text != name:
            fail(again, "%s is called %s here" % (name, again.text))
        r.next(";")

    def function(self, r, add):
        token = r.peek()
        one = self.declarator_of_function(r)
        r.next(";")
        if not one["name"].startswith("bouma_"):
            fail(token, "%s does not begin with bouma_" % one["name"])
        one["library"] = "bouma_mpi" if token.header == "bouma_mpi.h" else "bouma"
        add(self.functions, one)

    def declarator_of_function(self, r):
        result = self.stars(r, self.base_type(r))
        name = r.name()
        return {"name": name, "result": result, "arguments": self.arguments(r)}

    # Preprocessor.

    def constant(self, token, name, value, add):
        text = re.sub(r"/\*.*?\*/", "", value.replace("\\\n", " "), flags=re.S).strip()
        remark = re.search(r"/\*.*?\*/", value, re.S)
        named = re.sub(r"[A-Za-z_]\w*", lambda m: str(self.values.get(m.group(), m.group())), text)
        try:
            result = evaluate(ast.parse(named, mode="eval").body)
        except (SyntaxError, ValueError):
            fail(token, "the value of %s is not understood: %s" % (name, text))
        self.values[name] = result
        add(self.constants, {"name": name, "value": result})
        if remark:
            self.constants[-1]["doc"] = words_of(remark.group())

    def texts(self, token, entries):
        """A list of bouma_lists.h: it must agree with the enum that it repeats."""
        entry = re.compile(r'X\((\w+), (-?\d+),(?: (\w+),)? "([^"]*)"\)')
        known = {v["name"]: v for e in self.enums for v in e["values"]}
        plain = " ".join(entries.replace("\\\n", " ").split())
        if entry.sub("", plain).strip():
            fail(token, "a list has something that is not an entry: %s" % entry.sub("", plain).strip())
        for name, value, ctype, text in entry.findall(plain):
            one = known.get("BOUMA_" + name)
            if one is None or one["value"] != int(value):
                fail(token, "BOUMA_%s = %s is not what the enum says" % (name, value))
            one["text"] = text
            if ctype:
                one["ctype"] = ctype

    def directive(self, r, token, add):
        text = token.text.strip()
        value = re.match(r"#define (BOUMA_\w+)\s+(.*)", text, re.S)
        entries = re.match(r"#define BOUMA_\w+_LIST\(X\)(.*)", text, re.S)
        macro = re.match(r"#define (BOUMA_\w+)\(([\w, ]+)\)", text)
        if text == "#ifdef __cplusplus" or text.startswith("#if defined(BOUMA_BUILDING)"):
            self.skip_block(r, text)
        elif re.match(r"#(include\b|endif\b|ifndef BOUMA_\w*H$|define BOUMA_\w*H$|ifndef __cplusplus$)", text):
            return False
        elif text.startswith("#define BOUMA_ARRAY("):
            return True  # for programs in C; bindings fill the struct
        elif entries:
            self.texts(token, entries.group(1))
            return False
        elif macro:
            add(self.macros, {"name": macro.group(1), "arguments": macro.group(2).replace(" ", "").split(",")})
            return True
        elif value:
            self.constant(token, value.group(1), value.group(2), add)
            return True
        else:
            fail(token, "this directive is not understood: %s" % text)
        return False

    @staticmethod
    def skip_block(r, opening):
        """extern "C" for C++, and what BOUMA_API is."""
        while True:
            token = r.next()
            if token.text.strip() == "#endif":
                return
            allowed = ("extern", '"C"', "{", "}") if "cplusplus" in opening else ("#else",)
            if token.text.strip() not in allowed and not token.text.startswith("#define BOUMA_API"):
                fail(token, "%r is not understood between #if and #endif" % token.text)


def evaluate(node):
    """A constant: a number or a text, with + - * << and brackets."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, str)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluate(node.operand)
    operators = {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__, ast.LShift: int.__lshift__}
    if isinstance(node, ast.BinOp) and type(node.op) in operators:
        return operators[type(node.op)](evaluate(node.left), evaluate(node.right))
    raise ValueError


# ---- headers -----------------------------------------------------------------


class Header:
    """One header: its items, each with the comment in front of it. Items without
    a blank line between them share the comment of the first."""

    def __init__(self, api, name):
        self.api, self.name, self.section = api, name, ""
        with open(os.path.join(INCLUDE, name), encoding="utf-8") as f:
            self.r = Reader(tokens_of(f.read(), name))
        self.comment, self.doc, self.end, self.first, self.last = None, "", -1, 0, None

    def add(self, where, item):
        if self.comment is not None and self.comment.end + 1 == self.first:
            self.doc = words_of(self.comment.text)
        elif self.comment is not None or self.end + 1 != self.first:
            self.doc = ""
        item.update(header=self.name, section=self.section, doc=self.doc)
        where.append(item)
        self.last, self.comment = item, None

    def read(self):
        intro = self.r.next()
        if intro.kind != "comment" or not intro.text.startswith("/* %s -- " % self.name):
            fail(intro, "a header begins with a comment that says what it is")
        self.api.headers.append({"name": self.name, "doc": words_of(intro.text)})
        while self.r.peek() is not None:
            self.read_one()

    def read_one(self):
        token = self.r.next()
        heading = re.match(r"/\* ---- (.*?) -+ \*/$", token.text)
        self.first, before = token.line, self.end
        if heading:
            self.section, self.comment = heading.group(1), None
        elif token.kind == "comment" and token.line == before and self.last is not None:
            self.last["doc"] = (words_of(token.text) + "\n\n" + self.last["doc"]).strip()
        elif token.kind == "comment":
            self.comment = token
        elif token.kind == "directive":
            if self.api.directive(self.r, token, self.add):
                self.end = token.end
            elif token.text == "#ifndef __cplusplus" and self.comment is not None:
                self.comment.end = token.end  # it is about what stands between
        elif token.text in ("typedef", "BOUMA_API"):
            (self.api.typedef if token.text == "typedef" else self.api.function)(self.r, self.add)
            self.end = self.r.tokens[self.r.at - 1].line
        else:
            fail(token, "%r begins nothing that is known" % token.text)


def order_of_headers():
    """Each after those that it includes; the lists come last."""
    names = sorted(n for n in os.listdir(INCLUDE) if n.endswith(".h"))
    done = []

    def visit(name):
        if name in done:
            return
        with open(os.path.join(INCLUDE, name), encoding="utf-8") as f:
            for other in re.findall(r'^#include "(\w+\.h)"', f.read(), re.M):
                visit(other)
        done.append(name)

    for name in names:
        if name != "bouma_lists.h":
            visit(name)
    return done + [n for n in names if n not in done]


def describe():
    api = Api()
    for name in order_of_headers():
        Header(api, name).read()
    number = [api.values["BOUMA_VERSION_" + part] for part in ("MAJOR", "MINOR", "PATCH")]
    return {
        "format": FORMAT, "version": "%d.%d.%d" % tuple(number), "headers": api.headers,
        "constants": api.constants, "enums": api.enums, "handles": api.handles, "structs": api.structs,
        "callbacks": api.callbacks, "macros": api.macros, "functions": api.functions,
    }


def undocumented(api):
    for kind in ("constants", "enums", "handles", "structs", "callbacks", "macros", "functions"):
        for item in api[kind]:
            if not item["doc"]:
                yield "%s: %s has no comment" % (item["header"], item["name"])


def unlisted(api):
    """Values of enums that bouma_lists.h does not have."""
    for enum in api["enums"]:
        for one in enum["values"]:
            if "text" not in one and one["name"] != "BOUMA_TYPE_STRING":  # no type of samples
                yield "%s: %s is in no list of bouma_lists.h" % (enum["header"], one["name"])


def too_wide():
    """Lines of comments, which clang-format does not wrap."""
    for name in order_of_headers():
        with open(os.path.join(INCLUDE, name), encoding="utf-8") as f:
            for i, line in enumerate(f, 1):
                if len(line.rstrip("\n")) > 80:
                    yield "%s:%d: a line of more than 80 columns" % (name, i)


def main(arguments):
    try:
        api = describe()
    except NotUnderstood as why:
        sys.exit("api.py: include/%s" % why)
    if arguments == ["--check"]:
        missing = list(undocumented(api)) + list(unlisted(api)) + list(too_wide())
        sys.exit("\n".join(missing) if missing else 0)
    text = json.dumps(api, indent=1, ensure_ascii=False) + "\n"
    if arguments[:1] == ["-o"] and len(arguments) == 2:
        with open(arguments[1], "w", encoding="utf-8") as f:
            f.write(text)
    elif arguments:
        sys.exit(__doc__)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
