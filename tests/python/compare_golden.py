#!/usr/bin/python3
"""Compares what bouma_reader.py and `bouma` say of datasets: of grids at every level, of particles at some qualities
and in some boxes.

Usage: BOUMA=build/bin/bouma compare_golden.py DIR... [CODEC=N...]

DIR is a dataset, or a directory that has datasets in it. BOUMA names the program. Exit status 1 if anything differs,
or if fewer than N values of CODEC were compared.
"""

import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from bouma_common import NOMINAL, RELATIVE
from bouma_hz import HzGrid
from bouma_reader import Damage, Dataset
from idx_reader import Idx

passed = failed = 0
decoded = collections.Counter()  # values of each codec that both readers have decoded


def report(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {what}")


def finish(least):
    """The exit status, after the counts; 'least' says of which codecs how many values must have been compared."""
    for codec, count in least.items():
        report(decoded[codec] >= count, f"only {decoded[codec]} values of {codec} were decoded by both")
    print("decoded by both:", ", ".join(f"{count} values of {codec}" for codec, count in sorted(decoded.items())))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def compare_decoded(variable, ours, theirs, what):
    """What the two readers have decoded is the same."""
    decoded[variable.codec] += ours.size
    report(same(ours, theirs), f"{what}: not what bouma reads")


def bouma(*arguments):
    done = subprocess.run([os.environ["BOUMA"], *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"bouma {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def same(a, b):
    """Equal in type, shape and every bit, so NaN and -0.0 count."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_attributes(ours, theirs):
    """Info prints single numbers without brackets, and texts for infinity and NaN, which JSON does not have."""
    plain = {name: value if isinstance(value, str) else [x if np.isfinite(x) else str(float(x)) for x in value]
             for name, value in ours.items()}
    return theirs == {name: value[0] if len(value) == 1 and isinstance(value, list) else value
                      for name, value in plain.items()}


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
    elif kind == "steps":
        values = np.where(n % 41 == 0, -0.0, np.trunc(values * 4) * 0.25)
    elif kind == "holes":
        values = np.select([(n % 17 == 0) | (x + y + z < 4), n % 19 == 0, n % 23 == 0, n % 29 == 0],
                           [np.nan, np.inf, -np.inf, -0.0], values)
    values = values.astype(variable.dtype).reshape(*grid.shape, variable.components)
    return values[..., 0] if variable.components == 1 else values


def original_particles(step, particles, variable, ids):
    """What the golden particles of these ids were given: as number_of() in golden_particles.c."""
    k, c = np.meshgrid(ids.astype("i8"), np.arange(variable.components), indexing="ij")
    number = list(particles.variables).index(variable.name)
    n = (k * 7919 + number * 31 + c * 1237 + step.number * 17) % 1021
    if number == 0:
        values = np.where(k % 3, n / 64, 4 + n % 32 / 512)
        if particles.name in ("dust", "flock", "spray", "swarm"):
            values = np.where(k % 40 == 3, np.array([np.nan, np.inf, 1])[c], values)
    elif variable.name == "id":
        values = k
    elif variable.dtype.kind != "f":
        values = n % 256 if variable.dtype.kind == "u" else n - 500
    else:
        values = (n - 500) / 128
        if variable.name == "mass":
            values = np.select([k % 100 == 9, k % 50 == 9], [np.nan, -np.inf], values)
    return values.astype(variable.dtype)


def compare_lossy(what, step, whole, given, variable):
    """The samples are within the bound, and the losses are as the manifest has them."""
    special = ~np.isfinite(given)
    report(np.array_equal(whole[special], given[special], equal_nan=True), f"{what}: NaN or infinity elsewhere")
    errors = np.abs(whole[~special].astype("f8") - given[~special])
    report(np.all(errors <= variable.bound), f"{what}: errors beyond the bound")
    parts = losses(variable)
    report(max(largest for largest, _ in parts) == errors.max(initial=0), f"{what}: largest error")
    report(math.isclose(sum(squares for _, squares in parts), np.sum(errors**2), rel_tol=1e-9), f"{what}: squares")


def losses(variable):
    return [s.parts[variable.number].losses for s in variable.step.subfiles if variable.number in s.parts]


def compare_description(what, step, variable, told):
    keys = "components", "codec", "unit", "present", "tolerance", "relative", "bound"
    ours = (variable.components, variable.codec, variable.unit, variable.present, variable.tolerance,
            bool(variable.kind & RELATIVE), variable.bound)
    report(tuple(told[key] or "" if key == "unit" else told[key] for key in keys) == ours, f"{what}: info")
    report(same_attributes(variable.attributes, told["attributes"]), f"{what}: attributes")
    if variable.present:
        report(told["max_error"] == max(largest for largest, _ in losses(variable)), f"{what}: told error")


def compare_ranges(what, values, told):
    """The ranges that info tells are those of the values, of samples and components."""
    for i, told_range in enumerate(told["ranges"]):
        row = values[:, i]
        numbers = row[~np.isnan(row)]
        report(told_range["nans"] == row.size - numbers.size, f"{what}: number of NaN")
        if numbers.size and np.isfinite(numbers).all():
            ends = [(told_range["min"], numbers.min().item()), (told_range["max"], numbers.max().item())]
            # info prints integers from 2^63 on as floating-point numbers, so these are compared as such
            report(all(a == (float(b) if isinstance(a, float) else b) for a, b in ends), f"{what}: range")


def compare_variable(path, step, grid, variable, told, scratch):
    name = f"{grid.name}/{variable.name}"
    what = f"{path} step {step.number} {name}"
    compare_description(what, step, variable, told)
    if not variable.present:
        return

    out = os.path.join(scratch, "out.npy")
    whole = variable.read()
    box = middle(grid.shape)
    for level in range(grid.levels):
        ours = variable.read(level=level)
        bouma("read", path, name, "--step", str(step.number), "--level", str(level), "-o", out)
        compare_decoded(variable, ours, np.load(out), f"{what} level {level}")
        every = (slice(None, None, 2**level),) * grid.ndims
        averages = getattr(grid, "wavelet", False) and variable.dtype.kind == "f" and level > 0
        report(averages or same(ours, whole[every]), f"{what} level {level}: not every {2**level}th sample of level 0")

        coarse = ours if averages else whole[every]
        ours = variable.read(level=level, box=box)
        part = tuple(slice(low, high) for low, high in grid.level_box(box, level))
        report(same(ours, coarse[part]), f"{what} level {level}: wrong box {box}")
        if math.prod(ours.shape):
            text = ",".join(f"{low}:{high}" for low, high in box)
            bouma("read", path, name, "--step", str(step.number), "--level", str(level), "--box", text, "-o", out)
            compare_decoded(variable, ours, np.load(out), f"{what} level {level} box {text}")

    given = whole
    if variable.codec == "interp" or variable.rounds and variable.tolerance:
        given = original(step, grid, variable)
        compare_lossy(what, step, whole, given, variable)
    compare_ranges(what, given.reshape(-1, variable.components), told)


def compare_idx(path, step, grid):
    """The same files, read as IDX."""
    idx = Idx(os.path.join(path, "idx", grid.name + ".idx"))
    present = any(variable.present for variable in grid.variables.values())
    report((step.number in idx.steps) == present, f"{path} step {step.number} {grid.name}: steps of the IDX")
    report([field.name for field in idx.fields] == list(grid.variables), f"{path} {grid.name}: fields of the IDX")
    for variable in grid.variables.values():
        if variable.present:
            report(idx.read(variable.name, step.number).tobytes() == variable.read().tobytes(),
                   f"{path} step {step.number} {grid.name}/{variable.name}: read as IDX")


def compare_grid(path, step, grid, told, scratch):
    what = f"{path} step {step.number} {grid.name}"
    keys = "shape", "levels", "origin", "spacing", "unit", "layout"
    ours = [list(grid.shape), grid.levels, list(grid.origin), list(grid.spacing), grid.unit]
    if isinstance(grid, HzGrid):
        keys += "hz_template", "hz_block_bits", "hz_blocks_per_file", "hz_order", "hz_partitions", "hz_index"
        ours += ["hz", grid.template, grid.block_bits, grid.blocks_per_file, ("rows", "hz")[grid.order - 1]]
        ours += [2**grid.partition_bits, "local" if grid.partition_bits else "global"]
        keys += ("hz_wavelet", "hz_tile_bits") if grid.wavelet else ("hz_wavelet",)
        ours += [True, grid.tile_bits] if grid.wavelet else [False]
        keys += "idx",
        ours += [f"idx/{grid.name}.idx" if grid.idx else None]
        if grid.idx:
            compare_idx(path, step, grid)
    else:
        keys += "patch",
        ours += ["patch", list(grid.edges)]
    report([told[key] or "" if key == "unit" else told[key] for key in keys] == ours, f"{what}: info")
    report(same_attributes(grid.attributes, told["remarks"]), f"{what}: attributes")
    report([v["name"] for v in told["variables"]] == list(grid.variables), f"{what}: variables")
    for told_variable in told["variables"]:
        compare_variable(path, step, grid, grid.variables[told_variable["name"]], told_variable, scratch)


def rows(columns, names):
    """All values of each particle, as bytes. Sorted: a query hands them over in an order of its own."""
    count = len(columns["position"])
    parts = [np.ascontiguousarray(columns[name]).view("u1").reshape(count, -1) for name in names] if count else []
    return sorted(row.tobytes() for row in np.hstack(parts)) if count else []


def inside(positions, box):
    """Which particles are in a half-open box; those that have no position are in none."""
    return np.all([(low <= x) & (x < high) & np.isfinite(x) for (low, high), x in zip(box, positions.T)], axis=0)


def compare_query(what, path, step, particles, quality, box, scratch):
    ours = particles.read(quality)
    names = [name for name in ours if not name.startswith("#")]
    out, options = os.path.join(scratch, "out.npz"), []
    if box:
        chosen = inside(ours["position"].reshape(-1, particles.ndims).astype("f8"), box)
        ours = {name: column[chosen] for name, column in ours.items()}
        options = ["--box=" + ",".join(f"{low!r}:{high!r}".replace("inf", "") for low, high in box)]
    bouma("query", path, particles.name, "--step", str(step.number), "--quality", repr(quality), "-o", out, *options)
    theirs = np.load(out)
    what = f"{what} quality {quality} box {box}"
    report(sorted(theirs.files) == sorted(names), f"{what}: columns")
    report(all(theirs[name].dtype == ours[name].dtype for name in names), f"{what}: types")
    report(rows(theirs, names) == rows(ours, names), f"{what}: not what bouma reads")
    for name in names:
        decoded[particles.variables[name].codec] += ours[name].size


def compare_particles(path, step, particles, told, scratch):
    what = f"{path} step {step.number} {particles.name}"
    filled = [summary.bounds for summary in particles.summaries if summary.strays < summary.particles]
    bounds = [[min(low for low, _ in axis), max(high for _, high in axis)] for axis in zip(*filled)]
    keys = "count", "strays", "ndims", "levels", "unit", "files", "tree_nodes"
    ours = (sum(c.particles for c in particles.summaries), sum(c.strays for c in particles.summaries), particles.ndims,
            particles.levels, particles.unit, len(particles.summaries), len(particles.tree.nodes))
    report(tuple(told[key] or "" if key == "unit" else told[key] for key in keys) == ours, f"{what}: info")
    report(not filled or [list(b) for b in zip(told["low"], told["high"])] == bounds, f"{what}: bounds")
    report(same_attributes(particles.attributes, told["remarks"]), f"{what}: attributes")
    variables = [told["position"]] + told["attributes"]
    report([v["name"] for v in variables] == list(particles.variables), f"{what}: variables")
    particles.check()
    whole = particles.read()
    for told_variable in variables:
        variable = particles.variables[told_variable["name"]]
        name = f"{what}/{variable.name}"
        compare_description(name, step, variable, told_variable)
        if not variable.present:
            continue
        values = whole[variable.name].reshape(-1, variable.components)
        compare_ranges(name, values, told_variable)
        if "id" in whole:  # golden
            given = original_particles(step, particles, variable, whole["id"])
            compare_lossy(name, step, values, given, variable)
            report(variable.bound or same(values, given), f"{name}: not what was given")
    if "id" in whole:
        report(sorted(whole["id"]) == list(range(told["count"])), f"{what}: not all particles, or one twice")
    if not particles.summaries:
        return
    for quality in 1.0, 0.5, 0.37, 0.1, 0.004:
        compare_query(what, path, step, particles, quality, None, scratch)
    if filled:
        box = [((3 * low + high) / 4, (low + 2 * high) / 3) for low, high in bounds]
        wide = [(low, math.inf) for low, _ in box]
        compare_query(what, path, step, particles, 1.0, box, scratch)
        compare_query(what, path, step, particles, 0.2, wide, scratch)


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
        report([o["name"] for o in told_step["objects"]] == list(step.objects), f"{what}: objects")
        for told_object in told_step["objects"]:
            if told_object["kind"] == "particles":
                compare_particles(path, step, step.particles[told_object["name"]], told_object, scratch)
            else:
                compare_grid(path, step, step.grids[told_object["name"]], told_object, scratch)


def datasets(path):
    """The datasets in a directory, or the one that it is."""
    if os.path.isfile(os.path.join(path, "DATASET")):
        return [path]
    return [folder for folder, _, files in sorted(os.walk(path)) if "DATASET" in files]


def main():
    if len(sys.argv) < 2 or "BOUMA" not in os.environ:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    counts = [re.fullmatch(r"([a-z-]+)=(\d+)", argument) for argument in sys.argv[1:]]
    directories = [argument for argument, count in zip(sys.argv[1:], counts) if not count]
    with tempfile.TemporaryDirectory() as scratch:
        for argument in directories:
            found = datasets(argument)
            report(found, f"{argument}: no dataset")
            for path in found:
                try:
                    compare(path, scratch)
                except (Damage, RuntimeError, KeyError) as error:
                    report(False, f"{path}: {error}")
    return finish({count[1]: int(count[2]) for count in counts if count})


if __name__ == "__main__":
    sys.exit(main())
