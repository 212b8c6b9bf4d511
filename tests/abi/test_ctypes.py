#!/usr/bin/env python3
"""test_ctypes.py -- api.json is enough for bindings: with it and nothing else, a
dataset is written and read in Python, and handles are freed in the wrong order.

    test_ctypes.py API.JSON LIBRARY"""
import ctypes as c
import json
import os
import sys
import tempfile

with open(sys.argv[1], encoding="utf-8") as f:
    api = json.load(f)
library = c.CDLL(sys.argv[2])

PLAIN = {
    "void": None, "char": c.c_char, "unsigned char": c.c_ubyte, "int": c.c_int, "unsigned": c.c_uint,
    "float": c.c_float, "double": c.c_double, "size_t": c.c_size_t, "int64_t": c.c_int64, "uint64_t": c.c_uint64,
    "int8_t": c.c_int8, "int16_t": c.c_int16, "int32_t": c.c_int32, "uint8_t": c.c_uint8, "uint16_t": c.c_uint16,
    "uint32_t": c.c_uint32,
}
types = dict(PLAIN)
constants = {one["name"]: one["value"] for one in api["constants"]}
for enum in api["enums"]:
    types[enum["name"]] = c.c_int
    constants.update((value["name"], value["value"]) for value in enum["values"])
callbacks = {one["name"] for one in api["callbacks"]}


def of(one):
    """The type of a field, an argument or a result."""
    text = one["type"].replace("const ", "").replace("*const", "*")
    if text == "function" or text in callbacks:
        kind = c.c_void_p
    elif text == "char *":
        kind = c.c_char_p
    elif text.endswith("*"):
        kind = c.c_void_p
    else:
        kind = types[text]
    return kind * one["length"] if "length" in one else kind


for struct in api["structs"]:
    base = c.Union if struct["kind"] == "union" else c.Structure
    made = type(struct["name"], (base,), {"_fields_": [(f["name"], of(f)) for f in struct["fields"]]})
    assert c.sizeof(made) == struct["size"], struct["name"]
    for f in struct["fields"]:
        assert getattr(made, f["name"]).offset == f["offset"], (struct["name"], f["name"])
    types[struct["name"]] = made

calls = {}
for one in api["functions"]:
    if one["library"] == "bouma":
        call = getattr(library, one["name"])
        call.restype = of({"type": one["result"]})
        call.argtypes = [of(a) for a in one["arguments"]]
        calls[one["name"]] = call


def sized(name, **fields):
    """A struct that tells its size, if it does."""
    made = types[name](**fields)
    if made._fields_[0][0] == "size":
        made.size = c.sizeof(made)
    return made


assert calls["bouma_version"]().decode() == api["version"]
for enum in api["enums"]:
    name_of = calls.get(enum["name"] + "_name")
    for value in enum["values"]:
        if name_of and "text" in value and enum["name"] != "bouma_status":
            assert name_of(value["value"]).decode() == value["text"], value
for value in next(e for e in api["enums"] if e["name"] == "bouma_status")["values"]:
    assert calls["bouma_status_text"](value["value"]).decode() == value["text"]


def must(rc, ds):
    assert rc == constants["BOUMA_OK"], calls["bouma_error_message"](ds)


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "d.bouma").encode()
    ds, step, again = c.c_void_p(), c.c_void_p(), c.c_void_p()
    must(calls["bouma_dataset_create"](c.byref(ds), path, None), ds)
    for number in (0, 1):
        must(calls["bouma_step_begin"](ds, number, 0.5), ds)
        attributes = calls["bouma_dataset_step_attributes"](ds)
        must(calls["bouma_attributes_set_text"](attributes, b"note", b"from Python"), ds)
        must(calls["bouma_step_end"](ds, None), ds)
    must(calls["bouma_dataset_close"](ds), ds)
    must(calls["bouma_step_open"](c.byref(step), ds, 0), ds)
    must(calls["bouma_step_open"](c.byref(again), ds, 1), ds)
    calls["bouma_dataset_free"](ds)
    calls["bouma_step_free"](again)
    found = sized("bouma_attribute")
    rc = calls["bouma_attributes_find"](c.byref(found), calls["bouma_step_attributes"](step), b"note")
    assert rc == 0 and c.string_at(found.values, found.count) == b"from Python", rc
    assert not calls["bouma_step_find_grid"](step, b"none")
    assert b'no grid "none"' in calls["bouma_step_message"](step)
    calls["bouma_step_free"](step)
print("%d structs, %d functions" % (len(api["structs"]), len(calls)))
