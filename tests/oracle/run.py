"""Runs compare.py, gaps.py, rays.py and sensors.py with a Python that has MuJoCo and Pinocchio, or skips (exit 77) with a sentence.

Looked for in RB_ORACLE_PYTHON, then build/oracle (tools/oracle-venv), then this interpreter.

usage: run.py PATH_TO_rattleback [options of compare.py]
       run.py PATH_TO_rattleback --only SCRIPT     another script of this folder, with that Python
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SKIPPED = 77


def works(python):
    try:
        done = subprocess.run([python, "-c", "import mujoco, pinocchio, numpy"],
                              capture_output=True, timeout=120, check=False)
    except OSError:
        return False
    return done.returncode == 0


def scripts():
    if sys.argv[2:3] == ["--only"]:
        return [(sys.argv[3], [])]
    return [("compare.py", sys.argv[2:]), ("gaps.py", []), ("rays.py", []), ("sensors.py", [])]


def main():
    candidates = [os.environ.get("RB_ORACLE_PYTHON"),
                  os.path.join(ROOT, "build", "oracle", "bin", "python"), sys.executable]
    for python in candidates:
        if python and works(python):
            status = 0
            for script, options in scripts():
                command = [python, os.path.join(HERE, script), sys.argv[1], *options]
                status = status or subprocess.run(command, check=False).returncode
            sys.exit(status)
    print("skipped: no Python with mujoco, pin and numpy; run tools/oracle-venv, or name one in "
          "RB_ORACLE_PYTHON")
    sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
