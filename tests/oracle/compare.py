"""Dynamics of the command beside MuJoCo (MJCF models) and Pinocchio (URDF models) at random states.

Compared are sizes and total mass, mass matrix, bias, passive and actuator forces, forward dynamics,
body frames, point Jacobians, centre of mass and energy. Errors are relative: forces and
accelerations in the norm that weighs dofs of different units by the diagonal of the mass matrix.

usage: compare.py PATH_TO_rattleback [--states N] [--csv FILE] [--verbose] [NAME...]
"""
import argparse
import csv
import json
import math
import subprocess
import sys

import mujoco_side
import numpy as np
import pinocchio_side
from models import all_models

TOLERANCE = 1e-9

# Entries of M by sqrt(M_ii M_jj), so that light fingers count as much as the palm. MuJoCo keeps an
# inertia as principal axes, which it finds to some 1e-7 rad where two moments are close (measured on
# allegro_left: its moments agree with ours to 1e-15, its axes do not).
TOLERANCES = {"mass_scaled": 1e-8}
NPOINT = 4
QUANTITIES = ("mass", "mass_scaled", "bias", "passive", "actuation", "fd", "pos", "rot", "com", "kinetic",
              "potential", "jacobian", "jacobian_angular")
WHAT = "mass,bias,passive,actuation,fd,frames,com,energy,jacobian"


class Failure(Exception):
    pass


def rattleback(program, *args, text=""):
    done = subprocess.run([program, *args], input=text, capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode != 0:
        raise Failure(f"exit {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stdout


# ---- random states ----------------------------------------------------------------------------


def random_rotation(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_coordinates(rng, joint):
    if joint["type"] == "free":
        return [*rng.normal(size=3), *random_rotation(rng)]
    if joint["type"] == "ball":
        return random_rotation(rng)
    reach = math.pi if joint["type"] == "hinge" else 0.5
    low, high = joint["range"] or (-reach, reach)
    return [rng.uniform(low, high)]


def random_state(rng, facts):
    qpos = [x for joint in facts["joint_list"] for x in random_coordinates(rng, joint)]
    state = {"qpos": qpos, "qvel": rng.normal(size=facts["nv"]), "tau": rng.normal(size=facts["nv"]),
             "ctrl": rng.uniform(-1, 1, size=facts["actuators"]),
             "act": rng.uniform(0, 1, size=facts["activations"])}
    points = [(int(rng.integers(1, facts["bodies"] + 1)), rng.uniform(-0.2, 0.2, size=3))
              for _ in range(NPOINT)]
    return {k: list(v) for k, v in state.items()}, points


def state_line(state, points, facts, with_controls):
    line = {k: v for k, v in state.items() if with_controls or k not in ("ctrl", "act")}
    line["points"] = [{"body": facts["body_list"][b - 1]["name"], "pos": list(p)}
                      for b, p in points]
    return json.dumps(line)


# ---- errors -----------------------------------------------------------------------------------


def worst(difference, reference, least=0.0):
    scale = np.max(np.abs(reference), initial=least)
    error = np.max(np.abs(difference), initial=0.0)
    if not np.isfinite(error):
        return math.inf
    return float(error / scale) if scale > 0 else float(error)


def errors(ours, theirs):
    """Quantity -> relative error."""
    unit = np.sqrt(np.diag(theirs["mass"]))  # [kg^1/2] or [kg^1/2 m]
    answer = {"mass": worst(ours["mass"] - theirs["mass"], theirs["mass"]),
              "mass_scaled": worst((ours["mass"] - theirs["mass"]) / np.outer(unit, unit), 1.0)}
    # a mechanism may have no bias at all: then a thousandth of its weight is the scale
    weight = 1e-3 * 9.81 * math.sqrt(ours["total_mass"])
    for key in ("bias", "passive", "actuation"):
        if theirs[key] is not None:
            answer[key] = worst((ours[key] - theirs[key]) / unit, theirs[key] / unit, weight)
    if theirs["fd"] is not None:
        answer["fd"] = worst((ours["fd"] - theirs["fd"]) * unit, theirs["fd"] * unit)
    for key in ("pos", "com", "jacobian", "jacobian_angular", "rot", "kinetic", "potential"):
        if theirs[key] is not None:
            answer[key] = worst(np.asarray(ours[key]) - theirs[key], theirs[key])
    return answer


def read_answer(line, facts):
    answer = json.loads(line)
    frames = [answer["frames"][b["name"]] for b in facts["body_list"]]
    ours = {k: np.array(answer[k]) for k in ("mass", "bias", "passive", "fd", "com", "jacobian",
                                             "jacobian_angular")}
    ours.update(pos=np.array([f["pos"] for f in frames]), rot=np.array([f["rot"] for f in frames]),
                actuation=np.array(answer["actuation"]["force"]),
                kinetic=answer["energy"]["kinetic"], potential=answer["energy"]["potential"],
                total_mass=facts["mass"])
    return ours


def check_sizes(facts, side):
    for key, value in side.sizes().items():
        ours = facts[key]
        if abs(ours - value) > TOLERANCE * abs(value):
            raise Failure(f"{key} is {ours}, the reference has {value}")


# ---- one model --------------------------------------------------------------------------------


def compare(program, model, count, floating):
    options = model.options() + (["--floating-base"] if floating else [])
    facts = json.loads(rattleback(program, "info", "--json", model.path, *options))
    if model.urdf:
        side = pinocchio_side.Side(model.path, facts["joint_list"], facts["body_list"], floating)
    else:
        side = mujoco_side.Side(model.path)
    check_sizes(facts, side)

    rng = np.random.default_rng(20261115)
    states = [random_state(rng, facts) for _ in range(count)]
    driven = not model.urdf and side.actuators and facts["actuators"] > 0
    text = "\n".join(state_line(s, p, facts, driven) for s, p in states)
    lines = rattleback(program, "compute", model.path, *options, "--lenient", "--what", WHAT,
                       "--state", "-", text=text).splitlines()
    if len(lines) != count:
        raise Failure(f"{len(lines)} answers to {count} states")
    total = {}
    for (state, points), line in zip(states, lines):
        found = errors(read_answer(line, facts), side.evaluate(state, points))
        for key, value in found.items():
            total[key] = max(total.get(key, 0.0), value)
    return facts, total, side.without


def report(name, facts, total, without):
    bad = [k for k, e in total.items() if not e <= TOLERANCES.get(k, TOLERANCE)]
    top = max(total, key=total.get)
    note = f"  without {', '.join(without)}" if without else ""
    print(f"{'FAILED' if bad else 'ok':7s} {name:34s} nv {facts['nv']:4d}  "
          f"worst {total[top]:.1e} ({top}){note}", flush=True)
    for key in bad:
        print(f"        {key}: {total[key]:.2e}")
    return not bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--csv")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_intermixed_args()
    rows, failed = [], 0
    for model in all_models():
        if args.names and not any(n in model.name for n in args.names):
            continue
        for floating in ((False, True) if model.urdf else (False,)):
            name = model.name + (" floating" if floating else "")
            try:
                facts, total, without = compare(args.program, model, args.states, floating)
            except Failure as failure:
                print(f"FAILED  {name}: {failure}", flush=True)
                failed += 1
                continue
            failed += not report(name, facts, total, without)
            if args.verbose:
                print("        " + "  ".join(f"{k} {e:.1e}" for k, e in total.items()))
            rows.append([name, facts["nv"], *(f"{total[k]:.1e}" if k in total else ""
                                              for k in QUANTITIES)])
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([["model", "nv", *QUANTITIES], *rows])
    if not rows and not failed:
        print("no model was compared")
        failed = 1
    print(f"{len(rows)} models at {args.states} states each, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
