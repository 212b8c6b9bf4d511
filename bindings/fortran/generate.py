#!/usr/bin/env python3
"""generate.py -- the Fortran modules, made from the description of the API.

    generate.py API.JSON TEMPLATE FOLDER

writes FOLDER/bouma_c.f90, all of the C API as it is: constants, structs and
interfaces of functions, each with "_c" behind its name; and FOLDER/bouma.f90,
the module for programs: TEMPLATE with its lines "!@ PART" replaced. Nothing of
the headers is typed anew: what a field or an argument is in Fortran follows from
its type in C by the rules below; what follows no rule is in the template."""
import itertools
import json
import os
import re
import sys
import textwrap

# Types of C by value; enumerations are integers.
KINDS = {
    "int": "integer(c_int)", "unsigned": "integer(c_int)", "int64_t": "integer(c_int64_t)",
    "uint64_t": "integer(c_int64_t)", "size_t": "integer(c_size_t)", "double": "real(c_double)",
    "float": "real(c_float)", "char": "character(c_char)", "unsigned char": "integer(c_int8_t)",
    "int32_t": "integer(c_int32_t)", "uint32_t": "integer(c_int32_t)", "MPI_Fint": "integer(c_int)",
    "int8_t": "integer(c_int8_t)", "uint8_t": "integer(c_int8_t)", "int16_t": "integer(c_int16_t)",
    "uint16_t": "integer(c_int16_t)",
}

# Handles that programs see; the others are in bouma_c.
HANDLES = ("bouma_dataset", "bouma_step", "bouma_grid", "bouma_particles", "bouma_variable", "bouma_attributes",
           "bouma_refinement", "bouma_particles_refinement", "bouma_file", "bouma_plan")
# What a handle must remember here, as C does not tell it.
REMEMBERED = {
    "bouma_refinement": ["integer(c_int), private :: type = 0, components = 1"],
    "bouma_file": ["integer(int64), allocatable, private :: declared(:) ! bytes of each array"],
}

# Structs that programs see with texts as text, and with arrays of as many
# elements as there are axes. Those of grids have their axes in Fortran's order.
GIVEN = ("bouma_grid_spec", "bouma_variable_spec", "bouma_particles_spec", "bouma_budget", "bouma_plan_spec",
         "bouma_probe_spec", "bouma_probe_report")
TOLD = ("bouma_record", "bouma_step_info", "bouma_dataset_info", "bouma_step_details", "bouma_step_file",
        "bouma_grid_info", "bouma_variable_info", "bouma_range", "bouma_selection", "bouma_particles_info",
        "bouma_particles_file", "bouma_particles_node", "bouma_verify_report", "bouma_repair_report",
        "bouma_drain_report", "bouma_finding", "bouma_loss", "bouma_codec_info", "bouma_option_info",
        "bouma_attribute", "bouma_answer", "bouma_file_report", "bouma_plan_report", "bouma_plan_patch",
        "bouma_plan_file", "bouma_plan_cost", "bouma_probe_report", "bouma_bin", "bouma_histogram")
REVERSED = ("bouma_grid_spec", "bouma_grid_info", "bouma_selection", "bouma_plan_spec", "bouma_plan_report")
# Numbers that count from 1 in Fortran; "none" is 0.
INDICES = {("bouma_selection", "first"), ("bouma_plan_patch", "file"), ("bouma_particles_file", "file"),
           ("bouma_particles_node", "file"), ("bouma_particles_node", "axis"), ("bouma_particles_node", "right")}
# What C passes to a function one by one is a list here: its name, and whether a
# program may do without.
LISTS = {"bouma_finding": ("findings", True), "bouma_loss": ("losses", False), "bouma_plan_cost": ("costs", False)}

# Elements of arrays: the kind in Fortran, the types in C (signed and unsigned).
ELEMENTS = {
    "i8": ("integer(int8)", "BOUMA_TYPE_I8", "BOUMA_TYPE_U8"),
    "i16": ("integer(int16)", "BOUMA_TYPE_I16", "BOUMA_TYPE_U16"),
    "i32": ("integer(int32)", "BOUMA_TYPE_I32", "BOUMA_TYPE_U32"),
    "i64": ("integer(int64)", "BOUMA_TYPE_I64", "BOUMA_TYPE_U64"),
    "r32": ("real(real32)", "BOUMA_TYPE_F32", "BOUMA_TYPE_F32"),
    "r64": ("real(real64)", "BOUMA_TYPE_F64", "BOUMA_TYPE_F64"),
}
RANKS = (1, 2, 3, 4)

# Functions that the template has, and those that are in bouma_c only.
BY_HAND = re.compile(r"bouma_(options_(set|get|info)|attributes_(set|get|find)\w*|grid_(box|bounds)|"
                     r"variable_(put_\w+|read|read_series|select|histogram)|step_read|refinement_(open\w*|get)|"
                     r"particles_(put_\w+|count|\w+_into|refinement_open|histogram)|file_(declare|write|read)|"
                     r"plan_(patch_get|rank_get|holders)|probe_text|error_message|\w+_message|hz_template|"
                     r"dataset_delete_steps|value_\w+|\w+_fint)$")
C_ONLY = re.compile(r"bouma_(io_\w+|array_inside|variable_query|particles_(query_run|read|sample|restart|"
                    r"refinement_next)|particle_data_free|version_number|\w+_mpi)$")
# (bouma_version_number() is BOUMA_VERSION_NUMBER to Fortran, which has one case.)


def dimension(count):
    return ", ".join([":"] * count)


class Api:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.all = json.load(f)
        self.enums = {e["name"] for e in self.all["enums"]}
        self.structs = {s["name"]: s for s in self.all["structs"]}
        self.handles = HANDLES

    def raw(self, one):
        """The type of a field, an argument or a result, as C has it."""
        kind = one if isinstance(one, str) else one["type"]
        if kind == "function" or kind.replace("const ", "") in [c["name"] for c in self.all["callbacks"]]:
            return "type(c_funptr)"
        if kind.endswith(("*", "*const")):
            return "type(c_ptr)"
        kind = kind.replace("const ", "")
        if kind in self.enums:
            return "integer(c_int)"
        if kind in self.structs:
            return "type(%s_c)" % kind
        return KINDS[kind]


# ---- module bouma_c ----------------------------------------------------------


def initial(kind):
    for start, value in (("type(c_ptr)", "c_null_ptr"), ("type(c_funptr)", "c_null_funptr"), ("type(", None),
                         ("character", "c_null_char"), ("real", "0")):
        if kind.startswith(start):
            return value
    return "0"


def raw_constants(api):
    for one in api.all["constants"]:
        if isinstance(one["value"], int):
            yield "  integer(c_int), parameter, public :: %s = %d" % (one["name"], one["value"])
    for enum in api.all["enums"]:
        for one in enum["values"]:
            yield "  integer(c_int), parameter, public :: %s = %d" % (one["name"], one["value"])


def raw_structs(api):
    for struct in api.all["structs"]:
        assert struct["kind"] == "struct", struct["name"]
        yield ""
        yield "  type, bind(c), public :: %s_c" % struct["name"]
        for field in struct["fields"]:
            kind = api.raw(field)
            value = initial(kind)
            if field["name"] == "size" and struct["grows"]:
                value = "%d" % struct["size"]
            yield "    %s :: %s%s%s" % (kind, field["name"], "(%d)" % field["length"] if "length" in field else "",
                                        " = " + value if value else "")
        yield "  end type"


def raw_functions(api):
    yield "  interface"
    for one in api.all["functions"]:
        if any(a["type"] == "MPI_Comm" for a in one["arguments"]):
            continue  # those of C; _fint has the same for Fortran
        names = ", ".join(a["name"] for a in one["arguments"])
        what = "subroutine" if one["result"] == "void" else "function"
        head = "    %s %s_c(%s) bind(c, name='%s')" % (what, one["name"], names, one["name"])
        if what == "function":
            head += " result(the_result)"
        yield from wrapped(head)
        used = sorted(set(re.findall(r"type\((bouma_\w+)\)", " ".join(
            [api.raw(a) for a in one["arguments"]] + ([] if one["result"] == "void" else [api.raw(one["result"])])))))
        yield "      use iso_c_binding"
        if used:
            yield "      import :: " + ", ".join(used)
        for argument in one["arguments"]:
            yield "      %s, value :: %s" % (api.raw(argument), argument["name"])
        if what == "function":
            yield "      %s :: the_result" % api.raw(one["result"])
        yield "    end %s" % what
    yield "  end interface"


def wrapped(line, width=110):
    """A statement that may be too long for a line of Fortran."""
    indent = re.match(r" *", line).group()
    parts = textwrap.wrap(line.strip(), width - len(indent), subsequent_indent="  ", break_long_words=False,
                          break_on_hyphens=False)
    for i, part in enumerate(parts):
        yield indent + part + (" &" if i + 1 < len(parts) else "")


def raw_module(api):
    yield "! bouma_c.f90 -- the C API of bouma %s as it is, for the module bouma and for what" % api.all["version"]
    yield "! that does not offer: constants, structs and functions of the headers, which say"
    yield "! what they do. Structs and functions have _c behind their names; pointers are of"
    yield "! type(c_ptr). Made from the headers: do not edit."
    yield "module bouma_c"
    yield "  use iso_c_binding"
    yield "  implicit none"
    yield "  public"
    yield ""
    yield from raw_constants(api)
    yield from raw_structs(api)
    yield ""
    yield from raw_functions(api)
    yield "end module bouma_c"


# ---- structs of module bouma -------------------------------------------------


def axes_of(struct, field):
    return field.get("length") == 6 and field["type"] in ("int64_t", "double")


def is_text(field):
    return field["type"] == "const char *" or (field["type"] == "char" and "length" in field)


def shown(struct):
    return [f for f in struct["fields"] if not (f["name"] == "size" and struct["grows"])]


def types(api):
    for name in dict.fromkeys(GIVEN + TOLD):
        struct = api.structs[name]
        yield ""
        yield "  type, public :: %s" % name
        for field in shown(struct):
            kind = api.raw(field)
            if is_text(field):
                yield "    character(:), allocatable :: %s" % field["name"]
            elif axes_of(struct, field):
                yield "    %s, allocatable :: %s(:)" % (kind, field["name"])
            else:
                value = initial(kind)
                yield "    %s :: %s%s%s" % (kind, field["name"], "(%d)" % field["length"] if "length" in field else "",
                                            " = " + value if value else "")
        yield "  end type"


def handles(api):
    for name in api.handles:
        yield ""
        yield "  type, public :: %s" % name
        yield "    type(c_ptr) :: ptr = c_null_ptr ! the handle in C, for functions of bouma_c"
        yield from ("    " + line for line in REMEMBERED.get(name, []))
        yield "  end type"


def lacks_ndims(struct):
    """It has axes, but does not say how many: its handle does."""
    return any(axes_of(struct, f) for f in struct["fields"]) and "ndims" not in [f["name"] for f in struct["fields"]]


def conversions(api):
    for name in GIVEN:
        yield from to_c(api, api.structs[name])
    for name in TOLD:
        yield from to_fortran(api, api.structs[name])


def texts_for(struct):
    return "texts, " if any(is_text(f) for f in struct["fields"]) else ""


def to_c(api, struct):
    """Texts go to 'texts', which must live as long as the struct is used."""
    name = struct["name"]
    yield ""
    yield "  subroutine give_%s(raw, %sfrom)" % (name[6:], texts_for(struct))
    yield "    type(%s_c), intent(out) :: raw" % name
    if texts_for(struct):
        yield "    type(c_texts), intent(inout), target :: texts"
    yield "    type(%s), intent(in) :: from" % name
    for field in shown(struct):
        f = field["name"]
        if is_text(field):
            yield "    if (allocated(from%%%s)) call keep_text(raw%%%s, texts, from%%%s)" % (f, f, f)
        elif axes_of(struct, field):
            order = "backwards" if name in REVERSED else "forwards"
            yield "    if (allocated(from%%%s)) call %s(raw%%%s, from%%%s)" % (f, order, f, f)
        elif f == "ndims" and name in REVERSED:
            yield "    raw%ndims = from%ndims"
            yield "    if (raw%ndims == 0 .and. allocated(from%shape)) raw%ndims = size(from%shape)"
        else:
            yield "    raw%%%s = from%%%s" % (f, f)
    yield "  end subroutine"


def to_fortran(api, struct):
    name = struct["name"]
    yield ""
    ndims = "ndims" if lacks_ndims(struct) else "raw%ndims"
    yield "  subroutine take_%s(to, raw%s)" % (name[6:], ", ndims" if lacks_ndims(struct) else "")
    yield "    type(%s), intent(out) :: to" % name
    yield "    type(%s_c), intent(in) :: raw" % name
    if lacks_ndims(struct):
        yield "    integer, intent(in) :: ndims"
    for field in shown(struct):
        f = field["name"]
        if field["type"] == "const char *":
            yield "    call f_text(to%%%s, raw%%%s)" % (f, f)
        elif is_text(field):
            yield "    call f_text_of(to%%%s, raw%%%s)" % (f, f)
        elif axes_of(struct, field):
            part = ndims + ":1:-1" if name in REVERSED else "1:" + ndims
            yield "    to%%%s = raw%%%s(%s)%s" % (f, f, part, " + 1" if (name, f) in INDICES else "")
        elif f == "right":
            yield "    if (raw%right > 0) to%right = raw%right + 1"
        else:
            yield "    to%%%s = raw%%%s%s" % (f, f, " + 1" if (name, f) in INDICES else "")
    yield "  end subroutine"


# ---- functions of module bouma -----------------------------------------------


class Wrapper:
    """One function, with texts, handles and structs as Fortran has them. Numbers are
    passed by value, so that they may be of the struct that becomes the result, as in
    "call bouma_dataset_next_step(info, run, info%step)"."""

    def __init__(self, api, one):
        self.api, self.one, self.name = api, one, one["name"]
        self.arguments, self.declarations, self.before, self.passed, self.after = [], [], [], [], []
        self.wide = []  # arguments that come in two kinds
        self.message = None  # the handle that has it, or "message"
        self.user = "c_null_ptr"  # what a function that is called back gets

    def handle_of(self, kind):
        match = re.match(r"(?:const )?(bouma_\w+) \*+$", kind)
        return match.group(1) if match and match.group(1) in self.api.handles else None

    def argument(self, name, declaration):
        self.arguments.append(name)
        self.declarations.append("%s :: %s" % (declaration, name))

    def declare(self, *lines):
        self.declarations += [line for line in lines if line not in self.declarations]

    def list_of(self, struct):
        """What is called back collects; 'user' is the list that it fills."""
        name, optional = LISTS[struct]
        self.declare("type(%s), allocatable, intent(out)%s :: %s(:)" % (struct, ", optional" if optional else "", name),
                     "type(list_of_%s), target :: list" % name)
        self.before.append("allocate(list%all(0))")
        self.passed.append("c_funloc(collect_%s)" % name)
        self.user = "c_loc(list)"
        self.after.append(("if (present(%s)) " % name if optional else "") + "call move_alloc(list%%all, %s)" % name)
        self.arguments = self.arguments + [name] if optional else [name] + self.arguments

    def take(self, one):
        kind, name = one["type"], one["name"]
        handle = self.handle_of(kind)
        struct = re.match(r"(const )?(bouma_\w+) \*$", kind)
        if handle and kind.endswith("**"):
            self.argument(name, "type(%s), intent(out), target" % handle)
            self.passed.append("c_loc(%s%%ptr)" % name)
            self.message = (handle, name + "%ptr")  # unless another one follows
        elif handle:
            free = self.name.endswith("_free")
            self.argument(name, "type(%s), intent(%s)" % (handle, "inout" if free else "in"))
            self.passed.append(name + "%ptr")
            if self.message is None or self.message[1] == "out%ptr":
                self.message = (handle, name + "%ptr")
            if free:
                self.after.append("%s%%ptr = c_null_ptr" % name)
        elif kind == "const char *":
            self.argument(name, "character(*), intent(in)")
            self.declarations.append("character(c_char), allocatable, target :: %s_c(:)" % name)
            self.before.append("call c_text(%s_c, %s)" % (name, name))
            self.passed.append("c_loc(%s_c)" % name)
        elif kind == "const bouma_options *":
            self.argument("options", "type(bouma_options), intent(in), optional")
            self.declare("type(bouma_options_c), target :: raw_options", "type(c_texts), target :: texts")
            self.before += ["call give_options(raw_options, texts, options)"]
            self.passed.append("c_loc(raw_options)")
        elif struct and struct.group(2) in TOLD and not struct.group(1):
            self.argument(name, "type(%s), intent(out)" % struct.group(2))
            self.declare("type(%s_c), target :: raw_%s" % (struct.group(2), name))
            self.passed.append("c_loc(raw_%s)" % name)
            ndims = ", axes_count(%s)" % self.one["arguments"][1]["name"] if lacks_ndims(
                self.api.structs[struct.group(2)]) else ""
            self.after.append("call take_%s(%s, raw_%s%s)" % (struct.group(2)[6:], name, name, ndims))
        elif struct and struct.group(2) in GIVEN and struct.group(1):
            optional = name == "budget"
            self.argument(name, "type(%s), intent(in)%s" % (struct.group(2), ", optional" if optional else ""))
            texts = texts_for(self.api.structs[struct.group(2)])
            self.declare("type(%s_c), target :: raw_%s" % (struct.group(2), name))
            if texts:
                self.declare("type(c_texts), target :: texts")
            self.before.append("%scall give_%s(raw_%s, %s%s)" % ("if (present(%s)) " % name if optional else "",
                                                                struct.group(2)[6:], name, texts, name))
            self.passed.append("c_loc(raw_%s)" % name)
        elif kind == "function":
            self.list_of(re.search(r"bouma_\w+", one["arguments"][1]["type"]).group())
        elif kind == "void *" and name == "user":
            self.passed.append(self.user)
        elif kind == "int *":
            self.argument(name, "integer, intent(out)")
            self.declarations.append("integer(c_int), target :: %s_c" % name)
            self.before.append("%s_c = 0" % name)
            self.passed.append("c_loc(%s_c)" % name)
            self.after.append("%s = %s_c" % (name, name))
        elif kind == "int" and name in ("apply", "remove"):
            self.argument(name, "logical, intent(in)")
            self.passed.append("merge(1_c_int, 0_c_int, %s)" % name)
        elif kind == "char *" and name == "message":
            self.declarations.append("character(c_char), target :: text_c(1000)")
            self.before.append("text_c = c_null_char")
            self.passed.append("c_loc(text_c)")
            self.message = ("text", "text_c")
        elif kind == "size_t" and name == "bytes":
            self.passed.append("size(text_c, kind=c_size_t)")
        elif kind in self.api.enums or kind in ("int", "unsigned"):
            self.argument(name, "integer, value")
            self.passed.append("int(%s%s, c_int)" % (name, " - 1" if name in ("i", "component") else ""))
        elif kind in ("int64_t", "uint64_t", "double"):
            self.arguments.append(name)
            self.wide.append((name, kind))
            if kind == "double":
                self.passed.append("real(%s, c_double)" % name)
            else:
                self.passed.append("int(%s, c_int64_t)%s" % (name, " - 1" if name in ("i", "file") else ""))
        else:
            sys.exit("%s(): no rule for '%s %s'" % (self.name, kind, name))

    def specifics(self):
        """(suffix, declarations of the wide arguments) for each combination of kinds."""
        choices = [[("r32", "real(real32)"), ("r64", "real(real64)")] if kind == "double" else
                   [("i32", "integer(int32)"), ("i64", "integer(int64)")] for _, kind in self.wide]
        for chosen in itertools.product(*choices):
            suffix = "".join("_" + c[0] for c in chosen)
            yield suffix, ["%s, value :: %s" % (c[1], name) for c, (name, _) in zip(chosen, self.wide)]


def order_of(arguments):
    """Options come last, as in C; they are optional, as the findings are."""
    last = ("options", "findings")
    return [a for a in arguments if a not in last] + [a for a in last if a in arguments]


def is_function(one, api):
    """Functions of Fortran: what cannot fail. All others are subroutines."""
    if one["result"] == "void":
        return False
    if one["result"] in ("const char *", "size_t", "uint64_t", "int64_t") or one["result"] in api.enums:
        return True
    if one["result"].endswith("*"):
        return not ("_find_" in one["name"] or any(a["name"] == "i" for a in one["arguments"]))
    return one["name"].endswith(("_count", "_is_for_grids"))


def procedures(api):
    """Lists of lines: the generic interfaces, and the procedures."""
    public, bodies = [], []
    functions = {one["name"] for one in api.all["functions"]}
    for one in api.all["functions"]:
        if BY_HAND.match(one["name"]) or C_ONLY.match(one["name"]):
            continue
        wrapper = Wrapper(api, one)
        for argument in one["arguments"]:
            wrapper.take(argument)
        specifics = list(wrapper.specifics())
        if one["name"] + "_fint" in functions:  # bouma_mpi has more of that name
            specifics = [("_serial", [])]
        public.append("  public :: %s" % one["name"])
        if specifics[0][0]:
            public.append("  interface %s" % one["name"])
            public += ["    module procedure %s%s" % (one["name"], suffix) for suffix, _ in specifics]
            public.append("  end interface")
        for suffix, wide in specifics:
            body = function_body if is_function(one, api) else subroutine_body
            bodies += [""] + list(body(wrapper, one["name"] + suffix, wide))
    return public, bodies


def function_body(w, name, wide):
    result = w.one["result"]
    handle = w.handle_of(result)
    if handle:
        kind, value, to = "type(%s)" % handle, "%s", "res%ptr"
    elif result == "const char *":
        kind, value, to = "character(:), allocatable", "call f_text(res, %s)", None
    else:
        kind, value, to = w.api.raw(result), "%s", "res"
    yield from wrapped("  function %s(%s) result(res)" % (name, ", ".join(w.arguments)))
    yield from ("    " + d for d in w.declarations + wide)
    yield "    %s :: res" % kind
    yield from ("    " + line for line in w.before)
    value %= "%s_c(%s)" % (w.name, ", ".join(w.passed))
    yield from wrapped("    %s = %s" % (to, value) if to else "    " + value)
    yield "  end function"


def subroutine_body(w, name, wide):
    result = w.one["result"]
    arguments = order_of(w.arguments)
    handle = w.handle_of(result)
    if handle:
        arguments = ["out"] + arguments
    fails = result != "void"
    yield from wrapped("  subroutine %s(%s)" % (name, ", ".join(arguments + (["ierr", "errmsg"] if fails else []))))
    if handle:
        yield "    type(%s), intent(out) :: out" % handle
    yield from ("    " + d for d in w.declarations + wide)
    if fails:
        yield "    integer, intent(out), optional :: ierr"
        yield "    character(*), intent(inout), optional :: errmsg"
        yield "    integer(c_int) :: rc"
    yield from ("    " + line for line in w.before)
    call = "%s_c(%s)" % (w.name, ", ".join(w.passed))
    if not fails:
        yield "    call %s" % call
    elif handle:
        yield from wrapped("    out%%ptr = %s" % call)
        yield "    rc = merge(BOUMA_OK, BOUMA_ENOTFOUND, c_associated(out%ptr))"
    else:
        yield from wrapped("    rc = %s" % call)
    yield from ("    " + line for line in w.after)
    if not fails:
        pass
    elif w.message and w.message[0] == "text":
        yield "    call finish_with_text(rc, text_c, ierr, errmsg)"
    elif w.message:
        yield "    call finish_%s(rc, %s, ierr, errmsg)" % (w.message[0][6:], w.message[1])
    else:
        yield "    call finish_with(rc, bouma_status_text_c(rc), ierr, errmsg)"
    yield "  end subroutine"


def message_function(api, handle):
    """None for plans, which have no message."""
    name = "bouma_error_message" if handle == "bouma_dataset" else handle + "_message"
    return name + "_c" if name in [one["name"] for one in api.all["functions"]] else None


def messages(api):
    """The end of a call on a handle, with what it left; and the message by itself."""
    for name in api.handles:
        function = message_function(api, name)
        yield ""
        yield "  subroutine finish_%s(rc, ptr, ierr, errmsg)" % name[6:]
        yield "    integer(c_int), intent(in) :: rc"
        yield "    type(c_ptr), intent(in) :: ptr"
        yield "    integer, intent(inout), optional :: ierr"
        yield "    character(*), intent(inout), optional :: errmsg"
        yield "    if (rc == BOUMA_OK) then"
        yield "      if (present(ierr)) ierr = BOUMA_OK"
        yield "    else if (c_associated(ptr)) then"
        yield "      call finish_with(rc, %s, ierr, errmsg)" % (
            function + "(ptr)" if function else "bouma_status_text_c(rc)")
        yield "    else"
        yield "      call finish(rc, 'type(%s): nothing was opened, defined or found in it', ierr, errmsg)" % name
        yield "    end if"
        yield "  end subroutine"
        if not function:
            continue
        yield ""
        yield "  function error_message_%s(handle) result(text)" % name[6:]
        yield "    type(%s), intent(in) :: handle" % name
        yield "    character(:), allocatable :: text"
        yield "    call f_text(text, %s(handle%%ptr))" % function
        yield "  end function"


def message_names(api):
    yield "  public :: bouma_error_message"
    yield "  interface bouma_error_message"
    for name in api.handles:
        if message_function(api, name):
            yield "    module procedure error_message_%s" % name[6:]
    yield "  end interface"


def list_types():
    for struct, (name, _) in LISTS.items():
        yield ""
        yield "  type :: list_of_%s" % name
        yield "    type(%s), allocatable :: all(:)" % struct
        yield "  end type"


def collectors():
    """What C calls back to fill these lists. They have no name in C."""
    for struct, (name, _) in LISTS.items():
        yield ""
        yield "  subroutine collect_%s(user, ptr) bind(c, name='')" % name
        yield "    type(c_ptr), value :: user, ptr"
        yield "    type(list_of_%s), pointer :: list" % name
        yield "    type(%s_c), pointer :: raw" % struct
        yield "    type(%s) :: one" % struct
        yield "    call c_f_pointer(user, list)"
        yield "    call c_f_pointer(ptr, raw)"
        yield "    call take_%s(one, raw)" % struct[6:]
        yield "    list%all = [list%all, one]"
        yield "  end subroutine"


# ---- arrays ------------------------------------------------------------------


def describers():
    """What an array is to bouma: an address, extents and strides."""
    for element, (kind, signed, unsigned) in ELEMENTS.items():
        for rank in RANKS:
            yield ""
            yield "  subroutine describe_%s_%d(d, a, unsigned)" % (element, rank)
            yield "    type(description), intent(out) :: d"
            yield "    %s, pointer, intent(in) :: a(%s)" % (kind, dimension(rank))
            yield "    logical, intent(in), optional :: unsigned"
            yield "    integer(int64) :: l(%d)" % rank
            yield "    type :: held"
            yield "      %s, pointer :: a(%s)" % (kind, dimension(rank))
            yield "    end type"
            yield "    type(held) :: given, good"
            yield "    %s, target :: one(%s)" % (kind, ", ".join("1" * rank))
            yield "    l = lbound(a, kind=int64)"
            yield "    d%value_bytes = storage_size(a) / 8"
            yield "    d%%type = %s" % signed
            yield "    if (is(unsigned)) d%%type = %s" % unsigned
            yield "    d%%rank = %d" % rank
            yield "    d%%extent(1:%d) = shape(a, kind=int64)" % rank
            yield "    if (any(d%%extent(1:%d) == 0)) return" % rank
            yield "    given%a => a"
            yield "    good%a => one"
            yield "    d%misplaced = is_misplaced(transfer(given, [0_c_intptr_t]), transfer(good, [0_c_intptr_t]), &"
            yield "      d%value_bytes)"
            yield "    d%%data = c_loc(a(%s))" % ", ".join("l(%d)" % (i + 1) for i in range(rank))
            for axis in range(rank):
                at = ", ".join("l(%d)%s" % (i + 1, " + 1" if i == axis else "") for i in range(rank))
                yield "    if (d%%extent(%d) > 1) d%%stride(%d) = distance(c_loc(a(%s)), d%%data)" % (
                    axis + 1, axis + 1, at)
            yield "    call complete(d)"
            yield "  end subroutine"


GENERIC = {
    # name: (borrowed, intent, arguments in front, behind, extra for the core)
    "bouma_variable_put_borrow": (True, "in", "variable", "box"),
    "bouma_variable_put_copy": (False, "in", "variable", "box"),
    "bouma_variable_read": (False, "inout", "variable", "box, level"),
    "bouma_variable_read_series": (False, "inout", "variable, steps", "box, level, done"),
    "bouma_requests_add": (True, "in", "requests, variable", "box, level"),
    "bouma_columns_add": (True, "in", "columns, variable", ""),
}
DECLARED = {
    "variable": "type(bouma_variable), intent(in) :: variable",
    "requests": "type(bouma_requests), intent(inout) :: requests",
    "columns": "type(bouma_columns), intent(inout) :: columns",
    "box": "type(bouma_box), intent(in), optional :: box",
    "level": "integer, intent(in), optional :: level",
    "steps": "integer(int64), intent(in) :: steps(:)",
    "done": "integer, intent(out), optional :: done",
}
USUAL = ("components_last", "unsigned", "convert", "ierr", "errmsg")


def ranks_of(name):
    return (1, 2) if name == "bouma_columns_add" else RANKS


def array_names():
    for name in GENERIC:
        yield "  public :: %s" % name
        yield "  interface %s" % name
        for element in ELEMENTS:
            for rank in ranks_of(name):
                yield "    module procedure %s_%s_%d" % (name[6:], element, rank)
        yield "  end interface"
    yield "  public :: bouma_columns_add_member"
    yield "  interface bouma_columns_add_member"
    for element in ELEMENTS:
        for rank in (0, 1):
            yield "    module procedure columns_add_member_%s_%d" % (element, rank)
    yield "  end interface"


def array_procedures():
    for name, (borrowed, intent, front, behind) in GENERIC.items():
        for element, rank in itertools.product(ELEMENTS, ranks_of(name)):
            yield ""
            yield from array_procedure(name, borrowed, intent, front, behind, element, rank)
    for element, rank in itertools.product(ELEMENTS, (0, 1)):
        yield ""
        yield from member_procedure(element, rank)


def array_procedure(name, borrowed, intent, front, behind, element, rank):
    kind = ELEMENTS[element][0]
    front, behind = front.split(", "), [b for b in behind.split(", ") if b]
    yield from wrapped("  subroutine %s_%s_%d(%s)" % (name[6:], element, rank,
                                                     ", ".join(front + ["array"] + behind + list(USUAL))))
    for argument in front + behind:
        yield "    " + DECLARED[argument]
    if borrowed:
        yield "    %s, pointer, intent(in) :: array(%s)" % (kind, dimension(rank))
    else:
        yield "    %s, intent(%s), target :: array(%s)" % (kind, intent, dimension(rank))
        yield "    %s, pointer :: view(%s)" % (kind, dimension(rank))
    yield "    logical, intent(in), optional :: components_last, unsigned"
    yield "    integer, intent(in), optional :: convert"
    yield "    integer, intent(out), optional :: ierr"
    yield "    character(*), intent(inout), optional :: errmsg"
    yield "    type(description) :: d"
    if not borrowed:
        yield "    view => array"
    yield "    call describe_%s_%d(d, %s, unsigned)" % (element, rank, "array" if borrowed else "view")
    yield from wrapped("    call %s(%s)" % (name[6:], ", ".join(
        front + ["d"] + behind + ["components_last", "convert", "ierr", "errmsg"])))
    yield "  end subroutine"


def member_procedure(element, rank):
    kind, signed, unsigned = ELEMENTS[element]
    yield from wrapped("  subroutine columns_add_member_%s_%d(columns, variable, member, count, stride, unsigned, "
                       "convert, ierr, errmsg)" % (element, rank))
    yield "    type(bouma_columns), intent(inout) :: columns"
    yield "    type(bouma_variable), intent(in) :: variable"
    yield "    %s, pointer, intent(in) :: member%s" % (kind, "(:)" if rank else "")
    yield "    integer, intent(in) :: count, stride"
    yield "    logical, intent(in), optional :: unsigned"
    yield "    integer, intent(in), optional :: convert"
    yield "    integer, intent(out), optional :: ierr"
    yield "    character(*), intent(inout), optional :: errmsg"
    yield "    type(description) :: d"
    if rank:
        yield "    call describe_%s_1(d, member, unsigned)" % element
    else:
        yield "    d%value_bytes = storage_size(member) / 8"
        yield "    d%%type = %s" % signed
        yield "    if (is(unsigned)) d%%type = %s" % unsigned
        yield "    d%data = c_loc(member)"
    yield "    call columns_add_member(columns, variable, d, count, stride, convert, ierr, errmsg)"
    yield "  end subroutine"


def pieces_names():
    yield "  public :: bouma_pieces_add"
    yield "  interface bouma_pieces_add"
    for element, rank, kind in itertools.product(ELEMENTS, RANKS, ("int32", "int64")):
        yield "    module procedure pieces_add_%s_%d_%s" % (element, rank, kind)
    yield "  end interface"


def pieces_procedures():
    """Arrays of plain files, by their offsets."""
    for element, rank, kind in itertools.product(ELEMENTS, RANKS, ("int32", "int64")):
        yield ""
        yield "  subroutine pieces_add_%s_%d_%s(pieces, array, offset, ierr, errmsg)" % (element, rank, kind)
        yield "    type(bouma_pieces), intent(inout) :: pieces"
        yield "    %s, pointer, intent(in) :: array(%s)" % (ELEMENTS[element][0], dimension(rank))
        yield "    integer(%s), intent(in) :: offset" % kind
        yield "    integer, intent(out), optional :: ierr"
        yield "    character(*), intent(inout), optional :: errmsg"
        yield "    type(description) :: d"
        yield "    call describe_%s_%d(d, array)" % (element, rank)
        yield "    call pieces_add(pieces, d, int(offset, int64), ierr, errmsg)"
        yield "  end subroutine"


def refined_names():
    yield "  public :: bouma_refinement_get"
    yield "  interface bouma_refinement_get"
    for element, rank in itertools.product(ELEMENTS, RANKS):
        yield "    module procedure refinement_get_%s_%d" % (element, rank)
    yield "  end interface"


def refined_procedures():
    """A pointer to the array of a refinement."""
    for element, rank in itertools.product(ELEMENTS, RANKS):
        kind, signed, unsigned = ELEMENTS[element]
        yield ""
        yield from wrapped("  subroutine refinement_get_%s_%d(array, refinement, selection, level, ierr, errmsg)" % (
            element, rank))
        yield "    %s, pointer, intent(out) :: array(%s)" % (kind, dimension(rank))
        yield "    type(bouma_refinement), intent(in) :: refinement"
        yield "    type(bouma_selection), intent(out), optional :: selection"
        yield "    integer, intent(out), optional :: level"
        yield "    integer, intent(out), optional :: ierr"
        yield "    character(*), intent(inout), optional :: errmsg"
        yield "    type(c_ptr) :: data"
        yield "    integer(int64) :: extent(4)"
        yield "    array => null()"
        yield "    call refinement_get(data, extent, refinement, %d, [%s, %s], selection, level, ierr, errmsg)" % (
            rank, signed, unsigned)
        yield "    if (c_associated(data)) call c_f_pointer(data, array, extent(1:%d))" % rank
        yield "  end subroutine"


def arrays_of(kinds):
    """Attributes: numbers of these kinds, one or several."""
    for kind in kinds:
        for rank in (0, 1):
            yield kind, rank


def attribute_names():
    yield "  public :: bouma_attributes_set, bouma_attributes_get"
    for verb in ("set", "get"):
        yield "  interface bouma_attributes_%s" % verb
        yield "    module procedure attributes_%s_text" % verb
        if verb == "get":
            yield "    module procedure attributes_get_number_i"
        for kind, rank in arrays_of(("i32", "i64", "r32", "r64")):
            yield "    module procedure attributes_%s_%s_%d" % (verb, kind, rank)
        yield "  end interface"


def attribute_procedures():
    for kind, rank in arrays_of(("i32", "i64", "r32", "r64")):
        yield ""
        yield "  subroutine attributes_set_%s_%d(attributes, name, value, ierr, errmsg)" % (kind, rank)
        yield "    type(bouma_attributes), intent(in) :: attributes"
        yield "    character(*), intent(in) :: name"
        yield "    %s, intent(in) :: value%s" % (ELEMENTS[kind][0], "(:)" if rank else "")
        yield "    integer, intent(out), optional :: ierr"
        yield "    character(*), intent(inout), optional :: errmsg"
        yield "    %s, target :: values(%s)" % (ELEMENTS[kind][0], "size(value)" if rank else "1")
        yield "    values = value"
        yield from wrapped("    call attributes_set(attributes, name, %s, size(values), c_loc(values), ierr, "
                           "errmsg)" % ELEMENTS[kind][1])
        yield "  end subroutine"
        c_kind = "c_double" if kind[0] == "r" else "c_int64_t"
        yield ""
        yield "  subroutine attributes_get_%s_%d(attributes, name, value, ierr, errmsg)" % (kind, rank)
        yield "    type(bouma_attributes), intent(in) :: attributes"
        yield "    character(*), intent(in) :: name"
        yield "    %s, intent(out)%s :: value%s" % (ELEMENTS[kind][0], ", allocatable" if rank else "",
                                                    "(:)" if rank else "")
        yield "    integer, intent(out), optional :: ierr"
        yield "    character(*), intent(inout), optional :: errmsg"
        yield "    %s, allocatable :: values(:)" % ("real(c_double)" if kind[0] == "r" else "integer(c_int64_t)")
        yield "    call attributes_get_%s(attributes, name, %s, values, ierr, errmsg)" % (
            "numbers" if kind[0] == "r" else "int64s", "-1_c_size_t" if rank else "1_c_size_t")
        if kind == "i32":
            yield "    call narrow(values, name, ierr, errmsg)"
        if rank:
            yield "    value = %s(values, kind(value))" % ("real" if kind[0] == "r" else "int")
        else:
            yield "    value = 0"
            yield "    if (size(values) == 1) value = %s(values(1), kind(value))" % (
                "real" if kind[0] == "r" else "int")
        yield "  end subroutine"


# ---- module bouma ------------------------------------------------------------


def module(api, template):
    public, bodies = procedures(api)
    parts = {
        "version": ["! It is that of bouma %s." % api.all["version"]],
        "constants": list(constant_names(api)),
        "handles": list(handles(api)), "types": list(types(api)), "lists": list(list_types()),
        "names": public + list(message_names(api)) + list(array_names()) + list(pieces_names()) +
        list(refined_names()) + list(attribute_names()),
        "procedures": bodies + list(messages(api)) + list(conversions(api)) + list(collectors()) +
        list(describers()) + list(array_procedures()) + list(pieces_procedures()) + list(refined_procedures()) + list(attribute_procedures()),
    }
    for line in template:
        part = re.match(r"\s*!@ (\w+)$", line)
        yield from (parts[part.group(1)] if part else [line])


def read_template(path):
    """Its lines; "!@ file NAME" is the file NAME.f90.in beside it."""
    with open(path, encoding="utf-8") as f:
        for line in f.read().split("\n")[:-1]:
            name = re.match(r"\s*!@ file (\w+)$", line)
            if name:
                yield from read_template(os.path.join(os.path.dirname(path), name.group(1) + ".f90.in"))
            else:
                yield line


def constant_names(api):
    names = [c["name"] for c in api.all["constants"] if isinstance(c["value"], int)]
    names += [v["name"] for e in api.all["enums"] for v in e["values"]]
    for i in range(0, len(names), 3):
        yield "  public :: " + ", ".join(names[i:i + 3])


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    api = Api(arguments[0])
    template = list(read_template(arguments[1]))
    for name, lines in (("bouma_c.f90", raw_module(api)), ("bouma.f90", module(api, template))):
        with open(os.path.join(arguments[2], name), "w", encoding="utf-8") as f:
            f.write("\n".join(line.rstrip() for line in lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
