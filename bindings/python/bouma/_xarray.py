"""bouma for xarray: an engine that opens datasets lazily, and the way there and back."""
import os
from typing import Any, Dict, Iterable, List, Optional, Tuple

import numpy as np
import xarray as xr
from xarray.backends.common import BackendArray, BackendEntrypoint
from xarray.core import indexing

from ._dataset import Dataset, Grid, open_dataset
from ._index import expand
from ._names import unknown
from ._series import Series

TIME = "time"


class LazyArray(BackendArray):
    """A variable over all steps, as xarray reads arrays."""

    def __init__(self, series: Series):
        self.series = series
        self.shape, self.dtype = tuple(series.shape), series.dtype

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, indexing.VectorizedIndexer):
            return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)
        return self._read(key.tuple)  # the adapter of older versions takes [::-3] for something else

    def _read(self, key: Tuple[Any, ...]) -> Any:
        lists = [axis for axis, one in enumerate(key) if isinstance(one, np.ndarray)]
        if len(lists) < 2:
            return self.series[key]
        # One list is read as it is; of the others, what lies around them.
        rest: List[Any] = [slice(None)] * len(key)
        some = list(expand(key, len(self.shape)))
        for axis in lists[1:]:
            low, high = (int(key[axis].min()), int(key[axis].max()) + 1) if len(key[axis]) else (0, 0)
            some[axis], rest[axis] = slice(low, high), key[axis] - low
        found = self.series[tuple(some)]
        kept = [one for one, given in zip(rest, key) if isinstance(given, (slice, np.ndarray))]
        for axis, one in enumerate(kept):
            if isinstance(one, np.ndarray):
                found = np.take(found, one, axis=axis)
        return found


def grid_of(ds: Dataset, group: Optional[str]) -> Optional[Grid]:
    """The grid of that name, or the only one; None if there is no step."""
    if not len(ds):
        return None
    step = ds[-1]
    grids = step.grids
    if group is None and len(grids) == 1:
        group = next(iter(grids))
    if group is None:
        raise ValueError("%s has the grids %s: give one of them as group=" % (ds.path, ", ".join(grids) or "none"))
    name = group.strip("/")
    if name not in grids:
        raise unknown("grid", name, list(grids), step.number)
    return grids[name]


def coordinates(ds: Dataset, grid: Grid, level: int) -> Dict[str, xr.Variable]:
    """Times, numbers of steps, and the positions of samples."""
    found = {TIME: xr.Variable((TIME,), ds.times, {"standard_name": "time"}),
             "step": xr.Variable((TIME,), ds.steps, {"long_name": "number of the step"})}
    for dim, values in grid.coords_of(level).items():
        attrs = {"axis": dim.upper()}
        if grid.unit:
            attrs["units"] = grid.unit
        found[dim] = xr.Variable((dim,), values, attrs)
    return found


def variable_of(ds: Dataset, grid: Grid, name: str, level: int) -> xr.Variable:
    """A variable over time, lazily. Its chunks are patches, one step each."""
    series = Series(ds, "%s/%s" % (grid.name, name), level)
    v = series.variable
    attrs = dict(v.attrs)
    if v.unit:
        attrs.setdefault("units", v.unit)
    chunks = (1,) + tuple(min(n, p) for n, p in zip(series.shape[1:], v.chunks))
    encoding = {"preferred_chunks": dict(zip(series.dims, chunks)), "chunksizes": chunks, "source": ds.path,
                "dtype": series.dtype}
    return xr.Variable(series.dims, indexing.LazilyIndexedArray(LazyArray(series)), attrs, encoding)


def as_xarray(ds: Dataset, group: Optional[str] = None, level: int = 0, drop_variables: Any = None,
              chunks: Any = None) -> xr.Dataset:
    """A grid of a dataset, at one level, over all steps; lazily."""
    made = lazy(ds, group, level, drop_variables)
    if chunks is None:
        return made
    if chunks == {}:  # patches, as xr.open_dataset() takes them
        return made.assign({name: one.chunk(one.encoding["preferred_chunks"]) for name, one in made.items()})
    return made.chunk(chunks)


def lazy(ds: Dataset, group: Optional[str], level: int, drop_variables: Any) -> xr.Dataset:
    grid = grid_of(ds, group)
    if grid is None:
        return xr.Dataset(attrs=ds.attrs)
    if not 0 <= level < grid.levels:
        raise ValueError("grid %r has no level %d; there are 0 to %d" % (grid.name, level, grid.levels - 1))
    drop: Iterable[str] = [drop_variables] if isinstance(drop_variables, str) else drop_variables or ()
    variables = {name: variable_of(ds, grid, name, level) for name in grid if name not in drop}
    coords = {name: one for name, one in coordinates(ds, grid, level).items() if name not in drop}
    attrs = dict(ds.attrs)
    attrs.update(grid.attrs)
    attrs.update({"grid": grid.name, "level": level})
    return xr.Dataset(variables, coords, attrs)


class BoumaBackendEntrypoint(BackendEntrypoint):
    """xr.open_dataset("run.bouma", engine="bouma", group="flow", level=2)"""

    description = "Open bouma datasets (.bouma) in xarray"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "group", "level", "options")

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: Any = None,
                     group: Optional[str] = None, level: int = 0,
                     options: Optional[Dict[str, Any]] = None) -> xr.Dataset:
        ds = open_dataset(os.fspath(filename_or_obj), **(options or {}))
        made = as_xarray(ds, group, level, drop_variables)
        made.set_close(ds.close)
        return made

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        try:
            path = os.fspath(filename_or_obj)
        except TypeError:
            return False
        return isinstance(path, str) and (path.rstrip("/").endswith(".bouma")
                                          or os.path.isfile(os.path.join(path, "DATASET")))

    def open_groups_as_dict(self, filename_or_obj: Any, *, drop_variables: Any = None,
                            group: Optional[str] = None,
                            options: Optional[Dict[str, Any]] = None) -> Dict[str, xr.Dataset]:
        """A group for each level of each grid: /flow/0, /flow/1, ..."""
        ds = open_dataset(os.fspath(filename_or_obj), **(options or {}))
        root = xr.Dataset(attrs=ds.attrs)
        root.set_close(ds.close)
        found = {"/": root}
        names = ([] if not len(ds) else list(ds[-1].grids)) if group is None else [group.strip("/")]
        for name in names:
            grid = grid_of(ds, name)
            assert grid is not None
            found["/" + name] = xr.Dataset(attrs=grid.attrs)
            for level in range(grid.levels):
                found["/%s/%d" % (name, level)] = as_xarray(ds, name, level, drop_variables)
        return found

    def open_datatree(self, filename_or_obj: Any, **kwargs: Any) -> Any:
        """The same as a tree; needs xarray.DataTree."""
        if not hasattr(xr, "DataTree"):
            raise NotImplementedError("this version of xarray has no DataTree; open each level by itself: "
                                      "xr.open_dataset(path, engine='bouma', group=..., level=...)")
        return xr.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **kwargs))


def from_xarray(data: Any, path: Any, group: str = "grid", *, codec: Optional[str] = None, tolerance: Any = None,
                levels: int = 0, patch: Any = None, **options: Any) -> None:
    """Write an xarray.Dataset or DataArray as a new dataset: a step for each time.

    The axes of all variables are 'time', which may be missing, then up to three of
    space in the same order, and perhaps 'component'. Data of one time, as
    isel(time=2) gives them, are one step at that time. Coordinates of space must be
    evenly spaced. 'tolerance' is that of all variables, or a dict by name; 'options' are
    those of bouma.create(). With Dask arrays, one step at a time is computed.

    >>> import bouma, numpy, xarray
    >>> a = xarray.DataArray(numpy.ones((2, 8, 8)), dims=("time", "y", "x"), name="T",
    ...                      coords={"x": numpy.arange(8) / 8})
    >>> bouma.from_xarray(a, "new.bouma", group="plate")
    >>> bouma.open("new.bouma")[1]["plate/T"].shape
    (8, 8)
    """
    from ._write import create

    if isinstance(data, xr.DataArray):
        data = data.to_dataset(name=data.name or "data")
    axes = space_of(data)
    shape = tuple(data.sizes[dim] for dim in axes)
    origin, spacing = zip(*(spaced(data, dim) for dim in axes))
    units = {data[dim].attrs.get("units") for dim in axes if dim in data.coords} - {None}
    with create(path, **options) as out:
        for name, value in data.attrs.items():
            if name not in ("grid", "level"):
                out.attrs[name] = value
        grid = out.grid(group, shape, origin=origin, spacing=spacing, levels=levels, patch=patch,
                        unit=units.pop() if len(units) == 1 else None)
        made = {}
        for name, one in data.data_vars.items():
            made[name] = grid.variable(str(name), one.dtype, components=int(one.sizes.get("component", 1)),
                                       unit=one.attrs.get("units"), codec=codec,
                                       tolerance=tolerance.get(name) if isinstance(tolerance, dict) else tolerance)
            for key, value in one.attrs.items():
                if key != "units":
                    made[name].attrs[key] = value
        for number, time, step in steps_of(data):
            with out.step(number, time=time):
                for name, writer in made.items():
                    one = step[name].transpose(*axes, *(["component"] if "component" in step[name].dims else []))
                    writer.put(one.values, copy=True)


def space_of(data: xr.Dataset) -> Tuple[Any, ...]:
    """The axes of space that all variables share."""
    found = {tuple(dim for dim in one.dims if dim not in (TIME, "component")) for one in data.data_vars.values()}
    if len(found) != 1:
        raise ValueError("the variables have different axes: %s; write them to grids of their own"
                         % "; ".join(sorted(", ".join(map(str, one)) for one in found)))
    axes = found.pop()
    if not 1 <= len(axes) <= 3:
        raise ValueError("a grid has 1 to 3 axes of space, not %d: %s" % (len(axes), ", ".join(map(str, axes))))
    return axes


def spaced(data: xr.Dataset, dim: Any) -> Tuple[float, float]:
    """The first coordinate and the distance to the next."""
    if dim not in data.coords:
        return 0.0, 1.0
    values = data.coords[dim].values.astype(float)
    if len(values) < 2:
        return float(values[0]) if len(values) else 0.0, 1.0
    step = (values[-1] - values[0]) / (len(values) - 1)
    even = values[0] + step * np.arange(len(values))
    if step == 0 or not np.allclose(values, even, rtol=1e-6, atol=1e-6 * abs(step)):
        raise ValueError("the coordinates of axis %r are not evenly spaced; drop them, or store them as an attribute"
                         % (dim,))
    return float(values[0]), float(step)


def steps_of(data: xr.Dataset) -> Iterable[Tuple[int, float, xr.Dataset]]:
    """The number, the time and the variables of each step. Without an axis of time there is
    one step, at the time and with the number that isel(time=2) leaves."""
    axis = (TIME,) if TIME in data.dims else ()
    count = data.sizes[TIME] if axis else 1
    times, numbers = np.arange(count), np.arange(count)
    timed = TIME in data.coords and data[TIME].dims == axis
    if timed:
        times = np.atleast_1d(data[TIME].values)
    if times.dtype.kind in "mM":
        raise TypeError("the time of a step is a number; convert dates first, as to seconds since the first one")
    if (axis or timed) and "step" in data.coords and data["step"].dims == axis and data["step"].dtype.kind in "iu":
        numbers = np.atleast_1d(data["step"].values)  # else it is something else, as the lead time of a forecast
    for i, (number, time) in enumerate(zip(numbers, times)):
        yield int(number), float(time), data.isel({TIME: i}) if axis else data
