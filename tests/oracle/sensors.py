"""Sensors beside MuJoCo at random states, where contact does not matter: contacts, limits, dry friction and
equalities have no forces on either side.

Every type of sensor that does not need a contact stands in the models below; robots with sensors of their own
are read from RB_MENAGERIE where that is a folder. Errors are relative to the largest number of the sensor's
type. Contact sensors and touch: tests/sense/test_sensors.c, by statics.

usage: sensors.py PATH_TO_rattleback [--states N] [--models FOLDER] [NAME...]
"""
import argparse
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

import mujoco
import numpy as np

TOLERANCE = 1e-9

FRAMES = [("framepos", 1), ("framequat", 1), ("framexaxis", 1), ("frameyaxis", 1), ("framezaxis", 1),
          ("framelinvel", 1), ("frameangvel", 1), ("framelinacc", 0), ("frameangacc", 0)]


def frame_sensors():
    objects = [("body", "upper"), ("xbody", "lower"), ("geom", "ball"), ("site", "tip"), ("site", "fixed")]
    text = []
    for kind, has_reference in FRAMES:
        for k, (type_, name) in enumerate(objects):
            text.append(f'<{kind} name="{kind}_{name}" objtype="{type_}" objname="{name}"/>')
            if has_reference:
                rtype, rname = objects[(k + 2) % len(objects)]
                text.append(f'<{kind} name="{kind}_{name}_in_{rname}" objtype="{type_}" objname="{name}" '
                            f'reftype="{rtype}" refname="{rname}"/>')
    return "\n".join(text)


SITES = "\n".join(f'<{kind} name="{kind}_{site}" site="{site}"/>'
                  for kind in ("accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer",
                               "rangefinder") for site in ("tip", "chest", "fixed"))

EVERY = f"""<mujoco><compiler angle="radian"/><option magnetic="0.1 -0.4 0.3" timestep="0.002"/>
 <default><geom contype="0" conaffinity="0"/></default>
 <worldbody>
  <geom name="floor" type="plane" size="0 0 1" pos="0 0 -2"/><site name="fixed" pos="1 2 3" euler="0.3 0.2 0.1"/>
  <body name="base" pos="0 0 1"><freejoint/><geom name="trunk" type="box" size="0.3 0.2 0.1" euler="0.2 0.1 0"/>
   <geom name="hump" type="capsule" size="0.05 0.1" pos="0.1 0 0.2"/>
   <site name="chest" pos="0.1 0.05 0.1" euler="0.5 -0.4 0.3"/>
   <camera name="eye" pos="0.2 0.1 0.1" euler="0.3 0.5 -0.7" resolution="640 480" fovy="60"/>
   <camera name="lens" pos="0.1 0.1 0" xyaxes="0 1 0 0.1 0 1" resolution="320 200" sensorsize="0.008 0.004" focal="0.004 0.002"/>
   <body name="upper" pos="0.3 0 0" euler="0.1 0.4 0.2">
    <joint name="shoulder" type="ball"/><geom type="capsule" size="0.04 0.2" pos="0 0 -0.2"/>
    <geom size="0.06" pos="0.05 0.1 0"/>
    <body name="bracket" pos="0 0 -0.2"><inertial pos="0.01 0.02 0.03" mass="0.3" diaginertia="0.001 0.002 0.0015"
      euler="0.4 0.5 0.6"/>
     <body name="lower" pos="0 0 -0.2" euler="0 0.3 0">
      <joint name="elbow" axis="0 1 0" range="-2 0.1" limited="true" damping="0.2" stiffness="3" armature="0.01"/>
      <joint name="slider" type="slide" axis="1 0 1" stiffness="20" range="-0.1 0.2" limited="true"/>
      <inertial pos="0 0.01 -0.1" mass="0.7" fullinertia="0.004 0.005 0.003 0.0005 0.0002 -0.0003"/>
      <geom name="ball" size="0.05" pos="0 0 -0.2"/><site name="tip" pos="0.02 0 -0.25" euler="2.8 0.3 0.2"/>
     </body>
    </body>
   </body>
   <body name="tail" pos="-0.3 0 0"><joint name="wag" axis="0 0 1" frictionloss="0.1"/>
    <geom name="tailtip" type="ellipsoid" size="0.2 0.05 0.03" pos="-0.2 0 0"/>
    <site name="zone" type="box" size="0.6 0.5 0.4" euler="0.1 0.2 0.3"/></body>
  </body>
 </worldbody>
 <tendon><fixed name="couple" range="-0.5 0.5" limited="true" stiffness="2" damping="0.1">
   <joint joint="elbow" coef="0.7"/><joint joint="slider" coef="-2"/></fixed>
  <spatial name="sinew" stiffness="30" damping="1" springlength="0.2"><site site="fixed"/><geom geom="ball"/>
   <site site="tip"/><pulley divisor="2"/><site site="chest"/><site site="zone"/></spatial></tendon>
 <actuator>
  <motor name="pull" tendon="sinew" gear="-3"/>
  <motor name="m1" joint="elbow" gear="3"/><position name="p1" joint="slider" kp="30" kv="2"/>
  <motor name="t1" tendon="couple" gear="2"/><motor name="t2" tendon="couple" gear="-1"/>
  <motor name="ballm" joint="shoulder" gear="0.5 0.2 -0.1"/><motor name="thrust" site="tip" gear="1 2 3 0.1 0.2 0.3"/>
  <velocity name="w1" joint="wag" kv="0.5"/><orientation name="turn" joint="shoulder" kp="5" kv="0.3"/>
  <orientation name="turn2" site="tip" refsite="chest" kp="2" kv="0.1" input="quat" forcerange="0 1"/>
 </actuator>
 <sensor>
  {SITES}
  {frame_sensors()}
  <jointpos name="jp" joint="elbow"/><jointpos name="jp_cut" joint="elbow" cutoff="0.5"/><jointvel name="jv" joint="slider"/>
  <tendonpos name="tp" tendon="couple"/><tendonvel name="tv" tendon="couple"/>
  <actuatorpos name="ap1" actuator="m1"/><actuatorpos name="ap2" actuator="t1"/><actuatorpos name="ap3" actuator="ballm"/>
  <actuatorvel name="av1" actuator="m1"/><actuatorvel name="av2" actuator="t2"/><actuatorvel name="av3" actuator="thrust"/>
  <actuatorfrc name="af1" actuator="p1"/><actuatorfrc name="af2" actuator="w1"/>
  <actuatorpos name="at1" actuator="turn"/><actuatorvel name="at2" actuator="turn2"/><actuatorfrc name="at3" actuator="turn2"/>
  <actuatorpos name="at4" actuator="turn2"/><actuatorvel name="at5" actuator="turn"/><actuatorfrc name="at6" actuator="turn"/>
  <jointactuatorfrc name="jaf" joint="elbow"/><tendonactuatorfrc name="taf" tendon="couple"/>
  <ballquat name="bq" joint="shoulder"/><ballangvel name="bv" joint="shoulder"/>
  <subtreecom name="sc" body="upper"/><subtreelinvel name="sv" body="base"/><subtreeangmom name="sa" body="base"/>
  <subtreeangmom name="sa2" body="tail"/><subtreecom name="sw" body="world"/>
  <insidesite name="in1" site="zone" objtype="geom" objname="ball"/><insidesite name="in2" site="zone" objtype="body" objname="lower"/>
  <distance name="d1" geom1="ball" geom2="tailtip" cutoff="5"/><distance name="d2" body1="base" body2="lower" cutoff="0.4"/>
  <distance name="d3" geom1="ball" geom2="floor" cutoff="9"/>
  <normal name="n3" geom1="ball" geom2="floor" cutoff="9"/><fromto name="ft3" geom1="ball" geom2="floor" cutoff="9"/>
  <rangefinder name="rf" site="tip" data="dist dir origin point normal"/>
  <camprojection name="cam1" site="tip" camera="eye"/><camprojection name="cam2" site="fixed" camera="lens"/>
  <framepos name="cam3" objtype="camera" objname="eye"/><framequat name="cam4" objtype="camera" objname="lens"/>
  <framepos name="cam5" objtype="site" objname="tip" reftype="camera" refname="eye"/>
  <frameangvel name="cam6" objtype="camera" objname="eye" reftype="body" refname="lower"/>
  <e_potential name="ep"/><e_kinetic name="ek"/><clock name="clock"/><user name="user" dim="2"/>
 </sensor>
</mujoco>"""

LIMITS = """<mujoco><compiler angle="radian"/>
 <worldbody><body><joint name="a" axis="0 1 0" range="-0.5 0.5" limited="true"/><geom size="0.1" pos="0 0 -1"/>
  <body pos="0 0 -1"><joint name="b" type="ball" range="0 0.8" limited="true"/><geom size="0.1" pos="0.2 0 0"/></body></body>
 </worldbody>
 <tendon><fixed name="t" range="-1 0.2" limited="true"><joint joint="a" coef="2"/></fixed></tendon>
 <sensor><jointlimitpos name="ap" joint="a"/><jointlimitvel name="av" joint="a"/><jointlimitpos name="bp" joint="b"/>
  <jointlimitvel name="bv" joint="b"/><tendonlimitpos name="tp" tendon="t"/><tendonlimitvel name="tv" tendon="t"/></sensor>
</mujoco>"""

# Spheres and capsules that overlap in most states: normals point from surface to surface, against each other's centres.
OVERLAP = """<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
  <body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/><geom name="a" size="0.3"/></body>
  <geom name="b" size="0.25" pos="0.05 0.02 0.01"/><geom name="c" type="capsule" size="0.1 0.3" euler="30 40 0"/></worldbody>
  <sensor><normal name="n1" geom1="a" geom2="b" cutoff="5"/><normal name="n2" geom1="b" geom2="a" cutoff="5"/>
  <fromto name="f1" geom1="a" geom2="b" cutoff="5"/><distance name="d1" geom1="b" geom2="a" cutoff="5"/>
  <normal name="n3" geom1="c" geom2="a" cutoff="5"/><fromto name="f3" geom1="a" geom2="c" cutoff="5"/></sensor></mujoco>"""


class Failure(Exception):
    pass


def random_state(m, rng):
    qpos = np.zeros(m.nq)
    for j in range(m.njnt):
        at, kind = m.jnt_qposadr[j], mujoco.mjtJoint(int(m.jnt_type[j]))
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            qpos[at:at + 3] = rng.normal(size=3) * 0.5
            at += 3
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            q = rng.normal(size=4)
            qpos[at:at + 4] = q / np.linalg.norm(q)
            continue
        low, high = m.jnt_range[j] if m.jnt_limited[j] else (-2, 2)
        if kind in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            qpos[at] = rng.uniform(low - 0.2, high + 0.2) if kind == mujoco.mjtJoint.mjJNT_HINGE \
                else rng.uniform(low, high) if m.jnt_limited[j] else rng.uniform(-0.3, 0.3)
    return {"qpos": qpos.tolist(), "qvel": rng.normal(size=m.nv).tolist(), "tau": rng.normal(size=m.nv).tolist(),
            "ctrl": rng.uniform(-1, 1, size=m.nu).tolist(), "act": rng.uniform(0, 1, size=m.na).tolist(),
            "time": float(rng.uniform(0, 9))}


def their_values(m, d, state, limits):
    mujoco.mj_resetData(m, d)
    d.qpos[:], d.qvel[:], d.qfrc_applied[:] = state["qpos"], state["qvel"], state["tau"]
    d.ctrl[:], d.act[:], d.time = state["ctrl"], state["act"], state["time"]
    mujoco.mj_forward(m, d)
    return {m.sensor(i).name or f"{i}": d.sensordata[m.sensor_adr[i]:m.sensor_adr[i] + m.sensor_dim[i]].copy()
            for i in range(m.nsensor)}


def our_values(program, path, states):
    text = "\n".join(json.dumps(s) for s in states)
    done = subprocess.run([program, "compute", path, "--lenient", "--what", "sensors", "--state", "-"], input=text,
                          capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise Failure(f"exit {done.returncode}: {done.stderr.strip()[:300]}")
    return [json.loads(line)["sensors"] for line in done.stdout.splitlines()]


def error_of(kind, ours, theirs, scale):
    ours = np.atleast_1d(np.array(ours, float))
    if ours.shape != theirs.shape:
        return math.inf
    if kind in (mujoco.mjtSensor.mjSENS_FRAMEQUAT, mujoco.mjtSensor.mjSENS_BALLQUAT) and ours @ theirs < 0:
        ours = -ours
    error = np.max(np.abs(ours - theirs), initial=0.0) / scale
    return float(error) if np.isfinite(error) else math.inf


def compare(program, name, path, count, limits=False):
    m = mujoco.MjModel.from_xml_path(path)
    d = mujoco.MjData(m)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    if not limits:
        m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    rng = np.random.default_rng(20261116)
    states = [random_state(m, rng) for _ in range(count)]
    ours = our_values(program, path, states)
    theirs = [their_values(m, d, s, limits) for s in states]
    worst = {}
    for i in range(m.nsensor):
        key = m.sensor(i).name
        kind = mujoco.mjtSensor(int(m.sensor_type[i]))
        if not key or key not in ours[0]:
            raise Failure(f"no value of sensor {key or i} ({kind.name})")
        scale = max(max(float(np.max(np.abs(t[key]), initial=0.0)) for t in theirs), 1e-3)
        worst[key] = max(error_of(kind, o[key], t[key], scale) for o, t in zip(ours, theirs))
    bad = {k: e for k, e in worst.items() if not e <= TOLERANCE}
    top = max(worst, key=worst.get) if worst else "-"
    print(f"{'FAILED' if bad else 'ok':7s} {name:40s} {m.nsensor:4d} sensors  worst {worst.get(top, 0):.1e} ({top})",
          flush=True)
    for key, error in bad.items():
        print(f"        {key}: {error:.2e}")
    return not bad


def robots(folder, names):
    """Scenes with sensors that MuJoCo reads; those with plugins have states of their own, and are not compared."""
    for path in sorted(glob.glob(os.path.join(folder, "**", "*.xml"), recursive=True)):
        name = os.path.relpath(path, folder)
        if names and not any(n in name for n in names):
            continue
        with open(path, encoding="utf-8") as file:
            if "<sensor" not in file.read():
                continue
        try:
            m = mujoco.MjModel.from_xml_path(path)
        except ValueError:
            continue
        if m.nsensor and m.nplugin == 0 and all(m.sensor(i).name for i in range(m.nsensor)):
            yield name, path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--models", default=os.environ.get("RB_MENAGERIE", ""))
    args = parser.parse_intermixed_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text, limits in (("every type", EVERY, False), ("overlap", OVERLAP, False), ("limits", LIMITS, True)):
            path = os.path.join(folder, "model.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            try:
                failed += not compare(args.program, name, path, args.states, limits)
            except Failure as failure:
                print(f"FAILED  {name}: {failure}")
                failed += 1
    for name, path in robots(args.models, args.names) if args.models else ():
        try:
            failed += not compare(args.program, name, path, args.states)
        except Failure as failure:
            print(f"FAILED  {name}: {failure}")
            failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
