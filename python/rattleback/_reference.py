"""Writes docs/manual/python-api.md from docstrings: python -m rattleback._reference docs/manual/python-api.md"""
from __future__ import annotations

import inspect
import sys
from typing import Any

import rattleback

HEAD = """# Python reference

Written by `python -m rattleback._reference` from the docstrings. The guide is [Python](python.md).
"""

GROUPS = {
    "Models": ["Model", "Spec", "SpecElement", "Element", "ModelWarning"],
    "Simulations": ["Sim", "Info", "State", "Replay", "Saved"],
    "Batches": ["Batch", "Rollout"],
    "Solvers": ["solve_lcp", "solve_friction", "Solution", "Problem", "read_problems",
                "write_problems", "impact", "ImpactAnswer"],
    "Poses and studies": ["poses", "Poses", "study", "Study"],
    "Errors": ["RattlebackError", "ModelError", "ModelFileError", "StepError", "InputError",
               "ProblemError", "StudyError", "Status"],
}
PLACED = ["PlacedFrame", "PlacedJoint", "PlacedActuator",       # what sim.body("x") and the like return
          "Distance", "Hit", "Impact"]
SHIPPED = ["study_poses", "friction_sweep", "fit_tosses", "RayExecutor"]


def paragraph(text: str | None) -> str:
    """A docstring as Markdown; indented blocks stay code."""
    return inspect.cleandoc(text or "").strip()


def signature(thing: Any) -> str:
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "()"
    return text.replace("self, ", "").replace("(self)", "()").replace("'", "").replace('"', "'")


def entry(name: str, thing: Any) -> list[str]:
    lines = [f"### `{name}`", ""]
    is_class = inspect.isclass(thing)
    own_init = is_class and "__init__" in vars(thing) and not issubclass(thing, BaseException)
    if not is_class or own_init:
        lines += [f"`{name}{signature(thing)}`", ""]
    lines += [paragraph(thing.__doc__), ""]
    if is_class and not issubclass(thing, (BaseException, int)):
        lines += members(thing)
    return lines


def members(thing: Any) -> list[str]:
    rows: list[str] = []
    for name, value in inherited(thing).items():
        if name.startswith("_"):
            continue
        if isinstance(value, (classmethod, staticmethod)):
            value = value.__func__
        if name in [row.split("`")[1][1:].split("(")[0] for row in rows]:
            continue
        if isinstance(value, property):
            rows.append(f"- `.{name}` {first(value.__doc__)}".rstrip())
        elif inspect.isfunction(value):
            plain = signature(value).replace("cls, ", "")
            rows.append(f"- `.{name}{plain}` {first(value.__doc__)}".rstrip())
    return [*rows, ""] if rows else []


def inherited(thing: Any) -> dict[str, Any]:
    """Its members and those of the bases that are not in this reference themselves."""
    found = dict(vars(thing))
    for base in thing.__mro__[1:]:
        if base.__module__ == "rattleback._shared":
            found = {**vars(base), **found}
    return found


def first(text: str | None) -> str:
    return " ".join(paragraph(text).split("\n\n", maxsplit=1)[0].split())


def text() -> str:
    lines = [HEAD]
    for title, names in GROUPS.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += entry(name, getattr(rattleback, name))
            for placed in PLACED if name == "Sim" else ():
                lines += entry(placed, getattr(rattleback.sim, placed))
    lines += ["## Shipped studies", ""]
    for name in SHIPPED:
        lines += entry("studies." + name, getattr(rattleback.studies, name))
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    written = text()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(written)
