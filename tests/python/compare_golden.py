#!/usr/bin/python3
"""Compares what bouma_reader.py and `bouma read` say of datasets, at every level.

Usage: BOUMA=build/bin/bouma compare_golden.py DIR...

DIR is a dataset, or a directory that has datasets in it. BOUMA names the program. Exit status 1 if anything differs.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

from bouma_reader import Damage, Dataset

passed = failed = 0


def report(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {what}")


def bouma(*arguments):
    done = subprocess.run([os.environ["BOUMA"], *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"bouma {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def same(a, b):
    """Equal in type, shape and every bit, so NaN and -0.0 count."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_attributes(ours, theirs):
    """Info prints single numbers without brackets, and null for infinity and NaN, which JSON does not have."""
    plain = {name: value if isinstance(value, str) else [x if np.isfinite(x) else None for x in value]
             for name, value in ours.items()}
    return plain == {name: value if isinstance(value, (str, list)) else [value] for name, value in theirs.items()}


def middle(shape):
    """A box with odd bounds that leaves out something on all sides, if there is room."""
    return [(n // 3, max(n // 3 + 1, n - n // 4)) for n in shape]


def original(step, grid, variable):
    """What the lossy variables of the golden datasets were given: as lossy_value() in golden_sets.c."""
    axes = [1] * (3 - grid.ndims) + list(grid.shape)
    x, y, z, c = np.meshgrid(*map(np.arange, axes + [variable.components]), indexing="ij")
    n = x * 5 + y * 3 + z * 7 + c * 13
    z = z % 301
    distance = (x - 5)**2 + (y - 9)**2 + (z - 20 - 4 * c) * (z - 20)
    values = (40000 + 100 * step.number) / (900 + distance) + (x - 2 * y + 3 * z) / 64
    mixed = (n + step.number + 1).astype("u8") * np.uint64(0x9e3779b97f4a7c15)
    mixed = (mixed ^ mixed >> np.uint64(29)) * np.uint64(0xbf58476d1ce4e5b9)
    kind = variable.name.split()[0]
    if kind == "constant":
        values[...] = 1.5
    elif kind == "noise":
        values = (mixed >> np.uint64(11)) / 2**45
    elif kind == "huge":
        huge = 3e38 if variable.dtype.itemsize == 4 else 1.7e308
        values = np.choose(n % 3, [huge, -huge, values])
    elif kind == "holes":
        values = np.select([(n % 17 == 0) | (x + y + z < 4), n % 19 == 0, n % 23 == 0, n % 29 == 0],
                           [np.nan, np.inf, -np.inf, -0.0], values)
    values = values.astype(variable.dtype).reshape(*grid.shape, variable.components)
    return values[..., 0] if variable.components == 1 else values


def compare_lossy(what, step, whole, given, variable, told):
    """The samples are within the bound, and the losses are as they are told."""
    report((told["tolerance"], told["relative"], told["bound"])
           == (variable.tolerance, bool(variable.kind), variable.bound), f"{what}: tolerance")
    special = ~np.isfinite(given)
    report(np.array_equal(whole[special], given[special], equal_nan=True), f"{what}: NaN or infinity elsewhere")
    errors = np.abs(whole[~special].astype("f8") - given[~special])
    report(np.all(errors <= variable.bound), f"{what}: errors beyond the bound")
    parts = [s.parts[variable.number].losses for s in step.subfiles if variable.number in s.parts]
    report(max(largest for largest, _ in parts) == errors.max(), f"{what}: largest error")
    report(math.isclose(sum(squares for _, squares in parts), np.sum(errors**2), rel_tol=1e-9), f"{what}: squares")
    report(told["max_error"] == max(largest for largest, _ in parts), f"{what}: told error")


def compare_variable(path, step, grid, variable, told, scratch):
    name = f"{grid.name}/{variable.name}"
    what = f"{path} step {step.number} {name}"
    report((told["components"], told["codec"], told["unit"] or "", told["present"])
           == (variable.components, variable.codec, variable.unit, variable.present), f"{what}: info")
    report(same_attributes(variable.attributes, told["attributes"]), f"{what}: attributes")
    if not variable.present:
        return

    out = os.path.join(scratch, "out.npy")
    whole = variable.read()
    box = middle(grid.shape)
    inside = whole[tuple(slice(low, high) for low, high in box)]
    for level in range(grid.levels):
        ours = variable.read(level=level)
        bouma("read", path, name, "--step", str(step.number), "--level", str(level), "-o", out)
        report(same(ours, np.load(out)), f"{what} level {level}: not what bouma reads")
        every = (slice(None, None, 2**level),) * grid.ndims
        report(same(ours, whole[every]), f"{what} level {level}: not every {2**level}th sample of level 0")

        ours = variable.read(level=level, box=box)
        first = tuple(slice(-low % 2**level, None, 2**level) for low, _ in box)
        report(same(ours, inside[first]), f"{what} level {level}: wrong box {box}")
        if math.prod(ours.shape):
            text = ",".join(f"{low}:{high}" for low, high in box)
            bouma("read", path, name, "--step", str(step.number), "--level", str(level), "--box", text, "-o", out)
            report(same(ours, np.load(out)), f"{what} level {level} box {text}: not what bouma reads")

    given = whole
    if variable.codec == "interp":
        given = original(step, grid, variable)
        compare_lossy(what, step, whole, given, variable, told)
    for i, told_range in enumerate(told["ranges"]):
        values = (given if variable.components == 1 else given[..., i]).ravel()
        numbers = values[~np.isnan(values)]
        report(told_range["nans"] == values.size - numbers.size, f"{what}: number of NaN")
        if numbers.size and np.isfinite(numbers).all():
            ends = [(told_range["min"], numbers.min().item()), (told_range["max"], numbers.max().item())]
            # info prints integers from 2^63 on as floating-point numbers, so these are compared as such
            report(all(a == (float(b) if isinstance(a, float) else b) for a, b in ends), f"{what}: range")


def compare(path, scratch):
    dataset = Dataset(path)
    told = json.loads(bouma("info", path, "--json"))
    report(told["id"] == dataset.identity.hex(), f"{path}: identity")
    report([s["step"] for s in told["steps"]] == dataset.steps, f"{path}: steps")
    report(not dataset.damaged, f"{path}: damaged steps: {list(dataset.damaged.values())}")
    report(same_attributes(dataset.attributes, told["attributes"]), f"{path}: attributes")
    index = dataset.index()
    for told_step in told["steps"]:
        step = dataset.open(told_step["step"])
        what = f"{path} step {step.number}"
        report(told_step["time"] == step.time, f"{what}: time")
        report(same_attributes(step.attributes, told_step["attributes"]), f"{what}: attributes")
        if index.get(step.number, (0, 0, 0))[1]:
            report(index[step.number] == (step.time, step.epoch, step.attempt), f"{what}: index")
        report([o["name"] for o in told_step["objects"]] == list(step.grids), f"{what}: grids")
        for told_grid in told_step["objects"]:
            grid = step.grids[told_grid["name"]]
            keys = "shape", "patch", "levels", "origin", "spacing", "unit"
            ours = list(grid.shape), list(grid.edges), grid.levels, list(grid.origin), list(grid.spacing), grid.unit
            report([told_grid[key] or "" if key == "unit" else told_grid[key] for key in keys] == list(ours),
                   f"{what} {grid.name}: info")
            report(same_attributes(grid.attributes, told_grid["attributes"]), f"{what} {grid.name}: attributes")
            report([v["name"] for v in told_grid["variables"]] == list(grid.variables), f"{what}: variables")
            for told_variable in told_grid["variables"]:
                variable = grid.variables[told_variable["name"]]
                compare_variable(path, step, grid, variable, told_variable, scratch)


def datasets(path):
    """The datasets in a directory, or the one that it is."""
    if os.path.isfile(os.path.join(path, "DATASET")):
        return [path]
    return [folder for folder, _, files in sorted(os.walk(path)) if "DATASET" in files]


def main():
    if len(sys.argv) < 2 or "BOUMA" not in os.environ:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        for argument in sys.argv[1:]:
            found = datasets(argument)
            report(found, f"{argument}: no dataset")
            for path in found:
                try:
                    compare(path, scratch)
                except (Damage, RuntimeError, KeyError) as error:
                    report(False, f"{path}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
