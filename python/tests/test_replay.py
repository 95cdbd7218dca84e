"""Replays: the same data as `rattleback run`, in files that open by themselves."""
import base64
import json
import re
import struct

import numpy as np
import pytest

import rattleback as rb
from conftest import SCENES, run_command


def numbers(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype)


def unpack_rotation(words):
    """(.., 3) words -> (.., 4) quaternions, as docs/design/viewer.md says."""
    left_out = 2 * (words[..., 0] >> 15) + (words[..., 1] >> 15)
    three = (2.0 * (words & 32767) / 32767 - 1.0) * np.sqrt(0.5)
    quat = np.empty(words.shape[:-1] + (4,))
    for index in np.ndindex(left_out.shape):
        k = int(left_out[index])
        rest = [i for i in range(4) if i != k]
        quat[index][rest] = three[index]
        quat[index][k] = np.sqrt(max(0.0, 1.0 - np.sum(three[index] ** 2)))
    return quat


def rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def record(tmp_path, steps=200):
    sim = rb.Sim(rb.Model.load(SCENES / "robots/quadruped.xml"))
    sim.q[2] += 0.2
    replay = sim.replay()
    sim.step(steps)
    saved = replay.save(tmp_path / "run.json", name="quadruped.xml")
    return sim, saved, json.loads((tmp_path / "run.json").read_text())


def test_poses_are_those_of_the_simulation_within_what_is_told(tmp_path):
    sim, saved, data = record(tmp_path)
    n, moving = data["n"], data["moving"]
    assert saved.frames == n == len(numbers(data["time_f64"], "<f8"))
    words = numbers(data["pose_u16"], "<u2").reshape(n, len(moving), 6)
    lo, hi = np.array(data["lo"]), np.array(data["hi"])
    for i, body in enumerate(moving):
        frame = sim.body(body)
        at = lo[i] + (hi[i] - lo[i]) * words[-1, i, :3] / 65535
        assert np.linalg.norm(at - frame.pos) <= saved.position + 1e-9
        turn = rotation(unpack_rotation(words[-1, i, 3:])) @ np.asarray(frame.rot).reshape(3, 3).T
        angle = np.arccos(np.clip((np.trace(turn) - 1) / 2, -1, 1))
        assert angle <= saved.angle + 1e-7
    assert 0 < saved.position < 1e-4 and 0 < saved.angle < 1e-3
    assert data["run"]["hash"] == sim.hash and data["run"]["steps"] == 200


def test_contacts_carry_the_weight_and_plots_the_energy(tmp_path):
    sim, _, data = record(tmp_path, 1500)
    contacts = data["contacts"]
    start = numbers(contacts["start_u32"], "<u4")
    force = numbers(contacts["force_f32"], "<f4").reshape(-1, 3)
    last = slice(start[-2], start[-1])
    weight = 9.81 * sum(b["mass"] for b in data["scene"]["bodies"])
    geoms = data["scene"]["geoms"]
    pairs = [contacts["pairs"][k] for k in numbers(contacts["pair_u32"], "<u4")[last]]
    down = sum(f[2] * (1 if geoms[g1]["body"] == 0 else -1)
               for f, (g1, g2, mu) in zip(force[last], pairs) if 0 in (geoms[g1]["body"], geoms[g2]["body"]))
    assert down == pytest.approx(weight, rel=1e-2)
    energy = next(p for p in data["plots"] if p["name"] == "energy")
    assert numbers(energy["y_f32"], "<f4")[-1] == pytest.approx(sim.energy, rel=1e-5)


def test_page_is_one_file_that_no_name_breaks_out_of(tmp_path):
    evil = "</script><script>alert(1)</script>"
    xml = ("<mujoco><worldbody><body name='&lt;/script>&lt;script>alert(1)&lt;/script>'><freejoint/>"
           "<geom size='0.1'/></body></worldbody></mujoco>")
    sim = rb.Sim(rb.Model.from_string(xml))
    replay = sim.replay()
    sim.step(10)
    saved = replay.save(tmp_path / "run.html", name=evil)
    page = (tmp_path / "run.html").read_text()
    tag = re.search(r'<script type="application/json" id="rb-replay">(.*?)</script>', page, re.S)
    data = json.loads(tag.group(1))
    assert data["scene"]["bodies"][1]["name"] == evil and data["scene"]["name"] == evil
    assert "alert(1)</script>" not in page
    assert saved.viewer > 0 and saved.motion > 0


def test_gltf_and_svg(tmp_path):
    sim = rb.Sim(rb.Model.load(SCENES / "robots/quadruped.xml"))
    replay = sim.replay(fps=30)
    sim.step(100)
    replay.save(tmp_path / "run.glb")
    magic, version, size = struct.unpack("<4sII", (tmp_path / "run.glb").read_bytes()[:12])
    assert (magic, version, size) == (b"glTF", 2, (tmp_path / "run.glb").stat().st_size)
    replay.save(tmp_path / "run.svg", snapshots=3, camera=(-60, 20))
    assert (tmp_path / "run.svg").read_text().count("t = ") == 3


def test_what_is_refused(tmp_path):
    sim = rb.Sim(rb.Model.load(SCENES / "contact/rod.xml"))
    with pytest.raises(rb.InputError, match="fps"):
        sim.replay(fps=-1)
    replay = sim.replay()
    with pytest.raises(rb.InputError, match="html, .json, .glb or .svg"):
        replay.save(tmp_path / "run.txt")
    with pytest.raises(OSError, match="No such file"):
        replay.save(tmp_path / "nowhere" / "run.html")


def test_a_replay_that_is_dropped_is_forgotten():
    sim = rb.Sim(rb.Model.load(SCENES / "contact/rod.xml"))
    for _ in range(3):
        sim.replay()
        sim.step(5)
    first = sim.replay()
    second = sim.replay(fps=0)
    sim.step(7)
    assert first.frames == 1 and second.frames == 8


def test_same_as_the_command(tmp_path):
    done = run_command("run", SCENES / "robots/quadruped.xml", "--time", "0.4", "--json", "--html",
                       tmp_path / "c.html")
    assert done.returncode == 0
    page = (tmp_path / "c.html").read_text()
    data = json.loads(re.search(r'id="rb-replay">(.*?)</script>', page, re.S).group(1))
    sim = rb.Sim(rb.Model.load(SCENES / "robots/quadruped.xml"))
    replay = sim.replay()
    sim.step(data["run"]["steps"])
    replay.save(tmp_path / "p.json", name="quadruped.xml")
    assert json.loads((tmp_path / "p.json").read_text()) == data
