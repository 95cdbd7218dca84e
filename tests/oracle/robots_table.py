"""bench/robots/run on two robots of scenes/: every row is complete, and both engines had the same
controls, or their ends would be far apart. Skipped (exit 77) where MuJoCo is not installed.

usage: robots_table.py PATH_TO_rattleback
"""
import json
import os
import subprocess
import sys
import tempfile

from run import ROOT, SKIPPED

ROBOTS = {"double_pendulum.xml": 2, "arm.urdf": 8}

# MuJoCo's plugin has activations, and our side, which does not run it, none
PLUGIN = """<mujoco><extension><plugin plugin="mujoco.pid"><instance name="pid">
  <config key="kp" value="1"/><config key="ki" value="1"/></instance></plugin></extension>
<worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/></body></worldbody>
<actuator><plugin joint="j" plugin="mujoco.pid" instance="pid" actdim="1"/></actuator></mujoco>
"""


def has_mujoco():
    candidates = [os.environ.get("RB_ORACLE_PYTHON"),
                  os.path.join(ROOT, "build", "oracle", "bin", "python"), sys.executable]
    for python in candidates:
        if python and os.path.exists(python) and subprocess.run(
                [python, "-c", "import mujoco, numpy"], capture_output=True, check=False).returncode == 0:
            return True
    return False


def main():
    if not has_mujoco():
        print("MuJoCo is not installed; see tools/oracle-venv")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "robots.json")
        with open(os.path.join(folder, "plugin.xml"), "w", encoding="utf-8") as f:
            f.write(PLUGIN)
        picture = os.path.join(folder, "robots.svg")
        subprocess.run([sys.executable, os.path.join(ROOT, "bench", "robots", "run"),
                        os.path.join(ROOT, "scenes", "robots"), folder, "--only",
                        ",".join([*ROBOTS, "plugin.xml"]), "--time", "0.1",
                        "--repeats", "1", "--json", out, "--svg", picture, "--program", sys.argv[1]],
                       check=True)
        with open(out, encoding="utf-8") as f:
            rows = {r["model"]: r for r in json.load(f)["models"]}
        with open(picture, encoding="utf-8") as f:
            assert f.read().rstrip().endswith("</svg>")
    plugin = next(row for name, row in rows.items() if name.endswith("plugin.xml"))
    assert plugin["status"] == "ok" and "L" in plugin["marks"], plugin
    for name, nv in ROBOTS.items():
        row = rows[name]
        assert row["status"] == "ok" and row["nv"] == nv and row["steps"] > 0, row
        assert row["us"] > 0 and row["ratio"] > 0 and row["residual"] < 1e-3, row
        assert row["apart_mm"] < 5.0, row
    return 0


if __name__ == "__main__":
    sys.exit(main())
