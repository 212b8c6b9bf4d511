"""Attributes: named values on datasets, steps, grids, particles and variables."""
import ctypes as c
from typing import Any, Dict, Iterator, MutableMapping, Tuple

import numpy as np

from ._types import DTYPES, constant, new, text, type_number


def read_all(library: Any, handle: Any) -> Dict[str, Any]:
    """All attributes: text as str, one number as such, several as an array."""
    found: Dict[str, Any] = {}
    for i in range(library.bouma_attributes_count(handle) if handle else 0):
        one = new("bouma_attribute")
        if not library.bouma_attributes_get(c.byref(one), handle, i):
            found[one.name.decode()] = value_of(one)
    return found


def value_of(one: Any) -> Any:
    if one.type == constant("TYPE_STRING"):
        return c.string_at(one.values, one.count).decode(errors="replace")
    dtype = DTYPES[one.type]
    array = np.frombuffer(c.string_at(one.values, one.count * dtype.itemsize), dtype)
    return array[0].item() if one.count == 1 else array


def encode(name: str, value: Any) -> Tuple[int, int, bytes]:
    """Type, count and bytes of a value."""
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        raw = value.encode()
        return constant("TYPE_STRING"), len(raw), raw
    if np.ma.is_masked(value):
        raise ValueError("the attribute %r is masked, and bouma has no masks" % name)
    array = np.asarray(value)
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if array.ndim > 1:
        raise ValueError("the attribute %r has %d axes; attributes have one" % (name, array.ndim))
    try:
        number = type_number(array.dtype)
    except TypeError:
        raise TypeError("the attribute %r is neither text nor numbers: %r" % (name, value)) from None
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return number, array.size, array.tobytes()


class Attributes(MutableMapping[str, Any]):
    """The attributes of something that is written."""

    def __init__(self, library: Any, handle: Any, check: Any, lock: Any):
        self._library, self._handle, self._check, self._lock = library, handle, check, lock

    def _all(self) -> Dict[str, Any]:
        with self._lock:
            return read_all(self._library, self._handle())

    def __setitem__(self, name: str, value: Any) -> None:
        kind, count, raw = encode(name, value)
        with self._lock:
            self._check(self._library.bouma_attributes_set(self._handle(), text(name, "a name"), kind, count, raw))

    def __getitem__(self, name: str) -> Any:
        return self._all()[name]

    def __delitem__(self, name: str) -> None:
        raise TypeError("attributes of bouma can be set, but not deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())
