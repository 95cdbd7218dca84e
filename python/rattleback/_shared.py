"""What a Sim and a Batch share: views of state and inputs, options of steps, their checks."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _lib
from ._lib import CError, Handle, InputError, ModelError, Status, lib
from .model import Model, numbers

# threads do not survive a fork: the child starts its own
_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_forked)


class ThreadedHandle(Handle):
    """Owns something that may have threads, which are forgotten in a child of a fork."""

    __slots__ = ("forks", "_forget")

    def __init__(self, address: int, free: Any, forget: Any, keeps: Any = None):
        super().__init__(address, free, keeps)
        self._forget = forget
        self.forks = _forks

    def is_forked(self) -> bool:
        """Whether this process is a child of the one that started the threads; they are forgotten
        then."""
        if self.forks == _forks:
            return False
        self._forget(ctypes.c_void_p(self.address))
        self.forks = _forks
        return True

    def __del__(self) -> None:
        if getattr(self, "address", 0):
            self.is_forked()
        super().__del__()


def options_text(name: str, value: Any) -> bytes:
    """A word or a number as the command line would have it."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bool, np.bool_)):
        return b"1" if value else b"0"
    if isinstance(value, (int, np.integer)):
        return str(int(value)).encode()
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.ndim == 0
                                                   and value.dtype.kind in "fiu"):
        return repr(float(value)).encode()
    raise TypeError(f"{name}: expected a word or a number, not {value!r}")


def apply_options(address: int, options: Mapping[str, Any]) -> None:
    """Sets options of steps by their names; words and limits are those of `rattleback run`."""
    err = CError()
    for name, value in options.items():
        if lib.rb_option_set(address, name.encode(), options_text(name, value), ctypes.byref(err)):
            raise InputError(_lib.sentence(err), Status.BAD_INPUT)


class Stepper:
    """What a Sim and a Batch share. q, v, act, ctrl, tau, wrench, mocap, mocap_v are live views: of a
    Batch with one row for each world."""

    _option_cache: dict[Any, Any]
    _given: dict[str, Any]      # options that were set
    _arrays: dict[str, np.ndarray]
    model: Model

    def _opts_address(self) -> int:
        raise NotImplementedError

    def _options(self, options: Mapping[str, Any]) -> Any:
        """The options of this call: those of the simulation and these."""
        key = (self._generation, *((k, options_text(k, v)) for k, v in sorted(options.items())))
        found = self._option_cache.get(key)
        if found is None:
            found = self._changed_options(options)
            if len(self._option_cache) > 64:
                self._option_cache.clear()
            self._option_cache[key] = found
        return found

    _generation = 0

    def _changed_options(self, options: Mapping[str, Any]) -> Any:
        """A copy of the options with these set."""
        size = _lib.struct_size("rb_step_opts")
        found = (ctypes.c_uint64 * (size // 8 + 1))()
        ctypes.memmove(found, self._opts_address(), size)
        apply_options(ctypes.addressof(found), options)
        if "stepper" in options and not self._law_is_chosen(options):
            law = "poisson" if options["stepper"] in ("impulse", "hybrid") else "stronge"
            apply_options(ctypes.addressof(found), {"restitution_law": law})
        return found

    def _law_is_chosen(self, options: Mapping[str, Any]) -> bool:
        return ("restitution_law" in options or "restitution_law" in self._given
                or "rb.restitution_law" in self.model.names("custom"))

    def set_options(self, **options: Any) -> None:
        """Options of all later steps: accuracy="strict", stepper="located", h=1e-3, friction=0.5,
        formulation, solver, restitution_law, tol, budget, .."""
        changed = self._changed_options(options)
        ctypes.memmove(self._opts_address(), changed, _lib.struct_size("rb_step_opts"))
        self._given = {**self._given, **options}
        self._generation += 1
        self._spread_options()

    def _spread_options(self) -> None:
        """To all worlds of a batch."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"a {type(self).__name__} has no {name} that could be set")
        object.__setattr__(self, name, value)

    # ---- state and inputs ----

    def _write(self, name: str, value: Any) -> None:
        array = self._arrays[name]
        array[...] = numbers(value, array.shape, name)

    @property
    def q(self) -> np.ndarray:
        """Coordinates ([n,] nq): free joints have position and quaternion w x y z."""
        return self._arrays["q"]

    @q.setter
    def q(self, value: Any) -> None:
        self._write("q", value)

    @property
    def v(self) -> np.ndarray:
        """Velocities ([n,] nv): free joints have the linear one in the world, the angular one in the
        body."""
        return self._arrays["v"]

    @v.setter
    def v(self, value: Any) -> None:
        self._write("v", value)

    @property
    def act(self) -> np.ndarray:
        """Activations of actuators ([n,] na)."""
        return self._arrays["act"]

    @act.setter
    def act(self, value: Any) -> None:
        self._write("act", value)

    @property
    def ctrl(self) -> np.ndarray:
        """Controls ([n,] nctrl): nu, where no actuator has several."""
        return self._arrays["ctrl"]

    @ctrl.setter
    def ctrl(self, value: Any) -> None:
        self._write("ctrl", value)

    @property
    def tau(self) -> np.ndarray:
        """Applied generalised forces ([n,] nv) [N], [N m]."""
        return self._arrays["tau"]

    @tau.setter
    def tau(self, value: Any) -> None:
        self._write("tau", value)

    @property
    def wrench(self) -> np.ndarray:
        """Applied to bodies ([n,] nbody, 6): force, torque, world axes, at the centre of mass."""
        return self._arrays["wrench"]

    @wrench.setter
    def wrench(self, value: Any) -> None:
        self._write("wrench", value)

    @property
    def mocap(self) -> np.ndarray:
        """Position and quaternion of mocap bodies ([n,] nmocap, 7). Writing is a jump: `lead` moves."""
        return self._arrays["mocap"]

    @mocap.setter
    def mocap(self, value: Any) -> None:
        self._write("mocap", value)

    @property
    def mocap_v(self) -> np.ndarray:
        """Velocity of mocap bodies ([n,] nmocap, 6): linear, angular, world axes."""
        return self._arrays["mocap_v"]

    @mocap_v.setter
    def mocap_v(self, value: Any) -> None:
        self._write("mocap_v", value)

    # ---- sensors ----

    @property
    def sensordata(self) -> np.ndarray:
        """Values of all sensors ([n,] nsensordata), read-only, as of the last step or reset."""
        return self._arrays["sensor"]

    def sensor(self, which: str | int) -> np.ndarray:
        """Values of one sensor ([n,] dim): a read-only view."""
        i = self.model.index("sensor", which)
        first = int(self.model.sensor_adr[i])
        return self.sensordata[..., first:first + int(self.model.sensor_dim[i])]


MOST = 2 ** 31 - 1


def check_count(n: Any, name: str = "n", least: int = 0, most: int = 2 ** 62) -> int:
    """A whole number of this range; what is something else raises."""
    if isinstance(n, (bool, np.bool_)) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"{name}: expected a whole number, not {n!r}")
    if not least <= n <= most:
        raise ValueError(f"{name}: expected a number >= {least}, not {n}" if n < least else
                         f"{name}: expected a number up to {most}, not {n}")
    return int(n)


def refuse_physics(model: Model, lenient: bool) -> None:
    """As `rattleback run`: a file that asks for physics that is not supported is not simulated."""
    lost = [w for w in model.warnings if w.physics == 1]
    if lost and not lenient:
        first = lost[0]
        raise ModelError("the file asks for physics that is not supported; lenient=True runs without it: "
                         + "; ".join(f"{w.element}: {w.text}" for w in lost),
                         Status.UNSUPPORTED, first.file, first.line)


def raise_new(err: CError) -> None:
    if err.status == Status.NOMEM:
        raise MemoryError(_lib.sentence(err))
    raise InputError(_lib.sentence(err), Status(err.status or Status.BAD_INPUT))
