"""A variable over all steps: time is the first axis."""
import ctypes as c
from typing import TYPE_CHECKING, Any, List, Optional

import numpy as np

from . import _index
from ._types import new
from ._variable import Facts, Lazy, Variable, check_level, lattice, read_index

if TYPE_CHECKING:
    from ._dataset import Dataset


def twin(one: Any) -> Any:
    """The same object once more, without asking the library."""
    made = object.__new__(type(one))
    made.__dict__.update(one.__dict__)
    return made


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
        alike = self._alike(int(self.dataset.steps[index]), float(self.dataset.times[index]))
        if alike is not None:
            return alike
        found = self.dataset[index][self.path]
        if lattice(found.grid.shape, self._level) + found.shape[len(found.grid.shape):] != self._space:
            raise ValueError("%s has shape %s in step %d, and %s in the last one: read the steps one by one"
                             % (self.path, found.shape, found.step.number, self.variable.shape))
        return found

    def _alike(self, number: int, time: float) -> Optional[Variable]:
        """The variable of another step, if it is as in the last one: many steps are read
        in a row, and asking each of them for all that it has would take the most time."""
        last = self.variable
        with self.dataset._source.borrow() as session:
            info = new("bouma_grid_info")
            session.check(session.library.bouma_grid_info_get(
                c.byref(info), session.object(number, "grid", last.grid.name)))
            facts = Facts(session.library, session.variable(number, "grid", last.grid.name, last.name))
        axes = info.ndims
        if ((tuple(info.shape[:axes]), tuple(info.patch[:axes]), info.levels, facts.dtype, facts.components,
             facts.averages, facts.present) != (last.grid.shape, last.grid.patch, last.grid.levels, last.dtype,
                                                last.components, last.averages, True)):
            return None
        step, grid = twin(last.grid.step), twin(last.grid)
        step.number, step.time, grid.step = number, time, step
        return Variable(grid, last.name, facts)

    def __dask_tokenize__(self) -> Any:
        return ("bouma.Series", self.dataset.id, tuple(self.dataset.steps), self.variable.__dask_tokenize__(),
                self._level)

    def __reduce__(self) -> Any:
        return Series, (self.dataset, self.path, self._level)

    def __repr__(self) -> str:
        return "<bouma variable %r over %d steps: %s %s>" % (self.path, len(self.dataset), self.shape, self.dtype)


