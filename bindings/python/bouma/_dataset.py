"""Datasets, their steps and their grids, for reading."""
import ctypes as c
import operator
import os
import time as clock
from collections import deque
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy as np

from ._array import AXES, box_of
from ._attributes import read_all
from ._names import Names, Table, unknown
from ._session import Source, failing_together
from ._types import constant, new, struct, text_of
from ._variable import Facts, Shape, Variable, get_from
from .errors import NotFoundError, error_of


def open_dataset(path: Union[str, "os.PathLike[str]"], comm: Any = None, **options: Any) -> "Dataset":
    """Open a dataset for reading, also while it is being written.

    'comm' is a communicator of mpi4py; opening the dataset and its steps is then
    collective. 'options' are those of bouma_options, as threads=2 or local="/scratch".

    >>> import bouma
    >>> with bouma.open(example) as ds:
    ...     print(len(ds), ds.times)
    3 [0.  0.1 0.2]
    """
    with failing_together(comm, "bouma_dataset_open"):
        name = os.fsdecode(path)
    return Dataset(name, options, comm)


class Dataset(Sequence["Step"]):
    """The steps of a simulation.

    ds[i] is the i-th step (ds[-1] the last one), ds["flow/density"] a variable over all
    steps. 'path' and 'comm' are those that it was opened with.

    >>> import bouma
    >>> ds = bouma.open(example)
    >>> ds.steps
    array([ 0, 10, 20])
    >>> ds.at(time=0.12).number
    10
    >>> ds["flow/density"][:, 5, 5, 5].shape
    (3,)
    """

    def __init__(self, path: str, options: Dict[str, Any], comm: Any = None):
        self.path, self._options, self.comm = path, options, comm
        self._source = Source(os.path.abspath(path), options, comm)
        self._listed: Optional[Tuple[np.ndarray, np.ndarray]] = None
        self._id: Optional[str] = None
        self._view = os.urandom(8)  # names what is seen: until refresh(), it is the same in all processes

    # Steps.

    def _list(self) -> Tuple[np.ndarray, np.ndarray]:
        if self._listed is None:
            with self._source.borrow() as session:
                self._listed = self._read_list(session)
        elif self._source.closed:
            self._source.take()
        return self._listed

    def _read_list(self, session: Any) -> Tuple[np.ndarray, np.ndarray]:
        library, handle = session.library, session.handle
        count = library.bouma_dataset_step_count(handle)
        if count < 0:
            raise session.fail("EFORMAT")
        found = np.zeros(count, np.dtype(struct("bouma_step_info")))
        found["size"] = bytes_of_one = found.itemsize
        at, get = found.ctypes.data, library.bouma_dataset_step_get
        for i in range(count):
            rc = get(at + i * bytes_of_one, handle, i)
            if rc:
                session.check(rc)
        numbers, times = found["step"].copy(), found["time"].copy()
        numbers.flags.writeable = times.flags.writeable = False
        return numbers, times

    @property
    def steps(self) -> np.ndarray:
        """The numbers of the steps, ascending."""
        return self._list()[0]

    @property
    def times(self) -> np.ndarray:
        """The times of the steps; NaN for a step that is damaged."""
        return self._list()[1]

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, key: int) -> "Step":
        ...

    @overload
    def __getitem__(self, key: slice) -> List["Step"]:
        ...

    @overload
    def __getitem__(self, key: str) -> Any:
        ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            from ._series import Series

            return Series(self, key)
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(len(self)))]
        numbers = self.steps
        try:
            key = operator.index(key)
        except TypeError:
            raise TypeError("a step is found by its index, not by %r; at() finds it by its time" % (key,)) from None
        if not -len(numbers) <= key < len(numbers):
            raise IndexError("there is no step at index %d: %s has %d steps" % (key, self.path, len(numbers)))
        return Step(self, int(numbers[key]), float(self.times[key]))

    def at(self, time: Optional[float] = None, step: Optional[int] = None) -> "Step":
        """The step whose time is nearest to 'time'; or the one with the number 'step'."""
        if (time is None) == (step is None):
            raise TypeError("at() takes either a time or a step")
        if time is not None and np.isnan(float(time)):
            raise ValueError("no step is near to the time NaN")
        numbers, times = self._list()
        if step is not None:
            i = int(np.searchsorted(numbers, step))
            if i == len(numbers) or numbers[i] != step:
                raise unknown("step", step, [str(one) for one in numbers])
            return self[i]
        known = np.flatnonzero(~np.isnan(times))
        if not len(known):
            raise error_of(constant("ENOTFOUND"), "%s has no step" % self.path)
        some = times[known]
        near = np.clip(np.asarray(time, np.float64), some.min(), some.max())  # infinity, too, is near to an end
        return self[int(known[np.argmin(np.abs(some - near))])]

    def refresh(self) -> "Dataset":
        """See the steps that were written since. Collective with a communicator."""
        with self._source.refresh() as session:
            self._listed = self._read_list(session)
        self._view = os.urandom(8)
        return self

    def follow(self, timeout: Optional[float] = None, poll: float = 0.2, after: int = -1,
               stop: Optional[Callable[[], bool]] = None) -> Iterator["Step"]:
        """All steps, and then each new one as a running simulation writes it.

        Ends if no step comes for 'timeout' seconds, or if 'stop()' is true and no step is
        left. 'after' leaves out the steps up to that number.

        >>> import bouma
        >>> [step.number for step in bouma.open(example).follow(timeout=0)]
        [0, 10, 20]
        """
        if self.comm is not None:
            raise TypeError("follow() is for one process; with a communicator all ranks call refresh()")
        last, since = after, clock.monotonic()
        while True:
            ended = stop is not None and stop()  # before the look, or a step is missed
            self.refresh()
            fresh = np.flatnonzero(self.steps > last)
            for i in fresh:
                step = Step(self, int(self.steps[i]), float(self.times[i])) if i < len(self.steps) else None
                if step is not None and step.number > last:
                    last = step.number
                    yield step
            if len(fresh):
                since = clock.monotonic()
                continue
            if ended or (timeout is not None and clock.monotonic() - since >= timeout):
                return
            clock.sleep(poll)

    # What it is.

    @property
    def id(self) -> str:
        """The identity of the dataset: 32 digits."""
        if self._id is None:
            self._id = bytes(self._info().id).hex()
        return self._id

    def _info(self) -> Any:
        info = new("bouma_dataset_info")
        with self._source.borrow() as session:
            session.check(session.library.bouma_dataset_info_get(c.byref(info), session.handle))
        return info

    @property
    def attrs(self) -> Dict[str, Any]:
        """The attributes of the dataset, as of its newest step."""
        with self._source.borrow() as session:
            return read_all(session.library, session.library.bouma_dataset_attributes(session.handle))

    def keys(self) -> List[str]:
        """The names of variables and particles, as of the last step."""
        return self[-1]._paths() if len(self) else []

    def __contains__(self, key: object) -> bool:
        """Whether keys() has a name, or a step is one of these."""
        if isinstance(key, str):
            return key in self.keys()
        return isinstance(key, Step) and key.dataset is self and key.number in self.steps

    def _ipython_key_completions_(self) -> List[str]:
        return self.keys()

    def to_xarray(self, group: Optional[str] = None, level: int = 0, chunks: Any = None) -> Any:
        """A grid ('group'; the only one) over all steps as an xarray.Dataset, lazily.
        'chunks' as for xr.open_dataset(): {} gives Dask arrays of patches.

        >>> import bouma
        >>> bouma.open(example).to_xarray(level=2).density.sizes["time"]
        3
        """
        from ._xarray import as_xarray

        return as_xarray(self, group, level, chunks=chunks)

    def to_yt(self, group: Optional[str] = None, *, level: int = 0, fields: Optional[Sequence[str]] = None,
              particles: Optional[str] = None, limit: Optional[int] = None) -> Any:
        """The last step as a dataset of yt: see Step.to_yt()."""
        return self[-1].to_yt(group, level=level, fields=fields, particles=particles, limit=limit)

    def close(self) -> None:
        """Free what the dataset holds. Collective with a communicator."""
        self._source.close()

    @property
    def closed(self) -> bool:
        """True if the dataset is closed."""
        return self._source.closed

    def __enter__(self) -> "Dataset":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        if self.comm is not None:
            raise TypeError("a dataset with a communicator cannot be pickled; open it without one")
        options = tuple(sorted((k, v) for k, v in self._options.items() if k != "progress"))
        return reopen, (self._source.path, options, self._view)

    def __repr__(self) -> str:
        if self.closed:
            return "<bouma dataset %r, closed>" % self.path
        steps = self.steps
        some = "no steps" if not len(steps) else "%d steps, %d to %d" % (len(steps), steps[0], steps[-1])
        return "<bouma dataset %r: %s>" % (self.path, some)

    def _repr_html_(self) -> str:
        from ._html import dataset_html

        return dataset_html(self)


_reopened: Dict[Any, Any] = {}
_kept: Deque[Dataset] = deque(maxlen=4)  # tasks come one by one, and each has a pickle


def reopen(path: str, options: Tuple[Tuple[str, Any], ...], view: bytes) -> Dataset:
    """The dataset of a pickle. What comes from one dataset shares one here, too, and the
    last few stay open."""
    import weakref

    key = (path, options, view, os.getpid())
    found = _reopened.get(key)
    dataset = found() if found is not None else None
    if dataset is None or dataset.closed:
        dataset = Dataset(path, dict(options))
        _reopened[key] = weakref.ref(dataset, lambda ref: _reopened.get(key) is ref and _reopened.pop(key, None))
        _kept.append(dataset)
    return dataset


class Step(Names[Any]):
    """One step: a mapping of grids and particles by name; 'grid/variable' works, too.

    It has a 'number' and a 'time', and belongs to a 'dataset'.

    >>> import bouma
    >>> step = bouma.open(example)[-1]
    >>> list(step), step.number, step.time
    (['flow', 'coal'], 20, 0.2)
    >>> step["flow/density"].shape == step.flow.density.shape
    True
    """

    _what = "grid or set of particles"

    def __init__(self, dataset: Dataset, number: int, time: float):
        self.dataset, self.number, self.time = dataset, number, time
        self._source = dataset._source
        with self._source.borrow(number) as session:
            self._grids, self._particles = self._read(session)

    def _read(self, session: Any) -> Tuple[List[str], List[str]]:
        library = session.library
        step, _ = session.step(self.number)
        grids, sets = [], []
        for i in range(library.bouma_step_grid_count(step)):
            grid = new("bouma_grid_info")
            session.check(library.bouma_grid_info_get(c.byref(grid), library.bouma_step_grid(step, i)))
            grids.append(grid.name.decode())
        for i in range(library.bouma_step_particles_count(step)):
            some = new("bouma_particles_info")
            session.check(library.bouma_particles_info_get(c.byref(some), library.bouma_step_particles(step, i)))
            sets.append(some.name.decode())
        return grids, sets

    def _names(self) -> Sequence[str]:
        return self._grids + self._particles

    def _find(self, name: str) -> Any:
        if name in self._grids:
            return Grid(self, name)
        if name in self._particles:
            return self._set(name)
        owner, slash, rest = name.partition("/")
        if slash and owner in self._grids:
            return Grid(self, owner)[rest]
        if slash and owner in self._particles:
            return self._set(owner)[rest]
        there = self._paths() if slash else [*self._names(), *self._paths()]
        raise unknown("variable" if slash else self._what, name, there, self.number)

    def _ipython_key_completions_(self) -> List[str]:
        return [*self._names(), *self._paths()]

    def _set(self, name: str) -> Any:
        from ._particles import Particles

        return Particles(self, name)

    def _paths(self) -> List[str]:
        return ["%s/%s" % (name, one) for name in self._names() for one in self[name]]

    @property
    def grids(self) -> Table["Grid"]:
        """The grids, by name."""
        return Table("grid", {name: Grid(self, name) for name in self._grids})

    @property
    def particles(self) -> Table[Any]:
        """The sets of particles, by name."""
        return Table("set of particles", {name: self._set(name) for name in self._particles})

    @property
    def attrs(self) -> Dict[str, Any]:
        """The attributes of the step."""
        with self._source.borrow(self.number) as session:
            step, _ = session.step(self.number)
            return read_all(session.library, session.library.bouma_step_attributes(step))

    def to_yt(self, group: Optional[str] = None, *, level: int = 0, fields: Optional[Sequence[str]] = None,
              particles: Optional[str] = None, limit: Optional[int] = None) -> Any:
        """A grid or a set of particles ('group'; the only grid) as a dataset of yt.

        A grid is a uniform grid with the samples of 'level', each in the middle of its
        cell; 'particles' is a set to go with it. 'fields' are the variables, all if none
        are given. Components become fields of their own: velocity_x. 'limit' is how many
        particles there are at most, evenly spread. The values are read at once.

        >>> import bouma
        >>> data = bouma.open(example)[-1].to_yt("flow", level=1)       # doctest: +SKIP
        >>> data.all_data()["stream", "density"].max()                  # doctest: +SKIP
        unyt_quantity(1.91, 'kg/m**3')
        """
        from ._yt import step_to_yt

        return step_to_yt(self, group, level, fields, particles, limit)

    def __reduce__(self) -> Any:
        return Step, (self.dataset, self.number, self.time)

    def __repr__(self) -> str:
        return "<bouma step %d at time %g: %s>" % (self.number, self.time, ", ".join(self._names()) or "empty")

    def _repr_html_(self) -> str:
        from ._html import step_html

        return step_html(self)


class Grid(Names[Variable]):
    """A grid: a mapping of its variables by name.

    'shape' are the samples along its axes, whose names are 'dims': z, y, x. The first one
    lies at 'origin', the next ones at distances of 'spacing', in 'unit'. It is stored in
    patches of shape 'patch', at so many 'levels', in a 'layout'. Its 'name' is unique in
    the 'step' that it belongs to.

    >>> import bouma
    >>> grid = bouma.open(example)[-1].flow
    >>> grid.shape, grid.dims, grid.spacing
    ((32, 32, 32), ('z', 'y', 'x'), (0.03125, 0.03125, 0.03125))
    >>> list(grid)
    ['density', 'velocity']
    """

    _what = "variable"

    def __init__(self, step: Step, name: str):
        self.step, self.name = step, name
        self._source = step._source
        with self._source.borrow(step.number) as session:
            info = self._read(session)
            self.unit: str = (info.unit or b"").decode()  # a text of the session
        n = info.ndims
        self.shape: Shape = tuple(info.shape[:n])
        self.patch: Shape = tuple(info.patch[:n])
        self.origin: Tuple[float, ...] = tuple(info.origin[:n])
        self.spacing: Tuple[float, ...] = tuple(info.spacing[:n])
        self.levels: int = info.levels
        self.layout: str = text_of("bouma_layout", info.layout)
        self.dims: Tuple[str, ...] = AXES[-n:]

    def _read(self, session: Any) -> Any:
        library = session.library
        grid = session.object(self.step.number, "grid", self.name)
        info = new("bouma_grid_info")
        session.check(library.bouma_grid_info_get(c.byref(info), grid))
        self._variables: Dict[str, Facts] = {}
        for i in range(info.variables):
            facts = Facts(library, library.bouma_grid_variable(grid, i))
            if facts.present:
                self._variables[facts.name] = facts
        return info

    def _names(self) -> Sequence[str]:
        return list(self._variables)

    def _find(self, name: str) -> Variable:
        if name not in self._variables:
            raise unknown("variable", "%s/%s" % (self.name, name), ["%s/%s" % (self.name, v) for v in self._variables],
                          self.step.number)
        return Variable(self, name, self._variables[name])

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def attrs(self) -> Dict[str, Any]:
        """The attributes of the grid."""
        with self._source.borrow(self.step.number) as session:
            grid = session.object(self.step.number, "grid", self.name)
            return read_all(session.library, session.library.bouma_grid_attributes(grid))

    @property
    def coords(self) -> Dict[str, np.ndarray]:
        """The positions of the samples along each axis: {'z': ..., 'y': ..., 'x': ...}."""
        return self.coords_of(0)

    def coords_of(self, level: int) -> Dict[str, np.ndarray]:
        """The positions of the samples of a level."""
        return {dim: origin + spacing * np.arange(0, n, 1 << level)
                for dim, origin, spacing, n in zip(self.dims, self.origin, self.spacing, self.shape)}

    def _locate(self, where: Dict[str, Any], level: int) -> Tuple[List[Tuple[int, int]], List[int]]:
        """The box of positions along named axes, and the axes with one position."""
        bounds = struct("bouma_bounds")(axes=constant("AXES_ZYX"), closed=(1 << self.ndim) - 1)
        for i in range(self.ndim):
            bounds.low[i], bounds.high[i] = -np.inf, np.inf
        single = {}
        for name, one in where.items():
            if name not in self.dims:
                raise unknown("axis", name, self.dims)
            axis = self.dims.index(name)
            if not isinstance(one, slice):
                single[axis] = self._nearest(axis, float(one), level)
                continue
            if one.step is not None:
                raise ValueError("a slice of positions has no step; use a level")
            bounds.low[axis] = -np.inf if one.start is None else one.start
            bounds.high[axis] = np.inf if one.stop is None else one.stop
        box = box_of((), ())
        with self._source.borrow(self.step.number) as session:
            grid = session.object(self.step.number, "grid", self.name)
            session.check(session.library.bouma_grid_box(c.byref(box), grid, c.byref(bounds)))
        ends = [(box.lo[i], box.hi[i]) for i in range(self.ndim)]
        for axis, index in single.items():
            ends[axis] = (index, index + 1)
        return ends, sorted(single)

    def _nearest(self, axis: int, position: float, level: int) -> int:
        """The sample of a level that is nearest to a position within the grid."""
        index = (position - self.origin[axis]) / self.spacing[axis]
        last = self.shape[axis] - 1
        if not -0.5 <= index <= last + 0.5:  # the same at every level
            raise IndexError("%s=%g is outside of the grid" % (self.dims[axis], position))
        return min(max(int(round(index / (1 << level))), 0), last >> level) << level

    def __reduce__(self) -> Any:
        return get_from, (self.step, self.name)

    def __repr__(self) -> str:
        return "<bouma grid %r of step %d: %s, %s>" % (self.name, self.step.number, self.shape,
                                                       ", ".join(self._variables) or "no variables")

    def _repr_html_(self) -> str:
        from ._html import grid_html

        return grid_html(self)


__all__ = ["Dataset", "Grid", "NotFoundError", "Step", "open_dataset"]
