#!/usr/bin/env python3
"""Writes towers, walls, houses, dominoes and arches, as MJCF.

    scenes/towers/make.py [--check]          into this folder; --check: compare with what is there
    scenes/towers/make.py NAME SEED FILE     one of them, perturbed by that seed (0: as it is here)
    scenes/towers/make.py boxes_N SEED FILE  N boxes that fall into a bin as wide as they are high;
                                             likewise dominoes_N, and wall_N of N rows, half as many bricks in each

A seed moves every body by up to 0.1 mm and turns it by up to 1 mrad about the vertical. One of 100 and
more also draws friction, sizes and every density, and makes bricks of the wall uneven by up to 0.1 mm.
Seeds that are even are there to work with, odd ones to judge with (bench/towers).
"""
import math
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from files import keep  # noqa: E402

SHIFT = 1e-4    # of a perturbed body [m]
TURN = 1e-3     # and its turn about the vertical [rad]
VARIED = 100    # least seed that varies more than places
FLOOR = '    <geom name="floor" type="plane" size="0 0 1"/>\n'


def num(*values):
    return " ".join(repr(round(float(v), 12)).removesuffix(".0") for v in values)


def varied(seed, *values):
    """Values times one factor of 0.8 to 1.25 each."""
    if seed < VARIED:
        return values
    chance = random.Random(7919 * seed)
    return [v * math.exp(chance.uniform(math.log(0.8), math.log(1.25))) for v in values]


def yaw(angle):
    return (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))


class Scene:
    """Bodies with their places and velocities, in the order of the file."""

    def __init__(self, name, comment, h, T, friction, density, seed):
        self.name, self.comment, self.h, self.T = name, comment, h, T
        self.friction, self.density = varied(seed + 1 if seed else 0, friction)[0], density
        self.random = random.Random(seed) if seed else None
        self.seed = seed
        self.world, self.assets = FLOOR, ""
        self.qpos, self.qvel = [], []

    def noise(self, size):
        return self.random.uniform(-size, size) if self.random else 0.0

    def add(self, name, pos, quat, geom, velocity=(0,) * 6, mass=None):
        pos = [p + self.noise(SHIFT) for p in pos[:2]] + [pos[2]]
        if self.random and quat[1] == quat[2] == 0.0:
            a = 2 * math.atan2(quat[3], quat[0]) + self.noise(TURN)
            quat = yaw(a)
        weight = f' mass="{num(mass)}"' if mass else ""
        if not mass and self.seed >= VARIED:
            weight = f' density="{num(self.density * self.random.uniform(0.5, 1.5))}"'
        self.world += (f'    <body name="{name}" pos="{num(*pos)}" quat="{num(*quat)}">\n'
                       f'      <freejoint name="{name}"/>\n'
                       f'      <geom {geom}{weight}/>\n'
                       f'    </body>\n')
        self.qpos += [*pos, *quat]
        self.qvel += velocity

    def add_pusher(self, pos, axis, half, speed, mass=100):
        """A heavy box on rails that keeps its speed."""
        weightless = ' gravcomp="1"' if axis[2] else ""
        self.world += (f'    <body name="pusher" pos="{num(*pos)}"{weightless}>\n'
                       f'      <joint name="pusher" type="slide" axis="{num(*axis)}"/>\n'
                       f'      <geom type="box" size="{num(*half)}" mass="{num(mass)}"/>\n'
                       f'    </body>\n')
        self.qpos.append(0)
        self.qvel.append(speed)

    def text(self):
        assets = f"  <asset>\n{self.assets}  </asset>\n" if self.assets else ""
        return f"""<!-- {self.comment} -->
<mujoco model="{self.name}">
  <option timestep="{num(self.h)}" gravity="0 0 -9.81"/>
  <default>
    <geom friction="{num(self.friction)}" density="{num(self.density)}"/>
  </default>
{assets}  <worldbody>
{self.world}  </worldbody>
  <keyframe>
    <key name="start" qpos="{num(*self.qpos)}" qvel="{num(*self.qvel)}"/>
  </keyframe>
  <custom>
    <numeric name="rb.time" data="{num(self.T)}"/>
  </custom>
</mujoco>
"""


def box(half):
    return f'type="box" size="{num(*half)}"'


def jenga(seed=0, uneven=0.0, name="jenga", layers=18):
    """Blocks of 75 x 24.8 x 15 mm; uneven: by how much heights differ [m]."""
    length, width, height = varied(seed, 0.075, 0.0248, 0.015)
    width, pitch = min(width, 0.0252), 0.0256
    comment = f"Jenga: 54 blocks, heights uneven by {1e3 * uneven:g} mm; one of them is pushed out."
    s = Scene(name, comment, 0.005, 1.5, 0.4, 600, seed)
    heights = random.Random(5 + seed)
    z, pushed_at = 0.0, 0.0
    for layer in range(layers):
        h = [height - uneven * heights.random() for _ in range(3)]
        if layer == 8:
            pushed_at = z + 0.5 * height
        for k in range(3):
            across = (k - 1) * pitch
            x, y = (0, across) if layer % 2 == 0 else (across, 0)
            s.add(f"b{layer}_{k}", (x, y, z + h[k] / 2), yaw(0 if layer % 2 == 0 else math.pi / 2),
                  box((length / 2, width / 2, h[k] / 2)))
        z += max(h)
    s.add_pusher((-length / 2 - 0.0115, 0.003, pushed_at), (1, 0, 0), (0.01, 0.005, 0.004), 0.05)
    return s


def wall(seed=0, rows=20, columns=10):
    length, depth, height = varied(seed, 0.2, 0.1, 0.065)
    uneven = 1e-4 if seed >= VARIED else 0.0
    s = Scene("wall", "A wall of 200 bricks in running bond, hit by a ball of 20 kg at 8 m/s.",
              0.002, 0.6, 0.6, 2000, seed)
    for row in range(rows):
        for column in range(columns):
            x = (column + 0.5 * (row % 2)) * (length + 0.001)
            half = (height - uneven * s.noise(0.5) - 0.5 * uneven) / 2
            s.add(f"w{row}_{column}", (x, 0, half + row * height), yaw(0),
                  box((length / 2, depth / 2, half)))
    s.add("ball", (columns * length / 2, -0.2, rows * height * 0.6), yaw(0),
          'type="sphere" size="0.1"', (0, 8, 0, 0, 0, 0), 20)
    return s


def log_house(seed=0, layers=15):
    """Two logs along x, two along y, and so on."""
    radius, half = 0.05, 0.6
    s = Scene("log_house", "A house of 30 logs laid crosswise; a ball of 5 kg falls on it.",
              0.002, 1.0, 0.6, 600, seed)
    for layer in range(layers):
        along_x = layer % 2 == 0
        for side in (-1, 1):
            x, y = (0, 0.5 * side) if along_x else (0.5 * side, 0)
            r = math.sqrt(0.5)
            turn = (r, 0, r, 0) if along_x else (r, r, 0, 0)
            s.add(f"l{layer}_{'ab'[side > 0]}", (x, y, radius * (2 * layer + 1)), turn,
                  f'type="capsule" size="{num(radius, half)}"')
    s.add("ball", (0.45, 0.03, 2 * radius * layers + 0.5), yaw(0), 'type="sphere" size="0.12"',
          mass=5)
    return s


def dominoes(seed=0, count=500):
    half = (0.00375, 0.012, 0.024)
    s = Scene("dominoes", "A row of 500 dominoes; the first one is pushed over.",
              0.002, 2.0, 0.3, 700, seed)
    for i in range(count):
        s.add(f"d{i}", (0.022 * i, 0, half[2]), yaw(0), box(half),
              (0.1, 0, 0, 0, 5, 0) if i == 0 else (0,) * 6)
    return s


def stone(k, count, inner, outer, depth):
    """Vertices of stone k of the half ring, about its middle; its middle."""
    a0, a1 = math.pi * k / count, math.pi * (k + 1) / count
    corners = [(-r * math.cos(a), r * math.sin(a)) for a in (a0, a1) for r in (inner, outer)]
    middle = [sum(c[i] for c in corners) / 4 for i in range(2)]
    points = [(c[0] - middle[0], y, c[1] - middle[1]) for y in (-depth, depth) for c in corners]
    return points, middle


def arch(seed=0, count=21):
    s = Scene("arch", "An arch of 21 stones between fixed blocks; its keystone is pushed up.",
              0.002, 1.0, 0.7, 2400, seed)
    inner, outer, depth = 1.0, 1.25, 0.15
    for k in range(count):
        points, middle = stone(k, count, inner, outer, depth)
        s.assets += (f'    <mesh name="stone{k}" vertex="'
                     + " ".join(num(*p) for p in points) + '"/>\n')
    for name, side in (("left", -1), ("right", 1)):
        s.world += (f'    <geom name="{name}" type="box" size="0.2 0.2 0.25" '
                    f'pos="{num(side * 1.125)} 0 0.25"/>\n')
    for k in range(count):
        _, middle = stone(k, count, inner, outer, depth)
        s.add(f"stone{k}", (middle[0], 0, 0.5 + middle[1]), yaw(0), f'type="mesh" mesh="stone{k}"')
    s.add_pusher((0, 0, 0.5 + inner - 0.02 - 0.052), (0, 0, 1), (0.03, 0.05, 0.05), 0.2)
    return s


def boxes(count, seed=0):
    """Boxes of 8 to 10 cm, turned at random, in layers of a cube; a bin of planes around them."""
    side, pitch = math.ceil(count ** (1 / 3)), 0.18
    s = Scene(f"boxes_{count}", f"{count} boxes fall into a bin.", 0.005, 1.0, 0.5, 600, 0)
    chance = random.Random(1000 + seed)
    wide = 0.5 * pitch * side
    for name, axis, pos in (("east", "-1 0 0", (wide, 0, 0)), ("west", "1 0 0", (-wide, 0, 0)),
                            ("north", "0 -1 0", (0, wide, 0)), ("south", "0 1 0", (0, -wide, 0))):
        s.world += (f'    <geom name="{name}" type="plane" size="0 0 1" pos="{num(*pos)}" '
                    f'zaxis="{axis}"/>\n')
    for i in range(count):
        q = [chance.gauss(0, 1) for _ in range(4)]
        size = math.sqrt(sum(x * x for x in q))
        s.add(f"b{i}", ((i % side - 0.5 * (side - 1)) * pitch,
                        (i // side % side - 0.5 * (side - 1)) * pitch,
                        0.09 + pitch * (i // side ** 2)), [x / size for x in q],
              box([chance.uniform(0.04, 0.05) for _ in range(3)]))
    return s


MAKERS = {
    "jenga": jenga,
    "jenga_uneven": lambda seed=0: jenga(seed, 1e-4, "jenga_uneven"),
    "wall": wall,
    "log_house": log_house,
    "dominoes": dominoes,
    "arch": arch,
}


def maker_of(name):
    kind, _, count = name.rpartition("_")
    sized = {"boxes": boxes, "dominoes": lambda n, seed: dominoes(seed, n),
             "wall": lambda n, seed: wall(seed, n, (n + 1) // 2)}
    if kind in sized and count.isdigit():
        return lambda seed: sized[kind](int(count), seed)
    return MAKERS.get(name)


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 3 and maker_of(arguments[0]):
        with open(arguments[2], "w", encoding="utf-8") as file:
            file.write(maker_of(arguments[0])(int(arguments[1])).text())
        return
    texts = {f"{name}.xml": maker().text() for name, maker in MAKERS.items()}
    status = keep(HERE, texts, arguments)
    sys.exit(__doc__ if status is None else status)


if __name__ == "__main__":
    main()
