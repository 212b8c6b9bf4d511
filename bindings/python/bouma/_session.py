"""Open handles of a dataset that is read, for any number of threads.

A handle of the library is used by one thread at a time. So a Source, which is one
dataset, has as many sessions as threads read at once: each is a dataset handle with
the steps that were opened from it. A thread takes a free session, one that has the
step if there is such, or opens one more, and gives it back. With a communicator there
is one session, for its calls are collective."""
import contextlib
import ctypes as c
import itertools
import os
import threading
import weakref
from collections import OrderedDict, deque
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Set, Tuple

from . import _library
from ._types import callback, constant, new, text
from .errors import BoumaError, ClosedError, error_of

OPEN_FILES = 256  # of the steps that are kept in this process; those used longest ago are freed first
FILES_OF_STEP = 64  # that the library has open at once, however many there are
FREE_SESSIONS = 64  # that wait to be used again; each has two open files


def open_files() -> int:
    """How many files steps may hold: a part of those that the process may open."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return OPEN_FILES if limit == resource.RLIM_INFINITY else min(OPEN_FILES, limit // 4)


_sources: List[Any] = []  # weak references to all that there are


def live_sources() -> List["Source"]:
    """The sources whose sessions are this process's own."""
    found = (one() for one in _sources[:])
    return [one for one in found if one is not None and one.comm is None and one.process == os.getpid()]


@contextlib.contextmanager
def failing_together(comm: Any, call: str) -> Iterator[None]:
    """What fails here, before the collective 'call' that opens a dataset, fails that call on
    all ranks: they would wait for this one."""
    try:
        yield
    except Exception:
        if comm is not None:
            library, handle = _library.parallel(comm), c.c_void_p()
            getattr(library, call + "_fint")(c.byref(handle), comm.py2f(), b"", None)  # no path, which is refused
            library.bouma_dataset_free(handle)
        raise


def close_together(library: Any, handle: Any) -> int:
    """Close a dataset. Ranks that are in another call have failed there, since this one
    closes; they will close it, too, and then all do."""
    while True:
        rc: int = library.bouma_dataset_close(handle)
        if rc != constant("EMISMATCH"):
            return rc


class Options:
    """A bouma_options with what it points to."""

    def __init__(self, library: Any, options: Dict[str, Any]):
        self.struct = new("bouma_options")
        self.kept: List[Any] = []
        self.failed: List[BaseException] = []  # in a function that C called
        message = c.create_string_buffer(1024)
        for name, value in options.items():
            if value is None:
                continue
            if name == "progress":
                self._progress(value)
                continue
            if isinstance(value, bool):
                value = "yes" if value else "no"
            raw = text(os.fsencode(value if isinstance(value, os.PathLike) else str(value)), "the option %r" % name)
            self.kept.append(raw)
            rc = library.bouma_options_set(c.byref(self.struct), text(name, "an option"), raw, message, len(message))
            if rc:
                raise error_of(rc, message.value.decode(errors="replace"))

    def _progress(self, function: Callable[[str, int, int], None]) -> None:
        if not callable(function):
            raise TypeError("progress is a function, not %r" % (function,))
        failed = self.failed

        def call(user: Any, what: bytes, done: int, total: int) -> None:
            try:
                function(what.decode(), done, total)
            except BaseException as error:  # C cannot pass it on
                failed.append(error)

        made = callback("bouma_options.progress")(call)
        self.kept.append(made)
        self.struct.progress = c.cast(made, c.c_void_p)

    def tell(self) -> None:
        """Raise what a function has raised that C called."""
        if self.failed:
            error = self.failed[0]
            self.failed.clear()
            raise error


class Session:
    """A dataset handle, with its open steps."""

    def __init__(self, library: Any, path: str, options: Dict[str, Any], comm: Any = None):
        self.library, self.comm = library, comm
        with failing_together(comm, "bouma_dataset_open"):
            self.options = Options(library, options)
            name = text(os.fsencode(path), "the path")
        self.handle = c.c_void_p()
        self.steps: "OrderedDict[int, Tuple[Any, Dict[Any, int]]]" = OrderedDict()
        self.files: Dict[int, int] = {}  # of the steps, at most,
        self.held = 0  # and in all
        self.process = os.getpid()
        self.generation = 0  # of the source, when this was opened or refreshed
        self.garbage: Deque[Tuple[Any, Any]] = deque()  # what to free, and by which call
        given = c.byref(self.options.struct)
        if comm is None:
            rc = library.bouma_dataset_open(c.byref(self.handle), name, given)
        else:
            rc = library.bouma_dataset_open_fint(c.byref(self.handle), comm.py2f(), name, given)
        if rc:
            error = error_of(rc, self.message(), missing_file=True)
            self.free()
            raise error

    def message(self) -> str:
        return (self.library.bouma_error_message(self.handle) or b"").decode(errors="replace")

    def check(self, rc: int) -> None:
        self.options.tell()
        if rc:
            raise error_of(rc, self.message())

    def fail(self, status: str = "ENOTFOUND") -> BoumaError:
        """What a call that returned NULL has left."""
        return error_of(constant(status), self.message())

    def step(self, number: int) -> Tuple[Any, Dict[Any, int]]:
        """A step, open, and its handles by name."""
        found = self.steps.get(number)
        if found is not None:
            self.steps.move_to_end(number)
            return found
        handle = c.c_void_p()
        self.check(self.library.bouma_step_open(c.byref(handle), self.handle, number))
        found = self.steps[number] = (handle, {})
        self.files[number] = 0
        record = new("bouma_record")
        self.check(self.library.bouma_step_record_get(c.byref(record), handle))
        self.files[number] = min(max(1, record.files), FILES_OF_STEP)
        self.held += self.files[number]
        if self.comm is None:  # with one, steps are opened together
            make_room(self)
        return found

    def trim(self, files: int, fewest: int) -> None:
        """Free the steps that were used longest ago, until they hold no more than so many files."""
        while self.held > files and len(self.steps) > fewest:
            number, (handle, _) = self.steps.popitem(last=False)
            self.held -= self.files.pop(number)
            self.library.bouma_step_free(handle)

    def object(self, number: int, kind: str, name: str) -> int:
        """The handle of a grid or of particles, as an address."""
        step, known = self.step(number)
        found = known.get((kind, name))
        if found is None:
            find = self.library.bouma_step_find_grid if kind == "grid" else self.library.bouma_step_find_particles
            found = find(step, text(name, "a name"))
            if not found:
                raise self.fail()
            known[kind, name] = found
        return found

    def variable(self, number: int, kind: str, name: str, variable: str) -> int:
        _, known = self.step(number)
        found = known.get((kind, name, variable))
        if found is None:
            owner = self.object(number, kind, name)
            library = self.library
            find = library.bouma_grid_find_variable if kind == "grid" else library.bouma_particles_find_variable
            found = find(owner, text(variable, "a name"))
            if not found:
                raise self.fail()
            known[kind, name, variable] = found
        return found

    def clear(self) -> None:
        """Free the steps."""
        self.files.clear()
        self.held = 0
        while self.steps:
            self.library.bouma_step_free(self.steps.popitem()[1][0])

    def refresh(self) -> None:
        """See what was written since; steps are opened again."""
        self.clear()
        self.check(self.library.bouma_dataset_refresh(self.handle))

    def sweep(self) -> None:
        """Free what other threads could not."""
        while True:
            try:
                call, handle = self.garbage.popleft()
            except IndexError:
                return
            call(handle)

    def free(self) -> None:
        self.sweep()
        self.clear()
        if self.handle:
            self.library.bouma_dataset_free(self.handle)
            self.handle = c.c_void_p()
        self.sweep()  # what came in between; whoever comes later sees that there is no handle


def make_room(session: Session, fewest: int = 1) -> None:
    """Free steps if those of this process hold too many files: those of 'session', but
    the 'fewest' that it needs, and then of sessions that nobody uses. A session keeps its
    share in any case."""
    sources = live_sources()
    most, everyone = open_files(), [one for source in sources for one in source.sessions.copy()]
    total = sum(one.held for one in everyone)
    if total <= most:
        return
    share = most // max(1, len(everyone))
    total -= session.held
    session.trim(max(share, most - total), fewest)
    total += session.held
    for source in sources:
        for other in source.free[:]:
            if total <= most:
                return
            if other.held > share:
                try:
                    source.free.remove(other)
                except ValueError:
                    continue  # another thread has it now
                total -= other.held
                other.trim(max(share, most - total), 0)
                total += other.held
                source.give_back(other)


class Borrowed:
    """A session in use: 'with source.borrow() as session'."""

    __slots__ = ("source", "number", "session")

    def __init__(self, source: "Source", number: Optional[int]):
        self.source, self.number = source, number

    def __enter__(self) -> Session:
        self.session = self.source.take(self.number)
        return self.session

    def __exit__(self, *_: Any) -> None:
        self.source.give(self.session)


class Held:
    """A session that a refinement keeps for its life: 'with held as session'. With a
    communicator it is the only one, and is taken for each call."""

    def __init__(self, source: "Source"):
        self.source, self.session = source, source.take()
        if source.comm is not None:
            source.lock.release()

    def __enter__(self) -> Session:
        if self.source.comm is not None:
            self.source.lock.acquire()
        return self.session

    def __exit__(self, *_: Any) -> None:
        if self.source.comm is not None:
            self.source.lock.release()

    def end(self, call: Any, handle: Any) -> None:
        """Free what needed the session, and give it back."""
        if self.source.comm is not None:
            self.source.discard(self.session, call, handle)
        elif self.session.process == os.getpid():
            call(handle)
            self.source.give(self.session)


class Source:
    """A dataset that is read: where it is, and its sessions."""

    def __init__(self, path: str, options: Dict[str, Any], comm: Any = None):
        self.path, self.options, self.comm = path, options, comm
        self.closed = False
        self.library = _library.serial() if comm is None else _library.parallel(comm)
        self.process = os.getpid()
        self.free: List[Session] = []  # append, pop, remove and copies are whole for other threads
        self.sessions: Set[Session] = set()  # free or in use
        self.generation, self.generations = 0, itertools.count(1)  # another one with each refresh
        self.lock = threading.RLock()  # of the only session, with a communicator
        _sources.append(weakref.ref(self, lambda one: _sources.remove(one)))
        self.give(self.take())

    def take(self, number: Optional[int] = None) -> Session:
        """A session for this thread; one with step 'number' open, if one is free."""
        if self.closed:
            raise ClosedError("the dataset %s is closed" % self.path)
        if self.comm is not None:
            self.lock.acquire()
            try:
                return self._only()
            except BaseException:
                self.lock.release()
                raise
        if self.process != os.getpid():  # a child: the handles are the parent's
            self.process, self.free = os.getpid(), []
            self.sessions = set()
        generation = self.generation
        session = self._free_one(number)
        if session is None:
            session = Session(self.library, self.path, self.options)
            session.generation = generation
            self.sessions.add(session)
        if session.generation != generation:  # it was in use, or free, when others were refreshed
            try:
                session.refresh()
            except BaseException:
                self.give(session)
                raise
            session.generation = generation
        return session

    def _free_one(self, number: Optional[int]) -> Optional[Session]:
        """A free session, which others may take while this one looks."""
        if number is not None:
            for session in self.free[:]:
                if number in session.steps:
                    try:
                        self.free.remove(session)
                        return session
                    except ValueError:
                        pass  # another thread was faster
        try:
            return self.free.pop()
        except IndexError:
            return None

    def _only(self) -> Session:
        """The session, with a communicator; this thread has the lock."""
        if self.closed:  # while it was waited for
            raise ClosedError("the dataset %s is closed" % self.path)
        if not self.free:
            self.free.append(Session(self.library, self.path, self.options, self.comm))
        return self.free[0]

    def give(self, session: Session) -> None:
        if session.process != os.getpid():
            return  # the parent has it
        session.sweep()
        if self.comm is not None:
            self.lock.release()
            return
        if self.closed or len(self.free) >= FREE_SESSIONS:
            self.sessions.discard(session)
            session.free()
            return
        make_room(session, fewest=0)
        self.give_back(session)

    def give_back(self, session: Session) -> None:
        """Let others take a session, unless there is more to do."""
        self.free.append(session)
        if session.garbage or self.closed:  # came in between
            try:
                self.free.remove(session)
            except ValueError:
                return  # another thread has it, and will see to it
            self.give(session)

    def borrow(self, number: Optional[int] = None) -> Borrowed:
        return Borrowed(self, number)

    def discard(self, session: Session, call: Any, handle: Any) -> None:
        """Free something that belongs to a session which others may use now. Called
        by finalizers, on any thread."""
        if session.process != os.getpid():
            return
        session.garbage.append((call, handle))
        if self.comm is not None:
            if self.lock.acquire(blocking=False):
                session.sweep()
                self.lock.release()
            return
        try:
            self.free.remove(session)
        except ValueError:
            if session.handle.value is None:  # it was freed
                session.sweep()
            return
        self.give(session)

    def refresh(self) -> Borrowed:
        """A session that sees what was written since. All others will, too, when they
        are taken next."""
        if self.comm is None:
            self.generation = next(self.generations)
        else:
            with self.borrow() as session:
                session.refresh()
        return self.borrow()

    def close(self) -> None:
        if self.closed:
            return
        if self.comm is not None and self.process == os.getpid():
            with self.lock:  # another thread may read
                self.closed = True
                while self.free:
                    session = self.free.pop()
                    close_together(session.library, session.handle)
                    session.free()
            return
        self.closed = True
        if self.process != os.getpid():
            return
        while self.free:
            try:
                session = self.free.pop()
            except IndexError:
                break
            self.sessions.discard(session)
            session.free()

    def __del__(self) -> None:
        # With a communicator this would be collective, and no two ranks collect
        # their garbage at the same moment.
        try:
            if self.comm is None:
                self.close()
        except Exception:  # the interpreter ends
            pass
