#!/usr/bin/env python3
"""Draws the pictures at the beginning of the theory pages: docs/figures/theory_NAME.svg.

usage: docs/figures/theory.py [--check]      --check: are the files what would be written?
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
INK, OURS, WARM, SOFT = "#24292f", "#1f6feb", "#d1661f", "#d8e2ee"


class Sheet:
    """A picture of given size; y grows upwards from the bottom."""

    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def y(self, value):
        return self.height - value

    def line(self, points, colour=INK, width=1.5, dash="", fill="none", arrow=False):
        path = " ".join(f"{x:.1f},{self.y(y):.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{path}" fill="{fill}" stroke="{colour}" '
                          f'stroke-width="{width}"{dashed}/>')
        if arrow:
            self.head(points[-2], points[-1], colour)

    def head(self, start, end, colour):
        angle = math.atan2(end[1] - start[1], end[0] - start[0])
        tips = [(end[0] - 9 * math.cos(angle + s), end[1] - 9 * math.sin(angle + s)) for s in (0.4, -0.4)]
        path = " ".join(f"{x:.1f},{self.y(y):.1f}" for x, y in (tips[0], end, tips[1]))
        self.parts.append(f'<polygon points="{path}" fill="{colour}"/>')

    def arrow(self, start, end, colour=INK, width=1.5):
        self.line([start, end], colour, width, arrow=True)

    def area(self, points, colour=SOFT):
        path = " ".join(f"{x:.1f},{self.y(y):.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{path}" fill="{colour}" stroke="{INK}" stroke-width="1"/>')

    def circle(self, x, y, r, fill=SOFT, colour=INK):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{self.y(y):.1f}" r="{r}" fill="{fill}" stroke="{colour}"/>')

    def dot(self, x, y, colour=INK):
        self.circle(x, y, 3, colour, colour)

    def text(self, x, y, words, anchor="start", colour=INK):
        self.parts.append(f'<text x="{x:.1f}" y="{self.y(y):.1f}" text-anchor="{anchor}" fill="{colour}">'
                          f"{words}</text>")

    def svg(self):
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                          'font-family="sans-serif" font-size="13">',
                          '<rect width="100%" height="100%" fill="white"/>', *self.parts, "</svg>"]) + "\n"


def axes(s, x, y, width, height, xlabel, ylabel):
    s.arrow((x - 10, y), (x + width, y))
    s.arrow((x, y - 10), (x, y + height))
    s.text(x + width + 6, y - 4, xlabel)
    s.text(x - 6, y + height + 8, ylabel)


def box(s, x, y, width, height, lines, colour=SOFT):
    s.area([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], colour)
    for k, words in enumerate(lines):
        s.text(x + width / 2, y + height / 2 - 5 + 17 * ((len(lines) - 1) / 2 - k), words, "middle")


def conventions():
    """Two geoms apart: normal, gap, tangents, the impulse on the second; frames of world and body."""
    s = Sheet(620, 200)
    s.circle(120, 70, 45)
    s.text(120, 65, "geom 1", "middle")
    s.circle(220, 135, 40)
    s.text(220, 182, "geom 2", "middle")
    n = (100 / math.hypot(100, 65), 65 / math.hypot(100, 65))
    a, b = (120 + 45 * n[0], 70 + 45 * n[1]), (220 - 40 * n[0], 135 - 40 * n[1])
    s.dot(*a)
    s.dot(*b)
    s.line([a, b], WARM, 2)
    s.text(120, 128, "gap &gt; 0: apart", "middle", WARM)
    s.arrow(a, (a[0] + 34 * n[1], a[1] - 34 * n[0]), INK)
    s.text(a[0] + 36 * n[1] + 4, a[1] - 36 * n[0] - 8, "t1")
    s.arrow((b[0] + 8, b[1] - 6), (b[0] + 8 + 60 * n[0], b[1] - 6 + 60 * n[1]), OURS, 2)
    s.text(272, 152, "n, and an impulse r_n &gt; 0", colour=OURS)
    s.text(272, 134, "on geom 2", colour=OURS)
    s.arrow((400, 40), (450, 40))
    s.arrow((400, 40), (400, 90))
    s.text(455, 36, "x")
    s.text(390, 96, "z")
    s.text(400, 18, "world w", "middle")
    s.area([(510, 70), (575, 95), (560, 135), (495, 110)])
    s.arrow((535, 102), (563, 113))
    s.arrow((535, 102), (524, 130))
    s.text(540, 146, "body b", "middle")
    s.arrow((400, 40), (535, 102), OURS)
    s.text(470, 50, "p_wb, R_wb", colour=OURS)
    return s


def complementarity():
    s = Sheet(700, 210)
    axes(s, 60, 40, 170, 130, "z", "w")
    s.line([(60, 160), (60, 40), (215, 40)], OURS, 4)
    s.text(130, 110, "z &gt;= 0, w &gt;= 0, z w = 0", colour=OURS)
    s.text(70, 175, "open: no impulse, gap opens")
    s.text(90, 15, "closed: impulse, no velocity")
    axes(s, 430, 100, 150, 75, "z", "w")
    s.line([(370, 160), (370, 100), (510, 100), (510, 40)], OURS, 4)
    s.line([(370, 94), (370, 106)])
    s.text(352, 82, "lo")
    s.text(516, 108, "hi")
    s.text(370, 15, "a row with two bounds")
    return s


def pivoting():
    s = Sheet(700, 240)
    o = (250, 100)
    rays = [((420, 100), "e1"), ((250, 225), "e2"), ((130, 30), "-W1"), ((330, 15), "-W2")]
    s.area([o, rays[0][0], (420, 225), rays[1][0]])
    s.area([o, rays[1][0], (120, 225), (60, 80), rays[2][0]], "#eef3f8")
    for end, name in rays:
        s.arrow(o, end)
        s.text(end[0] + 6, end[1] - 12, name)
    s.arrow((390, 200), (180, 131), OURS, 2.5)
    s.dot(250, 154)
    s.dot(390, 200, WARM)
    s.text(398, 200, "q + t d, t large")
    s.dot(175, 130, OURS)
    s.text(90, 140, "q, t = 0", colour=OURS)
    s.text(440, 120, "each pair of rays spans a cone:")
    s.text(440, 102, "one choice of z_i = 0 or w_i = 0.")
    s.text(440, 84, "On its way from t large to 0")
    s.text(440, 66, "each crossing is a pivot (Lemke).")
    return s


def cones():
    s = Sheet(700, 230)
    o = (170, 40)
    s.area([o, (90, 200), (250, 200)])
    s.line([(90, 200), (250, 200)], INK, 1)
    s.arrow(o, (170, 215))
    s.text(176, 212, "n")
    s.arrow(o, (235, 170), OURS, 2.5)
    s.text(242, 165, "r on the cone: slides", colour=OURS)
    s.arrow(o, (160, 150), "#2da44e", 2.5)
    s.text(20, 150, "r inside: sticks", colour="#2da44e")
    s.arrow(o, (90, 40), WARM, 2.5)
    s.text(40, 24, "slip u_t, opposite to r_t", colour=WARM)
    s.text(212, 110, "|r_t| = mu r_n")
    s.text(430, 180, "open: r = 0, u_n &gt;= 0")
    s.text(430, 155, "stick: u = 0, r in K")
    s.text(430, 130, "slide: u_n = 0, |r_t| = mu r_n,")
    s.text(430, 112, "r_t against u_t")
    return s


def contact():
    s = Sheet(700, 220)
    s.area([(60, 20), (260, 20), (260, 80), (60, 80)])
    s.text(90, 45, "body A")
    s.circle(170, 150, 50)
    s.text(150, 165, "body B")
    s.arrow((170, 80), (170, 130), OURS, 2.5)
    s.text(176, 108, "n", colour=OURS)
    s.arrow((170, 80), (225, 80), OURS, 2)
    s.text(228, 84, "t1", colour=OURS)
    s.line([(150, 80), (150, 100)], WARM, 2)
    s.text(110, 88, "gap", colour=WARM)
    box(s, 320, 150, 140, 44, ["contacts, limits,", "loops: rows of J"])
    box(s, 320, 85, 140, 44, ["W = J M^-1 J'", "q = J v_f + .."])
    box(s, 320, 20, 140, 44, ["u = W r + q", "and Coulomb's law"])
    for y in (150, 85):
        s.arrow((390, y), (390, y - 20))
    s.text(475, 168, "one island at a time")
    s.text(475, 103, "compliance")
    s.text(475, 38, "one problem per formulation")
    return s


def collision():
    s = Sheet(700, 210)
    s.area([(40, 40), (170, 30), (200, 90), (150, 160), (60, 140)])
    s.circle(330, 110, 60)
    s.dot(192, 97)
    s.dot(270, 107)
    s.line([(192, 97), (270, 107)], WARM, 2.5)
    s.text(215, 122, "gap", colour=WARM)
    s.arrow((192, 97), (232, 102), OURS, 2.5)
    s.text(206, 78, "n, from 1 to 2", colour=OURS)
    s.text(90, 90, "shape 1")
    s.text(310, 105, "shape 2")
    s.text(430, 160, "apart: largest separation")
    s.text(430, 142, "over all directions n")
    s.text(430, 110, "overlap: the same maximum,")
    s.text(430, 92, "now negative: the depth")
    return s


def closest_features():
    s = Sheet(700, 210)
    s.area([(60, 30), (220, 30), (260, 110), (100, 110)])
    s.line([(260, 110), (260, 200)], INK, 1, "5 4")
    s.line([(260, 110), (370, 55)], INK, 1, "5 4")
    s.line([(100, 110), (100, 200)], INK, 1, "5 4")
    s.text(110, 165, "region of the edge")
    s.text(268, 175, "region of the vertex")
    s.dot(300, 135, WARM)
    s.line([(300, 135), (260, 110)], WARM, 2)
    s.dot(260, 110, OURS)
    s.text(308, 135, "point of the other body", colour=WARM)
    s.text(420, 80, "Inside the region of a feature,")
    s.text(420, 62, "that feature is the closest one.")
    s.text(420, 44, "Outside: walk to the neighbour.")
    return s


def time_of_impact():
    s = Sheet(700, 220)
    axes(s, 60, 40, 400, 150, "time", "gap")
    curve = [(60 + 4 * k, 40 + 140 * (1 - (k / 85.0) ** 1.6)) for k in range(0, 86, 5)]
    s.line(curve, INK, 2)
    x, y = 60.0, 180.0
    for step in (110, 80, 60, 40, 22):
        s.line([(x, y), (x + step, 40)], OURS, 1, "4 3")
        x += step
        share = min((x - 60) / 4 / 85.0, 1.0)
        y = 40 + 140 * (1 - share ** 1.6)
        s.dot(x, y, OURS)
    s.dot(400, 40, WARM)
    s.text(405, 52, "impact", colour=WARM)
    s.text(200, 180, "a bound on the speed of closing gives a safe step;")
    s.text(200, 162, "steps repeat until less than 1 ns is left")
    return s


def dynamics():
    s = Sheet(700, 220)
    links = [(80, 60), (170, 130), (270, 110), (360, 170)]
    s.line([(40, 40), (120, 40)], INK, 3)
    s.line([(80, 40), links[0]], INK, 6)
    for a, b in zip(links, links[1:]):
        s.line([a, b], SOFT, 14)
        s.line([a, b], INK, 1.5)
    s.line([links[1], (240, 200)], SOFT, 14)
    s.line([links[1], (240, 200)], INK, 1.5)
    for x, y in links[:3]:
        s.circle(x, y, 6, "white")
    s.text(60, 15, "base")
    s.text(150, 150, "joint", "end")
    s.text(310, 118, "link k, parent p(k)")
    s.arrow((360, 170), (405, 150), WARM, 2)
    s.text(410, 150, "contact impulse", colour=WARM)
    s.text(420, 105, "outwards: poses, velocities")
    s.text(420, 85, "inwards: forces, articulated inertias")
    s.text(420, 65, "outwards: accelerations")
    s.text(420, 45, "cost: linear in the links")
    return s


def stepping():
    s = Sheet(760, 200)
    names = [["state q, v;", "near pairs"], ["rows at the", "node: J, W"], ["solve islands,", "certificate: p"],
             ["smooth motion", "of v + M^-1 J'p"], ["gaps and slip", "at q+"], ["accept: rest,", "report, keep"]]
    for k, lines in enumerate(names):
        box(s, 10 + 125 * k, 90, 112, 50, lines)
        if k:
            s.arrow((10 + 125 * k - 13, 115), (10 + 125 * k, 115))
    s.line([(566, 90), (566, 50), (316, 50), (316, 90)], WARM, 2, arrow=True)
    s.text(345, 58, "rounds, until values are predicted", colour=WARM)
    s.line([(691, 140), (691, 170), (66, 170), (66, 140)], OURS, 2, arrow=True)
    s.text(330, 177, "next step", colour=OURS)
    s.text(270, 25, "no answer, or a bound is broken: the step is halved", colour=INK)
    return s


def impact():
    s = Sheet(700, 220)
    axes(s, 60, 90, 220, 100, "normal impulse p", "normal velocity z")
    s.line([(60, 30), (150, 90), (230, 150)], OURS, 2.5)
    s.dot(150, 90, WARM)
    s.text(110, 40, "compression")
    s.text(200, 120, "restitution")
    s.text(120, 100, "z = 0", colour=WARM)
    axes(s, 480, 100, 110, 90, "s1", "s2")
    s.line([(580, 180), (550, 150), (520, 140), (495, 118), (480, 100)], OURS, 2.5, arrow=True)
    s.text(400, 40, "slip during the impact: it turns,")
    s.text(400, 22, "may stop, sticks or slides on")
    return s


def impulses():
    s = Sheet(700, 200)
    s.line([(30, 40), (590, 40)], INK, 2)
    x = 40.0
    for width, height in ((150, 130), (110, 75), (80, 40), (55, 20), (35, 9), (22, 4)):
        s.line([(x + width * k / 20, 40 + 4 * height * k / 20 * (1 - k / 20)) for k in range(21)], OURS, 2)
        x += width
        s.dot(x, 40, WARM)
    s.line([(x, 40), (570, 40)], OURS, 4)
    s.text(90, 180, "flight")
    s.text(180, 22, "impact: solved alone", colour=WARM)
    s.text(470, 60, "contact that lasts")
    return s


def hybrid():
    s = Sheet(700, 180)
    box(s, 60, 60, 170, 60, ["impulses", "transient contact"])
    box(s, 390, 60, 170, 60, ["constraints", "lasting contact"])
    s.arrow((230, 105), (390, 105), OURS, 2)
    s.text(310, 115, "slow, and pressed", "middle", OURS)
    s.arrow((390, 75), (230, 75), WARM, 2)
    s.text(310, 55, "opens, or is struck", "middle", WARM)
    s.text(310, 20, "each pair of geoms has its own state", "middle")
    return s


def poses():
    s = Sheet(700, 210)
    axes(s, 60, 40, 420, 140, "orientation d", "height h(d)")
    points = [(60 + 4 * k, 95 + 35 * math.cos(k / 9.0) + 25 * math.cos(k / 23.0 + 1.2)) for k in range(101)]
    s.line(points, INK, 2)
    for k in (28, 85):
        x, y = points[k]
        s.dot(x, y, OURS)
        s.text(x, y - 18, "stable pose", "middle", OURS)
    x, y = points[56]
    s.dot(x, y, WARM)
    s.text(x, y + 12, "barrier", "middle", WARM)
    s.text(500, 120, "energy below")
    s.text(500, 102, "the barrier:")
    s.text(500, 84, "pose decided")
    return s


PICTURES = {"conventions": conventions, "complementarity": complementarity, "pivoting": pivoting, "cones": cones,
            "contact": contact,
            "collision": collision, "closest-features": closest_features, "time-of-impact": time_of_impact,
            "dynamics": dynamics, "stepping": stepping, "impact": impact, "impulses": impulses,
            "hybrid": hybrid, "poses": poses}


def main(words):
    stale = []
    for name, draw in PICTURES.items():
        path = os.path.join(HERE, f"theory_{name}.svg")
        text = draw().svg()
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        if text != old:
            stale.append(name)
            if not words:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    if words and stale:
        sys.exit("run docs/figures/theory.py: " + ", ".join(stale))
    print(f"{len(PICTURES)} pictures" + ("" if words else f", written: {', '.join(stale) or 'none'}"))


if __name__ == "__main__":
    main(sys.argv[1:])
