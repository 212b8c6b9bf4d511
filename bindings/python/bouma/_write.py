"""Writing datasets: grids from NumPy arrays of any strides, particles from dicts or
structured arrays, alone or with the ranks of mpi4py."""
import atexit
import ctypes as c
import functools
import operator
import os
import threading
import warnings
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, cast

import numpy as np

from . import _library
from ._array import as_array, borrowable, box_of, describe, parse_box
from ._attributes import Attributes
from ._columns import columns_of
from ._names import unknown
from ._session import Options, close_together, failing_together
from ._types import DTYPES, checked, choice, constant, fitting, many, new, parse_dtype, text, type_number
from .errors import ClosedError, StateError, error_of

Path = Union[str, "os.PathLike[str]"]
Lengths = Union[int, Sequence[int]]
Positions = Union[float, Sequence[float]]


def create(path: Path, comm: Any = None, **options: Any) -> "Writer":
    """Create a dataset. 'comm' is a communicator of mpi4py, whose ranks all call this.

    'options' are those of bouma_options: clobber=True replaces a dataset,
    durability="fast" does not wait for the disk, files=4 writes four files a step.

    >>> import bouma, numpy as np
    >>> with bouma.create("plate.bouma", clobber=True) as ds:
    ...     plate = ds.grid("plate", shape=(64, 64), spacing=(0.1, 0.1), unit="m")
    ...     heat = plate.variable("heat", "f8", unit="K", tolerance=1e-3)
    ...     for i in range(3):
    ...         with ds.step(i, time=0.1 * i):
    ...             heat.put(np.full((64, 64), 300.0 + i))
    >>> round(float(bouma.open("plate.bouma")[-1].plate.heat[5, 5]), 2)
    302.0
    """
    return Writer("create", path, comm, options)


def append(path: Path, comm: Any = None, like: Optional[int] = None, **options: Any) -> "Writer":
    """Open a dataset to write more steps.

    With 'like', what that step has (-1: the last one) is defined already: find it
    by grid() and particles().

    >>> import bouma, numpy as np
    >>> with bouma.append(example, like=-1) as ds:
    ...     with ds.step(30, time=0.3) as step:
    ...         step["flow/density"] = np.zeros((32, 32, 32), "f4")
    >>> bouma.open(example).steps
    array([ 0, 10, 20, 30])
    """
    writer = Writer("append", path, comm, options)
    if like is not None:
        try:
            writer.like(like)
        except BaseException:
            writer.close()
            raise
    return writer


Method = TypeVar("Method", bound=Callable[..., Any])


def alone(method: Method) -> Method:
    """A method of something that is written, for one thread at a time: they all use one
    handle of the library."""

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        with self._lock:
            return method(self, *arguments, **named)

    return cast(Method, call)


class Defined(NamedTuple):
    """What a writer knows of a grid or of particles. A GridWriter or ParticlesWriter keeps
    its writer, and not the other way round: a writer that nobody has ends at once."""

    kind: Any  # GridWriter or ParticlesWriter
    handle: Any
    variables: Dict[str, Any]  # their handles; of particles, with their components


class Writer:
    """A dataset that is written.

    Define grids, particles and their variables, then write steps. After a failure
    that is raised here, the dataset can still be used. 'path' and 'comm' are those that
    it was opened with. Close it, or use it by 'with': one that is left open is closed when
    the program ends, but not with ranks."""

    def __init__(self, kind: str, path: Path, comm: Any, options: Dict[str, Any]):
        self.comm = comm
        self._library = library = _library.serial() if comm is None else _library.parallel(comm)
        self._lock = threading.RLock()
        self._handle = c.c_void_p()
        with failing_together(comm, "bouma_dataset_" + kind):
            self.path = os.fspath(path)
            self._options = Options(library, options)
            name, given = text(os.fsencode(path), "the path"), c.byref(self._options.struct)
        self._kept: List[Any] = []  # arrays that the step has borrowed
        self._defined: Dict[str, Defined] = {}
        self._liked = False  # things are defined that are not in _defined
        self._step: Optional["StepWriter"] = None
        self._next: Optional[int] = 0 if kind == "create" else None
        self._process = os.getpid()
        if comm is None:
            rc = getattr(library, "bouma_dataset_" + kind)(c.byref(self._handle), name, given)
        else:
            call = getattr(library, "bouma_dataset_%s_fint" % kind)
            rc = call(c.byref(self._handle), comm.py2f(), name, given)
        if rc:
            error = error_of(rc, self._message(), missing_file=True)
            library.bouma_dataset_free(self._handle)
            self._handle = c.c_void_p()
            raise error
        self._options.tell()
        if comm is None:
            _unclosed.add(self)

    def _message(self) -> str:
        return (self._library.bouma_error_message(self._handle) or b"").decode(errors="replace")

    def _check(self, rc: int) -> None:
        """Raise what failed. One process has then been told, and the next step does not
        fail because of it; with ranks it must, for the others do not know yet."""
        if rc:
            error = error_of(rc, self._message())
            if self.comm is None:
                self._library.bouma_dataset_clear_failures(self._handle)
            raise error
        self._options.tell()

    def _open(self) -> Any:
        if not self._handle:
            raise ClosedError("the dataset %s is closed" % self.path)
        if self._foreign():
            raise StateError("the dataset %s is written by process %d, and not by its children"
                             % (self.path, self._process), constant("ESTATE"))
        return self._handle

    def _foreign(self) -> bool:
        """True in a child that was forked: files and locks are the parent's."""
        return self._process != os.getpid()

    # Definitions.

    @alone
    def grid(self, name: str, shape: Optional[Lengths] = None, *, origin: Optional[Positions] = None,
             spacing: Optional[Positions] = None, unit: Optional[str] = None, patch: Optional[Lengths] = None,
             levels: int = 0, layout: Optional[str] = None, **more: Any) -> "GridWriter":
        """Define a grid; without a shape, find one that is defined. Axes are in C order,
        the last one is x. One number for 'origin', 'spacing' or 'patch' is that of each
        axis; one for 'shape' makes a grid of one axis. 'more' are the other fields of bouma_grid_spec."""
        if name in self._defined and shape is None:
            return self._again(name, GridWriter)
        handle = c.c_void_p()
        if shape is None:
            self._check(self._library.bouma_dataset_find_grid(c.byref(handle), self._open(), text(name, "a name")))
            return self._remember(name, GridWriter, handle)
        lengths = shape if isinstance(shape, Sequence) else np.atleast_1d(shape).tolist()
        spec = new("bouma_grid_spec", ndims=len(lengths), levels=levels, layout=choice("bouma_layout", layout))
        if not 1 <= len(lengths) <= 3:
            raise ValueError("a grid has 1 to 3 axes, not %d" % len(lengths))
        for field, values in (("shape", lengths), ("origin", origin), ("spacing", spacing), ("patch", patch)):
            fill(spec, field, values, len(lengths))
        set_fields("bouma_grid_spec", spec, dict(more, unit=unit))
        self._check(self._library.bouma_grid_define(c.byref(handle), self._open(), text(name, "a name"), c.byref(spec)))
        return self._remember(name, GridWriter, handle)

    @alone
    def particles(self, name: str, ndims: Optional[int] = None, *, dtype: Any = None, unit: Optional[str] = None,
                  codec: Optional[str] = None, tolerance: float = 0.0, **more: Any) -> "ParticlesWriter":
        """Define a set of particles with positions of 'ndims' coordinates of type 'dtype'
        ("f4", if it is not given); without 'ndims', find one that is defined. 'more' are the other fields of
        bouma_particles_spec."""
        if name in self._defined and ndims is None:
            return self._again(name, ParticlesWriter)
        handle = c.c_void_p()
        if ndims is None:
            self._check(self._library.bouma_dataset_find_particles(c.byref(handle), self._open(), text(name, "a name")))
            return self._remember(name, ParticlesWriter, handle)
        spec = new("bouma_particles_spec", ndims=ndims, codec=choice("bouma_codec", codec), tolerance=tolerance,
                   type=0 if dtype is None else type_number(parse_dtype(dtype)))
        set_fields("bouma_particles_spec", spec, dict(more, unit=unit))
        self._check(self._library.bouma_particles_define(c.byref(handle), self._open(), text(name, "a name"), c.byref(spec)))
        return self._remember(name, ParticlesWriter, handle)

    def _remember(self, name: str, kind: Any, handle: Any) -> Any:
        known = Defined(kind, handle, {})
        made = kind(self, name, known)
        self._defined[name] = known
        return made

    def _again(self, name: str, kind: Any) -> Any:
        known = self._defined[name]
        if known.kind is not kind:
            raise TypeError("%r is %s" % (name, "a grid" if kind is ParticlesWriter else "a set of particles"))
        self._open()  # or the handle is gone
        return kind(self, name, known)

    @alone
    def like(self, step: int = -1) -> "Writer":
        """Define what a committed step has. Collective."""
        self._check(self._library.bouma_define_like(self._open(), fitting(step, "int64_t", "a step")))
        self._liked = True
        return self

    @property
    def attrs(self) -> Attributes:
        """Attributes of the dataset: ds.attrs["code"] = "heat 1.2"."""
        return Attributes(self._library, lambda: self._library.bouma_dataset_attributes(self._open()), self._check,
                          self._lock)

    # Steps.

    def step(self, number: Optional[int] = None, time: Optional[float] = None) -> "StepWriter":
        """A step, to be used by 'with': its end writes and commits it. The number is one
        more than the last one, if it is not given, and the time is the number.
        Collective."""
        if number is None:
            number = self._next_number()
        number = fitting(number, "int64_t", "the number of a step")
        return StepWriter(self, number, float(number if time is None else time))

    @alone
    def _next_number(self) -> int:
        if self._next is None:
            info = new("bouma_step_info")
            rc = self._library.bouma_dataset_last_step(c.byref(info), self._open())
            if rc and rc != constant("ENOTFOUND"):
                self._check(rc)
            self._next = 0 if rc else info.step + 1
        return self._next

    def write(self, data: Any, step: Optional[int] = None, time: Optional[float] = None) -> None:
        """Write one step with all of 'data': {"flow/density": array, "coal": {"position":
        ..., "T": ...}}. What is not defined yet is defined as the arrays are."""
        with self.step(step, time) as one:
            for path, values in data.items():
                one[path] = values

    @alone
    def flush(self) -> None:
        """Make the steps of an unfinished group visible and durable. Collective."""
        self._check(self._library.bouma_dataset_flush(self._open()))

    @alone
    def wait(self) -> None:
        """Wait for a step that is still being stored (async=True). Collective."""
        self._check(self._library.bouma_dataset_wait(self._open()))

    @alone
    def truncate(self, step: int) -> None:
        """Drop all steps after 'step' (-1: all). Collective."""
        self._check(self._library.bouma_dataset_truncate(self._open(), fitting(step, "int64_t", "a step")))
        self._next = None

    @alone
    def delete(self, *steps: int) -> None:
        """Delete these steps for good. Collective."""
        numbers = (c.c_int64 * len(steps))(*(fitting(one, "int64_t", "a step") for one in steps))
        self._check(self._library.bouma_dataset_delete_steps(self._open(), numbers, len(steps)))
        self._next = None

    @property
    @alone
    def record(self) -> Dict[str, Any]:
        """What the last step has cost: bytes, files, seconds."""
        record = new("bouma_record")
        self._check(self._library.bouma_dataset_record_get(c.byref(record), self._open()))
        return {name: getattr(record, name) for name, _ in record._fields_ if name != "size"}

    @property
    @alone
    def notes(self) -> List[str]:
        """Remarks of the library, as on leftovers of a killed writer."""
        found: List[str] = []
        while True:
            note = self._library.bouma_dataset_note(self._open(), len(found))
            if note is None:
                return found
            found.append(note.decode(errors="replace"))

    def close(self) -> None:
        """Finish writing. Collective."""
        if self._foreign():
            self._handle = c.c_void_p()  # the parent's
            return
        with self._lock:
            if not self._handle:
                return
            rc = close_together(self._library, self._handle)
            error = error_of(rc, self._message()) if rc else None
            self._library.bouma_dataset_free(self._handle)
            self._handle = c.c_void_p()
            self._kept.clear()
        if error is not None:
            raise error
        self._options.tell()

    @property
    def closed(self) -> bool:
        """True if the dataset is closed."""
        return not self._handle

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            self.close()
        except Exception:
            if kind is None:  # else the first failure tells more
                raise

    def __del__(self) -> None:
        try:
            if self._handle and self.comm is None and not self._foreign():
                warnings.warn("the dataset %s was not closed" % self.path, ResourceWarning, source=self)
                self.close()
        except Exception:  # the interpreter ends
            pass

    def __reduce__(self) -> Any:
        raise TypeError("a dataset that is written cannot be copied or pickled: it has one writer")

    def __repr__(self) -> str:
        return "<bouma writer %r%s>" % (self.path, ", closed" if self.closed else "")


_unclosed: "weakref.WeakSet[Writer]" = weakref.WeakSet()


@atexit.register
def close_all() -> None:
    """Close what a program leaves open at its end, so that all steps are there. With ranks
    this would be collective, and not all may come here."""
    failed: List[Exception] = []
    for writer in list(_unclosed):
        try:
            writer.close()
        except Exception as error:  # the others are closed all the same
            failed.append(error)
    for more in failed[1:]:
        warnings.warn(str(more), RuntimeWarning)
    if failed:
        raise failed[0]


def fill(spec: Any, field: str, values: Any, count: int) -> None:
    if values is None:
        return
    if np.ndim(values) == 0:
        values = [values] * count  # the same along each axis
    if len(values) != count:
        raise ValueError("%s has %d numbers, and the grid %d axes" % (field, len(values), count))
    array = getattr(spec, field)
    for i, one in enumerate(values):
        array[i] = one if isinstance(array[i], float) else fitting(one, "int64_t", field)


def set_fields(name: str, spec: Any, more: Dict[str, Any]) -> None:
    """Fields of a spec by their names; choices by their texts."""
    from . import _api

    kinds = dict(_api.STRUCTS[name][3])
    for field, value in more.items():
        if field not in kinds or field == "size":
            raise TypeError("%s has no field %r; it has %s" % (name, field, ", ".join(k for k in kinds if k != "size")))
        kind = kinds[field]
        if kind in _api.TEXTS:
            value = choice(kind, value)
        setattr(spec, field, checked(name, field, value))


def define_variable(writer: Writer, define: Any, owner: Any, name: str, dtype: Any, options: Dict[str, Any]) -> Any:
    spec = new("bouma_variable_spec", type=type_number(parse_dtype(dtype)))
    options = dict(options)
    relative = options.pop("relative", None)
    if relative is not None:
        options.update(tolerance=relative, tolerance_kind=constant("TOLERANCE_RELATIVE"))
    set_fields("bouma_variable_spec", spec, {key: value for key, value in options.items() if value is not None})
    handle = c.c_void_p()
    writer._check(define(c.byref(handle), owner, text(name, "a name"), c.byref(spec)))
    return handle


def attributes_of(writer: Writer, kind: str, handle: Any) -> Attributes:
    """The attributes of something that is defined. Its handle ends with the dataset's."""
    def find() -> Any:
        writer._open()
        return getattr(writer._library, "bouma_%s_attributes" % kind)(handle)

    return Attributes(writer._library, find, writer._check, writer._lock)


class GridWriter:
    """A grid that is defined: its 'name' and 'shape', and the 'writer' it belongs to."""

    def __init__(self, writer: Writer, name: str, known: Defined):
        self.writer, self.name, self._handle, self._variables = writer, name, known.handle, known.variables
        self._lock = writer._lock
        info = new("bouma_grid_info")
        writer._check(writer._library.bouma_grid_info_get(c.byref(info), self._handle))
        self.shape: Tuple[int, ...] = tuple(info.shape[:info.ndims])

    @alone
    def variable(self, name: str, dtype: Any = None, *, components: int = 1, unit: Optional[str] = None,
                 codec: Optional[str] = None, tolerance: Optional[float] = None, relative: Optional[float] = None,
                 **more: Any) -> "VariableWriter":
        """Define a variable; without a type, find one that is defined. 'tolerance' is the
        largest error of any sample, 'relative' the same as a fraction of the range.
        'more' are the other fields of bouma_variable_spec."""
        writer = self.writer
        writer._open()
        if dtype is None:
            if name not in self._variables:
                handle = writer._library.bouma_grid_find_variable(self._handle, text(name, "a name"))
                if not handle:
                    writer._check(constant("ENOTFOUND"))
                self._variables[name] = handle
            return VariableWriter(self, name, self._variables[name])
        options = dict(more, components=components, unit=unit, codec=codec, tolerance=tolerance, relative=relative)
        handle = define_variable(writer, writer._library.bouma_variable_define, self._handle, name, dtype, options)
        self._variables[name] = handle
        return VariableWriter(self, name, handle)

    @property
    def attrs(self) -> Attributes:
        """Attributes of the grid."""
        return attributes_of(self.writer, "grid", self._handle)

    def __repr__(self) -> str:
        return "<bouma grid %r to be written: %s>" % (self.name, self.shape)


class VariableWriter:
    """A variable of a 'grid' that is defined: its 'name', 'dtype' and 'components'."""

    def __init__(self, grid: GridWriter, name: str, handle: Any):
        self.grid, self.name, self._handle = grid, name, handle
        writer = grid.writer
        info = new("bouma_variable_info")
        writer._check(writer._library.bouma_variable_info_get(c.byref(info), handle))
        self.components: int = info.components
        self.dtype = DTYPES[info.type]

    def put(self, array: Any, box: Any = None, *, at: Optional[Sequence[int]] = None, copy: bool = False,
            round: bool = False) -> None:
        """Hand over a block: the samples of 'box' (slices or pairs), or those from index
        'at' on; the whole grid, if neither is given. The array may have any strides and
        is used when the step ends: do not change it before, or say copy=True. Values
        of another type must be the same numbers in the variable's; with 'round' they
        become the nearest ones."""
        writer = self.grid.writer
        writer._open()
        values = borrowable(as_array(array, self.dtype))
        shape = values.shape[:-1] if self.components > 1 else values.shape
        if self.components > 1 and (not values.shape or values.shape[-1] != self.components):
            raise ValueError("%s/%s has %d components, which the last axis of the array must have; its shape is %s"
                             % (self.grid.name, self.name, self.components, values.shape))
        ends = self._ends(box, at, shape)
        wanted = tuple(high - low for low, high in ends)
        if shape != wanted:
            raise ValueError("the array has shape %s, and the box of %s/%s takes %s"
                             % (values.shape, self.grid.name, self.name,
                                wanted + ((self.components,) if self.components > 1 else ())))
        library = writer._library
        call = library.bouma_variable_put_copy if copy else library.bouma_variable_put_borrow
        given, where = describe(values, len(shape), exact=not round), box_of(*zip(*ends))
        with writer._lock:
            writer._open()
            writer._check(call(self._handle, c.byref(where), c.byref(given)))
            if not copy:
                writer._kept.append(values)

    def _ends(self, box: Any, at: Optional[Sequence[int]], shape: Sequence[int]) -> Sequence[Tuple[int, int]]:
        if at is None:
            return parse_box(box, self.grid.shape)
        if box is not None:
            raise TypeError("put() takes either a box or an index 'at'")
        if len(at) != len(self.grid.shape) or len(shape) != len(at):
            raise ValueError("the grid has %d axes; 'at' has %d, the array %d"
                             % (len(self.grid.shape), len(at), len(shape)))
        low = [operator.index(first) for first in at]
        return [(first, first + n) for first, n in zip(low, shape)]

    @property
    def attrs(self) -> Attributes:
        """Attributes of the variable."""
        return attributes_of(self.grid.writer, "variable", self._handle)

    def __repr__(self) -> str:
        return "<bouma variable '%s/%s' to be written: %s>" % (self.grid.name, self.name, self.dtype)


class ParticlesWriter:
    """A set of particles that is defined: its 'name' and 'ndims', and the 'writer' it
    belongs to."""

    def __init__(self, writer: Writer, name: str, known: Defined):
        self.writer, self.name, self._handle, self._variables = writer, name, known.handle, known.variables
        library, handle = writer._library, self._handle
        self._lock = writer._lock
        info = new("bouma_particles_info")
        writer._check(library.bouma_particles_info_get(c.byref(info), handle))
        self.ndims: int = info.ndims
        if not self._variables:
            for i in range(library.bouma_particles_variable_count(handle)):
                self._know(library.bouma_particles_variable(handle, i))
            self._know(library.bouma_particles_position(handle))

    def _know(self, handle: Any) -> None:
        info = new("bouma_variable_info")
        self.writer._check(self.writer._library.bouma_variable_info_get(c.byref(info), handle))
        self._variables[info.name.decode()] = (handle, info.components)

    @alone
    def variable(self, name: str, dtype: Any, *, components: int = 1, unit: Optional[str] = None,
                 codec: Optional[str] = None, tolerance: Optional[float] = None, **more: Any) -> "ParticlesWriter":
        """Define a variable of the particles; returns the set, so that calls can follow
        each other."""
        options = dict(more, components=components, unit=unit, codec=codec, tolerance=tolerance)
        self.writer._open()
        define = self.writer._library.bouma_particles_define_variable
        handle = define_variable(self.writer, define, self._handle, name, dtype, options)
        self._know(handle)
        return self

    def put(self, data: Any = None, *, copy: bool = False, round: bool = False, **columns: Any) -> None:
        """Hand over particles: a dict of arrays, a structured array or a DataFrame, or
        columns by their names. Positions are 'position', of shape (n, ndims), or x, y
        and z. Arrays are used when the step ends: do not change them before, or say
        copy=True."""
        writer = self.writer
        writer._open()
        given = columns_of(data, columns, self.ndims)
        for name in given:
            if name not in self._variables:
                there = ["%s/%s" % (self.name, one) for one in self._variables]
                raise unknown("variable", "%s/%s" % (self.name, name), there)
        if "position" not in given:
            raise ValueError("particles need a position: a column 'position', or %s" % ", ".join("xyz"[:self.ndims]))
        made = many("bouma_column", len(given))
        count, kept = None, []
        for column, (name, one) in zip(made, given.items()):
            handle, components = self._variables[name]
            n, array, keep = one.describe(name, components, not round)
            if count is not None and n != count:
                raise ValueError("the column %r has %d particles, the one before it %d" % (name, n, count))
            count = n
            column.variable, column.array = handle, c.addressof(array)
            kept.append((array, keep))
        library = writer._library
        call = library.bouma_particles_put_copy if copy else library.bouma_particles_put_borrow
        with writer._lock:
            writer._open()
            writer._check(call(self._handle, count, made, len(given), None))
            if not copy:
                writer._kept.append(kept)

    @property
    def attrs(self) -> Attributes:
        """Attributes of the set."""
        return attributes_of(self.writer, "particles", self._handle)

    def __repr__(self) -> str:
        return "<bouma particles %r to be written: %s>" % (self.name, ", ".join(self._variables))


class StepWriter:
    """A step that is written: with ds.step(number, time) as step.

    It has a 'number' and a 'time', and belongs to a 'writer'.

    The step is written and committed at the end of the block, and dropped if an
    exception leaves it; with ranks, all of them then get an AbortedError."""

    def __init__(self, writer: Writer, number: int, time: float):
        self.writer, self.number, self.time, self._lock = writer, number, time, writer._lock

    @alone
    def __enter__(self) -> "StepWriter":
        writer = self.writer
        writer._check(writer._library.bouma_step_begin(writer._open(), self.number, self.time))
        writer._step = self
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        writer = self.writer
        library = writer._library
        if writer._foreign() and kind is not None:
            return  # a child ends; the step is the parent's
        try:
            with writer._lock:
                if kind is not None:
                    library.bouma_step_abort(writer._open())
                else:
                    known, writer._next = writer._next, None  # an interrupt may come with the end
                    rc = library.bouma_step_end(writer._open())
                    writer._next = known if rc else self.number + 1
                    if rc:
                        raise error_of(rc, writer._message())
                    writer._options.tell()
        finally:
            if writer.comm is None and writer._handle and not writer._foreign():
                library.bouma_dataset_clear_failures(writer._handle)
            writer._kept.clear()
            writer._step = None

    @property
    def attrs(self) -> Attributes:
        """Attributes of the step."""
        library, writer = self.writer._library, self.writer
        return Attributes(library, lambda: library.bouma_dataset_step_attributes(writer._open()), writer._check,
                          writer._lock)

    def __repr__(self) -> str:
        return "<bouma step %d at time %g, to be written by 'with'>" % (self.number, self.time)

    def put(self, path: str, values: Any, box: Any = None, **more: Any) -> None:
        """Hand over a block of 'grid/variable', as VariableWriter.put() does; or particles,
        by the name of their set."""
        self._must_be_open()
        owner, slash, name = path.partition("/")
        if slash:
            self.writer.grid(owner).variable(name).put(values, box, **more)
        else:
            self.writer.particles(owner).put(values, **more)

    def _must_be_open(self) -> None:
        self.writer._open()
        if self.writer._step is not self:
            raise StateError("step %d is not being written; use 'with ds.step(...)'" % self.number,
                             constant("ESTATE"))

    def __setitem__(self, path: str, values: Any) -> None:
        """Hand over all of a variable, or particles. What is not defined yet is defined
        as the array is."""
        self._must_be_open()
        owner, slash, name = path.partition("/")
        if slash:
            self._define_grid(owner, name, values)
        else:
            self._define_particles(owner, values)
        self.put(path, values)

    @alone
    def _define_grid(self, owner: str, name: str, values: Any) -> None:
        writer = self.writer
        array = as_array(values)
        if not has(writer, owner, "grid"):
            writer.grid(owner, shape=array.shape)
        grid = writer.grid(owner)
        find = writer._library.bouma_grid_find_variable
        if name not in grid._variables and not (writer._liked and find(grid._handle, text(name, "a name"))):
            if writer._liked:
                writer._library.bouma_dataset_clear_failures(writer._open())
            extra = array.ndim - len(grid.shape)
            grid.variable(name, array.dtype, components=array.shape[-1] if extra == 1 else 1)

    @alone
    def _define_particles(self, name: str, values: Any) -> None:
        writer = self.writer
        given = columns_of(values, {}, None)
        if not has(writer, name, "particles"):
            if "position" not in given:
                raise ValueError("particles need a position: a column 'position', or x, y and z")
            position = given["position"]
            made = writer.particles(name, ndims=position.components, dtype=position.dtype)
            for one, column in given.items():
                if one != "position":
                    made.variable(one, column.dtype, components=column.components)


def has(writer: Writer, name: str, kind: str) -> bool:
    """Whether a grid or set is defined; looking does not fail the step."""
    if name in writer._defined or not writer._liked:
        return name in writer._defined
    library, handle = writer._library, c.c_void_p()
    find = library.bouma_dataset_find_grid if kind == "grid" else library.bouma_dataset_find_particles
    if find(c.byref(handle), writer._open(), text(name, "a name")):
        library.bouma_dataset_clear_failures(writer._open())
        return False
    return True
