"""What notebooks show."""
from typing import TYPE_CHECKING, Any, List

from ._names import bytes_text, table_html

if TYPE_CHECKING:
    from ._dataset import Dataset, Grid, Step
    from ._variable import Variable

_SHOWN = 10  # steps of a long list


def shape_text(shape: Any) -> str:
    return " × ".join(str(n) for n in shape)


def dataset_html(ds: "Dataset") -> str:
    if ds.closed:
        return table_html("%s, closed" % ds.path, [], [])
    n = len(ds)
    shown = range(n) if n <= _SHOWN else [*range(_SHOWN // 2), *range(n - _SHOWN // 2, n)]
    rows: List[Any] = [(ds.steps[i], "%g" % ds.times[i]) for i in shown]
    if n > _SHOWN:
        rows.insert(_SHOWN // 2, ("…", "…"))
    title = "%s: %d steps of %s" % (ds.path, n, ", ".join(ds.keys()))
    return table_html(title, ["step", "time"], rows)


def variable_row(v: "Variable") -> Any:
    low, high = v.range
    return (v.path, shape_text(v.shape), v.dtype, v.unit, v.levels, "%s to %s" % (low, high), v.codec,
            v.tolerance or "", bytes_text(v.nbytes), bytes_text(v.stored_bytes))


_HEAD = ["variable", "shape", "type", "unit", "levels", "range", "codec", "tolerance", "in memory", "stored"]


def variable_html(v: "Variable") -> str:
    return table_html("%s of step %d" % (v.path, v.step.number), _HEAD, [variable_row(v)])


def grid_html(grid: "Grid") -> str:
    return table_html("%s of step %d" % (grid.name, grid.step.number), _HEAD, [variable_row(v) for v in grid.values()])


def step_html(step: "Step") -> str:
    rows = [variable_row(v) for grid in step.grids.values() for v in grid.values()]
    text = table_html("step %d at time %g" % (step.number, step.time), _HEAD, rows)
    return text + "".join(particles_html(one) for one in step.particles.values())


def particles_html(p: Any) -> str:
    rows = [(v.path, v.components, v.dtype, v.unit, "%s to %s" % v.range) for v in p.values()]
    return table_html("%s: %d particles" % (p.name, p.count), ["variable", "components", "type", "unit", "range"], rows)
