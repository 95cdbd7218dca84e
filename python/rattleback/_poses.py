"""Stable poses of a part, by many drops."""
from __future__ import annotations

import ctypes
import os
import time as clock
from typing import Any

import numpy as np

from . import _lib
from ._lib import CError, FIELDS, Handle, ModelError, RattlebackError, Status, lib
from ._shared import apply_options, check_count, refuse_physics
from .model import Model, _free_model, number, pointer

_MESHES = (".stl", ".obj", ".dae", ".msh")
_BLOCK = 50                 # drops between two looks at the precision, as in the command
_OUTCOMES = ("decided", "rest", "rolling", "unsettled", "failed")


class Poses(dict[str, Any]):
    """The report of `rattleback poses --json`, its keys as items and as attributes. `poses` is a list
    with the count, the probability and its 95 % interval of each."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"poses have no {name}; they have {', '.join(self)}") from None

    def __repr__(self) -> str:
        return f"<poses: {len(self['poses'])}, of {self.get('drops')} drops>"


class _Part:
    """rb_part: the poses that a part can rest in, found from the hull of its geoms."""

    def __init__(self, model: Model, merge: float, file: str):
        self.buffer = (ctypes.c_uint64 * (_lib.struct_size("rb_part") // 8 + 1))()
        self.address = ctypes.addressof(self.buffer)
        err = CError()
        status = lib.rb_part_read(self.address, model._address, merge, ctypes.byref(err))
        if status:
            self.close()
            raise ModelError(_lib.sentence(err, status), Status(status), file)

    def number(self, name: str) -> float:
        return _lib.read_double("rb_part", name, self.address)

    def array(self, name: str) -> np.ndarray:
        return _lib.field_view("rb_part", name, self.address, self)

    def close(self) -> None:
        lib.rb_part_free(self.address)


class _Options:
    """rb_drop_opts; the options of steps in it are set by their words."""

    def __init__(self, numbers: dict[str, Any], step: dict[str, Any]):
        self.buffer = (ctypes.c_uint64 * (_lib.struct_size("rb_drop_opts") // 8 + 1))()
        self.address = ctypes.addressof(self.buffer)
        self.fields = FIELDS["rb_drop_opts"]
        lib.rb_flat_default(b"rb_drop_opts", self.buffer)
        for name, value in numbers.items():
            self.set(name, value)
        apply_options(self.step, step)

    @property
    def step(self) -> int:
        return self.address + self.fields["step"].offset

    def set(self, name: str, value: Any) -> None:
        kind = {_lib.UINT64: ctypes.c_uint64, _lib.INT: ctypes.c_int}.get(self.fields[name].type,
                                                                          ctypes.c_double)
        kind.from_address(self.address + self.fields[name].offset).value = value

    def number(self, name: str) -> float:
        return _lib.read_double("rb_drop_opts", name, self.address)


def _model(part: Any, scale: float, density: float, inertia: str, load: dict[str, Any],
           lenient: bool) -> tuple[Model, str, float]:
    """The model, its file, and the longest step."""
    if isinstance(part, Model):
        return part, "", part.timestep
    path = os.fsdecode(part)
    if not path.lower().endswith(_MESHES):
        model = Model.load(path, lenient=lenient, **load)
        return model, path, model.timestep
    if inertia not in ("exact", "convex"):
        raise ValueError(f"inertia {inertia!r}: expected exact (of the closed surface) or convex (of "
                         "its hull)")
    err = CError()
    address = lib.rb_flat_part(path.encode(), number(scale, "scale"), number(density, "density"),
                               inertia.encode(), ctypes.byref(err))
    if not address:
        _lib.raise_model(err)
    return Model(Handle(address, _free_model), lenient), path, float("inf")


def _check(model: Model, lenient: bool, file: str) -> None:
    refuse_physics(model, lenient)
    if not lenient and any(w.element == "mesh/open" for w in model.warnings):
        raise ModelError("the centre of mass is not known; lenient=True drops it all the same",
                         Status.BAD_INPUT, file)


def interval(count: int, drops: int) -> tuple[float, float]:
    """Wilson's interval, 95 %."""
    low, high = ctypes.c_double(), ctypes.c_double()
    lib.rb_wilson(count, drops, ctypes.byref(low), ctypes.byref(high))
    return low.value, high.value


def _drop(part: _Part, model: Model, options: _Options, drops: int, threads: int,
          precision: float) -> np.ndarray:
    """Records of the drops; fewer where the intervals are narrow enough before. Between blocks the
    interpreter sees signals."""
    records = np.zeros(drops, _lib.dtype_of("rb_drop"))
    poses, done, err = len(part.array("pose")), 0, CError()
    while done < drops:
        count = min(_BLOCK, drops - done)
        block = records[done:done + count]
        status = lib.rb_flat_drops(part.address, model._address, options.address, done, count,
                                   threads, pointer(block), ctypes.byref(err))
        if status == Status.NOMEM:
            raise MemoryError("out of memory in a drop")
        if status:
            raise RattlebackError(_lib.sentence(err, status), Status(status))
        done += count
        if precision and done % _BLOCK == 0:
            hits = np.bincount(records["pose"][:done][records["pose"][:done] >= 0],
                               minlength=poses)
            widths = [high - low for low, high in (interval(int(k), done) for k in hits)]
            if max(widths) <= 2.0 * precision:
                break
    return records[:done]


def poses(part: Model | str | os.PathLike[str], drops: int = 1000, *, seed: int = 1,
          threads: int = 1, height: float | None = None, friction: float | None = None,
          restitution: float | None = None, spin: float = 0.0, time: float = 10.0,
          precision: float = 0.0, merge: float = 0.005, full: bool = False, scale: float = 1.0,
          density: float = 1000.0, inertia: str = "exact", ground: float | None = None,
          floating_base: bool = False, packages: Any = (), lenient: bool = False,
          **options: Any) -> Poses:
    """Drops a part on a level floor from random orientations: how often it comes to rest in each of
    its stable poses, with the keys of `rattleback poses --json`.

    part: a Model or a file (MJCF, URDF) with one free body and a plane, or a mesh (.stl, .obj, .dae,
    .msh; then scale, density and inertia count, friction and restitution are 0.3). height: of the
    centre of mass at the start [m], 10 sizes; spin: standard deviation of angular velocities [rad/s];
    time: that a drop may take [s]; precision: stop when all 95 % intervals are narrower than this to
    either side; merge: poses with less than so many radii to climb between are one; full: simulate to
    rest, though the energy has decided before. options: of steps, stepper="impulse" unless given. The
    numbers depend on the seed alone, not on the threads: docs/manual/poses.md."""
    drops = check_count(drops, "drops", 0, 10 ** 8)
    threads = check_count(threads, "threads", 1, 256)
    seed = check_count(seed, "seed", 0, 2 * 10 ** 9)
    load = {"ground": ground, "floating_base": floating_base, "packages": packages}
    model, file, longest = _model(part, scale, density, inertia, load, lenient)
    _check(model, lenient or model.lenient, file)
    numbers = {"seed": seed, "spin": number(spin, "spin"), "time": number(time, "time"),
               "full": int(full), "height": 0.0 if height is None else number(height, "height")}
    given = {"friction": friction, "restitution": restitution, **options}
    settings = _Options(numbers, {k: v for k, v in given.items() if v is not None})
    begin, busy, err = clock.perf_counter(), clock.process_time(), CError()
    found = _Part(model, number(merge, "merge"), file)
    try:
        if lib.rb_drop_opts_finish(settings.address, found.address, longest, ctypes.byref(err)):
            raise ValueError(_lib.sentence(err))
        records = _drop(found, model, settings, drops, threads, number(precision, "precision"))
        told = _tell(found, settings, records, file, seed)
    finally:
        found.close()
    return Poses(told, cpu=clock.process_time() - busy, wall=clock.perf_counter() - begin)


def _tell(part: _Part, options: _Options, records: np.ndarray, file: str,
          seed: int) -> dict[str, Any]:
    """As the command writes it."""
    count, faces = len(records), part.array("face")
    stepper = _lib.read_int("rb_step_opts", "stepper", options.step)
    outcomes = np.bincount(records["outcome"], minlength=len(_OUTCOMES))
    return {"file": file, "mass": part.number("mass"), "size": part.number("size"),
            "com": part.array("com").tolist(), "drops": count, "seed": seed,
            "stepper": lib.rb_stepper_name(stepper).decode(),
            "step": _lib.read_double("rb_step_opts", "h", options.step),
            "height": options.number("height"), "spin": options.number("spin"),
            "poses": [_tell_pose(k, p, faces, int(np.sum(records["pose"] == k)), count)
                      for k, p in enumerate(part.array("pose"))],
            **{w: int(outcomes[k]) for k, w in enumerate(_OUTCOMES)}, "interrupted": 0,
            "simulated": _sum(records["time"]), "steps": int(np.sum(records["steps"])),
            "retries": int(np.sum(records["retries"]))}


def _sum(times: np.ndarray) -> float:
    """One after the other, as in C: sum() of newer Pythons and np.sum round otherwise."""
    return float(np.cumsum(times)[-1]) if len(times) else 0.0


def _tell_pose(k: int, pose: np.void, faces: np.ndarray, hits: int, drops: int) -> dict[str, Any]:
    low, high = interval(hits, drops)
    barrier = float(pose["barrier"])
    return {"pose": k, "down": (faces["n"][pose["facet"]] + 0.0).tolist(),
            "area": float(pose["area"]), "height": float(pose["height"]),
            "barrier": barrier if np.isfinite(barrier) else None, "facets": int(pose["nfacet"]),
            "rolling": int(pose["rolling"]), "count": hits,
            "probability": hits / drops if drops else None, "low": low, "high": high,
            "quasi_static": float(pose["quasi_static"])}
