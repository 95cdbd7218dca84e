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


def main():
    with tempfile.TemporaryDirectory() as folder:
        c = Command(sys.argv[1], folder)
        for test in (check_rays, check_distance, check_contacts, check_refusals):
            test(c)
    for failure in failures:
        print("FAILED", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
