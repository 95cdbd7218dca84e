"""Sim: live views, names, contacts, sensors, states."""
import copy
import gc
import json
import pickle

import numpy as np
import pytest

import rattleback as rb
from conftest import ARM, SCENES


def test_views_are_live(arm):
    sim = rb.Sim(arm)
    q, v = sim.q, sim.v
    sim.step(10)
    assert q is sim.q and np.any(v != 0.0)
    q[0] = 0.25
    assert sim.joint("shoulder").q[0] == 0.25
    sim.q = np.arange(arm.nq)
    assert np.array_equal(q, np.arange(arm.nq))


def test_views_survive_growing_contacts():
    spec = rb.Spec()
    spec.add_geom("floor", type="plane", size=[0, 0, 1])
    for k in range(60):
        body = spec.add_body(f"b{k}", pos=[0.3 * (k % 8), 0.3 * (k // 8), 0.102])
        spec.add_joint(body=body, type="free")
        spec.add_geom(body=body, type="box", size=[0.1, 0.1, 0.1])
    model = spec.compile()
    sim = rb.Sim(model)
    q, pos, data = sim.q, sim._array("body_p"), sim._data()
    sim.step(1)
    # room is made for more than the step asked for: force it to move once more
    state = sim.save()
    bigger = rb.Sim(model)
    view = bigger.q
    bigger.restore(state)
    bigger.step(40)
    sim.step(40)
    assert np.array_equal(q, sim.q) and np.array_equal(view, bigger.q)
    assert sim.hash == bigger.hash
    assert len(sim.contacts) >= 200
    assert q.base is not None and pos is sim._array("body_p") and data


def test_data_moves_and_views_stay():
    """A stack that meets far more contacts than there is room for at the start."""
    from rattleback import _lib
    model = rb.Model.load(SCENES / "peers/stack_1.xml")
    sim = rb.Sim(model)
    before, q = sim._data(), sim.q
    room = _lib.read_int("rb_data", "touch_max", before)
    # a state of another size is what makes room grow
    lib = _lib.lib
    import ctypes
    lib.flat_sim_reserve.argtypes = [ctypes.c_void_p, ctypes.c_int]
    assert lib.flat_sim_reserve(sim._p, 100 * room) == 0
    assert sim._data() != before
    sim.step(20)
    other = rb.Sim(model)
    other.step(20)
    assert sim.hash == other.hash
    assert np.array_equal(q, other.q)
    assert q.__array_interface__["data"][0] == sim.q.__array_interface__["data"][0]


def test_owner_outlives_its_name():
    sim = rb.Sim(rb.Model.from_string(ARM))
    q, mass, sensor = sim.q, sim.model.body_mass, sim.sensor("s_tip")
    expected = q.copy(), mass.copy(), sensor.copy()
    del sim
    gc.collect()
    junk = [np.ones(1000) for _ in range(100)]
    assert np.array_equal(q, expected[0]) and np.array_equal(mass, expected[1])
    assert np.array_equal(sensor, expected[2]) and len(junk) == 100
    q[0] = 1.0


def test_read_only(arm):
    sim = rb.Sim(arm)
    for view in (arm.body_mass, arm.jnt_range, sim.sensordata, sim.body("upper").pos, arm.gravity):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0.0
    with pytest.raises(AttributeError):
        sim.hash = "x"


def test_names(arm):
    sim = rb.Sim(arm)
    assert arm.joint_names == ["shoulder", "elbow", "free"]
    assert np.allclose(arm.joint("shoulder").range, np.deg2rad([-2, 1.5]))
    assert arm.geom("g_cube").friction == 0.6
    assert arm.body("cube").id == 3 and arm.body("cube").mass == pytest.approx(1.0)
    assert np.allclose(sim.body("cube").pos, [0.5, 0.5, 0.0501])
    assert np.allclose(sim.site("tip").pos, [0.6, 0, 1])
    sim.actuator("m_shoulder").ctrl = 0.5
    assert sim.ctrl[0] == 0.5
    with pytest.raises(KeyError, match="did you mean 'elbow'"):
        arm.joint("elbw")
    with pytest.raises(IndexError):
        arm.body(99)
    with pytest.raises(AttributeError, match="jnt_range"):
        arm.jnt_rang
    assert "range" in dir(arm.joint(0))


def test_frames_follow_writes(arm):
    sim = rb.Sim(arm)
    sim.q[1] = -np.pi / 2
    assert np.allclose(sim.site("tip").pos, [0.3, 0, 1.3])
    sim.v[0] = 2.0
    assert np.allclose(sim.body("lower").linvel, np.cross([0, 2, 0], [0.3, 0, 0]))


def test_contacts(quadruped):
    sim = rb.Sim(quadruped)
    assert len(sim.contacts) == 0
    sim.step(200)
    contacts = sim.contacts
    assert set(contacts["name1"]) == {"floor"}
    assert sorted(contacts["name2"]) == ["fl_foot", "fr_foot", "hl_foot", "hr_foot"]
    assert contacts["force"][:, 0].sum() == pytest.approx(quadruped.mass * 9.81, rel=1e-6)
    assert np.allclose(contacts["frame"][:, 0], [0, 0, 1])
    assert np.allclose(contacts["impulse"], contacts["force"] * sim.timestep)
    assert np.all(contacts["mode"] == 2) and np.all(np.abs(contacts["gap"]) < 1e-9)
    kept = contacts.copy()
    sim.q[2] += 1.0
    sim.step()
    assert len(sim.contacts) == 0 and np.array_equal(kept["pos"], contacts["pos"])


def test_info(quadruped):
    sim = rb.Sim(quadruped)
    sim.q[2] += 0.02
    sim.step(60)
    info = sim.info
    assert 0.0 <= info.residual < 1e-6 and info.penetration < 1e-6
    assert info.below_accuracy == 0 and isinstance(info.path, str)
    assert info.energy == pytest.approx(sum(sim.energies))
    assert info.contacts == 4 and "residual" in repr(info)
    assert set(info.as_dict()) >= {"residual", "penetration", "energy", "path", "below_accuracy"}
    with pytest.raises(AttributeError, match="residual"):
        info.residuals


def test_sensors(arm):
    sim = rb.Sim(arm, key="up")
    assert np.allclose(sim.sensor("s_shoulder"), -1.0)
    sim.step(5)
    assert sim.sensor("s_shoulder")[0] == sim.q[0]
    assert np.allclose(sim.sensor("s_tip"), sim.site("tip").pos)
    sim.q[0] = 0.0
    assert sim.read_sensors()[0] == 0.0


def test_save_and_restore(quadruped):
    sim = rb.Sim(quadruped)
    sim.q[2] += 0.1
    sim.step(120)
    state = sim.save()
    sim.step(80)
    end = sim.hash
    other = rb.Sim(quadruped)
    for s in (pickle.loads(pickle.dumps(state)), state, copy.deepcopy(state)):
        other.restore(s)
        other.step(80)
        assert other.hash == end
    sim.restore(state)
    assert sim.save() == state
    with pytest.raises(ValueError, match="another model"):
        rb.Sim(rb.Model.from_string(ARM)).restore(state)
    with pytest.raises(ValueError):
        sim.restore(rb.State(state.data[:-8]))
    with pytest.raises(TypeError):
        sim.restore(b"x")


def test_pickle(quadruped):
    model = pickle.loads(pickle.dumps(quadruped))
    assert model.joint_names == quadruped.joint_names
    sim = rb.Sim(quadruped, accuracy="strict", formulation="cone")
    sim.step(50)
    again = pickle.loads(pickle.dumps(sim))
    twin = copy.deepcopy(sim)
    for s in (sim, again, twin):
        s.step(50)
    assert sim.hash == again.hash == twin.hash
    with pytest.raises(rb.ModelError):
        rb.Model.from_bytes(b"x" * 4096)


def test_changes_of_a_copy(arm):
    model = arm.copy()
    model.set_friction("g_cube", 0.0)
    model.set_friction("floor", 0.0)
    model.set_gravity([0, 0, -1.0])
    model.set_mass("cube", 2.0)
    assert arm.geom("g_cube").friction == 0.6 and model.geom("g_cube").friction == 0.0
    sim = rb.Sim(model)
    sim.joint("free").v = [1, 0, 0, 0, 0, 0]
    sim.step(200)
    assert sim.joint("free").v[0] == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(ValueError, match="mass|expected"):
        model.set_mass("cube", -1.0)


def test_spec_edits():
    spec = rb.Spec.from_string(ARM[:ARM.index("<keyframe>")] + "</mujoco>")
    spec.geom("g_cube").friction = 0.9
    spec.body("cube").pos = [0, 0.5, 0.3]
    spec.timestep = 0.001
    joint = spec.joint("elbow")
    assert joint.type == "hinge" and np.allclose(joint.axis, [0, 1, 0])
    ball = spec.add_body("ball", pos=[0, -1, 0.5])
    spec.add_joint(body=ball, type="free")
    spec.add_geom("g_ball", body="ball", type="sphere", size=[0.1, 0, 0], restitution=0.5)
    spec.add_actuator("extra", target="shoulder", gear=[2, 0, 0, 0, 0, 0])
    model = rb.Model.from_spec(spec)
    assert model.geom("g_cube").friction == 0.9 and model.timestep == 0.001
    assert model.nu == 3 and model.geom("g_ball").restitution == 0.5
    assert np.allclose(rb.Sim(model).body("cube").pos, [0, 0.5, 0.3])
    with pytest.raises(ValueError, match="expected one of"):
        spec.add_geom(type="cube")
    with pytest.raises(AttributeError, match="frction|friction"):
        spec.geom("g_cube").frction = 1.0
    with pytest.raises(ValueError, match="shape"):
        spec.body("cube").pos = [1, 2]
    spec.geom("g_cube").size = [-1, 1, 1]
    with pytest.raises(rb.ModelError):
        spec.compile()


def test_mocap():
    model = rb.Model.from_string("""
        <mujoco><worldbody><body name="hand" mocap="true" pos="0 0 1"/></worldbody></mujoco>""")
    sim = rb.Sim(model)
    sim.lead("hand", [0.1, 0, 1, 1, 0, 0, 0])
    sim.step()
    assert np.allclose(sim.body("hand").pos, [0.1, 0, 1])


def test_repr(arm):
    assert "2.6" not in repr(rb) and "nq 9" in repr(arm)
    assert "Sim at t = 0" in repr(rb.Sim(arm)) and "Spec" in repr(rb.Spec())
    assert "elbow" in repr(arm.joint("elbow"))


def test_describe():
    assert "kg" in rb.Model.describe("body_mass")


def test_json(arm):
    model = json.loads(arm.to_json())
    assert model["nq"] == arm.nq and np.allclose(model["jnt_range"], arm.jnt_range)
    assert model["option"]["timestep"] == arm.timestep
    assert model["geom_material"][0]["friction"] == arm.geom(0).friction
    sim = rb.Sim(arm)
    sim.step(10)
    data = json.loads(sim.to_json())
    assert data["q"][:arm.nq] == sim.q.tolist() and data["time"] == sim.time
    assert len(data["body_p"]) == arm.nbody and len(data["body_p"][0]) == 3


def test_every_field_can_be_read(arm):
    from rattleback import _lib
    for name in _lib.FIELDS["rb_model"]:
        getattr(arm, name)
    assert len(_lib.FIELDS["rb_model"]) > 250 and len(_lib.FIELDS["rb_data"]) > 80


def test_threads_do_not_change_bits():
    """Islands of a step are shared out; a copy, a pickle and a forked child have threads too."""
    model = rb.Model.load(SCENES / "peers/pile_100.xml")
    one, two = rb.Sim(model), rb.Sim(model, threads=2)
    assert (one.threads, two.threads) == (1, 2)
    for sim in (one, two):
        sim.step(60)
    assert one.hash == two.hash and one.info.islands > 1
    again = pickle.loads(pickle.dumps(two))
    other = two.copy()
    assert again.threads == other.threads == 2
    two.threads = 1
    for sim in (one, two, again, other):
        sim.step(5, accuracy="strict")
    assert one.hash == two.hash == again.hash == other.hash
    for bad in (0, 1.5, True, 1000):
        with pytest.raises((ValueError, TypeError), match="threads"):
            two.threads = bad


def test_models_of_specs():
    spec = rb.Spec.from_string(ARM)
    spec.body("cube").pos = [0.5, 0.5, 0.3]
    hashes = {rb.Sim(m).hash for m in (rb.Model(spec), rb.Model.from_spec(spec), spec.compile())}
    assert len(hashes) == 1


def law(sim):
    from rattleback import _lib
    return _lib.read_int("rb_step_opts", "law", sim._opts_address())


def test_law_of_the_model_stays():
    """A stepper brings its own law of restitution, unless the model or the user has chosen one."""
    text = ARM.replace("</mujoco>", '<custom><text name="rb.restitution_law" data="newton"/></custom>'
                       "</mujoco>")
    laws = [law(rb.Sim(rb.Model.from_string(x), stepper="impulse")) for x in (ARM, text)]
    assert laws == [0, 1]
    sim = rb.Sim(rb.Model.from_string(ARM), restitution_law="newton")
    sim.set_options(stepper="hybrid")
    assert law(sim) == 1


def test_spec_of_meshes_and_paths():
    """Vertices of a mesh, and the path of a spatial tendon around a cylinder, as in a file."""
    spec = rb.Spec()
    spec.add_geom("floor", type="plane", size=[0, 0, 1])
    corners = 0.1 * np.array([[1, 0, -0.7], [-1, 1, -0.7], [-1, -1, -0.7], [0, 0, 1.0]])
    spec.add_mesh("tetrahedron", vert=corners, face=[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    body = spec.add_body("part", pos=[0, 0, 0.5])
    spec.add_joint("free", body=body, type="free")
    spec.add_geom("part", body=body, type="mesh", asset="tetrahedron")
    spec.add_geom("drum", type="cylinder", size=[0.05, 0.2, 0], pos=[0, 0, 2], contype=0, conaffinity=0)
    for name, x in (("left", -0.5), ("right", 0.5)):
        spec.add_site(name, pos=[x, 0, 2.01])
    spec.add("tendon", "belt", path=[{"object": "left"}, {"type": "geom", "object": "drum"},
                                     {"type": "site", "object": "right"}])
    model = spec.compile()
    assert model.nmeshvert == 4 and model.geom("part").type == 7 and model.npath == 3
    sim = rb.Sim(model)
    sim.step(600)
    assert len(sim.contacts) == 3 and sim.info.penetration < 1e-6
    with pytest.raises(AttributeError, match="objct"):
        spec.add("tendon", "bad", path=[{"objct": "left"}])
    with pytest.raises(KeyError, match="lft"):
        spec.add("tendon", "bad", path=[{"object": "lft"}])
