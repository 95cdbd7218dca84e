#!/usr/bin/env python3
"""Writes the scenes that rattleback and other engines are compared on, as MJCF.

    scenes/peers/make.py [--check]     into this folder; --check: compare with what is there

Sizes, masses and start states are those of the comparison described in docs/design/peers.md.
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from files import keep  # noqa: E402


PENDULUM_LINKS = (3, 6, 12, 15, 24, 30, 60, 120, 240)
PENDULUM_HEIGHTS = (10, 5)
STACK_RATIOS = (1, 100, 1000)
PILE_SIZES = (100, 1000)


def num(*values):
    return " ".join(repr(float(v)).removesuffix(".0") for v in values)


def document(name, comment, h, T, gravity, friction, world, rest="", extra_default=""):
    return f"""<!-- {comment} -->
<mujoco model="{name}">
  <option timestep="{num(h)}" gravity="0 0 {num(gravity)}"/>
  <compiler angle="radian" inertiafromgeom="false"/>
  <default>
    <geom friction="{num(friction)}"{extra_default}/>
  </default>
  <worldbody>
{world}  </worldbody>
{rest}  <custom>
    <numeric name="rb.time" data="{num(T)}"/>
  </custom>
</mujoco>
"""


def start_key(**fields):
    text = " ".join(f'{k}="{v}"' for k, v in fields.items())
    return f'  <keyframe>\n    <key name="start" {text}/>\n  </keyframe>\n'


def sphere_inertia(m, r):
    return (0.4 * m * r * r,) * 3


def box_inertia(m, a, b, c):
    """Of a solid box with full sides a, b, c."""
    return (m / 12 * (b * b + c * c), m / 12 * (a * a + c * c), m / 12 * (a * a + b * b))


FLOOR = '    <geom name="floor" type="plane" size="0 0 1"/>\n'


def free_body(name, pos, mass, inertia, geom):
    return (f'    <body name="{name}" pos="{num(*pos)}">\n'
            f'      <freejoint name="{name}"/>\n'
            f'      <inertial pos="0 0 0" mass="{num(mass)}" diaginertia="{num(*inertia)}"/>\n'
            f'      <geom {geom}/>\n'
            f'    </body>\n')


# ---- single bodies, stacks, piles ---------------------------------------------------------------

def rod():
    world = FLOOR + """    <body name="rod" pos="0 0 1">
      <inertial pos="0 0 0" mass="1" diaginertia="0.002 0.002 0.002"/>
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1" ref="1"/>
      <joint name="angle" type="hinge" axis="0 -1 0"/>
      <geom type="capsule" fromto="-0.25 0 0 0.25 0 0" size="0.05"/>
    </body>
"""
    return document("rod", "Falling rod of Stewart and Trinkle, planar: Painleve's paradox.",
                    0.00125, 1, -9.8, 0.6, world,
                    start_key(qpos=num(0, 1, math.pi / 6), qvel="0 0 4"))


def four_balls():
    places = ((0, 0, 1), (1, 0, 0.1), (1.2 + 1e-5, 0, 0.1), (1.4 + 2e-5, 0, 0.1))
    world = FLOOR + "".join(
        free_body(f"ball{i}", p, 1, (4e-3,) * 3, 'type="sphere" size="0.1"')
        for i, p in enumerate(places))
    return document("four_balls", "One ball falls and rolls into a line of three.",
                    0.00125, 1, -9.81, 0.4, world,
                    start_key(qvel="1.5 0.1 0 0 0 0" + " 0" * 18))


def box():
    world = FLOOR + free_body("cube", (0, 0, 0.5), 1, box_inertia(1, 1, 1, 1),
                              'type="box" size="0.5 0.5 0.5"')
    return document("box", "A cube slides and spins to rest; friction at the limit of tipping.",
                    0.001, 2, -9.8, 1, world, start_key(qvel=num(0, 5, 0, 0, 0, 2 * math.pi)))


def stack(ratio, count=10):
    world = FLOOR
    for i in range(count):
        m = ratio ** (i / (count - 1))
        world += free_body(f"box{i}", (0, 0, 0.25 + 0.5 * i), m, box_inertia(m, 0.5, 0.5, 0.5),
                           'type="box" size="0.25 0.25 0.25"')
    return document(f"stack_{ratio}",
                    f"Ten boxes, each heavier than the one below; top to bottom 1:{ratio}.",
                    0.005, 5, -9.8, 0.5, world)


def jitter(seed=12345):
    """A linear congruential generator, so that other programs can make the same pile [m]."""
    state = seed
    while True:
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        yield (state / 0x7FFFFFFF - 0.5) * 0.006


def pile(count):
    side, pitch = 8, 0.115
    noise = jitter()
    world = FLOOR
    for name, axis, pos in (("east", "-1 0 0", "0.5 0 0"), ("west", "1 0 0", "-0.5 0 0"),
                            ("north", "0 -1 0", "0 0.5 0"), ("south", "0 1 0", "0 -0.5 0")):
        world += f'    <geom name="{name}" type="plane" size="0 0 1" pos="{pos}" zaxis="{axis}"/>\n'
    for i in range(count):
        jx, jy = next(noise), next(noise)
        place = ((i % side - 3.5) * pitch + jx, (i // side % side - 3.5) * pitch + jy,
                 0.1 + pitch * (i // side ** 2))
        world += free_body(f"s{i}", place, 0.5, sphere_inertia(0.5, 0.05),
                           'type="sphere" size="0.05"')
    return document(f"pile_{count}", f"{count} spheres fall into a bin.", 0.005, 4, -9.8, 0.5, world)


# ---- articulated --------------------------------------------------------------------------------

def pendulum(n, height):
    r, length = 3 / n, 6 / n
    world = ('    <geom name="floor" type="box" size="20 5 0.1"/>\n'
             '    <geom name="wall" type="box" size="0.1 5 20" pos="4 0 0"/>\n')
    inertia = num(*sphere_inertia(1, r))
    for i in range(n):
        pos = num(0, 0, height) if i == 0 else num(-length, 0, 0)
        world += (f'    <body name="link{i}" pos="{pos}"><joint name="j{i}" axis="0 1 0"/>'
                  f'<inertial pos="{num(-r, 0, 0)}" mass="1" diaginertia="{inertia}"/>'
                  f'<geom type="sphere" size="{num(r)}" pos="{num(-r, 0, 0)}"/>\n')
    world += "    " + "</body>" * n + "\n"
    return document(f"pendulum_{n}_{height}",
                    f"A chain of {n} spheres, 6 m long, swings from {height} m against a wall.",
                    0.001, 5, -9.8, 0.5, world, start_key(qvel="-1" + " 0" * (n - 1)))


class Robot:
    """Bodies nested by parent; each joint is a hinge with a link of its own and a servo."""

    def __init__(self):
        self.bodies = []    # name, parent, text without children
        self.servos = []

    def add(self, name, parent, pos, pitch, mass, com, inertia, geoms, axis=None, kp=0, kd=0):
        turn = f' euler="{num(0, pitch, 0)}"' if pitch else ""
        text = f'<body name="{name}" pos="{num(*pos)}"{turn}>'
        if axis:
            text += f'<joint name="{name}" axis="{axis}"/>'
            self.servos.append(f'    <position joint="{name}" kp="{kp}" kv="{num(kd)}"/>\n')
        else:
            text += f'<freejoint name="{name}"/>'
        text += f'\n  <inertial pos="{num(*com)}" mass="{num(mass)}" diaginertia="{num(*inertia)}"/>\n'
        text += "".join(f"  <geom {g}/>\n" for g in geoms)
        self.bodies.append((name, parent, text))
        return name

    def write(self, parent=None, indent="    "):
        text = ""
        for name, above, own in self.bodies:
            if above == parent:
                text += "".join(indent + line + "\n" for line in own.splitlines())
                text += self.write(name, indent + "  ") + indent + "</body>\n"
        return text

    def scene(self, name, comment):
        actuators = "  <actuator>\n" + "".join(self.servos) + "  </actuator>\n"
        floor = '    <geom name="floor" type="plane" size="0 0 1" contype="1" conaffinity="0"/>\n'
        return document(name, comment, 0.002, 3, -9.8, 0.8, floor + self.write(), actuators,
                        ' contype="0" conaffinity="1"')


def rod_inertia(m, length, r):
    """A slender rod along z and the rotor of its joint [kg m^2]."""
    across = m * length * length / 12 + m * r * r / 4
    return (across + 1e-2, across + 1e-2, m * r * r / 2 + 1e-2)


def sphere(r, pos=(0, 0, 0)):
    return f'type="sphere" size="{num(r)}" pos="{num(*pos)}"'


def capsule(r, half, pos):
    return f'type="capsule" size="{num(r, half)}" pos="{num(*pos)}"'


def cuboid(half, pos=(0, 0, 0)):
    return f'type="box" size="{num(*half)}" pos="{num(*pos)}"'


ROTOR = (1.2e-2,) * 3
CLEARANCE = 0.5    # of the lowest point above the floor at the start [m]


def quadruped():
    thigh, shank = 0.6, 0.7    # pitch of the links [rad], length 0.2 m each, foot 0.03 m
    lowest = -0.2 * (math.cos(thigh) + math.cos(shank)) - 0.03
    robot = Robot()
    robot.add("trunk", None, (0, 0, CLEARANCE - lowest), 0, 10, (0, 0, 0),
              box_inertia(10, 0.5, 0.25, 0.12), [cuboid((0.25, 0.125, 0.06))])
    leg = 0
    for fx in (1, -1):
        for fy in (1, -1):
            hip = robot.add(f"hip{leg}", "trunk", (0.2 * fx, 0.15 * fy, 0), 0, 0.7, (0, 0, 0),
                            ROTOR, [sphere(0.05)], "1 0 0", 150, 4)
            upper = robot.add(f"thigh{leg}", hip, (0, 0.06 * fy, 0), thigh * fx, 1, (0, 0, -0.1),
                              rod_inertia(1, 0.2, 0.03), [capsule(0.03, 0.1, (0, 0, -0.1))],
                              "0 1 0", 150, 4)
            robot.add(f"shank{leg}", upper, (0, 0, -0.2), -(thigh + shank) * fx, 0.3, (0, 0, -0.1),
                      rod_inertia(0.3, 0.2, 0.02),
                      [capsule(0.02, 0.1, (0, 0, -0.1)), sphere(0.03, (0, 0, -0.2))],
                      "0 1 0", 150, 4)
            leg += 1
    return robot.scene("quadruped", "Quadruped, 18 kg, dropped from 0.5 m; servos hold its pose.")


def humanoid_arm(robot, side, sign):
    shoulder = robot.add(f"shoulder_{side}", "torso", (0, 0.23 * sign, 0.38), 0, 0.8, (0, 0, 0),
                         ROTOR, [sphere(0.05)], "0 1 0", 60, 1.5)
    upper = robot.add(f"upper_arm_{side}", shoulder, (0, 0, 0), 0, 1.5, (0, 0, -0.14),
                      rod_inertia(1.5, 0.28, 0.04), [capsule(0.04, 0.12, (0, 0, -0.14))],
                      "1 0 0", 60, 1.5)
    robot.add(f"forearm_{side}", upper, (0, 0, -0.28), -0.8, 1, (0, 0, -0.13),
              rod_inertia(1, 0.26, 0.035), [capsule(0.035, 0.1, (0, 0, -0.13))], "0 1 0", 60, 1)


def humanoid_leg(robot, side, sign):
    yaw = robot.add(f"hip_z_{side}", "pelvis", (0, 0.1 * sign, -0.08), 0, 1, (0, 0, 0), ROTOR, [],
                    "0 0 1", 300, 5)
    roll = robot.add(f"hip_x_{side}", yaw, (0, 0, 0), 0, 1, (0, 0, 0), ROTOR, [], "1 0 0", 300, 5)
    upper = robot.add(f"thigh_{side}", roll, (0, 0, 0), -0.3, 4, (0, 0, -0.2),
                      rod_inertia(4, 0.4, 0.06), [capsule(0.06, 0.14, (0, 0, -0.2))],
                      "0 1 0", 300, 5)
    lower = robot.add(f"shank_{side}", upper, (0, 0, -0.4), 0.6, 2.5, (0, 0, -0.2),
                      rod_inertia(2.5, 0.4, 0.045), [capsule(0.045, 0.14, (0, 0, -0.2))],
                      "0 1 0", 300, 5)
    ankle = robot.add(f"ankle_{side}", lower, (0, 0, -0.4), -0.3, 0.5, (0, 0, 0), ROTOR, [],
                      "0 1 0", 200, 2)
    foot = [i + 1e-2 for i in box_inertia(1, 0.24, 0.1, 0.05)]
    robot.add(f"foot_{side}", ankle, (0, 0, 0), 0, 1, (0.04, 0, -0.05), foot,
              [cuboid((0.12, 0.05, 0.025), (0.04, 0, -0.05))], "1 0 0", 200, 2)


def humanoid():
    lowest = -0.08 - 0.8 * math.cos(0.3) - 0.075
    robot = Robot()
    robot.add("pelvis", None, (0, 0, CLEARANCE - lowest), 0, 8, (0, 0, 0),
              box_inertia(8, 0.2, 0.3, 0.15), [cuboid((0.1, 0.15, 0.075))])
    robot.add("waist_z", "pelvis", (0, 0, 0.12), 0, 0.8, (0, 0, 0), ROTOR, [], "0 0 1", 300, 5)
    robot.add("waist_y", "waist_z", (0, 0, 0), 0, 0.8, (0, 0, 0), ROTOR, [], "0 1 0", 300, 5)
    robot.add("torso", "waist_y", (0, 0, 0), 0, 15, (0, 0, 0.23), box_inertia(15, 0.2, 0.34, 0.4),
              [cuboid((0.1, 0.17, 0.2), (0, 0, 0.23)), sphere(0.1, (0, 0, 0.55))],
              "1 0 0", 300, 5)
    for side, sign in (("left", 1), ("right", -1)):
        humanoid_arm(robot, side, sign)
        humanoid_leg(robot, side, sign)
    return robot.scene("humanoid", "Humanoid, 51 kg, dropped from 0.5 m; servos without balance.")


def all_scenes():
    scenes = {"rod": rod(), "four_balls": four_balls(), "box": box(), "quadruped": quadruped(),
              "humanoid": humanoid()}
    scenes.update({f"stack_{r}": stack(r) for r in STACK_RATIOS})
    scenes.update({f"pile_{n}": pile(n) for n in PILE_SIZES})
    scenes.update({f"pendulum_{n}_{z}": pendulum(n, z)
                   for z in PENDULUM_HEIGHTS for n in PENDULUM_LINKS})
    return scenes


def main():
    texts = {name + ".xml": text for name, text in all_scenes().items()}
    status = keep(HERE, texts, sys.argv[1:])
    sys.exit(__doc__ if status is None else status)


if __name__ == "__main__":
    main()
