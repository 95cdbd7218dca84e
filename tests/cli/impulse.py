"""Tests of `rattleback run --stepper impulse`: the summary, the log of events, threads, refusals.

usage: impulse.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import csv
import json
import math
import os
import sys
import tempfile

from harness import check, check_run, rattleback, run_tests, strict_json

POOL = "scenes/impulse/pool.xml"
THROWN = "scenes/impulse/thrown.xml"
COLUMNS = ("time kind geom1 geom2 x y z nx ny nz px py pz speed energy count phases text").split()


def run(*arguments):
    out = check_run(rattleback("run", *arguments, "--stepper", "impulse", "--json"), 0)
    return strict_json(out)


def test_summary_counts_what_happened():
    pool = run(POOL, "--key", "start", "--time", "0.4")
    check(pool["impacts"] > 20, pool["impacts"])
    check(pool["events"] == pool["impacts"] + pool["micro_collisions"] + pool["shifts"], pool)
    check(pool["groups"] < pool["resolved"] < pool["events"], pool)
    check(pool["impacts_per_second"] > 0 and pool["slowdown"] > 0, pool)
    check(pool["residual_max"] <= 1e-9 and pool["failures"] == 0, pool)
    # balls begin to hop: m g^2 tau^2 / 8 and the lift into the shell, of sixteen at once
    hops = 16 * 0.17 * 9.81 * (9.81 * 1e-3 ** 2 / 8 + 2e-4 * 0.028575 / 2)
    check(0 < pool["energy_created_max"] <= hops, pool["energy_created_max"], hops)
    check(pool["energy_end"] < pool["energy_start"], pool)


def test_robots_land_without_overlap_and_energy():
    """Servos press with up to 90 weights. Where they stand is where constraints let them stand."""
    for robot, time in (("quadruped", "3"), ("humanoid", "2")):
        path = f"scenes/peers/{robot}.xml"
        here = run(path, "--time", time)
        check(here["penetration_max"] < 1e-6, robot, here["penetration_max"])
        created = here["energy_created_max"] / here["energy_start"]
        check(created < 1e-6, robot, created)
        there = strict_json(check_run(rattleback(
            "run", path, "--time", time, "--stepper", "hybrid", "--json"), 0))
        check(abs(here["qpos"][2] - there["qpos"][2]) < 1e-4, robot, here["qpos"], there["qpos"])


def test_boxes_of_a_heap_meet_in_time():
    """A pair with one body that a tick had moved was keyed where the other would be half a flight
    later, and met 60 um too late."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenes",
                                    "impulse"))
    import make
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "heap.xml")
        with open(path, "w") as out:
            out.write(make.pile(22, 12).text())
        heap = run(path, "--key", "start", "--time", "0.17")
    shell = 2e-4 * math.hypot(0.015, 0.01, 0.006)
    check(heap["impacts"] > 500 and heap["penetration_max"] < shell, heap)


def test_law_is_poissons_unless_somebody_asks():
    """The laws differ where slip reverses: a box on a corner."""
    box = """<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 .6" euler="20 35 10"><freejoint/><geom type="box" size=".2 .3 .1"/></body>
    </worldbody><custom><numeric name="rb.restitution" data="0.5"/></custom></mujoco>"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "box.xml")
        with open(path, "w") as out:
            out.write(box)
        plain = run(path, "--time", "0.6")["hash"]
        check(plain == run(path, "--time", "0.6", "--restitution-law", "poisson")["hash"])
        check(plain != run(path, "--time", "0.6", "--restitution-law", "stronge")["hash"])
        check(plain == run(path, "--time", "0.6", "--set", "rb.shell=0")["hash"])
        check(plain != run(path, "--time", "0.6", "--set", "rb.shell=1e-4")["hash"])


def test_events_are_logged_as_csv_and_json():
    with tempfile.TemporaryDirectory() as folder:
        table, lines = os.path.join(folder, "e.csv"), os.path.join(folder, "e.jsonl")
        first = run(THROWN, "--key", "start", "--time", "1", "--events", table)
        second = run(THROWN, "--key", "start", "--time", "1", "--events", lines)
        check(first["hash"] == second["hash"], "the log changes nothing")
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
        with open(lines) as file:
            events = [json.loads(line) for line in file]
        check(list(rows[0]) == COLUMNS, list(rows[0]))
        check(len(rows) == len(events), len(rows), len(events))
        times = [event["time"] for event in events]
        check(all(a <= b for a, b in zip(times, times[1:])), "in order of time")
        kinds = [event["kind"] for event in events]
        check(kinds.count("impact") == first["impacts"], first)
        check(kinds.count("micro") == first["micro_collisions"], first)
        check(kinds.count("group") == first["groups"], first)
        hit = next(event for event in events if event["kind"] == "impact")
        check(hit["speed"] < 0 and hit["energy"] < 0 and len(hit["phases"]) >= 2, hit)
        check(sum(a * b for a, b in zip(hit["normal"], hit["impulse"])) > 0, hit)
        row = next(row for row in rows if row["kind"] == "impact")
        check(float(row["pz"]) == hit["impulse"][2] and row["geom1"] == hit["geom1"], row, hit)


def test_threads_do_not_change_the_answer():
    hashes = {run(POOL, "--key", "start", "--time", "0.3", "--threads", str(k))["hash"]
              for k in (1, 2, 3)}
    check(len(hashes) == 1, hashes)


def test_refusals_say_why():
    check_run(rattleback("run", THROWN, "--stepper", "events"), 2, "fixed, located, impulse or hybrid")
    check_run(rattleback("run", "scenes/acceptance/four_bar.xml", "--stepper", "impulse"), 2, "loops")
    check_run(rattleback("run", THROWN, "--stepper", "impulse", "--events", "/nowhere/e.csv"), 2,
              "/nowhere/e.csv")
    check_run(rattleback("run", THROWN, "--stepper", "impulse", "--set", "rb.shell=-1"), 2, "rb.shell")


if __name__ == "__main__":
    run_tests(globals())
