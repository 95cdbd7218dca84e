"""MuJoCo's side of `bench/robots/run`: a program of its own, so that a crash costs one robot.

    mujoco_side.py start MODEL SEED VELOCITY          the start that both engines get, as JSON
    mujoco_side.py run MODEL SEED HOLD TIME START REPEATS LIMIT [RECORD]

`run` steps the model from START under the controls of `rattleback run --ctrl-random SEED,HOLD` and
prints JSON: microseconds a step (median of REPEATS), contacts, overlap beyond that of the start,
where it ends; and for the positions in RECORD, a record of our run, overlap and distance likewise,
both measured by MuJoCo's collision detection.
"""
import json
import statistics
import sys
import time

import mujoco
import numpy as np

from controls import random_controls

FREE, BALL = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL


def load(path):
    return mujoco.MjModel.from_xml_path(path)


def at_start(model, start):
    data = mujoco.MjData(model)
    for field in ("qpos", "qvel", "act", "ctrl"):
        if field in start:
            getattr(data, field)[:] = start[field]
    if "mocap" in start:
        poses = np.reshape(start["mocap"], (-1, 7))
        data.mocap_pos[:], data.mocap_quat[:] = poses[:, :3], poses[:, 3:]
    mujoco.mj_forward(model, data)
    return data


def activations(model, data):
    """Those of actuators that we run as well: plugins have none there."""
    plugin = getattr(model, "actuator_plugin", -np.ones(model.nu))
    kept = []
    for i in range(model.nu):
        first, n = model.actuator_actadr[i], model.actuator_actnum[i]
        if first >= 0 and plugin[i] < 0:
            kept += data.act[first:first + n].tolist()
    return kept


def start_of(path, seed, speed):
    """First keyframe or reference, with random velocities: nothing is left at rest."""
    model = load(path)
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    v = speed * np.random.default_rng(seed).standard_normal(model.nv)
    for j in range(model.njnt):
        if model.jnt_type[j] == FREE:  # bases are thrown less than joints are turned
            v[model.jnt_dofadr[j]:model.jnt_dofadr[j] + 6] *= 0.1
    normalise(model, data.qpos)
    start = {"qpos": data.qpos.tolist(), "qvel": v.tolist()}
    act = activations(model, data)
    if act:
        start["act"] = act
    if model.nmocap:
        poses = np.hstack([data.mocap_pos, data.mocap_quat / np.linalg.norm(data.mocap_quat, axis=1)[:, None]])
        start["mocap"] = poses.ravel().tolist()
    o = model.opt
    return {"start": start, "nv": model.nv, "nu": model.nu, "timestep": o.timestep, "keys": model.nkey,
            "capped": bool(o.iterations < 100 or o.ls_iterations < 50), "mujoco": mujoco.__version__}


def normalise(model, q):
    for j in range(model.njnt):
        if model.jnt_type[j] in (FREE, BALL):
            a = model.jnt_qposadr[j] + (3 if model.jnt_type[j] == FREE else 0)
            q[a:a + 4] /= np.linalg.norm(q[a:a + 4])


def depths(data):
    deepest = {}
    for contact in data.contact[:data.ncon]:
        pair = (int(contact.geom[0]), int(contact.geom[1]))
        deepest[pair] = max(deepest.get(pair, 0.0), -float(contact.dist))
    return deepest


def beyond(first, now):
    return max((d - max(0.0, first.get(pair, 0.0)) for pair, d in now.items()), default=0.0)


class Driver:
    """Writes the controls of each step."""

    def __init__(self, model, seed, hold):
        limited = model.actuator_ctrllimited.astype(bool)
        self.ranges = [tuple(map(float, r)) if l else None
                       for r, l in zip(model.actuator_ctrlrange, limited)]
        self.seed, self.hold, self.h = seed, hold, model.opt.timestep
        self.drawn = {}

    def interval(self, step):
        return int((step * self.h + 1e-6 * self.h) / self.hold)

    def set(self, data, step):
        k = self.interval(step)
        if k not in self.drawn:
            self.drawn[k] = random_controls(self.seed, k, self.ranges)
        data.ctrl[:] = self.drawn[k]


def blocks(driver, steps):
    """(first step, number of steps) with the same controls."""
    first = 0
    for k in range(1, steps + 1):
        if k == steps or driver.interval(k) != driver.interval(first):
            yield first, k - first
            first = k


def timed(model, start, driver, steps):
    """Processor time of all steps [s]."""
    data, spent = at_start(model, start), 0.0
    for first, n in blocks(driver, steps):
        driver.set(data, first)
        begin = time.process_time()
        mujoco.mj_step(model, data, nstep=n)
        spent += time.process_time() - begin
    return spent


def observed(model, start, driver, steps, limit):
    """Contacts, overlap and end of a run of which every step is looked at."""
    data, begin = at_start(model, start), time.monotonic()
    first, worst, contacts, done = depths(data), 0.0, 0, 0
    for step in range(steps):
        driver.set(data, step)
        mujoco.mj_step(model, data)
        worst = max(worst, beyond(first, depths(data)))
        contacts += data.ncon
        done += 1
        if time.monotonic() - begin > limit:
            break
    warnings = {mujoco.mjtWarning(i).name[8:].lower(): int(w.number)
                for i, w in enumerate(data.warning) if w.number}
    return first, worst, contacts / max(1, done), done, data.qpos.copy(), warnings


def overlap_of(model, start, record):
    """Of the positions that rattleback passed."""
    first, worst, last = None, 0.0, None
    data = at_start(model, start)
    for line in record:
        row = json.loads(line)
        data.qpos[:] = row["qpos"]
        mujoco.mj_fwdPosition(model, data)
        now = depths(data)
        first = now if first is None else first
        worst, last = max(worst, beyond(first, now)), row
    return worst, last


def apart(model, one, other):
    """Largest distance of the origins of a body [m], and its name."""
    data, places = mujoco.MjData(model), []
    for q in (one, other):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        places.append(data.xpos.copy())
    distance = np.linalg.norm(places[0] - places[1], axis=1)
    body = int(np.argmax(distance))
    return float(distance[body]), mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or str(body)


def run(path, seed, hold, seconds, start_file, repeats, limit, record=None):
    model = load(path)
    with open(start_file, encoding="utf-8") as f:
        start = json.load(f)
    driver = Driver(model, seed, hold)
    steps = max(1, round(seconds / model.opt.timestep))
    _, worst, contacts, done, end, warnings = observed(model, start, driver, steps, limit)
    times = [timed(model, start, driver, done) for _ in range(repeats)]
    answer = {"steps": done, "us": 1e6 * statistics.median(times) / done, "contacts": contacts,
              "overlap": worst, "warnings": warnings}
    if record:
        with open(record, encoding="utf-8") as lines:
            answer["overlap_ours"], last = overlap_of(model, start, lines)
        if last and done == steps and abs(last["time"] - seconds) < 0.6 * model.opt.timestep:
            answer["apart"], answer["apart_body"] = apart(model, last["qpos"], end)
    return answer


def main():
    what, path, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if what == "start":
        answer = start_of(path, seed, float(sys.argv[4]))
    else:
        hold, seconds, start, repeats, limit = sys.argv[4:9]
        answer = run(path, seed, float(hold), float(seconds), start, int(repeats), float(limit),
                     *sys.argv[9:10])
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
