"""Particles: queries by box, value and quality, samples, histograms."""
import ctypes as c
import math
import operator
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, overload

import numpy as np

from ._attributes import read_all
from ._budget import Answer, Budget, next_particles, positive, query_within
from ._histogram import Bins, Histogram, component_of, wanted, with_component
from ._names import Names, unknown
from ._types import callback, constant, fitting, new, struct
from ._variable import Facts, get_from, range_of_all, read_ranges
from .errors import StateError

if TYPE_CHECKING:
    from ._dataset import Step

XYZ = ("x", "y", "z")


class Table(Dict[str, np.ndarray]):
    """Particles in memory: a dict of arrays, one for each variable."""

    @property
    def count(self) -> int:
        """The number of particles."""
        return len(next(iter(self.values()))) if self else 0

    def to_structured(self) -> np.ndarray:
        """A structured array with a field for each variable."""
        kind = [(name, array.dtype, array.shape[1:]) for name, array in self.items()]
        made = np.empty(self.count, kind)
        for name, array in self.items():
            made[name] = array
        return made

    def to_pandas(self) -> Any:
        """A DataFrame: positions as x, y and z, other components as 'velocity[0]'."""
        import pandas

        columns: Dict[str, np.ndarray] = {}
        for name, array in self.items():
            if array.ndim == 1:
                columns[name] = array
                continue
            for i in range(array.shape[1]):
                short = name == "position" and XYZ[i] not in self
                columns[XYZ[i] if short else "%s[%d]" % (name, i)] = array[:, i]
        return pandas.DataFrame(columns)


class Some(Table):
    """Particles within a budget: those that came with this call. 'answer' tells what they
    are, as do 'quality' (the fraction that has come so far) and 'complete'."""

    answer: Answer
    _rest: Any

    @property
    def quality(self) -> float:
        """About this fraction of the particles that match has come, by all calls."""
        return self.answer.quality

    @property
    def complete(self) -> bool:
        """True if all particles that match have come."""
        return self.answer.complete

    def __reduce__(self) -> Any:
        return Table, (dict(self),)  # the particles, without what could be refined

    def refine(self, limit: Optional[int] = None, max_bytes: Optional[int] = None) -> "Some":
        """The next particles, none of which came before; no byte is read twice. That is
        possible once: then refine what it has returned."""
        particles, refinement, names, budget, turn = self._rest
        if self.complete:
            empty = Some((name, array[:0]) for name, array in self.items())
            empty.answer, empty._rest = self.answer._replace(points=0, bytes=0), self._rest
            return empty
        budget = budget.changed(max_points=limit, max_bytes=max_bytes)
        limits = budget.struct(further=True)
        with refinement.lock:
            if not refinement.is_at(turn):
                raise StateError("the particles that follow these were returned before; refine the last ones",
                                 constant("ESTATE"))
            found: Some = next_particles(particles, refinement, names, budget, limits)
        return found


class Owned:
    """Particles that the library has allocated; they are freed with the last array."""

    def __init__(self, source: Any, session: Any, data: Any):
        self.source, self.session, self.data = source, session, data

    def __del__(self) -> None:
        try:
            self.source.discard(self.session, self.session.library.bouma_particle_data_free, self.data)
        except Exception:  # the interpreter ends
            pass


class Query:
    """A bouma_particles_query with what it points to."""

    def __init__(self, particles: "Particles", session: Any, box: Any, where: Optional[bytes],
                 columns: Sequence[str], start: float, quality: float):
        self.struct = new("bouma_particles_query", quality=quality, order=constant("COMPONENT_ORDER_INTERLEAVED"))
        setattr(self.struct, "from", start)
        if box is not None:
            self.box = particles._bounds(box)
            self.struct.box = c.addressof(self.box)
        self.struct.where = where
        self.variables = (c.c_void_p * len(columns))(*(particles._handle(session, name) for name in columns))
        self.struct.variables = c.addressof(self.variables)
        self.struct.variable_count = len(columns)

    def pointer(self) -> Any:
        return c.byref(self.struct)


class Column:
    """A variable of particles: its 'name' and 'dtype', its 'components', and the set of
    'particles' that it belongs to. Indexing it reads the values of all particles."""

    def __init__(self, particles: "Particles", name: str, facts: Facts):
        self.particles, self.name, self._facts = particles, name, facts
        self.dtype, self.components = facts.dtype, facts.components

    @property
    def path(self) -> str:
        """Its name in the step: 'coal/T'."""
        return "%s/%s" % (self.particles.name, self.name)

    @property
    def shape(self) -> Tuple[int, ...]:
        """(particles,) or (particles, components)."""
        return (self.particles.count,) + ((self.components,) if self.components > 1 else ())

    @property
    def unit(self) -> str:
        """The unit of the values, or ''."""
        return self._facts.unit

    @property
    def tolerance(self) -> float:
        """The largest error that was allowed; 0 if every bit is kept."""
        return self._facts.tolerance

    @property
    def codec(self) -> str:
        """How it is stored: 'zstd'."""
        return self._facts.codec

    @property
    def stored_bytes(self) -> int:
        """Bytes in files."""
        return self._facts.stored_bytes

    @property
    def ranges(self) -> List[Tuple[Any, Any]]:
        """The lowest and the highest value of each component, without reading values."""
        if not self._facts.present:
            return [(None, None)] * self.components
        with self.particles._source.borrow(self.particles.step.number) as session:
            return read_ranges(session.library, self.particles._handle(session, self.name), self.components)

    @property
    def range(self) -> Tuple[Any, Any]:
        """The lowest and the highest value, without reading values."""
        return range_of_all(self.ranges)

    @property
    def attrs(self) -> Dict[str, Any]:
        """Its attributes."""
        with self.particles._source.borrow(self.particles.step.number) as session:
            handle = self.particles._handle(session, self.name)
            return read_all(session.library, session.library.bouma_variable_attributes(handle))

    def __getitem__(self, key: Any) -> Any:
        """The values of all particles, in the order of query()."""
        return self.particles.query(columns=[self.name])[self.name][key]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        array = self[...]
        return array if dtype is None else array.astype(dtype, copy=False)

    def __len__(self) -> int:
        return self.particles.count

    def __reduce__(self) -> Any:
        return get_from, (self.particles, self.name)

    def __repr__(self) -> str:
        unit = " in %s" % self.unit if self.unit else ""
        step = self.particles.step.number
        return "<bouma variable %r of step %d: %s %s%s>" % (self.path, step, self.shape, self.dtype, unit)


class Particles(Names[Column]):
    """A set of particles in one step: a mapping of its variables by name.

    There are 'count' particles with positions of 'ndims' coordinates in 'unit', within
    'bounds': a pair for each axis, x first. 'strays' are those among them whose position
    is not finite. 'levels' is how often they are refined. The set has a 'name' in its 'step'.

    >>> import bouma
    >>> p = bouma.open(example)[-1].particles["coal"]
    >>> p.count, list(p)
    (1000, ['position', 'T', 'type'])
    >>> some = p.query(box=[(0, 0.5), (0, 1), (0, 1)], where="T > 300 & type == 2")
    >>> bool((some["T"] > 300).all() and (some["position"][:, 0] < 0.5).all())
    True
    >>> p.sample(100, seed=1).count
    100
    """

    _what = "variable"

    def __init__(self, step: "Step", name: str):
        self.step, self.name = step, name
        self._source: Any = step._source
        with self._source.borrow(step.number) as session:
            library = session.library
            handle = session.object(step.number, "particles", name)
            info = new("bouma_particles_info")
            session.check(library.bouma_particles_info_get(c.byref(info), handle))
            self.unit: str = (info.unit or b"").decode()  # a text of the session
            self._variables: Dict[str, Facts] = {}
            some = [library.bouma_particles_position(handle)]
            some += [library.bouma_particles_variable(handle, i) for i in range(info.variables)]
            for one in some:
                facts = Facts(library, one)
                if facts.present or not info.count:  # a step without particles stores no variable
                    self._variables[facts.name] = facts
        self.ndims: int = info.ndims
        self.count: int = info.count
        self.strays: int = info.strays
        self.levels: int = info.levels
        self.bounds: List[Tuple[float, float]] = [(info.low[i], info.high[i]) for i in range(info.ndims)]

    def _names(self) -> Sequence[str]:
        return list(self._variables)

    def _find(self, name: str) -> Column:
        if name not in self._variables:
            raise unknown("variable", "%s/%s" % (self.name, name), ["%s/%s" % (self.name, v) for v in self._variables],
                          self.step.number)
        return Column(self, name, self._variables[name])

    def _handle(self, session: Any, name: str) -> Any:
        return session.variable(self.step.number, "particles", self.name, name)

    @property
    def attrs(self) -> Dict[str, Any]:
        """The attributes of the set."""
        with self._source.borrow(self.step.number) as session:
            handle = session.object(self.step.number, "particles", self.name)
            return read_all(session.library, session.library.bouma_particles_attributes(handle))

    # Queries.

    def _bounds(self, box: Any) -> Any:
        """A bouma_bounds: a slice or a pair for each axis, x first, or a dict by axis."""
        if isinstance(box, dict):
            for name in box:
                if name not in XYZ[:self.ndims]:
                    raise unknown("axis", name, XYZ[:self.ndims])
            box = [box.get(name) for name in XYZ[:self.ndims]]
        if isinstance(box, str):
            raise TypeError("a box has a pair for each axis; conditions are given as where=%r" % box)
        if len(box) != self.ndims:
            raise ValueError("the box has %d axes, and the particles %d" % (len(box), self.ndims))
        bounds = struct("bouma_bounds")(axes=constant("AXES_XYZ"))
        for i, one in enumerate(box):
            if isinstance(one, slice) and one.step is not None:
                raise ValueError("a slice of positions has no step: axis %s" % XYZ[i])
            try:
                low, high = (one.start, one.stop) if isinstance(one, slice) else (None, None) if one is None else one
            except (TypeError, ValueError):
                raise ValueError("axis %s of a box is a slice or a pair of numbers, not %r" % (XYZ[i], one)) from None
            bounds.low[i] = -math.inf if low is None else low
            bounds.high[i] = math.inf if high is None else high
        return bounds

    def _columns(self, columns: Optional[Sequence[str]]) -> List[str]:
        if columns is None:
            return list(self._variables)
        if isinstance(columns, str):
            columns = [columns]
        columns = list(columns)
        for name in columns:
            self._find(name)
        if not columns:
            raise ValueError("columns is empty; name a variable, or leave it out to get all of them")
        return columns

    def _where(self, where: Optional[str]) -> Optional[bytes]:
        """The text of conditions, for C."""
        if where is not None and not isinstance(where, str):
            raise TypeError("where is a text of conditions, such as 'T > 300', not %r" % (where,))
        if where is None or not where.strip():
            return None
        if "\0" in where:
            raise ValueError("where has a character that no text can have, '\\0'")
        return where.encode()

    @overload
    def query(self, box: Any = None, where: Optional[str] = None, *, quality: float = 1.0, start: float = 0.0,
              columns: Optional[Sequence[str]] = None) -> Table:
        ...

    @overload
    def query(self, box: Any = None, where: Optional[str] = None, *, quality: float = 1.0, start: float = 0.0,
              columns: Optional[Sequence[str]] = None, limit: int, max_bytes: Optional[int] = None) -> Some:
        ...

    @overload
    def query(self, box: Any = None, where: Optional[str] = None, *, quality: float = 1.0, start: float = 0.0,
              columns: Optional[Sequence[str]] = None, max_bytes: int) -> Some:
        ...

    def query(self, box: Any = None, where: Optional[str] = None, *, quality: float = 1.0, start: float = 0.0,
              columns: Optional[Sequence[str]] = None, limit: Optional[int] = None,
              max_bytes: Optional[int] = None) -> Table:
        """The particles that match, as a dict of arrays.

        'box' has a pair or a slice for each axis, x first, or is a dict {"x": (0, 1)}; the
        high end is not included. 'where' has conditions: "T > 300 & (velocity[2] <= 0 |
        type != 2)"; NaN meets none, nor its negation. 'quality' is the fraction of the particles, 'start' one that
        was read before. The result has to_structured() and to_pandas().

        With 'limit' there are at most so many particles, evenly spread over all that match,
        and with 'max_bytes' no more than these are read; the result has quality,
        complete and refine(), which returns the next ones.

        >>> import bouma
        >>> p = bouma.open(example)[-1].coal
        >>> p.query(box={"x": (0, 0.5)}, quality=0.1, columns=["T"]).to_structured().dtype
        dtype([('T', '<f4')])
        """
        if not 0 <= start < quality <= 1:
            raise ValueError("qualities are 0 <= start < quality <= 1, not %g and %g" % (start, quality))
        if limit is None and max_bytes is None:
            return self._table("bouma_particles_read", box, where, columns, start, quality)
        if limit is not None:
            positive("limit", limit)
        names, text = self._columns(columns), self._where(where)
        found: Some = query_within(self, lambda session: Query(self, session, box, text, names, start, quality),
                                   names, Budget(max_bytes, limit))
        return found

    def restart(self, box: Any = None, where: Optional[str] = None,
                columns: Optional[Sequence[str]] = None) -> Table:
        """Give each rank the particles of its own box, or, without a box, an equal share.
        Each file is read by one rank. Collective."""
        if self._source.comm is not None:
            try:
                self._where(where)
                self._columns(columns)
                if box is not None:
                    self._bounds(box)
            except Exception:
                self._fail_together()
                raise
        return self._table("bouma_particles_restart", box, where, columns, 0.0, 1.0)

    def _fail_together(self) -> None:
        """Take part in a restart that fails, or the other ranks wait for this one."""
        query, data = new("bouma_particles_query", quality=-1.0), c.c_void_p()  # which is refused
        with self._source.borrow(self.step.number) as session:
            handle = session.object(self.step.number, "particles", self.name)
            session.library.bouma_particles_restart(c.byref(data), handle, c.byref(query))

    def sample(self, count: int, seed: int = 0, box: Any = None, where: Optional[str] = None,
               columns: Optional[Sequence[str]] = None) -> Table:
        """So many of the particles that match, none twice.

        A seed from 1 on gives a simple random sample, the same on any machine. Seed 0
        gives the even sample, which reads little more than it returns."""
        count, seed = operator.index(count), operator.index(seed)
        if count < 0 or seed < 0:
            raise ValueError("count and seed of a sample are not negative")
        count, seed = fitting(count, "uint64_t", "count"), fitting(seed, "uint64_t", "seed")
        return self._table("bouma_particles_sample", box, where, columns, 0.0, 1.0, (count, seed))

    def _table(self, call: str, box: Any, where: Optional[str], columns: Optional[Sequence[str]], start: float,
               quality: float, more: Tuple[Any, ...] = ()) -> Table:
        names, text = self._columns(columns), self._where(where)
        with self._source.borrow(self.step.number) as session:
            query = Query(self, session, box, text, names, start, quality)
            if call == "bouma_particles_restart" and box is None:
                query.struct.shares = 1
            data = c.c_void_p()
            handle = session.object(self.step.number, "particles", self.name)
            session.check(getattr(session.library, call)(c.byref(data), handle, query.pointer(), *more))
            return self._adopt(session, data, names)

    def _adopt(self, session: Any, data: Any, names: Sequence[str]) -> Table:
        """Particles that the library has allocated, as arrays that own them."""
        owned = Owned(self._source, session, data)
        found = struct("bouma_particle_data").from_address(data.value)
        count = found.count
        addresses: Any = (c.c_void_p * len(names)).from_address(found.columns) if names else []
        return Table((name, self._array(name, count, addresses[i], owned)) for i, name in enumerate(names))

    def _array(self, name: str, count: int, address: Any, owned: Any) -> np.ndarray:
        """An array on the values at an address, which keeps what they belong to."""
        facts = self._variables[name]
        shape = (count,) + ((facts.components,) if facts.components > 1 else ())
        bytes_ = count * facts.components * facts.dtype.itemsize
        if not bytes_:
            return np.empty(shape, facts.dtype)
        buffer: Any = (c.c_char * bytes_).from_address(address)
        buffer.owned = owned
        return np.frombuffer(buffer, facts.dtype).reshape(shape)

    def matches(self, box: Any = None, where: Optional[str] = None) -> int:
        """How many particles match: reads only what the conditions need."""
        if box is None and where is None:
            return self.count
        text = self._where(where)
        with self._source.borrow(self.step.number) as session:
            query = Query(self, session, box, text, [], 0.0, 1.0)
            count = c.c_uint64()
            handle = session.object(self.step.number, "particles", self.name)
            session.check(session.library.bouma_particles_count(c.byref(count), handle, query.pointer()))
        return count.value

    def progressive(self, box: Any = None, where: Optional[str] = None, columns: Optional[Sequence[str]] = None,
                    qualities: Sequence[float] = (0.01, 0.1, 0.3, 1.0)) -> Iterator[Tuple[Table, float]]:
        """From few to all: (new particles, quality). Each particle comes once, and each
        byte is read once.

        >>> import bouma
        >>> p = bouma.open(example)[-1].coal
        >>> sum(some.count for some, quality in p.progressive()) == p.count
        True
        """
        start = 0.0
        for quality in sorted(qualities):
            if quality > start:
                yield self.query(box, where, quality=quality, start=start, columns=columns), quality
                start = quality

    def each(self, function: Any, box: Any = None, where: Optional[str] = None, quality: float = 1.0,
             columns: Optional[Sequence[str]] = None) -> None:
        """Call 'function' with one Table after the other, until all particles that match
        have come: for sets that are larger than memory. It runs on this thread."""
        names, text = self._columns(columns), self._where(where)
        failed: List[BaseException] = []

        def call(_: Any, batch: Any) -> int:
            try:
                one = struct("bouma_batch").from_address(batch)
                addresses = (c.c_void_p * len(names)).from_address(one.columns)
                function(Table((name, self._array(name, one.count, addresses[i], None).copy())
                               for i, name in enumerate(names)))
                return 0
            except BaseException as error:  # C cannot pass it on
                failed.append(error)
                return 1

        each = callback("bouma_particles_query_run.each")(call)
        with self._source.borrow(self.step.number) as session:
            query = Query(self, session, box, text, names, 0.0, quality)
            handle = session.object(self.step.number, "particles", self.name)
            rc = session.library.bouma_particles_query_run(handle, query.pointer(), c.cast(each, c.c_void_p), None)
            if failed:
                raise failed[0]
            session.check(rc)

    def histogram(self, name: str, bins: Bins = 50, range: Optional[Tuple[float, float]] = None, *,
                  component: Optional[int] = None, box: Any = None, where: Optional[str] = None,
                  exact: Optional[bool] = None, max_bytes: Optional[int] = None,
                  max_points: Optional[int] = None) -> Histogram:
        """How many particles have which values of a variable.

        'bins' is their number, or the edges; the range is that of all values, which the
        step has on record, if nothing is said. All particles that match are counted. Of a
        vector, 'component' tells which of its numbers.

        With a budget - bytes read, particles looked at - the counts are estimated from as
        many levels of detail as it allows, with standard errors. With exact=False no
        particle is read: what the index tells of them gives bounds and an estimate.

        >>> import bouma
        >>> p = bouma.open(example)[-1].coal
        >>> h = p.histogram("T", bins=4, where="type == 2")
        >>> h.exact, int(h.counts.sum()) == p.matches(where="type == 2")
        (True, True)
        >>> h = p.histogram("T", bins=4, max_points=200)
        >>> h.basis, h.points <= 200, h.error.shape
        ('sample', True, (4,))
        """
        column, text = self[name], self._where(where)
        component = component_of(name, component, column.components)
        asked = wanted(bins, range, component, exact, Budget(max_bytes, max_points))
        with self._source.borrow(self.step.number) as session:
            query = Query(self, session, box, text, [], 0.0, 1.0)
            return asked.run(session, session.library.bouma_particles_histogram, self._handle(session, name),
                             query.pointer(), with_component(name, component, column.components, column.unit))

    def plot(self, color: Optional[str] = None, *, axes: Optional[str] = None, box: Any = None,
             where: Optional[str] = None, limit: int = 100_000, ax: Any = None, colorbar: bool = True,
             **more: Any) -> Any:
        """Draw the particles that match as points, with matplotlib.

        'color' is a variable, "T" or "velocity[2]"; of a vector the length counts.
        'axes' are those of the picture, "xy" if nothing is said; "xyz" draws in three
        dimensions. There are at most 'limit' points, evenly spread over all that match.
        'ax' are axes to draw on; 'more' goes to matplotlib's scatter(), whose result is
        returned.

        >>> import bouma
        >>> points = bouma.open(example)[-1].coal.plot("T", where="type == 2", limit=100)
        >>> len(points.get_offsets()), points.axes.get_ylabel()
        (100, 'y in m')
        """
        from ._plot import plot_particles

        return plot_particles(self, color, axes, {"box": box, "where": where, "limit": limit}, ax, colorbar, more)

    def __reduce__(self) -> Any:
        return get_from, (self.step, self.name)

    def __repr__(self) -> str:
        return "<bouma particles %r of step %d: %d, %s>" % (self.name, self.step.number, self.count,
                                                          ", ".join(self._variables))

    def _repr_html_(self) -> str:
        from ._html import particles_html

        return particles_html(self)
