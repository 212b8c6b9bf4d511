"""The structs and constants of the C API, made from the tables of _api.

Nothing of a header is repeated here: a struct that grows there grows here."""
import ctypes as c
import operator
from typing import Any, Dict, Tuple, Union

import numpy as np

from . import _api
from .errors import InvalidError

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


# What ctypes would cut without a word: integers that do not fit, and texts with a NUL.

_BITS: Dict[Any, Tuple[int, int]] = {}
for _one in PLAIN.values():
    if _one not in (None, c.c_char, c.c_float, c.c_double, c.c_void_p):
        _bits, _signed = 8 * c.sizeof(_one), _one(-1).value < 0
        _BITS[_one] = (-(1 << (_bits - 1)) if _signed else 0, (1 << (_bits - _signed)) - 1)


def fitting(value: Any, kind: Any, what: str) -> int:
    """An integer that fits into a type of C."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError("%s is an integer, not %r" % (what, value)) from None
    low, high = _BITS[ctype(kind)]
    if not low <= number <= high:
        raise InvalidError("%s is %d; it can be %d to %d" % (what, number, low, high), constant("EINVAL"))
    return number


def text(value: Union[str, bytes], what: str) -> bytes:
    """A text as C has it."""
    if not isinstance(value, (str, bytes)):
        raise TypeError("%s is a text, not %r" % (what, value))
    raw = value.encode() if isinstance(value, str) else value
    if b"\0" in raw:
        raise InvalidError("%s has a NUL character: %r" % (what, value), constant("EINVAL"))
    return raw


def checked(name: str, field: str, value: Any) -> Any:
    """A value for a field of a struct."""
    kind = _checks(name).get(field)
    if kind is None or (kind == "char *" and value is None):
        return value
    return text(value, field) if kind == "char *" else fitting(value, kind, field)


def _checks(name: str) -> Dict[str, Any]:
    """The fields of a struct that have to be checked, and their types."""
    made: Any = _made.get("checks of " + name)
    if made is None:
        made = {field: kind for field, kind in _api.STRUCTS[name][3]
                if isinstance(kind, str) and (kind == "char *" or ctype(kind) in _BITS)}
        _made["checks of " + name] = made
    return made


def argument(kind: Any) -> Any:
    """The type of an argument of a function."""
    made = ctype(kind)
    if made not in _BITS:
        return made
    found = _made.get("argument " + kind)
    if found is None:
        low, high = _BITS[made]

        def from_param(value: Any) -> Any:
            if type(value) is int and low <= value <= high:
                return made(value)
            return made(fitting(value, kind, "an argument"))

        found = _made["argument " + kind] = type(kind, (), {"from_param": staticmethod(from_param)})
    return found


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
    if fields:
        checks = _checks(name)
        for field, value in fields.items():
            if field in checks and not (type(value) is int and 0 <= value < 128):  # these fit into all
                fields[field] = checked(name, field, value)
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
