"""Masses, Jacobians, dynamics and sensors beside MuJoCo and Pinocchio, through the Python API."""
import numpy as np
import pytest

import rattleback as rb
from conftest import ARM, SCENES

CREATURE = """
<mujoco>
  <compiler angle="radian"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <site name="imu" pos="0.05 0.02 0.03" quat="0.9 0.1 0.3 0.2"/>
      <body name="thigh" pos="0.1 0.1 0">
        <joint name="hip" type="ball"/>
        <geom type="capsule" fromto="0 0 0 0 0.1 -0.3" size="0.03"/>
        <body name="shank" pos="0 0.1 -0.3">
          <joint name="knee" axis="0.1 1 0.2" armature="0.02"/>
          <geom type="capsule" fromto="0 0 0 0.05 0 -0.3" size="0.02"/>
          <site name="foot" pos="0.05 0 -0.3"/>
        </body>
      </body>
      <body name="rod" pos="-0.2 0 0">
        <joint name="slide" type="slide" axis="0 1 1"/>
        <geom type="ellipsoid" size="0.1 0.03 0.05"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="knee" gear="3"/></actuator>
  <sensor>
    <gyro site="imu"/><velocimeter site="imu"/><framepos objtype="site" objname="foot"/>
    <framequat objtype="site" objname="foot"/><jointpos joint="knee"/><jointvel joint="slide"/>
    <ballquat joint="hip"/><ballangvel joint="hip"/><framelinvel objtype="site" objname="foot"/>
    <subtreecom body="thigh"/><accelerometer site="imu"/>
  </sensor>
</mujoco>
"""


def states(model, count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = model.integrate(model.qpos0[:model.nq], rng.normal(size=model.nv), 1.0)
        yield q, rng.normal(size=model.nv), rng.normal(size=model.nv), rng.normal(size=model.nu)


@pytest.mark.parametrize("xml", [ARM, CREATURE], ids=["arm", "creature"])
def test_mujoco(xml):
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    model = rb.Model.from_string(xml)
    sim = rb.Sim(model)
    assert (model.nq, model.nv, model.nu) == (m.nq, m.nv, m.nu)
    assert np.allclose(model.body_mass, m.body_mass)
    for q, v, a, u in states(model, 20):
        d.qpos, d.qvel, d.qacc, d.ctrl = q, v, a, u
        sim.q, sim.v, sim.ctrl = q, v, u
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)
        M = np.zeros((m.nv, m.nv))
        try:
            mujoco.mj_fullM(m, d, M)        # since 4.0
        except TypeError:
            mujoco.mj_fullM(m, M, d.qM)
        assert np.allclose(sim.mass(), M, rtol=0, atol=1e-9)
        assert np.allclose(sim.bias(), d.qfrc_bias, rtol=0, atol=1e-9)
        assert np.allclose(sim.inverse_dynamics(a), M @ a + d.qfrc_bias, rtol=0, atol=1e-9)
        assert np.allclose(M @ sim.forward_dynamics(a) + d.qfrc_bias, a, rtol=0, atol=1e-8)
        for body in range(1, m.nbody):
            point = d.xpos[body] + [0.1, -0.2, 0.3]
            jp, jr = np.zeros((3, m.nv)), np.zeros((3, m.nv))
            mujoco.mj_jac(m, d, jp, jr, point, body)
            J = sim.jacobian(body, point)
            assert np.allclose(J, np.vstack([jr, jp]), rtol=0, atol=1e-9)
            assert np.allclose(sim.body(body).pos, d.xpos[body], rtol=0, atol=1e-9)
            assert np.allclose(sim.body(body).rot.ravel(), d.xmat[body], rtol=0, atol=1e-9)
            assert np.allclose(sim.point_velocity(body, point), J @ v, rtol=0, atol=1e-9)
        assert np.allclose(sim.center_of_mass(), d.subtree_com[0], rtol=0, atol=1e-9)
        W = sim.compliance([(1, d.xpos[1]), (m.nbody - 1, d.xpos[m.nbody - 1])])
        J = np.vstack([sim.jacobian(1)[3:], sim.jacobian(m.nbody - 1)[3:]])
        assert np.allclose(W, J @ np.linalg.solve(M, J.T), rtol=1e-8, atol=1e-9)


def test_mujoco_sensors():
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(CREATURE)
    d = mujoco.MjData(m)
    model = rb.Model.from_string(CREATURE)
    sim = rb.Sim(model)
    for q, v, _, u in states(model, 10, 3):
        d.qpos, d.qvel, d.ctrl = q, v, u
        sim.q, sim.v, sim.ctrl = q, v, u
        mujoco.mj_forward(m, d)
        ours, theirs = sim.read_sensors().copy(), d.sensordata.copy()
        for k in range(model.nsensor):
            first, count = int(model.sensor_adr[k]), int(model.sensor_dim[k])
            if count == 4:                  # a quaternion and its negative are one rotation
                for x in (ours, theirs):
                    x[first:first + 4] *= np.sign(x[first])
        assert np.allclose(ours, theirs, rtol=0, atol=1e-7)


def test_pinocchio():
    pin = pytest.importorskip("pinocchio")
    path = str(SCENES / "robots/arm.urdf")
    robot = pin.buildModelFromUrdf(path)
    data = robot.createData()
    model = rb.Model.load(path)
    sim = rb.Sim(model)
    assert model.nv == robot.nv
    # Pinocchio orders joints its own way, and writes continuous ones as cosine and sine
    order = [int(robot.idx_vs[robot.getJointId(name)]) for name in model.joint_names]
    for q, v, a, _ in states(model, 20):
        sim.q, sim.v = q, v
        x, dx, ddx = (np.empty(robot.nv) for _ in range(3))
        x[order], dx[order], ddx[order] = q, v, a
        x = pin.integrate(robot, pin.neutral(robot), x)
        M = pin.crba(robot, data, x)
        M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)]
        assert np.allclose(sim.mass(), M, rtol=0, atol=1e-9)
        tau = pin.rnea(robot, data, x, dx, ddx)[order]
        assert np.allclose(sim.inverse_dynamics(a), tau, rtol=0, atol=1e-9)
        qacc = pin.aba(robot, data, x, dx, ddx)[order]
        assert np.allclose(M @ sim.forward_dynamics(a), M @ qacc, rtol=0, atol=1e-8)
        pin.framesForwardKinematics(robot, data, x)
        for body in model.body_names[1:]:
            J = pin.computeFrameJacobian(robot, data, x, robot.getFrameId(body),
                                         pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, order]
            assert np.allclose(sim.jacobian(body), np.vstack([J[3:], J[:3]]), rtol=0, atol=1e-9)


def test_distances_and_rays(arm):
    sim = rb.Sim(arm)
    found = sim.distance("floor", "g_cube")
    assert found.gap == pytest.approx(0.0001) and np.allclose(found.normal, [0, 0, 1])
    assert sim.distance("g_upper", "g_cube", reach=0.1) is None
    hit = sim.ray([0.5, 0.5, 2], [0, 0, -1])
    assert hit.name == "g_cube" and hit.distance == pytest.approx(2 - 0.1001)
    assert sim.ray([5, 5, 5], [0, 0, 1]) is None
    gaps = sim.gaps()
    pair = (gaps["geom1"] == 0) & (gaps["geom2"] == arm.geom("g_cube").id)
    assert np.allclose(gaps["at"]["gap"][pair], 0.0001)
    sim.q[4] += 1.0
    toi = sim.time_of_impact(2.0)
    assert toi.outcome == "hit" and toi.time == pytest.approx(np.sqrt(2 * 1.0001 / 9.81), abs=1e-6)
    with pytest.raises(ValueError):
        sim.ray([0, 0, 0], [0, 0, 0])
