#!/usr/bin/env python3
"""abi.py -- what programs that are compiled already rely on: names, types of
arguments, values of constants, sizes and offsets in structs.

    abi.py                          compare the headers with abi.txt
    abi.py --renew                  write abi.txt anew (./dev abi)
    abi.py --compiler CC [MPI]      a compiler agrees with docs/api.py about all
                                    of it; with MPI, about bouma_mpi.h, too
    abi.py --symbols LIBRARY NAME   the shared library (bouma or bouma_mpi) has
                                    the functions of the headers, and no others

Something new is fine. What was removed or changed is not: programs would break."""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "docs"))
import api as headers  # noqa: E402

LIST = os.path.join(HERE, "abi.txt")


def type_text(one):
    """The type of a field or an argument, without its name."""
    if one["type"] == "function":
        return "%s (*)(%s)" % (one["result"], arguments_text(one))
    return one["type"] + ("[%d]" % one["length"] if "length" in one else "")


def arguments_text(one):
    return ", ".join(type_text(a) for a in one["arguments"]) or "void"


def entries(api):
    """All that must stay: a key, and what is said about it."""
    for one in api["constants"]:
        if not one["name"].startswith("BOUMA_VERSION_"):
            yield "constant " + one["name"], one["value"]
    for enum in api["enums"]:
        for one in enum["values"]:
            yield "constant " + one["name"], one["value"]
    for one in api["handles"]:
        yield "handle " + one["name"], ""
    for struct in api["structs"]:
        grows = " and grows" if struct["grows"] else ""
        yield "%s %s" % (struct["kind"], struct["name"]), "%d bytes%s" % (struct["size"], grows)
        for one in struct["fields"]:
            yield "field %s.%s" % (struct["name"], one["name"]), "at %d: %s" % (one["offset"], type_text(one))
    for one in api["callbacks"]:
        yield "callback " + one["name"], "%s (%s)" % (one["result"], arguments_text(one))
    for one in api["functions"]:
        yield "function " + one["name"], "%s (%s)" % (one["result"], arguments_text(one))


def load():
    old = {}
    with open(LIST, encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                key, _, value = line.rstrip("\n").partition(" = ")
                old[key] = value
    return old


def renew(api):
    with open(LIST, "w", encoding="utf-8") as f:
        f.write("# What compiled programs rely on. Written by ./dev abi; see docs/versions.md.\n")
        for key, value in entries(api):
            f.write("%s = %s\n" % (key, value))


def size_of(text):
    return int(re.match(r"\d+", text).group())


def may_follow(key, old, new):
    """Structs that tell their size may get longer."""
    return key.startswith("struct ") and old.endswith("grows") and new.endswith("grows") and size_of(new) >= size_of(old)


def differences(old, new):
    for key, value in old.items():
        if key not in new:
            yield "%s is gone" % key
        elif new[key] != value and not may_follow(key, value, new[key]):
            yield "%s was \"%s\" and is \"%s\"" % (key, value, new[key])
    # A new field stands behind all that older programs know of: they left
    # padding as it was.
    for key in new:
        struct = "struct " + key[len("field "):].split(".")[0]
        if key.startswith("field ") and key not in old and struct in old:
            at = int(re.match(r"at (\d+)", new[key]).group(1))
            if at < size_of(old[struct]):
                yield "%s is new, and not at the end of its %s" % (key, struct)


def compare(api):
    wrong = list(differences(load(), {key: str(value) for key, value in entries(api)}))
    if wrong:
        print("\n".join(wrong))
        sys.exit("Programs that are compiled already would break. If that is meant (another SONAME: see\n"
                 "docs/versions.md), './dev abi' writes tests/abi/abi.txt anew.")
    print("nothing that programs rely on has changed")


def program(api, with_mpi):
    """A C program that compiles only if all of it is so."""
    yield '#include "%s"' % ("bouma_mpi.h" if with_mpi else "bouma.h")
    yield '#include "bouma_lists.h"'

    def claim(text):
        return '_Static_assert(%s, "");' % text

    for enum in api["enums"]:
        yield claim("sizeof(%s) == 4" % enum["name"])
    for one in api["constants"] + [v for e in api["enums"] for v in e["values"]]:
        if isinstance(one["value"], int):
            yield claim("%s == %d" % (one["name"], one["value"]))
    for struct in api["structs"]:
        yield claim("sizeof(%s) == %d" % (struct["name"], struct["size"]))
        for one in struct["fields"]:
            yield claim("offsetof(%s, %s) == %d" % (struct["name"], one["name"], one["offset"]))
            yield claim("sizeof(((%s *)0)->%s) == %d" % (struct["name"], one["name"], one["size"]))
            if "length" not in one and one["type"] != "function":
                yield claim("_Generic(((%s *)0)->%s, %s: 1, default: 0)" % (
                    struct["name"], one["name"], one["type"] if one["type"].endswith("*") else
                    one["type"].replace("const ", "")))
    for one in api["functions"]:
        if with_mpi or one["library"] == "bouma":
            yield "extern %s (*const check_%s)(%s);" % (one["result"], one["name"], arguments_text(one))
            yield "%s (*const check_%s)(%s) = %s;" % (one["result"], one["name"], arguments_text(one), one["name"])


def compiler(api, command, with_mpi):
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("\n".join(program(api, with_mpi)) + "\n")
        f.flush()
        subprocess.run(command.split() + ["-std=c11", "-Wall", "-Werror", "-I" + os.path.join(ROOT, "include"), "-c",
                                          f.name, "-o", os.devnull], check=True)
    print("the compiler agrees about %d functions and %d structs" % (len(api["functions"]), len(api["structs"])))


def symbols(api, library, name):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    there = {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines() if " A " not in line}
    declared = {f["name"] for f in api["functions"] if f["library"] in ("bouma", name)}
    for one in sorted(declared - there):
        print("%s is declared, and not in %s" % (one, library))
    for one in sorted(there - declared):
        print("%s is in %s, and in no header" % (one, library))
    sys.exit(declared != there)


def main(arguments):
    try:
        api = headers.describe()
    except headers.NotUnderstood as why:
        sys.exit("include/%s" % why)
    if not arguments:
        compare(api)
    elif arguments == ["--renew"]:
        renew(api)
    elif arguments[0] == "--compiler":
        compiler(api, arguments[1], len(arguments) > 2)
    elif arguments[0] == "--symbols" and len(arguments) == 3:
        symbols(api, *arguments[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
