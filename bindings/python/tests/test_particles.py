"""Queries of particles are what NumPy finds by brute force."""
import operator

import numpy as np
import pytest

import bouma

N = 3000


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("crowd") / "d.bouma")
    rng = np.random.default_rng(1)
    data = {
        "position": rng.random((N, 3)).astype("f4"), "T": rng.normal(300, 50, N).astype("f4"),
        "type": rng.integers(-3, 4, N).astype("i2"), "id": np.arange(N, dtype="u8") + (1 << 63),
        "velocity": rng.normal(0, 1, (N, 2)), "kind of gas": rng.integers(0, 3, N).astype("u1"),
    }
    data["T"][::50] = np.nan
    with bouma.create(path, durability="fast") as ds:
        ds.write({"coal": data})
    return bouma.open(path)[0].coal, data


def ids(table):
    return set(table["id"].tolist())


WHERE = [
    ("T > 300", lambda d: d["T"] > 300), ("300 < T <= 350.5", lambda d: (d["T"] > 300) & (d["T"] <= 350.5)),
    ("T > 300 & type == 2", lambda d: (d["T"] > 300) & (d["type"] == 2)),
    ("type > 1.5 && type < 3", lambda d: d["type"] == 2), ("type >= -1 and type < 1", lambda d: abs(d["type"] + 0.5) < 1),
    ("velocity[1] > 0 & x < 0.5", lambda d: (d["velocity"][:, 1] > 0) & (d["position"][:, 0] < np.float64(0.5))),
    ("'kind of gas' == 2", lambda d: d["kind of gas"] == 2), ("position[2] >= 0.25", lambda d: d["position"][:, 2] >= 0.25),
    ("id > 9223372036854775908", lambda d: d["id"] > (1 << 63) + 100), ("id < 18446744073709551616", lambda d: d["id"] > 0),
    ("id > 18446744073709551615", lambda d: d["id"] < 0), ("type > 99999999999999999999999", lambda d: d["id"] < 0),
    ("T == T0", None), ("T < 1e2 & T > 1e9", lambda d: d["id"] < 0), ("-inf < T", lambda d: d["T"] > -np.inf),
    ("0.1 <= y", lambda d: d["position"][:, 1].astype("f8") >= 0.1), ("T > 0.1", lambda d: d["T"] > 0.1),
]


@pytest.mark.parametrize("text, holds", [one for one in WHERE if one[1]], ids=[one[0] for one in WHERE if one[1]])
def test_conditions(crowd, text, holds):
    p, data = crowd
    wanted = holds(data)
    found = p.query(where=text)
    assert ids(found) == set(data["id"][wanted].tolist())
    assert p.matches(where=text) == wanted.sum()
    rows = (found["id"] - np.uint64(1 << 63)).astype(int)
    for name in data:
        assert found[name].dtype == data[name].dtype
        assert np.array_equal(found[name], data[name][rows], equal_nan=found[name].dtype.kind == "f")


@pytest.mark.parametrize("text, why", [
    ("T >", "at the end"), ("T ! 3", "expected a comparison"), ("T > 3 | ", "at the end"), ("3 < 4", "a variable"),
    ("velocity > 3", r"velocity\[0\]"), ("velocity[2] > 3", "components 0 to 1"), ("T > type", "two variables"),
    ("T > 3 type < 2", "where: at character 7"), ("= 3", "write =="), ("T > nan", "NaN"), ("T = 3", "write =="),
    ("(T > 3", "expected '\\)'"),
])
def test_wrong_conditions(crowd, text, why):
    with pytest.raises((ValueError, KeyError), match=why):
        crowd[0].query(where=text)


def test_unknown_columns_get_suggestions(crowd):
    with pytest.raises(KeyError, match="did you mean 'type'"):
        crowd[0].query(where="tipe == 2")
    with pytest.raises(KeyError, match="coal/type"):
        crowd[0].query(columns=["tipe"])


class Known:
    """Which comparisons hold, and which do not: of NaN, neither."""

    def __init__(self, holds, fails):
        self.holds, self.fails = holds, fails

    @staticmethod
    def of(values, compare, number):
        holds = compare(values, number)
        numbers = values == values
        return Known(holds & numbers, ~holds & numbers)

    def __and__(self, other):
        return Known(self.holds & other.holds, self.fails | other.fails)

    def __or__(self, other):
        return Known(self.holds | other.holds, self.fails & other.fails)

    def __invert__(self):
        return Known(self.fails, self.holds)


SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}


def random_text(rng, values, depth):
    """A random expression: its text for 'where', and that for Python's eval()."""
    kind = rng.integers(5) if depth else 0
    if kind <= 1:
        name, sign = str(rng.choice(sorted(values))), str(rng.choice(sorted(SIGNS)))
        number = float(rng.choice(values[name][values[name] == values[name]]))
        return "%s %s %r" % (name, sign, number), "Known.of(values[%r], SIGNS[%r], %r)" % (name, sign, number)
    left, python = random_text(rng, values, depth - 1)
    if kind == 2:
        return str(rng.choice(["!", "~", "not "])) + "(%s)" % left, "~(%s)" % python
    right, more = random_text(rng, values, depth - 1)
    signs = [" & ", " && ", " and "] if kind == 3 else [" | ", " || ", " or "]
    return "(%s)%s(%s)" % (left, rng.choice(signs), right), "(%s) %s (%s)" % (python, "&|"[kind - 3], more)


def test_random_conditions_are_those_of_numpy(tmp_path):
    rng, n = np.random.default_rng(7), 5000
    values = {"a": rng.integers(-5, 5, n).astype("f8"), "b": rng.normal(size=n).astype("f4"), "i": rng.integers(0, 9, n)}
    values["a"][::7] = np.nan
    values["b"][::11] = np.inf
    with bouma.create(tmp_path / "d.bouma") as ds:
        ds.write({"p": dict(values, position=rng.random((n, 2)), id=np.arange(n))})
    p = bouma.open(tmp_path / "d.bouma")[0].p
    for _ in range(150):
        where, python = random_text(rng, values, 4)
        known = eval(python, {"Known": Known, "SIGNS": SIGNS, "values": values, "inf": np.inf})
        expected = np.flatnonzero(known.holds)
        assert np.array_equal(np.sort(p.query(where=where, columns=["id"])["id"]), expected), where
        assert p.matches(where=where) == len(expected), where
        assert len(p.query(where=where, limit=n, columns=["id"])["id"]) == len(expected), where


def test_operators_bind_as_in_python(crowd):
    p, data = crowd
    T, kind = data["T"], data["type"]
    for text, holds in [("T > 350 | T < 300 & type == 2", (T > 350) | (T < 300) & (kind == 2)),
                        ("T > 350 | T < 300 and type == 2", ((T > 350) | (T < 300)) & (kind == 2)),
                        ("T > 350 or T < 300 and type == 2", (T > 350) | ((T < 300) & (kind == 2))),
                        ("not T > 350 and type == 2", ~(T > 350) & (T == T) & (kind == 2)),
                        ("type != 2", kind != 2)]:
        assert p.matches(where=text) == np.count_nonzero(holds), text


def test_long_conditions_are_refused_without_repeating_them(crowd):
    for text in ("(" * 80000, " & ".join(["T > 3"] * 600), "T > " + "9" * 70000):
        with pytest.raises(bouma.LimitError) as error:
            crowd[0].query(where=text)
        assert len(str(error.value)) < 300
    with pytest.raises(ValueError, match="character"):
        crowd[0].query(where="T > 3\0 & T < 5")


@pytest.mark.parametrize("dtype", ["u8", "i8", "u4", "f8"])
def test_limits_at_the_ends_of_types(tmp_path, dtype):
    if dtype == "f8":
        values = [-np.inf, -1.7e308, -1.0, 0.0, 1.0, 1.7e308, np.inf]
    else:
        ends = np.iinfo(dtype)
        values = sorted({ends.min, ends.min + 1, 0, 1, ends.max // 2, ends.max // 2 + 1, ends.max // 2 + 2,
                         ends.max - 1, ends.max})
    with bouma.create(tmp_path / "d.bouma") as ds:
        ds.write({"p": {"position": np.zeros((len(values), 1)), "v": np.array(values, dtype)}})
    p = bouma.open(tmp_path / "d.bouma")[0].p
    limits = values + [2 ** 63 - 1, 2 ** 63, 2 ** 63 + 2, 2 ** 64 - 1, 2 ** 64, -2 ** 63, -2 ** 63 - 5, 10 ** 30, -10 ** 30]
    holds = SIGNS
    for limit in limits:
        for sign, compare in holds.items():
            assert p.matches(where="v %s %r" % (sign, limit)) == sum(compare(v, limit) for v in values), (sign, limit)
            assert p.matches(where="%r %s v" % (limit, sign)) == sum(compare(limit, v) for v in values), (sign, limit)


def test_boxes(crowd):
    p, data = crowd
    x = data["position"]
    inside = (x[:, 0] >= 0.2) & (x[:, 0] < 0.5) & (x[:, 2] < 0.7)
    wanted = set(data["id"][inside].tolist())
    assert ids(p.query(box=[(0.2, 0.5), None, (None, 0.7)])) == wanted
    assert ids(p.query(box={"x": (0.2, 0.5), "z": slice(None, 0.7)})) == wanted
    assert ids(p.query(box=np.s_[0.2:0.5, :, :0.7], where="T > 300")) == wanted & set(data["id"][data["T"] > 300].tolist())
    assert ids(p.query(box={"x": (0.2, 0.5), "z": (None, 0.7)}, columns=iter(["id"]))) == wanted
    for wrong in ([(0, 1)], {"q": (0, 1)}, {"x": slice(0, 1, 2)}):
        with pytest.raises((ValueError, KeyError)):
            p.query(box=wrong)


def test_conditions_are_no_box(crowd):
    with pytest.raises(TypeError, match="where='T > 300'"):
        crowd[0].query("T > 300")


def test_quality_and_progress(crowd):
    p, data = crowd
    tenth = p.query(quality=0.1)
    assert 0 < tenth.count < 0.25 * N
    parts = list(p.progressive(where="type == 2"))
    assert [quality for _, quality in parts] == [0.01, 0.1, 0.3, 1.0]
    together = [one for table, _ in parts for one in table["id"].tolist()]
    assert len(together) == len(set(together)) and set(together) == set(data["id"][data["type"] == 2].tolist())
    with pytest.raises(ValueError):
        p.query(quality=1.5)


def test_samples(crowd):
    p, data = crowd
    for seed in (0, 1, 2):
        some = p.sample(100, seed)
        assert some.count == len(ids(some)) == 100
        assert ids(p.sample(100, seed)) == ids(some)
    assert ids(p.sample(100, 1)) != ids(p.sample(100, 2))
    assert p.sample(10 * N, 1, where="type == 2").count == (data["type"] == 2).sum()


def test_histograms(crowd):
    p, data = crowd
    known = data["T"][~np.isnan(data["T"])]
    h = p.histogram("T", bins=20)
    counts, edges = np.histogram(known, 20, (known.min(), known.max()))
    assert np.array_equal(h.counts, counts) and np.allclose(h.edges, edges) and h.exact and not h.error.any()
    assert np.array_equal(h.lower, h.upper) and np.array_equal(h.lower, counts) and h.total[0] == N
    guess = p.histogram("T", bins=5, range=(200, 400), max_points=1000, where="type >= 0", box={"x": (0, 0.9)})
    chosen = data["T"][(data["type"] >= 0) & (data["position"][:, 0] < np.float64(0.9))]
    exact = np.histogram(chosen, 5, (200, 400))[0]
    assert guess.basis == "sample" and (guess.error > 0).all() and guess.points <= 1000
    assert (np.abs(guess.counts - exact) < 5 * guess.error).all()
    for few in (guess, p.histogram("T", 5, (200, 400), exact=False, where="type >= 0", box={"x": (0, 0.9)}),
                p.histogram("T", 5, (200, 400), max_bytes=3000, where="type >= 0", box={"x": (0, 0.9)})):
        assert (few.lower <= exact).all() and (exact <= few.upper).all()
        assert (few.lower <= few.counts).all() and (few.counts <= few.upper).all()
    index = p.histogram("T", exact=False)
    assert index.basis == "index" and index.points == 0 and index.level is None
    assert p.histogram("velocity", 4, component=1).counts.sum() == N
    with pytest.raises(TypeError, match="velocity has 2 components.*component=0 to 1"):
        p.histogram("velocity")
    assert p.histogram("T", 5, max_points=10 * N).exact
    ends = [250, 300, 301, 380.5]
    assert np.array_equal(p.histogram("T", ends).counts, np.histogram(known, ends)[0])
    assert p.histogram("T", 3, (300, 300)).edges[0] == 299.5
    for wrong, kind in ((dict(bins=0), bouma.InvalidError), (dict(bins=[1, 0]), bouma.InvalidError),
                        (dict(bins=[0, 1], range=(0, 1)), TypeError), (dict(component=1), IndexError),
                        (dict(exact=True, max_bytes=5), TypeError), (dict(max_bytes=0), ValueError)):
        with pytest.raises(kind):
            p.histogram("T", **wrong)


def test_errors_in_functions_come_through(crowd):
    seen = []

    def fail(table):
        seen.append(table.count)
        raise ZeroDivisionError("in the function")

    with pytest.raises(ZeroDivisionError, match="in the function"):
        crowd[0].each(fail)
    assert len(seen) == 1

    def nested(table):
        seen.append(crowd[0].query(columns=["T"]).count)  # has a session of its own

    crowd[0].each(nested, columns=["id"])
    assert seen[-1] == N


def test_arrays_outlive_everything(crowd, tmp_path):
    import gc

    path = tmp_path / "d.bouma"
    with bouma.create(path) as ds:
        ds.write({"p": {"position": np.random.default_rng(1).random((1000, 2)), "id": np.arange(1000)}})
    ds = bouma.open(path)
    found = ds[0].p.query()["id"]
    ds.close()
    del ds
    gc.collect()
    assert sorted(found.tolist()) == list(range(1000))
    found[:] = 0  # and they are ours


def test_columns(crowd):
    p, data = crowd
    assert p["velocity"].shape == (N, 2) and len(p["T"]) == N
    assert sorted(p.type[...].tolist()) == sorted(data["type"].tolist())
    assert p["type"].range == (-3, 3) and p["id"].range == (1 << 63, (1 << 63) + N - 1)
    assert p.bounds[0][0] == data["position"][:, 0].min()
    table = p.query(columns=["position", "velocity", "id"])
    frame = table.to_structured()
    assert frame.dtype.names == ("position", "velocity", "id") and np.array_equal(frame["position"], table["position"])
    pytest.importorskip("pandas")
    assert list(table.to_pandas().columns) == ["x", "y", "z", "velocity[0]", "velocity[1]", "id"]


def test_a_step_without_particles(tmp_path):
    with bouma.create(tmp_path / "d.bouma") as ds:
        p = ds.particles("p", 3, dtype="f8").variable("q", "f4").variable("v", "f8", components=2)
        with ds.step(0):
            p.put(position=np.zeros((0, 3)), q=np.zeros(0, "f4"), v=np.zeros((0, 2)))
        with ds.step(1):
            pass
        with ds.step(2):
            p.put(position=np.ones((5, 3)), q=np.ones(5, "f4"), v=np.ones((5, 2)))
    ds = bouma.open(tmp_path / "d.bouma")
    for step in ds[:2]:
        p = step["p"]
        assert p.count == 0 and list(p) == ["position", "q", "v"] and p["q"].shape == (0,)
        for found in (p.query(), p.query(where="q > 3"), p.query(box={"x": (0, 1)}, quality=0.5), p.sample(10),
                      p.sample(10, seed=3), p.query(limit=5), p.query(limit=5).refine(), p.restart()):
            assert {name: (one.shape, one.dtype.str[1:]) for name, one in found.items()} == {
                "position": ((0, 3), "f8"), "q": ((0,), "f4"), "v": ((0, 2), "f8")}
        assert p.query(columns=["q"]).to_structured().shape == (0,) and p["v"][...].shape == (0, 2)
        assert p.query(limit=5).complete and p.matches(where="q > 3") == 0
        p.each(lambda table: 1 / 0)
        assert p.histogram("q").counts.sum() == 0 and p.histogram("q", exact=False).counts.sum() == 0
        assert [some.count for some, _ in p.progressive()] == [0] * 4 and p["q"].range == (None, None)
    assert ds[2]["p"].query().count == 5
    for call in (ds[2]["p"].query, ds[0]["p"].query, ds[2]["p"].restart):
        with pytest.raises(ValueError, match="columns"):
            call(columns=[])
