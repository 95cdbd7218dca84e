"""Rays against every kind of geom beside MuJoCo's mj_ray, from outside and from inside.

MuJoCo keeps the vertices of meshes and the elevations of height fields as floats, and its height field is a
box with a field on top: a ray from inside the box stops at their common face. Such rays are left out.

usage: rays.py PATH_TO_rattleback [--rays N] [--seed S]
"""
import argparse
import json
import subprocess
import sys
import tempfile

import mujoco
import numpy as np

SCENE = """<mujoco>
 <asset>
  <mesh name="rock" vertex="0.5 0 0  -0.5 0 0  0 0.4 0  0 -0.4 0  0 0 0.6  0 0 -0.3  0.2 0.2 0.3"/>
  <mesh name="bracket" inertia="exact" vertex="0 0 0 2 0 0 2 1 0 1 1 0 1 2 0 0 2 0
    0 0 1 2 0 1 2 1 1 1 1 1 1 2 1 0 2 1" face="0 2 1 0 3 2 0 5 3 3 5 4 6 7 8 6 8 9 6 9 11 9 10 11
    0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11"/>
  <hfield name="hills" nrow="6" ncol="5" size="1 1.5 0.5 0.2" elevation="0 1 2 3 4  3 1 4 1 5
    9 2 6 5 3  5 8 9 7 9  3 2 3 8 4  6 2 6 4 3"/>
 </asset>
 <worldbody>
  <geom type="plane" size="9 9 1" pos="0 0 -3"/>
  <body pos="-2 -2 1"><geom type="box" size="0.9 0.9 0.05" rgba="1 1 1 0"/></body>
  <body pos="-2 -2 0" euler="20 30 40"><geom type="sphere" size="0.6"/></body>
  <body pos="2 -2 0" euler="50 10 0"><geom type="capsule" size="0.3 0.5" group="1"/></body>
  <body pos="-2 2 0" euler="10 70 0"><geom type="ellipsoid" size="0.7 0.4 0.2" group="2"/></body>
  <body pos="2 2 0" euler="0 40 10"><geom type="cylinder" size="0.4 0.6"/></body>
  <body pos="0 0 2" euler="10 20 30"><geom type="box" size="0.3 0.5 0.7"/></body>
  <body pos="0 0 -1.5" euler="10 -20 0"><geom type="mesh" mesh="rock"/></body>
  <body pos="4 0 -1" euler="0 0 30"><geom type="mesh" mesh="bracket" group="3"/></body>
  <geom type="hfield" hfield="hills" pos="-4 0 -1" euler="5 10 20"/>
 </worldbody>
</mujoco>"""

# mesh vertices and elevations are floats there; the quadratic of far rounds shapes loses digits there
TOLERANCE = {mujoco.mjtGeom.mjGEOM_MESH: 2e-6, mujoco.mjtGeom.mjGEOM_HFIELD: 2e-6}
EXACT = 1e-9


def is_in_base(m, d, start):
    """Inside the box that a height field fills: MuJoCo sees its base from within."""
    for g in range(m.ngeom):
        if m.geom_type[g] != mujoco.mjtGeom.mjGEOM_HFIELD:
            continue
        x = d.geom_xmat[g].reshape(3, 3).T @ (start - d.geom_xpos[g])
        size = m.hfield_size[m.geom_dataid[g]]
        if abs(x[0]) < size[0] and abs(x[1]) < size[1] and -size[3] < x[2] < size[2]:
            return True
    return False


def draw_rays(m, d, count, rng):
    rays = []
    while len(rays) < count:
        g = int(rng.integers(m.ngeom))
        target = d.geom_xpos[g] + rng.normal(size=3) * 0.3
        inside = rng.random() < 0.2
        start = target + rng.normal(size=3) * (0.1 if inside else 3.0)
        if not is_in_base(m, d, start):
            rays.append((start, target - start + 1e-3 * rng.normal(size=3)))
    return rays


def ask(program, path, rays, options):
    """In parts: a command takes 256 rays."""
    found = []
    for k in range(0, len(rays), 200):
        command = [program, "compute", path, "--what", "rays", *options]
        for start, direction in rays[k:k + 200]:
            command += ["--ray", " ".join(repr(float(x)) for x in (*start, *direction))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit("rays.py: " + done.stderr)
        found += json.loads(done.stdout)["rays"]
    return found


def compare(m, d, rays, found, group):
    bad, worst, hits, edges = 0, 0.0, 0, 0
    geom, normal = np.zeros(1, np.int32), np.zeros(3)
    for (start, direction), ours in zip(rays, found):
        unit = direction / np.linalg.norm(direction)
        theirs = mujoco.mj_ray(m, d, start, unit, group, True, -1, geom, normal)
        if (theirs < 0) != (ours["distance"] is None) or (theirs >= 0 and geom[0] != ours["id"]):
            # floats move edges: a hair to the side both must agree again
            edges += 1
            continue
        if theirs < 0:
            continue
        hits += 1
        kind = mujoco.mjtGeom(m.geom_type[geom[0]])
        error = abs(theirs - ours["distance"]) / (1 + theirs)
        slope = abs(float(np.dot(normal, unit)))
        limit = TOLERANCE.get(kind, EXACT) / max(slope, 1e-2)
        turned = np.max(np.abs(normal - ours["normal"])) > max(1e-5, 1e3 * limit)
        worst = max(worst, error if kind not in TOLERANCE else 0.0)
        if error > limit or turned:
            bad += 1
            print(f"  {kind.name}: {ours['distance']} {ours['normal']}, MuJoCo {theirs} {normal}")
    return bad, worst, hits, edges


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rays", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    m = mujoco.MjModel.from_xml_string(SCENE)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    rays = draw_rays(m, d, args.rays, np.random.default_rng(args.seed))
    failed = 0
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(SCENE)
        file.flush()
        for options, group in (([], None), (["--groups", "1,3"], np.array([0, 1, 0, 1, 0, 0], np.uint8))):
            found = ask(args.program, file.name, rays, options)
            bad, worst, hits, edges = compare(m, d, rays, found, group)
            few = hits < len(rays) // 20 or edges > len(rays) // 200
            failed += bad + few
            print(f"{'FAILED' if bad or few else 'ok':7s} {len(rays)} rays{' ' + ' '.join(options) if options else ''}, "
                  f"{hits} hits, worst {worst:.1e}, {edges} at edges")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
