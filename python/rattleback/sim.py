"""One simulation of a model."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _lib
from ._fields import InfoFields
from ._lib import CError, FIELDS, Handle, InputError, Status, StepError, lib
from ._shared import Stepper, ThreadedHandle, check_count, raise_new, refuse_physics
from .model import Element, Model, copied_model, finite, number, pointer
from .replay import Replay

_step = lib.rb_sim_step
_one = lib.rb_sim_step_one
_one.restype = ctypes.c_int
_contacts = lib.rb_sim_contacts

MODES = ("unknown", "open", "stick", "slide", "upper")

# state and inputs that may be written
_WRITABLE = ("q", "v", "act", "ctrl", "tau", "mocap", "mocap_v", "wrench")


class Info(InfoFields):
    """Report of the last step: a copy, made when `sim.info` is read.

    residual: worst relative residual of its problems [1]; penetration: deepest overlap [m]; energy:
    of the state [J]; path: of the problem with the worst residual; below_accuracy: problems that
    missed the accuracy asked for; contacts: within reach; active: of them with an impulse. The other
    fields are those of rb_step_info."""

    energy: float
    _record: np.void

    def __init__(self, record: np.void, energy: float):
        object.__setattr__(self, "_record", record)
        object.__setattr__(self, "energy", energy)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} of an info cannot be set: it is the report of the last step")

    def __reduce__(self) -> Any:
        return (Info, (self._record, self.energy))

    def _field(self, name: str) -> Any:
        if name.startswith("_") or name not in FIELDS["rb_step_info"]:
            raise AttributeError(f"info has no {name}; it has "
                                 + ", ".join(["energy", *FIELDS["rb_step_info"]]))
        value = self._record[name]
        if isinstance(value, bytes):
            return value.decode()
        return value.item() if np.ndim(value) == 0 and value.dtype.names is None else value

    if not TYPE_CHECKING:       # a checker has InfoFields
        __getattr__ = _field

    def as_dict(self) -> dict[str, Any]:
        """Numbers and words, without the list of a jam."""
        found = {n: getattr(self, n) for n in FIELDS["rb_step_info"] if n not in ("jam", "rungs")}
        found["energy"] = self.energy
        return found

    def __dir__(self) -> list[str]:
        return sorted([*FIELDS["rb_step_info"], "energy", "as_dict"])

    def __repr__(self) -> str:
        return (f"<info: {self.contacts} contacts, residual {self.residual:.1e}, penetration "
                f"{self.penetration:.1e} m, energy {self.energy:.6g} J, path {self.path!r}, "
                f"below_accuracy {self.below_accuracy}>")


class State:
    """All that a simulation needs to go on bit for bit, as bytes; can be pickled and compared."""

    __slots__ = ("data",)

    def __init__(self, data: bytes):
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __reduce__(self) -> Any:
        return (State, (self.data,))

    def __repr__(self) -> str:
        return f"<rattleback.State: {len(self.data)} bytes>"


class Hit(NamedTuple):
    """Where a ray meets a geom first: geom, name, distance [m], point, normal (world)."""
    geom: int
    name: str
    distance: float
    point: np.ndarray
    normal: np.ndarray


class Distance(NamedTuple):
    """Between two geoms: gap, geom1, geom2, pos1, pos2, normal. gap < 0 is the depth of their overlap,
    the normal points from 1 to 2."""
    gap: float
    geom1: int
    geom2: int
    pos1: np.ndarray
    pos2: np.ndarray
    normal: np.ndarray


class Impact(NamedTuple):
    """The next impact of a model. outcome: none, hit, overlap, grazes or unfinished."""
    outcome: str
    time: float
    geom1: int
    geom2: int
    pos: np.ndarray
    normal: np.ndarray


class Placed:
    """An element of a simulation: where it is now. `sim.body("trunk").pos`."""

    __slots__ = ("_sim", "element")

    def __init__(self, sim: Sim, element: Element):
        self._sim = sim
        self.element = element

    @property
    def id(self) -> int:
        return self.element.id

    @property
    def name(self) -> str:
        return self.element.name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.element, name)

    def __repr__(self) -> str:
        return f"<{self.element.kind} {self.name!r} of a Sim>"


class PlacedFrame(Placed):
    """What `sim.body(..)`, `sim.geom(..)` and `sim.site(..)` return: frame and velocity in the world at
    the present state."""

    __slots__ = ()

    def _row(self, field: str, width: int) -> np.ndarray:
        self._sim._update()
        return self._sim._array(f"{self.element.kind}_{field}")[self.id].reshape(-1)[:width]

    @property
    def pos(self) -> np.ndarray:
        """Origin, world [m]."""
        return self._row("p", 3)

    @property
    def rot(self) -> np.ndarray:
        """Rotation to the world, (3, 3)."""
        return self._row("R", 9).reshape(3, 3)

    @property
    def quat(self) -> np.ndarray:
        """The same as a quaternion w x y z."""
        return _quaternion(self.rot)

    def _body(self) -> int:
        kind = self.element.kind
        if kind == "body":
            return self.id
        return int(getattr(self._sim.model, f"{kind}_body")[self.id])

    @property
    def velocity(self) -> np.ndarray:
        """Angular velocity and velocity of the origin, world axes (6)."""
        return self._sim.point_velocity(self._body(), self.pos)

    @property
    def linvel(self) -> np.ndarray:
        """Velocity of the origin, world axes [m/s]."""
        return self.velocity[3:]

    @property
    def angvel(self) -> np.ndarray:
        """Angular velocity, world axes [rad/s]."""
        return self.velocity[:3]

    @property
    def contact_force(self) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque about the centre of mass of all contacts of the last step on the body
        [N], [N m], world axes."""
        self._sim._update()
        force, torque = np.empty(3), np.empty(3)
        lib.rb_contact_on_body(self._sim._m, self._sim._data(), self._body(),
                               pointer(force), pointer(torque))
        return force, torque


class PlacedJoint(Placed):
    """What `sim.joint(..)` returns: coordinates, velocities and forces of a joint."""

    __slots__ = ()

    @property
    def q(self) -> np.ndarray:
        """Coordinates [rad], [m]: a view that may be written."""
        first, count = self.element.coordinates
        return self._sim.q[first:first + count]

    @q.setter
    def q(self, value: Any) -> None:
        self.q[:] = value

    @property
    def v(self) -> np.ndarray:
        """Velocities [rad/s], [m/s]: a view that may be written."""
        first, count = self.element.dof
        return self._sim.v[first:first + count]

    @v.setter
    def v(self, value: Any) -> None:
        self.v[:] = value

    @property
    def tau(self) -> np.ndarray:
        """Applied forces [N m], [N]: a view that may be written."""
        first, count = self.element.dof
        return self._sim.tau[first:first + count]

    @tau.setter
    def tau(self, value: Any) -> None:
        self.tau[:] = value


class PlacedActuator(Placed):
    """What `sim.actuator(..)` returns: control and force of an actuator."""

    __slots__ = ()

    @property
    def ctrl(self) -> float:
        """Its control, or the first of several; may be written."""
        return float(self._sim.ctrl[self._first()])

    @ctrl.setter
    def ctrl(self, value: float) -> None:
        self._sim.ctrl[self._first()] = value

    def _first(self) -> int:
        """Its first control: PIDs, DC motors and orientation servos may have several, or none."""
        model = self._sim.model
        if model.act_ctrlnum[self.id] == 0:
            raise IndexError(f"actuator {self.name!r} has no control")
        return int(model.act_ctrladr[self.id])

    @property
    def force(self) -> float:
        """At the present state [N] or [N m]."""
        lib.rb_kinematics(self._sim._m, self._sim._data())
        lib.rb_velocity(self._sim._m, self._sim._data())
        lib.rb_actuation(self._sim._m, self._sim._data())
        return float(self._sim._array("act_force")[self._sim.model.act_outadr[self.id]])


def _quaternion(R: np.ndarray) -> np.ndarray:
    """Of a rotation, w >= 0."""
    K = np.array([[R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0],
                   R[1, 0] - R[0, 1]],
                  [0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
                  [0, 0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
                  [0, 0, 0, R[2, 2] - R[0, 0] - R[1, 1]]])
    q = np.linalg.eigh(K, UPLO="U")[1][:, -1]
    return q if q[0] >= 0.0 else -q


class Sim(Stepper):
    """One simulation of a model.

    q, v, act, ctrl, tau, mocap, mocap_v, wrench are live views of its state and inputs: they may be
    written, keep their owner alive and stay valid as long as they are held. `sensordata` and what
    `sim.sensor(name)` returns are read-only. A simulation belongs to one thread at a time; many of
    them run side by side, as steps release the GIL.

    key: keyframe to begin with; threads: over which the islands of a step are shared out, the bits do
    not depend on it; options: as of set_options, for all steps.
    """

    model: Model = None         # type: ignore[assignment]

    def __init__(self, model: Model, key: str | int | None = None, *, threads: int = 1,
                 lenient: bool | None = None, **options: Any):
        if not isinstance(model, Model):
            raise TypeError(f"model: expected a rattleback.Model, not {type(model).__name__}")
        refuse_physics(model, model.lenient if lenient is None else lenient)
        err = CError()
        address = lib.rb_sim_new(model._address, ctypes.byref(err))
        if not address:
            raise_new(err)
        self._bind(model, _own(address, model))
        self.threads = threads
        if options:
            self.set_options(**options)
        if key is not None or options:
            self.reset(key)

    def _bind(self, model: Model, handle: Handle) -> None:
        self.model = model
        self._handle = handle
        self._p = ctypes.c_void_p(handle.address)
        self._option_cache = {}
        self._given = {}
        self._arrays = {}
        self._threads = 1
        self._contact_most = -1
        self._contact_arguments: tuple[Any, ...] = (self._p, 0, 0, None, 0, None)
        lib.rb_sim_on_wait(self._p, _lib.HOST)
        data = self._data()
        sizes = {"q": model.nq, "v": model.nv}
        for name in _WRITABLE:
            shape = (sizes[name],) if name in sizes else None
            self._arrays[name] = _lib.field_view("rb_data", name, data, handle, True, shape)
        self._arrays["sensor"] = _lib.field_view("rb_data", "sensor", data, handle)

    def _data(self) -> int:
        return lib.rb_sim_data(self._p)

    @property
    def _m(self) -> int:
        """Address of its model: a world of a batch may have one of its own."""
        return lib.rb_sim_model(self._p)

    def _opts_address(self) -> int:
        return lib.rb_sim_opts(self._p)

    def _array(self, name: str) -> np.ndarray:
        """A read-only view of a field of the data whose length is that of the model."""
        found = self._arrays.get(name)
        if found is None:
            found = _lib.field_view("rb_data", name, self._data(), self._handle)
            self._arrays[name] = found
        return found

    def _update(self) -> None:
        lib.rb_sim_update(self._p)

    @property
    def threads(self) -> int:
        """Over which the islands of a step are shared out; may be set."""
        return self._threads

    @threads.setter
    def threads(self, count: int) -> None:
        count = check_count(count, "threads", 1, 256)
        if count == self._threads:
            return
        if not isinstance(self._handle, ThreadedHandle):
            raise ValueError("threads: a world of a batch has those of the batch")
        self._handle.is_forked()
        if lib.rb_sim_threads(self._p, count):
            raise MemoryError("threads cannot be started")
        self._threads = count

    def _alive(self) -> None:
        """Threads of its own after a fork."""
        if isinstance(self._handle, ThreadedHandle) and self._handle.is_forked() \
                and lib.rb_sim_threads(self._p, self._threads):
            raise MemoryError("threads cannot be started")

    # ---- time and start ----

    def lead(self, body: str | int, pose: Any, h: float | None = None) -> None:
        """Sets mocap_v so that a step of length h moves the mocap body to the pose (position,
        quaternion)."""
        which = int(self.model.body_mocap[self.model.index("body", body)])
        if which < 0:
            raise ValueError(f"{body}: is no mocap body")
        to = finite(pose, (7,), "pose")
        lib.rb_data_lead(self._data(), which, pointer(to),
                         self.timestep if h is None else number(h, "h"))

    @property
    def time(self) -> float:
        """[s]"""
        return _lib.read_double("rb_data", "time", self._data())

    @time.setter
    def time(self, value: float) -> None:
        at = self._data() + FIELDS["rb_data"]["time"].offset
        ctypes.c_double.from_address(at).value = number(value, "time")

    @property
    def timestep(self) -> float:
        """Length of a step [s]: the option h, or that of the model."""
        h = _lib.read_double("rb_step_opts", "h", self._opts_address())
        return h or self.model.timestep

    def reset(self, key: str | int | None = None) -> None:
        """Back to the reference configuration, or to a keyframe; loops are closed. Inputs become zero
        or those of the keyframe, options stay."""
        index = -1 if key is None else self.model.index("key", key)
        status = lib.rb_sim_reset(self._p, index)
        if status:
            self._fail(status, 0)

    # ---- steps ----

    def step(self, n: int = 1, **options: Any) -> None:
        """n steps, without the GIL. options: for this call, as of set_options.

        Raises StepError where a step has no certified answer: the state is as after the last good
        one. Ctrl-C ends a long call in the same way."""
        if self._threads > 1:
            self._alive()
        if n == 1 and type(n) is int and not options:
            status = _one(self._p)
            if status:
                self._fail(status, 0)
            return
        count = check_count(n)
        opts = self._options(options) if options else None
        done = ctypes.c_long()
        status = _step(self._p, ctypes.c_long(count), opts, ctypes.byref(done))
        if status:
            self._fail(status, done.value)

    def _fail(self, status: int, steps: int) -> None:
        err = lib.rb_sim_error(self._p).contents
        if status == Status.CANCELLED:
            _lib.raise_pending()
        if status == Status.NOMEM:
            raise MemoryError("out of memory in a step")
        code = Status(status)
        text = err.text.decode(errors="replace")
        message = (f"t = {self.time:.9g}: step {steps + 1}: {code.text}{': ' if text else ''}{text}"
                   "; the state is that before the step")
        kind = InputError if code == Status.BAD_INPUT else StepError
        raise kind(message, code, steps)

    @property
    def info(self) -> Info:
        """Report of the last step, with the energy of the state."""
        address = lib.rb_sim_info(self._p)
        dtype = _lib.dtype_of("rb_step_info")
        record = np.frombuffer(ctypes.string_at(address, dtype.itemsize), dtype)[0]
        return Info(record, self.energy)

    @property
    def hash(self) -> str:
        """Hash of the state, as `rattleback run --json` reports it."""
        return f"{lib.rb_data_hash(self._data()):016x}"

    def to_json(self) -> str:
        """State, inputs and all that was derived of them, as one JSON object."""
        return _lib.as_json("rb_data", self._data())

    def replay(self, fps: float = 60.0) -> Replay:
        """Records from now on; Replay.save writes it as a page, an animation or pictures.

        fps: frames for a second of simulated time; 0: each step is one. A later call begins another
        replay, and the first one ends there."""
        return Replay(self, fps)

    # ---- contacts and sensors ----

    @property
    def contacts(self) -> np.ndarray:
        """Contacts of the last step, with and without force: a structured array with geom1, geom2,
        name1, name2 (names of the geoms), body1, body2, mode (0 unknown, 1 open, 2 stick, 3 slide),
        gap [m], pos, frame (rows: normal from geom 1 to geom 2, two tangents), impulse [N s] and
        force [N] along and about them, slip [m/s]. Forces act on geom 2."""
        n = _contacts(*self._contact_arguments)
        if n > self._contact_most:
            self._contact_room(2 * n)
            n = _contacts(*self._contact_arguments)
        if n < 0:
            raise MemoryError("out of memory for contacts")
        # a copy of the bytes: NumPy copies structured arrays field by field
        dtype = self._contact_dtype
        return np.ndarray(n, dtype, bytearray(self._contact_bytes[:n * dtype.itemsize]))

    def _contact_room(self, capacity: int) -> None:
        dtype, names = _contact_layout(self.model)
        room = np.zeros(capacity * dtype.itemsize, np.uint8)
        self._contact_dtype, self._contact_most = dtype, capacity
        self._contact_bytes = room.data
        self._contact_arguments = (self._p, ctypes.c_int(capacity), ctypes.c_size_t(dtype.itemsize),
                                   pointer(names), ctypes.c_size_t(names.itemsize), pointer(room))

    def read_sensors(self) -> np.ndarray:
        """All sensors at the present state, after q, v or ctrl were written by hand."""
        lib.rb_sensors(self._m, self._data())
        return self.sensordata

    # ---- elements ----

    def body(self, which: str | int) -> PlacedFrame:
        """A body: its frame and velocity now, contact forces on it."""
        return PlacedFrame(self, self.model.body(which))

    def geom(self, which: str | int) -> PlacedFrame:
        """A geom: its frame and velocity now."""
        return PlacedFrame(self, self.model.geom(which))

    def site(self, which: str | int) -> PlacedFrame:
        """A site: its frame and velocity now."""
        return PlacedFrame(self, self.model.site(which))

    def joint(self, which: str | int) -> PlacedJoint:
        """A joint: its coordinates, velocities and applied forces."""
        return PlacedJoint(self, self.model.joint(which))

    def actuator(self, which: str | int) -> PlacedActuator:
        """An actuator: its control and force."""
        return PlacedActuator(self, self.model.actuator(which))

    # ---- copies ----

    def save(self) -> State:
        """The state, from which `restore` goes on bit for bit."""
        size = lib.rb_sim_save_size(self._p)
        buffer = ctypes.create_string_buffer(size)
        lib.rb_sim_save(self._p, buffer, size)
        return State(buffer.raw)

    def restore(self, state: State) -> None:
        """Back to a saved state of the same model."""
        if not isinstance(state, State):
            raise TypeError(f"state: expected what save() returned, not {type(state).__name__}")
        status = lib.rb_sim_restore(self._p, state.data, len(state.data))
        if status == Status.NOMEM:
            raise MemoryError("out of memory for the contacts of this state")
        if status:
            raise ValueError("state: belongs to another model or version")

    def copy(self) -> Sim:
        """Another simulation of the same model in the same state."""
        address = lib.rb_sim_copy(self._p)
        if not address:
            raise MemoryError("out of memory for a simulation")
        other = Sim.__new__(Sim)
        other._bind(self.model, ThreadedHandle(address, lib.rb_sim_free, lib.rb_sim_forget_threads,
                                               self._handle.keeps))
        other._given = dict(self._given)
        other.threads = self._threads
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Sim:
        return self.copy()

    def __getstate__(self) -> Any:
        return {"model": self._own_model(), "state": self.save(), "options": self._given,
                "threads": self._threads}

    def _own_model(self) -> Model:
        """Its model; of a world of a batch with parameters of its own, a copy that has them."""
        if self._m == self.model._address:
            return self.model
        return copied_model(self._m, self.model.lenient)

    def __setstate__(self, saved: Any) -> None:
        err = CError()
        model = saved["model"]
        address = lib.rb_sim_new(model._address, ctypes.byref(err))
        if not address:
            raise_new(err)
        self._bind(model, _own(address, model))
        self.threads = saved["threads"]
        self.set_options(**saved["options"])
        self.restore(saved["state"])

    # ---- dynamics ----

    @property
    def energy(self) -> float:
        """Kinetic and potential energy of the state [J]."""
        return float(lib.rb_sim_energy(self._p, None, None))

    @property
    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy [J]."""
        kinetic, potential = ctypes.c_double(), ctypes.c_double()
        lib.rb_sim_energy(self._p, ctypes.byref(kinetic), ctypes.byref(potential))
        return kinetic.value, potential.value

    def mass(self) -> np.ndarray:
        """Mass matrix M (nv, nv)."""
        m, d, out = self._m, self._data(), np.empty((self.model.nv, self.model.nv))
        lib.rb_kinematics(m, d)
        lib.rb_mass(m, d)
        lib.rb_mass_dense(m, d, pointer(out))
        return out

    def bias(self) -> np.ndarray:
        """c of M qdd + c = tau: Coriolis, centrifugal forces, minus gravity (nv)."""
        m, d = self._m, self._data()
        lib.rb_kinematics(m, d)
        lib.rb_velocity(m, d)
        lib.rb_bias(m, d)
        return self._array("c").copy()

    def passive(self) -> np.ndarray:
        """Springs, dampers and gravity compensation (nv)."""
        m, d = self._m, self._data()
        lib.rb_kinematics(m, d)
        lib.rb_velocity(m, d)
        lib.rb_passive(m, d)
        return self._array("passive")[:self.model.nv].copy()

    def actuation(self) -> np.ndarray:
        """Forces of the actuators on the dofs (nv)."""
        m, d = self._m, self._data()
        lib.rb_kinematics(m, d)
        lib.rb_velocity(m, d)
        lib.rb_actuation(m, d)
        return self._array("actuation")[:self.model.nv].copy()

    def inverse_dynamics(self, qacc: Any = None) -> np.ndarray:
        """tau = M qacc + c (nv): contacts, springs and actuators are no part of it."""
        m, d, out = self._m, self._data(), np.empty(self.model.nv)
        a = None if qacc is None else finite(qacc, (self.model.nv,), "qacc")
        lib.rb_kinematics(m, d)
        lib.rb_velocity(m, d)
        lib.rb_inverse(m, d, pointer(a), pointer(out))
        return out

    def forward_dynamics(self, tau: Any = None) -> np.ndarray:
        """qacc = M^-1 (tau - c) (nv). tau None: that of the simulation with its springs, dampers and
        actuators. Contacts are no part of it."""
        m, d, out = self._m, self._data(), np.empty(self.model.nv)
        if tau is None:
            tau = self.tau + self.passive() + self.actuation()
        t = finite(tau, (self.model.nv,), "tau")
        if lib.rb_forward(m, d, pointer(t), pointer(out)):
            raise ValueError("a moving part has no inertia: M is singular")
        return out

    def jacobian(self, body: str | int, point: Any = None) -> np.ndarray:
        """(6, nv): rows 0..2 give the angular velocity of the body, 3..5 the velocity of the point,
        world axes. point: in world coordinates; None: the origin of the body."""
        i, at = self._point(body, point)
        out = np.empty((6, self.model.nv))
        lib.rb_jacobian(self._m, self._data(), i, pointer(at), pointer(out))
        return out

    def point_velocity(self, body: str | int, point: Any = None) -> np.ndarray:
        """Angular velocity and velocity of a point of a body, world axes (6)."""
        i, at = self._point(body, point)
        out = np.empty(6)
        lib.rb_point_velocity(self._m, self._data(), i, pointer(at), pointer(out))
        return out

    def _point(self, body: str | int, point: Any) -> tuple[int, np.ndarray]:
        self._update()
        i = self.model.index("body", body)
        at = self._array("body_p")[i] if point is None else point
        return i, finite(at, (3,), "point")

    def frames(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Origin (3) and rotation (3, 3) of every body, world axes, by name."""
        self._update()
        p, R = self._array("body_p").copy(), self._array("body_R").reshape(-1, 3, 3).copy()
        return {name: (p[i], R[i]) for i, name in enumerate(self.model.body_names)}

    def compliance(self, points: Any) -> np.ndarray:
        """W = J M^-1 J' of the velocities of k points, (3k, 3k), world axes. points: pairs (body,
        point in world coordinates)."""
        self._update()
        dtype = np.dtype({"names": ["body", "pos"], "formats": ["i4", ("f8", 3)],
                          "offsets": [0, 8], "itemsize": 32})
        records = np.zeros(len(points), dtype)
        for k, (body, pos) in enumerate(points):
            records[k] = (self.model.index("body", body), finite(pos, (3,), "point"))
        m, d, out = self._m, self._data(), np.empty((3 * len(points),) * 2)
        if lib.rb_aba_factor(m, d, None, None):
            raise ValueError("a moving part has no inertia: M is singular")
        lib.rb_upsilon(m, d)
        if lib.rb_compliance(m, d, len(points), pointer(records), pointer(out)):
            raise MemoryError("out of memory")
        return out

    def center_of_mass(self) -> np.ndarray:
        """Of all bodies [m]."""
        out = np.empty(3)
        lib.rb_kinematics(self._m, self._data())
        lib.rb_center_of_mass(self._m, self._data(), pointer(out))
        return out

    def momentum(self) -> tuple[np.ndarray, np.ndarray]:
        """Linear momentum, and angular momentum about the centre of mass, world axes."""
        com, p, L = np.empty(3), np.empty(3), np.empty(3)
        lib.rb_kinematics(self._m, self._data())
        lib.rb_velocity(self._m, self._data())
        lib.rb_momentum(self._m, self._data(), pointer(com), pointer(p), pointer(L))
        return p, L

    # ---- collision ----

    def gaps(self) -> np.ndarray:
        """How far geoms that may touch are from each other: a structured array with geom1, geom2
        and at (gap, pos1, pos2, normal), all points of each pair."""
        n, status = ctypes.c_int(), ctypes.c_int()
        address = lib.rb_sim_gaps(self._p, float("inf"), ctypes.byref(n), ctypes.byref(status))
        if status.value:
            raise ValueError(_lib.sentence(lib.rb_sim_error(self._p).contents, status.value))
        dtype = _lib.dtype_of("rb_contact")
        data = ctypes.string_at(address, n.value * dtype.itemsize) if n.value else b""
        lib.rb_flat_free(address)
        return np.frombuffer(bytearray(data), dtype)

    def distance(self, geom1: str | int, geom2: str | int, reach: float = np.inf) -> Distance | None:
        """Between two geoms, whether or not they may collide; None: farther than reach."""
        return self._distance("geom", geom1, geom2, reach)

    def body_distance(self, body1: str | int, body2: str | int,
                      reach: float = np.inf) -> Distance | None:
        """The least between geoms of two bodies."""
        return self._distance("body", body1, body2, reach)

    def _distance(self, kind: str, one: Any, two: Any, reach: float) -> Distance | None:
        self._update()
        out = np.zeros(1, _lib.dtype_of("rb_distance"))
        call = getattr(lib, f"rb_{kind}_distance")
        status = call(self._m, self._data(), self.model.index(kind, one),
                      self.model.index(kind, two), reach, pointer(out))
        if status:
            raise ValueError(f"distance of {one} and {two}: {Status(status).text}")
        if out["geom1"][0] < 0:
            return None
        at = out["at"][0]
        return Distance(float(at["gap"]), int(out["geom1"][0]), int(out["geom2"][0]),
                        at["pos1"].copy(), at["pos2"].copy(), at["normal"].copy())

    def ray(self, start: Any, direction: Any) -> Hit | None:
        """The nearest geom that a ray meets: geom, name, distance [m], whatever the length of the direction,
        point, normal; None: nothing."""
        self._update()
        a, b = finite(start, (3,), "start"), finite(direction, (3,), "direction")
        out = np.zeros(1, _lib.dtype_of("rb_ray_hit"))
        status = lib.rb_ray(self._m, self._data(), pointer(a), pointer(b), None,
                            pointer(out))
        if status:
            raise ValueError(f"ray: {Status(status).text}: expected finite numbers, a direction "
                             "that has a length")
        hit = out[0]
        if hit["geom"] < 0:
            return None
        return Hit(int(hit["geom"]), self.model.name("geom", int(hit["geom"])),
                   float(hit["distance"]), hit["point"].copy(), hit["normal"].copy())

    def time_of_impact(self, horizon: float) -> Impact:
        """When geoms first touch within the horizon [s], while free bodies fly and joints keep their
        velocities."""
        self._update()
        out, err = np.zeros(1, _lib.dtype_of("rb_impact_time")), CError()
        status = lib.rb_impact_predict(self._m, self._data(), horizon, pointer(out),
                                       ctypes.byref(err))
        if status:
            raise ValueError(_lib.sentence(err, status))
        toi = out["toi"][0]
        words = ("none", "hit", "overlap", "grazes", "unfinished")
        return Impact(words[int(toi["outcome"])], float(toi["time"]), int(out["geom1"][0]),
                      int(out["geom2"][0]), toi["at"]["pos1"].copy(), toi["at"]["normal"].copy())

    def contact_between(self, body1: str | int, body2: str | int | None = None) -> float:
        """Normal force [N] between two bodies in the last step; body2 None: all others."""
        two = -1 if body2 is None else self.model.index("body", body2)
        return float(lib.rb_contact_between(self._m, self._data(),
                                            self.model.index("body", body1), two))

    def __repr__(self) -> str:
        return f"<rattleback.Sim at t = {self.time:.9g} s of {self.model!r}>"


def _own(address: int, model: Model) -> ThreadedHandle:
    return ThreadedHandle(address, lib.rb_sim_free, lib.rb_sim_forget_threads, model._handle)


def _contact_layout(model: Model) -> tuple[np.dtype, np.ndarray]:
    """dtype of contacts and the names of the geoms, kept with the model."""
    found = model._cache.get("contacts")
    if found is None:
        names = np.array(model.geom_names or [""])
        if names.dtype.itemsize == 0:
            names = names.astype("U1")
        base = _lib.dtype_of("rb_contact_force")
        assert base.names and base.fields
        formats: list[Any] = [base.fields[n][0] for n in base.names]
        formats[base.names.index("frame")] = ("f8", (3, 3))
        offsets = [base.fields[n][1] for n in base.names]
        size = base.itemsize
        dtype = np.dtype({"names": [*base.names, "name1", "name2"],
                          "formats": [*formats, names.dtype, names.dtype],
                          "offsets": [*offsets, size, size + names.itemsize],
                          "itemsize": size + 2 * names.itemsize})
        found = model._cache["contacts"] = (dtype, names)
    return found
