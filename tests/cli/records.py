"""Tests of records and states of `rattleback run`: --record, --columns, --save, --state.

usage: records.py PATH_TO_rattleback [NAME...]     only the tests whose name contains a NAME
"""
import csv
import json
import os
import tempfile

from harness import check, check_run, rattleback, run_tests, strict_json

QUADRUPED = "scenes/robots/quadruped.xml"
HAND = "scenes/robots/hand.xml"
CUBE = "scenes/acceptance/resting_cube.xml"
BALLS = "scenes/contact/four_balls.xml"


def summary(*arguments):
    return strict_json(check_run(rattleback("run", *arguments, "--json"), 0))


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return rows[0], [dict(zip(rows[0], map(float, row))) for row in rows[1:]]


def test_columns_are_those_asked_for():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cube.csv")
        summary(CUBE, "--time", "0.1", "--record", path, "--columns", "energy,contact,body,q")
        head, rows = table(path)
        check(head[:2] == ["time", "energy"], "time is always first", head)
        bodies = [h for h in head if h.startswith("contact:") and h.endswith(":z")]
        check(len(bodies) == 1, head)
        name = bodies[0][8:-2]
        weight = rows[-1][bodies[0]]
        z = rows[-1][f"body:{name}:z"]
        check(abs(z - rows[-1][[h for h in head if h.startswith("q:")][2]]) < 1e-12, z)
        check(weight > 0 and abs(rows[-1][f"contact:{name}:x"]) < 1e-9 * weight, weight)
        model = strict_json(check_run(rattleback("info", CUBE, "--json"), 0))
        check(abs(weight - 9.81 * model["mass"]) < 1e-9 * weight, weight, model["mass"])


def test_columns_of_json_lines():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cube.jsonl")
        summary(CUBE, "--time", "0.05", "--record", path, "--columns", "q,v,contact,body,sensor,ctrl")
        with open(path, encoding="utf-8") as file:
            row = [strict_json(line) for line in file][-1]
        check(list(row)[0] == "time" and len(row["qpos"]) == 7 and len(row["qvel"]) == 6, row)
        check(row["contacts"] == len(row["contact"]) and "force" in row["contact"][0], row)
        check(all(len(pose) == 7 for pose in row["body"].values()), row["body"])


def test_csv_records_are_states():
    """Of a free body, with quaternions: compute reads every row, a run starts from one of them."""
    with tempfile.TemporaryDirectory() as folder:
        path, last = os.path.join(folder, "hand.csv"), os.path.join(folder, "last.csv")
        end = summary(BALLS, "--time", "0.05", "--record", path, "--columns", "q,v,ctrl,sensor,energy")
        result = rattleback("compute", BALLS, "--what", "energy", "--state", path)
        rows = [strict_json(line) for line in check_run(result, 0).splitlines()]
        head, recorded = table(path)
        check(len(rows) == len(recorded) and not result[2], len(rows), result[2])
        total = rows[-1]["energy"]["total"]
        check(abs(total - recorded[-1]["energy"]) < 1e-12 * abs(total), total, recorded[-1]["energy"])
        check_run(rattleback("run", BALLS, "--state", path), 2, "a second state")
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        with open(last, "w", encoding="utf-8") as file:
            file.writelines([lines[0], lines[-1]])
        on = summary(BALLS, "--time", "0.001", "--state", last)
        check(max(abs(a - b) for a, b in zip(on["qpos"], end["qpos"])) < 0.1, on["qpos"], end["qpos"])
        with open(last, "w", encoding="utf-8") as file:
            file.writelines(",".join(line.rstrip("\n").split(",")[:4]) + "\n" for line in lines[:2])
        check_run(rattleback("run", BALLS, "--state", last), 2, "there is no such column")


def test_a_missing_file_says_where_it_was_looked_for():
    check_run(rattleback("run", "nowhere.xml"), 2, "looked for /")
    check_run(rattleback("run", CUBE, "--ctrl", "nowhere.csv"), 2, "looked for /")


def test_records_and_columns_refused():
    for words in (("--record", "traj.txt"), ("--record", "traj"), ("--columns", "q,w"),
                  ("--columns", "q,q"), ("--columns", "")):
        check_run(rattleback("run", CUBE, *words), 2, words[0])


def test_a_saved_state_goes_on_bit_for_bit():
    for model, options in ((QUADRUPED, ()), (HAND, ("--ctrl-random", "3,0.07")), (BALLS, ()),
                           (BALLS, ("--stepper", "located")), (CUBE, ()),
                           ("scenes/impulse/bowling.xml", ("--stepper", "impulse")),
                           ("scenes/impulse/platter.xml", ())):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state.json")
            whole = summary(model, *options, "--time", "0.3")
            first = summary(model, *options, "--time", "0.18", "--save", path)
            again = summary(model, *options, "--time", repr(whole["time"] - first["time"]), "--state", path)
            check(again["hash"] == whole["hash"], model, options, again["qpos"], whole["qpos"])


def test_controls_go_on_with_the_state():
    with tempfile.TemporaryDirectory() as folder:
        path, pd = os.path.join(folder, "state.json"), os.path.join(folder, "pd.csv")
        with open(pd, "w", encoding="utf-8") as out:
            out.write("time,shoulder,elbow,kp,kd\n0,0.3,-0.4,20,1\n0.2,0.5,0,20,1\n")
        how = ("scenes/robots/double_pendulum.xml", "--pd", pd, "--ctrl-every", "0.05")
        whole = summary(*how, "--time", "0.3")
        summary(*how, "--time", "0.13", "--save", path)
        again = summary(*how, "--time", "0.17", "--state", path)
        check(again["hash"] == whole["hash"], again["qpos"], whole["qpos"])


def with_state(text, *options, model=CUBE):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.json")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return rattleback("run", model, "--time", "0.01", "--state", path, *options)


def test_states_refused():
    q = [0, 0, 1, 1, 0, 0, 0]
    check_run(with_state(json.dumps({"qpos": q, "qvl": [0] * 6})), 2, "state.json:1: qvl: unknown key")
    check_run(with_state(json.dumps({"qpos": q}) + "\n" + json.dumps({"qpos": q})), 2,
              "state.json:2: a second state")
    check_run(with_state(""), 2, "no state")
    check_run(with_state(json.dumps({"qpos": q, "resume": {}})), 2, "resume")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.json")
        summary(QUADRUPED, "--time", "0.02", "--save", path)
        with open(path, encoding="utf-8") as file:
            saved = json.load(file)
    nv = len(saved["qvel"])
    saved["resume"]["touch"] = [[0, 10 ** 6, 1] + [0] * 30]
    check_run(with_state(json.dumps(saved), model=QUADRUPED), 2, "touch")
    saved["resume"]["touch"] = [[0, 0]]
    check_run(with_state(json.dumps(saved), model=QUADRUPED), 2, "touch")
    saved["resume"]["touch"] = []
    saved["resume"]["push"] = [0] * (2 * nv - 1)
    check_run(with_state(json.dumps(saved), model=QUADRUPED), 2, "push")
    check_run(rattleback("run", QUADRUPED, "--save", "s.json", "--coordinates", "maximal"), 2, "--save")
    check_run(rattleback("run", QUADRUPED, "--time", "0.01", "--save", "no/such/folder/s.json"), 2, "s.json")


def test_compute_reads_records_quietly():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.jsonl")
        summary(CUBE, "--time", "0.01", "--record", path, "--columns", "q,v,ctrl,contact,sensor,body,energy")
        result = rattleback("compute", CUBE, "--what", "energy", "--state", path)
        out = check_run(result, 0)
        check(result[2] == "" and len(out.splitlines()) > 1, result[2])


def test_start_height():
    end = summary(CUBE, "--start-height", "3.5", "--time", "0.002")
    check(3.49 < end["qpos"][2] <= 3.5, end["qpos"])
    check_run(rattleback("run", "scenes/robots/double_pendulum.xml", "--start-height", "1"), 2, "free joint")


def test_noise_of_recorded_sensors():
    """The same for the same seed, of the deviation that is asked for, and without effect on the motion."""
    text = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><camera name="c"
      resolution="200 100" pos="0 0 0.5"/></body><site name="s" pos="0 0 -1"/></worldbody>
      <sensor><jointpos name="p" joint="j" noise="0.5"/><clock name="t"/><camprojection name="c" site="s" camera="c"/></sensor></mujoco>"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "arm.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        rows, ends = [], []
        for seed in ("1", "1", "2", None):
            record = os.path.join(folder, "arm.csv")
            more = ("--sensor-noise", seed) if seed else ()
            out = check_run(rattleback("run", path, "--time", "2", "--record", record, "--columns", "q,sensor",
                                       "--json", *more), 0)
            ends.append(strict_json(out)["hash"])
            with open(record, encoding="utf-8") as file:
                rows.append([line.split(",") for line in file.read().splitlines()])
        check(len(set(ends)) == 1, ends)
        check(rows[0] == rows[1] and rows[0] != rows[2], "the seed decides")
        check(rows[0][0] == ["time", "q:j", "sensor:p", "sensor:t", "sensor:c:0", "sensor:c:1"], rows[0][0])
        errors = [float(row[2]) - float(row[1]) for row in rows[0][1:]]
        deviation = (sum(e * e for e in errors) / len(errors)) ** 0.5
        check(0.45 < deviation < 0.55, deviation)
        check(all(row[1] == row[2] and row[0] == row[3] for row in rows[3][1:]), "exact without")
        check(abs(float(rows[3][1][4]) - 100.0) < 1e-9 and abs(float(rows[3][1][5]) - 50.0) < 1e-9, rows[3][1])


if __name__ == "__main__":
    run_tests(globals())
