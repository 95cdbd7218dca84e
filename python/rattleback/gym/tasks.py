"""What the environments ask for: observations, rewards and ends, of many worlds at once.

Observations and rewards are those of the MuJoCo environments of Gymnasium (v5) where they have one
of the same name, on models of our own; differences are said in each class. docs/manual/gym.md has
the table.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..batch import Batch


class Task:
    """A model file and its rules. Arrays have one row for each world."""

    name = ""
    file = ""
    key: str | None = None
    skip = 4                # steps for each action
    steps = 1000            # of an episode
    noise = 0.005           # of the start, uniform
    control_cost = 1e-3
    threshold: float | None = None
    height = 1              # coordinate that lifts the whole

    def controls(self, batch: Batch, actions: np.ndarray) -> np.ndarray:
        """Controls of actions from -1 to 1: the range of each actuator."""
        low, high = batch.model.act_ctrl_range.T
        return low + 0.5 * (actions + 1.0) * (high - low)

    def start(self, batch: Batch, i: int, rng: np.random.Generator) -> None:
        """Changes the start of world i, which has just been reset."""
        q = batch.q[i] + rng.uniform(-self.noise, self.noise, batch.model.nq)
        batch.q[i] = unit_quaternions(batch, q)
        self.lift(batch, i)
        batch.v[i] += self.noise * rng.standard_normal(batch.model.nv)

    def lift(self, batch: Batch, i: int) -> None:
        """Out of the floor, geom 0, where the noise has put it in."""
        gaps = batch.sim(i).gaps()
        deepest = min(gaps["at"]["gap"][gaps["geom1"] == 0], default=0.0)
        if deepest < 0.0:
            batch.q[i, self.height] -= deepest

    def observe(self, batch: Batch) -> np.ndarray:
        return np.hstack([batch.q[:, 1:], np.clip(batch.v, -10.0, 10.0)])

    def before(self, batch: Batch) -> Any:
        """What the reward needs of the time before the steps."""
        return batch.q[:, 0].copy()

    def reward(self, batch: Batch, before: Any, actions: np.ndarray,
               healthy: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        raise NotImplementedError

    def healthy(self, batch: Batch) -> np.ndarray:
        """False: the episode ends."""
        return np.ones(batch.n, bool)

    def _forward(self, batch: Batch, before: np.ndarray) -> np.ndarray:
        return (batch.q[:, 0] - before) / (self.skip * batch.timestep)


def unit_quaternions(batch: Batch, q: np.ndarray) -> np.ndarray:
    model = batch.model
    for j in range(model.njnt):
        kind = int(model.jnt_type[j])
        if kind < 2:
            at = int(model.jnt_qadr[j]) + (3 if kind == 0 else 0)
            q[at:at + 4] /= np.linalg.norm(q[at:at + 4])
    return q


def of_bodies(values: np.ndarray) -> np.ndarray:
    """(n, nbody, k) as one row for each world, without the world body."""
    return values[:, 1:].reshape(len(values), -1)


class Locomotion(Task):
    """Run along x: speed + alive bonus - control_cost |a|^2."""

    alive = 1.0
    forward = 1.0

    def reward(self, batch: Batch, before: Any, actions: np.ndarray,
               healthy: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        speed = self._forward(batch, before)
        cost = self.control_cost * np.sum(np.square(actions), axis=1)
        parts = {"reward_forward": self.forward * speed, "reward_alive": self.alive * healthy,
                 "reward_control": -cost}
        info = {"x_position": batch.q[:, 0].copy(), "x_velocity": speed, **parts}
        return sum(parts.values(), np.zeros(batch.n)), info


class Hopper(Locomotion):
    """11 observations: z, angles of torso, hip, knee, ankle, velocities. Ends when the torso is
    below 0.7 m or leans by more than 0.4 rad, or a coordinate is beyond 100."""

    name, file, skip = "Hopper", "hopper.xml", 2

    def healthy(self, batch: Batch) -> np.ndarray:
        bounded = np.all(np.abs(batch.q[:, 2:]) < 100.0, axis=1)
        return bounded & (batch.q[:, 1] > 0.7) & (np.abs(batch.q[:, 2]) < 0.4)


class Walker2d(Locomotion):
    """17 observations, as Hopper with two legs. Ends when the torso is outside 0.8 .. 2 m or leans
    by more than 1 rad."""

    name, file, skip = "Walker2d", "walker2d.xml", 2

    def healthy(self, batch: Batch) -> np.ndarray:
        z, lean = batch.q[:, 1], batch.q[:, 2]
        return (z > 0.8) & (z < 2.0) & (np.abs(lean) < 1.0)


class HalfCheetah(Locomotion):
    """17 observations; speed - 0.1 |a|^2, no bonus, no end."""

    name, file, skip = "HalfCheetah", "half_cheetah.xml", 10
    alive, control_cost, noise = 0.0, 0.1, 0.1

    def observe(self, batch: Batch) -> np.ndarray:
        return np.hstack([batch.q[:, 1:], batch.v])


class Ant(Locomotion):
    """105 observations, as v5: q without x and y (13), v (14), torque and force of the contacts on the
    13 bodies (78), cut to -1 .. 1. Ends when the torso is outside 0.2 .. 1 m."""

    name, file, key, skip = "Ant", "ant.xml", "stand", 5
    control_cost, noise = 0.5, 0.1
    contact_cost, height = 5e-4, 2

    def _contact(self, batch: Batch) -> np.ndarray:
        return np.clip(of_bodies(batch.contact_wrench()), -1.0, 1.0)

    def observe(self, batch: Batch) -> np.ndarray:
        return np.hstack([batch.q[:, 2:], batch.v, self._contact(batch)])

    def reward(self, batch: Batch, before: Any, actions: np.ndarray,
               healthy: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        total, info = super().reward(batch, before, actions, healthy)
        cost = np.sum(np.square(self._contact(batch)), axis=1)
        info["reward_contact"] = -self.contact_cost * cost
        return total + info["reward_contact"], info

    def healthy(self, batch: Batch) -> np.ndarray:
        return (batch.q[:, 2] > 0.2) & (batch.q[:, 2] < 1.0)


class Humanoid(Locomotion):
    """348 observations, as v5: q without x and y (22), v (23), of the 13 bodies the inertias (130),
    velocities (78) and, at the end, torques and forces of contacts (78), between them the forces of
    the motors (17). 5 for being alive, 1.25 times the speed of the centre of mass. Ends when the torso
    is outside 1 .. 2 m."""

    name, file, key, skip = "Humanoid", "humanoid.xml", "stand", 5
    alive, forward, control_cost, noise, height = 5.0, 1.25, 0.1, 0.01, 2
    contact_cost, most_contact_cost = 5e-7, 10.0

    def observe(self, batch: Batch) -> np.ndarray:
        return np.hstack([batch.q[:, 2:], batch.v, of_bodies(batch.body_inertia()),
                          of_bodies(batch.body_velocity()), batch.actuation()[:, 6:],
                          of_bodies(batch.contact_wrench())])

    def before(self, batch: Batch) -> Any:
        return batch.center_of_mass()[:, 0]

    def _forward(self, batch: Batch, before: np.ndarray) -> np.ndarray:
        return (batch.center_of_mass()[:, 0] - before) / (self.skip * batch.timestep)

    def reward(self, batch: Batch, before: Any, actions: np.ndarray,
               healthy: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        total, info = super().reward(batch, before, actions, healthy)
        cost = self.contact_cost * np.sum(np.square(of_bodies(batch.contact_wrench())), axis=1)
        info["reward_contact"] = -np.minimum(cost, self.most_contact_cost)
        return total + info["reward_contact"], info

    def healthy(self, batch: Batch) -> np.ndarray:
        return (batch.q[:, 2] > 1.0) & (batch.q[:, 2] < 2.0)


class Reacher(Task):
    """10 observations: cosines and sines of both angles, x and y of the target, both velocities,
    x and y from the target to the tip. - distance - 0.1 |a|^2, as v5; 50 actions."""

    name, file, skip, steps, control_cost = "Reacher", "reacher.xml", 2, 50, 0.1
    threshold = -3.75

    def start(self, batch: Batch, i: int, rng: np.random.Generator) -> None:
        batch.q[i] += rng.uniform(-0.1, 0.1, 2)
        batch.v[i] = rng.uniform(-0.005, 0.005, 2)
        angle, radius = rng.uniform(-np.pi, np.pi), 0.2 * np.sqrt(rng.uniform())
        batch.mocap[i, 0, :2] = radius * np.cos(angle), radius * np.sin(angle)

    def _off(self, batch: Batch) -> np.ndarray:
        """From the target to the tip. Sensors are those of the last step: kinematics here."""
        a = batch.q[:, 0]
        b = a + batch.q[:, 1]
        tip = 0.1 * np.stack([np.cos(a), np.sin(a)], 1) + 0.11 * np.stack([np.cos(b), np.sin(b)], 1)
        return tip - batch.mocap[:, 0, :2]

    def observe(self, batch: Batch) -> np.ndarray:
        return np.hstack([np.cos(batch.q), np.sin(batch.q), batch.mocap[:, 0, :2], batch.v,
                          self._off(batch)])

    def reward(self, batch: Batch, before: Any, actions: np.ndarray,
               healthy: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        near = -np.linalg.norm(self._off(batch), axis=1)
        cost = -self.control_cost * np.sum(np.square(actions), axis=1)
        return near + cost, {"reward_distance": near, "reward_control": cost}


class Quadruped(Locomotion):
    """42 observations: height and quaternion (5), 12 angles about "stand", velocities (18), the
    angular velocity (3) and the upward axis (3) of the trunk, what is left of 1 m/s along x (1).
    Actions move the targets of the servos by up to 0.5 rad about "stand". 1 - |speed - 1| where the
    trunk is upright, less control costs. Ends when the trunk is below 0.15 m or turned over."""

    name, file, key, skip = "Quadruped", "quadruped.xml", "stand", 5
    control_cost, noise, wanted, height = 0.02, 0.02, 1.0, 2

    def controls(self, batch: Batch, actions: np.ndarray) -> np.ndarray:
        return batch.model.key_ctrl[0] + 0.5 * actions

    def observe(self, batch: Batch) -> np.ndarray:
        stand = batch.model.key_qpos[0, 7:]
        return np.hstack([batch.q[:, 2:7], batch.q[:, 7:] - stand, batch.v, batch.sensordata,
                          self.wanted - batch.v[:, :1]])

    def reward(self, batch: Batch, before: Any, actions: np.ndarray,
               healthy: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        speed = self._forward(batch, before)
        cost = self.control_cost * np.sum(np.square(actions), axis=1)
        parts = {"reward_forward": np.maximum(-1.0, 1.0 - np.abs(speed - self.wanted)),
                 "reward_alive": 0.5 * healthy, "reward_control": -cost}
        info = {"x_position": batch.q[:, 0].copy(), "x_velocity": speed, **parts}
        return sum(parts.values(), np.zeros(batch.n)), info

    def healthy(self, batch: Batch) -> np.ndarray:
        return (batch.q[:, 2] > 0.15) & (batch.sensor("up")[:, 2] > 0.3)


class Gripper(Task):
    """A hand with two fingers lifts a cube by friction alone. 29 observations: q without the cube
    (5), v (11), the cube (7) and the grip (3) in the world, from the grip to the cube (3). Actions:
    targets of the hand and of both fingers. Reward: how near the grip is, and 10 times the height of
    the cube up to 0.1 m; info["success"] where it is above 0.08 m. 150 actions."""

    name, file, skip, steps = "Gripper", "gripper.xml", 5, 150
    control_cost = 1e-3

    def start(self, batch: Batch, i: int, rng: np.random.Generator) -> None:
        batch.q[i, 5:7] += rng.uniform(-0.08, 0.08, 2)
        angle = rng.uniform(-0.3, 0.3)
        batch.q[i, 8:12] = np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)

    def _places(self, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        grip = batch.q[:, :3] + np.array([0.0, 0.0, 0.25 - 0.09])
        return grip, batch.q[:, 5:8]

    def observe(self, batch: Batch) -> np.ndarray:
        grip, cube = self._places(batch)
        return np.hstack([batch.q[:, :5], batch.v, batch.q[:, 5:], grip, cube - grip])

    def reward(self, batch: Batch, before: Any, actions: np.ndarray,
               healthy: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        grip, cube = self._places(batch)
        near = 1.0 - np.tanh(10.0 * np.linalg.norm(cube - grip, axis=1))
        height = np.clip(cube[:, 2] - 0.025, 0.0, 0.1)
        cost = self.control_cost * np.sum(np.square(actions), axis=1)
        info = {"reward_near": near, "reward_lift": 10.0 * height, "reward_control": -cost,
                "success": cube[:, 2] > 0.08}
        return near + 10.0 * height - cost, info


TASKS: dict[str, type[Task]] = {t.name: t for t in (Hopper, Walker2d, HalfCheetah, Ant, Humanoid,
                                                    Reacher, Quadruped, Gripper)}
