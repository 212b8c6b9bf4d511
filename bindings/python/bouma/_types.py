"""The structs and constants of the C API, made from the tables of _api.

Nothing of a header is repeated here: a struct that grows there grows here."""
import ctypes as c
import os
from typing import Any, Dict, Tuple, Union

import numpy as np

from . import _api

PLAIN: Dict[str, Any] = {
    "void": None, "char": c.c_char, "unsigned char": c.c_ubyte, "int": c.c_int, "unsigned": c.c_uint,
    "float": c.c_float, "double": c.c_double, "size_t": c.c_size_t, "int8_t": c.c_int8, "int16_t": c.c_int16,
    "int32_t": c.c_int32, "int64_t": c.c_int64, "uint8_t": c.c_uint8, "uint16_t": c.c_uint16,
    "uint32_t": c.c_uint32, "uint64_t": c.c_uint64,
    # Communicators are passed as Fortran has them.
    "MPI_Comm": c.c_void_p, "MPI_Fint": c.c_int,
}
_made: Dict[str, Any] = {}


def ctype(kind: Union[str, Tuple[str, int]]) -> Any:
    """The ctypes type of a type of C."""
    if isinstance(kind, tuple):
        return ctype(kind[0]) * kind[1]
    if kind in PLAIN:
        return PLAIN[kind]
    if kind == "char *":
        return c.c_char_p
    if kind == "function" or kind.endswith("*") or kind in _api.CALLBACKS:
        return c.c_void_p
    if kind in _api.ENUMS:
        return c.c_int
    return struct(kind)


def struct(name: str) -> Any:
    """A struct of the API, as a ctypes class."""
    made = _made.get(name)
    if made is None:
        kind, size, _, fields = _api.STRUCTS[name]
        base: Any = c.Union if kind == "union" else c.Structure
        made = type(name, (base,), {"_fields_": [(field, ctype(of)) for field, of in fields]})
        if c.sizeof(made) != size:
            raise ImportError("%s has %d bytes here, and %d in C" % (name, c.sizeof(made), size))
        _made[name] = made
    return made


def new(name: str, **fields: Any) -> Any:
    """A struct with these fields; one that grows knows its size."""
    made = struct(name)(**fields)
    if _api.STRUCTS[name][2]:
        made.size = c.sizeof(made)
    return made


def many(name: str, count: int) -> Any:
    """An array of structs."""
    made = (struct(name) * count)()
    if _api.STRUCTS[name][2]:
        for one in made:
            one.size = c.sizeof(one)
    return made


def callback(name: str) -> Any:
    """The type of a function that C calls, as 'bouma_options.progress'."""
    made = _made.get(name)
    if made is None:
        result, arguments = _api.CALLBACKS[name]
        made = _made[name] = c.CFUNCTYPE(ctype(result), *(ctype(a) for a in arguments))
    return made


def constant(name: str) -> int:
    return _api.CONSTANTS["BOUMA_" + name]


def encoded(text: Any, what: str = "a name") -> bytes:
    """A text for C, which ends at the first NUL."""
    if not isinstance(text, str):
        raise TypeError("%s is a text, not %r" % (what, text))
    if "\0" in text:
        raise ValueError("%s cannot have the character NUL: %r" % (what, text))
    return text.encode()


def encoded_path(path: str) -> bytes:
    if "\0" in path:
        raise ValueError("a path cannot have the character NUL: %r" % path)
    return os.fsencode(path)


def text_of(enum: str, value: int) -> str:
    """The text of an enumerator: 'zstd'."""
    for text, number in _api.TEXTS[enum].items():
        if number == value:
            return text
    return str(value)


def choice(enum: str, value: Union[None, int, str]) -> int:
    """The number of a choice given by its text; 0 lets the library choose."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    found = _api.TEXTS[enum].get(value)
    if found is None:
        what = enum[len("bouma_"):].replace("_", " ")
        raise ValueError("there is no %s %r; there are %s" % (what, value, ", ".join(_api.TEXTS[enum])))
    return found


# Types of samples. The codes of NumPy and ctypes are the same letters.
DTYPES: Dict[int, np.dtype] = {number: np.dtype(PLAIN[text]) for number, text in _api.TYPES.items()}
_numbers: Dict[Tuple[str, int], int] = {(dtype.kind, dtype.itemsize): number for number, dtype in DTYPES.items()}


def type_number(dtype: Any) -> int:
    """The bouma_type of a dtype; TypeError if there is none."""
    dtype = np.dtype(dtype)
    found = _numbers.get((dtype.kind, dtype.itemsize))
    if found is None:
        raise TypeError("bouma has no type %s; it has %s"
                        % (dtype, ", ".join(str(one) for one in DTYPES.values())))
    return found


def parse_dtype(dtype: Any) -> np.dtype:
    """A dtype from NumPy's names; or from bouma's, such as 'f32', where NumPy has none.
    'i8' is NumPy's, of 8 bytes."""
    try:
        return DTYPES[type_number(dtype)]
    except TypeError:
        if isinstance(dtype, str) and dtype in _api.TEXTS["bouma_type"]:
            return DTYPES[_api.TEXTS["bouma_type"][dtype]]
        raise
