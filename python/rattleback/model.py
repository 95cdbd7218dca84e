"""Models: read from files, texts or a Spec, shared by simulations."""
from __future__ import annotations

import ctypes
import difflib
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _lib
from ._fields import ModelFields
from ._lib import CError, FIELDS, Handle, lib

if TYPE_CHECKING:
    from .spec import Spec

KINDS = ("body", "joint", "geom", "site", "mesh", "hfield", "equality", "tendon", "actuator",
         "exclude", "pair", "key", "custom", "sensor")

# how the fields of an element begin in rb_model
PREFIX = {"body": "body_", "joint": "jnt_", "geom": "geom_", "site": "site_", "mesh": "mesh_",
          "hfield": "hfield_", "equality": "eq_", "tendon": "tendon_", "actuator": "act_",
          "exclude": "exclude_", "pair": "pair_", "key": "key_", "custom": "custom_",
          "sensor": "sensor_"}

JOINT_TYPES = ("free", "ball", "slide", "hinge")
GEOM_TYPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")


class ModelWarning(NamedTuple):
    """Something that a file asks for and that has no effect, or that one should know. `physics`: 1:
    it changes the motion; 2: a shape stands in for another one, or a sensor reads zero or is left
    out."""
    file: str
    line: int
    element: str
    text: str
    physics: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: warning: {self.element}: {self.text}"


def numbers(value: Any, shape: tuple[int, ...] | None, name: str) -> np.ndarray:
    """The value as contiguous doubles of this shape; what is something else raises."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" and not (array.dtype.kind == "b" or array.size == 0):
        raise TypeError(f"{name}: expected numbers, not {array.dtype}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name}: expected the shape {shape}, not {array.shape}")
    return np.asarray(array, dtype=np.float64, order="C")


def finite(value: Any, shape: tuple[int, ...] | None, name: str) -> np.ndarray:
    """The same, where numbers that are not finite raise and are named."""
    array = numbers(value, shape, name)
    if not np.isfinite(array).all():
        first = np.argwhere(~np.isfinite(array))[0]
        at = f"[{', '.join(map(str, first))}]" if len(first) else ""
        word = "NaN" if np.isnan(array[tuple(first)]) else "infinite"
        raise _lib.InputError(f"{name}{at} is not finite but {word}", _lib.Status.BAD_INPUT)
    return array


def number(value: Any, name: str) -> float:
    """A single finite number."""
    return float(finite(value, (), name))


def pointer(array: np.ndarray | None) -> Any:
    return None if array is None else ctypes.c_void_p(array.__array_interface__["data"][0])


class Element:
    """An element of a model by name or index. Its attributes are the fields of the model for its
    kind: `model.joint("hip").range` is `model.jnt_range[i]`."""

    __slots__ = ("model", "kind", "id")

    def __init__(self, model: Model, kind: str, index: int):
        self.model = model
        self.kind = kind
        self.id = index

    @property
    def name(self) -> str:
        """As in the file."""
        return self.model.name(self.kind, self.id)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        field = PREFIX[self.kind] + attribute
        if field in FIELDS["rb_model"] and FIELDS["rb_model"][field].pointer:
            value = getattr(self.model, field)[self.id]
            return value.item() if isinstance(value, np.generic) and value.shape == () \
                and value.dtype.names is None else value
        if self.kind in ("geom", "pair") and attribute in FIELDS["rb_material"]:
            return getattr(self.model, PREFIX[self.kind] + "material")[self.id][attribute].item()
        if self.kind == "joint" and "dof_" + attribute in FIELDS["rb_model"]:
            adr, count = self.dof
            return getattr(self.model, "dof_" + attribute)[adr:adr + count]
        raise AttributeError(f"a {self.kind} has no {attribute}; it has "
                             + ", ".join(sorted(self.__dir__())))

    def __dir__(self) -> list[str]:
        prefix = PREFIX[self.kind]
        own = [f[len(prefix):] for f, x in FIELDS["rb_model"].items()
               if f.startswith(prefix) and x.pointer]
        if self.kind in ("geom", "pair"):
            own += list(FIELDS["rb_material"])
        return sorted(set(own + ["id", "kind", "model", "name"]))

    @property
    def dof(self) -> tuple[int, int]:
        """Joints: first entry in v and how many it has, (first, count)."""
        count = (6, 3, 1, 1)[int(self.model.jnt_type[self.id])]
        return int(self.model.jnt_dofadr[self.id]), count

    @property
    def coordinates(self) -> tuple[int, int]:
        """Joints: first entry in q and how many it has, (first, count)."""
        count = (7, 4, 1, 1)[int(self.model.jnt_type[self.id])]
        return int(self.model.jnt_qadr[self.id]), count

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Element) and self.model is other.model
                and (self.kind, self.id) == (other.kind, other.id))

    def __hash__(self) -> int:
        return hash((id(self.model), self.kind, self.id))

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}, {self.id} of {self.model!r}>"


class Model(ModelFields):
    """A compiled model: constant, shared by any number of simulations and threads.

    A file that asks for physics that is not supported makes a model with warnings; simulations of
    it raise ModelError unless lenient is set, for the model or for them.

    Its arrays are read-only views of the library: `model.body_mass`, `model.jnt_range`,
    `model.qpos0`, ..; `dir(model)` lists them, `Model.describe(name)` says what one is. Sizes are
    `model.nq`, `model.nv`, `model.nu`, `model.nbody`, ..

    A model can be pickled, copied (`model.copy()`) and changed by the `set_` calls, which is meant
    for copies: simulations that share the model feel it from their next step on.
    """

    lenient: bool = False

    def __init__(self, spec: Handle | Spec, lenient: bool = False):
        self._handle: Handle = spec if isinstance(spec, Handle) else _compile(spec)
        self._address = self._handle.address
        self.lenient = lenient
        self._cache: dict[str, Any] = {}

    # ---- making one ----

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, packages: Sequence[str] = (),
             sandbox: str | None = None, floating_base: bool = False,
             friction: float | None = None, ground: float | None = None,
             snap_angles: bool = False, keep_overlap: bool = False,
             lenient: bool = False) -> Model:
        """Reads an MJCF or URDF file, as `rattleback run` does.

        packages: folders, or NAME=FOLDER, in which package:// is looked up; sandbox: no file outside
        of this folder is opened; floating_base: the root gets a free joint; friction: of the geoms
        of a URDF; ground: height of a plane that is added; snap_angles: frames that miss a right angle
        by rounding are turned to it; keep_overlap: links that overlap wherever
        their joints stand stay in contact; lenient: simulate also where the file asks for physics
        that is not there. Raises ModelError with file and line.
        """
        from .spec import Spec
        spec = Spec.load(path, packages=packages, sandbox=sandbox, floating_base=floating_base,
                         friction=friction, ground=ground, snap_angles=snap_angles)
        return spec.compile(keep_overlap=keep_overlap, lenient=lenient)

    @classmethod
    def from_string(cls, xml: str | bytes, *, path: str | os.PathLike[str] | None = None,
                    packages: Sequence[str] = (), sandbox: str | None = None,
                    floating_base: bool = False, friction: float | None = None,
                    ground: float | None = None, snap_angles: bool = False,
                    keep_overlap: bool = False, lenient: bool = False) -> Model:
        """The same for a text. `path` names it in messages; meshes are looked for below its folder
        and nowhere else."""
        from .spec import Spec
        spec = Spec.from_string(xml, path=path, packages=packages, sandbox=sandbox,
                                floating_base=floating_base, friction=friction, ground=ground,
                                snap_angles=snap_angles)
        return spec.compile(keep_overlap=keep_overlap, lenient=lenient)

    @classmethod
    def from_spec(cls, spec: Spec, *, keep_overlap: bool = False, lenient: bool = False) -> Model:
        """Compiles a Spec, which stays as it is and can be edited further."""
        return spec.compile(keep_overlap=keep_overlap, lenient=lenient)

    @classmethod
    def from_bytes(cls, data: bytes, lenient: bool = False) -> Model:
        """A model from `bytes(model)` of the same version."""
        address = lib.rb_flat_model_from(data, len(data))
        if not address:
            raise ModelError_("the bytes are not a model of this version")
        return cls(Handle(address, _free_model), lenient)

    def __bytes__(self) -> bytes:
        size = ctypes.c_size_t.from_address(self._address + FIELDS["rb_model"]["bytes"].offset)
        return ctypes.string_at(self._address, size.value)

    def __reduce__(self) -> Any:
        return (Model.from_bytes, (bytes(self), self.lenient))

    def copy(self) -> Model:
        """A model of its own, to be changed by the set_ calls."""
        return copied_model(self._address, self.lenient)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Model:
        return self.copy()

    # ---- fields ----

    def _field(self, name: str) -> Any:
        field = FIELDS["rb_model"].get(name)
        if field is None or name.startswith("_"):
            raise AttributeError(f"a model has no {name}"
                                 + _suggest(name, list(FIELDS["rb_model"])))
        cached = self._cache.get(name)
        if cached is not None:
            return cached
        if not field.pointer and not field.lengths:
            if field.type == _lib.DOUBLE:
                return _lib.read_double("rb_model", name, self._address)
            if field.type == _lib.INT:
                return _lib.read_int("rb_model", name, self._address)
        value = _lib.field_view("rb_model", name, self._address, self._handle)
        self._cache[name] = value
        return value

    if not TYPE_CHECKING:       # a checker has ModelFields, and finds names that are not there
        __getattr__ = _field

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            change = "; the set_ calls change a copy" if name in FIELDS["rb_model"] else ""
            raise AttributeError(f"{name} of a model cannot be set{change}")
        object.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) | set(FIELDS["rb_model"]))

    @staticmethod
    def describe(name: str) -> str:
        """What a field of the model is."""
        field = FIELDS["rb_model"][name]
        return f"{field.type_name} {field.name}: {field.text}"

    def to_json(self) -> str:
        """All fields of the model as one JSON object."""
        return _lib.as_json("rb_model", self._address)

    @property
    def timestep(self) -> float:
        """Length of a step [s], unless rb.step or the option h says otherwise."""
        at = FIELDS["rb_model"]["option"].offset + FIELDS["rb_option"]["timestep"].offset
        return ctypes.c_double.from_address(self._address + at).value

    @timestep.setter
    def timestep(self, h: float) -> None:
        if not number(h, "timestep") > 0.0:
            raise ValueError(f"timestep: expected seconds > 0, not {h}")
        at = FIELDS["rb_model"]["option"].offset + FIELDS["rb_option"]["timestep"].offset
        ctypes.c_double.from_address(self._address + at).value = h

    @property
    def gravity(self) -> np.ndarray:
        """[m/s^2], read-only: set_gravity changes it."""
        at = FIELDS["rb_model"]["option"].offset + FIELDS["rb_option"]["gravity"].offset
        return _lib.view(self._address + at, (3,), "f8", self._handle, False)

    @property
    def warnings(self) -> list[ModelWarning]:
        """What the files ask for without effect, with file and line."""
        def text(k: int, field: str) -> str:
            return self._text(int(getattr(self, field)[k]))
        return [ModelWarning(text(k, "warning_file"), int(self.warning_line[k]),
                             text(k, "warning_element"), text(k, "warning_text"),
                             int(self.warning_physics[k])) for k in range(self.nwarning)]

    def _text(self, offset: int) -> str:
        at = ctypes.c_void_p.from_address(self._address + FIELDS["rb_model"]["names"].offset).value
        return ctypes.string_at((at or 0) + offset).decode(errors="replace")

    # ---- names ----

    def count(self, kind: str) -> int:
        """How many elements of a kind there are: "body", "joint", .."""
        return int(lib.rb_model_count(self._address, KINDS.index(kind)))

    def name(self, kind: str, index: int) -> str:
        """Of an element; those without one are called by their kind and index."""
        buffer = ctypes.create_string_buffer(256)
        found = lib.rb_model_name(self._address, KINDS.index(kind), index, buffer, 256)
        return found.decode(errors="replace")

    def names(self, kind: str) -> list[str]:
        """Names of all elements of a kind, in their order."""
        cached = self._cache.get("names " + kind)
        if cached is None:
            cached = [self.name(kind, i) for i in range(self.count(kind))]
            self._cache["names " + kind] = cached
        return list(cached)

    @property
    def body_names(self) -> list[str]:
        """Names of all bodies, in their order."""
        return self.names("body")

    @property
    def joint_names(self) -> list[str]:
        """Names of all joints, in their order."""
        return self.names("joint")

    @property
    def geom_names(self) -> list[str]:
        """Names of all geoms, in their order."""
        return self.names("geom")

    @property
    def site_names(self) -> list[str]:
        """Names of all sites, in their order."""
        return self.names("site")

    @property
    def actuator_names(self) -> list[str]:
        """Names of all actuators, in their order."""
        return self.names("actuator")

    @property
    def sensor_names(self) -> list[str]:
        """Names of all sensors, in their order."""
        return self.names("sensor")

    @property
    def key_names(self) -> list[str]:
        """Names of all keyframes, in their order."""
        return self.names("key")

    def index(self, kind: str, which: str | int | Element) -> int:
        """The index of an element given by its name, or by its index."""
        if isinstance(which, Element):
            if which.kind != kind:
                raise TypeError(f"expected a {kind}, not {which!r}")
            return which.id
        if isinstance(which, str):
            found = lib.rb_model_find(self._address, KINDS.index(kind), which.encode())
            if found < 0:                # joints and bodies without a name have one all the same
                names = self.names(kind)
                if which and which in names:
                    return names.index(which)
                raise KeyError(f"no {kind} is called {which!r}{_suggest(which, names)}")
            return int(found)
        if isinstance(which, (bool, np.bool_)) or not isinstance(which, (int, np.integer)):
            raise TypeError(f"expected the name or the index of a {kind}, not {which!r}")
        i = int(which)
        count = self.count(kind)
        if not -count <= i < count:
            raise IndexError(f"{kind} {i}: the model has {count}")
        return i % count

    def body(self, which: str | int) -> Element:
        """A body by name or index."""
        return Element(self, "body", self.index("body", which))

    def joint(self, which: str | int) -> Element:
        """A joint by name or index."""
        return Element(self, "joint", self.index("joint", which))

    def geom(self, which: str | int) -> Element:
        """A geom by name or index."""
        return Element(self, "geom", self.index("geom", which))

    def site(self, which: str | int) -> Element:
        """A site by name or index."""
        return Element(self, "site", self.index("site", which))

    def actuator(self, which: str | int) -> Element:
        """An actuator by name or index."""
        return Element(self, "actuator", self.index("actuator", which))

    def sensor(self, which: str | int) -> Element:
        """A sensor by name or index."""
        return Element(self, "sensor", self.index("sensor", which))

    def tendon(self, which: str | int) -> Element:
        """A tendon by name or index."""
        return Element(self, "tendon", self.index("tendon", which))

    def equality(self, which: str | int) -> Element:
        """An equality by name or index."""
        return Element(self, "equality", self.index("equality", which))

    def key(self, which: str | int) -> Element:
        """A keyframe by name or index."""
        return Element(self, "key", self.index("key", which))

    # ---- changes ----

    def set_friction(self, geom: str | int, mu: float) -> None:
        """Sliding coefficient of a geom. Of two geoms the larger counts, a <pair> outweighs both."""
        err = CError()
        self._changed(lib.rb_model_set_friction(self._address, self.index("geom", geom), float(mu),
                                                ctypes.byref(err)), err)

    def set_restitution(self, geom: str | int, e: float) -> None:
        """Coefficient of restitution of a geom, 0 .. 1."""
        err = CError()
        self._changed(lib.rb_model_set_restitution(self._address, self.index("geom", geom), e,
                                                   ctypes.byref(err)), err)

    def set_mass(self, body: str | int, mass: float) -> None:
        """Mass of a body [kg]; its inertia changes in proportion."""
        err = CError()
        self._changed(lib.rb_model_set_mass(self._address, self.index("body", body), mass,
                                            ctypes.byref(err)), err)

    def set_gravity(self, gravity: Any) -> None:
        """[m/s^2]"""
        err, g = CError(), finite(gravity, (3,), "gravity")
        self._changed(lib.rb_model_set_gravity(self._address, pointer(g), ctypes.byref(err)), err)

    def set_gain(self, actuator: str | int, gain: Any, bias: Any) -> None:
        """Gains of an actuator: force = (gain . (1, l, ldot)) ctrl + bias . (1, l, ldot)."""
        err = CError()
        g, b = finite(gain, (3,), "gain"), finite(bias, (3,), "bias")
        self._changed(lib.rb_model_set_gain(self._address, self.index("actuator", actuator),
                                            pointer(g), pointer(b), ctypes.byref(err)), err)

    @staticmethod
    def _changed(status: int, err: CError) -> None:
        if status:
            raise ValueError(_lib.sentence(err, status))

    # ---- coordinates ----

    def integrate(self, q: Any, v: Any, h: float) -> np.ndarray:
        """q (+) h v: quaternions by the exponential map."""
        q, v = finite(q, (self.nq,), "q"), finite(v, (self.nv,), "v")
        out = np.empty(self.nq)
        lib.rb_integrate(self._address, pointer(q), pointer(v), number(h, "h"), pointer(out))
        return out

    def difference(self, q0: Any, q1: Any) -> np.ndarray:
        """The v that leads from q0 to q1 in one second."""
        q0, q1 = finite(q0, (self.nq,), "q0"), finite(q1, (self.nq,), "q1")
        out = np.empty(self.nv)
        lib.rb_difference(self._address, pointer(q0), pointer(q1), pointer(out))
        return out

    def __repr__(self) -> str:
        return (f"<rattleback.Model: {self.nbody - 1} bodies, nq {self.nq}, nv {self.nv}, nu "
                f"{self.nu}, {self.ngeom} geoms, {self.mass:.6g} kg, step {self.timestep:g} s>")


ModelError_ = _lib.ModelError


def _compile(spec: Any) -> Handle:
    from .spec import Spec
    if not isinstance(spec, Spec):
        raise TypeError("a Model is made by Model.load(path), Model.from_string(xml) or of a Spec, not "
                        f"of {type(spec).__name__}")
    return spec.compile()._handle


def copied_model(address: int, lenient: bool) -> Model:
    """A copy of the model of the library at this address."""
    copy = lib.rb_model_copy(address, None)
    if not copy:
        raise MemoryError("out of memory for a model")
    return Model(Handle(copy, _free_model), lenient)


def _free_model(address: Any) -> None:
    lib.rb_model_free(address, None)


def _suggest(name: str, known: Iterable[str]) -> str:
    known = [k for k in known if k]
    close = difflib.get_close_matches(name, known, 3)
    if close:
        return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    few = ", ".join(known[:12]) + (", .." if len(known) > 12 else "")
    return f"; there are: {few}" if known else "; there is none"
