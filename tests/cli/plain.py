"""The command built in plain C, without vector types of the compiler and instruction sets chosen at load time, has the
bits of the other one.

usage: plain.py PROGRAM CMAKE COMPILER BUILD      BUILD: a folder for it
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM, CMAKE, COMPILER, BUILD = sys.argv[1:5]

RUNS = (
    ("peers/quadruped.xml", "--time", "0.3"),
    ("peers/humanoid.xml", "--time", "0.2"),
    ("peers/pile_100.xml", "--time", "0.05"),
    ("peers/pendulum_30_5.xml", "--time", "0.2"),
    ("gallery/gripper.xml", "--time", "0.3"),
    ("contact/four_balls.xml", "--time", "0.3", "--stepper", "located"),
    ("contact/sliding_cube.xml", "--key", "start", "--time", "0.2", "--formulation", "stewart-trinkle"),
    ("impulse/dominos.xml", "--stepper", "impulse", "--time", "0.2"),
)


def build():
    """The path of the command in plain C."""
    for command in ([CMAKE, "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DRB_PLAIN=ON", "-DRB_FLAT=OFF", "-DBUILD_TESTING=OFF",
                     "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_C_COMPILER={COMPILER}"],
                    [CMAKE, "--build", BUILD, "--target", "rattleback_cli"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
    return os.path.join(BUILD, "bin", "rattleback")


def state_of(program, scene, *options):
    done = subprocess.run([program, "run", os.path.join(ROOT, "scenes", scene), *options, "--json"], capture_output=True,
                          text=True, check=True, timeout=300)
    return json.loads(done.stdout)["hash"]


def main():
    plain, failed = build(), 0
    for run in RUNS:
        a, b = state_of(PROGRAM, *run), state_of(plain, *run)
        print("ok     " if a == b else "FAILED ", a, b, " ".join(run))
        failed += a != b
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
