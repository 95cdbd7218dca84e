"""Tests of `rattleback reproduce`, and of its numbers by a second method.

usage: reproduce.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import sliding
from harness import ROOT, check, check_run, rattleback, run_tests, sanitized, strict_json

NAMES = ("rod", "balls", "pendulum", "cube", "impulse")
SVG = "{http://www.w3.org/2000/svg}"


def experiment(name, folder, *options):
    """The object that an experiment printed; all of its checks hold, all of its figures are there."""
    result = rattleback("reproduce", name, "--json", "--brief", "--out", folder, *options,
                        timeout=300)
    lines = result[1].splitlines()
    check(len(lines) == 1, result)
    report = strict_json(lines[0])
    missed = [c for c in report["checks"] if abs(c["value"] - c["expected"]) > c["bound"]]
    check(not missed and report["missed"] == 0 and report["failed"] == 0, missed or report)
    check_run(result, 0)
    for figure in report["figures"]:
        root = ElementTree.parse(os.path.join(folder, figure)).getroot()
        check(root.tag == SVG + "svg", figure, root.tag)
        shapes = [e for e in root.iter() if e.tag in (SVG + "polyline", SVG + "line")]
        numbers = [float(n) for e in shapes for n in re.findall(
            r"-?\d+\.\d+", e.get("points", "") + " " + e.get("x1", ""))]
        check(len(numbers) > 10 and all(abs(n) < 1e5 for n in numbers), figure, len(numbers))
    return report


def values(report, word):
    found = {c["name"]: c["value"] for c in report["checks"] if word in c["name"]}
    check(found, word, "is in no check")
    return found


def test_the_list_names_every_experiment():
    out = check_run(rattleback("reproduce"), 0)
    for name in NAMES:
        check(re.search(rf"^  {name} ", out, re.M), out)
    check_run(rattleback("reproduce", "--help"), 0)


def test_rod():
    with tempfile.TemporaryDirectory() as folder:
        rod = experiment("rod", folder)
        end = values(rod, "x at the end")
        for where in ("plane", "space"):
            check(abs(end[f"{where} cone h=0.00125 x at the end"] + 0.22726) < 2e-3, end)
        check(set(rod["figures"]) == {"rod_snapshots.svg", "rod_convergence.svg"}, rod["figures"])


def test_balls():
    with tempfile.TemporaryDirectory() as folder:
        balls = experiment("balls", folder)
        check(len(values(balls, "Table 1")) == 13, balls["checks"])
        check(values(balls, "rows of the LCP") == {"rows of the LCP of the collision": 70},
              balls["checks"])


def test_pendulum():
    if sanitized():
        return
    with tempfile.TemporaryDirectory() as folder:
        pendulum = experiment("pendulum", folder)
        hits = values(pendulum, "hits the wall")
        check(len(hits) == 6 and all(abs(t - 1.09) < 0.01 for t in hits.values()), hits)


def test_pendulum_scenes_are_those_of_their_tool():
    folder = os.path.join(ROOT, "scenes/papers/pendulum")
    with tempfile.TemporaryDirectory() as again:
        subprocess.run([sys.executable, os.path.join(ROOT, "tools/pendulum-scenes"), again],
                       check=True, timeout=60)
        check(sorted(os.listdir(folder)) == sorted(os.listdir(again)), os.listdir(again))
        for name in os.listdir(again):
            with open(os.path.join(folder, name), encoding="utf-8") as one, \
                    open(os.path.join(again, name), encoding="utf-8") as two:
                check(one.read() == two.read(), name)


def test_cube():
    if sanitized():
        return
    with tempfile.TemporaryDirectory() as folder:
        experiment("cube", folder)


def test_coulombs_law_of_the_cube_by_a_second_method():
    with open(os.path.join(ROOT, "cli/reproduce/cube.c"), encoding="utf-8") as file:
        text = file.read()
    square = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
    legs = [(0.0, 0.7), (-0.6, -0.35), (0.6, -0.35)]
    for feet, mu, pattern in ((square, 1.0, r"\{ 0\.427, 1\.582 \},\s*\{ (\S+), (\S+) \}"),
                              (square, 0.5, r'"mu = 0.5", CUBE, \{ (\S+), (\S+) \}'),
                              (legs, 0.5, r'"three legs", LEGS, \{ (\S+), (\S+) \}')):
        x, y = (float(n) for n in re.search(pattern, text).groups())
        _, end = sliding.slide(feet, mu, 5e-4)
        check(abs(end[0] - x) < 2e-4 and abs(end[1] - y) < 2e-4, mu, end, (x, y))


def test_bad_usage_exits_2():
    with tempfile.TemporaryDirectory() as folder:
        check_run(rattleback("reproduce", "nothing", "--out", folder), 2, "no experiment nothing")
        check_run(rattleback("reproduce", "rod", "--scenes", folder), 2, "--scenes DIR")
        check_run(rattleback("reproduce", "rod", "--out", "/nowhere/x"), 2, "/nowhere/x")
        check_run(rattleback("reproduce", "rod", "--out", "a b"), 2, "without blanks")
        check_run(rattleback("reproduce", "--colour"), 2, "unknown option")


if __name__ == "__main__":
    run_tests(globals())
