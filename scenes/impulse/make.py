#!/usr/bin/env python3
"""Writes the scenes of impulse-based simulation [Mirtich 1995], as MJCF.

    scenes/impulse/make.py [--check]     into this folder; --check: compare with what is there

The parameters of the paper are lost. Those here are measured ones where there are any (coins, pool,
bowling pins, rattleback), and say so in the comment of the scene; docs/manual/impulse-scenes.md
tells what each scene shows. All start at the keyframe "start".
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from files import keep  # noqa: E402

INCH = 0.0254


def num(*values):
    return " ".join(repr(round(float(v), 15)).removesuffix(".0") for v in values)


class Scene:
    def __init__(self, name, comment, h=0.001, time=1.0, gravity=-9.81, friction=0.3,
                 restitution=0.0):
        self.name, self.comment, self.h, self.time = name, comment, h, time
        self.gravity, self.friction = gravity, friction
        self.world, self.assets, self.include, self.qpos, self.qvel = "", "", "", [], []
        self.custom = [("numeric", "rb.time", num(time)),
                       ("numeric", "rb.restitution", num(restitution))]

    def number(self, name, *values):
        self.custom.append(("numeric", "rb." + name, num(*values)))

    def geom(self, name, kind, size, pos=None, indent=4, **more):
        place = f' pos="{num(*pos)}"' if pos is not None else ""
        extra = "".join(f' {k}="{v}"' for k, v in more.items())
        return f'{" " * indent}<geom name="{name}" type="{kind}" size="{num(*size)}"{place}{extra}/>\n'

    def fixed(self, name, kind, size, pos=(0, 0, 0), **more):
        self.world += self.geom(name, kind, size, pos, **more)

    def floor(self, **more):
        self.fixed("floor", "plane", (0, 0, 1), **more)

    def led(self, name, geoms, pos=(0, 0, 0), motion=None, vibration=None):
        """A body that moves by itself."""
        self.world += f'    <body name="{name}" mocap="true" pos="{num(*pos)}">\n{geoms}    </body>\n'
        if motion:
            self.number(f"motion/{name}", *motion)
        if vibration:
            self.number(f"vibration/{name}", *vibration)

    def free(self, name, geoms, pos, quat=(1, 0, 0, 0), v=(0, 0, 0), w=(0, 0, 0), inertial=""):
        """w in the frame of the body, as in qvel."""
        self.world += (f'    <body name="{name}" pos="{num(*pos)}" quat="{num(*quat)}">\n'
                       f'      <freejoint name="{name}"/>\n{inertial}{geoms}    </body>\n')
        self.qpos += [*pos, *quat]
        self.qvel += [*v, *w]

    def sphere(self, name, R, pos, mass, v=(0, 0, 0), w=(0, 0, 0), **more):
        self.free(name, self.geom(name, "sphere", (R,), indent=6, mass=num(mass), **more), pos,
                  v=v, w=w)

    def text(self):
        custom = "".join(f'    <{kind} name="{name}" data="{data}"/>\n'
                         for kind, name, data in self.custom)
        assets = f"  <asset>\n{self.assets}  </asset>\n" if self.assets else ""
        return (f'<!-- {self.comment} -->\n<mujoco model="{self.name}">\n'
                f'  <option timestep="{num(self.h)}" gravity="0 0 {num(self.gravity)}"/>\n'
                f'  <compiler angle="radian"/>\n{self.include}'
                f'  <default>\n    <geom friction="{num(self.friction)}"/>\n  </default>\n'
                f'{assets}  <worldbody>\n{self.world}  </worldbody>\n'
                f'  <keyframe>\n    <key name="start" qpos="{num(*self.qpos)}"\n'
                f'         qvel="{num(*self.qvel)}"/>\n  </keyframe>\n'
                f'  <custom>\n{custom}  </custom>\n</mujoco>\n')


def quat(axis, angle):
    n = math.sqrt(sum(x * x for x in axis))
    s = math.sin(angle / 2) / n
    return (math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s)


def times(p, q):
    a, b, c, d = p
    e, f, g, h = q
    return (a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e)


def turned(q, v):
    w, x, y, z = q
    p = times(times(q, (0, *v)), (w, -x, -y, -z))
    return p[1:]


def numbers(seed):
    """A linear congruential generator, so that other programs can make the same scene: [0, 1)."""
    state = seed
    while True:
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        yield state / 0x80000000


def any_turn(noise):
    """A uniform rotation [Shoemake 1992]."""
    u, a, b = next(noise), 2 * math.pi * next(noise), 2 * math.pi * next(noise)
    return (math.sqrt(1 - u) * math.sin(a), math.sqrt(1 - u) * math.cos(a),
            math.sqrt(u) * math.sin(b), math.sqrt(u) * math.cos(b))


# ---- the two motivating scenes ------------------------------------------------------------------

def ramp():
    s = Scene("ramp", "A ball rolls up a ramp, flies, bounces and settles into rolling: Figure 1.",
              time=3, friction=0.5, restitution=0.5)
    R, angle, length = 0.05, math.radians(20), 0.6
    s.floor()
    c, n = math.cos(angle), math.sin(angle)
    thick = 0.05  # half; the upper face begins at x = 0 on the floor
    pos = (length / 2 * c + thick * n, 0, length / 2 * n - thick * c)
    s.fixed("ramp", "box", (length / 2, 0.2, thick), pos, quat=num(*quat((0, 1, 0), -angle)))
    s.sphere("ball", R, (-0.5, 0, R), 0.5, v=(4, 0, 0), w=(0, 4 / R, 0))
    s.number("restitution/ramp/ball", 0)
    return s


def singulator():
    s = Scene("singulator", "Parts hop on a vibrating plate until each lies in a recess: Figure 2.",
              time=4, friction=0.3, restitution=0.3)
    pitch, n, bar, high = 0.03, 4, 0.005, 0.004  # half width and half height of the bars
    half = pitch * n / 2
    geoms = s.geom("bottom", "box", (half + bar, half + bar, 0.005), (0, 0, -0.005), indent=6)
    for i in range(n + 1):
        x = -half + pitch * i
        edge = 0.02 if i in (0, n) else high
        geoms += s.geom(f"bar_x{i}", "box", (half + bar, bar, edge), (0, x, edge), indent=6)
        geoms += s.geom(f"bar_y{i}", "box", (bar, half + bar, edge), (x, 0, edge), indent=6)
    s.led("plate", geoms, vibration=(4e-4, 3e-4, 8e-4, 23, 29, 31, 0, 1, 0))
    noise = numbers(7)
    for k in range(6):
        pos = ((k % 3 - 1) * 1.0 * pitch, (k // 3 - 0.5) * 0.9 * pitch, 0.03 + 0.008 * k)
        part = s.geom(f"part{k}", "box", (0.006, 0.005, 0.004), indent=6, density="1100")
        s.free(f"part{k}", part, pos, any_turn(noise))
    return s


# ---- the nine scenes of the table ---------------------------------------------------------------

def dominos():
    s = Scene("dominos", "Ten dominos; the first leans beyond its balance.", time=0.5, h=0.001,
              friction=0.2, restitution=0.1)
    high, wide, thick, pitch, count = 0.048, 0.024, 0.0075, 0.024, 10
    s.floor(friction=num(0.3))
    lean = math.atan(thick / high) + math.radians(3)
    for k in range(count):
        q = quat((0, 1, 0), lean if k == 0 else 0.0)
        x, z = pitch * k, high / 2
        if k == 0:  # turned about its lower edge ahead
            a, b = -thick / 2, high / 2
            x = thick / 2 + a * math.cos(lean) + b * math.sin(lean)
            z = -a * math.sin(lean) + b * math.cos(lean)
        box = s.geom(f"domino{k}", "box", (thick / 2, wide / 2, high / 2), indent=6, mass=num(0.013))
        s.free(f"domino{k}", box, (x, 0, z), q)
    return s


def chain():
    s = Scene("chain", "Five balls in a row, 0.1 mm apart; a sixth comes at 1 m/s. No friction.",
              time=1, friction=0, restitution=0.9)
    R, gap = 0.02, 1e-4
    s.floor()
    s.sphere("ball0", R, (-0.1, 0, R), 0.1, v=(1, 0, 0))
    for k in range(1, 6):
        s.sphere(f"ball{k}", R, ((k - 1) * (2 * R + gap), 0, R), 0.1)
    return s


COINS = (("cent", 2.5, 19.05, 1.52), ("nickel", 5.0, 21.21, 1.95), ("dime", 2.268, 17.91, 1.35),
         ("quarter", 5.67, 24.26, 1.75), ("half", 11.34, 30.61, 2.15))


def coins():
    s = Scene("coins", "US coins: four fall from 0.1 m, the quarter spins on its edge. Sizes: US Mint.",
              time=3, h=0.001, friction=0.3, restitution=0.4)
    s.floor()
    noise = numbers(3)
    for k, (name, grams, wide, thick) in enumerate(COINS):
        R = wide / 2000
        coin = s.geom(name, "cylinder", (R, thick / 2000), indent=6, mass=num(grams / 1000))
        if name == "quarter":
            q = quat((1, 0, 0), math.radians(85))
            high = R * math.sin(math.radians(85)) + thick / 2000 * math.cos(math.radians(85))
            s.free(name, coin, (0.2, 0, high), q, w=(0, 30, 0))
        else:
            q = any_turn(noise)
            s.free(name, coin, (0.05 * (k % 3), 0.05 * (k // 3), 0.1), q,
                   w=(10 * next(noise) - 5, 10 * next(noise) - 5, 10 * next(noise) - 5))
    return s


def pool():
    s = Scene("pool", "Pool break on a 9 ft table; balls and coefficients as measured, WPA sizes.",
              time=3, h=0.001, friction=0.05, restitution=0.95)
    R, mass, length, width = 0.028575, 0.17, 2.54, 1.27
    s.fixed("cloth", "plane", (0, 0, 1), friction=num(0.2))
    nose = 0.635 * 2 * R
    for name, x, y, a, b in (("head", -1, 0, 0.05, width / 2 + 0.1), ("foot", 1, 0, 0.05, width / 2 + 0.1),
                             ("left", 0, 1, length / 2, 0.05), ("right", 0, -1, length / 2, 0.05)):
        s.fixed(name, "box", (a, b, 0.01), (x * (length / 2 + 0.05), y * (width / 2 + 0.05), nose),
                friction=num(0.2))
    pitch = 2 * R + 1e-4
    s.sphere("cue", R, (-length / 4, 0, R), mass, v=(9, 0.02, 0), w=(0, 9 / R, 0))
    k = 0
    for row in range(5):
        for i in range(row + 1):
            k += 1
            s.sphere(f"ball{k}", R, (length / 4 + row * pitch * math.sqrt(3) / 2,
                                     (i - row / 2) * pitch, R), mass)
    for name in ["cue"] + [f"ball{i}" for i in range(1, k + 1)]:
        s.number(f"restitution/{name}/cloth", 0.5)
        for cushion in ("head", "foot", "left", "right"):
            s.number(f"restitution/{name}/{cushion}", 0.8)
    return s


PIN = ((0, 2.031), (0.75, 2.828), (2.25, 3.906), (3.375, 4.510), (4.5, 4.766), (5.875, 4.563),
       (7.25, 3.703), (8.625, 2.472), (9.375, 1.965), (10, 1.797), (10.875, 1.870), (11.75, 2.094),
       (12.625, 2.406), (13.5, 2.547))
PIN_COM = 0.1473  # above the base [m]


def pin_rings(hi):
    """Every other height of the profile up to hi, and hi: enough of the belly, half the corners."""
    heights = [(h, d) for h, d in PIN if h <= hi]
    kept = heights[:2] + heights[2:-1:2] + heights[-1:]
    return [(h * INCH - PIN_COM, d / 2 * INCH) for h, d in kept]


def pin_mesh(name, rings, sides):
    points = []
    for z, r in rings:
        for i in range(sides):
            a = 2 * math.pi * i / sides
            points.append(num(round(r * math.cos(a), 9), round(r * math.sin(a), 9), round(z, 9)))
    return f'    <mesh name="{name}" vertex="' + "\n      ".join(points) + '"/>\n'


def bowling():
    s = Scene("bowling", "A strike. Ball, pins and lane as the rules of the sport have them.",
              time=0.8, h=0.001, friction=0.08, restitution=0.6)
    s.floor()
    s.assets += pin_mesh("belly", pin_rings(8.625), 12)
    neck = [h * INCH - PIN_COM for h in (8.9, 12)]  # thin; the head is a ball
    head = 13.727 * INCH - PIN_COM
    for name, x, y, a, b in (("left", 0.3, 0.8, 1.0, 0.02), ("right", 0.3, -0.8, 1.0, 0.02),
                             ("back", 1.5, 0, 0.02, 1.0)):
        s.fixed(name, "box", (a, b, 0.4), (x, y, 0.4))
    pitch = 12 * INCH
    R, entry, speed = 0.1085, math.radians(6), 7.6
    side = 2.5 * INCH
    start = (-0.5, side + 0.5 * math.tan(entry), R)
    direction = (math.cos(entry), -math.sin(entry))
    spin = speed / R
    ball = s.geom("ball", "sphere", (R,), indent=6)
    s.free("ball", ball, start, v=(speed * direction[0], speed * direction[1], 0),
           w=(-spin * direction[1], spin * direction[0], 0),
           inertial='      <inertial pos="0 0 0" mass="7" diaginertia="0.0305 0.0305 0.0305"/>\n')
    s.number("restitution/ball", 0.65)
    s.number("restitution/ball/floor", 0)
    k = 0
    for row in range(4):
        for i in range(row + 1):
            k += 1
            geoms = (f'      <geom name="belly{k}" type="mesh" mesh="belly" friction="0.3"/>\n'
                     f'      <geom name="neck{k}" type="capsule" fromto="0 0 {num(neck[0])} 0 0 '
                     f'{num(neck[1])}" size="{num(0.95 * INCH)}" friction="0.3"/>\n'
                     f'      <geom name="head{k}" type="sphere" pos="0 0 {num(head)}" '
                     f'size="{num(1.273 * INCH)}" friction="0.3"/>\n')
            pos = (row * pitch * math.sqrt(3) / 2, (i - row / 2) * pitch, PIN_COM)
            s.free(f"pin{k}", geoms, pos,
                   inertial='      <inertial pos="0 0 0" mass="1.6" '
                            'diaginertia="0.01353 0.01353 0.00199"/>\n')
            for part in ("belly", "neck", "head"):
                s.number(f"restitution/floor/{part}{k}", 0.3)
    return s


def platter():
    s = Scene("platter", "A ball rolls on a turntable: its centre runs on a circle at 2/7 of the rate.",
              time=12, h=0.001, friction=0.5, restitution=0)
    R, rate = 0.02, 2.0
    s.led("platter", s.geom("platter", "cylinder", (0.6, 0.01), (0, 0, -0.01), indent=6),
          motion=(0, 0, 0, 0, 0, rate))
    x, v = (0.2, 0.0), (0.0, 0.1)
    a = (-rate * x[1] - v[0], rate * x[0] - v[1])  # platter less centre of the ball
    w = (a[1] / R, -a[0] / R, 0)
    s.sphere("ball", R, (x[0], x[1], R), 0.1, v=(v[0], v[1], 0), w=w)
    return s


BOWL, BOWL_HALF, BOWL_POINTS = 0.15, 0.1, 57


def bowl():
    """The inner side of a ball of 0.15 m as a height field, included by the dishes."""
    cell = 2 * BOWL_HALF / (BOWL_POINTS - 1)
    top = BOWL - math.sqrt(BOWL ** 2 - 2 * BOWL_HALF ** 2)
    rows = []
    for i in range(BOWL_POINTS):
        y = -BOWL_HALF + cell * i
        heights = [BOWL - math.sqrt(BOWL ** 2 - (-BOWL_HALF + cell * j) ** 2 - y * y)
                   for j in range(BOWL_POINTS)]
        rows.append(" ".join(f"{z / top:.7g}" for z in heights))
    return (f'<mujoco>\n  <asset>\n    <hfield name="bowl" nrow="{BOWL_POINTS}" ncol="{BOWL_POINTS}" '
            f'size="{num(BOWL_HALF, BOWL_HALF, top, 0.01)}"\n      elevation="'
            + "\n      ".join(rows) + '"/>\n  </asset>\n</mujoco>\n')


def dish(name, comment, balls, time, spread):
    s = Scene(name, comment, time=time, h=0.001, friction=0.4, restitution=0.5)
    R = 0.01
    s.include = '  <include file="bowl.xml"/>\n'
    s.world += '    <geom name="bowl" type="hfield" hfield="bowl"/>\n'
    for k in range(balls):
        x, y, z = bowl_point(BOWL - R, spread, 2 * math.pi * k / balls, BOWL)
        s.sphere(f"ball{k}", R, (x, y, z + (0.005 + 0.01 * k if balls > 1 else 0)), 0.0327)
    return s


def bowl_point(radius, angle, around, centre):
    return (radius * math.sin(angle) * math.cos(around), radius * math.sin(angle) * math.sin(around),
            centre - radius * math.cos(angle))


def balls_in_dish():
    return dish("dish", "Six balls dropped into a bowl of radius 0.15 m.", 6, 3, 0.35)


def one_in_dish():
    s = dish("dish_one", "One ball rolls to and fro in the bowl: omega^2 = 5 g / (7 (R_b - R)).", 1, 3, 0.25)
    s.number("restitution/ball0/bowl", 0)
    s.qpos[2] += 5e-5  # facets are above the sphere between their corners
    return s


def ellipsoid_top(s, name, x, spin):
    """Kane and Levinson's: the centre of mass 1 cm below the centre of the ellipsoid, whose frame is
    turned against the principal axes of inertia by I_xy."""
    a, b, c, low = 0.2, 0.03, 0.02, 0.01
    q = times(quat((1, 0, 0), math.radians(0.5)), quat((0, 1, 0), math.radians(0.5)))
    gamma = turned((q[0], -q[1], -q[2], -q[3]), (0, 0, 1))
    A = (a * a, b * b, c * c)
    norm = math.sqrt(sum(A[i] * gamma[i] ** 2 for i in range(3)))
    z = norm - low * gamma[2]  # height of the centre of mass
    geom = s.geom(name, "ellipsoid", (a, b, c), (0, 0, low), indent=6)
    inertial = ('      <inertial pos="0 0 0" mass="1" '
                'fullinertia="2e-4 16e-4 17e-4 -0.2e-4 0 0"/>\n')
    r = tuple(-A[i] * gamma[i] / norm - (0, 0, -low)[i] for i in range(3))
    w = (0, 0, spin)
    v = turned(q, (r[1] * w[2] - r[2] * w[1], r[2] * w[0] - r[0] * w[2], r[0] * w[1] - r[1] * w[0]))
    s.free(name, geom, (x, 0, z), q, v=v, w=w, inertial=inertial)


def rattleback():
    s = Scene("rattleback", "Two rattleback tops of Kane and Levinson, spun either way at 5 rad/s.",
              time=6, h=0.0005, friction=1, restitution=0)
    s.floor()
    ellipsoid_top(s, "against", 0, -5)
    ellipsoid_top(s, "along", 1, 5)
    return s


def feeding():
    s = Scene("feeding", "Five parts on a track that vibrates at 60 Hz, 0.3 mm, and carries them along.",
              time=2, h=0.0005, friction=0.3, restitution=0.3)
    s.led("track", s.geom("track", "box", (0.5, 0.06, 0.01), (0.3, 0, -0.01), indent=6)
          + s.geom("wall_left", "box", (0.5, 0.005, 0.03), (0.3, 0.065, 0.01), indent=6)
          + s.geom("wall_right", "box", (0.5, 0.005, 0.03), (0.3, -0.065, 0.01), indent=6),
          vibration=(3e-4, 0, 3e-4, 60, 0, 60, 0, 0, 0))
    noise = numbers(11)
    for k in range(5):
        part = s.geom(f"part{k}", "box", (0.015, 0.01, 0.006), indent=6, density="1100")
        s.free(f"part{k}", part, (0.05 * k, 0.02 * (k % 2) - 0.01, 0.04), any_turn(noise))
    return s


# ---- what else the hybrid must do ---------------------------------------------------------------

def thrown():
    s = Scene("thrown", "A ball thrown straight up; at the top of its way it is slow, and not at rest.",
              time=1, h=0.001, friction=0.3, restitution=0.5)
    s.floor()
    s.sphere("ball", 0.05, (0, 0, 0.5), 0.1, v=(0, 0, 3))
    return s


def slope():
    s = Scene("slope", "A block on a slope within the friction cone.", time=2, friction=0.5,
              restitution=0.3)
    angle = math.radians(20)
    q = quat((0, 1, 0), angle)
    s.fixed("slope", "plane", (0, 0, 1), quat=num(*q))
    up = turned(q, (0, 0, 0.02))
    s.free("block", s.geom("block", "box", (0.04, 0.03, 0.02), indent=6, mass="0.2"), up, q)
    return s


def door():
    s = Scene("door", "A ball hits a door on hinges, which swings and hits its stop.", time=2,
              friction=0.3, restitution=0.6)
    s.floor()
    s.world += """    <body name="door" pos="0 0 1.02">
      <joint name="hinge" type="hinge" axis="0 0 1" limited="true" range="-0.05 1.8"/>
      <geom name="door" type="box" size="0.02 0.4 1" pos="0 0.42 0" mass="20"/>
    </body>
"""
    s.qpos.append(0)
    s.qvel.append(0)
    s.sphere("ball", 0.1, (0.8, 0.6, 1), 2, v=(-6, 0, 2))
    s.fixed("stop", "box", (0.05, 0.05, 0.5), (-0.5, -0.3, 0.5))
    return s


def seesaw():
    s = Scene("seesaw", "A heavy ball falls on one end of a see-saw and throws the box on the other.", time=2,
              friction=0.6, restitution=0.2)
    s.floor()
    s.world += """    <body name="plank" pos="0 0 0.2">
      <joint name="pivot" type="hinge" axis="0 1 0"/>
      <geom name="plank" type="box" size="0.5 0.1 0.01" mass="1"/>
    </body>
"""
    lean = math.asin(0.19 / 0.5 * 0.98)
    s.qpos.append(-lean)
    s.qvel.append(0)
    q = quat((0, 1, 0), -lean)
    light = turned(q, (-0.4, 0, 0.01 + 0.03))
    heavy = turned(q, (0.4, 0, 0.01 + 0.06))
    box = s.geom("light", "box", (0.03, 0.03, 0.03), indent=6, mass="0.2")
    s.free("light", box, (light[0], 0, 0.2 + light[2]), q)
    s.sphere("heavy", 0.06, (heavy[0], 0, 0.2 + heavy[2] + 0.5), 2)
    return s


def arm():
    s = Scene("arm", "Two links swing down and knock boxes off a table.", time=1.5, friction=0.4,
              restitution=0.3)
    s.floor()
    s.fixed("table", "box", (0.2, 0.3, 0.1), (0, 0, 0.1))
    s.world += """    <body name="upper" pos="0 0 0.95">
      <joint name="shoulder" type="hinge" axis="0 1 0"/>
      <geom name="upper" type="capsule" fromto="0 0 0 -0.35 0 0" size="0.02" mass="1"/>
      <body name="lower" pos="-0.35 0 0">
        <joint name="elbow" type="hinge" axis="0 1 0" limited="true" range="-2 2"/>
        <geom name="lower" type="capsule" fromto="0 0 0 -0.3 0 0" size="0.02" mass="0.7"/>
      </body>
    </body>
"""
    s.qpos += [0, 0]
    s.qvel += [0, 0]
    for k in range(2):
        box = s.geom(f"box{k}", "box", (0.04, 0.04, 0.04), indent=6, mass="0.3")
        s.free(f"box{k}", box, (0, 0, 0.24 + 0.08 * k))
    return s


def pile(seed=5, count=6):
    s = Scene("pile", "Six boxes fall on a heap and come to rest.", time=1.5, h=0.001,
              friction=0.4, restitution=0.3)
    s.floor()
    noise = numbers(seed)
    for k in range(count):
        part = s.geom(f"part{k}", "box", (0.015, 0.01, 0.006), indent=6, density="1100")
        s.free(f"part{k}", part, ((k % 2 - 0.5) * 0.04, 0, 0.03 + 0.04 * (k // 2)), any_turn(noise))
    return s


SCENES = (ramp, singulator, dominos, chain, coins, pool, bowling, platter, balls_in_dish, one_in_dish,
          rattleback, feeding, thrown, slope, door, seesaw, arm, pile)


def main():
    texts = {"bowl.xml": bowl()}
    for make in SCENES:
        scene = make()
        texts[scene.name + ".xml"] = scene.text()
    status = keep(HERE, texts, sys.argv[1:])
    sys.exit(__doc__ if status is None else status)


if __name__ == "__main__":
    main()
