"""bouma -- multiresolution storage for the grids and particles of simulations.

>>> import bouma
>>> ds = bouma.open(example)             # a dataset: the steps of a simulation
>>> v = ds[-1]["flow/density"]           # a variable of its last step
>>> v[10, :, ::4].shape                  # read just this
(32, 8)
>>> v.level(2)[...].shape                # every fourth sample
(8, 8, 8)
>>> hot = ds[-1].particles["coal"].query(where="T > 300 & type == 2")
>>> sorted(hot)
['T', 'position', 'type']

The package calls the shared library libbouma, or libbouma_mpi when a communicator of
mpi4py is given; there is nothing to compile.
"""
from typing import Any, List

from . import _api
from ._dataset import Dataset, Grid, Step
from ._dataset import open_dataset as open
from ._library import build_info
from ._variable import Level, Variable
from .errors import (AbortedError, BoumaError, BusyError, ClosedError, CommunicationError, CoverError, ExistsError,
                     FileError, FormatError, InvalidError, LibraryError, LimitError, MismatchError, MissingFileError,
                     NoSpaceError, NotFoundError, OutOfMemoryError, StateError, VersionError)

__version__ = _api.VERSION
# What a program that only reads grids does not need is imported when it is used.
_LATER = {"create": "_write", "append": "_write", "Writer": "_write", "Particles": "_particles", "Series": "_series",
          "from_xarray": "_xarray"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        found = getattr(import_module("." + _LATER[name], __name__), name)
        globals()[name] = found
        return found
    if name.isupper() and "BOUMA_" + name in _api.CONSTANTS:  # bouma.EINVAL
        return _api.CONSTANTS["BOUMA_" + name]
    raise AttributeError("module 'bouma' has no attribute %r" % name)


def __dir__() -> List[str]:
    return sorted([*__all__, *_LATER, "__version__", "errors"])


__all__ = [
    "AbortedError", "BoumaError", "BusyError", "ClosedError", "CommunicationError", "CoverError", "Dataset",
    "ExistsError", "FileError", "FormatError", "Grid", "InvalidError", "Level", "LibraryError", "LimitError",
    "MismatchError", "MissingFileError", "NoSpaceError", "NotFoundError", "OutOfMemoryError", "StateError", "Step",
    "Variable", "VersionError", "build_info", "open",
]
