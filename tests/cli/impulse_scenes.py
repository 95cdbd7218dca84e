"""The scenes of impulse-based simulation, in every stepper: scenes/impulse/.

usage: impulse_scenes.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME

What is checked is physics: closed forms, identities, or a second computation written here.
"""
import csv
import io
import math

from harness import check, check_run, rattleback, run_tests, strict_json

STEPPERS = ("fixed", "located", "impulse", "hybrid")
G = 9.81

# Rolling on a curved surface by constraints: the rule of second order, and short steps. First order
# damps the rocking that a rattleback lives on.
ROLLING = {stepper: ("--scheme", "moreau-jean", "--step", "1e-4")
           for stepper in ("fixed", "hybrid")}


class Run:
    """A recorded run: columns by name."""

    def __init__(self, scene, stepper, *more, every=1):
        arguments = ("run", f"scenes/impulse/{scene}.xml", "--key", "start", "--stepper", stepper,
                     "--every", str(every), *more)
        rows = list(csv.reader(io.StringIO(
            check_run(rattleback(*arguments, "--record", "-", timeout=300), 0))))
        self.column = {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}
        self.time = self.column["time"]

    def q(self, joint, k):
        return self.column[f"q:{joint}:{k}"]

    def v(self, joint, k):
        return self.column[f"v:{joint}:{k}"]

    def end(self, joint):
        return [self.q(joint, k)[-1] for k in range(7)]


def each(*steppers):
    return [s for s in STEPPERS if not steppers or s in steppers]


def up(q):
    """z component of the body's z axis."""
    w, x, y, z = q[3:7]
    return 1 - 2 * (x * x + y * y)


def slope_of(t, y):
    """Of the line of least squares."""
    n, mt, my = len(t), sum(t) / len(t), sum(y) / len(y)
    return sum((a - mt) * (b - my) for a, b in zip(t, y)) / sum((a - mt) ** 2 for a in t)


def crossing(t, y, level):
    """When y falls below the level first, between two samples; never: infinity."""
    for i in range(1, len(t)):
        if y[i] < level:
            return t[i - 1] + (t[i] - t[i - 1]) * (y[i - 1] - level) / (y[i - 1] - y[i])
    return math.inf


def unwrapped(angles):
    out, turns = [angles[0]], 0.0
    for before, now in zip(angles, angles[1:]):
        if now - before > math.pi:
            turns -= 2 * math.pi
        elif now - before < -math.pi:
            turns += 2 * math.pi
        out.append(now + turns)
    return out


# ---- flight and bounces -------------------------------------------------------------------------

def test_a_thrown_ball_does_not_freeze_at_its_top():
    for stepper in each():
        run = Run("thrown", stepper)
        z, t = run.q("ball", 2), run.time
        for k in range(0, len(t)):
            want = 0.5 + 3 * t[k] - G / 2 * t[k] ** 2
            if want < 0.052:
                break
            check(abs(z[k] - want) < 1e-9, stepper, t[k], z[k], want)
        check(t[k] > 0.7, "it came down", t[k])


def test_ball_on_the_ramp_flies_bounces_and_rolls():
    for stepper in each():
        run = Run("ramp", stepper)
        z, vx, wy = run.q("ball", 2), run.v("ball", 0), run.v("ball", 4)
        check(max(z) > 0.3, stepper, "flies", max(z))
        top = z.index(max(z))
        lows = sum(1 for a, b, c in zip(z[top:], z[top + 1:], z[top + 2:]) if a > b < c)
        if stepper != "fixed":
            check(lows >= 3, stepper, "bounces", lows)
        check(abs(z[-1] - 0.05) < 2e-4, stepper, z[-1])
        check(abs(run.v("ball", 2)[-1]) < 0.02 and vx[-1] > 0.5, stepper, vx[-1])
        check(abs(vx[-1] - 0.05 * wy[-1]) < 2e-3, stepper, "rolls", vx[-1], wy[-1])


def test_shock_runs_through_the_chain():
    for stepper in each("located", "impulse", "hybrid"):
        run = Run("chain", stepper)
        speeds = [run.v(f"ball{k}", 0)[-1] for k in range(6)]
        check(abs(speeds[5] - 0.95 ** 5) < 1e-4, stepper, speeds)
        check(abs(sum(speeds) - 1) < 1e-6, stepper, "momentum", speeds)
        check(all(a <= b + 1e-9 for a, b in zip(speeds, speeds[1:])), stepper, speeds)


# ---- rolling ------------------------------------------------------------------------------------

def test_ball_on_the_platter_runs_at_two_sevenths():
    for stepper in each():
        run = Run("platter", stepper, every=20)
        heading = unwrapped([math.atan2(b, a) for a, b in zip(run.v("ball", 0), run.v("ball", 1))])
        rate = slope_of(run.time, heading)
        check(abs(rate / (2 / 7 * 2.0) - 1) < 0.01, stepper, rate)
        x, y = run.q("ball", 0), run.q("ball", 1)
        wide = (max(x) - min(x)) / 2
        check(abs(wide / (7 * 0.1 / (2 * 2.0)) - 1) < 0.02, stepper, wide)


def test_ball_in_the_dish_has_its_frequency():
    for stepper in each("fixed", "impulse", "hybrid"):
        run = Run("dish_one", stepper, "--time", "1.2")
        x, t = run.q("ball0", 0), run.time
        zeros = [t[k] + (t[k + 1] - t[k]) * x[k] / (x[k] - x[k + 1]) for k in range(len(x) - 1)
                 if (x[k] > 0) != (x[k + 1] > 0)]
        check(len(zeros) >= 3, stepper, zeros)
        rate = math.pi * (len(zeros) - 1) / (zeros[-1] - zeros[0])
        want = math.sqrt(5 * G / (7 * 0.14)) * (1 - 0.25 ** 2 / 16)  # a pendulum of 0.25 rad
        check(abs(rate / want - 1) < 0.005, stepper, rate, want)


def rattleback_reversal(spin, time):
    """First change of sign of the spin about the vertical axis of the body: rolling equations,
    Runge-Kutta."""
    a2, low, g = (0.2 ** 2, 0.03 ** 2, 0.02 ** 2), 0.01, G
    I = ((2e-4, -0.2e-4, 0), (-0.2e-4, 16e-4, 0), (0, 0, 17e-4))

    def cross(a, b):
        return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])

    def solve(A, b):
        def det(m):
            return sum(m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3]
                                  - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]) for i in range(3))
        d = det(A)
        return tuple(det([[b[r] if c == k else A[r][c] for c in range(3)] for r in range(3)]) / d
                     for k in range(3))

    def rates(y):
        gamma, w = y[:3], y[3:]
        norm = math.sqrt(sum(a2[i] * gamma[i] ** 2 for i in range(3)))
        dgamma = cross(gamma, w)
        dnorm = sum(a2[i] * gamma[i] * dgamma[i] for i in range(3)) / norm
        r = tuple(-a2[i] * gamma[i] / norm - (0, 0, -low)[i] for i in range(3))
        dr = tuple(-a2[i] * (dgamma[i] / norm - gamma[i] * dnorm / norm ** 2) for i in range(3))
        Iw = tuple(sum(I[i][k] * w[k] for k in range(3)) for i in range(3))
        rw = cross(r, w)
        # v = r x w in the frame of the body: contact point at rest
        push = tuple(a + b + g * c for a, b, c in zip(cross(dr, w), cross(w, rw), gamma))
        right = tuple(-a + b for a, b in zip(cross(w, Iw), cross(r, push)))
        rr = sum(x * x for x in r)
        left = [[I[i][k] + (rr if i == k else 0) - r[i] * r[k] for k in range(3)] for i in range(3)]
        return dgamma + solve(left, right)

    s = math.radians(0.5)
    # the start of the scene: a turn about x behind one about y
    y = (-math.sin(s) * math.cos(s), math.sin(s), math.cos(s) ** 2, 0.0, 0.0, spin)
    h = 5e-4
    for k in range(int(time / h)):
        k1 = rates(y)
        k2 = rates(tuple(a + h / 2 * b for a, b in zip(y, k1)))
        k3 = rates(tuple(a + h / 2 * b for a, b in zip(y, k2)))
        k4 = rates(tuple(a + h * b for a, b in zip(y, k3)))
        y = tuple(a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4))
        if y[5] * spin < 0:
            return (k + 1) * h
    return math.inf


def first_reversal(run, joint):
    spin = run.v(joint, 5)
    return next((t for t, w in zip(run.time, spin) if w * spin[0] < 0), math.inf)


def test_rattleback_reverses_one_way_only():
    want = rattleback_reversal(-5, 4)
    check(2 < want < 3, "second computation", want)
    for stepper in each("fixed", "impulse", "hybrid"):
        run = Run("rattleback", stepper, "--time", "3", *ROLLING.get(stepper, ()), every=10)
        when = first_reversal(run, "against")
        check(abs(when / want - 1) < 0.1, stepper, when, want)
        check(first_reversal(run, "along") == math.inf, stepper)
        check(run.v("against", 5)[-1] > 0.2, stepper, run.v("against", 5)[-1])
        if stepper == "impulse":  # second order: nothing drifts once they are in the shell
            energy = run.column["energy"][20:]
            check(max(energy) - min(energy) < 2e-3 * energy[0], min(energy), max(energy))


# ---- many bodies --------------------------------------------------------------------------------

def test_dominos_fall_in_order_at_a_constant_speed():
    for stepper in each("impulse", "hybrid"):
        run = Run("dominos", stepper)
        falls = []
        for k in range(10):
            tilt = [run.q(f"domino{k}", j) for j in range(7)]
            falls.append(crossing(run.time, [up(q) for q in zip(*tilt)], math.cos(math.radians(20))))
        check(all(a < b for a, b in zip(falls, falls[1:])), stepper, falls)
        check(falls[9] < 0.5, stepper, falls)
        speeds = [0.024 / (b - a) for a, b in zip(falls[5:9], falls[6:])]
        mean = sum(speeds) / len(speeds)
        check(0.3 < mean < 3, stepper, "m/s", speeds)
        check(all(abs(s / mean - 1) < 0.1 for s in speeds), stepper, speeds)


def test_break_keeps_momentum_and_loses_energy():
    for stepper in each():
        run = Run("pool", stepper, "--time", "0.3")
        energy = run.column["energy"]
        slack = (1e-5 if stepper == "impulse" else 1e-9) * energy[0]  # balls hop within the shell
        check(all(b <= a + slack for a, b in zip(energy, energy[1:])), stepper, "energy")
        names = ["cue"] + [f"ball{k}" for k in range(1, 16)]
        start = 0.17 * 9
        i = next(i for i in range(len(run.time))
                 if i == len(run.time) - 1
                 or any(abs(run.q(n, 0)[i]) > 1.27 - 0.05 or abs(run.q(n, 1)[i]) > 0.635 - 0.05
                        for n in names))
        check(run.time[i] > 0.15, stepper, "no cushion yet", run.time[i])
        px = 0.17 * sum(run.v(n, 0)[i] for n in names)
        py = 0.17 * sum(run.v(n, 1)[i] - (0.02 if n == "cue" else 0) for n in names)
        friction = 0.2 * 0.17 * 16 * G * run.time[i]
        check(math.hypot(px - start, py) < friction, stepper, px, start, py, friction)
        moved = sum(1 for n in names if math.hypot(run.v(n, 0)[-1], run.v(n, 1)[-1]) > 0.05)
        check(moved >= 8, stepper, "balls that move", moved)


# ---- mechanisms ---------------------------------------------------------------------------------

def test_door_swings_and_keeps_the_moment_of_momentum():
    for stepper in each():
        run = Run("door", stepper, "--time", "0.6")
        angle = run.column["q:hinge"]
        check(angle[-1] > 0.2, stepper, angle[-1])
        inertia = 20 * ((0.04 ** 2 + 0.8 ** 2) / 12 + 0.42 ** 2)
        L = []
        for i in range(len(run.time)):
            x, y = run.q("ball", 0)[i], run.q("ball", 1)[i]
            vx, vy = run.v("ball", 0)[i], run.v("ball", 1)[i]
            w = 0.4 * 2 * 0.1 ** 2 * run.v("ball", 5)[i]
            L.append(inertia * run.column["v:hinge"][i] + 2 * (x * vy - y * vx) + w)
        spin_free = [l for l, z in zip(L, run.q("ball", 2)) if z > 0.11]
        check(max(spin_free) - min(spin_free) < 0.02 * abs(L[0]), stepper, min(L), max(L))


def test_seesaw_throws_the_box():
    for stepper in each("impulse", "hybrid"):
        run = Run("seesaw", stepper, "--time", "1")
        z = run.q("light", 2)
        check(max(z) > z[0] + 0.3, stepper, z[0], max(z))


def test_arm_knocks_boxes_off_the_table():
    for stepper in each("impulse", "hybrid"):
        run = Run("arm", stepper)
        check(abs(run.q("box1", 0)[-1]) > 0.1, stepper, run.end("box1"))


# ---- rest ---------------------------------------------------------------------------------------

def test_block_on_a_slope_stays():
    for stepper in each():
        run = Run("slope", stepper)
        way = max(abs(run.q("block", k)[-1] - run.q("block", k)[0]) for k in range(7))
        check(way == 0 if stepper in ("located", "hybrid") else way < 1e-4, stepper, way)
        if stepper == "hybrid":
            check(all(x == 0 for k in range(6) for x in run.v("block", k)), "velocity")


def test_hybrid_heap_takes_a_tenth_of_the_events():
    events = []
    for stepper in ("impulse", "hybrid"):
        told = strict_json(check_run(rattleback(
            "run", "scenes/impulse/pile.xml", "--key", "start", "--stepper", stepper, "--json"), 0))
        parts = ("impacts", "micro_collisions", "shifts")
        check(told["events"] == sum(told[part] for part in parts), told)
        check(max(abs(v) for v in told["qvel"]) < 1e-6, "it rests", told["qvel"])
        events.append(told["events"])
    check(events[0] >= 10 * events[1], events)


def test_singulator_fills_its_recesses():
    for stepper in each("impulse", "hybrid"):
        run = Run("singulator", stepper, every=100)
        low = sum(1 for k in range(6) if run.end(f"part{k}")[2] < 0.012)
        check(low >= 4, stepper, "parts that lie in a recess", low)


def test_track_feeds_its_parts():
    for stepper in each("impulse", "hybrid"):
        run = Run("feeding", stepper, every=100)
        ways = [run.q(f"part{k}", 0)[-1] - run.q(f"part{k}", 0)[0] for k in range(5)]
        check(abs(sum(ways)) / 5 > 0.02, stepper, ways)
        check(all(-0.01 < run.q(f"part{k}", 2)[-1] < 0.05 for k in range(5)), stepper)


def test_bowling_is_a_strike():
    for stepper in each("impulse", "hybrid"):
        run = Run("bowling", stepper, every=100)
        fallen = sum(1 for k in range(1, 11)
                     if up(run.end(f"pin{k}")) < math.cos(math.radians(30)))
        check(fallen == 10, stepper, "pins that fell", fallen)


def test_coins_come_down():
    for stepper in each("impulse", "hybrid"):
        run = Run("coins", stepper, "--time", "2", every=100)
        for name, wide, thick in (("cent", 19.05, 1.52), ("nickel", 21.21, 1.95),
                                  ("dime", 17.91, 1.35), ("half", 30.61, 2.15)):
            q = run.end(name)
            # flat, leaning on another one, or still rolling on its rim
            rim = (wide * math.sqrt(max(0, 1 - up(q) ** 2)) + thick) / 2000
            check(thick / 2000 - 1e-4 < q[2] < max(6e-3, rim + 1e-4), stepper, name, q)
            check(abs(up(q)) > 0.9, stepper, name, q)


def test_coin_rings_down_as_moffatt_says():
    """A disc that rolls on its rim about a centre of mass that stands still: the axis turns with
    Omega^2 = 4 g / (a sin alpha) [Moffatt 2000]."""
    run = Run("coins", "impulse", "--time", "1.7")
    axis = []
    for w, x, y, z in zip(*(run.q("cent", k) for k in range(3, 7))):
        a = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
        axis.append([math.copysign(1, a[2]) * c for c in a])
    around = unwrapped([math.atan2(a[1], a[0]) for a in axis])
    for start in (400, 750, 1100, 1500):
        window = range(start, start + 100)
        rate = slope_of([run.time[i] for i in window], [around[i] for i in window])
        lean = math.acos(sum(axis[i][2] for i in window) / 100)
        want = math.sqrt(4 * G / (0.01905 / 2 * math.sin(lean)))
        check(0.03 < lean < 0.15, "it leans", lean)
        check(abs(abs(rate) / want - 1) < 0.02, run.time[start], rate, want)


if __name__ == "__main__":
    run_tests(globals())
