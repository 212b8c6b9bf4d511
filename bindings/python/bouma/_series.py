"""A variable over all steps: time is the first axis."""
import ctypes as c
import warnings
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Set

import numpy as np

from . import _index
from ._array import box_of, describe
from ._names import unknown
from ._types import constant, new
from ._variable import Lazy, Variable, check_level, finish, lattice, read_plan
from .errors import NotFoundError, error_of

if TYPE_CHECKING:
    from ._dataset import Dataset


class Series(Lazy):
    """A variable of a grid in all steps of a 'dataset', with time as the first axis.

    'path' is its name, 'dtype' its type, 'variable' the variable of the last step.

    >>> import bouma
    >>> rho = bouma.open(example)["flow/density"]
    >>> rho.shape, rho.dims
    ((3, 32, 32, 32), ('time', 'z', 'y', 'x'))
    >>> rho[-1, ::2, 0, 0].shape, rho[:, 10, 20, 30].shape
    ((16,), (3,))
    >>> rho.level(1)[:, 0].shape
    (3, 16, 16)
    """

    def __init__(self, dataset: "Dataset", path: str, level: int = 0):
        self.dataset, self.path, self._level = dataset, path, level
        last = self._last(dataset, path)
        if not isinstance(last, Variable):
            raise TypeError("%r is not a variable of a grid; take a step: ds[-1][%r]" % (path, path))
        check_level(level, last.levels)
        self.variable = last  # in the last step, as an example for all
        self.dtype = last.dtype
        axes = len(last.grid.shape)
        self._space = lattice(last.grid.shape, level) + last.shape[axes:]

    @staticmethod
    def _last(dataset: "Dataset", path: str) -> Any:
        """What the last step has of that name: it tells what the others must be like."""
        try:
            return dataset[-1][path]
        except NotFoundError as error:
            raise error_of(constant("ENOTFOUND"), "%s; of a series, the last step is looked at: take another one by "
                           "its index, ds[0][%r]" % (error, path)) from None

    @property
    def shape(self) -> Any:  # type: ignore[override]
        """The number of steps, and the shape of the variable."""
        return (len(self.dataset),) + self._space

    @property
    def dims(self) -> Any:
        """The names of the axes."""
        return ("time",) + self.variable.dims

    @property
    def times(self) -> np.ndarray:
        """The times of the steps."""
        return self.dataset.times

    def level(self, level: int) -> "Series":
        """The same at a coarser level."""
        return Series(self.dataset, self.path, level)

    def sel(self, level: Optional[int] = None, time: Any = slice(None), **where: Any) -> Any:
        """Samples by their times and positions: time=slice(0.1, 0.2) for the steps from 0.1 to 0.2, both
        included; time=0.15 for the nearest one; and so for the axes of the grid.

        >>> import bouma
        >>> rho = bouma.open(example)["flow/density"]
        >>> rho.sel(time=0.12, x=slice(0.25, 0.5), z=0.0).shape, rho.sel(time=slice(0.1, None), y=0.5).shape
        ((32, 9), (2, 32, 32))
        """
        chosen = self._level if level is None else check_level(level, self.variable.levels)
        for name in where:
            if name not in self.dims:
                raise unknown("axis", name, self.dims)
        box, drop = self.variable.grid._locate(where, chosen)
        each = 1 << chosen
        space = [low // each if i in drop else slice(-(-low // each), -(-high // each))
                 for i, (low, high) in enumerate(box)]
        series = self if chosen == self._level else self.level(chosen)
        return series[tuple([self._at(time)] + space)]

    def _at(self, time: Any) -> Any:
        """The indices of steps from one time to another; or the index of the nearest one."""
        if not isinstance(time, slice):
            number = self.dataset.at(time=time).number
            return int(np.searchsorted(self.dataset.steps, number))
        if time.step is not None:
            raise ValueError("a slice of times has no step")
        times = self.times
        wanted = np.ones(len(times), bool) if time == slice(None) else ~np.isnan(times)
        if time.start is not None:
            wanted &= times >= time.start
        if time.stop is not None:
            wanted &= times <= time.stop
        return slice(None) if wanted.all() else np.flatnonzero(wanted)

    def __getitem__(self, key: Any) -> Any:
        plan = _index.parse(key, self.shape)
        if isinstance(plan, np.ndarray):
            raise TypeError("a mask of time and space cannot be read at once; index the steps one by one")
        time = plan[0]
        if isinstance(time, _index.Some):
            wanted: List[int] = [int(i) for i in time.indices]
        else:
            wanted = [time.start + i * time.step for i in range(time.length)]
            if time.reverse:
                wanted.reverse()
        result = np.empty((len(wanted),) + tuple(one.length for one in plan[1:]), self.dtype)
        if result.size:
            self._read(wanted, plan[1:], result)
        return finish(result, plan)

    def _read(self, wanted: List[int], plan: Sequence[Any], result: np.ndarray) -> None:
        """Read some steps, each into its part of 'result'."""
        one_by_one = self.dataset.comm is not None or len(wanted) == 1  # a step that stays open for others
        differ = list(range(len(wanted))) if one_by_one else self._read_alike(wanted, plan, result)
        for i in differ:
            v = self._other(wanted[i])
            with v.grid._source.borrow(v._number) as session:
                if v.dtype == self.dtype:
                    read_plan(v, plan, self._level, result[i], v._reader(session))
                else:
                    part = np.empty(result.shape[1:], v.dtype)
                    read_plan(v, plan, self._level, part, v._reader(session))
                    result[i] = self._converted(part, v)

    def _read_alike(self, wanted: List[int], plan: Sequence[Any], result: np.ndarray) -> List[int]:
        """Read the steps in which the variable is as in the last one, a box of all of them at a
        time; return which others there are."""
        numbers, differ = np.ascontiguousarray(self.dataset.steps[wanted]), set()  # type: Any, Set[int]
        with self.dataset._source.borrow() as session:
            def read(level: int, low: Sequence[int], high: Sequence[int], out: np.ndarray, first: int) -> None:
                self._read_box(session, level, box_of(low, high), out, numbers[first:first + len(out)], first, differ)

            read_plan(self.variable, plan, self._level, result, read, before=1)
        return sorted(differ)

    def _read_box(self, session: Any, level: int, box: Any, out: np.ndarray, numbers: np.ndarray, first: int,
                  differ: Set[int]) -> None:
        """Read a box of these steps, the first of which is number 'first' of all."""
        handle, done, at = self.variable._handle(session), c.c_size_t(), 0
        others = (constant("EMISMATCH"), constant("ENOTFOUND"))
        while at < len(numbers):
            array = describe(out[at], len(self.variable.grid.shape))
            array.bytes += (len(numbers) - at - 1) * out.strides[0]
            series = new("bouma_series", steps=numbers[at:].ctypes.data, step_count=len(numbers) - at, level=level,
                         box=c.addressof(box), array=c.addressof(array), step_stride=out.strides[0])
            rc = session.library.bouma_variable_read_series(c.byref(done), handle, c.byref(series))
            at += done.value
            if not rc:
                return
            if rc not in others:
                session.check(rc)
            differ.add(first + at)
            at += 1

    def _converted(self, part: np.ndarray, v: Variable) -> np.ndarray:
        """Values in the type of the last step; reals may be rounded, no others."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            made = part.astype(self.dtype)
            if part.dtype.kind == made.dtype.kind == "f":
                same = np.isfinite(made) == np.isfinite(part)
            else:
                same = (made.astype(part.dtype) == part) & ((made < 0) == (part < 0))
        if not same.all():
            raise ValueError("%s is of type %s in step %d, and its values are not in %s, the type of the last one: "
                             "read the steps one by one" % (self.path, v.dtype, v._number, self.dtype))
        return made

    def _other(self, index: int) -> Variable:
        """The variable in a step that differs; it must have the same shape."""
        found: Variable = self.dataset[index][self.path]
        if lattice(found.grid.shape, self._level) + found.shape[len(found.grid.shape):] != self._space:
            raise ValueError("%s has shape %s in step %d, and %s in the last one: read the steps one by one"
                             % (self.path, found.shape, found._number, self.variable.shape))
        return found

    def __dask_tokenize__(self) -> Any:
        return ("bouma.Series", self.dataset.id, tuple(self.dataset.steps), self.variable.__dask_tokenize__(),
                self._level)

    def __reduce__(self) -> Any:
        return Series, (self.dataset, self.path, self._level)

    def __repr__(self) -> str:
        return "<bouma variable %r over %d steps: %s %s>" % (self.path, len(self.dataset), self.shape, self.dtype)


