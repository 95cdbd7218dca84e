"""Errors are exceptions with the sentence of the command; nothing is half done."""
import numpy as np
import pytest

import rattleback as rb
from conftest import ARM, SCENES, run_command


@pytest.mark.parametrize("text", [
    "<mujoco><worldbody>\n<geom size='x'/></worldbody></mujoco>",
    "<mujoco><worldbody>\n\n<body><joint type='screw'/></body></worldbody></mujoco>",
    "<mujoco><worldbody><body></worldbody></mujoco>",
    "no xml at all",
    "<mujoco><worldbody><body><freejoint/></body></worldbody></mujoco>",
])
def test_sentence_of_the_command(text, tmp_path):
    path = tmp_path / "bad.xml"
    path.write_text(text)
    with pytest.raises(rb.ModelError) as caught:
        rb.Sim(rb.Model.load(path))
    error = caught.value
    said = run_command("run", path)
    assert said.returncode == 2
    assert said.stderr.strip() == str(error)
    assert error.file == str(path) and error.text in said.stderr
    if error.line:
        assert f"{path}:{error.line}:" in said.stderr
    assert isinstance(error, ValueError)


def test_missing_file():
    with pytest.raises(OSError, match="No such file") as caught:
        rb.Model.load("nowhere.xml")
    assert isinstance(caught.value, rb.ModelError) and caught.value.file == "nowhere.xml"


def test_nan_is_named(arm):
    model = rb.Model.from_string(ARM.replace("</actuator>", "".join(
        f'<motor name="x{k}" joint="elbow"/>' for k in range(3)) + "</actuator>"))
    sim = rb.Sim(model)
    sim.step(3)
    before = sim.hash
    sim.ctrl[3] = np.nan
    with pytest.raises(rb.StepError, match=r"ctrl\[3\]") as caught:
        sim.step(5)
    assert caught.value.status == rb.Status.BAD_INPUT and isinstance(caught.value, ValueError)
    assert sim.hash == before and caught.value.steps == 0
    sim.ctrl[3] = 0.0
    sim.step()


def test_failed_step_leaves_the_state():
    sim = rb.Sim(rb.Model.load(SCENES / "contact/dead_centre.xml"))
    with pytest.raises(rb.StepError, match="jammed") as caught:
        sim.step(10000)
    error = caught.value
    assert error.status == rb.Status.JAMMED and error.steps > 0
    twin = rb.Sim(sim.model)
    twin.step(error.steps)
    assert twin.time == sim.time and len(twin.contacts) == len(sim.contacts)
    assert np.array_equal(twin.q, sim.q) and np.array_equal(twin.v, sim.v)
    assert sim.info.njam > 0


def test_failed_step_leaves_the_hash():
    sim = rb.Sim(rb.Model.load(SCENES / "contact/dead_centre.xml"))
    with pytest.raises(rb.StepError) as caught:
        sim.step(10000)
    twin = rb.Sim(sim.model)
    twin.step(caught.value.steps)
    assert twin.hash == sim.hash


def test_budget(quadruped):
    sim = rb.Sim(quadruped)
    before = sim.hash
    with pytest.raises(rb.StepError) as caught:
        sim.step(budget=0.001)
    assert caught.value.status == rb.Status.BUDGET and sim.hash == before


@pytest.mark.parametrize("name, value", [("accuracy", "perfect"), ("stepper", "none"),
                                         ("restitution", 2.0), ("h", -1), ("nonsense", 1),
                                         ("directions", 7), ("solver", "best")])
def test_options(quadruped, name, value):
    with pytest.raises(rb.InputError, match=name):
        rb.Sim(quadruped).step(**{name: value})
    with pytest.raises(ValueError):
        rb.Sim(quadruped, **{name: value})


@pytest.mark.parametrize("value, kind", [
    (np.zeros(3), ValueError), (np.zeros((9, 1)), ValueError), ("abc", TypeError),
    (np.zeros(9, complex), TypeError), (np.array([None] * 9), TypeError), (0.0, ValueError),
    ([[1, 2], [3]], ValueError)])
def test_shapes_and_types(arm, value, kind):
    sim = rb.Sim(arm)
    before = sim.q.copy()
    with pytest.raises((ValueError, TypeError) if isinstance(value, list) else kind):
        sim.q = value
    assert np.array_equal(before, sim.q)


def test_arrays_of_any_layout(arm):
    sim = rb.Sim(arm)
    wide = np.arange(2 * arm.nq, dtype=np.float32)
    sim.q = wide[::2]
    assert np.array_equal(sim.q, wide[::2])
    sim.q = np.arange(arm.nq, dtype=np.int16)
    sim.q = wide[::-2][:arm.nq]
    sim.q = np.asfortranarray(np.arange(arm.nq, dtype=">f8"))
    assert np.array_equal(sim.q, np.arange(arm.nq))
    J = sim.jacobian("lower", np.arange(6.0)[::2])
    assert np.array_equal(J, sim.jacobian("lower", [0.0, 2.0, 4.0]))


@pytest.mark.parametrize("n, kind", [(-1, ValueError), (1.5, TypeError), ("3", TypeError),
                                     (None, TypeError), (True, TypeError)])
def test_counts(arm, n, kind):
    if n is True:
        pytest.skip("True is 1")
    with pytest.raises(kind):
        rb.Sim(arm).step(n)


def test_zero_steps(arm):
    sim = rb.Sim(arm)
    before = sim.hash
    sim.step(0)
    assert sim.hash == before


def test_wrong_owner():
    with pytest.raises(TypeError):
        rb.Sim("model.xml")
    with pytest.raises(TypeError):
        rb.Batch(None, 3)


def test_physics_that_is_not_there():
    text = ARM.replace("<option", '<option integrator="Euler"').replace(
        "</mujoco>", '<extension><plugin plugin="x"/></extension></mujoco>')
    try:
        model = rb.Model.from_string(text)
    except rb.ModelError:
        return
    assert any(w.physics == 1 for w in model.warnings)
    with pytest.raises(rb.ModelError, match="lenient"):
        rb.Sim(model)
    rb.Sim(model, lenient=True)
