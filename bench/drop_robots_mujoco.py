#!/usr/bin/env python3
"""The MJCF robots of ../shared/data/robots dropped by MuJoCo: times beside those of bench/drop_robots.py.

    python3 bench/drop_robots_mujoco.py [--poses 20] [--time 2] [--robots DIR]

The same files with a free base on a plane, the same turns as there, 0.6 m above where the file has the base, at 2 ms
with MuJoCo's default solver. A line per robot: processor time per step, deepest contact of its own. Needs `mujoco`
from PyPI."""
import argparse
import os
import random
import time

import mujoco

from drop_robots import main_files, random_turn


def compiled(path):
    spec = mujoco.MjSpec.from_file(path)
    plane = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    plane.contype = plane.conaffinity = 1  # whatever the defaults of the file say
    base = spec.worldbody.first_body()
    if not any(j.type == mujoco.mjtJoint.mjJNT_FREE for j in base.joints):
        base.add_freejoint()
    for key in list(spec.keys):
        spec.delete(key)
    model = spec.compile()
    model.opt.timestep = 0.002
    return model


def drop(model, pose, steps):
    """Processor time and the deepest contact."""
    data = mujoco.MjData(model)
    data.qpos[3:7] = random_turn(random.Random(1000 * pose + 7))
    data.qpos[2] += 0.6
    deepest, before = 0.0, time.process_time()
    for _ in range(steps):
        mujoco.mj_step(model, data)
        if data.ncon:
            deepest = max(deepest, -data.contact.dist.min())
    return time.process_time() - before, deepest


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--poses", type=int, default=20)
    parser.add_argument("--time", type=float, default=2.0)
    parser.add_argument("--robots", default=os.path.join(here, "..", "..", "shared", "data", "robots"))
    a = parser.parse_args()
    steps = round(a.time / 0.002)
    for name, _, path in main_files(a.robots):
        if not path.endswith(".xml"):
            continue
        model = compiled(path)
        runs = [drop(model, pose, steps) for pose in range(a.poses)]
        print("%s %.1f us per step, deepest %.2g m" % (name, 1e6 * sum(r[0] for r in runs) / (a.poses * steps),
                                                       max(r[1] for r in runs)), flush=True)


if __name__ == "__main__":
    main()
