"""Tests of what drives a run: `run --ctrl-random`.

usage: controls.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import os
import tempfile

from harness import check, check_run, rattleback, run_tests, strict_json

# two hinges on one wall: a motor with a range and one without, each with its own damper
ARMS = """<mujoco model="arms"><option timestep="0.002" gravity="0 0 0"/><worldbody>
 <body name="left"><joint name="a" type="hinge" axis="0 1 0" damping="0.1"/>
  <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="0.2"/></body>
 <body name="right" pos="0 1 0"><joint name="b" type="hinge" axis="0 1 0" damping="0.1"/>
  <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="0.2"/></body>
</worldbody><actuator>
 <motor name="push" joint="a" ctrllimited="true" ctrlrange="0.2 0.5"/>
 <motor name="pull" joint="b"/>
</actuator></mujoco>"""


def with_file(text, use, suffix=".xml"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model" + suffix)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return use(path)


def summary(*arguments):
    return strict_json(check_run(rattleback("run", *arguments, "--json"), 0))


def test_random_controls_follow_their_seed():
    def use(path):
        def end(*more):
            return summary(path, "--time", "0.5", *more)
        one, again, other = end("--ctrl-random", "7"), end("--ctrl-random", "7"), end("--ctrl-random", "8")
        check(one["hash"] == again["hash"], "same seed, other bits")
        check(one["hash"] != other["hash"], "another seed, same bits")
        check(one["hash"] == end("--ctrl-random", "7,0.1")["hash"], "0.1 s is the default")
        check(one["hash"] != end("--ctrl-random", "7,0.05")["hash"], "HOLD does nothing")
        check(one["qvel"][0] > 0.1, "controls of 0.2 to 0.5 push one way", one["qvel"])
        check(summary(path, "--time", "0.5")["qvel"][1] == 0, "without controls nothing moves")
    with_file(ARMS, use)


def test_random_controls_without_actuators_are_a_note():
    result = rattleback("run", "scenes/contact/rod.xml", "--time", "0.01", "--ctrl-random", "1")
    check_run(result, 0, "--ctrl-random: the model has no actuators")


def test_random_controls_refused():
    for text in ("", "x", "-1", "1,", "1,0", "1,-2", "1,nan", "1,0.1,2", "1.5", "1e400000000000000000000"):
        result = rattleback("run", "scenes/contact/rod.xml", "--ctrl-random=" + text)
        check_run(result, 2, "--ctrl-random", "SEED[,HOLD]")


if __name__ == "__main__":
    run_tests(globals())
