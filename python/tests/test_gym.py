"""Environments: the checker of Gymnasium, vectors through Batch, certificates."""
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

import rattleback.gym
from gymnasium.utils.env_checker import check_env

NAMES = sorted(rattleback.gym.TASKS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:.*observation space (minimum|maximum) value:UserWarning")
@pytest.mark.filterwarnings("ignore:.*render:UserWarning")
def test_check_env(name):
    env = gymnasium.make(f"rattleback/{name}-v0")
    check_env(env.unwrapped, skip_render_check=True)
    observation, info = env.reset(seed=1)
    assert observation.dtype == np.float64 and info["certificate"]["residual"] == 0.0
    rng = np.random.default_rng(0)
    for _ in range(30):
        action = rng.uniform(-1, 1, env.action_space.shape).astype(np.float32)
        observation, reward, terminated, truncated, info = env.step(action)
        assert set(info["certificate"]) == {"residual", "penetration", "below_accuracy", "contacts",
                                            "failed"}
        assert info["certificate"]["residual"] < 1e-3
        assert info["certificate"]["penetration"] < 1e-5 and isinstance(reward, float)
        if terminated:
            env.reset()


def test_an_action_lasts_what_the_manual_says():
    seconds = {"Hopper": 0.008, "Walker2d": 0.008, "HalfCheetah": 0.05, "Ant": 0.05, "Humanoid": 0.015, "Reacher": 0.02,
               "Quadruped": 0.02, "Gripper": 0.02}
    assert {name: gymnasium.make(f"rattleback/{name}-v0").unwrapped.dt for name in NAMES} == seconds


def test_dimensions():
    expected = {"Hopper": (11, 3), "Walker2d": (17, 6), "HalfCheetah": (17, 6), "Ant": (105, 8),
                "Humanoid": (348, 17), "Reacher": (10, 2), "Quadruped": (42, 12),
                "Gripper": (29, 5)}
    for name, (observations, actions) in expected.items():
        env = gymnasium.make(f"rattleback/{name}-v0")
        assert env.observation_space.shape == (observations,), name
        assert env.action_space.shape == (actions,), name


@pytest.mark.parametrize("name", ["Ant", "Humanoid"])
def test_bodies_are_observed_as_mujoco_does(name):
    """Inertias, velocities, forces of motors: cinert, cvel and qfrc_actuator of MuJoCo on our model;
    contact forces carry the weight."""
    mujoco = pytest.importorskip("mujoco")
    env = gymnasium.make(f"rattleback/{name}-v0").unwrapped
    env.reset(seed=2)
    for _ in range(3):
        env.step(env.action_space.sample())
    batch = env.batch
    path = Path(rattleback.gym.__file__).parent / "models" / rattleback.gym.TASKS[name].file
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    d.qpos, d.qvel, d.ctrl = batch.q[0], batch.v[0], batch.ctrl[0]
    mujoco.mj_forward(m, d)
    assert np.allclose(batch.body_inertia()[0, 1:], d.cinert[1:], atol=1e-9)
    assert np.allclose(batch.body_velocity()[0, 1:], d.cvel[1:], atol=1e-9)
    assert np.allclose(batch.actuation()[0], d.qfrc_actuator, atol=1e-9)
    assert np.allclose(batch.center_of_mass()[0], d.subtree_com[0], atol=1e-9)
    if name == "Humanoid":
        bodies = np.hstack([d.cinert[1:].ravel(), d.cvel[1:].ravel(), d.qfrc_actuator[6:]])
        assert np.allclose(env._worlds.task.observe(batch)[0, 45:270], bodies, atol=1e-9)


def test_contact_forces_carry_the_weight():
    """At rest all of it, and no torque about the centre of mass."""
    env = gymnasium.make("rattleback/Ant-v0").unwrapped
    env.reset(seed=0)
    env.batch.step(2000, np.zeros((1, 8)))
    total = env.batch.contact_wrench()[0, 1:].sum(axis=0)
    weight = env.batch.model.mass * 9.81
    assert np.allclose(total, [0, 0, 0, 0, 0, weight], atol=1e-3 * weight)


@pytest.mark.parametrize("name", ["Hopper", "Reacher", "Quadruped", "Ant", "Humanoid"])
def test_vector_is_many_of_one(name):
    n = 3
    envs = gymnasium.make_vec(f"rattleback/{name}-v0", num_envs=n)
    assert isinstance(envs.unwrapped, rattleback.gym.RattlebackVectorEnv)
    ones = [gymnasium.make(f"rattleback/{name}-v0") for _ in range(n)]
    together, _ = envs.reset(seed=7)
    apart = [env.reset(seed=7 + i)[0] for i, env in enumerate(ones)]
    assert np.array_equal(together, apart)
    rng = np.random.default_rng(1)
    over = [False] * n
    for _ in range(60):
        actions = rng.uniform(-1, 1, envs.action_space.shape).astype(np.float32)
        together, rewards, ends, late, infos = envs.step(actions)
        for i, env in enumerate(ones):
            if over[i]:
                observation, _ = env.reset()
                assert rewards[i] == 0.0
                over[i] = False
            else:
                observation, reward, end, cut, info = env.step(actions[i])
                assert (reward, end, cut) == (rewards[i], ends[i], late[i])
                assert info["certificate"]["residual"] == infos["certificate"]["residual"][i]
                over[i] = end or cut
            assert np.array_equal(observation, together[i])


@pytest.mark.parametrize("order", ["gymnasium, rattleback", "rattleback, gymnasium", "gymnasium, rattleback.gym",
                                   "rattleback.gym, gymnasium"])
def test_registered(order):
    program = f"import {order}; gymnasium.make('rattleback/Reacher-v0').reset()"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_refusals():
    env = gymnasium.make("rattleback/Hopper-v0", disable_env_checker=True).unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action"):
        env.step(np.zeros(2))
    with pytest.raises(ValueError, match=r"action\[0, 1\] is not finite but NaN"):
        env.step(np.array([0.0, np.nan, 0.0], np.float32))
    with pytest.raises(ValueError, match="render_mode"):
        rattleback.gym.RattlebackEnv("Hopper", render_mode="human")


def test_worlds_that_fail_end():
    envs = gymnasium.make_vec("rattleback/Hopper-v0", num_envs=3, budget=0.001)
    envs.reset(seed=0)
    _, _, ends, _, infos = envs.step(np.zeros((3, 3), np.float32))
    assert ends.all() and infos["certificate"]["failed"].all()


def test_gripper_lifts_the_cube():
    """By hand: down, close, up. Friction alone holds it."""
    env = gymnasium.make("rattleback/Gripper-v0").unwrapped
    env.reset(seed=3)
    low, high = env.batch.model.act_ctrl_range.T
    x, y = env.batch.q[0, 5:7]

    def act(z, fingers, times):
        target = np.array([x, y, z, fingers, fingers])
        for _ in range(times):
            *_, info = env.step((2 * (target - low) / (high - low) - 1).astype(np.float32))
        return info

    act(0.0, 0.01, 25)
    act(-0.14, 0.01, 30)
    act(-0.14, -0.04, 20)
    info = act(0.0, -0.04, 45)
    assert info["success"]
