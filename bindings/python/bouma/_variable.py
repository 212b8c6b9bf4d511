"""Variables of grids: lazy arrays that are read by slices, boxes and levels."""
import ctypes as c
import operator
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _index
from ._array import AXES, box_of, describe, parse_box
from ._attributes import read_all
from ._names import bytes_text
from ._session import Held
from ._types import DTYPES, constant, new, text_of, type_number
from .errors import error_of

if TYPE_CHECKING:
    from ._budget import Approximation
    from ._dataset import Grid
    from ._histogram import Bins, Histogram

Shape = Tuple[int, ...]
# Reads a box of full-resolution samples at a level; the last argument is the first of the steps.
Reader = Callable[[int, Sequence[int], Sequence[int], np.ndarray, int], None]
BATCH_BYTES = 1 << 24  # of boxes of which only some samples are wanted


def number_of(value: Any) -> Union[int, float, None]:
    """A bouma_value."""
    if value.type == constant("TYPE_I64"):
        return int(value.i)
    if value.type == constant("TYPE_U64"):
        return int(value.u)
    return float(value.f) if value.type else None


def lattice(shape: Sequence[int], level: int) -> Shape:
    """The samples of a level, along each axis."""
    return tuple(-(-n >> level) for n in shape)


class Facts:
    """What a step has of a variable: bouma_variable_info and the ranges."""

    def __init__(self, library: Any, handle: Any):
        info = new("bouma_variable_info")
        rc = library.bouma_variable_info_get(c.byref(info), handle)
        if rc:
            raise error_of(rc, (library.bouma_variable_message(handle) or b"").decode())
        self.name: str = info.name.decode()
        self.dtype = DTYPES[info.type]
        self.components: int = info.components
        self.codec = text_of("bouma_codec", info.codec)
        self.unit: str = (info.unit or b"").decode()
        self.present = bool(info.present)
        self.stored_bytes: int = info.stored_bytes
        self.raw_bytes: int = info.raw_bytes
        self.tolerance: float = info.bound
        self.largest_error: float = info.largest_error
        self.psnr: float = info.psnr
        self.averages = bool(info.averages)


def read_ranges(library: Any, handle: Any, components: int) -> List[Tuple[Any, Any]]:
    """(lowest, highest) of each component; (None, None) if it has no value but NaN."""
    found = []
    for component in range(components):
        one = new("bouma_range")
        rc = library.bouma_variable_range(c.byref(one), handle, component)
        if rc:
            raise error_of(rc, (library.bouma_variable_message(handle) or b"").decode())
        found.append((number_of(one.exact_low), number_of(one.exact_high)))
    return found


def range_of_all(ranges: Sequence[Tuple[Any, Any]]) -> Tuple[Any, Any]:
    some = [one for one in ranges if one[0] is not None]
    if not some:
        return None, None
    return min(low for low, _ in some), max(high for _, high in some)


class Lazy:
    """An array in a file: what Variable, Level and Series have in common."""

    shape: Shape
    dtype: np.dtype

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of all values in memory."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the values are in a file: an array of them is a copy")
        array = np.asarray(self[...])
        return array if dtype is None else array.astype(dtype, copy=False)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


class Variable(Lazy):
    """A variable of a grid, in one step. Nothing is read before it is indexed.

    It has a 'name' in its 'grid', and a 'shape' and 'dtype' as arrays have; if it has
    several 'components', they are the last axis.

    >>> import bouma, numpy as np
    >>> v = bouma.open(example)[-1]["flow/density"]
    >>> v.shape, v.dtype, v.unit, v.levels
    ((32, 32, 32), dtype('float32'), 'kg/m^3', 4)
    >>> v[10, :, ::4].shape
    (32, 8)
    >>> np.array_equal(v[::4, ::4, ::4], v.level(2)[...])
    True
    """

    def __init__(self, grid: "Grid", name: str, facts: Facts):
        self.grid, self.name, self._facts = grid, name, facts
        self._number = grid.step.number
        self.dtype = facts.dtype
        self.components = facts.components
        self.shape = grid.shape + ((facts.components,) if facts.components > 1 else ())

    # What it is.

    @property
    def path(self) -> str:
        """Its name in the step: 'flow/density'."""
        return "%s/%s" % (self.grid.name, self.name)

    @property
    def step(self) -> Any:
        """The step that it belongs to."""
        return self.grid.step

    @property
    def attrs(self) -> Dict[str, Any]:
        """Its attributes."""
        with self.grid._source.borrow(self._number) as session:
            handle = self._handle(session)
            return read_all(session.library, session.library.bouma_variable_attributes(handle))

    @property
    def unit(self) -> str:
        """The unit of the values, or ''."""
        return self._facts.unit

    @property
    def levels(self) -> int:
        """Levels: 0 is the full resolution, levels - 1 the coarsest."""
        return self.grid.levels

    @property
    def tolerance(self) -> float:
        """The largest error that was allowed; 0 if every bit is kept."""
        return self._facts.tolerance

    @property
    def largest_error(self) -> float:
        """The largest error of all samples; infinite if that is not known."""
        return self._facts.largest_error

    @property
    def averages(self) -> bool:
        """True if coarser levels are averages, False if they are samples."""
        return self._facts.averages

    @property
    def codec(self) -> str:
        """How it is stored: 'zstd'."""
        return self._facts.codec

    @property
    def stored_bytes(self) -> int:
        """Bytes in files."""
        return self._facts.stored_bytes

    @property
    def chunks(self) -> Shape:
        """The shape of a patch: what is stored together."""
        return self.grid.patch + self.shape[len(self.grid.shape):]

    @property
    def dims(self) -> Tuple[str, ...]:
        """The names of the axes."""
        return self.grid.dims + (("component",) if self.components > 1 else ())

    @property
    def ranges(self) -> List[Tuple[Any, Any]]:
        """The lowest and the highest value of each component, without reading samples."""
        with self.grid._source.borrow(self._number) as session:
            return read_ranges(session.library, self._handle(session), self.components)

    @property
    def range(self) -> Tuple[Any, Any]:
        """The lowest and the highest value, without reading samples; (None, None) if all
        are NaN."""
        return range_of_all(self.ranges)

    # Reading.

    def __getitem__(self, key: Any) -> Any:
        return read_index(self, key, 0)

    def level(self, level: int) -> "Level":
        """The variable at a coarser level, to be indexed in samples of that level."""
        return Level(self, level)

    @overload
    def read(self, box: Any = None, level: int = 0, out: Optional[np.ndarray] = None, dtype: Any = None,
             collective: bool = False) -> np.ndarray:
        ...

    @overload
    def read(self, box: Any = None, *, max_bytes: int, max_points: Optional[int] = None,
             max_error: Optional[float] = None) -> "Approximation":
        ...

    @overload
    def read(self, box: Any = None, *, max_points: int, max_error: Optional[float] = None) -> "Approximation":
        ...

    @overload
    def read(self, box: Any = None, *, max_error: float) -> "Approximation":
        ...

    def read(self, box: Any = None, level: int = 0, out: Optional[np.ndarray] = None, dtype: Any = None,
             collective: bool = False, max_bytes: Optional[int] = None, max_points: Optional[int] = None,
             max_error: Optional[float] = None) -> Any:
        """The samples of a box at a level.

        'box' has a slice or a pair for each axis, in samples of full resolution at any
        level, or is a dict of those: {"x": (0, 16)}. 'out' is an array to read into, of any strides; its values, or those of
        'dtype', are rounded if the type asks for that. With 'collective' all ranks call
        this, with any boxes, and each chunk is read from its file by one of them.

        With a budget - bytes read, samples, an error that is small enough - the finest
        level within it is read, and the result is an Approximation, to be refined.

        >>> import bouma
        >>> v = bouma.open(example)[-1]["flow/density"]
        >>> v.read(box=[(0, 16), (0, 16), (8, 9)], level=1).shape
        (8, 8, 1)
        """
        if not max_bytes is max_points is max_error is None:
            if level or out is not None or dtype is not None or collective:
                raise TypeError("a budget chooses the level, and takes none of level, out, dtype and collective")
            from ._budget import Budget, read_within

            return read_within(self, parse_box(box, self.grid.shape), Budget(max_bytes, max_points, max_error))
        try:
            low, high, out = self._prepare(box, level, out, dtype)
            if collective and not out.dtype.isnative:
                raise TypeError("out has the bytes of another machine, which a collective read does not swap")
        except Exception:
            if collective:
                self._fail_together()
            raise
        if collective:
            self._read_together(level, low, high, out)
        elif out.size:
            with self.grid._source.borrow(self._number) as session:
                self._read(session, level, low, high, out)
        return out

    def _prepare(self, box: Any, level: int, out: Optional[np.ndarray], dtype: Any) -> Tuple[Any, Any, np.ndarray]:
        """The box, and an array for it."""
        low, high = zip(*parse_box(box, self.grid.shape))
        level = check_level(level, self.levels)
        count = tuple(max(0, (-(-b >> level)) - (-(-a >> level))) for a, b in zip(low, high))
        shape = count + self.shape[len(count):]
        if out is not None and not isinstance(out, np.ndarray):
            raise TypeError("out is an array of NumPy, not %s" % type(out).__name__)
        if out is None:
            out = np.empty(shape, self.dtype if dtype is None else dtype)
        elif dtype is not None and out.dtype != np.dtype(dtype):
            raise TypeError("out is of type %s, not %s" % (out.dtype, np.dtype(dtype)))
        if out.shape != shape:
            raise ValueError("out has shape %s, and %s at level %d takes %s"
                             % (out.shape, self.path, level, shape))
        if not out.flags.writeable:
            raise ValueError("out cannot be written to")
        type_number(out.dtype)  # or TypeError
        return low, high, out

    def _read_together(self, level: int, low: Sequence[int], high: Sequence[int], out: np.ndarray) -> None:
        array = describe(out, len(self.grid.shape), exact=out.dtype == self.dtype)
        with self.grid._source.borrow(self._number) as session:
            step, _ = session.step(self._number)
            request = new("bouma_request", variable=self._handle(session), level=level, box=box_of(low, high),
                          array=c.addressof(array))
            count = 1 if out.size else 0
            session.check(session.library.bouma_step_read(step, c.byref(request), count))

    def _fail_together(self) -> None:
        """Take part in a collective read that fails, or the other ranks wait for this one."""
        if self.grid._source.comm is None:
            return
        array = new("bouma_array")  # of no type, which is refused
        with self.grid._source.borrow(self._number) as session:
            step, _ = session.step(self._number)
            whole = box_of([0] * len(self.grid.shape), self.grid.shape)
            request = new("bouma_request", variable=self._handle(session), box=whole, array=c.addressof(array))
            session.library.bouma_step_read(step, c.byref(request), 1)

    def _reader(self, session: Any) -> "Reader":
        return lambda level, low, high, out, first: self._read(session, level, low, high, out)

    def _handle(self, session: Any) -> Any:
        return session.variable(self._number, "grid", self.grid.name, self.name)

    def _read(self, session: Any, level: int, low: Sequence[int], high: Sequence[int], out: np.ndarray) -> None:
        """Read a box of full-resolution samples into 'out'."""
        into = out if out.dtype.isnative else np.empty(out.shape, out.dtype.newbyteorder("="))
        array = describe(into, len(self.grid.shape), exact=into.dtype == self.dtype)
        box = box_of(low, high)
        session.check(session.library.bouma_variable_read(self._handle(session), level, c.byref(box), c.byref(array)))
        if into is not out:
            out[...] = into

    def sel(self, level: int = 0, **where: Any) -> Any:
        """Samples by their positions: x=slice(0.1, 0.2) for those from 0.1 to 0.2, both
        included; x=0.15 for the nearest one.

        >>> import bouma
        >>> v = bouma.open(example)[-1]["flow/density"]
        >>> v.sel(x=slice(0.25, 0.5), z=0.0).shape
        (32, 9)
        """
        box, drop = self.grid._locate(where, check_level(level, self.levels))
        array = self.read(box, level)
        key: Tuple[Any, ...] = tuple(0 if i in drop else slice(None) for i in range(array.ndim))
        return array[key]

    def progressive(self, box: Any = None, level: Optional[int] = None) -> Iterator[Tuple[np.ndarray, int]]:
        """From coarse to fine: (array, level), from 'level' (the coarsest) to 0. Each
        array takes only the bytes that are new.

        >>> import bouma
        >>> for a, level in bouma.open(example)[-1].flow.density.progressive():
        ...     print(level, a.shape)
        3 (4, 4, 4)
        2 (8, 8, 8)
        1 (16, 16, 16)
        0 (32, 32, 32)
        """
        first = self.levels - 1 if level is None else check_level(level, self.levels)
        return self._refine(parse_box(box, self.grid.shape), first)

    def _refine(self, ends: Sequence[Tuple[int, int]], level: int) -> Iterator[Tuple[np.ndarray, int]]:
        held, refinement = Held(self.grid._source), c.c_void_p()
        library = held.session.library
        try:
            box = box_of(*zip(*ends))
            with held as session:
                session.check(library.bouma_refinement_open(c.byref(refinement), self._handle(session), level,
                                                            c.byref(box)))
                found = self._refined(library, refinement)
            while True:
                yield found
                with held as session:
                    rc = library.bouma_refinement_next(refinement)
                    if rc == constant("ENOTFOUND"):
                        return
                    session.check(rc)
                    found = self._refined(library, refinement)
        finally:
            held.end(library.bouma_refinement_free, refinement)

    def _refined(self, library: Any, refinement: Any) -> Tuple[np.ndarray, int]:
        selection, level, data = new("bouma_selection"), c.c_int(), c.c_void_p()
        rc = library.bouma_refinement_get(c.byref(data), c.byref(selection), c.byref(level), refinement)
        if rc:
            raise error_of(rc, (library.bouma_refinement_message(refinement) or b"").decode())
        shape = tuple(selection.shape[:selection.ndims]) + self.shape[len(self.grid.shape):]
        array = np.empty(shape, self.dtype)
        if array.nbytes:
            c.memmove(array.ctypes.data, data, array.nbytes)
        return array, level.value

    # Other programs.

    def histogram(self, bins: "Bins" = 50, range: Optional[Tuple[float, float]] = None, *,
                  component: Optional[int] = None, box: Any = None, exact: Optional[bool] = None,
                  max_bytes: Optional[int] = None, max_points: Optional[int] = None) -> "Histogram":
        """How many samples have which values: of all samples, or of a box.

        'bins' is their number, or the edges; the range is that of all values, which the
        step has on record, if nothing is said. With a budget - bytes read, samples - the
        finest level within it is taken for a sample. With exact=False no sample is read:
        the ranges of patches give bounds and an estimate. Of a vector, 'component' tells
        which of its numbers.

        >>> import bouma
        >>> v = bouma.open(example)[-1]["flow/density"]
        >>> h = v.histogram(bins=8)
        >>> h.exact, int(h.counts.sum())
        (True, 32768)
        >>> v.histogram(bins=8, max_points=1000).level
        2
        """
        from ._budget import Budget
        from ._histogram import component_of, wanted, with_component

        component = component_of(self.path, component, self._facts.components)
        asked = wanted(bins, range, component, exact, Budget(max_bytes, max_points))
        ends = box_of(*zip(*parse_box(box, self.grid.shape)))
        label = with_component(self.name, component, self._facts.components, self.unit)
        with self.grid._source.borrow(self._number) as session:
            return asked.run(session, session.library.bouma_variable_histogram, self._handle(session), c.byref(ends),
                             label)

    def plot(self, *, level: Optional[int] = None, component: Optional[int] = None, ax: Any = None,
             colorbar: bool = True, **more: Any) -> Any:
        """Draw it with matplotlib: a line, or a plane as an image.

        x=, y= and z= are positions to cut at; a grid of three axes is cut in the middle
        of z, if none is given. The level has at most as many samples as the axes have
        pixels, unless you choose one. Of a vector the length is drawn, or a component.
        'ax' are axes to draw on; 'more' goes to matplotlib. Returns what is drawn: an
        AxesImage or a Line2D.

        >>> import bouma
        >>> image = bouma.open(example)[-1]["flow/density"].plot(z=0.25, cmap="magma")
        >>> image.axes.get_xlabel(), image.colorbar.ax.get_ylabel()
        ('x in m', 'density in kg/m^3')
        """
        from ._plot import plot_variable

        cuts = {dim: more.pop(dim) for dim in AXES if dim in more}
        return plot_variable(self, cuts, level, component, ax, colorbar, more)

    def __dask_tokenize__(self) -> Any:
        step = self.grid.step
        return ("bouma.Variable", step.dataset.id, step.number, step.time, self.path, self.shape, str(self.dtype),
                self._facts.stored_bytes)

    def __reduce__(self) -> Any:
        return get_from, (self.grid, self.name)

    def __repr__(self) -> str:
        unit = " in %s" % self.unit if self.unit else ""
        return "<bouma variable %r of step %d: %s %s%s>" % (self.path, self.step.number, self.shape, self.dtype, unit)

    def _repr_html_(self) -> str:
        from ._html import variable_html

        return variable_html(self)


def get_from(mapping: Any, name: str) -> Any:
    """For pickles."""
    return mapping[name]


class Level(Lazy):
    """A 'variable' at one level, 'number': index it in samples of that level. 'shape' and
    'dtype' are as for arrays."""

    def __init__(self, variable: Variable, level: int):
        self.variable, self.number = variable, check_level(level, variable.levels)
        self.shape = lattice(variable.grid.shape, level) + variable.shape[len(variable.grid.shape):]
        self.dtype = variable.dtype

    def __getitem__(self, key: Any) -> Any:
        return read_index(self.variable, key, self.number)

    @property
    def coords(self) -> Dict[str, np.ndarray]:
        """The positions of the samples along each axis."""
        return self.variable.grid.coords_of(self.number)

    @property
    def chunks(self) -> Shape:
        """The shape of a patch at this level."""
        axes = len(self.variable.grid.shape)
        chunks = self.variable.chunks
        return tuple(max(1, n >> self.number) for n in chunks[:axes]) + chunks[axes:]

    def __dask_tokenize__(self) -> Any:
        return self.variable.__dask_tokenize__() + (self.number,)

    def __reduce__(self) -> Any:
        return Level, (self.variable, self.number)

    def __repr__(self) -> str:
        return "<level %d of %r: %s %s, %s>" % (self.number, self.variable.path, self.shape, self.dtype,
                                                bytes_text(self.nbytes))


def check_level(level: int, levels: int) -> int:
    try:
        level = operator.index(level)
    except TypeError:
        raise TypeError("a level is a whole number, not %r" % (level,)) from None
    if not 0 <= level < levels:
        raise IndexError("there is no level %d; there are 0 to %d" % (level, levels - 1))
    return level


def read_index(variable: Variable, key: Any, base: int) -> Any:
    """variable[key], with indices of level 'base'."""
    axes = len(variable.grid.shape)
    shape = lattice(variable.grid.shape, base) + variable.shape[axes:]
    plan = _index.parse(key, shape)
    if isinstance(plan, np.ndarray):
        bounds = _index.mask_bounds(plan)
        if bounds is None:
            return np.empty(0, variable.dtype)
        return read_index(variable, bounds, base)[plan[bounds]]
    full = tuple(one.length for one in plan)
    result = np.empty(full, variable.dtype)
    if result.size:
        with variable.grid._source.borrow(variable._number) as session:
            read_plan(variable, plan, base, result, variable._reader(session))
    return finish(result, plan)


def finish(result: np.ndarray, plan: Sequence[Any]) -> Any:
    """What was read as an index asks for it: lists in their order, and without the axes of
    numbers."""
    for axis, one in enumerate(plan):
        if isinstance(one, _index.Some) and one.order is not None:
            result = np.take(result, one.order, axis=axis)
    kept = tuple(n for n, one in zip(result.shape, plan) if not isinstance(one, _index.Span) or one.keep)
    return result.reshape(kept) if kept else result.reshape(())[()]


def read_plan(variable: Variable, plan: Sequence[Any], base: int, result: np.ndarray, read: Reader,
              before: int = 0) -> None:
    """Carry out a plan of level 'base', reading a coarser one if that has all. With 'before' = 1
    the first axis of 'result' is that of steps, which are read together."""
    axes = len(variable.grid.shape)
    more = 0 if variable.averages else _index.coarsest(plan[:axes], variable.levels - 1 - base)
    level = base + more
    all_steps = (slice(None),) * before
    view = result[all_steps + tuple(slice(None, None, -1) if isinstance(one, _index.Span) and one.reverse
                                    else slice(None) for one in plan)]
    values = variable.shape[axes:]
    components: Any = ()
    if values:
        parts = _index.parts_of(plan[axes], 0, values[0])
        one = parts[0]
        if len(parts) > 1 or one.pick is not None or one.high - one.low < values[0]:
            picks = [np.arange(p.low, p.high) if p.pick is None else np.arange(p.low, p.high)[p.pick] for p in parts]
            components = (np.concatenate(picks),)
    for parts in _index.boxes(plan[:axes], more, [max(1, n >> base) for n in variable.grid.patch]):
        low = [one.low << level for one in parts]
        high = [(one.high - 1 << level) + 1 for one in parts]
        into = view[all_steps + tuple(one.into for one in parts)]
        if all(one.pick is None for one in parts) and not components:
            read(level, low, high, into, 0)
            continue
        shape = tuple(one.high - one.low for one in parts) + values
        for first, some in few_steps(into, before, shape):
            found = np.empty(some.shape[:before] + shape, variable.dtype)
            read(level, low, high, found, first)
            for axis, one in enumerate(parts):
                if one.pick is not None:
                    found = found[(slice(None),) * (before + axis) + (one.pick,)]
            some[...] = found[(Ellipsis,) + components] if components else found


def few_steps(into: np.ndarray, before: int, shape: Shape) -> Iterator[Tuple[int, np.ndarray]]:
    """An array for steps, as arrays for so few of them that boxes of this shape are not large
    together; and where these begin."""
    if not before:
        yield 0, into
        return
    many = max(1, BATCH_BYTES // max(1, into.itemsize * int(np.prod(shape, dtype=np.int64))))
    for first in range(0, len(into), many):
        yield first, into[first:first + many]
