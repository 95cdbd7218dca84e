"""Errors are exceptions with the sentence of the command; nothing is half done."""
import pickle

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


PRESS = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="box" pos="0 0 0.1"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1"/></body>
    <body name="press" mocap="true" pos="0 0 0.31">
      <geom name="press" type="box" size="0.2 0.2 0.1"/>
    </body>
  </worldbody>
</mujoco>
"""


def pressed():
    """A box that a press, which nothing stops, meets after 10 steps."""
    sim = rb.Sim(rb.Model.from_string(PRESS))
    sim.mocap_v[0, 2] = -0.5
    return sim


def test_failed_step_leaves_the_state():
    sim = pressed()
    with pytest.raises(rb.StepError, match="jammed") as caught:
        sim.step(1000)
    error = caught.value
    assert error.status == rb.Status.JAMMED and error.steps == 10
    twin = pressed()
    twin.step(error.steps)
    assert twin.time == sim.time and len(twin.contacts) == len(sim.contacts)
    assert np.array_equal(twin.q, sim.q) and np.array_equal(twin.v, sim.v)
    assert sim.info.njam > 0
    assert twin.hash == sim.hash
    with pytest.raises(rb.StepError, match="jammed"):
        sim.step()
    sim.mocap_v[0, 2] = 0.5
    sim.step(50)
    assert sim.hash != twin.hash


def test_failed_worlds_leave_theirs():
    batch = rb.Batch(rb.Model.from_string(PRESS), 3, threads=2)
    batch.mocap_v[1, 0, 2] = -0.5
    failed = batch.step(40)
    assert list(failed) == [1] and list(batch.steps_done) == [40, 10, 40]
    assert "jammed" in batch.error(1) and batch.error(0) == "" and list(batch.failed) == [1]
    twin = pressed()
    twin.step(10)
    assert batch.hashes[1] == twin.hash


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


@pytest.mark.parametrize("n, kind", [(-1, ValueError), (1.5, TypeError), (1.0, TypeError), ("3", TypeError),
                                     (None, TypeError), (True, TypeError), (2 ** 70, ValueError)])
def test_counts(arm, n, kind):
    for make in (lambda: rb.Sim(arm), lambda: rb.Batch(arm, 2, threads=1)):
        stepper = make()
        with pytest.raises(kind, match="n: expected"):
            stepper.step(n)
        assert np.all(np.asarray(stepper.time) == 0.0)


@pytest.mark.parametrize("value, kind", [(None, TypeError), ([1], TypeError), (1j, TypeError)])
def test_options_are_words_or_numbers(arm, value, kind):
    with pytest.raises(kind, match="tol: expected a word or a number"):
        rb.Sim(arm).step(tol=value)


def test_options_are_set_all_or_none(arm):
    sim = rb.Sim(arm)
    with pytest.raises(rb.InputError):
        sim.set_options(h=1e-4, accuracy="perfect")
    assert sim.timestep == arm.timestep


def test_numbers_that_are_not_finite_are_named(arm):
    sim = rb.Sim(arm)
    bad = np.zeros(arm.nv)
    bad[3] = np.nan
    for call in (sim.inverse_dynamics, sim.forward_dynamics):
        with pytest.raises(rb.InputError, match=r"\[3\] is not finite but NaN"):
            call(bad)
    with pytest.raises(ValueError, match=r"point\[1\] is not finite but infinite"):
        sim.jacobian("lower", [0, np.inf, 0])
    with pytest.raises(ValueError, match="time is not finite"):
        sim.time = np.nan
    with pytest.raises(ValueError, match=r"v\[3\]"):
        arm.integrate(sim.q, bad, 1.0)
    with pytest.raises(ValueError, match=r"gravity\[2\]"):
        arm.copy().set_gravity([0, 0, np.nan])


def test_attributes_that_are_not_there(arm):
    for thing in (rb.Sim(arm), rb.Batch(arm, 2, threads=1)):
        with pytest.raises(AttributeError, match="control"):
            thing.control = 1
        with pytest.raises(AttributeError):
            thing.sensordata = np.zeros(4)


def test_models_and_infos_are_constant(arm):
    before = arm.body_mass.copy()
    for name in ("body_mass", "nq", "colour"):
        with pytest.raises(AttributeError, match=name):
            setattr(arm, name, 3.0)
    assert np.array_equal(arm.body_mass, before)
    sim = rb.Sim(arm)
    sim.step()
    info = sim.info
    with pytest.raises(AttributeError, match="residual"):
        info.residual = 0.0
    assert pickle.loads(pickle.dumps(info)).residual == info.residual


def test_texts_and_paths():
    path = SCENES / "robots/arm.urdf"
    assert rb.Model.load(bytes(path)).nq == rb.Model.load(path).nq == rb.Model.load(str(path)).nq
    with pytest.raises(TypeError, match="xml: expected a text"):
        rb.Model.from_string(3)
    with pytest.raises(ValueError, match="null character"):
        rb.Model.load("a\0b.xml")
    with pytest.raises(TypeError, match="Model.load"):
        rb.Model("scene.xml")


def test_states_of_another_model(arm):
    """Also of one with the same numbers of coordinates."""
    sim = rb.Sim(arm)
    sim.step(20)
    other = rb.Sim(rb.Model.from_string(ARM.replace('name="elbow" type="hinge"',
                                                    'name="elbow" type="slide"')))
    more = rb.Sim(rb.Model.from_string(ARM.replace('<site name="tip"',
                                                   '<geom size="0.01"/><site name="tip"')))
    for stranger in (other, more):
        before = stranger.hash
        with pytest.raises(ValueError, match="another model"):
            stranger.restore(sim.save())
        assert stranger.hash == before
    heavier = arm.copy()
    heavier.set_mass("cube", 3.0)
    twin = rb.Sim(heavier)
    twin.restore(sim.save())
    assert twin.hash == sim.hash


def test_geoms_need_friction():
    spec = rb.Spec.from_string(ARM)
    spec.geom("g_cube").friction = np.nan
    with pytest.raises(rb.ModelError, match="friction"):
        spec.compile()


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
