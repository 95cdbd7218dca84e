"""What a simulation did, as a page for a browser, an animation or a strip of pictures."""
from __future__ import annotations

import ctypes
import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ._lib import CError, Handle, InputError, Status, lib, sentence

if TYPE_CHECKING:
    from .sim import Sim

lib.rb_sim_record.restype = ctypes.c_void_p
lib.rb_sim_record.argtypes = [ctypes.c_void_p, ctypes.c_double]
lib.rb_sim_record_end.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
lib.rb_replay_frames.argtypes = [ctypes.c_void_p]
lib.rb_flat_replay_save.argtypes = [
    ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_double, ctypes.c_double,
    ctypes.POINTER(ctypes.c_double), ctypes.POINTER(CError)]


class Saved(NamedTuple):
    """What a file holds: sizes in bytes, and the largest errors of rounding."""
    path: str
    frames: int
    motion: int      # of what moves; 0 for .glb and .svg
    meshes: int
    viewer: int      # of the page around them; 0 where there is none
    position: float  # [m]
    angle: float     # [rad]


class Replay:
    """The run of a simulation from where Sim.replay was called.

        replay = sim.replay()
        sim.step(1000)
        replay.save("run.html")
    """

    def __init__(self, sim: Sim, fps: float = 60.0):
        if not (isinstance(fps, (int, float)) and math.isfinite(fps) and fps >= 0.0):
            raise InputError(f"fps {fps!r}: expected a number >= 0", Status.BAD_INPUT)
        address = lib.rb_sim_record(sim._p, float(fps))
        if not address:
            raise MemoryError("out of memory for a replay")
        self._sim = sim
        self._handle = Handle(address, lib.rb_replay_free, sim.model)

    @property
    def frames(self) -> int:
        """How many pictures there are so far."""
        return int(lib.rb_replay_frames(self._handle.address))

    def stop(self) -> None:
        """Ends at the present state; saving does so as well. Later steps are not part of it."""
        if lib.rb_sim_record_end(self._sim._p, self._handle.address):
            raise MemoryError("out of memory for a replay")

    def save(self, path: str | os.PathLike[str], *, name: str = "simulation", snapshots: int = 6,
             camera: Any = None) -> Saved:
        """Writes .html (one page that opens by double click), .glb (animated glTF), .svg (snapshots
        side by side, seen from camera = (azimuth, elevation) in degrees) or .json (the data of the
        page), as `rattleback run` does."""
        self.stop()
        azimuth, elevation = (math.nan, math.nan) if camera is None else map(float, camera)
        if not 1 <= int(snapshots) <= 100:
            raise InputError(f"snapshots {snapshots!r}: expected 1 to 100", Status.BAD_INPUT)
        told, err = (ctypes.c_double * 6)(), CError()
        file = os.fspath(path)
        status = lib.rb_flat_replay_save(self._handle.address, os.fsencode(file), name.encode(),
                                         int(snapshots), azimuth, elevation, told, ctypes.byref(err))
        if status == Status.FILE:
            raise OSError(f"{file}: {sentence(err)}")
        if status == Status.NOMEM:
            raise MemoryError("out of memory for a replay")
        if status:
            raise InputError(f"{file}: {sentence(err)}", Status(status))
        page = file.endswith(".html")
        return Saved(file, int(told[0]), int(told[1] - told[2]), int(told[2]),
                     int(told[5]) if page else 0, told[3], told[4])

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None:  # the simulation forgets it before it is freed
            lib.rb_sim_record_end(self._sim._p, handle.address)

    def __repr__(self) -> str:
        return f"<replay: {self.frames} frames>"
