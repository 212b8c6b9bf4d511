"""Exceptions: a class for each status of the library.

Each is a BoumaError, and also what Python programs expect: an InvalidError is a
ValueError, a FileError an OSError.

>>> import bouma
>>> try:
...     bouma.open("nowhere.bouma")
... except FileNotFoundError as error:
...     print(type(error).__name__, error.status_name, error.rank)
MissingFileError ENOTFOUND None
"""
import re
from typing import Dict, Optional, Type

from . import _api


class BoumaError(Exception):
    """A call of the library has failed.

    The text is the library's message. 'status' is its number, as bouma.EINVAL;
    'rank' the rank that failed, if the message is about one of several."""

    status: int = 0

    def __init__(self, message: str, status: Optional[int] = None):
        super().__init__(message)
        self.message = message
        if status is not None:
            self.status = status
        found = re.match(r"rank (\d+)\b", message)
        self.rank: Optional[int] = int(found.group(1)) if found else None

    def __str__(self) -> str:
        return self.message

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return type(self), (self.message, self.status)

    @property
    def status_name(self) -> str:
        """The name of the status: 'EINVAL'."""
        return _api.STATUSES.get(self.status, str(self.status))


class InvalidError(BoumaError, ValueError):
    """EINVAL: a wrong argument."""


class OutOfMemoryError(BoumaError, MemoryError):
    """ENOMEM: out of memory."""


class FileError(BoumaError, OSError):
    """EIO: a file could not be read or written."""


class FormatError(BoumaError):
    """EFORMAT: not a bouma file, or a damaged one."""


class VersionError(BoumaError):
    """EVERSION: written by a newer version."""


class NotFoundError(BoumaError, KeyError):
    """ENOTFOUND: there is no such thing."""


class MissingFileError(NotFoundError, FileNotFoundError):
    """ENOTFOUND: there is no such dataset."""


class ExistsError(BoumaError, FileExistsError):
    """EEXISTS: it exists already."""


class MismatchError(BoumaError, ValueError):
    """EMISMATCH: the ranks disagree."""


class CoverError(BoumaError, ValueError):
    """ECOVER: blocks overlap or are missing."""


class BusyError(BoumaError, BlockingIOError):
    """EBUSY: another writer is at work."""


class LimitError(BoumaError, ValueError):
    """ELIMIT: beyond a limit."""


class StateError(BoumaError, RuntimeError):
    """ESTATE: not allowed at this point."""


class ClosedError(StateError, ValueError):
    """ESTATE: the dataset is closed."""


class AbortedError(BoumaError, RuntimeError):
    """EABORTED: aborted by the caller."""


class CommunicationError(BoumaError, ConnectionError):
    """ECOMM: message passing failed."""


class NoSpaceError(BoumaError, OSError):
    """ENOSPC: no space left."""


class LibraryError(BoumaError, ImportError):
    """The shared library cannot be used: it is missing, of another version, or
    built with another MPI."""


_NAMES: Dict[str, Type[BoumaError]] = {
    "EINVAL": InvalidError, "ENOMEM": OutOfMemoryError, "EIO": FileError, "EFORMAT": FormatError,
    "EVERSION": VersionError, "ENOTFOUND": NotFoundError, "EEXISTS": ExistsError, "EMISMATCH": MismatchError,
    "ECOVER": CoverError, "EBUSY": BusyError, "ELIMIT": LimitError, "ESTATE": StateError,
    "EABORTED": AbortedError, "ECOMM": CommunicationError, "ENOSPC": NoSpaceError,
}
CLASSES: Dict[int, Type[BoumaError]] = {
    status: _NAMES.get(name, BoumaError) for status, name in _api.STATUSES.items() if status
}
for _status, _class in CLASSES.items():
    if _class is not BoumaError:
        _class.status = _status


# What the library advises to do in C, as it is done here.
ADVICE: Dict[str, str] = {
    "set the array's 'convert' to BOUMA_CONVERT_ROUND": "say round=True",
    "call bouma_step_begin() first": "use 'with ds.step(...)'",
    "call bouma_step_end() or bouma_step_abort() first": "leave its 'with' block first",
    "use bouma_variable_put_copy()": "say copy=True",
    "use bouma_particles_put_copy()": "say copy=True",
    "set the option 'replace' to write it again": "open the dataset with replace=True to write it again",
    "free it and open it again": "ds.refresh() sees that",
    "open it to append, or replace it with the option 'clobber'":
        "bouma.append() to it, or replace it with clobber=True",
}


def error_of(status: int, message: str, missing_file: bool = False) -> BoumaError:
    """The exception for a status and a message."""
    for here, there in ADVICE.items():
        message = message.replace(here, there)
    kind = CLASSES.get(status, BoumaError)
    if kind is NotFoundError and missing_file:
        kind = MissingFileError
    return kind(message or _api.STATUSES.get(status, str(status)), status)
