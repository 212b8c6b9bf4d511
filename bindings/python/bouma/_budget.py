"""Reading within a budget: the best answer for so many bytes or points, which says what
it is, and can be refined."""
import ctypes as c
import math
import os
import threading
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _api
from ._array import box_of
from ._session import Held
from ._types import fitting, new
from .errors import error_of

if TYPE_CHECKING:
    from ._particles import Particles
    from ._variable import Variable

_LIMITS: Dict[int, Optional[str]] = {value: name[len("BOUMA_LIMIT_"):].lower() for name, value in
                                     _api.CONSTANTS.items() if name.startswith("BOUMA_LIMIT_")}


def limit_of(number: int) -> Optional[str]:
    """What ended a call: 'bytes', 'points', 'error' or 'none'."""
    return _LIMITS.get(number)


def positive(name: str, value: Any) -> None:
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError("%s is a number, not %r" % (name, value))
    if not value > 0:
        raise ValueError("%s must be above 0, not %r" % (name, value))


class Budget(NamedTuple):
    """What one call may read and return; None: no limit."""

    max_bytes: Optional[int] = None
    max_points: Optional[int] = None
    max_error: Optional[float] = None

    def struct(self, further: bool = False) -> Any:
        """The limits for C, where 0 is none. What was opened may go 'further' with what it
        has read already: max_bytes=0, as 'next_bytes' of an answer can be."""
        made = new("bouma_budget")
        for name, value in zip(self._fields, self):
            if value is None:
                continue
            if name == "max_bytes" and value == 0 and further:
                value = 1
            positive(name, value)
            if name != "max_error" and not 1 <= value < math.inf:
                raise ValueError("%s is a number of bytes or points, not %r" % (name, value))
            if name == "max_error":
                made.error = float(value)
            else:
                setattr(made, name[len("max_"):], fitting(int(value), "uint64_t", name))
        return made

    def changed(self, **more: Any) -> "Budget":
        """The same with other limits, if any is given."""
        given = {name: value for name, value in more.items() if value is not None}
        return Budget(**given) if given else self


class Answer(NamedTuple):
    """What a call within a budget has given.

    'complete' is true if all is there; else there is the 'level' of a grid, or the
    'quality' of particles: the fraction that has come. 'points' and 'bytes' are what this
    call has returned and read, 'next_points' and 'next_bytes' what the next finer level
    takes. 'error' of level 0 is a bound ('error_is_bound'); of a coarser level it is how
    much that level has changed what the next coarser one tells. 'limit' is what ended
    the call: 'bytes', 'points', 'error', or 'none' if all is there."""

    complete: bool
    level: int
    quality: float
    points: int
    bytes: int
    error: float
    error_is_bound: bool
    limit: Optional[str]
    next_bytes: int
    next_points: int


def answer_of(answer: Any) -> Answer:
    return Answer(bool(answer.complete), answer.level, answer.quality, answer.points, answer.bytes, answer.error,
                  bool(answer.error_is_bound), limit_of(answer.limit), answer.next_bytes, answer.next_points)


class Refinement:
    """A refinement of the library, with the session that it needs. It goes forward only,
    and for one thread at a time: 'turn' tells how far it is, 'lock' is held to go on."""

    def __init__(self, source: Any, kind: str, ends: Sequence[Tuple[int, int]] = ()):
        self.held, self.kind, self.handle = Held(source), kind, c.c_void_p()
        self.ends, self.turn = ends, 0
        self.lock = threading.RLock()

    def is_at(self, turn: int) -> bool:
        """True if it can go on from that turn, in this process."""
        return self.turn == turn and self.held is not None and self.held.session.process == os.getpid()

    def end(self) -> None:
        if self.held is not None:
            library = self.held.session.library
            self.held.end(getattr(library, self.kind + "_free"), self.handle)
            self.held = None  # type: ignore[assignment]

    def __del__(self) -> None:
        try:
            self.end()
        except Exception:  # the interpreter ends
            pass


class Approximation:
    """A box of a variable at the finest level that a budget allows.

    An array for NumPy, and 'array' itself; 'answer' tells what it is, as do 'level' and
    'error'.

    >>> import bouma
    >>> v = bouma.open(example)[-1]["flow/density"]
    >>> a = v.read(max_points=1000)
    >>> a.level, a.array.shape, a.complete
    (2, (8, 8, 8), False)
    >>> while not a.complete:
    ...     a = a.refine(max_bytes=a.answer.next_bytes)
    >>> a.level, a.array.shape
    (0, (32, 32, 32))
    """

    def __init__(self, variable: "Variable", refinement: Any, array: np.ndarray, answer: Answer, budget: Budget):
        self.variable, self.array, self.answer = variable, array, answer
        self._refinement, self._turn, self._budget = refinement, refinement.turn, budget

    @property
    def level(self) -> int:
        """The level of the array."""
        return self.answer.level

    @property
    def error(self) -> float:
        """Its error: see Answer."""
        return self.answer.error

    @property
    def complete(self) -> bool:
        """True if it is level 0."""
        return self.answer.complete

    def refine(self, max_bytes: Optional[int] = None, max_points: Optional[int] = None,
               max_error: Optional[float] = None) -> "Approximation":
        """Go on within another budget, or the same one again. No byte is read twice; only
        what was refined before and is refined once more starts by reading its level."""
        if self.complete:
            return self
        budget = self._budget.changed(max_bytes=max_bytes, max_points=max_points, max_error=max_error)
        limits, refinement = budget.struct(further=True), self._refinement
        with refinement.lock:
            if refinement.is_at(self._turn):
                return further(self.variable, refinement, limits, budget)
        return further(self.variable, opened_at(self.variable, refinement.ends, self.level), limits, budget)

    def __reduce__(self) -> Any:
        raise TypeError("what can be refined cannot be pickled; pickle its array")

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype) if copy else np.asarray(self.array, dtype=dtype)

    def __repr__(self) -> str:
        kind = "at most" if self.answer.error_is_bound else "about"
        return "<%s at level %d: %s, error %s %.3g%s>" % (
            self.variable.path, self.level, self.array.shape, kind, self.error, ", complete" if self.complete else "")


def taken(variable: "Variable", refinement: Any, answer: Answer, budget: Budget) -> Approximation:
    """What a refinement has now; it ends if that is all."""
    array, _ = variable._refined(refinement.held.session.library, refinement.handle)
    if answer.complete:
        refinement.end()
    return Approximation(variable, refinement, array, answer, budget)


def further(variable: "Variable", refinement: Any, limits: Any, budget: Budget) -> Approximation:
    answer = new("bouma_answer")
    with refinement.held as session:
        session.check(session.library.bouma_refinement_next_within(c.byref(answer), refinement.handle,
                                                                   c.byref(limits)))
        refinement.turn += 1
        return taken(variable, refinement, answer_of(answer), budget)


def opened_at(variable: "Variable", ends: Sequence[Tuple[int, int]], level: int) -> Refinement:
    """A refinement that is at a level already."""
    refinement, box = Refinement(variable.grid._source, "bouma_refinement", ends), box_of(*zip(*ends))
    with refinement.held as session:
        session.check(session.library.bouma_refinement_open(c.byref(refinement.handle), variable._handle(session),
                                                            level, c.byref(box)))
    return refinement


def read_within(variable: "Variable", ends: Sequence[Tuple[int, int]], budget: Budget) -> Approximation:
    answer, limits, box = new("bouma_answer"), budget.struct(), box_of(*zip(*ends))
    refinement = Refinement(variable.grid._source, "bouma_refinement", ends)
    with refinement.held as session:
        rc = session.library.bouma_refinement_open_within(c.byref(refinement.handle), c.byref(answer),
                                                          variable._handle(session), c.byref(box), c.byref(limits))
        session.check(rc)
        return taken(variable, refinement, answer_of(answer), budget)


def query_within(particles: "Particles", query: Any, names: Sequence[str], budget: Budget) -> Any:
    """The first particles of a query; 'query' makes it, for a session."""
    limits = budget.struct()
    refinement = Refinement(particles._source, "bouma_particles_refinement")
    with refinement.held as session:
        handle = session.object(particles.step.number, "particles", particles.name)
        made = query(session)
        rc = session.library.bouma_particles_refinement_open(c.byref(refinement.handle), handle, made.pointer())
        session.check(rc)
    return next_particles(particles, refinement, names, budget, limits)


def next_particles(particles: "Particles", refinement: Any, names: Sequence[str], budget: Budget, limits: Any) -> Any:
    from ._particles import Some

    answer, data = new("bouma_answer"), c.c_void_p()
    with refinement.lock, refinement.held as session:
        session.sweep()
        rc = session.library.bouma_particles_refinement_next(c.byref(data), c.byref(answer), refinement.handle,
                                                             c.byref(limits))
        if rc:
            raise error_of(rc, session.message())
        refinement.turn += 1
        table = Some(particles._adopt(session, data, names))
        table.answer, table._rest = answer_of(answer), (particles, refinement, names, budget, refinement.turn)
        if table.answer.complete:
            refinement.end()
    return table
