"""Finds and loads the shared libraries: libbouma, and libbouma_mpi when a
communicator is given."""
import ctypes as c
import os
import re
import sys
from typing import Any, Dict, List, Optional

from . import _api
from ._types import argument, ctype
from .errors import LibraryError


class Library:
    """A shared library, with its functions as attributes. They have the types of
    the headers, and release the GIL while they run."""

    def __init__(self, path: str):
        self._path = path
        self._dll = c.CDLL(path)

    def __getattr__(self, name: str) -> Any:
        if name not in _api.FUNCTIONS:
            raise AttributeError("%s is no function of bouma" % name)
        try:
            call = getattr(self._dll, name)
        except AttributeError:
            raise LibraryError("%s has no %s: it is older than this package" % (self._path, name)) from None
        result, arguments = _api.FUNCTIONS[name]
        call.restype, call.argtypes = ctype(result), [argument(a) for a in arguments]
        setattr(self, name, call)
        return call


def folders() -> List[str]:
    """Where libraries are looked for: BOUMA_LIBRARY_PATH, the package (a wheel), and
    the folder that the build or the installation has them in."""
    here = os.path.dirname(os.path.abspath(__file__))
    listed = [one for one in os.environ.get("BOUMA_LIBRARY_PATH", "").split(os.pathsep) if one]
    return listed + [os.path.join(here, "lib"), os.path.normpath(os.path.join(here, _api.LIBRARIES))]


def find(name: str) -> str:
    """The path of a library, or just its name: the loader then looks for it."""
    suffix = ".dylib" if sys.platform == "darwin" else ".so"
    names = (["%s.%s.dylib" % (name, _api.ABI)] if suffix == ".dylib" else ["%s.so.%s" % (name, _api.ABI)])
    names.append(name + suffix)
    for folder in folders():
        for one in names:
            path = os.path.join(folder, one)
            if os.path.exists(path):
                return path
    return names[0]


def load(name: str) -> Library:
    path = find(name)
    try:
        library = Library(path)
    except OSError as error:
        hint = ""
        if name == "libbouma_mpi":
            hint = " It comes with a build of bouma with MPI, not with the wheel."
        raise LibraryError("%s cannot be loaded: %s.%s Set BOUMA_LIBRARY_PATH to its folder."
                           % (name, error, hint)) from None
    version = library.bouma_version().decode()
    if abi_of(version) != abi_of(_api.VERSION):
        raise LibraryError("%s is version %s, and this package is for %s" % (path, version, _api.VERSION))
    return library


def abi_of(version: str) -> str:
    """What must agree: the major version, or 0 and the minor one."""
    parts = version.split(".")
    return ".".join(parts[:2]) if parts[0] == "0" else parts[0]


_loaded: Dict[str, Library] = {}


def serial() -> Library:
    if "serial" not in _loaded:
        _loaded["serial"] = load("libbouma")
    return _loaded["serial"]


# Implementations of MPI with the same ABI: their handles are the same.
_MPICH = re.compile(r"mpich|mvapich|intel|cray", re.I)
_OPEN = re.compile(r"open ?mpi|ompi", re.I)


def family(text: str) -> Optional[str]:
    """The ABI that the name of an MPI stands for; None if it is not known."""
    if _OPEN.search(text):
        return "Open MPI"
    if _MPICH.search(text):
        return "MPICH"
    return None


def check_mpi(built: str, running: str) -> None:
    """LibraryError if a library that was built with one MPI cannot take
    communicators of the other."""
    theirs, ours = family(running), family(built)
    if built == "no":
        raise LibraryError("the library was built without MPI; build bouma with -DBOUMA_MPI=ON")
    if theirs is not None and ours is not None and theirs != ours:
        raise LibraryError(
            "the communicator is one of %s (mpi4py), but libbouma_mpi was built with %s. Use an mpi4py that is built "
            "with %s, or build bouma with the MPI of mpi4py and set BOUMA_LIBRARY_PATH to the folder of that "
            "libbouma_mpi." % (short_name(running), built, ours))


def short_name(running: str) -> str:
    """'MPICH 4.0.2', of the long text that an MPI has on itself."""
    return " ".join(running.split("\n")[0].split(",")[0].replace("Version:", "").split())


def parallel(comm: Any) -> Library:
    """libbouma_mpi; it must fit the MPI of mpi4py."""
    if not hasattr(comm, "py2f"):
        modes = "; to write, use bouma.create() or bouma.append()" if isinstance(comm, str) else ""
        raise TypeError("comm is a communicator of mpi4py, not %r%s" % (comm, modes))
    from mpi4py import MPI

    if not isinstance(comm, MPI.Comm):
        raise TypeError("comm is a communicator of mpi4py, not %r" % (comm,))
    if comm == MPI.COMM_NULL:
        raise ValueError("comm is MPI.COMM_NULL; ranks that have no communicator do not open the dataset")
    if "parallel" not in _loaded:
        if not MPI.Is_initialized() or MPI.Is_finalized():
            raise LibraryError("MPI is not running: import mpi4py.MPI first, and use bouma before MPI.Finalize()")
        library = load("libbouma_mpi")
        check_mpi(library.bouma_build_info(b"mpi").decode(), MPI.Get_library_version())
        _loaded["parallel"] = library
    return _loaded["parallel"]


def build_info() -> Dict[str, str]:
    """How the serial library was built: versions of what it uses, the compiler.

    >>> import bouma
    >>> sorted(bouma.build_info())[:3]
    ['compiler', 'hwloc', 'mpi']
    """
    library, i = serial(), 0
    found: Dict[str, str] = {}
    while True:
        name = library.bouma_build_field(i)
        if name is None:
            return found
        found[name.decode()] = library.bouma_build_info(name).decode()
        i += 1
