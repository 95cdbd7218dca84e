"""Tests of what drives a run: `run --ctrl`, `--pd`, `--ctrl-random`.

usage: controls.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import os
import sys
import tempfile

from harness import ROOT, check, check_run, rattleback, run_tests, stored, strict_json

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


def test_the_benchmark_draws_the_same_controls():
    sys.path.insert(0, os.path.join(ROOT, "bench", "robots"))
    from controls import random_controls  # not this file: that of bench/robots comes first
    with tempfile.TemporaryDirectory() as folder:
        path, record = os.path.join(folder, "model.xml"), os.path.join(folder, "r.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            out.write(ARMS)
        summary(path, "--time", "0.5", "--ctrl-random", "5", "--record", record, "--columns", "ctrl")
        with open(record, encoding="utf-8") as lines:
            rows = [strict_json(line) for line in lines][1:]
    for k, row in enumerate(rows):
        drawn = random_controls(5, int((k * 0.002 + 2e-9) / 0.1), [(0.2, 0.5), None])
        check(row["ctrl"] == drawn, k, row, drawn)


def test_random_controls_without_actuators_are_a_note():
    result = rattleback("run", "scenes/contact/rod.xml", "--time", "0.01", "--ctrl-random", "1")
    check_run(result, 0, "--ctrl-random: the model has no actuators")


def test_random_controls_refused():
    for text in ("", "x", "-1", "1,", "1,0", "1,-2", "1,nan", "1,0.1,2", "1.5", "1e400000000000000000000"):
        result = rattleback("run", "scenes/contact/rod.xml", "--ctrl-random=" + text)
        check_run(result, 2, "--ctrl-random", "SEED[,HOLD]")


# ---- files ------------------------------------------------------------------------------------

# a cart on a rail that a motor pushes (5 kg, no friction), a servo beside it, a platform
CART = """<mujoco model="cart"><option timestep="0.002" gravity="0 0 0"/><worldbody>
 <body name="cart"><joint name="rail" type="slide" axis="1 0 0"/>
  <geom type="box" size="0.1 0.1 0.1" mass="5"/></body>
 <body name="other" pos="0 2 0"><joint name="beside" type="slide" axis="1 0 0"/>
  <geom type="box" size="0.1 0.1 0.1" mass="5"/></body>
 <body name="ball" pos="0 4 0"><joint name="socket" type="ball"/>
  <geom type="sphere" size="0.1" mass="1"/></body>
 <body name="platform" mocap="true" pos="0 6 0"><geom type="box" size="0.1 0.1 0.1"/></body>
</worldbody><actuator><motor name="engine" joint="rail"/></actuator></mujoco>"""


def test_a_joint_has_one_master():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("m.xml", CART), ("c.csv", "time,rail\n0,1\n"),
                           ("p.csv", "time,rail,kp,kd\n0,1,1,1\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                out.write(text)
        result = rattleback("run", "m.xml", "--ctrl", "c.csv", "--pd", "p.csv", cwd=folder)
        check_run(result, 2, "joint rail has a torque in --ctrl and a target in --pd")


def driven(text, *options, model=CART, suffix=".csv", status=0):
    """The summary of a run under a control file, or its message."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, n) for n in ("model.xml", "control" + suffix)]
        for path, content in zip(paths, (model, text)):
            with open(path, "w", encoding="utf-8") as out:
                out.write(content)
        words = [paths[1] if w == "FILE" else w for w in options]
        result = rattleback("run", paths[0], *words, "--json")
        out = check_run(result, status)
        return strict_json(out) if status == 0 else result[2]


def near(x, y, tolerance=1e-9):
    return abs(x - y) <= tolerance


def test_controls_are_held():
    # 10 N for 0.1 s and nothing behind it: 0.2 m/s on 5 kg
    end = driven("time,engine,beside\n0,10,-5\n0.1,0,0\n", "--ctrl", "FILE", "--time", "0.2")
    check(near(end["qvel"][0], 0.2) and near(end["qvel"][1], -0.1), end["qvel"])
    late = driven("time,engine\n0.1,10\n", "--ctrl", "FILE", "--time", "0.2")
    check(near(late["qvel"][0], 0.2), "before the first row nothing acts", late["qvel"])


def test_controls_are_interpolated():
    # a ramp from 0 to 10 N within 0.2 s, sampled at the beginning of each of 100 steps
    end = driven("time,engine\n0,0\n0.2,10\n", "--ctrl", "FILE", "--interpolate", "linear",
                 "--time", "0.2")
    expected = sum(10.0 * k / 100 * 0.002 / 5 for k in range(100))
    check(near(end["qvel"][0], expected, 1e-6), end["qvel"], expected)


def test_controls_have_a_rate_of_their_own():
    # the same ramp, asked for every 0.05 s only: 0, 2.5, 5, 7.5 N
    end = driven("time,engine\n0,0\n0.2,10\n", "--ctrl", "FILE", "--interpolate", "linear",
                 "--time", "0.2", "--ctrl-every", "0.05")
    check(near(end["qvel"][0], 15.0 * 0.05 / 5, 1e-6), end["qvel"])


def test_json_lines_are_the_same():
    table = "time,engine,tau:beside\n0,10,1\n0.05,10,2\n0.1,0,2\n"
    lines = ('{"time": 0, "engine": 10, "tau:beside": 1}\n{"time": 0.05, "tau:beside": 2}\n'
             '{"time": 0.1, "engine": 0}\n')
    one = driven(table, "--ctrl", "FILE", "--time", "0.2")
    other = driven(lines, "--ctrl", "FILE", "--time", "0.2", suffix=".jsonl")
    check(one["hash"] == other["hash"], one, other)


def test_mocap_bodies_follow_their_columns():
    text = "time,platform:x,platform:qw,platform:qz\n0,0,1,0\n0.1,0.3,0.8,0.6\n"
    model = CART.replace("</worldbody>", """<body name="rider" pos="0 6 0.15"><freejoint/>
      <geom type="sphere" size="0.05" mass="1"/></body></worldbody>""").replace(
          "0 0 0", "0 0 -9.81", 1)
    end = driven(text, "--ctrl", "FILE", "--interpolate", "linear", "--time", "0.2", model=model)
    check(end["qpos"][6] > 0.01, "the platform takes what lies on it along", end["qpos"])


def test_signs_of_quaternions_do_not_matter():
    """Both signs of a quaternion are the same rotation: the way between two rows is the short one."""
    rider = CART.replace("</worldbody>", """<body name="rider" pos="0 6 0.15"><freejoint/>
      <geom type="sphere" size="0.05" mass="1"/></body></worldbody>""").replace("0 0 0", "0 0 -9.81", 1)
    columns = "time,platform:qw,platform:qx,platform:qy,platform:qz\n0,1,0,0,0\n0.1,"
    ends = [driven(columns + row, "--ctrl", "FILE", "--interpolate", "linear", "--time", "0.1", model=rider)
            for row in ("0.8,0,0,0.6\n", "-0.8,0,0,-0.6\n")]
    check(ends[0]["hash"] == ends[1]["hash"], ends[0]["qpos"], ends[1]["qpos"])


def test_a_jump_of_a_mocap_body_is_reported():
    def said(*more):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("m.xml", CART), ("c.csv", "time,platform:x\n0,0\n0.1,0.3\n")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                    out.write(text)
            result = rattleback("run", "m.xml", "--ctrl", "c.csv", "--time", "0.2", *more, cwd=folder)
            check_run(result, 0)
            return result[2]
    check("mocap body platform jumps by 0.3 m within a step, at 150 m/s" in said(), said())
    check("jumps" not in said("--interpolate", "linear"), "it is led from row to row")


def test_options_that_change_nothing_are_refused():
    with_file(CART, lambda path: [check_run(rattleback("run", path, *options), 2, sentence) for options, sentence in (
        (("--ctrl-every", "0.01"), "nothing drives the model"),
        (("--interpolate", "linear"), "there is no --ctrl or --pd"),
        (("--columns", "q"), "there is no --record"))])


def test_targets_are_reached():
    # kp 500, kd 100 on 5 kg: a double pole at -10 /s
    text = "time,rail,beside,kp,kd\n0,0.1,-0.2,500,100\n"
    end = driven(text, "--pd", "FILE", "--time", "3")
    check(near(end["qpos"][0], 0.1, 1e-9) and near(end["qpos"][1], -0.2, 1e-9), end["qpos"])
    text = "time,rail,rail:kp,rail:kd,rail:v\n0,0,0,100,0.5\n"
    end = driven(text, "--pd", "FILE", "--time", "3")
    check(near(end["qvel"][0], 0.5, 1e-9), end["qvel"])


def test_bad_files_are_named():
    cases = (
        ("time,engin\n0,1\n", "column engin: no actuator"),
        ("time,engin\n0,1\n", "did you mean engine?"),
        ("time,socket\n0,1\n", "socket"),
        ("time,platform:w\n0,1\n", "platform:w"),
        ("time,platform:qw,platform:qx\n0,1,0\n1,0,0\n", ":3: platform:qw: a quaternion of zeros"),
        ("t,engine\n0,1\n", "time"),
        ("time,engine\n0,1\n,2\n", ":3: time"),
        ("time,engine\n0.2,1\n0.1,2\n", ":3: time: 0.1 is before 0.2"),
        ("time,engine\n0,nan\n", "engine"),
        ("time,engine\n0,1,2\n", ":2: more cells"),
        ("time,engine\n0\n", ":2: 1 cells"),
        ("time,engine,engine\n0,1,2\n", "second column"),
        ("time,engine,ctrl:engine\n0,1,2\n", "second column"),
        ("time,engine\n", "no rows"),
        ("", "no rows"),
    )
    for text, sentence in cases:
        said = driven(text, "--ctrl", "FILE", status=2)
        check(sentence in said and "control.csv" in said, text, said)
    for text, sentence in (('{"engine": 1}', "time"), ('{"time": 0, "engine": "x"}', "engine"),
                           ('{"time": 0, "engine": 1}\n{"time": 1, "rail": 1}', ":2: rail"),
                           ('{"time": 1, "engine": 1}\n{"time": 0}', ":2: time: 0 is before")):
        said = driven(text, "--ctrl", "FILE", status=2, suffix=".jsonl")
        check(sentence in said, text, said)
    for text, sentence in (("time,rail\n0,1\n", "kp and kd"), ("time,rails,kp,kd\n0,1,1,1\n", "rails"),
                           ("time,kp,kd\n0,1,1\n", "target"), ("time,rail,kp,kd\n0,1,1,1\n1,1,-4,1\n", ":3: kp: -4"),
                           ("time,rial,kp,kd\n0,1,1,1\n", "did you mean rail?"),
                           ("time,socket,kp,kd\n0,1,1,1\n", "socket")):
        said = driven(text, "--pd", "FILE", status=2)
        check(sentence in said, text, said)
    check("no_such" in driven("", "--ctrl", "no_such.csv", status=2), "a file that is not there")
    check("take one" in driven("time,engine\n0,1\n", "--ctrl", "FILE", "--ctrl-random", "1", status=2))


def test_a_dead_centre_does_not_make_speed_of_errors():
    """Cranks pass their dead centre, where impulses are far above weight: an error of 1e-7 m that is taken
    off there made 479 J."""
    path = stored("robots/cassie_mjcf/cassie.xml")
    if not path:
        return
    out = rattleback("run", path, "--time", "0.46", "--ctrl-random", "2", "--lenient", "--json", timeout=300)
    end = strict_json(out[1])
    check(end["steps"] == 920, end["steps"])
    check(end["energy_created_max"] <= 1.0, end["energy_created_max"])
    check(end["residual_max"] <= 1e-3, end["residual_max"])


if __name__ == "__main__":
    run_tests(globals())
