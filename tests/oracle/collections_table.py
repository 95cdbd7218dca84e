"""bench/collections/run on scenes/robots and on a folder with files that are refused: every kind of
row is there, and its exit status says whether all runs ended well. Skipped (exit 77) where MuJoCo is
not installed.

usage: collections_table.py PATH_TO_rattleback
"""
import json
import os
import subprocess
import sys
import tempfile

from run import ROOT, SKIPPED

FILES = {
    "good.xml": "<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
    "broken.xml": "<mujoco><worldbody><geom type='nonsense'/></worldbody></mujoco>",
    "user.xml": "<mujoco><worldbody><body><joint name='j'/><geom size='0.1'/></body></worldbody><actuator>"
                "<general joint='j' gaintype='user'/></actuator></mujoco>",
    "missing.xml": "<mujoco><asset><mesh file='nowhere.stl'/></asset></mujoco>",
    "no_model.xml": "<other/>",
}


def table(program, *places):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "rows.jsonl")
        page = os.path.join(folder, "rows.md")
        done = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "collections", "run"), "--time", "0.02",
                               "--json", out, "--markdown", page, "--program", program, *places],
                              capture_output=True, text=True, check=False)
        with open(out, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        with open(page, encoding="utf-8") as file:
            text = file.read()
    return done.returncode, {row["file"]: row for row in rows}, text


def main():
    try:
        import mujoco  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        print("MuJoCo is not installed; see tools/oracle-venv")
        return SKIPPED
    code, rows, text = table(sys.argv[1], "robots=" + os.path.join(ROOT, "scenes", "robots"))
    assert code == 0 and rows["double_pendulum.xml"]["status"] == "ok", rows
    assert "| robots |" in text, text
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        code, rows, text = table(sys.argv[1], "mine=" + folder)
    assert code == 1 and set(rows) == {"good.xml", "broken.xml", "user.xml", "missing.xml"}, rows
    assert rows["good.xml"]["status"] == "ok" and rows["broken.xml"]["status"] == "mujoco refuses", rows
    assert rows["user.xml"]["status"] == "refused" and rows["missing.xml"]["status"] == "files missing", rows
    assert "| mine | 4 | 1 | 1 | 1 | 0 | 0 | 0 | 1 | 0 | 0 |" in text, text
    return 0


if __name__ == "__main__":
    sys.exit(main())
