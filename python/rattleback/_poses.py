"""Stable poses of a part, by many drops."""
from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from ._lib import ModelError, RattlebackError, Status
from .__main__ import command

_MESHES = (".stl", ".obj")


class Poses(dict[str, Any]):
    """The answer of `rattleback poses --json`: its keys as items and as attributes. `poses` is a list
    with the probability of each and its interval."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"poses have no {name}; they have {', '.join(self)}") from None

    def __repr__(self) -> str:
        return f"<poses: {len(self['poses'])}, of {self.get('drops')} drops>"


def poses(part: str | os.PathLike[str], drops: int = 1000, *, seed: int = 1, threads: int = 1,
          height: float | None = None, friction: float | None = None,
          restitution: float | None = None, **options: Any) -> Poses:
    """Drops a part on a level floor from random orientations: how often it comes to rest in each of
    its stable poses.

    part: an MJCF file with one free body and a plane, or a mesh (.stl, .obj; then also scale= and
    density=). Other options are those of `rattleback poses`, with _ for -: docs/manual/poses.md. The
    numbers depend on the seed alone, not on the threads."""
    arguments = [command(), "poses", "--json", "--drops", str(int(drops)), "--seed", str(int(seed)),
                 "--threads", str(int(threads))]
    given = {"height": height, "friction": friction, "restitution": restitution, **options}
    for name, value in given.items():
        if value is None or value is False:
            continue
        arguments.append("--" + name.replace("_", "-"))
        if value is not True:
            arguments.append(repr(float(value)) if isinstance(value, float) else str(value))
    path = os.fspath(part)
    arguments += ["--mesh", path] if path.lower().endswith(_MESHES) else [path]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode == 2 or not done.stdout.strip():
        raise ModelError(done.stderr.strip() or f"the command ended with {done.returncode}")
    try:
        return Poses(json.loads(done.stdout))
    except ValueError:
        raise RattlebackError(done.stdout, Status.UNSOLVED) from None
