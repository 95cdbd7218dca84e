"""The Python of the manual runs, page by page; the reference is what the docstrings say."""
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from conftest import ROOT
from rattleback import _reference

PAGES = ["README.md", "docs/manual/python.md", "docs/manual/gym.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_page(page, monkeypatch):
    if "gym" in page:
        pytest.importorskip("gymnasium")
    monkeypatch.chdir(ROOT)
    text = (ROOT / page).read_text()
    blocks = BLOCK.findall(text)
    assert blocks, f"{page} has no Python"
    scope = {"__name__": "page", "np": np}
    for block in blocks:
        line = text[:text.index(block)].count("\n") + 1
        exec(compile("\n" * (line - 1) + block, str(ROOT / page), "exec"), scope)


def test_reference():
    path = Path(ROOT / "docs/manual/python-api.md")
    assert path.read_text() == _reference.text(), \
        "PYTHONPATH=python python -m rattleback._reference docs/manual/python-api.md"


def test_everything_public_says_what_it_is():
    bare = []
    for name in rb.__all__:
        thing = getattr(rb, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            bare += [] if thing.__doc__ else [name]
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if inspect.isfunction(value) and not member.startswith("_") and not value.__doc__:
                bare.append(f"{name}.{member}")
    assert not bare
