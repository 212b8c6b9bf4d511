"""NumPy arrays as the library sees them: bouma_array, with strides."""
import operator
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._names import unknown
from ._types import constant, fitting, new, struct, type_number

_DIMS = constant("MAX_DIMS")
AXES = ("z", "y", "x")  # the last one is x, however many there are


def span(array: np.ndarray) -> Tuple[int, int]:
    """Bytes before the first sample that the array takes, and behind its address."""
    before = sum((n - 1) * s for n, s in zip(array.shape, array.strides) if s < 0)
    behind = sum((n - 1) * s for n, s in zip(array.shape, array.strides) if s > 0)
    return -before, behind + array.itemsize


def describe(array: np.ndarray, axes: int, exact: bool = True) -> Any:
    """A bouma_array for 'array', whose first axes are those of the grid (for particles:
    one); a further one has the components. The array must live as long as it is used."""
    made = new("bouma_array", type=type_number(array.dtype), data=array.ctypes.data,
               convert=constant("CONVERT_EXACT" if exact else "CONVERT_ROUND"))
    before, behind = span(array)
    made.bytes = before + behind
    if array.flags.c_contiguous:
        return made
    whole = before + behind
    for i in range(axes):
        # Axes with one sample have any stride in NumPy.
        made.stride[i] = array.strides[i] if array.shape[i] > 1 else whole
    if array.ndim > axes:
        made.component_stride = array.strides[axes] if array.shape[axes] > 1 else array.itemsize
    return made


def borrowable(array: np.ndarray) -> np.ndarray:
    """The same values in an array that can be put: the bytes of this machine, and no
    sample twice in memory."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if any(s == 0 and n > 1 for n, s in zip(array.shape, array.strides)):
        array = np.ascontiguousarray(array)
    return array


def box_of(low: Sequence[int], high: Sequence[int]) -> Any:
    box = struct("bouma_box")()
    lo, hi = box.lo, box.hi
    for i, (a, b) in enumerate(zip(low, high)):
        if not 0 <= a <= b < 1 << 62:  # else they fit
            a, b = fitting(a, "int64_t", "an index"), fitting(b, "int64_t", "an index")
        lo[i], hi[i] = a, b
    return box


def parse_box(box: Any, shape: Sequence[int]) -> Tuple[Tuple[int, int], ...]:
    """A box of samples: a tuple of slices or pairs, one for each axis; axes that are
    left out, and ends that are None, are whole."""
    if box is None:
        box = ()
    if isinstance(box, dict):
        axes = AXES[-len(shape):]
        for name in box:
            if name not in axes:
                raise unknown("axis", name, axes)
        box = tuple(box.get(name, slice(None)) for name in axes)
    if isinstance(box, slice) or box is Ellipsis:
        box = (box,)
    box = tuple(box)
    if any(one is Ellipsis for one in box):
        at = [one is Ellipsis for one in box].index(True)
        box = box[:at] + (slice(None),) * (len(shape) - len(box) + 1) + box[at + 1:]
    if len(box) > len(shape):
        raise ValueError("the box has %d axes, and the grid %d" % (len(box), len(shape)))
    found = []
    for axis, n in enumerate(shape):
        one = box[axis] if axis < len(box) else slice(None)
        if isinstance(one, slice):
            if one.step not in (None, 1):
                raise ValueError("a box has no steps; use a level")
            low, high, _ = one.indices(n)
        else:
            low, high = ends_of(one, axis, n)
        found.append((low, max(low, high)))
    return tuple(found)


def ends_of(pair: Any, axis: int, n: int) -> Tuple[int, int]:
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise ValueError("axis %d of a box is a slice or a pair of numbers, not %r" % (axis, pair)) from None
    try:
        low, high = (0 if low is None else operator.index(low)), (n if high is None else operator.index(high))
    except TypeError:
        raise ValueError("axis %d of a box is a slice or a pair of integers, not %r; sel() takes positions"
                         % (axis, pair)) from None
    if low < 0 or high < 0 or high > n:
        raise ValueError("the box reaches from %d to %d on axis %d, which has the samples 0 to %d"
                         % (low, high, axis, n - 1))
    return low, high


def as_array(values: Any, dtype: Optional[np.dtype] = None) -> np.ndarray:
    """An array of a type that bouma has. Lists of real numbers become 'dtype', if that is
    real, too; all else keeps its type, so that C converts it, exactly or not at all."""
    if np.ma.isMaskedArray(values):
        if np.ma.is_masked(values):
            raise ValueError("the array is masked, and bouma has no masks; give what is stored: array.filled(...)")
        values = values.data
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array is not values and dtype is not None and not hasattr(values, "dtype"):
        array = numbers_as(values, array, dtype)
    type_number(array.dtype)  # or TypeError
    return array


def numbers_as(values: Any, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Numbers of Python, which are 'array' for NumPy, as 'dtype' if they can be."""
    if array.dtype.kind == "b":
        return array.astype(dtype)
    if array.dtype.kind == "f" and dtype.kind == "f":
        with np.errstate(over="ignore"):
            made = array.astype(dtype)
        return made if np.array_equal(np.isfinite(made), np.isfinite(array)) else array
    if array.dtype.kind in "fO":  # [1, 2**63] are reals or objects for NumPy
        try:
            exact = np.asarray(values, dtype=object)
            made = exact.astype(dtype)
        except (OverflowError, TypeError, ValueError):
            return array
        return made if bool((made.astype(object) == exact).all()) else array
    return array
