"""A variable over all steps: time is the first axis."""
import copy
import ctypes as c
from typing import TYPE_CHECKING, Any, List

import numpy as np

from . import _index
from ._types import new
from ._variable import Facts, Lazy, Variable, check_level, lattice, read_index
from .errors import NotFoundError

if TYPE_CHECKING:
    from ._dataset import Dataset


class Series(Lazy):
    """A variable of a grid in all steps of a dataset, with time as the first axis.

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
        time, key = plan[0], _index.expand(key if isinstance(key, tuple) else (key,), self.ndim)
        if isinstance(time, _index.Some):
            wanted: List[int] = [int(i) for i in time.indices]
        else:
            wanted = [time.start + i * time.step for i in range(time.length)]
            if time.reverse:
                wanted.reverse()
            if not time.keep:
                return read_index(self._at(wanted[0]), key[1:], self._level)
        result: Any = None
        for i, index in enumerate(wanted):
            one = read_index(self._at(index), key[1:], self._level)
            if result is None:
                result = np.empty((len(wanted),) + np.shape(one), self.dtype)
            result[i] = one
        if result is None:
            shape = tuple(len(one.order) if isinstance(one, _index.Some) and one.order is not None else one.length
                          for one in plan if not isinstance(one, _index.Span) or one.keep)
            return np.empty(shape, self.dtype)
        order = time.order if isinstance(time, _index.Some) else None
        return result if order is None else result[order]

    def _at(self, index: int) -> Variable:
        """The variable in another step: as in the last one, if it is the same there."""
        number = int(self.dataset.steps[index])
        with self.dataset._source.borrow() as session:
            same = self._same(session, number)
        if same:
            found = copy.copy(self.variable)
            found._number = number
            return found
        found = self.dataset[index][self.path]
        if lattice(found.grid.shape, self._level) + found.shape[len(found.grid.shape):] != self._space:
            raise ValueError("%s has shape %s in step %d, and %s in the last one: read the steps one by one"
                             % (self.path, found.shape, number, self.variable.shape))
        return found

    def _same(self, session: Any, number: int) -> bool:
        """Whether grid and variable lie in a step as in the last one."""
        v, library = self.variable, session.library
        try:
            grid, info = session.object(number, "grid", v.grid.name), new("bouma_grid_info")
            handle = session.variable(number, "grid", v.grid.name, v.name)
        except NotFoundError:
            return False
        session.check(library.bouma_grid_info_get(c.byref(info), grid))
        facts, n = Facts(library, handle), info.ndims
        return (facts.present and facts.dtype == v.dtype and facts.components == v.components
                and facts.averages == v.averages and info.levels == v.levels
                and tuple(info.shape[:n]) == v.grid.shape and tuple(info.patch[:n]) == v.grid.patch)

    def __dask_tokenize__(self) -> Any:
        return ("bouma.Series", self.dataset.id, tuple(self.dataset.steps), self.variable.__dask_tokenize__(),
                self._level)

    def __reduce__(self) -> Any:
        return Series, (self.dataset, self.path, self._level)

    def __repr__(self) -> str:
        return "<bouma variable %r over %d steps: %s %s>" % (self.path, len(self.dataset), self.shape, self.dtype)


