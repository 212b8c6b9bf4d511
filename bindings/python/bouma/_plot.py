"""Pictures with matplotlib: lines, planes and particles, with no more samples than the
figure has pixels."""
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._names import unknown
from ._variable import lattice

if TYPE_CHECKING:
    from ._histogram import Histogram
    from ._particles import Particles
    from ._variable import Variable


def axes_or_new(ax: Any, projection: Optional[str] = None) -> Any:
    """The axes that were given, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot() needs matplotlib: install python3-matplotlib, or pip install matplotlib",
                          name="matplotlib") from error
    if ax is not None:
        return ax
    return plt.figure(layout="constrained").add_subplot(projection=projection)


def pixels_of(ax: Any) -> Tuple[int, int]:
    """The width and the height of the axes."""
    box = ax.get_window_extent()
    return max(1, int(box.width)), max(1, int(box.height))


def with_unit(name: str, unit: str) -> str:
    """The text of an axis."""
    return "%s in %s" % (name, unit) if unit else name


def when(step: Any) -> str:
    return "step %d, time %g" % (step.number, step.time)


def position_of(v: "Variable", where: Dict[str, float]) -> Dict[str, float]:
    """Where a picture cuts a variable: the middle of z, if a grid has three axes and
    nothing else is said."""
    dims = v.grid.dims
    for name, one in where.items():
        if name not in dims:
            raise unknown("axis", name, dims)
        if isinstance(one, slice):
            raise TypeError("plot() takes one position along an axis: %s=0.5" % name)
    if not where and len(dims) == 3:
        return {"z": v.grid.origin[0] + v.grid.spacing[0] * (v.grid.shape[0] // 2)}
    left = len(dims) - len(where)
    if not 1 <= left <= 2:
        raise ValueError("a picture has one or two axes, not %d: give positions along the others, as z=0.5" % left)
    return where


def level_for(v: "Variable", axes: Sequence[int], points: int) -> int:
    """The finest level with so many samples along these axes; the coarsest, if none has."""
    for level in range(v.levels):
        if np.prod([lattice(v.grid.shape, level)[i] for i in axes], dtype=np.int64) <= points:
            return level
    return v.levels - 1


def cut(v: "Variable", where: Dict[str, float], level: int) -> Tuple[List[Tuple[int, int]], Dict[str, float]]:
    """The box of a cut, and where the samples lie that are nearest to it."""
    grid, box, found = v.grid, [], {}
    for axis, dim in enumerate(grid.dims):
        if dim not in where:
            box.append((0, grid.shape[axis]))
            continue
        index = grid._nearest(axis, float(where[dim]), level)
        box.append((index, index + 1))
        found[dim] = grid.origin[axis] + grid.spacing[axis] * index
    return box, found


def scalars(v: "Variable", array: np.ndarray, component: Optional[int]) -> Tuple[np.ndarray, str]:
    """One number for each sample, and its name: of a vector, its length."""
    if v.components == 1:
        if component not in (None, 0):
            raise IndexError("%s has no component %s" % (v.path, component))
        return array, v.name
    if component is None:
        return np.sqrt((array.astype("f8")**2).sum(axis=-1)), "|%s|" % v.name
    if not 0 <= component < v.components:
        raise IndexError("%s has the components 0 to %d" % (v.path, v.components - 1))
    return array[..., component], "%s[%d]" % (v.name, component)


def plot_variable(v: "Variable", where: Dict[str, float], level: Optional[int], component: Optional[int], ax: Any,
                  colorbar: bool, more: Dict[str, Any]) -> Any:
    """See Variable.plot()."""
    where = position_of(v, where)
    free = [i for i, dim in enumerate(v.grid.dims) if dim not in where]
    ax = axes_or_new(ax)
    if level is None:
        width, height = pixels_of(ax)
        points = width if len(free) == 1 else width * height
        level = level_for(v, free, points)
        box, found = cut(v, where, level)
        least = int(np.prod([lattice(v.grid.shape, level)[i] for i in free]))
        array = v.read(box, max_points=max(points, least)).array
    else:
        box, found = cut(v, where, level)
        array = v.read(box, level)
    values, name = scalars(v, array, component)
    values = values.reshape([values.shape[i] for i in free])
    texts = ["%s = %g%s" % (dim, at, " " + v.grid.unit if v.grid.unit else "") for dim, at in found.items()]
    texts = [v.path] + texts + [when(v.step)] + (["level %d" % level] if level else [])
    label = with_unit(name, v.unit)
    if len(free) == 1:
        made = draw_line(v, free[0], values, level, ax, label, more)
    else:
        made = draw_plane(v, free, values, level, ax, label if colorbar else None, more)
    ax.set_title(", ".join(texts), fontsize="medium")
    return made


def draw_line(v: "Variable", axis: int, values: np.ndarray, level: int, ax: Any, label: str,
              more: Dict[str, Any]) -> Any:
    dim = v.grid.dims[axis]
    line, = ax.plot(v.grid.coords_of(level)[dim], values, **more)
    ax.set_xlabel(with_unit(dim, v.grid.unit))
    ax.set_ylabel(label)
    return line


def draw_plane(v: "Variable", free: Sequence[int], values: np.ndarray, level: int, ax: Any, label: Optional[str],
               more: Dict[str, Any]) -> Any:
    """An image in which each sample is in the middle of its cell."""
    grid, extent = v.grid, []
    for axis, n in reversed(list(zip(free, values.shape))):
        step = grid.spacing[axis] * (1 << level)
        extent += [grid.origin[axis] - step / 2, grid.origin[axis] + (n - 0.5) * step]
    given = dict({"origin": "lower", "extent": extent, "interpolation": "nearest"}, **more)
    image = ax.imshow(values, **given)
    ax.set_xlabel(with_unit(grid.dims[free[1]], grid.unit))
    ax.set_ylabel(with_unit(grid.dims[free[0]], grid.unit))
    if label is not None:
        ax.figure.colorbar(image, ax=ax, label=label)
    return image


def column_of(p: "Particles", color: str) -> Tuple[str, Optional[int]]:
    """The variable, and the component, that a colour stands for: 'T', 'velocity[2]'."""
    name, bracket, rest = color.partition("[")
    if color in p or not bracket:
        return color, None
    digits = rest.rstrip("]")
    components = p[name].components
    if not digits.isdigit() or int(digits) >= components:
        raise IndexError("%s has the components 0 to %d, and no %r" % (name, components - 1, color))
    return name, int(digits)


def plot_particles(p: "Particles", color: Optional[str], axes: Optional[str], query: Dict[str, Any], ax: Any,
                   colorbar: bool, more: Dict[str, Any]) -> Any:
    """See Particles.plot()."""
    there = "xyz"[:p.ndims]
    axes = there[:2] if axes is None else axes
    for one in axes:
        if one not in there:
            raise unknown("axis", one, there)
    if len(axes) != len(set(axes)) or not (2 <= len(axes) <= 3 or p.ndims == len(axes) == 1):
        raise ValueError("axes are two or three different ones of %s, not %r" % (there, axes))
    name, component = column_of(p, color) if color is not None else (None, None)
    if name is not None:
        p[name]
    ax = axes_or_new(ax, "3d" if len(axes) == 3 else None)
    some = p.query(columns=list(dict.fromkeys(["position"] + ([name] if name else []))), **query)
    position = some["position"].reshape(some.count, p.ndims)
    points = [position[:, there.index(one)] for one in axes]
    if len(points) == 1:
        points.append(np.zeros(some.count))
    given: Dict[str, Any] = {"s": float(np.clip(2e4 / max(1, some.count), 0.5, 20)), "linewidths": 0}
    if name is not None and color is not None:
        values = some[name]
        if values.ndim > 1:
            values = np.sqrt((values.astype("f8")**2).sum(axis=1)) if component is None else values[:, component]
            color = color if component is not None else "|%s|" % name
        given["c"] = values
    made = ax.scatter(*points, **dict(given, **more))
    for one, set_label in zip(axes, (ax.set_xlabel, ax.set_ylabel, getattr(ax, "set_zlabel", None))):
        set_label(with_unit(one, p.unit))
    if len(axes) == 2:
        ax.set_aspect("equal")
    if name is not None and color is not None and colorbar:
        ax.figure.colorbar(made, ax=ax, label=with_unit(color, p[name].unit), pad=0.12 if len(axes) == 3 else 0.02)
    part = "%d" % some.count if some.count == p.count else "%d of %d" % (some.count, p.count)
    ax.set_title("%s, %s particles, %s" % (p.name, part, when(p.step)), fontsize="medium")
    return made


def plot_histogram(h: "Histogram", ax: Any, more: Dict[str, Any]) -> Any:
    """Steps; what is not known exactly as a band of bounds, and bars of errors."""
    ax = axes_or_new(ax)
    steps = ax.stairs(h.counts, h.edges, **more)
    color = steps.get_edgecolor()
    if not h.exact:
        ax.stairs(h.upper, h.edges, baseline=h.lower, fill=True, color=color, alpha=0.15, linewidth=0)
        ax.errorbar(h.centers, h.counts, h.error, fmt="none", ecolor=color, alpha=0.7)
    ax.set_xlabel(h.label)
    ax.set_ylabel("count")
    return steps
