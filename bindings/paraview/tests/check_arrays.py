"""check_arrays.py PATH -- one process: each property against what was written, and against
the Python package."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bouma
import numpy as np
from common import arrays, fact, load, output, positions, same
from datasets import ORIGIN, SHAPE, SPACING, dust, plate, values
from paraview import servermanager

path = sys.argv[1]
BoumaGrid, BoumaParticles = load()
ds = bouma.open(path)


def check_information():
    reader = BoumaGrid(FileName=path)
    reader.UpdatePipelineInformation()
    assert np.array_equal(reader.TimestepValues, ds.times), reader.TimestepValues
    assert list(reader.GetProperty("Grid").GetAvailable()) == ["box", "plate", "rod"]
    domain = reader.GetProperty("Level").GetDomain("range")
    assert (domain.GetMinimum(0), domain.GetMaximum(0)) == (-1, ds[-1].box.levels - 1)
    assert list(reader.Arrays) == list(values(0)), reader.Arrays
    reader.Grid = "plate"
    reader.UpdatePipelineInformation()
    assert list(reader.Arrays.Available) == ["heat", "wind"]
    some = BoumaParticles(FileName=path + "/DATASET")  # a file of it, as in a file dialog
    some.UpdatePipelineInformation()
    assert list(some.GetProperty("Set").GetAvailable()) == ["dust", "film"]
    assert list(some.Arrays) == ["T", "velocity", "id", "type"]


def check_levels():
    reader = BoumaGrid(FileName=path, Grid="box")
    for time, index in ((0.0, 0), (0.2, 2), (0.12, 1)):
        for level in range(ds[-1].box.levels):
            reader.Level = level
            data, every = output(reader, time), slice(None, None, 1 << level)
            found, wanted = arrays(data), values(ds.times[index])
            assert list(found) == list(wanted) and fact(data, "step") == 10 * index and fact(data, "level") == level
            for name, array in wanted.items():
                assert same(found[name], array[every, every, every]), (name, level)
                assert same(found[name], ds[index].box[name].level(level)[...])
            assert np.allclose(data.GetOrigin(), ORIGIN[::-1])
            assert np.allclose(data.GetSpacing(), np.array(SPACING[::-1]) * (1 << level))
    assert data.GetPointData().GetScalars().GetName() == "a_i1"
    velocity = data.GetPointData().GetVectors()
    assert velocity.GetName() == "velocity" and velocity.GetInformation().Get(velocity.UNITS_LABEL()) == "m/s"


def check_memory():
    """Level -1: the finest that fits."""
    reader = BoumaGrid(FileName=path, Grid="box", Memory=1)
    sizes = [sum(ds[-1].box[name].level(k)[...].nbytes for name in ds[-1].box) for k in range(ds[-1].box.levels)]
    assert sizes[0] > 1 << 20 >= sizes[1]
    assert fact(output(reader), "level") == 1
    reader.Arrays = ["bump"]
    assert fact(output(reader), "level") == 0


def check_sub_extents():
    rng = np.random.default_rng(1)
    reader = BoumaGrid(FileName=path, Grid="box", Arrays=["holes", "velocity"])
    wanted = values(0)
    for _ in range(25):
        level = int(rng.integers(0, 3))
        low = [int(rng.integers(0, n)) for n in SHAPE]
        high = [int(rng.integers(a, n)) for a, n in zip(low, SHAPE)]
        first = [-(-a >> level) for a in low]
        last = [b >> level for b in high]
        if any(a > b for a, b in zip(first, last)):
            continue
        reader.Level = level
        reader.SubExtent = [one for a, b in list(zip(low, high))[::-1] for one in (a, b)]
        data = output(reader, 0.0)
        assert list(data.GetExtent()) == [one for a, b in list(zip(first, last))[::-1] for one in (a, b)]
        key = tuple(slice(a << level, (b << level) + 1, 1 << level) for a, b in zip(first, last))
        for name in ("holes", "velocity"):
            assert same(arrays(data)[name], wanted[name][key]), (level, low, high)
        at = np.array(data.GetPoint(0))  # the place of the first sample
        assert np.allclose(at, [o + s * (a << level) for o, s, a in zip(ORIGIN, SPACING, first)][::-1])
        assert list(arrays(data)) == ["velocity", "holes"]


def check_pieces():
    """Pieces with and without a layer of ghosts, as an algorithm is asked for them."""
    reader = BoumaGrid(FileName=path, Grid="box", Arrays=["bump"], Level=0)
    output(reader, 0.0)
    algorithm = reader.GetClientSideObject()
    wanted = values(0)["bump"]
    for ghosts in (0, 1, 2):
        for pieces in (1, 2, 3, 5):
            cells = np.zeros([n - 1 for n in SHAPE], int)
            for piece in range(pieces):
                algorithm.UpdatePiece(piece, pieces, ghosts)
                data = algorithm.GetOutputDataObject(0)
                e = data.GetExtent()
                key = tuple(slice(e[2 * i], e[2 * i + 1] + 1) for i in (2, 1, 0))
                assert same(arrays(data)["bump"], wanted[key])
                own = np.ones([s.stop - s.start - 1 for s in key], int)
                marks = data.GetCellGhostArray()
                assert (marks is not None) or not (ghosts and pieces > 1)
                if marks is not None:
                    own = (np.array([marks.GetValue(i) for i in range(own.size)]) == 0).astype(int).reshape(own.shape)
                    # The ghosts are as many layers as were asked for, where there is a neighbour.
                    inner = np.argwhere(own)
                    low, high = inner.min(axis=0), inner.max(axis=0)
                    for axis in range(3):
                        at, end = key[axis].start, key[axis].stop - 1
                        assert low[axis] == min(ghosts, at + low[axis]), (ghosts, pieces, piece)
                        rest = SHAPE[axis] - 1 - (at + high[axis] + 1)
                        assert end - at - 1 - high[axis] == min(ghosts, rest)
                cells[tuple(slice(s.start, s.stop - 1) for s in key)] += own
            assert (cells == 1).all(), (ghosts, pieces)  # each cell belongs to one piece


def check_plate():
    reader = BoumaGrid(FileName=path, Grid="plate", Level=1)
    data = output(reader, 0.1)
    found, wanted = arrays(data), plate(ds.times[1])
    assert data.GetDimensions() == (25, 9, 1) and data.GetSpacing()[:2] == (6.0, 4.0)
    assert same(found["heat"][0], wanted["heat"][::2, ::2])
    assert same(found["wind"][0, ..., :2], wanted["wind"][::2, ::2]) and not found["wind"][..., 2].any()
    reader.SubExtent = [10, 20, 3, 3, 0, -1]
    reader.Level = 0
    assert same(arrays(output(reader, 0.1))["heat"][0], wanted["heat"][3:4, 10:21])


def check_rod():
    """One axis, and more pieces than cells."""
    reader = BoumaGrid(FileName=path, Grid="rod", Level=0)
    data = output(reader, 0.1)
    assert data.GetBounds() == (3.0, 5.0, 0.0, 0.0, 0.0, 0.0)
    assert same(arrays(data)["v"].ravel(), np.arange(5) + 0.1)
    algorithm, seen = reader.GetClientSideObject(), set()
    for piece in range(9):
        algorithm.UpdatePiece(piece, 9, 0)
        data = algorithm.GetOutputDataObject(0)
        if data.GetNumberOfPoints():
            seen.update(arrays(data)["v"].ravel().tolist())
    assert seen == set((np.arange(5) + 0.1).tolist())


def check_particles():
    time = 0.2
    p, wanted = ds.at(time=time).particles["dust"], dust(ds.times[2])
    reader = BoumaParticles(FileName=path, Set="dust")
    data = output(reader, time)
    assert data.GetNumberOfVerts() == data.GetNumberOfPoints() == 6000
    found = arrays(data)
    order = np.argsort(found["id"])
    assert same(positions(data)[order], wanted["position"])
    for name, array in found.items():
        assert same(array[order], wanted[name]), name
    box = [(0.1, 0.8), (0.15, 0.6), (0.3, 1.0)]
    for quality in (0.05, 0.4, 1.0):
        for where in ("", "T > 300 & type == 2", "velocity[1] < 0 and 250 <= T < 320"):
            for use in (0, 1):
                reader.Quality, reader.Where, reader.UseBox = quality, where, use
                reader.Box = [one for pair in box for one in pair]
                data, table = output(reader, time), p.query(box if use else None, where, quality=quality)
                assert same(positions(data), table["position"]) and table.count
                assert all(same(array, table[name]) for name, array in arrays(data).items())
                assert fact(data, "quality") == quality
    reader = BoumaParticles(FileName=path, Set="dust", Limit=500, Where="type == 1", Arrays=["id"])
    data, table = output(reader, time), p.query(where="type == 1", limit=500)
    assert data.GetNumberOfPoints() == 500 and list(arrays(data)) == ["id"]
    assert same(arrays(data)["id"], table["id"]) and 0 < fact(data, "quality") == table.quality < 1


def check_film():
    """In a plane; two particles have no finite position, and cannot be shown."""
    reader = BoumaParticles(FileName=path, Set="film")
    data = output(reader, 0.0)
    assert data.GetNumberOfPoints() == 498 and not positions(data)[:, 2].any()
    assert sorted(set(range(500)) - set(arrays(data)["id"].tolist())) == [7, 8]
    algorithm, counts = reader.GetClientSideObject(), []
    for piece in range(4):
        algorithm.UpdatePiece(piece, 4, 0)
        counts.append(algorithm.GetOutputDataObject(0).GetNumberOfPoints())
    assert sum(counts) == 498 and min(counts) > 50, counts


def check_particle_pieces():
    """All pieces are all particles, once each, and about as many each."""
    for more in ({}, {"Where": "T > 300"}, {"UseBox": 1, "Box": [0.2, 0.9, 0.1, 0.9, 0, 1]}, {"Quality": 0.3},
                 {"Where": "T > 10000"}):
        reader = BoumaParticles(FileName=path, Set="dust", **more)
        whole = np.sort(arrays(output(reader, 0.0))["id"])
        algorithm = reader.GetClientSideObject()
        for pieces in (2, 3, 7):
            parts = []
            for piece in range(pieces):
                algorithm.UpdatePiece(piece, pieces, 0)
                parts.append(arrays(algorithm.GetOutputDataObject(0))["id"].copy())
            assert same(np.sort(np.concatenate(parts)), whole), (more, pieces)
            assert max(map(len, parts)) <= 1.5 * len(whole) / pieces, [len(one) for one in parts]
    reader = BoumaParticles(FileName=path, Set="dust", Limit=100)
    assert output(reader, 0.0).GetNumberOfPoints() == 100
    algorithm, counts = reader.GetClientSideObject(), []
    for piece in range(3):
        algorithm.UpdatePiece(piece, 3, 0)
        counts.append(algorithm.GetOutputDataObject(0).GetNumberOfPoints())
    assert counts == [33, 33, 34], counts


for name, check in sorted(vars().copy().items()):
    if name.startswith("check_"):
        check()
        print(name, flush=True)
print("all is well", flush=True)
