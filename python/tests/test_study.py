"""Studies: every item once, the same on every executor, resumed from files."""
import concurrent.futures
import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import rattleback as rb
from conftest import SCENES, SHARED
from rattleback.studies import fit_tosses, friction_sweep, item_seed, study_poses, wilson


def noisy(sample, seed):
    rng = np.random.default_rng(seed)
    return {"x": float(sample + rng.normal()), "pid": 0}


def square(sample):
    return sample * sample


def dies_once(sample, seed):
    """The first process that takes item 3 is gone."""
    if sample["i"] == 3 and not os.path.exists(sample["mark"]):
        open(sample["mark"], "w").close()
        os._exit(1)
    return {"i": sample["i"]}


def test_executors_agree():
    serial = rb.study(noisy, range(12), "serial", seed=4, progress=False)
    threads = rb.study(noisy, range(12), "threads", seed=4, progress=False)
    processes = rb.study(noisy, range(12), seed=4, workers=2, progress=False)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        own = rb.study(noisy, range(12), pool, seed=4, progress=False)
    assert list(serial) == list(threads) == list(processes) == list(own)
    assert list(rb.study(noisy, range(12), "serial", seed=5)) != list(serial)
    assert serial.seeds[3] == item_seed(4, 3) and len(set(serial.seeds)) == 12
    assert list(rb.study(square, [1, 2, 3], "serial")) == [1, 4, 9]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_resume(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"study.{ending}"
    calls = []

    def stops(sample, seed):
        calls.append(sample)
        if sample == 5 and len(calls) < 8:
            raise RuntimeError("stop")
        return {"value": sample * 2, "seed": seed}

    with pytest.raises(RuntimeError):
        rb.study(stops, range(8), "serial", file=path, name="a")
    done = len(calls)
    calls.extend([None] * 8)
    result = rb.study(stops, range(8), "serial", file=path, name="a")
    assert [r["value"] for r in result] == [2 * k for k in range(8)]
    assert calls[done + 8:] == [5, 6, 7]
    again = rb.study(stops, range(8), "serial", file=path, name="a")
    assert list(again) == list(result) and len(calls) == done + 8 + 3
    with pytest.raises(rb.StudyError, match="another study"):
        rb.study(stops, range(8), "serial", file=path, name="b")
    if ending == "parquet":
        import pyarrow.parquet
        table = pyarrow.parquet.read_table(path)
        assert table.column("value").to_pylist() == [2 * k for k in range(8)]


def test_cut_line(tmp_path):
    path = tmp_path / "s.jsonl"
    rb.study(square, [1, 2, 3], "serial", file=path)
    text = path.read_text()
    path.write_text(text[:-5])
    assert list(rb.study(square, [1, 2, 3], "serial", file=path)) == [1, 4, 9]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(r["index"] for r in rows if "index" in r) == [0, 1, 2]


def test_process_dies(tmp_path):
    samples = [{"i": i, "mark": str(tmp_path / "mark")} for i in range(8)]
    result = rb.study(dies_once, samples, workers=2, progress=False, file=tmp_path / "r.jsonl")
    assert [r["i"] for r in result] == list(range(8))
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert sorted(r["index"] for r in rows if "index" in r) == list(range(8))


def test_scene(tmp_path):
    path = SCENES / "contact/sliding_cube.xml"
    swept = friction_sweep(path, [0.1, 0.5], time=0.1, executor="serial", key=0)
    sim = rb.Sim(rb.Model.load(path), key=0, friction=0.5)
    sim.step(round(0.1 / sim.timestep))
    assert swept[1]["hash"] == sim.hash != swept[0]["hash"]
    moved = rb.study(path, [{"gravity": [0, 0, -1.0]}, {}], "serial", time=0.05)
    assert moved[0]["hash"] != moved[1]["hash"]
    swept.save(tmp_path / "s.jsonl")
    assert "2 items" in repr(swept)


def test_poses():
    found = study_poses(SCENES / "poses/box.xml", 40, 4, "serial", seed=2)
    assert found["counts"].sum() <= 40 and len(found["probability"]) == 6
    assert np.all(found["low"] <= found["probability"]) and len(found["study"]) == 4
    low, high = wilson([50], 100)
    assert low[0] == pytest.approx(0.4038, abs=1e-3) and high[0] == pytest.approx(0.5962, abs=1e-3)


def test_tosses():
    folder = SHARED / "data/cube_toss"
    if not folder.exists():
        pytest.skip("the tosses are not there")
    model = rb.Model.load(SCENES / "toss/cube.xml")
    found = fit_tosses(model, folder, mu=[0.1, 0.2, 0.4], e=[0.0, 0.3], tosses=12, rounds=2,
                       executor="serial")
    losses = {(r["mu"], r["e"]): r["loss"] for r in found["tried"]}
    assert found["loss"] == min(losses.values()) and 0.05 < found["mu"] < 0.35
    assert losses[(0.2, 0.3)] < losses[(0.4, 0.0)]
    assert found["loss"] < 1.0


def test_refusals():
    with pytest.raises(ValueError, match="executor"):
        rb.study(square, [1], "moon")
    with pytest.raises(TypeError):
        rb.study(3, [1])
    with pytest.raises(TypeError, match="speed"):
        rb.study(square, [1], "serial", speed=3)


def arrays(sample):
    return {"x": np.arange(sample), 3: (1, 2)}


def test_results_do_not_depend_on_what_is_on_file(tmp_path):
    """Arrays and tuples come back as the file has them, whether the item was done now or before."""
    path = tmp_path / "study.jsonl"
    rb.study(arrays, range(2), "serial", file=path)
    again = rb.study(arrays, range(4), "serial", file=path)
    assert list(again) == [{"x": list(range(k)), "3": [1, 2]} for k in range(4)]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_files_of_other_samples_are_refused(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"study.{ending}"
    rb.study(arrays, [1, 2], "serial", file=path)
    with pytest.raises(rb.StudyError, match="item 1 is that of another sample"):
        rb.study(arrays, [1, 3], "serial", file=path)
    assert len(rb.study(arrays, [1, 2, 3], "serial", file=path)) == 3


def test_functions_that_have_no_module(tmp_path):
    """Of a notebook or a lambda: sent as a whole."""
    pytest.importorskip("cloudpickle")
    factor = 3
    assert list(rb.study(lambda x: factor * x, range(3), workers=1)) == [0, 3, 6]
    program = ("import rattleback as rb\ndef f(x): return x + offset\noffset = 5\n"
               "print(list(rb.study(f, range(3), workers=1)))")
    path = tmp_path / "unguarded.py"
    path.write_text(program)
    for arguments in (["-"], [path], ["-c", program]):
        done = subprocess.run([sys.executable, *arguments], input=program, capture_output=True,
                              text=True, check=True)
        assert done.stdout.strip() == "[5, 6, 7]" and done.stderr == ""
    with pytest.raises(TypeError, match="other processes cannot import"):
        lock = threading.Lock()
        rb.study(lambda x: lock, range(3), workers=1)
