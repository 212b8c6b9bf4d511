#!/usr/bin/env python3
"""test_abi.py -- docs/api.py refuses what it does not understand, and abi.py finds
what breaks programs; neither passes everything."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import abi  # noqa: E402
from abi import headers  # noqa: E402

TOP = """/* bouma_x.h -- a header. */
#ifndef BOUMA_X_H
#define BOUMA_X_H

/* The version. */
#define BOUMA_VERSION_MAJOR 1
#define BOUMA_VERSION_MINOR 2
#define BOUMA_VERSION_PATCH 3

#define BOUMA_N (BOUMA_VERSION_MINOR * 3) /* some */

"""
GOOD = """/* ---- things ---- */

/* A handle. */
typedef struct bouma_h bouma_h;

/* How. */
typedef enum bouma_how {
    BOUMA_HOW_ONE = 1, /* so */
    BOUMA_HOW_TWO =
        2 /* or so */
} bouma_how;

/* A struct
 * of things. */
typedef struct bouma_s {
    size_t size; /* sizeof(bouma_s) */
    char c, d;   /* two */
    /* Both of
     * these. */
    double at[BOUMA_N];
    int n;

    int (*each)(void *user, const bouma_h *h);
} bouma_s;
/* It begins. */
BOUMA_API int bouma_begin(bouma_h **out, const char *const *names, bouma_how how);
BOUMA_API void bouma_end(bouma_h *h);

BOUMA_API bouma_s *bouma_bare(void);
"""
wrong = 0


def check(claim, what):
    global wrong
    if not claim:
        wrong += 1
        print("not so: %s" % what)


def describe(text, top=TOP):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "bouma_x.h"), "w", encoding="utf-8") as f:
            f.write(top + text + "\n#endif\n")
        headers.INCLUDE = folder
        return headers.describe()


def refused(text, why):
    try:
        describe(text)
    except headers.NotUnderstood as told:
        check(why in str(told), "%r is refused because of %r, not %s" % (text, why, told))
    else:
        check(False, "%r is refused" % text)


def parser_understands():
    api = describe(GOOD)
    s, = api["structs"]
    check(s["size"] == 80 and s["grows"] and s["doc"] == "A struct\nof things.", "the struct")
    check([f["offset"] for f in s["fields"]] == [0, 8, 9, 16, 64, 72], "offsets")
    check([f["doc"] for f in s["fields"]] == ["sizeof(bouma_s)", "two", "two", "Both of these.", "Both of these.", ""],
          "comments of fields")
    check(s["fields"][3]["length"] == 6 and s["fields"][5]["result"] == "int", "an array and a function")
    check(api["enums"][0]["values"][1] == {"name": "BOUMA_HOW_TWO", "value": 2, "doc": "or so"}, "an enumerator")
    begin, end, bare = api["functions"]
    check([a["type"] for a in begin["arguments"]] == ["bouma_h **", "const char *const *", "bouma_how"], "arguments")
    check(begin["doc"] == end["doc"] == "It begins." and not bare["doc"], "comments of functions")
    check(list(headers.undocumented(api)) == ["bouma_x.h: bouma_bare has no comment"], "who has no comment")
    check(api["version"] == "1.2.3" and api["constants"][3]["value"] == 6, "constants")


def parser_refuses():
    refused("int x;", "begins nothing")
    refused("BOUMA_API int bouma_f(int);", "a name")
    refused("BOUMA_API int bouma_f(unknown x);", "no type 'unknown'")
    refused("BOUMA_API int other(void);", "does not begin with bouma_")
    refused("typedef enum bouma_e { BOUMA_OTHER = 1 } bouma_e;", "does not begin with BOUMA_E_")
    refused("typedef enum bouma_e { BOUMA_E_ONE } bouma_e;", "should")
    refused("enum { BOUMA_E_ONE = 1 };", "begins nothing")
    refused("typedef struct bouma_s { int x : 3; } bouma_s;", "not understood")
    refused("typedef struct bouma_s { int x; } bouma_t;", "is called bouma_t")
    refused("typedef struct bouma_s { bouma_s x; } bouma_s;", "cannot have the type")
    refused("typedef struct bouma_s { int x[N]; } bouma_s;", "not a number")
    refused("typedef int bouma_int;", "none of an enum")
    refused("#define BOUMA_F(x) x", "not understood")
    refused("#define BOUMA_F f()", "value of BOUMA_F")
    refused("#if 1\n#endif", "this directive")
    refused("#define BOUMA_A_LIST(X) X(NONE, 1, \"none\")", "not what the enum says")
    refused("BOUMA_API int bouma_f(void)", "where ';' should")


def entries(text):
    return {key: str(value) for key, value in abi.entries(describe(text))}


def changed(old, new):
    return list(abi.differences(entries(GOOD), entries(GOOD.replace(old, new, 1))))


def changes_are_found():
    check(not changed("", ""), "nothing has changed")
    check(not changed("_end(bouma_h *h);", "_end(bouma_h *h);\nBOUMA_API int bouma_more(void);"), "a new function")
    check(not changed("const bouma_h *h);\n}", "const bouma_h *h);\n    int more;\n}"), "a new field at the end")
    check(not changed("BOUMA_HOW_ONE", "BOUMA_HOW_ZERO = 0,\n    BOUMA_HOW_ONE"), "a new enumerator")
    for old, new in (
            ("BOUMA_API void bouma_end(bouma_h *h);", ""), ("bouma_how how);", "int how);"), ("void bouma_end", "int bouma_end"),
            ("BOUMA_HOW_ONE = 1", "BOUMA_HOW_ONE = 3"), ("int n;", "int64_t n;"), ("int n;", ""), ("int n;", "int m;"),
            ("int n;", "int n, m;"), ("size_t size;", "size_t bytes;"), ("const bouma_h *h)", "bouma_h *h)"),
            ("typedef struct bouma_h bouma_h;", "typedef struct bouma_h { int x; } bouma_h;")):
        check(changed(old, new), "%r for %r is found" % (new, old))
    fixed = "typedef struct bouma_f { int x; } bouma_f;\n"
    check(list(abi.differences(entries(fixed), entries(fixed.replace("x;", "x, y;")))), "one that cannot grow grows")


parser_understands()
parser_refuses()
changes_are_found()
sys.exit(wrong)
