"""Steps as datasets of yt: a uniform grid with particles in it, or particles alone."""
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._names import unknown

if TYPE_CHECKING:
    from ._dataset import Grid, Step

Field = Tuple[np.ndarray, str]


def import_yt() -> Any:
    try:
        import yt
    except ImportError as error:
        raise ImportError("to_yt() needs yt: install python3-yt, or pip install yt", name="yt") from error
    return yt


def unit_of(text: str) -> Any:
    """A unit of bouma as yt's; None if yt does not know it."""
    from unyt import Unit
    from unyt.exceptions import UnitParseError

    try:
        return Unit(text.replace("^", "**")) if text else None
    except (UnitParseError, SyntaxError, TypeError, AttributeError):
        return None


def unit_text(text: str) -> str:
    unit = unit_of(text)
    return "dimensionless" if unit is None else str(unit)


def length_unit(text: str) -> Any:
    """What one unit of length is; without one that yt knows, 1 cm."""
    from unyt.dimensions import length

    unit = unit_of(text)
    return (1.0, str(unit)) if unit is not None and unit.dimensions == length else None


def split(name: str, array: np.ndarray, unit: str, axes: int) -> Dict[str, Field]:
    """A field for each component: velocity_x, velocity_y, velocity_z, or stress_0, ..."""
    if array.ndim == axes:
        return {name: (array, unit_text(unit))}
    ends: Sequence[Any] = "xyz" if array.shape[-1] <= 3 else range(array.shape[-1])
    return {"%s_%s" % (name, end): (array[..., i], unit_text(unit)) for i, end in zip(range(array.shape[-1]), ends)}


def grid_fields(grid: "Grid", level: int, names: Optional[Sequence[str]]) -> Dict[Any, Field]:
    """Arrays in the order x, y, z, with three axes."""
    found: Dict[Any, Field] = {}
    turned = tuple(slice(None, None, -1 if spacing < 0 else 1) for spacing in grid.spacing)
    for name in grid if names is None else names:
        v = grid[name]
        for field, (array, unit) in split(name, v.read(level=level), v.unit, grid.ndim).items():
            array = array[turned]
            whole = array.reshape((1,) * (3 - grid.ndim) + array.shape)
            found["stream", field] = (np.ascontiguousarray(whole.T, "f8"), unit)
    return found


def grid_bounds(grid: "Grid", level: int) -> np.ndarray:
    """Low and high ends along x, y and z: each sample is in the middle of its cell."""
    ends = []
    for n, origin, spacing in zip(grid.shape, grid.origin, grid.spacing):
        step = spacing * (1 << level)
        count = -(-n >> level)
        ends.append(sorted([origin - step / 2, origin + (count - 0.5) * step]))
    width = min(high - low for low, high in ends)
    ends = [[-width / 2, width / 2]] * (3 - grid.ndim) + ends
    return np.array(ends[::-1])


def particle_fields(p: Any, names: Optional[Sequence[str]], limit: Optional[int]) -> Dict[Any, Any]:
    """Columns by the names of yt: particle_position_x, particle_T."""
    columns = ["position"] + [one for one in (p if names is None else names) if one != "position"]
    some = p.query(columns=columns) if limit is None else p.query(columns=columns, limit=limit)
    found: Dict[Any, Any] = {}
    for name in columns:
        array = some[name].astype("f8")
        if name == "position":
            array = array.reshape(some.count, p.ndims)
            array = np.pad(array, ((0, 0), (0, 3 - p.ndims)))
        unit = p.unit if name == "position" else p[name].unit
        for field, (values, text) in split("particle_" + name, array, unit, 1).items():
            if name == "position":
                text = "code_length"
            found["io", field] = (np.ascontiguousarray(values), text)
    return found


def particle_bounds(p: Any) -> np.ndarray:
    """The bounds of the particles and a little more: yt wants all of them inside."""
    ends = []
    for low, high in list(p.bounds) + [(0.0, 0.0)] * (3 - p.ndims):
        room = 1e-3 * (high - low) or 0.5
        ends.append([low - room, high + room])
    return np.array(ends)


def step_to_yt(step: "Step", group: Optional[str], level: int, fields: Optional[Sequence[str]],
               particles: Optional[str], limit: Optional[int]) -> Any:
    """See Step.to_yt()."""
    yt = import_yt()
    grids, sets = step.grids, step.particles
    if group is None:
        there: List[str] = list(grids) or list(sets)
        if len(there) != 1:
            raise ValueError("step %d has %s: give one of them as group=" % (step.number, ", ".join(step) or "nothing"))
        group = there[0]
    if group not in step or "/" in group:
        raise unknown("grid or set of particles", group, list(step))
    more: Dict[str, Any] = {"sim_time": 0.0 if np.isnan(step.time) else step.time, "periodicity": (False,) * 3}
    if group in sets:
        if particles is not None or level:
            raise TypeError("level and particles go with a grid, and %r is a set of particles" % group)
        p = sets[group]
        more["length_unit"] = length_unit(p.unit)
        found = particle_fields(p, fields, limit)
        return yt.load_particles(found, bbox=particle_bounds(p), **more)
    grid = grids[group]
    if not 0 <= level < grid.levels:
        raise IndexError("there is no level %d; there are 0 to %d" % (level, grid.levels - 1))
    found = grid_fields(grid, level, fields)
    shape = next(iter(found.values()))[0].shape if found else (1, 1, 1)
    if particles is not None:
        found.update(particle_fields(sets[particles], None, limit))
    more["length_unit"] = length_unit(grid.unit)
    return yt.load_uniform_grid(found, shape, bbox=grid_bounds(grid, level), **more)
