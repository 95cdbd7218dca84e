"""Many simulations of one model, stepped by threads of the library."""
from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from . import _lib
from ._lib import CError, Handle, InputError, Status, StepError, lib
from .model import Model, numbers, pointer
from .sim import Sim, Stepper, _raise_new, check_count, refuse_physics

# threads of a batch do not survive a fork: the child starts its own
_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_forked)

CERTIFICATE = np.dtype([("residual", "f8"), ("penetration", "f8"), ("below_accuracy", "f8"),
                        ("contacts", "f8")])

_PARAMETERS = ("mu", "restitution", "mass", "gravity")
_ARRAYS = ("q", "v", "act", "ctrl", "tau", "mocap", "mocap_v", "wrench", "sensor")


class _BatchHandle(Handle):
    __slots__ = ("forks",)

    def __init__(self, address: int, keeps: Any):
        super().__init__(address, lib.rb_batch_free, keeps)
        self.forks = _forks

    def __del__(self) -> None:
        if self.address and self.forks != _forks:
            lib.rb_batch_forget_threads(self.address)
        super().__del__()


class Rollout(tuple[np.ndarray, np.ndarray, np.ndarray]):
    """states (n, T, nq + nv), sensors (n, T, nsensordata), certificates (n, T): a tuple of the three.

    q and v are views of the states; status (n) and failed, the worlds that failed: they repeat their
    last good row."""

    nq: int
    status: np.ndarray
    steps: np.ndarray

    @property
    def states(self) -> np.ndarray:
        return self[0]

    @property
    def sensors(self) -> np.ndarray:
        return self[1]

    @property
    def certificates(self) -> np.ndarray:
        return self[2]

    @property
    def q(self) -> np.ndarray:
        return self[0][..., :self.nq]

    @property
    def v(self) -> np.ndarray:
        return self[0][..., self.nq:]

    @property
    def failed(self) -> np.ndarray:
        return np.flatnonzero(self.status)

    def __repr__(self) -> str:
        return (f"<rollout: states {self.states.shape}, sensors {self.sensors.shape}, "
                f"{len(self.failed)} failed>")


class Parameter(np.ndarray):
    """Parameters of the worlds of a batch: `batch.mu[3] = 0.1` sets that of world 3. What is computed
    of it is an array of its own."""

    _give: Any = None

    def __array_finalize__(self, other: Any) -> None:
        self._give = None

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._give is None:
            super().__setitem__(key, value)
            return
        changed = np.array(self)
        changed[key] = value
        self._give(changed)
        super().__setitem__(key, value)


class Batch(Stepper):
    """n simulations of one model. q (n, nq), v, act, ctrl, tau, mocap, mocap_v, wrench are live
    views that may be written, sensordata is read-only.

    threads: how many work on them; the bits of a world do not depend on it. mu, restitution, mass,
    gravity: parameters of the worlds, see `set`. Other options are those of Sim.set_options.

    A world that fails keeps the state of its last good step; `failed` names such worlds, `status`
    (n) says why, `error(i)` in a sentence.
    """

    def __init__(self, model: Model, n: int, threads: int | None = None, *,
                 key: str | int | None = None, lenient: bool | None = None, **options: Any):
        if not isinstance(model, Model):
            raise TypeError(f"model: expected a rattleback.Model, not {type(model).__name__}")
        if isinstance(n, bool) or int(n) != n or n < 1:
            raise ValueError(f"n: expected a number of worlds >= 1, not {n!r}")
        if threads is None:
            threads = min(len(os.sched_getaffinity(0)), int(n))
        if isinstance(threads, bool) or int(threads) != threads or not 1 <= threads <= 1024:
            raise ValueError(f"threads: expected 1 to 1024, not {threads!r}")
        refuse_physics(model, model.lenient if lenient is None else lenient)
        err = CError()
        address = lib.rb_batch_new(model._address, int(n), int(threads), ctypes.byref(err))
        if not address:
            _raise_new(err)
        self.model = model
        self.n = int(n)
        self._threads = int(threads)
        self._handle = _BatchHandle(address, model._handle)
        self._p = ctypes.c_void_p(address)
        self._option_cache = {}
        self._given = {}
        lib.rb_batch_on_wait(self._p, _lib.HOST)
        self.status = np.zeros(self.n, np.int32)
        self._done = np.zeros(self.n, np.dtype(f"i{ctypes.sizeof(ctypes.c_long)}"))
        self._arrays = {name: self._gathered(name, name != "sensor") for name in _ARRAYS}
        parameters = {k: options.pop(k) for k in _PARAMETERS if k in options}
        if options:
            self.set_options(**options)
        if parameters:
            self.set(**parameters)
        if key is not None or options:
            self.reset(key=key)

    def _gathered(self, name: str, writable: bool) -> np.ndarray:
        length = ctypes.c_int()
        address = lib.rb_batch_array(self._p, name.encode(), ctypes.byref(length))
        array = _lib.view(address, (self.n, length.value), "f8", self._handle, writable)
        columns = {"q": self.model.nq, "v": self.model.nv}.get(name, length.value)
        array = array[:, :columns]
        width = {"mocap": 7, "mocap_v": 6, "wrench": 6}.get(name)
        return array.reshape(self.n, -1, width) if width else array

    def _opts_address(self) -> int:
        return lib.rb_sim_opts(lib.rb_batch_sim(self._p, 0))

    def _own_opts(self) -> Any:
        return self._options({}) if self._given else None

    def _alive(self) -> None:
        """Threads of its own after a fork."""
        if self._handle.forks != _forks:
            lib.rb_batch_forget_threads(self._p)
            if lib.rb_batch_threads(self._p, self._threads):
                raise MemoryError("threads cannot be started")
            self._handle.forks = _forks

    # ---- state and inputs ----

    def _write(self, name: str, value: Any) -> None:
        array = self._arrays[name]
        array[...] = numbers(value, array.shape, name)

    @property
    def q(self) -> np.ndarray:
        """Coordinates (n, nq)."""
        return self._arrays["q"]

    @q.setter
    def q(self, value: Any) -> None:
        self._write("q", value)

    @property
    def v(self) -> np.ndarray:
        """Velocities (n, nv)."""
        return self._arrays["v"]

    @v.setter
    def v(self, value: Any) -> None:
        self._write("v", value)

    @property
    def act(self) -> np.ndarray:
        """Activations (n, na)."""
        return self._arrays["act"]

    @act.setter
    def act(self, value: Any) -> None:
        self._write("act", value)

    @property
    def ctrl(self) -> np.ndarray:
        """Controls (n, nu)."""
        return self._arrays["ctrl"]

    @ctrl.setter
    def ctrl(self, value: Any) -> None:
        self._write("ctrl", value)

    @property
    def tau(self) -> np.ndarray:
        """Applied generalised forces (n, nv)."""
        return self._arrays["tau"]

    @tau.setter
    def tau(self, value: Any) -> None:
        self._write("tau", value)

    @property
    def wrench(self) -> np.ndarray:
        """Applied to bodies (n, nbody, 6)."""
        return self._arrays["wrench"]

    @property
    def mocap(self) -> np.ndarray:
        """Position and quaternion of mocap bodies (n, nmocap, 7)."""
        return self._arrays["mocap"]

    @property
    def mocap_v(self) -> np.ndarray:
        """Velocity of mocap bodies (n, nmocap, 6)."""
        return self._arrays["mocap_v"]

    @property
    def sensordata(self) -> np.ndarray:
        """Values of all sensors (n, nsensordata), read-only."""
        return self._arrays["sensor"]

    def sensor(self, which: str | int) -> np.ndarray:
        """Values of one sensor in all worlds (n, dim), read-only."""
        i = self.model.index("sensor", which)
        first = int(self.model.sensor_adr[i])
        return self.sensordata[:, first:first + int(self.model.sensor_dim[i])]

    @property
    def time(self) -> np.ndarray:
        """[s] (n), a copy."""
        return _lib.view(lib.rb_batch_time(self._p), (self.n,), "f8", self._handle, False).copy()

    @property
    def timestep(self) -> float:
        return _lib.read_double("rb_step_opts", "h", self._opts_address()) or self.model.timestep

    @property
    def threads(self) -> int:
        return self._threads

    @property
    def hashes(self) -> list[str]:
        """Hash of the state of each world."""
        return [f"{lib.rb_data_hash(lib.rb_sim_data(lib.rb_batch_sim(self._p, i))):016x}"
                for i in range(self.n)]

    # ---- parameters ----

    def set(self, *, ids: Any = None, **parameters: Any) -> None:
        """Parameters of worlds, from the next step on: mu and restitution (one number for all, one
        for each world, or one for each world and geom), mass (worlds x bodies), gravity (3, or
        worlds x 3). NaN leaves a number as it is. ids: worlds that are meant, all if not given."""
        which = self._ids(ids)
        count = self.n if which is None else len(which)
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise TypeError(f"{name}: expected one of {', '.join(_PARAMETERS)}")
            x = self._parameter(name, value, count)
            err = CError()
            status = lib.rb_batch_set(self._p, _PARAMETERS.index(name), pointer(x), pointer(which),
                                      count, ctypes.byref(err))
            if status == Status.NOMEM:
                raise MemoryError("out of memory for the models of a batch")
            if status:
                raise ValueError(f"{name}: {_lib.sentence(err, status)}")

    def _columns(self, name: str) -> int:
        return {"gravity": 3, "mass": self.model.nbody}.get(name, self.model.ngeom)

    def _parameter(self, name: str, value: Any, count: int) -> np.ndarray:
        array, columns = numbers(value, None, name), self._columns(name)
        if array.ndim == 1 and len(array) == count and (name in ("mu", "restitution")):
            array = array[:, None]
        try:
            return np.ascontiguousarray(np.broadcast_to(array, (count, columns)))
        except ValueError:
            raise ValueError(f"{name}: expected the shape ({count}, {columns}), or one that can be "
                             f"broadcast to it, not {array.shape}") from None

    def _get(self, name: str) -> np.ndarray:
        out = np.empty((self.n, self._columns(name)))
        lib.rb_batch_get(self._p, _PARAMETERS.index(name), pointer(out))
        found = out.view(Parameter)
        found._give = lambda changed: self.set(**{name: changed})
        return found

    @property
    def mu(self) -> np.ndarray:
        """Sliding coefficients (n, ngeom). Setting it, or items of it, is set(mu=..)."""
        return self._get("mu")

    @mu.setter
    def mu(self, value: Any) -> None:
        self.set(mu=value)

    @property
    def restitution(self) -> np.ndarray:
        """Coefficients of restitution (n, ngeom)."""
        return self._get("restitution")

    @restitution.setter
    def restitution(self, value: Any) -> None:
        self.set(restitution=value)

    @property
    def mass(self) -> np.ndarray:
        """Masses (n, nbody) [kg]."""
        return self._get("mass")

    @mass.setter
    def mass(self, value: Any) -> None:
        self.set(mass=value)

    @property
    def gravity(self) -> np.ndarray:
        """(n, 3) [m/s^2]."""
        return self._get("gravity")

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self.set(gravity=value)

    # ---- steps ----

    def _ids(self, ids: Any) -> np.ndarray | None:
        if ids is None:
            return None
        array = np.atleast_1d(np.asarray(ids))
        if array.dtype == bool and array.shape == (self.n,):
            array = np.flatnonzero(array)
        if array.size == 0:
            return np.empty(0, np.int32)
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise TypeError(f"ids: expected numbers of worlds or a mask of {self.n}, not "
                            f"{array.dtype} {array.shape}")
        if array.min() < 0 or array.max() >= self.n or len(np.unique(array)) != len(array):
            raise IndexError(f"ids: expected different numbers from 0 to {self.n - 1}")
        return np.ascontiguousarray(array, np.int32)

    def step(self, n: int = 1, ctrl: Any = None, *, check: bool = False,
             **options: Any) -> np.ndarray:
        """n steps of each world. ctrl (n, nu): controls for them. Returns the worlds that failed;
        check: raise StepError where there are any."""
        count = check_count(n)
        if ctrl is not None:
            self._write("ctrl", ctrl)
        self._alive()
        opts = self._options(options) if options else self._own_opts()
        status = lib.rb_batch_step(self._p, count, opts, pointer(self.status), pointer(self._done))
        return self._after(status, check)

    def _after(self, status: int, check: bool) -> np.ndarray:
        if not status:
            return np.empty(0, np.intp)
        if np.any(self.status == Status.CANCELLED):
            _lib.raise_pending()
        failed = self.failed
        if check and len(failed):
            kind = InputError if Status(status) == Status.BAD_INPUT else StepError
            few = "; ".join(f"world {i}: {self.error(int(i))}" for i in failed[:3])
            raise kind(f"{len(failed)} of {self.n} worlds failed: {few}", Status(status),
                       int(self._done[failed[0]]), [int(i) for i in failed])
        return failed

    @property
    def failed(self) -> np.ndarray:
        """Worlds that failed in the last call."""
        return np.flatnonzero(self.status)

    @property
    def steps_done(self) -> np.ndarray:
        """Good steps of each world in the last call."""
        return self._done.copy()

    def error(self, i: int) -> str:
        """Why world i failed, "" where it did not."""
        if not self.status[i]:
            return ""
        err = lib.rb_sim_error(lib.rb_batch_sim(self._p, int(i))).contents
        text = err.text.decode(errors="replace")
        return Status(int(self.status[i])).text + (": " + text if text else "")

    def reset(self, ids: Any = None, key: str | int | None = None) -> None:
        """Worlds back to the reference configuration or to a keyframe; parameters stay."""
        which = self._ids(ids)
        index = -1 if key is None else self.model.index("key", key)
        count = self.n if which is None else len(which)
        if count == 0:
            return
        self._alive()
        if lib.rb_batch_reset(self._p, pointer(which), count, index):
            raise MemoryError("out of memory in a reset")
        self.status[slice(None) if which is None else which] = 0

    def rollout(self, controls: Any, skip: int = 1, **options: Any) -> Rollout:
        """Controls (n, T, nctrl; nctrl is nu unless actuators have several), each held for `skip` steps: states, sensors and certificates behind
        each. It begins at the present states and leaves the worlds at the last ones."""
        u = np.asarray(controls)
        if u.ndim != 3 or u.shape[0] != self.n or u.shape[2] != self.model.nctrl:
            raise ValueError(f"controls: expected the shape ({self.n}, T, {self.model.nctrl}), not "
                             f"{u.shape}")
        u = numbers(u, u.shape, "controls")
        if check_count(skip) < 1:
            raise ValueError("skip: expected a number of steps >= 1")
        T, m = u.shape[1], self.model
        states = np.empty((self.n, T, m.nq + m.nv))
        sensors = np.empty((self.n, T, m.nsensordata))
        certificates = np.empty((self.n, T), CERTIFICATE)
        self._alive()
        opts = self._options(options) if options else self._own_opts()
        status = lib.rb_batch_rollout(self._p, T, skip, opts, pointer(u), pointer(states),
                                      pointer(sensors), pointer(certificates), pointer(self.status),
                                      pointer(self._done))
        self._after(status, False)
        result = Rollout((states, sensors, certificates))
        result.nq, result.status, result.steps = m.nq, self.status.copy(), self._done.copy()
        return result

    def certificates(self) -> np.ndarray:
        """Of the last step of each world: residual, penetration, below_accuracy, contacts (n)."""
        out = np.empty(self.n, CERTIFICATE)
        lib.rb_batch_certificates(self._p, pointer(out))
        return out

    def sim(self, i: int) -> Sim:
        """World i as a simulation: a look at it, which shares its state. It lives as long as the
        batch does."""
        if not 0 <= i < self.n:
            raise IndexError(f"world {i}: the batch has {self.n}")
        found = Sim.__new__(Sim)
        handle = Handle(lib.rb_batch_sim(self._p, i), _nothing, self._handle)
        found._bind(self.model, handle)
        return found

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"<rattleback.Batch: {self.n} worlds, {self._threads} threads, of {self.model!r}>"


def _nothing(address: Any) -> None:
    """What a look at a world frees."""
