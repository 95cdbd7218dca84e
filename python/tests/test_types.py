"""Annotations hold, and those of fields are what the library has."""
import subprocess
import sys
from pathlib import Path

import pytest

import rattleback
from conftest import ROOT
from rattleback import _stubs


def test_fields_are_those_of_the_library():
    """What is annotated is there, with this type. Fields that are new in a header work without;
    `python -m rattleback._stubs python/rattleback/_fields.py` adds them."""
    text = (Path(rattleback.__file__).parent / "_fields.py").read_text()
    annotated = {l for l in text.splitlines() if l.startswith("    ") and ": " in l}
    assert len(annotated) > 250
    assert annotated <= set(_stubs.text().splitlines())


USER = """
import numpy as np
import rattleback as rb

def height(model: rb.Model, steps: int) -> float:
    sim = rb.Sim(model, accuracy="strict")
    sim.q[2] = 1.0
    sim.step(steps)
    certificate: float = sim.info.residual + sim.info.penetration
    mass: np.ndarray = model.body_mass
    failed: np.ndarray = rb.Batch(model, 3).step(2)
    return certificate + float(sim.body("trunk").pos[2]) + len(mass) + len(failed) + model.nq

def wrong(model: rb.Model, sim: rb.Sim) -> None:
    pass
"""
WRONG = ["model.nqq", "model.bodymass", "sim.stepp(1)", "sim.info.residuals", "sim.q.shape()",
         "rb.solve_lcp(1)"]


def test_mypy(tmp_path):
    pytest.importorskip("mypy")

    def mypy(*arguments):
        return subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), *arguments],
                              cwd=ROOT, capture_output=True, text=True, check=False)

    done = mypy()
    assert done.returncode == 0, done.stdout
    program = tmp_path / "user.py"
    program.write_text(USER + "".join(f"    {line}\n" for line in WRONG))
    done = mypy(str(program))
    first = len(USER.splitlines()) + 1
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert found == set(range(first, first + len(WRONG))), done.stdout


def test_public_names():
    for name in rattleback.__all__:
        assert getattr(rattleback, name) is not None
        doc = getattr(rattleback, name).__doc__
        assert name.startswith("__") or doc, f"{name} has no docstring"
