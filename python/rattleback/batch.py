"""Many simulations of one model, stepped by threads of the library."""
from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from . import _lib
from ._lib import CError, Handle, InputError, Status, StepError, lib
from ._shared import MOST, Stepper, ThreadedHandle, check_count, raise_new, refuse_physics
from .model import Model, numbers, pointer
from .sim import Sim, State

CERTIFICATE = np.dtype([("residual", "f8"), ("penetration", "f8"), ("below_accuracy", "f8"),
                        ("contacts", "f8")])

_PARAMETERS = ("mu", "restitution", "mass", "gravity", "gain", "bias")
_ARRAYS = ("q", "v", "act", "ctrl", "tau", "mocap", "mocap_v", "wrench", "sensor")


class Rollout(tuple[np.ndarray, np.ndarray, np.ndarray]):
    """states (n, T, nq + nv), sensors (n, T, nsensordata), certificates (n, T): a tuple of the three.

    q and v are views of the states; status (n, 0: good) and failed, the worlds that failed: their rows
    from there on hold their last good state."""

    nq: int
    status: np.ndarray
    steps: np.ndarray

    @property
    def states(self) -> np.ndarray:
        """(n, T, nq + nv)"""
        return self[0]

    @property
    def sensors(self) -> np.ndarray:
        """(n, T, nsensordata)"""
        return self[1]

    @property
    def certificates(self) -> np.ndarray:
        """Structured (n, T): residual, penetration, below_accuracy, contacts."""
        return self[2]

    @property
    def q(self) -> np.ndarray:
        """Coordinates (n, T, nq)."""
        return self[0][..., :self.nq]

    @property
    def v(self) -> np.ndarray:
        """Velocities (n, T, nv)."""
        return self[0][..., self.nq:]

    @property
    def failed(self) -> np.ndarray:
        """Worlds that failed."""
        return np.flatnonzero(self.status)

    def __repr__(self) -> str:
        return (f"<rollout: states {self.states.shape}, sensors {self.sensors.shape}, "
                f"{len(self.failed)} failed>")


class Parameter(np.ndarray):
    """Parameters of the worlds of a batch: `batch.mu[3] = 0.1` sets that of world 3, and so do views of
    it, `batch.mu[3][0] = 0.1`. What is computed of it is an array of its own."""

    _give: Any = None           # sets them in the batch
    _whole: Any = None          # what this is a part of

    def __array_finalize__(self, other: Any) -> None:
        self._give = self._whole = None

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        whole = self if self._give is not None else self._whole
        if whole is not None and isinstance(found, Parameter) and np.may_share_memory(found, whole):
            found._whole = whole
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        whole = self if self._give is not None else self._whole
        if whole is None:
            super().__setitem__(key, value)
            return
        before = np.array(whole)
        super().__setitem__(key, value)
        try:
            whole._give(np.array(whole))
        except BaseException:
            np.copyto(whole, before)
            raise


class Batch(Stepper):
    """n simulations of one model. q (n, nq), v, act, ctrl, tau, mocap, mocap_v, wrench are live
    views that may be written, sensordata is read-only.

    threads: how many work on them; the bits of a world do not depend on it. mu, restitution, mass,
    gravity, gain, bias: parameters of the worlds, see `set`. Other options are those of Sim.set_options.

    A world that fails keeps the state of its last good step; `failed` names such worlds, `status`
    (n) says why, `error(i)` in a sentence.
    """

    model: Model = None         # type: ignore[assignment]
    n: int = 0
    status: np.ndarray = None   # type: ignore[assignment]

    def __init__(self, model: Model, n: int, threads: int | None = None, *,
                 key: str | int | None = None, lenient: bool | None = None, **options: Any):
        if not isinstance(model, Model):
            raise TypeError(f"model: expected a rattleback.Model, not {type(model).__name__}")
        n = check_count(n, "n", 1, MOST)
        if threads is None:
            threads = min(len(os.sched_getaffinity(0)), n)
        threads = check_count(threads, "threads", 1, 1024)
        refuse_physics(model, model.lenient if lenient is None else lenient)
        err = CError()
        address = lib.rb_batch_new(model._address, n, threads, ctypes.byref(err))
        if not address:
            raise_new(err)
        self.model = model
        self.n = n
        self._threads = threads
        self._handle = ThreadedHandle(address, lib.rb_batch_free, lib.rb_batch_forget_threads,
                                      model._handle)
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

    def _spread_options(self) -> None:
        first, size = self._opts_address(), _lib.struct_size("rb_step_opts")
        for i in range(1, self.n):
            ctypes.memmove(lib.rb_sim_opts(lib.rb_batch_sim(self._p, i)), first, size)

    def _alive(self) -> None:
        """Threads of its own after a fork."""
        if self._handle.is_forked() and lib.rb_batch_threads(self._p, self._threads):
            raise MemoryError("threads cannot be started")

    # ---- time and threads ----

    @property
    def time(self) -> np.ndarray:
        """[s] (n), a copy."""
        return _lib.view(lib.rb_batch_time(self._p), (self.n,), "f8", self._handle, False).copy()

    @property
    def timestep(self) -> float:
        """Length of a step [s]: the option h, or that of the model."""
        return _lib.read_double("rb_step_opts", "h", self._opts_address()) or self.model.timestep

    @property
    def threads(self) -> int:
        """How many work on the worlds."""
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
        worlds x 3), gain and bias of actuators (nu x 3, or worlds x nu x 3). NaN leaves a number as it is. ids: worlds that are meant, all if not given."""
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

    def _columns(self, name: str) -> tuple[int, ...]:
        actuators = (self.model.nu, 3)
        return {"gravity": (3,), "mass": (self.model.nbody,), "gain": actuators,
                "bias": actuators}.get(name, (self.model.ngeom,))

    def _parameter(self, name: str, value: Any, count: int) -> np.ndarray:
        array, columns = numbers(value, None, name), self._columns(name)
        if array.ndim == 1 and len(array) == count and (name in ("mu", "restitution")):
            array = array[:, None]
        try:
            return np.ascontiguousarray(np.broadcast_to(array, (count, *columns)))
        except ValueError:
            raise ValueError(f"{name}: expected the shape {(count, *columns)}, or one that can be "
                             f"broadcast to it, not {array.shape}") from None

    def _get(self, name: str) -> np.ndarray:
        out = np.empty((self.n, *self._columns(name)))
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

    @property
    def gain(self) -> np.ndarray:
        """What actuators do with their controls (n, nu, 3), see Model.set_gain."""
        return self._get("gain")

    @gain.setter
    def gain(self, value: Any) -> None:
        self.set(gain=value)

    @property
    def bias(self) -> np.ndarray:
        """What they do with length and velocity (n, nu, 3)."""
        return self._get("bias")

    @bias.setter
    def bias(self, value: Any) -> None:
        self.set(bias=value)

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
        opts = self._options(options) if options else None
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
        """Worlds back to the reference configuration or to a keyframe; inputs become zero or those
        of the keyframe, parameters stay."""
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
        """Controls (n, T, nctrl; nctrl is nu unless actuators have several), each held for `skip`
        steps: states, sensors and certificates behind each. It begins at the present states and leaves the worlds at the last ones."""
        u = np.asarray(controls)
        if u.ndim != 3 or u.shape[0] != self.n or u.shape[2] != self.model.nctrl:
            raise ValueError(f"controls: expected the shape ({self.n}, T, {self.model.nctrl}), not "
                             f"{u.shape}")
        u = numbers(u, u.shape, "controls")
        skip = check_count(skip, "skip", 1, MOST)
        T, m = u.shape[1], self.model
        states = np.empty((self.n, T, m.nq + m.nv))
        sensors = np.empty((self.n, T, m.nsensordata))
        certificates = np.empty((self.n, T), CERTIFICATE)
        self._alive()
        opts = self._options(options) if options else None
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
        if not -self.n <= i < self.n:
            raise IndexError(f"world {i}: the batch has {self.n}")
        i = int(i) % self.n
        found = Sim.__new__(Sim)
        address = lib.rb_batch_sim(self._p, i)
        model, own = self.model, lib.rb_sim_model(address)
        if own != model._address:           # it has parameters of its own
            model = Model(Handle(own, _nothing, self._handle), model.lenient)
        found._bind(model, Handle(address, _nothing, self._handle))
        found._given = dict(self._given)
        return found

    __getitem__ = sim

    # ---- bodies ----

    def _bodies(self, what: int, width: int) -> np.ndarray:
        out = np.empty((self.n, self.model.nbody, width))
        if lib.rb_batch_bodies(self._p, what, pointer(out)):
            raise MemoryError("out of memory for the bodies of a batch")
        return out

    def body_inertia(self) -> np.ndarray:
        """Of all bodies about the centre of mass of their tree, world axes (n, nbody, 10): xx yy zz xy
        xz yz, mass times the offset from there, mass. MuJoCo's cinert."""
        return self._bodies(0, 10)

    def body_velocity(self) -> np.ndarray:
        """Angular and linear velocity of all bodies at the centre of mass of their tree, world axes
        (n, nbody, 6). MuJoCo's cvel."""
        return self._bodies(1, 6)

    def contact_wrench(self) -> np.ndarray:
        """Torque about the centre of mass of their tree and force that the contacts of the last step
        exert on all bodies, world axes (n, nbody, 6). MuJoCo's cfrc_ext."""
        return self._bodies(2, 6)

    def actuation(self) -> np.ndarray:
        """Forces of the actuators on the dofs (n, nv). MuJoCo's qfrc_actuator."""
        out = np.empty((self.n, self.model.nv))
        lib.rb_batch_actuation(self._p, pointer(out))
        return out

    def center_of_mass(self) -> np.ndarray:
        """Of all bodies of each world (n, 3) [m]."""
        out = np.empty((self.n, 3))
        lib.rb_batch_center_of_mass(self._p, pointer(out))
        return out

    # ---- copies ----

    def save(self) -> list[State]:
        """The states of all worlds, from which `restore` goes on bit for bit; parameters are no part
        of them."""
        return [self.sim(i).save() for i in range(self.n)]

    def restore(self, states: Any, ids: Any = None) -> None:
        """Worlds back to saved states, one for each of ids, all if not given."""
        found = self._ids(ids)
        which = np.arange(self.n) if found is None else found
        states = list(states)
        if len(states) != len(which):
            raise ValueError(f"states: expected {len(which)} of them, not {len(states)}")
        for i, state in zip(which, states):
            self.sim(int(i)).restore(state)

    def __getstate__(self) -> Any:
        return {"model": self.model, "n": self.n, "threads": self._threads, "states": self.save(),
                "options": self._given, "parameters": {p: np.array(self._get(p)) for p in _PARAMETERS}}

    def __setstate__(self, saved: Any) -> None:
        Batch.__init__(self, saved["model"], saved["n"], saved["threads"], lenient=True,
                       **saved["options"])
        self.set(**saved["parameters"])
        self.restore(saved["states"])

    def copy(self) -> Batch:
        """Another batch of the same model in the same states, with the same parameters."""
        other = Batch.__new__(Batch)
        other.__setstate__(self.__getstate__())
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Batch:
        return self.copy()

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"<rattleback.Batch: {self.n} worlds, {self._threads} threads, of {self.model!r}>"


def _nothing(address: Any) -> None:
    """What a look at a world frees."""
