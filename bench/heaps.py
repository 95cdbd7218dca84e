#!/usr/bin/env python3
"""Heaps of boxes that come to rest, in `impulse` and in `hybrid`: events, and on which faces.

    bench/heaps.py PATH_TO_rattleback [SEEDS [BOXES]]  12 of 6 take about 20 s of processor time

Prints for each stepper the collisions and shifts, the events (all micro-collisions of a tick as
one), the mean height of the boxes and how many lie on each pair of faces; then the statistic of
both counts being of one kind, chi^2 with 2 degrees. Heaps that a stepper refuses are told and left
out of both.
"""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scenes", "impulse"))
import make  # noqa: E402


def face(q):
    """Axis of the box that points up most."""
    w, x, y, z = q[3:7]
    up = (abs(2 * (x * z - w * y)), abs(2 * (y * z + w * x)), abs(1 - 2 * (x * x + y * y)))
    return up.index(max(up))


def settle(program, stepper, seed, boxes, folder):
    path = os.path.join(folder, "heap.xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(make.pile(seed, boxes).text())
    done = subprocess.run([program, "run", path, "--key", "start", "--stepper", stepper, "--time",
                           "1", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{stepper}, seed {seed}: {done.stderr.strip()}")
        return None
    return json.loads(done.stdout)


def main():
    program, seeds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 12
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    faces, heaps = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for stepper in ("impulse", "hybrid"):
            heaps[stepper] = [settle(program, stepper, seed, count, folder)
                              for seed in range(1, seeds + 1)]
    kept = [k for k in range(seeds) if heaps["impulse"][k] and heaps["hybrid"][k]]
    for stepper in heaps:
        runs = [heaps[stepper][k] for k in kept]
        collisions = sum(r["impacts"] + r["micro_collisions"] + r["shifts"] for r in runs)
        boxes = [r["qpos"][7 * k:7 * k + 7] for r in runs for k in range(count)]
        faces[stepper] = [sum(face(q) == i for q in boxes) for i in range(3)]
        print(f"{stepper}: {collisions} collisions and shifts, {sum(r['events'] for r in runs)} events,"
              f" mean height {1000 * sum(q[2] for q in boxes) / len(boxes):.2f} mm, on faces "
              f"{faces[stepper]}, {sum(r['wall'] for r in runs):.1f} s of wall time")
    n = count * len(kept)
    pairs = [(a, b) for a, b in zip(faces["impulse"], faces["hybrid"]) if a + b > 0]
    print(f"chi^2 = {sum((a - b) ** 2 / (a + b) for a, b in pairs):.2f} of {n} boxes each, "
          "below 5.99 in 95 of 100 cases where they are alike")


if __name__ == "__main__":
    main()
