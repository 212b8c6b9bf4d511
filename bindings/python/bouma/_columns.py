"""Columns of particles as the library takes them: arrays, fields of structured arrays,
or an array for each coordinate."""
import ctypes as c
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ._array import as_array, borrowable, describe, span

XYZ = "xyz"


class Column:
    """The values of one variable, for all particles."""

    def __init__(self, parts: List[np.ndarray], split: bool):
        self.parts, self.split = parts, split  # split: an array for each component

    @property
    def dtype(self) -> np.dtype:
        return self.parts[0].dtype.newbyteorder("=")

    @property
    def components(self) -> int:
        if self.split:
            return len(self.parts)
        return self.parts[0].shape[1] if self.parts[0].ndim > 1 else 1

    def describe(self, name: str, components: int, exact: bool) -> Tuple[int, Any, Any]:
        """The number of particles, a bouma_array, and what must be kept with it."""
        if self.split and not uniform(self.parts):
            self.parts, self.split = [np.stack(self.parts, axis=1)], False
        if self.split:
            return self._split(exact)
        array = borrowable(as_array(self.parts[0]))
        wanted = 1 if components == 1 else 2
        if array.ndim == 2 and components == 1 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != wanted or (components > 1 and array.shape[1] != components):
            raise ValueError("the column %r has shape %s; it takes %s"
                             % (name, array.shape, "(n,)" if components == 1 else "(n, %d)" % components))
        return len(array), describe(array, 1, exact), array

    def _split(self, exact: bool) -> Tuple[int, Any, Any]:
        first = self.parts[0]
        made = describe(first, 1, exact)
        addresses = (c.c_void_p * len(self.parts))(*(one.ctypes.data for one in self.parts))
        made.data, made.parts = None, c.addressof(addresses)
        made.bytes = sum(span(first))
        return len(first), made, (addresses, self.parts)


def uniform(parts: List[np.ndarray]) -> bool:
    """Whether the arrays can be the parts of one: the same types and strides."""
    first = parts[0]
    return first.dtype.isnative and len(first) > 0 and first.strides[0] > 0 and all(
        (one.dtype, one.shape, one.strides) == (first.dtype, first.shape, first.strides) for one in parts)


def columns_of(data: Any, more: Dict[str, Any], ndims: Optional[int]) -> Dict[str, Column]:
    """Columns by name, from whatever a program has them in."""
    named: Dict[str, Any] = {}
    if data is None:
        pass
    elif isinstance(data, np.ndarray):
        if data.dtype.names is None:
            raise TypeError("particles are a dict of arrays or a structured array, not an array of %s; a variable of "
                            "a grid is named 'grid/variable'" % data.dtype)
        named = {name: data[name] for name in data.dtype.names}
    elif hasattr(data, "keys"):
        named = {str(name): data[name] for name in data.keys()}
    else:
        raise TypeError("particles are a dict of arrays or a structured array, not %s" % type(data).__name__)
    named.update(more)
    return gather({name: as_column(name, values) for name, values in named.items()}, ndims)


def as_column(name: str, values: Any) -> np.ndarray:
    try:
        array = as_array(values)
    except (TypeError, ValueError) as error:
        raise type(error)("the column %r: %s" % (name, error)) from None
    if array.ndim not in (1, 2):
        raise ValueError("the column %r has %d axes; it takes (n,) or (n, components)" % (name, array.ndim))
    return array


def gather(arrays: Dict[str, np.ndarray], ndims: Optional[int]) -> Dict[str, Column]:
    """x, y and z are the position, unless there is one."""
    found: Dict[str, Column] = {}
    axes = [one for one in XYZ[:ndims or 3] if one in arrays]
    joined = "position" not in arrays and bool(axes) and (ndims is None or len(axes) == ndims)
    if joined:
        parts = [arrays[one] for one in axes]
        if any(one.ndim != 1 or len(one) != len(parts[0]) for one in parts):
            raise ValueError("x, y and z are arrays of the same length")
        found["position"] = Column(parts, len(parts) > 1)
    for name, array in arrays.items():
        if not (joined and name in axes):
            found[name] = Column([array], False)
    return found
