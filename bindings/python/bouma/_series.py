"""A variable over all steps: time is the first axis."""
import copy
import ctypes as c
import warnings
from typing import TYPE_CHECKING, Any, List, Sequence

import numpy as np

from . import _index
from ._types import new
from ._variable import Lazy, Variable, check_level, finish, lattice, read_plan
from .errors import NotFoundError

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
        last = dataset[-1][path]
        if not isinstance(last, Variable):
            raise TypeError("%r is not a variable of a grid; take a step: ds[-1][%r]" % (path, path))
        check_level(level, last.levels)
        self.variable = last  # in the last step, as an example for all
        self.dtype = last.dtype
        self._reference: Any = None
        axes = len(last.grid.shape)
        self._space = lattice(last.grid.shape, level) + last.shape[axes:]

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
        numbers, one = self.dataset.steps, copy.copy(self.variable)
        info, facts = new("bouma_grid_info"), new("bouma_variable_info")
        differ = []
        with self.dataset._source.borrow(int(numbers[wanted[0]])) as session:
            self._last(session)
            for i, index in enumerate(wanted):
                one._number = int(numbers[index])
                if self._same(session, one._number, info, facts):
                    read_plan(one, plan, self._level, result[i], session)
                else:
                    differ.append(i)
        for i in differ:
            v = self._other(wanted[i])
            with v.grid._source.borrow() as session:
                if v.dtype == self.dtype:
                    read_plan(v, plan, self._level, result[i], session)
                else:
                    part = np.empty(result.shape[1:], v.dtype)
                    read_plan(v, plan, self._level, part, session)
                    result[i] = self._converted(part, v)

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

    def _last(self, session: Any) -> None:
        """What the last step has, to compare with."""
        if self._reference is None:
            v, info, facts = self.variable, new("bouma_grid_info"), new("bouma_variable_info")
            grid = session.object(v._number, "grid", v.grid.name)
            session.check(session.library.bouma_grid_info_get(c.byref(info), grid))
            session.check(session.library.bouma_variable_info_get(c.byref(facts), v._handle(session)))
            self._reference = self._key(info, facts)

    @staticmethod
    def _key(info: Any, facts: Any) -> Any:
        return (bytes(info.shape), bytes(info.patch), info.ndims, info.levels, facts.type, facts.components,
                facts.averages, facts.present)

    def _same(self, session: Any, number: int, info: Any, facts: Any) -> bool:
        """Whether grid and variable lie in a step as in the last one."""
        v, library = self.variable, session.library
        try:
            handle = session.variable(number, "grid", v.grid.name, v.name)
        except NotFoundError:
            return False
        session.check(library.bouma_grid_info_get(c.byref(info), session.object(number, "grid", v.grid.name)))
        session.check(library.bouma_variable_info_get(c.byref(facts), handle))
        return bool(self._key(info, facts) == self._reference)

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


