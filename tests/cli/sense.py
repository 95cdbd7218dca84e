"""compute --what rays,distance,contacts: answers and refusals.

usage: sense.py PATH_TO_rattleback
"""
import json
import os
import subprocess
import sys
import tempfile

SCENE = """<mujoco><worldbody><geom name="ground" type="plane" size="0 0 1"/>
<body name="foot" pos="0 0 0.1"><freejoint/>
<geom name="sole" type="box" size="0.2 0.1 0.1" mass="10" group="2"/></body>
<body name="wall" pos="2 0 1"><geom name="brick" type="box" size="0.1 1 1"/></body>
</worldbody></mujoco>"""

failures = []


def check(truth, text):
    if not truth:
        failures.append(text)


def near(a, b, tol=1e-9):
    return abs(a - b) <= tol


class Command:
    def __init__(self, program, folder):
        self.program = program
        self.path = os.path.join(folder, "scene.xml")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(SCENE)

    def compute(self, *args):
        return subprocess.run([self.program, "compute", self.path, *args], capture_output=True,
                              text=True, timeout=60, check=False)

    def answer(self, *args):
        done = self.compute(*args)
        if done.returncode != 0:
            failures.append(f"{args}: exit {done.returncode}: {done.stderr}")
            return {}
        return json.loads(done.stdout)


def check_rays(c):
    down = ["--what", "rays", "--ray", "0 0 3 0 0 -2", "--ray", "0,0,3,0,0,1"]
    hit, miss = c.answer(*down)["rays"]
    check(hit["geom"] == "sole" and hit["body"] == "foot" and near(hit["distance"], 2.8), f"{hit}")
    check(miss["geom"] is None and miss["distance"] is None, f"{miss}")
    hit = c.answer(*down, "--exclude-body", "foot")["rays"][0]
    check(hit["geom"] == "ground" and near(hit["distance"], 3), f"{hit}")
    hit = c.answer(*down, "--groups", "0,1")["rays"][0]
    check(hit["geom"] == "ground", f"{hit}")


def check_distance(c):
    both = c.answer("--what", "distance", "--between", "sole,brick", "--between", "foot,world")
    first, second = both["distance"]
    check(near(first["distance"], 1.7) and near(first["normal"][0], 1), f"{first}")
    check(near(second["distance"], 0) and second["geom2"] == "ground", f"{second}")


def check_contacts(c):
    found = c.answer("--what", "contacts")["contacts"]
    total = sum(x["force"][0] for x in found)
    check(len(found) == 4 and near(total, 98.1, 1e-6), f"{total} N of {len(found)} contacts")
    check(all(x["geom1"] == "ground" and x["mode"] == "stick" for x in found), "names and modes")
    check(near(sum(x["force_world"][2] for x in found), 98.1, 1e-6), "force_world")


def check_refusals(c):
    for args, word in ((["--ray", "0 0 1 0 0"], "six numbers"), (["--ray", "0 0 1 0 0 0"], "length"),
                       (["--ray", "0 0 1 0 0 x"], "six numbers"), (["--ray", "0 0 1 0 0 nan"], "six numbers"),
                       (["--between", "sole"], "comma"), (["--between", "sole,bick"], "two geoms or bodies"),
                       (["--exclude-body", "nobody"], "name of a body"), (["--groups", "0,x"], "numbers"),
                       (["--groups", "32"], "numbers")):
        done = c.compute("--what", "rays", *args)
        check(done.returncode == 2 and word in done.stderr, f"{args}: {done.returncode} {done.stderr}")


SENSORS = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="0 0 1"/>
<body name="foot" pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="10"/>
<site name="sole" pos="0 0 -0.1" type="box" size="0.21 0.11 0.01"/></body></worldbody>
<sensor><touch name="load" site="sole"/><accelerometer name="imu" site="sole"/><clock/>
<clock name="late" delay="0.01" nsample="8"/></sensor></mujoco>"""


def check_sensors(c):
    folder = os.path.dirname(c.path)
    path, record = os.path.join(folder, "sensors.xml"), os.path.join(folder, "record.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SENSORS)

    def run(*args):
        done = subprocess.run([c.program, "run", path, "--json", *args], capture_output=True, text=True,
                              timeout=60, check=False)
        check(done.returncode == 0 and done.stderr == "", f"run {args}: {done.stderr}")
        return json.loads(done.stdout)

    whole = run("--time", "0.1", "--record", record, "--columns", "sensor")
    values = whole["sensor"]
    check(near(values["load"], 98.1, 1e-4) and near(values["imu"][2], 9.81, 1e-5), f"{values}")
    check(near(values["clock.2"], 0.1) and near(values["late"], 0.09), f"{values}")
    with open(record, encoding="utf-8") as file:
        lines = file.read().splitlines()
    check(lines[0] == "time,sensor:load,sensor:imu:0,sensor:imu:1,sensor:imu:2,sensor:clock.2,sensor:late", lines[0])
    check(len(lines) == 52 and near(float(lines[-1].split(",")[1]), values["load"], 1e-12), lines[-1])
    check(near(float(lines[1].split(",")[4]), 0), "before the first step nothing carries it: it falls")

    state = os.path.join(folder, "state.json")
    run("--time", "0.05", "--save", state)
    rest = run("--time", "0.05", "--state", state)
    check(rest["sensor"] == values and rest["hash"] == whole["hash"], "a saved run goes on with its samples")
    found = json.loads(subprocess.run([c.program, "compute", path, "--what", "sensors"], capture_output=True,
                                      text=True, check=False).stdout)["sensors"]
    check(found["load"] == 0 and near(found["imu"][2], 0), f"{found}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        c = Command(sys.argv[1], folder)
        for test in (check_rays, check_distance, check_contacts, check_refusals, check_sensors):
            test(c)
    for failure in failures:
        print("FAILED", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
