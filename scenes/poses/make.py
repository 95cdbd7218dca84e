#!/usr/bin/env python3
"""Writes bracket.stl beside this file: an angle bracket of 40 x 25 x 15 mm with legs of 6 and 8 mm and
a gusset in the corner, in millimetres, as text.

usage: scenes/poses/make.py [FILE]
"""
import os
import sys

# the profile in the plane x, z, counter-clockwise seen from -y; its corner has a gusset
PROFILE = [(0, 0), (40, 0), (40, 6), (16, 6), (8, 14), (8, 25), (0, 25)]
WIDTH = 15

# triangles that fill the profile
FILL = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5), (0, 5, 6)]


def triangles():
    front = [(x, 0, z) for x, z in PROFILE]
    back = [(x, WIDTH, z) for x, z in PROFILE]
    for a, b, c in FILL:
        yield front[a], front[b], front[c]
        yield back[a], back[c], back[b]
    for k in range(len(PROFILE)):
        n = (k + 1) % len(PROFILE)
        yield front[k], back[k], back[n]
        yield front[k], back[n], front[n]


def normal(a, b, c):
    u = [b[i] - a[i] for i in range(3)]
    v = [c[i] - a[i] for i in range(3)]
    n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    length = sum(x * x for x in n) ** 0.5
    return [x / length for x in n]


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "bracket.stl")
    with open(path, "w", encoding="ascii") as out:
        out.write("solid bracket\n")
        for corners in triangles():
            out.write("facet normal %.6f %.6f %.6f\n outer loop\n" % tuple(normal(*corners)))
            for corner in corners:
                out.write("  vertex %g %g %g\n" % corner)
            out.write(" endloop\nendfacet\n")
        out.write("endsolid bracket\n")


main()
