#!/usr/bin/env python3
"""Writes the scenes of SimBenchmark (Kang and Hwangbo 2018) as MJCF.

    scenes/simbenchmark/make.py [--check]     into this folder; --check: compare with what is there

Sizes and masses are those of the published benchmark; where it leaves a place open (the grid of the
bouncing balls) spacing is wide enough that bodies do not meet. The quadruped that stands under servos
is scenes/peers/quadruped.xml.
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from files import keep  # noqa: E402

GRAVITY = 9.81
OVERLAP = 2e-5     # of the published start of the rolling balls [m]


def num(*values):
    return " ".join(repr(float(v)).removesuffix(".0") for v in values)


def document(name, comment, T, friction, restitution, world, rest=""):
    return f"""<!-- {comment} -->
<mujoco model="{name}">
  <option timestep="0.001" gravity="0 0 {num(-GRAVITY)}"/>
  <compiler inertiafromgeom="false"/>
  <default>
    <geom friction="{num(friction)}"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
{world}  </worldbody>
{rest}  <custom>
    <numeric name="rb.time" data="{num(T)}"/>
    <numeric name="rb.restitution" data="{num(restitution)}"/>
  </custom>
</mujoco>
"""


def ball(name, pos, mass, r, extra=""):
    inertia = num(*(0.4 * mass * r * r,) * 3)
    return (f'    <body name="{name}" pos="{num(*pos)}"><freejoint name="{name}"/>'
            f'<inertial pos="0 0 0" mass="{num(mass)}" diaginertia="{inertia}"/>'
            f'<geom type="sphere" size="{num(r)}"{extra}/></body>\n')


def rolling(name, direction):
    """A slab with 25 balls on it, pulled with 150 N: it slides, they roll without sliding."""
    side, inertia = 20, (10 / 12 * (400 + 1), 10 / 12 * (400 + 1), 10 / 12 * 800)
    world = (f'    <body name="slab" pos="{num(0, 0, 0.5 - OVERLAP)}"><freejoint name="slab"/>'
             f'<inertial pos="0 0 0" mass="10" diaginertia="{num(*inertia)}"/>'
             f'<geom type="box" size="{num(side / 2, side / 2, 0.5)}"/><site name="pull"/></body>\n')
    for i in range(25):
        place = (2 * (i % 5) - 4, 2 * (i // 5) - 4, 1.5 - 2 * OVERLAP)
        world += ball(f"ball{i}", place, 1, 0.5, ' friction="0.8"')
    pull = (f'  <actuator>\n    <motor name="pull" site="pull" gear="{num(*direction)} 0 0 0"/>\n'
            '  </actuator>\n  <keyframe>\n    <key name="start" ctrl="150"/>\n  </keyframe>\n')
    return document(name, "A slab pulled over the ground, with balls rolling on it.", 4, 0.4, 0,
                    world, pull)


def bouncing():
    world = "".join(ball(f"ball{i}", (2 * (i % 7) - 6, 2 * (i // 7) - 6, 5), 10, 0.1)
                    for i in range(49))
    return document("bouncing", "49 balls bounce without loss.", 20, 0, 1, world)


def uniform(seed=12345):
    """[0, 0.001] m, by a linear congruential generator."""
    state = seed
    while True:
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        yield 0.001 * state / 0x7FFFFFFF


def cube_of_balls(name, comment, lowest, restitution):
    noise = uniform()
    world = ""
    for i in range(216):
        x, y, z = i % 6, i // 6 % 6, i // 36
        place = [0.21 * (x - 2.5) + next(noise), 0.21 * (y - 2.5) + next(noise),
                 lowest + 0.21 * z + next(noise)]
        world += ball(f"ball{i}", place, 10, 0.1)
    return document(name, comment, 10, 0, restitution, world)


def all_scenes():
    return {"rolling_y": rolling("rolling_y", (0, 1, 0)),
            "rolling_xy": rolling("rolling_xy", (0.5, math.sqrt(0.75), 0)),
            "bouncing": bouncing(),
            "666": cube_of_balls("666", "216 smooth balls collapse.", 0.101, 0),
            "elastic_666": cube_of_balls("elastic_666", "216 smooth balls fall, e = 1.", 1.101, 1)}


def main():
    texts = {name + ".xml": text for name, text in all_scenes().items()}
    status = keep(HERE, texts, sys.argv[1:])
    sys.exit(__doc__ if status is None else status)


if __name__ == "__main__":
    main()
