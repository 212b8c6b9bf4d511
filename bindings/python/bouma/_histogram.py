"""Histograms of particles and grids: exact, within a budget, or from the index alone."""
import ctypes as c
from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _api
from ._budget import Budget, limit_of
from ._types import fitting, many, new

_BASES = {value: name[len("BOUMA_BASIS_"):].lower() for name, value in _api.CONSTANTS.items()
          if name.startswith("BOUMA_BASIS_")}

Bins = Union[int, Sequence[float], np.ndarray]


class Histogram:
    """How many values are in each bin, and how well that is known.

    'counts' has a number for each bin, 'edges' one more: the ends of the bins. The true
    count of a bin is from 'lower' to 'upper', always; 'error' is the standard error of
    'counts'. 'basis' tells what they come from: 'exact', all values; 'sample', those of
    coarse levels; 'index', no values at all, only bitmaps and ranges.

    'below' and 'above' are (lower, upper, estimate) of what the bins leave out, 'total'
    that of all values, NaN included. 'points' and 'bytes' are what was looked at and read,
    'level' is the finest level of that, or None, 'limit' what ended it, 'next_bytes' what
    one level more takes. 'label' is the text of the axis: 'T in K'.

    >>> import bouma
    >>> p = bouma.open(example)[-1].coal
    >>> h = p.histogram("T", bins=4)
    >>> int(h.counts.sum()), h.exact
    (1000, True)
    >>> h = p.histogram("T", bins=4, exact=False)
    >>> h.basis, h.points, bool((h.lower <= h.upper).all())
    ('index', 0, True)
    """

    def __init__(self, label: str, bins: Any, about: Any):
        def column(name: str, dtype: Any) -> np.ndarray:
            return np.array([getattr(one, name) for one in bins], dtype)

        def three(one: Any) -> Tuple[int, int, float]:
            return one.lower, one.upper, one.estimate

        self.label = label
        self.basis = _BASES[about.basis]
        self.edges = np.append(column("low", float), bins[-1].high)
        self.lower, self.upper = column("lower", np.uint64), column("upper", np.uint64)
        self.counts = column("lower", np.int64) if self.exact else column("estimate", float)
        self.error = column("error", float)
        self.below, self.above, self.total = three(about.below), three(about.above), three(about.all)
        self.level: Optional[int] = about.level if about.level >= 0 else None
        self.points: int = about.points
        self.bytes: int = about.bytes
        self.limit = limit_of(about.limit)
        self.next_bytes: int = about.next_bytes

    @property
    def exact(self) -> bool:
        """True if all values were counted."""
        return self.basis == "exact"

    @property
    def centers(self) -> np.ndarray:
        """The middle of each bin."""
        return (self.edges[:-1] + self.edges[1:]) / 2

    def plot(self, *, ax: Any = None, **more: Any) -> Any:
        """Draw it with matplotlib: steps, and what is not known exactly: a band from
        'lower' to 'upper', and bars of two standard errors.

        'ax' are axes to draw on; 'more' goes to matplotlib's stairs(), whose result is
        returned.

        >>> import bouma
        >>> steps = bouma.open(example)[-1].coal.histogram("T", max_points=200).plot()
        >>> steps.axes.get_xlabel(), steps.axes.get_ylabel()
        ('T in K', 'count')
        """
        from ._plot import plot_histogram

        return plot_histogram(self, ax, more)

    def __repr__(self) -> str:
        return "<bouma histogram of %s: %d bins from %g to %g, %s>" % (
            self.label, len(self.counts), self.edges[0], self.edges[-1], self.basis)


class Wanted(NamedTuple):
    """A bouma_histogram_spec, what it points to, and the limits, or None."""

    spec: Any
    edges: Any
    budget: Optional[Any]

    def run(self, session: Any, function: Any, handle: Any, where: Any, label: str) -> Histogram:
        """'where' is a query or a box, by reference, or None."""
        bins, about = many("bouma_bin", self.spec.bins), new("bouma_histogram")
        limits = None if self.budget is None else c.byref(self.budget)
        session.check(function(c.byref(about), bins, handle, c.byref(self.spec), where, limits))
        return Histogram(label, bins, about)


def wanted(bins: Bins, range: Optional[Tuple[float, float]], component: int, exact: Optional[bool],
           budget: Budget) -> Wanted:
    """What is asked for. Without limits all values are read, or with exact=False none."""
    limited = budget != Budget()
    if exact and limited:
        raise TypeError("exact=True reads all values: it takes neither max_bytes nor max_points")
    spec, edges = new("bouma_histogram_spec"), None
    spec.component = fitting(component, "int", "component")
    spec.index_only = int(exact is False and not limited)
    if np.ndim(bins):
        if range is not None:
            raise TypeError("bins that are edges take no range")
        ends = np.ascontiguousarray(bins, float).ravel()
        edges = (c.c_double * len(ends))(*ends)
        spec.bins, spec.edges = max(0, len(ends) - 1), c.addressof(edges)
    else:
        spec.bins = fitting(bins, "size_t", "bins")
    if range is not None:
        spec.low, spec.high = float(range[0]), float(range[1])
        if spec.low == spec.high:  # as NumPy has it
            spec.low, spec.high = spec.low - 0.5, spec.high + 0.5
    return Wanted(spec, edges, budget.struct() if limited else None)


def component_of(name: str, component: Optional[int], components: int) -> int:
    """The component that is counted: of a vector one must be given."""
    if component is None and components > 1:
        raise TypeError("%s has %d components: a histogram is of one of them, component=0 to %d"
                        % (name, components, components - 1))
    component = component or 0
    if not 0 <= component < components:
        raise IndexError("%s has the components 0 to %d" % (name, components - 1))
    return component


def with_component(name: str, component: int, components: int, unit: str) -> str:
    """The label of the values."""
    from ._plot import with_unit

    return with_unit(name if components == 1 else "%s[%d]" % (name, component), unit)
