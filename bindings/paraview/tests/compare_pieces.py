"""compare_pieces.py PATH FOLDER1 FOLDER3 -- the pieces of 1 and of 3 ranks are the same
whole, which is the one that the package reads; and so are the pictures."""
import glob
import sys

import bouma
import numpy as np

path, one, three = sys.argv[1:]
step = bouma.open(path).at(time=0.1)


def pieces(folder, name):
    return [dict(np.load(file)) for file in sorted(glob.glob("%s/%s.*.npz" % (folder, name)))]


def together(parts, name):
    """The array of all pieces; samples that several of them have are the same there."""
    extents = np.array([part["extent"] for part in parts])
    low, high = extents[:, ::2].min(axis=0), extents[:, 1::2].max(axis=0)
    shape = tuple((high - low + 1)[::-1])
    first = parts[0][name]
    whole, seen = np.zeros(shape + first.shape[3:], first.dtype), np.zeros(shape, bool)
    for part in parts:
        e = part["extent"]
        key = tuple(slice(e[2 * i] - low[i], e[2 * i + 1] - low[i] + 1) for i in (2, 1, 0))
        assert np.array_equal(whole[key][seen[key]], part[name][seen[key]], equal_nan=True)
        whole[key], seen[key] = part[name], True
    assert seen.all()
    return whole


assert len(pieces(one, "level0")) == 1 and len(pieces(three, "level0")) == 3
for level in (0, 2):
    box = [(2, 19), (0, 30), (3, 34)]
    for folder in (one, three):
        parts = pieces(folder, "level%d" % level)
        for name in step["box"]:
            whole = together(parts, name)
            assert np.array_equal(whole, step["box"][name].read(box, level), equal_nan=whole.dtype.kind == "f"), name
assert all(part["bump"].size < 0.6 * 31 * 30 * 17 for part in pieces(three, "level0"))

a, b = together(pieces(one, "gradient"), "gradient"), together(pieces(three, "gradient"), "gradient")
assert np.allclose(a, b, rtol=0, atol=1e-6)

dust = step.particles["dust"]
hot = [(0.1, 0.9)] * 3
for name, table in (("all", dust.query()), ("hot", dust.query(hot, "T > 320")), ("some", None)):
    for folder in (one, three):
        parts = pieces(folder, name)
        columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        assert len(columns["id"]) == len(np.unique(columns["id"])) == (1000 if table is None else table.count)
        whole = dust.query() if table is None else table
        order, wanted = np.argsort(columns["id"]), np.argsort(whole["id"])
        if table is None:
            wanted = wanted[np.isin(whole["id"][wanted], columns["id"])]
        for key, array in columns.items():
            assert np.array_equal(array[order], whole[key][wanted]), (name, key)
        counts = [len(part["id"]) for part in parts]
        assert max(counts) <= 1.5 * sum(counts) / len(counts), counts


def picture(folder):
    import matplotlib.image

    return matplotlib.image.imread(folder + "/picture.png")[..., :3]


try:
    first, second = picture(one), picture(three)
except ImportError:
    print("the pictures are not compared: there is no matplotlib")
else:
    assert first.shape == (300, 400, 3)
    shown = (first.min(axis=2) < 0.9).mean()
    assert 0.05 < shown < 0.9, shown  # something is there, and it is not all
    assert np.abs(first - second).mean() < 0.01, np.abs(first - second).mean()
