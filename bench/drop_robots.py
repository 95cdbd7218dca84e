#!/usr/bin/env python3
"""Drop every robot of ../shared/data/robots on the ground from 0.3 m in random poses.

    python3 bench/drop_robots.py build/release/bin/rattleback [--poses 20] [--time 2] [--robots DIR]
                                 [--only NAME] [--results FILE]

Each pose turns the free base at random and lifts it until its lowest point is 0.3 m above the ground. A line
per robot: steps, runs that failed, penetration beyond what the pose starts with, overlap at the start with the
names of the pairs, worst residual, processor time per step, that of a run without steps taken off. A line of JSON per pose goes to
--results; poses that it has already are not dropped again, so that a campaign can be cut off. Exit status 1 where a
run failed or the penetration exceeds 1e-6 m."""
import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
from xml.etree import ElementTree


def call(arguments, timeout):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=timeout)


def options_of(folder):
    return ["--lenient", "--floating-base", "--ground", "0",
            "--package", "example-robot-data=" + folder, "--package", "drake_models=" + folder]


def has_bodies(path):
    """A URDF, or an MJCF file with bodies of its own: not a scene around a robot, not its keyframes."""
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError):
        return False
    return root.tag == "robot" or (root.tag == "mujoco" and root.find("worldbody//body") is not None)


def main_files(root):
    for name in sorted(os.listdir(root)):
        folder = os.path.join(root, name)
        found = sorted(os.path.join(d, f) for d, _, fs in os.walk(folder) for f in fs
                       if f.endswith((".urdf", ".xml")))
        found = [path for path in found if has_bodies(path)]
        if found:
            yield name, folder, found[0]


def random_turn(rng):
    q = [rng.gauss(0.0, 1.0) for _ in range(4)]
    length = math.sqrt(sum(x * x for x in q))
    return [x / length for x in q]


def with_state(qpos, arguments, timeout):
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
        json.dump({"qpos": qpos}, f)
    answer = call(arguments + ["--state", f.name], timeout)
    os.unlink(f.name)
    return answer


def gaps_at(command, model, options, qpos):
    answer = with_state(qpos, [command, "compute", model, "--what", "gaps"] + options, 300)
    return json.loads(answer.stdout)["gaps"]


def drop(command, model, options, qpos, rng, time):
    """Overlaps at the start, the summary of the run, the last line it said, its processor time."""
    q = list(qpos)
    q[3:7] = random_turn(rng)
    gaps = gaps_at(command, model, options, q)
    lowest = min((g["gap"] for g in gaps if "ground" in (g["geom1"], g["geom2"])), default=0.0)
    q[2] += 0.3 - lowest
    overlaps = {(g["geom1"] or g["id1"], g["geom2"] or g["id2"]): -g["gap"]
                for g in gaps_at(command, model, options, q) if g["gap"] < 0.0}
    run = [command, "run", model, "--step", "0.002", "--json"] + options
    before = processor_time()
    with_state(q, run + ["--time", "0"], 300)
    loading = processor_time() - before
    answer = with_state(q, run + ["--time", str(time)], 1200)
    cpu = max(0.0, processor_time() - before - 2.0 * loading)
    summary = json.loads(answer.stdout) if answer.stdout.startswith("{") else None
    return overlaps, summary, answer.stderr.strip().splitlines()[-1:], cpu


def start_of(command, model, options):
    answer = call([command, "run", model, "--time", "0", "--json"] + options, 300)
    if not answer.stdout.startswith("{"):
        return answer.stderr.strip().splitlines()[-1]
    return json.loads(answer.stdout)["qpos"]


def processor_time():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def drop_pose(a, name, model, options, qpos, pose):
    """What is kept of a pose."""
    rng = random.Random(1000 * pose + 7)
    overlaps, summary, message, cpu = drop(a.command, model, options, qpos, rng, a.time)
    kept = {"robot": name, "pose": pose, "time": a.time, "cpu": cpu,
            "overlap": max(overlaps.values(), default=0.0), "pairs": sorted(map(str, overlaps)),
            "message": " ".join(message)}
    for key in ("steps", "failures", "penetration_max", "residual_max"):
        kept[key] = summary[key] if summary else None
    return kept


def poses_of(a, name, model, options, qpos):
    """Those of the results file, then those that are missing there."""
    known = {}
    if a.results and os.path.exists(a.results):
        with open(a.results) as f:
            for line in map(json.loads, f):
                if line["robot"] == name and line["time"] == a.time:
                    known[line["pose"]] = line
    for pose in range(a.poses):
        if pose not in known:
            known[pose] = drop_pose(a, name, model, options, qpos, pose)
            if a.results:
                with open(a.results, "a") as f:
                    f.write(json.dumps(known[pose]) + "\n")
        yield known[pose]


def drop_robot(a, name, folder, model):
    options = options_of(folder)
    qpos = start_of(a.command, model, options)
    if isinstance(qpos, str):
        print("%s does not start: %s" % (name, qpos), flush=True)
        return False
    steps = failures = cpu = 0
    beyond = residual = initial = 0.0
    names = set()
    for pose in poses_of(a, name, model, options, qpos):
        names |= set(pose["pairs"])
        initial = max(initial, pose["overlap"])
        if pose["steps"] is None or pose["failures"]:
            failures += 1
            print("  %s pose %d: %s" % (name, pose["pose"], pose["message"]), file=sys.stderr)
        if pose["steps"] is None:
            continue
        steps += pose["steps"]
        cpu += pose["cpu"]
        residual = max(residual, pose["residual_max"])
        beyond = max(beyond, pose["penetration_max"] - pose["overlap"])
    print("%s %d %d %d %.2e %.2e %.2e %.0f" % (name, a.poses, steps, failures, beyond, initial,
                                              residual, 1e6 * cpu / max(steps, 1)), flush=True)
    for pair in sorted(names):
        print("    overlaps at the start: %s" % pair)
    return failures == 0 and beyond <= 1e-6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--poses", type=int, default=20)
    parser.add_argument("--time", type=float, default=2.0)
    parser.add_argument("--robots", default="../shared/data/robots")
    parser.add_argument("--only", default="")
    parser.add_argument("--results", default="")
    a = parser.parse_args()
    print("robot poses steps failures penetration_beyond_start start_overlap residual us_per_step")
    good = [drop_robot(a, *robot) for robot in main_files(a.robots) if a.only in robot[0]]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
