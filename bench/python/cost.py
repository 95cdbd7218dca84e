"""What Python costs: calls beside the C loop they stand for, and beside MuJoCo's Python, in one run.

usage: cost.py [--repeat N] [--check] [--out FILE] [--batch]    PYTHONPATH, RATTLEBACK_LIBRARY as for the tests

Times are the least of several rounds: those of the calls themselves, not of a busy machine.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import time

import numpy as np

import rattleback as rb
from rattleback import _lib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCENES = os.path.join(ROOT, "scenes")

TWO_BOXES = """
<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="a" pos="0 0 0.1"><freejoint/><geom name="a" type="box" size="0.1 0.1 0.1"/></body>
<body name="b" pos="1 0 0.1"><freejoint/><geom name="b" type="box" size="0.1 0.1 0.1"/></body>
</worldbody></mujoco>"""


def least(function, count, repeat, clock=time.perf_counter):
    """Seconds of one of `count` calls, the least of `repeat` rounds. Long ones take the clock of the
    processor, which does not run while others do."""
    best = np.inf
    for _ in range(repeat):
        begin = clock()
        for _ in range(count):
            function()
        best = min(best, (clock() - begin) / count)
    return best


def swing(sim):
    sim.reset()
    sim.q[:2] = [1.0, 0.5]


def cost_of_a_step(repeat):
    """A double pendulum in motion: step() beside step(n), which is the loop in C."""
    sim = rb.Sim(rb.Model.load(os.path.join(SCENES, "robots/double_pendulum.xml")))
    n, python, c = 500, np.inf, np.inf
    for _ in range(20 * repeat):
        swing(sim)
        python = min(python, least(sim.step, n, 1))
        swing(sim)
        c = min(c, least(lambda: sim.step(n), 1, 1) / n)
    return python, c


def random_starts(model, n):
    rng = np.random.default_rng(0)
    q = np.tile(model.qpos0[:model.nq], (n, 1))
    q[:, 2] += rng.uniform(0.0, 0.05, n)
    q[:, 7:] += rng.uniform(-0.1, 0.1, (n, model.nq - 7))
    return q


def cost_of_a_batch(repeat, n=1000, steps=10):
    """Quadrupeds that land: Batch.step beside a loop over rb_step in C, both on one thread and from the
    same states. Processor time of a world, the mean over the steps of the least of all rounds; who goes
    first changes, as the second finds the caches full of the first."""
    model = rb.Model.load(os.path.join(SCENES, "robots/quadruped.xml"))
    q = random_starts(model, n)
    batch = rb.Batch(model, n, threads=1)
    sims = [rb.Sim(model) for _ in range(n)]
    pointers = (ctypes.c_void_p * n)(*[s._data() for s in sims])
    status, opts, many = (ctypes.c_int * n)(), sims[0]._opts_address(), _lib.lib.rb_step_many
    many.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int] + [ctypes.c_void_p] * 4
    calls = [batch.step, lambda: many(model._address, pointers, n, opts, None, None, status)]
    times = np.empty((repeat, steps, 2))
    for r in range(repeat):
        batch.reset()
        batch.q = q
        for s, own in zip(sims, q):
            s.reset()
            s.q[:] = own
        for k in range(steps):
            for which in (0, 1) if (r + k) % 2 else (1, 0):
                times[r, k, which] = least(calls[which], 1, 1, time.process_time) / n
    return [float(x) for x in times.min(axis=0).mean(axis=0)]


def cost_of_batches(repeat, processes=5):
    """The same in fresh processes: where memory happens to lie makes some percent, which rounds within
    one process do not even out. The middle one by the ratio of the two."""
    command = [sys.executable, os.path.abspath(__file__), "--batch", "--repeat", str(repeat)]
    found = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
             for _ in range(processes)]
    return sorted(found, key=lambda pair: pair[0] / pair[1])[processes // 2]


def mujoco_rows(repeat):
    try:
        import mujoco
        from mujoco import rollout
    except ImportError:
        return []
    rows = []
    m = mujoco.MjModel.from_xml_path(os.path.join(SCENES, "robots/double_pendulum.xml"))
    d = mujoco.MjData(m)
    d.qpos[:2] = [1.0, 0.5]
    rows.append(("mujoco.mj_step, double pendulum", least(lambda: mujoco.mj_step(m, d), 200, 20 * repeat)))
    m = mujoco.MjModel.from_xml_path(os.path.join(SCENES, "robots/quadruped.xml"))
    n, steps = 200, 10
    d = mujoco.MjData(m)
    q = random_starts(rb.Model.load(os.path.join(SCENES, "robots/quadruped.xml")), n)
    size = mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros((n, size))
    start[:, 1:1 + m.nq] = q
    rows.append(("mujoco.rollout, 200 quadrupeds, 10 steps, one thread",
                 least(lambda: rollout.rollout(m, d, start, nstep=steps), 1, repeat,
                       time.process_time) / (n * steps)))
    return rows + mujoco_batch_rows(m, repeat)


def mujoco_batch_rows(m, repeat, n=1000, steps=10):
    """mujoco.batch, which is there since 4.0."""
    try:
        from mujoco.batch import Batch
    except ImportError:
        return []
    batch = Batch(m, nsim=n, nthread=1)
    q = random_starts(rb.Model.load(os.path.join(SCENES, "robots/quadruped.xml")), n)
    best = np.inf
    for _ in range(max(2, repeat // 3)):
        batch.qpos = q
        batch.qvel = np.zeros((n, m.nv))
        for _ in range(steps):
            best = min(best, least(batch.step, 1, 1, time.process_time) / n)
    return [("mujoco.batch, a world of 1000 quadrupeds", best)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--out")
    parser.add_argument("--batch", action="store_true", help="that of a batch and of the C loop alone")
    parser.add_argument("--check", action="store_true", help="end with 1 where a bar is missed")
    options = parser.parse_args()
    repeat = options.repeat
    if options.batch:
        print(json.dumps(cost_of_a_batch(repeat)))
        return
    python, c = cost_of_a_step(repeat)
    ours, loop = cost_of_batches(repeat)
    sim = rb.Sim(rb.Model.from_string(TWO_BOXES))
    sim.step(5)
    assert len(sim.contacts) == 8
    contacts = least(lambda: sim.contacts, 200, 20 * repeat)
    rows = [("sim.step(), double pendulum", python), ("the same in C", c),
            ("what Python adds", python - c),
            ("Batch.step(), a world of 1000 quadrupeds", ours),
            ("the same in C (rb_step_many)", loop),
            ("sim.contacts, 8 contacts", contacts),
            ("sim.q", least(lambda: sim.q, 200, 20 * repeat)),
            ("sim.body(\"a\").pos", least(lambda: sim.body("a").pos, 200, 20 * repeat)),
            ("sim.info", least(lambda: sim.info, 200, 20 * repeat)),
            ("sim.save()", least(sim.save, 200, 20 * repeat))]
    quadruped = rb.Model.load(os.path.join(SCENES, "robots/quadruped.xml"))
    small = rb.Batch(quadruped, 200, threads=1)
    controls = np.zeros((200, 10, 0))
    q = random_starts(quadruped, 200)

    def roll():
        small.reset()
        small.q = q
        small.rollout(controls)

    rows.append(("Batch.rollout, 200 quadrupeds, 10 steps, one thread",
                 least(roll, 1, repeat, time.process_time) / 2000))
    rows += mujoco_rows(repeat)
    lines = [f"{name:55s} {1e6 * seconds:9.2f} us" for name, seconds in rows]
    more = ours / loop - 1.0
    lines.append(f"{'Batch.step() over the C loop':55s} {100 * more:+9.2f} %")
    print("\n".join(lines))
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    if options.check:
        check({"what Python adds [us]": (1e6 * (python - c), 1.5), "Batch.step() [%]": (100 * more, 2.0),
               "sim.contacts [us]": (1e6 * contacts, 5.0)})


def check(bars):
    """The bars of issue 24."""
    missed = [f"{name} {value:.2f}, at most {most:g}" for name, (value, most) in bars.items()
              if value > most]
    if missed:
        sys.exit("missed: " + "; ".join(missed))
    print("bars met: " + ", ".join(f"{name} <= {most:g}" for name, (_, most) in bars.items()))


if __name__ == "__main__":
    main()
