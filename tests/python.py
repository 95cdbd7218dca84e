"""Runs the tests of the Python package with the library and the command of this build.

Skipped (exit 77) where tools/python-venv could not install what they need.

usage: python.py LIBRARY COMMAND [pytest arguments]
"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    python = os.environ.get("RB_PYTHON", os.path.join(ROOT, "build/python/bin/python"))
    if not os.path.exists(python):
        print("skipped: build/python is not there; tools/python-venv makes it")
        sys.exit(77)
    library, command = sys.argv[1:3]
    environment = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"),
                       RATTLEBACK_LIBRARY=library, RATTLEBACK_COMMAND=command)
    done = subprocess.run([python, "-m", "pytest", "-p", "no:cacheprovider", *sys.argv[3:]],
                          cwd=ROOT, env=environment, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
