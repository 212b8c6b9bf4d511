#!/usr/bin/env python3
"""generate.py -- bouma/_api.py, the C API for the Python package, from api.json.

    generate.py API.JSON OUT ABI LIBRARIES

ABI is the number in the name of the library, as 0.1 in libbouma.so.0.1;
LIBRARIES the folder of the libraries, relative to the package. The result has no
comments of the headers, so that it loads fast."""
import json
import sys


def kind_of(one):
    """The C type of a field or an argument; (type, length) of an array."""
    text = one["type"].replace("const ", "").replace("*const", "*")
    return (text, one["length"]) if "length" in one else text


def function_of(one):
    return (one["result"].replace("const ", ""), tuple(kind_of(a) for a in one["arguments"]))


def main(source, out, abi, libraries):
    with open(source, encoding="utf-8") as f:
        api = json.load(f)
    if api["format"] != 1:
        sys.exit("generate.py: %s has format %s, and 1 is known" % (source, api["format"]))
    constants = {one["name"]: one["value"] for one in api["constants"]}
    enums, texts, ctypes_of_types = [], {}, {}
    for enum in api["enums"]:
        enums.append(enum["name"])
        for value in enum["values"]:
            constants[value["name"]] = value["value"]
            if "text" in value:
                texts.setdefault(enum["name"], {})[value["text"]] = value["value"]
            if "ctype" in value:
                ctypes_of_types[value["value"]] = value["ctype"]
    structs = {
        one["name"]: (one["kind"], one["size"], one["grows"], tuple((f["name"], kind_of(f)) for f in one["fields"]))
        for one in api["structs"]
    }
    callbacks = {one["name"]: function_of(one) for one in api["callbacks"]}
    for one in api["structs"] + api["functions"]:
        for part in one.get("fields", one.get("arguments")):
            if part["type"] == "function":
                callbacks["%s.%s" % (one["name"], part["name"])] = function_of(part)
    functions = {one["name"]: function_of(one) for one in api["functions"]}
    statuses = {v["value"]: v["name"][len("BOUMA_"):] for e in api["enums"] if e["name"] == "bouma_status"
                for v in e["values"]}
    with open(out, "w", encoding="utf-8") as f:
        f.write('"""Made by generate.py from the headers of bouma: do not edit."""\n')
        f.write("from typing import Any, Dict, Tuple\n\n")
        for name, kind, value in (
            ("VERSION", "str", api["version"]), ("ABI", "str", abi), ("LIBRARIES", "str", libraries),
            ("CONSTANTS", "Dict[str, int]", constants), ("ENUMS", "Tuple[str, ...]", tuple(enums)),
            ("TEXTS", "Dict[str, Dict[str, int]]", texts), ("STATUSES", "Dict[int, str]", statuses),
            ("TYPES", "Dict[int, str]", ctypes_of_types), ("STRUCTS", "Dict[str, Any]", structs),
            ("CALLBACKS", "Dict[str, Any]", callbacks), ("FUNCTIONS", "Dict[str, Any]", functions),
        ):
            f.write("%s: %s = %r\n" % (name, kind, value))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
