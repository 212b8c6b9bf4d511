"""What an index expression reads: v[10, :, ::4] as boxes of a level.

Indices are those of h5py: integers, slices, an Ellipsis, one list or array of
integers (in any order), a mask of one axis, or a mask of all of them. Slices may
also go backwards, as in NumPy."""
import operator
from itertools import product
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np


class Span(NamedTuple):
    """The indices start, start + step, ...: 'length' of them, ascending."""

    start: int
    step: int
    length: int
    reverse: bool
    keep: bool  # the axis stays in the result


class Some(NamedTuple):
    """A list of indices, ascending and without repetitions."""

    indices: np.ndarray
    order: Optional[np.ndarray]  # from these to those asked for

    @property
    def length(self) -> int:
        return len(self.indices)


Axis = Union[Span, Some]


class Part(NamedTuple):
    """Samples low to high - 1 of an axis; of these 'pick', which go to 'into'."""

    low: int
    high: int
    into: slice
    pick: Any  # None: all


def parse(key: Any, shape: Sequence[int]) -> Union[List[Axis], np.ndarray]:
    """An axis each; or the mask, if there is one of all axes."""
    if not isinstance(key, tuple):
        key = (key,)
    if len(key) == 1 and is_mask(key[0]):
        mask = np.asarray(key[0])
        if mask.ndim == len(shape) > 1:
            if mask.shape != tuple(shape):
                raise IndexError("the mask has shape %s, the variable %s" % (mask.shape, tuple(shape)))
            return mask
    key = expand(key, len(shape))
    axes: List[Axis] = [axis_of(one, n, i) for i, (one, n) in enumerate(zip(key, shape))]
    if sum(isinstance(one, Some) for one in axes) > 1:
        raise TypeError("only one list or mask is possible in an index; the others must be numbers or slices")
    return axes


def is_mask(one: Any) -> bool:
    return isinstance(one, (list, np.ndarray)) and np.asarray(one).dtype == bool and np.ndim(one) > 0


def expand(key: Tuple[Any, ...], ndim: int) -> Tuple[Any, ...]:
    dots = [i for i, one in enumerate(key) if one is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have one Ellipsis only")
    given = len(key) - len(dots)
    if given > ndim:
        raise IndexError("there are %d indices, and %d axes" % (given, ndim))
    at = dots[0] if dots else len(key)
    return key[:at] + (slice(None),) * (ndim - given) + key[at + len(dots):]


def axis_of(one: Any, n: int, axis: int) -> Axis:
    if isinstance(one, slice):
        start, stop, step = one.indices(n)
        count = len(range(start, stop, step))
        if step > 0 or count == 0:
            return Span(start if count else 0, max(step, 1), count, False, True)
        return Span(start + (count - 1) * step, -step, count, True, True)
    if isinstance(one, (list, tuple, np.ndarray)) and np.ndim(one) > 0:
        return some_of(np.asarray(one), n, axis)
    if one is None or isinstance(one, (bool, np.bool_)):
        raise TypeError("%r cannot be an index here; numbers, slices, lists and masks can" % (one,))
    try:
        index = operator.index(one)
    except TypeError:
        raise TypeError("%r cannot be an index; numbers, slices, lists and masks can" % (one,)) from None
    return Span(within(index, n, axis), 1, 1, False, False)


def within(index: int, n: int, axis: int) -> int:
    if not -n <= index < n:
        raise IndexError("index %d is out of range for axis %d with %d samples" % (index, axis, n))
    return index + n if index < 0 else index


def some_of(array: np.ndarray, n: int, axis: int) -> Some:
    if array.ndim != 1:
        raise TypeError("a list or mask in an index has one axis, not %d; or the mask has the shape of the variable"
                        % array.ndim)
    if array.dtype == bool:
        if len(array) != n:
            raise IndexError("the mask has %d elements for axis %d with %d samples" % (len(array), axis, n))
        return Some(np.flatnonzero(array), None)
    if not len(array):
        return Some(np.zeros(0, np.int64), None)
    if array.dtype.kind not in "iu":
        raise TypeError("indices are integers, not %s" % array.dtype)
    for worst in (int(array.min()), int(array.max())):
        within(worst, n, axis)
    array = array.astype(np.int64)
    array = np.where(array < 0, array + n, array)
    if len(array) == 1 or (np.diff(array) > 0).all():
        return Some(array, None)
    unique, order = np.unique(array, return_inverse=True)
    return Some(unique, order.reshape(-1))


def coarsest(axes: Sequence[Axis], most: int) -> int:
    """The coarsest level, up to 'most', that has all of the indices: a multiple of
    2^level each."""
    bits = 0
    for one in axes:
        if isinstance(one, Span):
            bits |= one.start | (one.step if one.length > 1 else 0)
        else:
            bits |= int(np.bitwise_or.reduce(one.indices)) if one.length else 0
    level = 0
    while level < most and not bits >> level & 1:
        level += 1
    return level


def parts_of(one: Axis, level: int, patch: int) -> List[Part]:
    """What is read of an axis. Indices far apart are read patch by patch, so that
    patches between them are not."""
    if isinstance(one, Span):
        start, step, count = one.start >> level, one.step >> level, one.length
        if count == 1 or step == 1:
            return [Part(start, start + count, slice(0, count), None)]
        if step <= patch:
            return [Part(start, start + (count - 1) * step + 1, slice(0, count), slice(None, None, step))]
        return [Part(start + i * step, start + i * step + 1, slice(i, i + 1), None) for i in range(count)]
    indices = one.indices >> level
    found = []
    cuts = np.flatnonzero(np.diff(indices // patch)) + 1
    for low, high in zip([0, *cuts], [*cuts, len(indices)]):
        some = indices[low:high]
        first, last = int(some[0]), int(some[-1])
        dense = last - first + 1 == len(some)
        found.append(Part(first, last + 1, slice(int(low), int(high)), None if dense else some - first))
    return found


def boxes(axes: Sequence[Axis], level: int, patch: Sequence[int]) -> Any:
    """All combinations of the parts of the axes."""
    return product(*(parts_of(one, level, max(1, p >> level)) for one, p in zip(axes, patch)))


def mask_bounds(mask: np.ndarray) -> Optional[Tuple[slice, ...]]:
    """The smallest box with all that is wanted; None if that is nothing."""
    found = []
    for axis in range(mask.ndim):
        some = np.flatnonzero(mask.any(axis=tuple(i for i in range(mask.ndim) if i != axis)))
        if not len(some):
            return None
        found.append(slice(int(some[0]), int(some[-1]) + 1))
    return tuple(found)
