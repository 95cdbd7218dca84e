"""Environments of Gymnasium with certified contact: `gymnasium.make("rattleback/Hopper-v0")`.

    import gymnasium
    import rattleback.gym                      # registers them
    env = gymnasium.make("rattleback/Hopper-v0")
    envs = gymnasium.make_vec("rattleback/Hopper-v0", num_envs=64)      # one Batch, in C

Hopper, Walker2d, HalfCheetah, Ant, Humanoid, Reacher, Quadruped, Gripper. Every info has a
certificate: residual, penetration, below_accuracy, contacts of the last step. docs/manual/gym.md.
"""
from __future__ import annotations

import os
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ..batch import Batch
from ..model import Model, finite
from .tasks import TASKS, Task

__all__ = ["RattlebackEnv", "RattlebackVectorEnv", "TASKS", "Task", "register_all"]

_models: dict[str, Model] = {}


def _load(task: Task) -> Model:
    found = _models.get(task.file)
    if found is None:
        path = os.path.join(os.path.dirname(__file__), "models", task.file)
        found = _models[task.file] = Model.load(path)
    return found


class _Worlds:
    """A batch and the rules of its task: what one environment and many share."""

    def __init__(self, name: str, n: int, threads: int | None, options: dict[str, Any]):
        self.task = TASKS[name]()
        self.batch = Batch(_load(self.task), n, threads, key=self.task.key, **options)
        size = self.task.observe(self.batch).shape[1]
        self.observations = spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.actions = spaces.Box(-1.0, 1.0, (self.batch.model.nu,), np.float32)

    def reset(self, ids: np.ndarray, rngs: list[np.random.Generator]) -> None:
        self.batch.reset(ids, self.task.key)
        for i in ids:
            self.task.start(self.batch, int(i), rngs[int(i)])

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """Rewards, ends and infos. A world without a certified step ends."""
        batch, task = self.batch, self.task
        actions = np.clip(finite(actions, None, "action"), -1.0, 1.0)
        before = task.before(batch)
        failed = np.zeros(batch.n, bool)
        failed[batch.step(task.skip, task.controls(batch, actions))] = True
        healthy = task.healthy(batch) & ~failed
        rewards, told = task.reward(batch, before, actions, healthy)
        return rewards, ~healthy, {**told, "certificate": self.certificate(failed)}

    def certificate(self, failed: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Of the last step of each world, zero behind a reset."""
        last = self.batch.certificates()
        return {**{name: last[name] for name in last.dtype.names or ()},
                "failed": np.zeros(self.batch.n, bool) if failed is None else failed}


class RattlebackEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """One environment. name: of a task; options: of steps, accuracy="fast" for example."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, name: str, render_mode: str | None = None, **options: Any):
        if render_mode is not None:
            raise ValueError("render_mode: there is none; rattleback has no viewer of its own")
        self._worlds = _Worlds(name, 1, 1, options)
        self.observation_space = self._worlds.observations
        self.action_space = self._worlds.actions
        self.render_mode = None

    @property
    def batch(self) -> Batch:
        return self._worlds.batch

    @property
    def dt(self) -> float:
        """Time of an action [s]."""
        return self._worlds.task.skip * self.batch.timestep

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self._worlds.reset(np.zeros(1, np.int32), [self.np_random])
        return (self._worlds.task.observe(self.batch)[0],
                {"certificate": _first(self._worlds.certificate())})

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        action = np.asarray(action)
        if action.shape != self.action_space.shape:
            raise ValueError(f"action: expected the shape {self.action_space.shape}, not "
                             f"{action.shape}")
        rewards, ends, info = self._worlds.step(action[None])
        single = {k: _first(v) for k, v in info.items()}
        return (self._worlds.task.observe(self.batch)[0], float(rewards[0]), bool(ends[0]), False,
                single)


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _first(v) for k, v in value.items()}
    return value[0].item() if np.ndim(value[0]) == 0 else value[0]


class RattlebackVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Many environments in one Batch: what make_vec makes. World i with the seed s behaves, bit for
    bit, as one environment with the seed s + i."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, name: str, num_envs: int = 1, max_episode_steps: int | None = None,
                 threads: int | None = None, render_mode: str | None = None, **options: Any):
        if render_mode is not None:
            raise ValueError("render_mode: there is none; rattleback has no viewer of its own")
        self._worlds = _Worlds(name, num_envs, threads, options)
        self.num_envs = num_envs
        self.single_observation_space = self._worlds.observations
        self.single_action_space = self._worlds.actions
        self.observation_space = batch_space(self._worlds.observations, num_envs)
        self.action_space = batch_space(self._worlds.actions, num_envs)
        self._most = max_episode_steps or self._worlds.task.steps
        self._age = np.zeros(num_envs, int)
        self._over = np.zeros(num_envs, bool)
        self._rngs = [seeding.np_random(None)[0] for _ in range(num_envs)]

    @property
    def batch(self) -> Batch:
        return self._worlds.batch

    def reset(self, *, seed: int | list[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed if isinstance(seed, int) else None)
        if isinstance(seed, (int, np.integer)):
            seed = [int(seed) + i for i in range(self.num_envs)]
        for i, own in enumerate(seed or []):
            if own is not None:
                self._rngs[i] = seeding.np_random(own)[0]
        self._worlds.reset(np.arange(self.num_envs, dtype=np.int32), self._rngs)
        self._age[:] = 0
        self._over[:] = False
        return self._worlds.task.observe(self.batch), {"certificate": self._worlds.certificate()}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray,
                                                 dict[str, Any]]:
        actions = np.asarray(actions)
        if actions.shape != self.action_space.shape:
            raise ValueError(f"actions: expected the shape {self.action_space.shape}, not "
                             f"{actions.shape}")
        over = self._over.copy()
        rewards, ends, info = self._worlds.step(actions)
        self._age += 1
        late = self._age >= self._most
        if over.any():          # these begin anew instead of having made a step
            self._worlds.reset(np.flatnonzero(over).astype(np.int32), self._rngs)
            rewards[over], ends[over], late[over], self._age[over] = 0.0, False, False, 0
        self._over = ends | late
        return self._worlds.task.observe(self.batch), rewards, ends, late, info


def register_all() -> None:
    """Registers rattleback/Hopper-v0 and the others; done when this module is imported."""
    for name, task in TASKS.items():
        identity = f"rattleback/{name}-v0"
        if identity not in gymnasium.registry:
            gymnasium.register(identity, entry_point="rattleback.gym:RattlebackEnv",
                               vector_entry_point="rattleback.gym:RattlebackVectorEnv",
                               kwargs={"name": name}, max_episode_steps=task.steps,
                               reward_threshold=task.threshold)


register_all()
