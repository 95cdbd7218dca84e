#!/usr/bin/env python3
"""Heaps of boxes that come to rest, in `impulse` and in `hybrid`: events, heights, faces.

    bench/heaps.py PATH_TO_rattleback [SEEDS [BOXES [SECONDS]]]  12 of 6 take half a minute of a core

Prints for each stepper the events, the problems solved, mean height of the boxes and share of boxes on
their largest faces; then, for both measures, the difference with its standard error, the probability
of one as large between heaps that are alike (permutations of heaps, not of boxes: boxes of a heap
lean on each other and are no independent draws) and the least difference that so many heaps
show in 8 of 10 cases. Heaps that a stepper refuses, that do not rest or take more than LIMIT
seconds are told and left out.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scenes", "impulse"))
import make  # noqa: E402

STEPPERS = ("impulse", "hybrid")
LIMIT = 600  # seconds of wall time of one run
STILL = 1e-3  # m/s and rad/s: faster is not at rest


def is_flat(q):
    """It lies on one of its two largest faces: the axis that points up most is z."""
    w, x, y, z = q[3:7]
    up = (abs(2 * (x * z - w * y)), abs(2 * (y * z + w * x)), abs(1 - 2 * (x * x + y * y)))
    return up.index(max(up)) == 2


def settle(program, stepper, seed, boxes, seconds, folder):
    path = os.path.join(folder, "heap.xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(make.pile(seed, boxes).text())
    try:
        done = subprocess.run([program, "run", path, "--key", "start", "--stepper", stepper,
                               "--time", str(seconds), "--json"],
                              capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        print(f"{stepper}, seed {seed}: not done after {LIMIT} s")
        return None
    if done.returncode != 0:
        print(f"{stepper}, seed {seed}: {done.stderr.strip()}")
        return None
    told = json.loads(done.stdout)
    if max(abs(v) for v in told["qvel"]) > STILL:
        print(f"{stepper}, seed {seed}: moves after {seconds} s")
        return None
    return told


def measures(told, boxes):
    """Of one heap: mean height [mm] and share of boxes that lie flat."""
    poses = [told["qpos"][7 * k:7 * k + 7] for k in range(boxes)]
    return (1000 * sum(q[2] for q in poses) / boxes, sum(is_flat(q) for q in poses) / boxes)


def moments(x):
    mean = sum(x) / len(x)
    return mean, math.sqrt(sum((a - mean) ** 2 for a in x) / (len(x) - 1) / len(x))


def compare(name, a, b):
    """Both samples by the test of permutations, and what it could have seen."""
    (mean_a, error_a), (mean_b, error_b) = moments(a), moments(b)
    error, seen = math.hypot(error_a, error_b), abs(mean_a - mean_b)
    draw, both, tries, larger = random.Random(1), a + b, 20000, 0
    for _ in range(tries):
        draw.shuffle(both)
        apart = sum(both[:len(a)]) / len(a) - sum(both[len(a):]) / len(b)
        larger += abs(apart) >= seen - 1e-12
    print(f"{name}: {mean_a:.3g} +- {error_a:.2g} and {mean_b:.3g} +- {error_b:.2g}, difference "
          f"{mean_a - mean_b:+.2g} +- {error:.2g}, p = {larger / tries:.2f}; "
          f"{2.8 * error:.2g} would be seen in 8 of 10 cases")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    given = [float(x) for x in sys.argv[2:]] + [12, 6, 2][len(sys.argv) - 2:]
    program, seeds, boxes, seconds = os.path.abspath(sys.argv[1]), int(given[0]), int(given[1]), given[2]
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        for stepper in STEPPERS:
            found = [settle(program, stepper, seed, boxes, seconds, folder)
                     for seed in range(1, seeds + 1)]
            runs[stepper] = [told for told in found if told]
    for stepper, told in runs.items():
        print(f"{stepper}: {len(told)} heaps, {sum(r['events'] for r in told)} events, resolved "
              f"{sum(r['resolved'] for r in told)} times, deepest overlap "
              f"{max(r['penetration_max'] for r in told):.1e} m, {sum(r['wall'] for r in told):.1f} s")
    heaps = [[measures(r, boxes) for r in runs[stepper]] for stepper in STEPPERS]
    for k, name in enumerate(("mean height [mm]", "share that lies flat")):
        compare(name, *([heap[k] for heap in side] for side in heaps))


if __name__ == "__main__":
    main()
