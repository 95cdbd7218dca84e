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


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path)], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_public_names():
    for name in rattleback.__all__:
        assert getattr(rattleback, name) is not None
        doc = getattr(rattleback, name).__doc__
        assert name.startswith("__") or doc, f"{name} has no docstring"
