"""yt on steps of bouma."""
import numpy as np
import pytest

import bouma

yt = pytest.importorskip("yt")
yt.set_log_level(50)


@pytest.fixture
def step(example):
    return bouma.open(example)[-1]


def values(data, field, unit):
    whole = data.covering_grid(0, data.domain_left_edge, data.domain_dimensions)
    return whole["stream", field].to(unit).v


def test_a_grid(step):
    data = step.to_yt()
    assert np.array_equal(values(data, "density", "kg/m**3").T.astype("f4"), step["flow/density"][...])
    for i, axis in enumerate("xyz"):
        assert np.allclose(values(data, "velocity_" + axis, "m/s").T, step["flow/velocity"][..., i], rtol=1e-14)
    assert np.allclose(data.domain_left_edge.to("m").v, -1 / 64) and float(data.current_time) == 0.2
    x = data.all_data()["index", "x"].to("m").v  # the positions of the samples
    assert np.allclose(np.unique(x.round(9)), step.flow.coords["x"])
    again = step.dataset.to_yt(fields=["density"], level=2)
    assert [name for _, name in again.field_list] == ["density"] and list(again.domain_dimensions) == [8, 8, 8]
    assert np.array_equal(values(again, "density", "kg/m**3").T.astype("f4"), step["flow/density"].level(2)[...])


def test_particles(step):
    everything = step.coal.query()
    data = step.to_yt("coal").all_data()
    order = np.argsort(data["io", "particle_T"].to("K").v)
    mine = np.argsort(everything["T"])
    assert np.array_equal(data["io", "particle_T"][order].v.astype("f4"), everything["T"][mine])
    for i, axis in enumerate("xyz"):
        found = data["io", "particle_position_" + axis].to("m").v[order]
        assert np.allclose(found, everything["position"][mine, i], rtol=1e-6)
    assert len(step.to_yt("coal", limit=100, fields=["T"]).all_data()["io", "particle_T"]) == 100
    both = step.to_yt("flow", particles="coal").all_data()
    inside = (everything["position"] < 1 - 1 / 64).all(axis=1)  # yt leaves out those outside of the cells
    assert len(both["io", "particle_T"]) == inside.sum() and both["stream", "density"].size == 32**3


def test_what_yt_knows_less_of(tmp_path):
    with bouma.create(tmp_path / "d.bouma") as ds:
        plate = ds.grid("plate", (3, 4), spacing=(1.0, -2.0), origin=(0.0, 6.0), unit="furlongs")
        plate.variable("b", "i4", unit="of some kind")
        ds.particles("flat", ndims=2)
        with ds.step(0) as step:
            step.put("plate/b", np.arange(12, dtype="i4").reshape(3, 4))
            step.put("flat", {"position": np.array([[0.5, 1.0], [2.0, 2.0]])})
    step = bouma.open(tmp_path / "d.bouma")[0]
    data = step.to_yt("plate")
    assert list(data.domain_dimensions) == [4, 3, 1]
    assert np.array_equal(values(data, "b", "dimensionless")[:, :, 0].T, np.arange(12).reshape(3, 4)[:, ::-1])
    assert np.allclose(data.domain_left_edge.v[:2], [-1, -0.5])
    found = step.to_yt("flat").all_data()
    assert sorted(found["io", "particle_position_y"].v) == [1, 2] and set(found["io", "particle_position_z"].v) == {0}


def test_wrong_calls(step):
    with pytest.raises(KeyError, match="did you mean 'flow'"):
        step.to_yt("flo")
    with pytest.raises(KeyError, match="did you mean 'flow/density'"):
        step.to_yt("flow", fields=["densty"])
    with pytest.raises(IndexError, match="level 9"):
        step.to_yt("flow", level=9)
    with pytest.raises(KeyError, match="coal"):
        step.to_yt("flow", particles="cole")
    with pytest.raises(TypeError, match="set of particles"):
        step.to_yt("coal", level=1)
