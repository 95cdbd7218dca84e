"""Tendons, actuators, passive and fluid forces beside MuJoCo at random states.

Each model below has one feature in several variants; robots of MuJoCo Menagerie that use them follow where the
folder is named by RB_MENAGERIE. Compared are the mass matrix, qfrc_bias, ten_length, ten_J, ten_velocity, qfrc_passive, qfrc_actuator,
actuator_force and act_dot, relative to the largest entry.

usage: forces.py PATH_TO_rattleback [--states N] [--verbose] [NAME...]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

try:
    import mujoco
    import numpy as np
except ImportError:
    print("skipped: no Python with mujoco and numpy")
    sys.exit(77)

from forces_models import LOOSE, MENAGERIE, MODELS

TOLERANCE = 1e-9


def load(path):
    m = mujoco.MjModel.from_xml_path(path)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    return m


def random_state(m, rng):
    """Joints within their ranges, controls and activations somewhat beyond theirs."""
    d = mujoco.MjData(m)
    dq = np.zeros(m.nv)
    for j in range(m.njnt):
        dof, kind = m.jnt_dofadr[j], m.jnt_type[j]
        count = {0: 6, 1: 3}.get(int(kind), 1)
        dq[dof:dof + count] = rng.normal(size=count)
        if count == 1:
            low, high = m.jnt_range[j] if m.jnt_limited[j] else (-1.5, 1.5)
            dq[dof] = rng.uniform(low, high) - m.qpos0[m.jnt_qposadr[j]]
    mujoco.mj_integratePos(m, d.qpos, dq, 1.0)
    ctrl = rng.normal(size=m.nu)
    return {"qpos": d.qpos.tolist(), "qvel": rng.normal(size=m.nv).tolist(), "ctrl": ctrl.tolist(),
            "act": rng.uniform(-0.2, 1.2, size=m.na).tolist()}


def theirs(m, state):
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = state["qpos"], state["qvel"], state["ctrl"]
    if m.na:
        d.act[:] = state["act"]
    mujoco.mj_forward(m, d)
    J = np.zeros((m.ntendon, m.nv))
    for t in range(m.ntendon):
        at, n = m.ten_J_rowadr[t], m.ten_J_rownnz[t]
        np.add.at(J[t], m.ten_J_colind[at:at + n], d.ten_J[at:at + n])
    mass = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, mass)
    return {"mass": mass, "bias": d.qfrc_bias, "length": d.ten_length, "velocity": d.ten_velocity, "jacobian": J, "passive": d.qfrc_passive,
            "force": d.qfrc_actuator, "actuator_force": d.actuator_force, "activation_rate": d.act_dot}


def ours(program, path, states):
    lines = "\n".join(json.dumps(s) for s in states)
    done = subprocess.run([program, "compute", path, "--what", "mass,bias,passive,actuation,tendons", "--state", "-"],
                          input=lines, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:600])
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        flat = {"mass": answer["mass"], "bias": answer["bias"], "passive": answer["passive"], **answer["actuation"], **answer["tendons"]}
        yield {k: np.array(v, dtype=float) for k, v in flat.items()}


def compare(program, path, count, floor):
    m = load(path)
    rng = np.random.default_rng(20261116)
    states = [random_state(m, rng) for _ in range(count)]
    total = {}
    for state, mine in zip(states, ours(program, path, states), strict=True):
        for key, reference in theirs(m, state).items():
            scale = max(np.max(np.abs(reference), initial=0.0), floor)
            error = np.max(np.abs(mine[key].reshape(reference.shape) - reference), initial=0.0) / scale
            total[key] = max(total.get(key, 0.0), error if np.isfinite(error) else np.inf)
    return total


def missing_files(path):
    """A snapshot of the collection without its largest files."""
    try:
        load(path)
    except ValueError as error:
        return "Error opening file" in str(error)
    return False


def all_models(folder):
    for name, text in MODELS.items():
        path = os.path.join(folder, name + ".xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        yield name, path
    menagerie = os.environ.get("RB_MENAGERIE")
    for scene in MENAGERIE if menagerie else ():
        if missing_files(os.path.join(menagerie, scene)):
            print(f"skipped {scene}: files of its meshes are missing", flush=True)
            continue
        yield scene, os.path.join(menagerie, scene)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_intermixed_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path in all_models(folder):
            if args.names and not any(n in name for n in args.names):
                continue
            try:
                total = compare(args.program, path, args.states, 1e-3)
            except (RuntimeError, ValueError) as error:
                print(f"FAILED  {name}: {error}", flush=True)
                failed += 1
                continue
            bad = {k: v for k, v in total.items() if not v <= (TOLERANCE if k == "length" else LOOSE.get(name, TOLERANCE))}
            failed += bool(bad)
            shown = total if args.verbose or bad else {}
            top = max(total, key=total.get)
            print(f"{'FAILED' if bad else 'ok':7s} {name:40s} worst {total[top]:.1e} ({top})  "
                  + "  ".join(f"{k} {v:.1e}" for k, v in shown.items()), flush=True)
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
