"""Batch: shared arrays, parameters, failures, rollouts, threads."""
import copy
import pickle

import numpy as np
import pytest

import rattleback as rb
from conftest import ARM


@pytest.fixture
def starts(quadruped):
    rng = np.random.default_rng(5)
    q = np.tile(quadruped.qpos0[:quadruped.nq], (7, 1))
    q[:, 2] += rng.uniform(0, 0.1, 7)
    q[:, 7:] += rng.uniform(-0.2, 0.2, (7, quadruped.nq - 7))
    return q


def test_worlds_are_simulations(quadruped, starts):
    hashes = []
    for q in starts:
        sim = rb.Sim(quadruped)
        sim.q = q
        sim.step(100)
        hashes.append(sim.hash)
    for threads in (1, 2, 5):
        batch = rb.Batch(quadruped, 7, threads=threads)
        batch.q = starts
        for _ in range(10):
            assert len(batch.step(10)) == 0
        assert batch.hashes == hashes
        assert batch.q.shape == (7, quadruped.nq) and np.allclose(batch.time, 0.2)
        assert np.array_equal(batch.sim(3).q, batch.q[3])


def test_arrays_are_live(quadruped):
    batch = rb.Batch(quadruped, 3, threads=1)
    q = batch.q
    batch.step(5)
    assert q is batch.q and q.flags.writeable
    q[1, 2] = 2.0
    assert batch.sim(1).q[2] == 2.0
    assert not batch.sensordata.flags.writeable
    del batch
    q[0, 0] = 1.0


def test_parameters():
    model = rb.Model.from_string(ARM)
    batch = rb.Batch(model, 4, threads=2, mu=[0.0, 0.1, 0.2, 0.4])
    assert np.array_equal(batch.mu[:, 0], [0.0, 0.1, 0.2, 0.4])
    batch.v[:, 2] = 1.0
    batch.step(100)
    speed = batch.v[:, 2]
    expected = np.maximum(0.0, 1.0 - np.array([0.0, 0.1, 0.2, 0.4]) * 9.81 * 0.2)
    assert np.allclose(speed, expected, atol=0.03)
    assert model.geom("g_cube").friction == 0.6

    batch = rb.Batch(model, 3, threads=1)
    batch.gravity = [[0, 0, -9.81], [0, 0, -1.62], [0, 0, 0]]
    batch.q[:, 4] = 5.0
    batch.step(50)
    assert np.allclose(batch.v[:, 4], np.array([-9.81, -1.62, 0]) * 0.1)
    mass = batch.mass
    mass[:, 3] *= [1, 2, 3]
    batch.mass = mass
    assert np.allclose(batch.mass[:, 3], model.body("cube").mass * np.array([1, 2, 3]))
    batch.gravity[2] = [0, 0, -5]
    batch.mass[0, 3] *= 2.0
    batch.mu[2, :] = 0.25
    assert np.array_equal(batch.gravity[2], [0, 0, -5]) and np.all(batch.mu[2] == 0.25)
    assert np.isclose(batch.mass[0, 3], 2.0 * model.body("cube").mass)
    with pytest.raises(ValueError):
        batch.mu[0, 0] = -3.0
    half = 0.5 * batch.mu
    half[0] = 7.0
    assert batch.mu[0, 0] != 7.0
    assert batch.gain.shape == batch.bias.shape == (3, model.nu, 3)
    batch.gain[1, 0] = [3.0, 0.0, 0.0]
    batch.bias[2] = [[0.0, -7.0, -0.5]] * model.nu
    assert np.array_equal(batch.gain[1, 0], [3, 0, 0]) and batch.bias[2, -1, 1] == -7.0
    assert np.array_equal(batch.gain[0], model.act_gain) and np.array_equal(batch.bias[0], model.act_bias)
    with pytest.raises(ValueError, match="shape"):
        batch.gain = np.ones((model.nu + 1, 3))
    twin = pickle.loads(pickle.dumps(batch))
    assert np.array_equal(twin.gain, batch.gain) and np.array_equal(twin.bias, batch.bias)
    batch.set(mu=0.5, ids=[1])
    assert np.all(batch.mu[1] == 0.5) and np.all(batch.mu[0] != 0.5)
    batch.reset()
    assert np.all(batch.mu[1] == 0.5)
    with pytest.raises(ValueError):
        batch.mu = -1.0
    with pytest.raises(ValueError, match="shape"):
        batch.mass = np.ones((2, 2))
    with pytest.raises(TypeError):
        batch.set(colour=1)


def test_failed_worlds_keep_their_state(quadruped):
    batch = rb.Batch(quadruped, 5, threads=2)
    batch.step(3)
    before = batch.hashes
    batch.tau[2, 1] = np.nan
    batch.tau[4, 0] = np.inf
    assert list(batch.step(4)) == [2, 4] == list(batch.failed)
    assert [h == b for h, b in zip(batch.hashes, before)] == [False, False, True, False, True]
    assert "tau[1]" in batch.error(2) and batch.error(0) == ""
    assert batch.status[2] == rb.Status.BAD_INPUT and list(batch.steps_done) == [4, 4, 0, 4, 0]
    with pytest.raises(rb.StepError, match="2 of 5 worlds failed: world 2: .*tau") as caught:
        batch.step(check=True)
    assert caught.value.worlds == [2, 4]
    batch.reset([2, 4])
    assert len(batch.step()) == 0 and batch.time[2] < batch.time[0]


def test_rollout(arm):
    rng = np.random.default_rng(0)
    controls = rng.normal(size=(4, 20, arm.nu))
    results = []
    for threads in (1, 2):
        batch = rb.Batch(arm, 4, threads=threads)
        results.append(batch.rollout(controls, skip=2))
    states, sensors, certificates = results[0]
    assert states.shape == (4, 20, arm.nq + arm.nv) and sensors.shape == (4, 20, arm.nsensordata)
    assert np.array_equal(states, results[1].states)
    sim = rb.Sim(arm)
    for t in range(20):
        sim.ctrl = controls[2, t]
        sim.step(2)
        assert np.array_equal(results[0].q[2, t], sim.q)
        assert np.array_equal(results[0].v[2, t], sim.v)
        assert np.array_equal(sensors[2, t], sim.sensordata)
        assert certificates["residual"][2, t] == sim.info.residual
    with pytest.raises(ValueError, match=r"\(4, T, 2\)"):
        batch.rollout(np.zeros((4, 2)))
    controls[1, 5, 0] = np.nan
    batch = rb.Batch(arm, 4, threads=2)
    rolled = batch.rollout(controls)
    assert list(rolled.failed) == [1] and rolled.steps[1] == 5
    assert np.array_equal(rolled.states[1, 4], rolled.states[1, -1])


def test_step_with_controls(arm):
    batch = rb.Batch(arm, 2, threads=1)
    batch.step(10, np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert batch.v[0, 0] != batch.v[1, 0]
    with pytest.raises(ValueError, match="ctrl"):
        batch.step(1, np.zeros(2))
    with pytest.raises(IndexError):
        batch.reset([5])
    with pytest.raises(ValueError):
        rb.Batch(arm, 0)


def test_options_and_reset(quadruped):
    sim = rb.Sim(quadruped, accuracy="strict")
    sim.step(20)
    batch = rb.Batch(quadruped, 2, threads=2, accuracy="strict")
    batch.step(20)
    assert set(batch.hashes) == {sim.hash}
    batch.reset(np.array([True, False]))
    sim.reset()
    assert batch.hashes[0] == sim.hash != batch.hashes[1]
    assert batch.certificates()["residual"].shape == (2,)


def test_world_as_simulation():
    model = rb.Model.from_string(ARM)
    batch = rb.Batch(model, 2, threads=1)
    mass = batch.mass
    mass[1, 3] *= 4.0
    batch.mass = mass
    one, two = batch.sim(0), batch.sim(1)
    assert np.isclose(two.mass()[2, 2], 4.0 * one.mass()[2, 2])
    twin = two.copy()
    del batch, one
    two.step(20)
    twin.step(20)
    assert two.hash == twin.hash
    del two
    twin.step()


def test_batches_can_be_copied(quadruped):
    batch = rb.Batch(quadruped, 4, threads=2, mu=[0.1, 0.2, 0.3, 0.4], accuracy="strict")
    batch.q[:, 2] += [[0.0], [0.01], [0.02], [0.03]][0]
    batch.q[2, 2] += 0.05
    batch.step(50)
    others = [pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch), batch.copy()]
    assert all(other.hashes == batch.hashes for other in others)
    for one in (batch, *others):
        one.step(50)
    assert all(other.hashes == batch.hashes for other in others)
    assert all(np.array_equal(other.mu, batch.mu) for other in others)
    saved = batch.save()
    before = batch.hashes
    batch.step(20)
    batch.restore(saved[:2], ids=[0, 1])
    assert batch.hashes[:2] == before[:2] and batch.hashes[2] != before[2]
    batch.restore(saved)
    assert batch.hashes == before
    with pytest.raises(ValueError, match="states"):
        batch.restore(saved[:2])


def test_worlds_by_number(quadruped):
    batch = rb.Batch(quadruped, 3, threads=1)
    batch.q[1, 2] += 0.1
    assert batch[1].hash == batch.hashes[1] != batch.hashes[0]
    assert batch[-2].hash == batch.hashes[1] and len([w for w in batch]) == 3
    with pytest.raises(IndexError):
        batch[3]
    with pytest.raises(ValueError, match="those of the batch"):
        batch[0].threads = 2


def test_parts_of_parameters(quadruped):
    batch = rb.Batch(quadruped, 3, threads=1)
    batch.mu[1][0] = 0.5
    assert batch.mu[1, 0] == 0.5
    batch.mu[:, 1] *= 0.5
    batch.mu *= 0.5
    assert batch.mu[1, 0] == 0.25 and np.all(batch.mu[:, 1] == 0.25 * quadruped.geom(1).friction)
    held = batch.mu
    with pytest.raises(ValueError, match="mu"):
        held[2][1] = -1.0
    assert np.array_equal(held, batch.mu) and np.all(batch.mu >= 0.0)
    computed = batch.mu * 2.0
    computed[0] = 7.0
    assert batch.mu[0, 0] != 7.0


def test_worlds_have_the_options_of_the_batch(quadruped):
    """A world that is stepped by itself goes on as the batch would; so do its copy and its pickle."""
    batch = rb.Batch(quadruped, 3, threads=2, accuracy="strict", h=1e-3)
    sim = rb.Sim(quadruped, accuracy="strict", h=1e-3)
    batch.q[:, 2] += 0.01
    sim.q[2] += 0.01
    assert [world.timestep for world in batch] == [1e-3] * 3
    for world in batch:
        world.step(100)
    sim.step(100)
    assert set(batch.hashes) == {sim.hash}
    twins = [batch[2].copy(), pickle.loads(pickle.dumps(batch[2]))]
    for one in (batch, *twins):
        one.step(50)
    assert batch.hashes[2] == twins[0].hash == twins[1].hash
    batch.set_options(friction=0.0)
    batch.v[:, 0] = 1.0
    batch.step(20)
    assert len(set(batch.hashes)) == 1


def test_worlds_have_their_parameters(quadruped):
    batch = rb.Batch(quadruped, 2, threads=1)
    before = batch[1]
    batch.mu[1] = 0.05
    after = batch[1]
    assert after.model.geom(1).friction == 0.05 and batch[0].model is quadruped
    twins = [after.copy(), *(pickle.loads(pickle.dumps(world)) for world in (before, after))]
    batch.v[:, 0] = 1.0
    for one in (batch, *twins):
        if one is not batch:
            one.v[0] = 1.0
        one.step(50)
    assert {twin.hash for twin in twins} == {batch.hashes[1]} != {batch.hashes[0]}
