"""Tests that mistakes do not pass in silence: friction of --ground, steps that are too long, words.

usage: traps.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import json
import os
import pty
import re
import subprocess
import tempfile

from harness import PROGRAM, check, check_run, rattleback, run_tests, strict_json

CUBE = "scenes/acceptance/resting_cube.xml"


def run(model, *options, files=()):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("model.xml", model), *files):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                out.write(text)
        return rattleback("run", "model.xml", *options, cwd=folder)


def test_speed_counts_the_time_that_was_simulated():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"time": 1e9}, out)
        text = check_run(rattleback("run", CUBE, "--time", "0.02", "--state", path), 0)
        factor = float(re.search(r"([0-9.]+)x real time", text).group(1))
        check(factor < 1e6, text)


# a box of friction 0.3 on a slope of atan 0.5, said by gravity
SLOPE = """<mujoco><option timestep="0.002" gravity="4.387 0 -8.774"/><worldbody>
 <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" friction="0.3"/></body>
</worldbody></mujoco>"""


def test_the_ground_has_the_friction_of_what_lies_on_it():
    def slid(*options):
        out = check_run(run(SLOPE, "--ground", "0", "--time", "0.5", "--json", *options), 0)
        return strict_json(out)["qpos"][0]
    expected = 0.5 * (4.387 - 0.3 * 8.774) * 0.25
    check(abs(slid() - expected) < 0.01 * expected, slid(), expected)
    check(abs(slid("--friction", "0.6")) < 1e-12, "0.6 holds it")


def test_info_says_how_coefficients_combine():
    check("of a pair: the larger of the two" in check_run(rattleback("info", CUBE), 0))
    answer = strict_json(check_run(rattleback("info", CUBE, "--json"), 0))
    check("larger" in answer["friction_rule"], answer)


SERVO = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
 <body name="arm"><joint name="hinge" type="hinge" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/></body>
</worldbody><actuator><position name="servo" joint="hinge" kp="200"/></actuator></mujoco>"""
STEP = (("c.csv", "time,servo\n0,0.5\n"),)


def test_a_step_that_is_too_long_is_noticed():
    result = run(SERVO, "--ctrl", "c.csv", "--step", "1", "--time", "40", files=STEP)
    check_run(result, 0, "joint hinge reverses from step to step", "--check-step")
    check(result[2].count("reverses") == 1, result[2])
    stiff = SERVO.replace('kp="200"', 'kp="4000"').replace('type="hinge" axis="0 1 0"', 'type="slide" axis="1 0 0"')
    check_run(run(stiff, "--ctrl", "c.csv", "--step", "1", "--time", "8", files=STEP), 0, "joint hinge reverses")
    result = run(SERVO, "--ctrl", "c.csv", "--step", "0.002", "--time", "2", files=STEP)
    check_run(result, 0)
    check("reverses" not in result[2], result[2])


def test_check_step_says_what_halving_changes():
    def check_of(step, *more):
        out = check_run(run(SERVO, "--ctrl", "c.csv", "--step", step, "--time", "2", "--check-step",
                            "--json", *more, files=STEP), 0)
        return strict_json(out)["check_step"]
    long, short = check_of("1"), check_of("0.0002")
    check(long["done"] == 1 and long["turn"] > 0.01 and long["turned"] == "arm", long)
    check(0.0 < short["turn"] < 0.1 * long["turn"], short)
    text = check_run(run(SERVO, "--time", "0.1", "--check-step"), 0)
    check("check of the step" in text, text)


# a string over a ball that leaves it while it is taut: its path has a kink at the limit
KINK = """<mujoco><worldbody>
 <geom name="bulb" size="0.3" pos="0 0 1.5" contype="0" conaffinity="0"/><site name="bulb" pos="0 0 1.5"/>
 <body pos="0.2 0 1.5"><freejoint/><site name="a"/><geom size="0.03"/></body>
 <body pos="1.2 0 1.5"><freejoint/><site name="b"/><geom size="0.1"/></body></worldbody>
 <tendon><spatial range="0 0.5"><site site="a"/><geom geom="bulb" sidesite="bulb"/><site site="b"/></spatial></tendon>
</mujoco>"""


def test_what_repairs_do_not_end_is_told_or_refused():
    answer = strict_json(check_run(run(KINK, "--time", "0.212", "--json"), 1))
    check(abs(answer["time"] - 0.212) < 1e-9 and answer["below_accuracy"] == 1, answer)
    check_run(run(KINK, "--time", "0.212", "--loose", "0"), 1, "a joint or tendon is beyond its limit",
              "shorten the step")


def test_watch_names_what_it_watches():
    limited = SERVO.replace('axis="0 1 0"', 'axis="0 1 0" limited="true" range="-10 10"')
    result = run(limited, "--ctrl", "c.csv", "--time", "0.5", "--watch", files=STEP)
    check_run(result, 0, "upper limit of hinge")
    check_run(rattleback("run", "scenes/contact/rod.xml", "--key", "start", "--time", "0.6", "--watch"), 0,
              "contact ", " at (")


def test_sensors_that_read_nothing_are_reported():
    model = """<mujoco><worldbody><camera name="c"/><body><freejoint/><geom size="0.1"/><site name="s"/></body></worldbody>
      <sensor><user name="u" dim="2"/><rangefinder name="r" camera="c"/></sensor></mujoco>"""
    check_run(run(model, "--time", "0.01"), 0, "user sensors read zero", "left out")


def test_what_is_misspelled_is_suggested():
    for flag, meant in (("--reord", "--record"), ("--tme", "--time"), ("--ctrl-evry", "--ctrl-every"),
                        ("--start-heigth=1", "--start-height")):
        check_run(rattleback("run", CUBE, flag, "1"), 2, "unknown option", f"did you mean {meant}?")
    check_run(rattleback("rum", CUBE), 2, "unknown command rum; did you mean run?")
    check_run(rattleback("xyzzy", CUBE), 2, "unknown command xyzzy\n")


def test_a_long_run_says_how_long_it_will_take():
    try:
        ours, theirs = pty.openpty()
    except OSError as why:
        print(f"    no terminal to be had here ({why}): the bar is not tested")
        return
    # a double pendulum in the air never rests, and no machine ends this run before its limit
    model = """<mujoco><option timestep="0.0001"/><worldbody>
     <body><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 1 0 0 1.5" size="0.05"/>
     <body pos="0 0 1.5"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
     </body></body></worldbody></mujoco>"""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "model.xml"), "w", encoding="utf-8") as out:
            out.write(model)
        subprocess.run([PROGRAM, "run", "model.xml", "--time", "100000", "--time-limit", "0.5"],
                       cwd=folder, stderr=theirs, stdout=subprocess.DEVNULL, check=False)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    check(re.search(rb"s of 100000\.000 s .*x real time +[0-9]+ s left", shown), shown[:300])


def test_a_frame_that_misses_a_right_angle_is_named():
    model = """<mujoco><compiler angle="radian"/><worldbody><body name="axle"><freejoint/>
     <geom type="cylinder" size="0.1 0.02" euler="1.5708 0 0"/></body></worldbody></mujoco>"""
    check_run(run(model, "--time", "0.01"), 0, "geom of axle first, miss a right angle", "--snap-angles")
    check_run(run(model, "--time", "0.01", "--snap-angles"), 0, "were turned to the right angle")


if __name__ == "__main__":
    run_tests(globals())
