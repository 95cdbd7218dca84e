"""Tests of `rattleback run`.

usage: simulate.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import csv
import json
import math
import os
import re
import signal
import subprocess
import tempfile
import time

from harness import PROGRAM, ROOT, check, check_run, rattleback, run_tests, strict_json

ROD = "scenes/contact/rod.xml"
CUBE = "scenes/contact/sliding_cube.xml"
BALLS = "scenes/contact/four_balls.xml"
BOUNCE = "scenes/acceptance/bounce.xml"

SUMMARY = ("steps time wall contacts_mean contacts_max residual_max penetration_max energy_start "
           "energy_end energy_created_max fallbacks accuracy below_accuracy failures qpos qvel hash").split()


def summary(*arguments):
    return strict_json(check_run(rattleback("run", *arguments, "--json"), 0))


def test_summary_has_what_it_promises():
    rod = summary(ROD, "--key", "start", "--time", "0.7", "--accuracy", "strict")
    check(all(key in rod for key in SUMMARY), rod)
    check(rod["steps"] == 280 and rod["failures"] == 0, rod)
    check(abs(rod["qpos"][0] + 0.231) < 0.004, rod["qpos"])
    check(rod["residual_max"] <= 1e-9 and rod["penetration_max"] <= 1e-9, rod)
    # what lasts: 1.2e-6, 1.6e-7, 2.0e-8 J of 9.8 J in a step of 5, 2.5, 1.25 ms
    check(rod["energy_created_max"] <= 3e-7 and rod["below_accuracy"] == 0, rod)


SUNK = """<mujoco><option timestep="0.001"/><worldbody><geom name="floor" type="plane"
 size="5 5 1"/><body pos="0 0 0.09"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1"/>
</body></worldbody></mujoco>"""


def test_overlap_of_the_start_is_named_and_projected():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sunk.xml")
        with open(path, "w") as file:
            file.write(SUNK)
        code, out, err = rattleback("run", path, "--time", "0.3", "--json")
        check_run((code, out, err), 0, "floor and box overlap by 0.01 m", "--keep-errors")
        risen = strict_json(out)
        check(abs(risen["qpos"][2] - 0.1) < 1e-9 and not any(risen["qvel"]), risen["qpos"])
        check(risen["penetration_max"] < 1e-9 and risen["overlap_end"] < 1e-9, risen)
        check(risen["project_energy"] > 0.0, risen["project_energy"])
        left = summary(path, "--time", "0.05", "--keep-errors")
        check(left["project_energy"] == 0.0 and left["overlap_end"] > 0.0099, left)
        check(left["overlaps_start"] == 1 and abs(left["qpos"][2] - 0.09) < 1e-9, left["qpos"])
        for options in (("--project", "0.5"), ("--set", "rb.project=1")):
            risen = summary(path, "--time", "0.05", *options)
            check(abs(risen["qpos"][2] - 0.1) < 1e-9, risen["qpos"])
            check(max(map(abs, risen["qvel"])) == 0.0, risen["qvel"])
        check_run(rattleback("run", path, "--project", "2"), 2, "a share from 0 to 1")


def test_a_rocking_foot_does_not_divide_steps_without_end():
    foot = summary("scenes/contact/rocking_foot.xml", "--stepper", "located", "--time", "2")
    check(foot["failures"] == 0 and foot["unlocated"] == 0, foot)
    check(foot["parts"] < 2.5 * foot["steps"], foot["parts"])
    check(foot["solves"] < 10 * foot["steps"], foot["solves"])


def test_same_inputs_same_hash():
    first = summary(BALLS, "--key", "start", "--step", "0.005", "--time", "0.7")
    second = summary(BALLS, "--key", "start", "--step", "0.005", "--time", "0.7")
    check(first["hash"] == second["hash"], (first["hash"], second["hash"]))


def test_threads_change_nothing():
    bodies = "".join(f'<body pos="{0.5 * (i % 5)} {i // 5} 0.{13 + i}" euler="{7 * i} 20 0"><freejoint/>'
                     f'<geom type="box" size="0.1 0.08 0.06"/></body>' for i in range(20))
    text = ('<mujoco><worldbody><geom type="plane" size="9 9 1"/>' + bodies +
            '</worldbody><custom><numeric name="rb.restitution" data="0.3"/></custom></mujoco>')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "many.xml")
        with open(path, "w") as file:
            file.write(text)
        alone = summary(path, "--time", "0.5")
        for threads in ("2", "3"):
            shared = summary(path, "--time", "0.5", "--threads", threads)
            check(shared["hash"] == alone["hash"], threads)
            check(all(shared[key] == alone[key] for key in ("solves", "repairs", "residual_max")),
                  threads)
    check_run(rattleback("run", ROD, "--threads", "0"), 2, "1 to 64")


def test_every_formulation_runs():
    text = check_run(rattleback("run", "--help"), 0)
    words = ("cone stewart-trinkle stewart-trinkle-nonlinear anitescu-potra dart jain phantom box "
             "hybrid-friction").split()
    for word in words:
        check(word in text, word)
        cube = summary(CUBE, "--key", "start", "--step", "0.01", "--time", "0.2",
                       "--formulation", word)
        check(cube["failures"] == 0 and cube["formulation"] == word, cube)


def test_record_has_the_columns_of_the_joints():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rod.csv")
        check_run(rattleback("run", ROD, "--key", "start", "--time", "0.1", "--record", path,
                             "--every", "10"), 0)
        with open(path, newline="") as file:
            rows = list(csv.reader(file))
        check(rows[0] == ["time", "q:x", "q:z", "q:angle", "v:x", "v:z", "v:angle", "contacts",
                          "residual", "penetration", "energy"], rows[0])
        check(len(rows) == 1 + 5 and float(rows[1][0]) == 0.0, len(rows))

        path = os.path.join(folder, "cube.csv")
        check_run(rattleback("run", CUBE, "--time", "0.002", "--record", path), 0)
        with open(path, newline="") as file:
            head = next(csv.reader(file))
        check(head[1:8] == [f"q:cube:{k}" for k in range(7)], head)
        check(head[8:14] == [f"v:cube:{k}" for k in range(6)], head)

        path = os.path.join(folder, "rod.jsonl")
        check_run(rattleback("run", ROD, "--time", "0.01", "--record", path), 0)
        with open(path) as file:
            rows = [json.loads(line) for line in file]
        check(len(rows) == 5 and len(rows[0]["qpos"]) == 3, rows[:1])


def test_dumped_problems_are_solved_alone():
    with tempfile.TemporaryDirectory() as folder:
        for word, command in (("cone", "friction"), ("anitescu-potra", "lcp")):
            target = os.path.join(folder, word)
            check_run(rattleback("run", CUBE, "--key", "start", "--time", "0.005",
                                 "--formulation", word, "--dump-problems", target), 0)
            names = sorted(os.listdir(target))
            check(len(names) == 5 and all(n.startswith(command) for n in names), names)
            files = [os.path.join(target, name) for name in names]
            check_run(rattleback(command, *files), 0)


def test_every_problem_that_was_solved_is_dumped():
    for stepper in ("fixed", "located", "impulse", "hybrid"):
        with tempfile.TemporaryDirectory() as folder:
            foot = summary("scenes/contact/rocking_foot.xml", "--stepper", stepper,
                           "--time", "0.4", "--dump-problems", folder)
            files = len(os.listdir(folder))
        check(foot["solves"] >= 20 and files <= foot["solves"], (stepper, files, foot["solves"]))

        # single impacts are solves as well, but no complementarity problems
        least = foot["groups"] if stepper == "impulse" else foot["solves"]
        least -= foot["impacts"] if stepper == "located" else 0
        check(files >= least, (stepper, files, least))


def test_models_bring_their_choices():
    rod = summary(ROD, "--key", "start")
    check(rod["steps"] == 280, rod["steps"])
    rod = summary(ROD, "--key", "start", "--set", "rb.time=0.1", "--set", "rb.step=0.01")
    check(rod["steps"] == 10, rod["steps"])


def test_a_model_may_say_what_set_says():
    """Every name that --set lists is one that a file may have."""
    err = rattleback("run", ROD, "--set", "rb.colour=1")[2]
    names = err.split("NAME one of ")[1].strip().split(", ")
    words = {"formulation": "box", "solver": "auto", "stepper": "located", "restitution_law": "newton",
             "accuracy": "strict", "scheme": "node"}
    numbers = {"step": "0.001", "time": "0.01", "directions": "4", "phantom_directions": "4"}
    entries = "".join('<text name="rb.%s" data="%s"/>' % (n, words[n]) if n in words else
                      '<numeric name="rb.%s" data="%s"/>' % (n, numbers.get(n, "0")) for n in names)
    with open(os.path.join(ROOT, ROD)) as file:
        text = file.read()
    head, tail = text.split("<custom>")[0], text.split("</custom>")[-1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.xml")
        with open(path, "w") as file:
            file.write(head + "<custom>" + entries + "</custom>" + tail)
        rod = summary(path)
    check(rod["steps"] == 10 and rod["formulation"] == "box", rod)


def columns(*options):
    """Names and last row of a recording."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.csv")
        check_run(rattleback("run", *options, "--record", path), 0)
        with open(path) as file:
            rows = file.read().splitlines()
    return rows[0].split(","), [float(x) for x in rows[-1].split(",")]


def test_maximal_coordinates_tell_the_minimal_ones():
    """Same columns, same motion to O(h), loops, several joints on a body and limits included."""
    for name, time in (("double_pendulum", 0.5), ("four_bar", 0.5), ("quadruped", 0.2), ("hand", 0.1)):
        scene, differences = "scenes/robots/%s.xml" % name, []
        for step in ("0.002", "0.001"):
            how = (scene, "--time", str(time), "--step", step)
            names, minimal = columns(*how)
            others, maximal = columns(*how, "--coordinates", "maximal")
            check(names == others, (names, others))
            q = [i for i, x in enumerate(names) if x.startswith("q:")]
            differences.append(max(abs(minimal[i] - maximal[i]) for i in q))
        check(differences[1] <= 0.6 * differences[0] + 1e-6, (name, differences))
        check(differences[1] <= 5e-3, (name, differences))


TURNING = """<mujoco><compiler angle="radian"/><option timestep="0.001" gravity="0 0 0"/><worldbody>
<body><joint axis="0 1 0"/><geom type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/></body>
<body><joint axis="0 1 0" stiffness="1" armature="1e-6"/><geom type="box" size="0.1 0.1 0.1" mass="10"
 contype="0" conaffinity="0"/></body></worldbody>
<keyframe><key name="s" qvel="20 30"/></keyframe></mujoco>"""


def test_maximal_coordinates_count_turns_with_and_without_a_record():
    with tempfile.TemporaryDirectory() as folder:
        path, record = os.path.join(folder, "model.xml"), os.path.join(folder, "x.csv")
        with open(path, "w") as file:
            file.write(TURNING)
        how = (path, "--key", "s", "--time", "1")
        minimal = summary(*how)["qpos"]
        maximal = summary(*how, "--coordinates", "maximal")["qpos"]
        recorded = summary(*how, "--coordinates", "maximal", "--record", record)["qpos"]
    check(maximal == recorded, maximal, recorded)
    check(minimal[0] > 19.9, minimal)
    check(max(abs(a - b) for a, b in zip(minimal, maximal)) < 2e-3, minimal, maximal)


def test_a_model_may_ask_for_maximal_coordinates():
    with open(os.path.join(ROOT, "scenes/robots/double_pendulum.xml")) as file:
        text = file.read()
    entry = '<custom><text name="rb.coordinates" data="maximal"/></custom></mujoco>'
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.xml")
        with open(path, "w") as file:
            file.write(text.replace("</mujoco>", entry))
        check(summary(path, "--time", "0.1")["coordinates"] == "maximal", "rb.coordinates")
        said = summary(path, "--time", "0.1", "--coordinates", "minimal")
        check(said["coordinates"] == "minimal", said)
        check(len(said["qpos"]) == len(summary(path, "--time", "0.1")["qpos"]), said)


def test_state_is_taken():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.json")
        with open(path, "w") as file:
            json.dump({"qpos": [0.5, 3.0, 0.0], "qvel": [1.0, 0.0, 0.0]}, file)
        rod = summary(ROD, "--state", path, "--time", "0.1", "--step", "0.001")
        check(abs(rod["qpos"][0] - 0.6) < 1e-12, rod["qpos"])
        check(abs(rod["qpos"][1] - (3.0 - 0.5 * 9.81 * 0.01)) < 1e-12, rod["qpos"])


def test_watch_tells_modes():
    result = rattleback("run", ROD, "--key", "start", "--time", "0.6", "--watch")
    check_run(result, 0, "open -> slide")


def test_watch_tells_contacts_that_are_left():
    """A ball that bounces leaves the floor as often as it meets it, and rests in the end."""
    err = rattleback("run", BOUNCE, "--restitution", "0.5", "--time", "2", "--step", "0.002",
                     "--stepper", "fixed", "--watch")[2]
    changes = [line.split(": ")[1] for line in err.splitlines() if line.startswith("t = ")]
    check(changes and changes.pop().endswith(" -> stick"), changes)  # what rests sticks
    check(len(changes) > 5 and len(changes) % 2 == 1, changes)
    for k, change in enumerate(changes):
        check(change.startswith("open -> ") if k % 2 == 0 else change.endswith(" -> open"), k, changes)


def test_a_killed_run_leaves_whole_rows():
    """Rows of several kilobytes, a signal that cannot be caught, both formats. Linux ends a write between two pages
    where such a signal comes meanwhile: the last row may be unfinished, and has no end of line then."""
    for ending, last in (("csv", lambda line: [float(x) for x in line.split(",")]),
                         ("jsonl", strict_json)):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x." + ending)
            run = subprocess.Popen([PROGRAM, "run", "scenes/peers/pile_100.xml", "--time", "1e6",
                                    "--record", path], cwd=ROOT, stdout=subprocess.DEVNULL)
            patience = time.monotonic() + 60
            while time.monotonic() < patience and (
                    not os.path.exists(path) or os.path.getsize(path) < 2 << 16):
                time.sleep(0.02)
            run.kill()
            run.wait()
            with open(path) as file:
                text = file.read()
            lines = text.split("\n")
            unfinished = lines.pop()
            check(len(unfinished) <= max(map(len, lines)), unfinished[-80:])
            for line in lines[-3:]:
                row = last(line)
                check(len(row) in (len(lines[0].split(",")), 7), len(row))


def test_a_run_that_is_told_to_end_says_where_it_is():
    for number in (signal.SIGINT, signal.SIGTERM):
        run = subprocess.Popen([PROGRAM, "run", "scenes/peers/pile_100.xml", "--time", "1e6", "--json"],
                               cwd=ROOT, stdout=subprocess.PIPE)
        time.sleep(0.5)
        run.send_signal(number)
        out = run.communicate(timeout=60)[0].decode()
        check(run.returncode == 0, run.returncode)
        check(0.0 < strict_json(out)["time"] < 1e6, out)


def test_a_step_within_its_budget_or_not_at_all():
    pile = "scenes/peers/pile_100.xml"
    told = summary(pile, "--time", "0.3")
    check(0.0 < told["work_max"] < 4e6, told["work_max"])
    small = str(0.5 * told["work_max"])
    code, out, err = rattleback("run", pile, "--time", "0.3", "--budget", small, "--json")
    check_run((code, out, err), 1, "more work than the budget of a step", "factorisations")
    check(strict_json(out)["failures"] == 1, out)
    check(summary(pile, "--time", "0.3", "--budget", "none")["hash"] == told["hash"], told["hash"])


def test_a_run_ends_at_its_time_limit():
    code, out, err = rattleback("run", "scenes/peers/pile_100.xml", "--time", "1e6", "--time-limit", "0.3", "--json")
    check_run((code, out, err), 1, "--time-limit 0.3: ended at t = ")
    told = strict_json(out)
    check(told["failures"] == 0 and told["time_limit_reached"] == 1 and told["wall"] < 3.0, told)


def test_a_long_step_ends_when_it_is_told_to():
    """The first hard step of a pile of a thousand takes many seconds at strict."""
    run = subprocess.Popen([PROGRAM, "run", "scenes/peers/pile_1000.xml", "--accuracy", "strict", "--budget", "none",
                            "--loose", "0.03", "--json"], cwd=ROOT, stdout=subprocess.PIPE)
    time.sleep(8.0)
    run.send_signal(signal.SIGTERM)
    start = time.monotonic()
    out = run.communicate(timeout=60)[0].decode()
    took = time.monotonic() - start
    check(run.returncode == 0 and took < 3.0, took) # a second on a machine with nothing else to do
    check(strict_json(out)["time"] < 1.0, out)


def test_loose_steps_are_told():
    pile = "scenes/peers/pile_1000.xml"
    strict = summary(pile, "--time", "0.3", "--tol", "1e-4")
    check(strict["below_accuracy"] == 0 and 1e-9 < strict["residual_max"] <= 1e-4, strict["residual_max"])
    wall = "scenes/towers/wall.xml"  # a ball of 20 kg hits it in these steps
    text = check_run(rattleback("run", wall, "--key", "0", "--time", "0.012", "--loose", "0.03"), 0)
    told = re.search(r"below accuracy +(\d+) of 6 steps: a residual above 1e-06, at most 0.03", text)
    residual = re.search(r"worst residual +(\S+)", text)
    check(told and int(told[1]) > 0 and 1e-6 < float(residual[1]) <= 0.03, text)


def test_bad_usage_exits_2():
    bad = (
        (("--formulation", "soft"), "expected cone"),
        (("--solver", "magic"), "expected"),
        (("--stepper", "sometimes"), "expected fixed, located, impulse or hybrid"),
        (("--step", "-1"), "seconds from 1e-12"),
        (("--step", "1e300"), "to 1e6"),
        (("--time", "nan"), "seconds"),
        (("--directions", "5"), "even"),
        (("--loose", "2"), "0 (never) to 1"),
        (("--budget", "-1"), "a number > 0, or none"),
        (("--time-limit", "-1"), "seconds >= 0"),
        (("--accuracy", "sloppy"), "standard, strict or fast"),
        (("--restitution", "1.5"), "0 to 1"),
        (("--restitution-law", "hooke"), "newton, poisson or stronge"),
        (("--set", "rb.colour=1"), "expected rb.NAME=VALUE"),
        (("--scheme", "euler"), "scheme euler: expected node, semi-implicit or moreau-jean\n"),
        (("--scheme", "midpoint"), "expected node, semi-implicit or moreau-jean; node, the default"),
        (("--set", "rb.scheme=midpoint"), "expected node, semi-implicit or moreau-jean; node, the default"),
        (("--key", "nowhere"), "no such keyframe"),
        (("--record", "/nowhere/x.csv"), "cannot be written"),
    )
    for options, words in bad:
        check_run(rattleback("run", ROD, *options), 2, words)
    check_run(rattleback("run"), 2, "expected one model file")
    check_run(rattleback("run", "nowhere.xml"), 2, "nowhere.xml")
    check_run(rattleback("run", ROD, "--solver", "lemke", "--key", "start"), 2, "does not take")


def test_a_model_says_its_scheme():
    model = """<mujoco><custom><text name="rb.scheme" data="%s"/></custom><worldbody><body><joint axis="0 1 0"/>
      <geom size="0.1" pos="0.3 0 0"/></body></worldbody></mujoco>"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.xml")
        hashes = {}
        for word in ("node", "semi-implicit", "midpoint"):
            with open(path, "w") as file:
                file.write(model % word)
            if word == "midpoint":
                check_run(rattleback("run", path), 2, "scheme midpoint", "expected node, semi-implicit or moreau-jean")
            else:
                hashes[word] = summary(path, "--time", "0.1")["hash"]
                check(summary(path, "--time", "0.1", "--scheme", "node")["hash"] == hashes["node"], word)
        check(hashes["node"] != hashes["semi-implicit"], hashes)


def test_choices_that_do_not_go_together_are_named():
    bad = (
        (("--stepper", "impulse", "--scheme", "moreau-jean"), "flights instead of a scheme"),
        (("--events", "-"), "the stepper fixed has none; expected --stepper impulse or hybrid"),
        (("--stepper", "located", "--events", "-"), "the stepper located has none"),
        (("--stepper", "impulse", "--coordinates", "maximal"), "makes a loop of every joint"),
        (("--dump-problems", "/dev/null"), "--dump-problems /dev/null: Not a directory"),
        (("--package", "nothing"), "expected NAME=FOLDER, and there is no folder of this name"),
        (("--solver", "lemke"), "rattleback run: the solver lemke does not take the problems"),
    )
    for options, words in bad:
        code, out, err = rattleback("run", ROD, *options)
        check(code == 2 and words in err, options, code, err)
        check("step 1" not in err and "t = 0" not in err, "no step failed", err)
    check_run(rattleback("run", ROD, "--package", "scenes", "--time", "0.01"), 0)
    _, _, err = rattleback("run", ROD, "--colour")
    check(len(re.findall(r"--friction\b", err)) == 1, "each option is named once", err)


if __name__ == "__main__":
    run_tests(globals())
