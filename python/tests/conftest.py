"""What the tests share: where the scenes, the command and the data are."""
import json
import os
import subprocess
from pathlib import Path

import pytest

import rattleback as rb

ROOT = Path(__file__).resolve().parents[2]
SCENES = ROOT / "scenes"
SHARED = Path(os.environ.get("RATTLEBACK_SHARED", ROOT.parent / "shared"))
LONG = bool(os.environ.get("RB_LONG"))


def pytest_collection_modifyitems(items):
    for item in items:
        if "long" in item.keywords and not LONG:
            item.add_marker(pytest.mark.skip(reason="long: RB_LONG=1 runs it"))


def run_command(*arguments):
    from rattleback.__main__ import command
    return subprocess.run([command(), *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def run_json(*arguments):
    done = run_command(*arguments)
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def quadruped():
    return rb.Model.load(SCENES / "robots/quadruped.xml")


@pytest.fixture(scope="session")
def pendulum():
    return rb.Model.load(SCENES / "robots/double_pendulum.xml")


ARM = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" type="hinge" axis="0 1 0" range="-2 1.5" limited="true" damping="0.1"/>
      <geom name="g_upper" type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" type="hinge" axis="0 1 0"/>
        <geom name="g_lower" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
        <site name="tip" pos="0.3 0 0"/>
      </body>
    </body>
    <body name="cube" pos="0.5 0.5 0.0501">
      <freejoint name="free"/>
      <geom name="g_cube" type="box" size="0.05 0.05 0.05" friction="0.6"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="m_shoulder" joint="shoulder"/>
    <position name="p_elbow" joint="elbow" kp="20" kv="1"/>
  </actuator>
  <sensor>
    <jointpos name="s_shoulder" joint="shoulder"/>
    <framepos name="s_tip" objtype="site" objname="tip"/>
  </sensor>
  <keyframe><key name="up" qpos="-1 0.5 0.5 0.5 0.0501 1 0 0 0"/></keyframe>
</mujoco>
"""


@pytest.fixture(scope="session")
def arm():
    return rb.Model.from_string(ARM)
