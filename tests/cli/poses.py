"""Tests of `rattleback poses`: poses and probabilities against closed forms and second methods,
the same numbers for any number of threads and after kills, refusals.

usage: poses.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import itertools
import math
import os
import random
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from harness import (PROGRAM, ROOT, answers, check, check_run, rattleback, run_tests, sanitized, stored,
                     strict_json)

BOX = "scenes/poses/box.xml"
BRACKET = ("--mesh", "scenes/poses/bracket.stl", "--scale", "0.001", "--density", "1100")
PARTS = ((BOX,), BRACKET, *((f"scenes/poses/{n}.xml",) for n in ("tee", "nut", "pin")))
SVG = "{http://www.w3.org/2000/svg}"

# a sanitizer makes a step ten times slower
FEW = 40 if sanitized() else 300


def poses(*args, status=0, timeout=280):
    out = check_run(rattleback("poses", "--json", *args, timeout=timeout), status)
    return strict_json(out)


def without_times(report):
    return {k: v for k, v in report.items() if k not in ("cpu", "wall")}


def model(text, folder, name="part.xml", floor='<geom type="plane" size="0 0 1"/>', **custom):
    path = os.path.join(folder, name)
    numbers = "".join(f'<numeric name="rb.{k}" data="{v}"/>' for k, v in custom.items())
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'<mujoco><option timestep="0.001"/><worldbody>{floor}{text}</worldbody>'
                  f"<custom>{numbers}</custom></mujoco>")
    return path


def body(geoms, more=""):
    return f'<body pos="0 0 1"><freejoint/>{geoms}</body>{more}'


def box_share(a, b, d):
    """Share of the sphere that a face a x b fills, seen from a point d above its middle."""
    return 4.0 * math.atan(a * b / (2 * d * math.sqrt(a * a + b * b + 4 * d * d))) / (4 * math.pi)


def wilson(k, n, z=1.959963984540054):
    """The two solutions of |p - k/n| = z sqrt(p (1 - p) / n), by bisection."""
    def excess(p):
        return abs(p - k / n) - z * math.sqrt(p * (1 - p) / n)

    def solve(inside, outside):
        for _ in range(200):
            middle = 0.5 * (inside + outside)
            inside, outside = (middle, outside) if excess(middle) <= 0 else (inside, middle)
        return inside
    return (0.0 if k == 0 else solve(k / n, 0.0)), (1.0 if k == n else solve(k / n, 1.0))


# ---- geometry ------------------------------------------------------------------------------------


def test_the_box_has_the_quasi_static_numbers_of_its_solid_angles():
    report = poses(BOX, "--drops", "0")
    sides = {2: (30e-3, 20e-3, 12e-3), 1: (30e-3, 12e-3, 20e-3), 0: (20e-3, 12e-3, 30e-3)}
    check(len(report["poses"]) == 6, report)
    check(abs(report["mass"] - 7.92e-3) < 1e-12, report["mass"])
    for pose in report["poses"]:
        axis = max(range(3), key=lambda i: abs(pose["down"][i]))
        a, b, thick = sides[axis]
        check(abs(pose["quasi_static"] - box_share(a, b, thick / 2)) < 1e-12, pose)
        check(abs(pose["area"] - a * b) < 1e-12 and abs(pose["height"] - thick / 2) < 1e-12, pose)
        # over the longer edge: half the diagonal of the other two sides
        check(abs(pose["barrier"] - math.hypot(thick, min(a, b)) / 2) < 1e-12, pose)
    pairs = sorted(2 * p["quasi_static"] for p in report["poses"])[::2]
    for mine, known in zip(pairs, (0.13210, 0.28162, 0.58628)):
        check(abs(mine - known) < 5e-6, pairs)
    check(abs(sum(p["quasi_static"] for p in report["poses"]) - 1) < 1e-12, report)


def roll_by_hand(report_vertices, n):
    """Where a convex part ends that lies with direction n down and rolls without speed: steepest
    descent of the height of the centre of mass in tiny turns, which knows nothing of facets."""
    d = list(n)
    size = max(math.dist(v, (0, 0, 0)) for v in report_vertices)
    step = 0.02
    while step > 1e-5:
        height = max(sum(a * b for a, b in zip(d, v)) for v in report_vertices)
        best = None
        for k in range(24):
            angle = 2 * math.pi * k / 24
            t = [1, 0, 0] if abs(d[0]) < 0.7 else [0, 1, 0]
            along = sum(a * b for a, b in zip(t, d))
            u = [a - along * b for a, b in zip(t, d)]
            length = math.sqrt(sum(a * a for a in u))
            u = [a / length for a in u]
            w = [d[1] * u[2] - d[2] * u[1], d[2] * u[0] - d[0] * u[2], d[0] * u[1] - d[1] * u[0]]
            e = [math.cos(step) * a + math.sin(step) * (math.cos(angle) * b + math.sin(angle) * c)
                 for a, b, c in zip(d, u, w)]
            h = max(sum(a * b for a, b in zip(e, v)) for v in report_vertices)
            if h < height - 1e-12 * size and (best is None or h < best[0]):
                best = (h, e)
        if best is None:
            step *= 0.5
        else:
            d = best[1]
    return d


def test_the_bracket_has_the_poses_that_descent_finds():
    report = poses(*BRACKET, "--drops", "0")
    com = report["com"]
    profile = [(0, 0), (40, 0), (40, 6), (8, 25), (0, 25)]
    corners = [(x / 1e3, y / 1e3, z / 1e3) for x, z in profile for y in (0, 15)]
    # the frame of the mesh may be moved: fit its middle by the heights over the six sides
    area = lambda p: 0.5 * sum(p[i - 1][0] * p[i][1] - p[i][0] * p[i - 1][1] for i in range(len(p)))
    solid = [(0, 0), (40, 0), (40, 6), (16, 6), (8, 14), (8, 25), (0, 25)]
    total, cx, cz = area(solid), 0.0, 0.0
    for i in range(len(solid)):
        (x0, z0), (x1, z1) = solid[i - 1], solid[i]
        cross = x0 * z1 - x1 * z0
        cx += (x0 + x1) * cross / (6 * total)
        cz += (z0 + z1) * cross / (6 * total)
    check(abs(report["mass"] - 1100 * total * 15e-9) < 1e-9, report["mass"], total)
    centre = (cx / 1e3, 7.5e-3, cz / 1e3)
    check(com is not None, report)
    vertices = [tuple(a - b for a, b in zip(v, centre)) for v in corners]
    draws = random.Random(3)
    found = set()
    for _ in range(12):
        n = [draws.gauss(0, 1) for _ in range(3)]
        length = math.sqrt(sum(a * a for a in n))
        end = roll_by_hand(vertices, [a / length for a in n])
        h = max(sum(a * b for a, b in zip(end, v)) for v in vertices)
        near = min(range(len(report["poses"])),
                   key=lambda k: math.dist(end, report["poses"][k]["down"]))
        pose = report["poses"][near]
        check(math.dist(end, pose["down"]) < 1e-3 and abs(h - pose["height"]) < 1e-6, end, pose)
        found.add(near)
    check(len(found) >= 3, found)
    for pose in report["poses"]:
        h = max(sum(a * b for a, b in zip(pose["down"], v)) for v in vertices)
        check(abs(h - pose["height"]) < 1e-9, pose, h)
        check(pose["barrier"] > pose["height"], pose)


def test_round_parts_have_a_pose_where_they_roll():
    with tempfile.TemporaryDirectory() as folder:
        cylinder = poses(model(body('<geom type="cylinder" size="0.01 0.02"/>'), folder),
                         "--drops", "0")["poses"]
        check(len(cylinder) == 3 and cylinder[0]["rolling"] == 1, cylinder)
        check(all(p["rolling"] == 0 for p in cylinder[1:]), cylinder)
        ends = 1 - math.cos(math.atan2(0.01, 0.02))
        check(abs(cylinder[0]["quasi_static"] - (1 - ends)) < 1e-3, cylinder)
        check(abs(cylinder[1]["quasi_static"] - ends / 2) < 1e-3, cylinder)
        check(abs(cylinder[1]["barrier"] - math.hypot(0.01, 0.02)) < 2e-5, cylinder)

        ball = poses(model(body('<geom type="sphere" size="0.01"/>'), folder), "--drops", "5")
        check(len(ball["poses"]) == 1 and ball["poses"][0]["count"] == 5, ball)

        egg = poses(model(body('<geom type="ellipsoid" size="0.03 0.02 0.01"/>'), folder),
                    "--drops", "0")["poses"]
        check(len(egg) == 2 and abs(egg[0]["quasi_static"] - 0.5) < 0.02, egg)
        check(all(abs(p["height"] - 0.01) < 1e-4 for p in egg), egg)
        check(all(abs(p["barrier"] - 0.02) < 2e-4 for p in egg), egg)


def test_meshes_and_models_of_the_same_box_agree():
    with tempfile.TemporaryDirectory() as folder:
        mesh = os.path.join(folder, "a & <box>.obj")
        corners = list(itertools.product((-15, 15), (-10, 10), (-6, 6)))
        faces = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
        with open(mesh, "w", encoding="ascii") as out:
            out.writelines("v %d %d %d\n" % c for c in corners)
            out.writelines("f %d %d %d %d\n" % f for f in faces)
        one = poses("--mesh", mesh, "--scale", "0.001", "--density", "1100", "--drops", "0")
        two = poses(BOX, "--drops", "0")
        check(abs(one["mass"] - two["mass"]) < 1e-12 and len(one["poses"]) == 6, one)
        key = lambda p: (round(p["height"], 9), round(p["quasi_static"], 9))
        for a, b in zip(sorted(one["poses"], key=key), sorted(two["poses"], key=key)):
            for name in ("area", "height", "barrier", "quasi_static"):
                check(abs(a[name] - b[name]) < 1e-9, name, a, b)


# ---- drops ---------------------------------------------------------------------------------------


def test_intervals_are_those_of_wilson():
    report = poses(BOX, "--drops", "30", "--stepper", "fixed")
    check(sum(p["count"] for p in report["poses"]) == 30, report)
    for pose in report["poses"]:
        low, high = wilson(pose["count"], 30)
        check(abs(pose["low"] - low) < 1e-9 and abs(pose["high"] - high) < 1e-9, pose, low, high)
        check(pose["probability"] == pose["count"] / 30, pose)


def test_half_widths_of_the_manual():
    for drops, width in ((385, 0.05), (2400, 0.02), (9600, 0.01)):
        low, high = wilson(drops / 2, drops)
        check(0.95 * width < 0.5 * (high - low) <= width, drops, low, high)


def test_a_cube_falls_on_each_face_alike():
    with tempfile.TemporaryDirectory() as folder:
        cube = model(body('<geom type="box" size="0.01 0.01 0.01" friction="0.3"/>'), folder,
                     floor='<geom type="plane" size="0 0 1" friction="0.3"/>', restitution=0.3)
        drops = 120 if sanitized() else 900
        report = poses(cube, "--drops", str(drops), "--threads", "2")
        check(len(report["poses"]) == 6, report)
        chi2 = sum((p["count"] - drops / 6) ** 2 / (drops / 6) for p in report["poses"])
        check(all(abs(p["quasi_static"] - 1 / 6) < 1e-12 for p in report["poses"]), report)
        check(chi2 < 20.5, "chi-squared with 5 degrees of freedom, 99.9 %", chi2)


def test_energy_decides_what_rest_confirms():
    """The pose is known long before rest; a run to the end must say the same for every drop."""
    for part, stepper in itertools.product(PARTS, ("impulse", "fixed")):
        with tempfile.TemporaryDirectory() as folder:
            early, late = (os.path.join(folder, n) for n in ("early.csv", "late.csv"))
            drops = ("--drops", str(FEW // 6), "--stepper", stepper, "--threads", "2", "--csv")
            one = poses(*part, *drops, early)
            two = poses(*part, *drops, late, "--full")
            check(two["rest"] > 0 and two["decided"] == 0 and one["rest"] == 0, one, two)
            rows = [[line.split(",")[:3] for line in open(p, encoding="ascii")]
                    for p in (early, late)]
            for a, b in zip(*rows):
                check(a[:2] == b[:2] or b[2] == "rolling", part, a, b)


def test_low_poses_gain_on_the_quasi_static_estimate():
    """What is known of the estimate: a part that bounces ends lower than one that only tips."""
    if sanitized():
        return
    for part in PARTS:
        report = poses(*part, "--drops", "800", "--threads", "2")
        lowest = report["poses"][0]["height"]
        low = [p for p in report["poses"] if p["height"] < lowest + 1e-9]
        count = sum(p["count"] for p in low)
        estimate = sum(p["quasi_static"] for p in low)
        check(wilson(count, 800)[0] > estimate, part, count, estimate)


def test_steppers_agree():
    """Event-driven impulses and steps that are divided at impacts share the law of an impact and
    nothing else: the same drops end in the same poses, but for a few that hang in the balance."""
    if sanitized():
        return
    steppers = ["impulse", "located"]
    if rattleback("poses", BOX, "--drops", "1", "--stepper", "hybrid")[0] == 0:
        steppers.append("hybrid")
    else:
        print("    the stepper hybrid is not there yet")
    for part, drops in (((BOX,), 300), (BRACKET, 120), (("scenes/poses/pin.xml",), 300)):
        found = {}
        for stepper in steppers:
            report = poses(*part, "--drops", str(drops), "--stepper", stepper, "--threads", "2")
            check(report["failed"] == 0 and report["unsettled"] == 0, stepper, report)
            found[stepper] = [p["count"] for p in report["poses"]]
        for a, b in itertools.combinations(steppers, 2):
            for x, y in zip(found[a], found[b]):
                p = (x + y) / (2 * drops)
                check(abs(x - y) <= 3.3 * math.sqrt(2 * drops * p * (1 - p)) + 1, part, found)


def test_a_drop_that_does_not_settle_is_counted():
    out = check_run(rattleback("poses", "--json", BOX, "--drops", "6", "--time", "0.3", "--restitution", "0.9"), 1,
                    "no drop settled within 0.3 s")
    report = strict_json(out)
    check(report["unsettled"] == 6 and all(p["count"] == 0 for p in report["poses"]), report)
    check(report["drops"] == 6, report)


def test_spin_and_height_change_the_drops():
    base = poses(BOX, "--drops", "20", "--stepper", "fixed")
    for option in (("--spin", "30"), ("--height", "0.1"), ("--seed", "2"), ("--friction", "1"),
                   ("--restitution", "0.6")):
        other = poses(BOX, "--drops", "20", "--stepper", "fixed", *option)
        check(sum(p["count"] for p in other["poses"]) == 20, option, other)
        check(other["simulated"] != base["simulated"], option)


# ---- the same numbers ----------------------------------------------------------------------------


def test_threads_do_not_change_a_digit():
    with tempfile.TemporaryDirectory() as folder:
        reports, files = [], []
        for threads in ("1", "2", "5"):
            csv = os.path.join(folder, threads)
            reports.append(without_times(poses(BOX, "--drops", "60", "--threads", threads,
                                               "--csv", csv)))
            files.append(open(csv, "rb").read())
        check(reports[0] == reports[1] == reports[2], reports)
        check(files[0] == files[1] == files[2] and files[0].count(b"\n") == 61, len(files[0]))


def test_a_killed_run_goes_on_to_the_same_end():
    total = max(2 * FEW, 400) # many more than are written in one go
    options = ("--drops", str(total), "--stepper", "fixed", "--threads", "2")
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = (os.path.join(folder, n) for n in ("whole.csv", "killed.csv"))
        expected = without_times(poses(BOX, *options, "--resume", whole))
        kills = 0
        for _ in range(20):
            run = subprocess.Popen([PROGRAM, "poses", BOX, *options, "--resume", killed], cwd=ROOT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            size = os.path.getsize(killed) if os.path.exists(killed) else 0
            while run.poll() is None and (not os.path.exists(killed) or
                                          os.path.getsize(killed) <= max(size, 200)):
                time.sleep(0.002)
            if run.poll() is not None:
                break
            run.send_signal(signal.SIGKILL)
            run.wait()
            kills += 1
            with open(killed, "ab") as out: # a line that was being written
                out.write(b"77,1,dec")
            if kills == 3:
                break
        check(kills > 0, "the run was over before it could be killed")
        lines = open(killed, "rb").read().count(b"\n") - 2
        check(0 < lines < total, lines)
        again = without_times(poses(BOX, *options, "--resume", killed))
        check(again == expected, again, expected)
        check(open(whole, "rb").read() == open(killed, "rb").read(), "the records differ")
        # and once more, from a file that is complete
        check(without_times(poses(BOX, *options, "--resume", killed)) == expected, "complete")


def test_an_interrupted_run_keeps_what_it_has():
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "record.csv")
        run = subprocess.Popen([PROGRAM, "poses", BOX, "--drops", "1000000", "--resume", record,
                                "--json"], cwd=ROOT, stdout=subprocess.PIPE)
        while not os.path.exists(record) or os.path.getsize(record) < 200:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=60)
        report = strict_json(out.decode())
        check(run.returncode == 1 and report["interrupted"] == 1, run.returncode, report)
        lines = open(record, "rb").read().count(b"\n") - 2
        check(lines == report["drops"] > 0, lines, report["drops"])


def test_precision_stops_early_and_at_the_same_drop():
    reports = [without_times(poses(BOX, "--drops", "5000", "--precision", "0.06", "--threads", t))
               for t in ("1", "2")]
    check(reports[0] == reports[1], reports)
    report = reports[0]
    check(report["drops"] < 1000, report["drops"])
    check(all(p["high"] - p["low"] <= 0.12 for p in report["poses"]), report)


def test_figure():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "poses.svg")
        poses(BOX, "--drops", "30", "--stepper", "fixed", "--svg", path)
        root = ElementTree.parse(path).getroot()
        bars = [e for e in root.iter(SVG + "rect") if e.get("fill") == "#9dbfe3"]
        check(root.tag == SVG + "svg" and len(bars) == 6, len(bars))
        check(all(float(b.get("height")) >= 0 for b in bars), bars)
        below = [e.text for e in root.iter(SVG + "text") if e.text and e.text.isdigit() and float(e.get("y")) > 300
                 and float(e.get("x")) > 60]
        check(below == [str(k) for k in range(6)], "a place for each pose, and no other", below)


def test_table():
    out = check_run(rattleback("poses", BOX, "--drops", "10", "--stepper", "fixed"), 0)
    check("quasi-static" in out and "0.29314" in out and "10 drops" in out, out)


def test_the_bracket_is_that_of_its_tool():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bracket.stl")
        subprocess.run(["python3", os.path.join(ROOT, "scenes/poses/make.py"), path], check=True)
        stored = open(os.path.join(ROOT, "scenes/poses/bracket.stl"), "rb").read()
        check(stored == open(path, "rb").read(), "scenes/poses/make.py writes something else")


# ---- measured impacts ----------------------------------------------------------------------------


def test_measured_impacts_of_a_square():
    if sanitized() or not stored("planar_square_drop/drops.csv"):
        return
    out = check_run(rattleback("bench", "square", "--json", "--substeps", "3"), 0)
    rows = {(r["model"], r["part"]): r for r in answers(out)}
    check(len(rows) == 6, out)
    judged = rows["simulated", "rest"]
    check(judged["mean"] < 0.28 and judged["share"] < 0.085, judged)
    check(0.07 < judged["friction"] < 0.11 and 0.42 < judged["restitution"] < 0.49, judged)
    check(rows["one point", "rest"]["mean"] > 3 * judged["mean"], rows)
    check_run(rattleback("bench", "square", "--friction", "0.1"), 2, "both or none")
    check_run(rattleback("bench", "square", "--data", "README.md"), 2, "README.md:2:")


# ---- refusals ------------------------------------------------------------------------------------


def test_models_that_are_no_part_are_refused():
    box = '<geom type="box" size="1 1 1"/>'
    cases = [
        ("no free body", f"<body>{box}</body>", {}),
        ("several bodies", body(box) + body(box), {}),
        ("hinge", f'<body><joint type="hinge"/>{box}</body>', {}),
        ("no floor", body(box), {"floor": ""}),
        ("not level", body(box), {"floor": '<geom type="plane" size="0 0 1" euler="10 0 0"/>'}),
        ("beside the floor", body(box), {"floor": '<geom type="plane" size="0 0 1"/>'
                                                  '<geom type="sphere" size="1" pos="9 9 9"/>'}),
        ("can touch the floor", body('<geom type="box" size="1 1 1" contype="0" conaffinity="0"/>'),
         {}),
        ("outside of the hull", body('<inertial pos="3 0 0" mass="1" diaginertia="1 1 1"/>' + box),
         {}),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for sentence, text, more in cases:
            path = model(text, folder, **more)
            result = rattleback("poses", path, "--drops", "1")
            check_run(result, 2, sentence, path)
            check(result[1] == "", result)


def test_meshes_that_are_no_part_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        flat, empty, absent = (os.path.join(folder, n) for n in ("flat.obj", "empty.stl", "no.stl"))
        with open(flat, "w", encoding="ascii") as out:
            out.write("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
        open(empty, "w", encoding="ascii").close()
        for path in (flat, empty, absent, os.path.join(ROOT, "README.md")):
            check_run(rattleback("poses", "--mesh", path), 2, os.path.basename(path))


CUBE = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]
CUBE_FACES = [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5), (2, 3, 7),
              (2, 7, 6), (3, 0, 4), (3, 4, 7)]


def write_cube(path, faces, size):
    with open(path, "w", encoding="ascii") as out:
        for x in CUBE:
            out.write("v %g %g %g\n" % tuple(size * c for c in x))
        for f in faces:
            out.write("f %d %d %d\n" % tuple(v + 1 for v in f))


def test_meshes_that_bound_no_solid_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.obj")
        turned = [CUBE_FACES[0][::-1]] + CUBE_FACES[1:]
        for faces, sentence in ((CUBE_FACES[1:], "3 open edges"), (turned, "3 edges between triangles"),
                                (CUBE_FACES + [(0, 6, 1)], "of more than two triangles")):
            write_cube(path, faces, 0.01)
            check_run(rattleback("poses", path), 2, sentence, "--inertia convex")
            check_run(rattleback("poses", path, "--drops", "5", "--inertia", "convex"), 0)
        model = os.path.join(folder, "m.xml")
        write_cube(path, CUBE_FACES[1:], 0.01)
        with open(model, "w", encoding="ascii") as out:
            out.write('<mujoco><asset><mesh name="part" file="part.obj"/></asset><worldbody><geom type="plane" '
                      'size="1 1 1"/><body><freejoint/><geom type="mesh" mesh="part"/></body></worldbody></mujoco>')
        check_run(rattleback("poses", model), 2, "3 open edges", "--lenient")
        check_run(rattleback("info", model), 0)
        check("3 open edges" in rattleback("info", model)[1], "info names them")
        check_run(rattleback("run", model, "--time", "0.01"), 0, "3 open edges")


def test_a_mesh_file_is_a_part_and_millimetres_are_noticed():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.obj")
        write_cube(path, CUBE_FACES, 10.0)
        check_run(rattleback("poses", path, "--scale", "0.001", "--drops", "5"), 0)
        check_run(rattleback("poses", path, "--drops", "1", "--time", "0.01"), 1, "--scale 0.001", "no drop settled")


def test_command_lines_that_mean_nothing_are_refused():
    cases = [
        ("no file", ()),
        ("more than one file", (BOX, BOX)),
        ("expected one of them", (BOX, "--mesh", "x.stl")),
        ("--drops", (BOX, "--drops", "-1")),
        ("--drops", (BOX, "--drops", "1.5")),
        ("--stepper", (BOX, "--stepper", "leap")),
        ("--precision", (BOX, "--precision", "2")),
        ("--height", (BOX, "--height", "0.001")),
        ("--inertia", (*BRACKET, "--inertia", "some")),
        ("unknown option", (BOX, "--dropz", "1")),
    ]
    for sentence, args in cases:
        check_run(rattleback("poses", *args), 2, sentence)
    check("example" in check_run(rattleback("poses", "--help"), 0), "help")


def test_records_of_other_runs_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "record.csv")
        common = (BOX, "--stepper", "fixed", "--resume", record)
        poses(*common, "--drops", "60")
        check_run(rattleback("poses", *common, "--seed", "9"), 2, "record.csv:1:")
        check_run(rattleback("poses", *common, "--friction", "0.9"), 2, "record.csv:1:")
        text = open(record, encoding="ascii").read().splitlines(keepends=True)
        with open(record, "w", encoding="ascii") as out:
            out.writelines(text[:10] + text[11:])
        check_run(rattleback("poses", *common), 2, "record.csv:11:")
        with open(record, "w", encoding="ascii") as out:
            out.write("something else\n")
        check_run(rattleback("poses", *common), 2, "record.csv:1:")
        check(open(record, encoding="ascii").read() == "something else\n", "it was overwritten")
        check_run(rattleback("poses", BOX, "--drops", "1", "--csv",
                             os.path.join(folder, "no", "where")), 2, "where")


if __name__ == "__main__":
    run_tests(globals())
