"""Models that can still be edited."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import _lib
from ._lib import CError, FIELDS, Field, Handle, lib
from .model import (GEOM_TYPES, JOINT_TYPES, KINDS, Model, _free_model, _suggest, finite, number,
                    numbers)

# kinds that can be added here; height fields come from files
EDITABLE = tuple(k for k in KINDS if k != "hfield")

_WORDS: dict[tuple[str, str], Sequence[str]] = {
    ("joint", "type"): JOINT_TYPES,
    ("geom", "type"): GEOM_TYPES,
    ("site", "type"): GEOM_TYPES,
    ("equality", "type"): ("connect", "weld", "joint", "tendon", "hinge", "slide", "chain"),
    ("actuator", "transmission"): ("joint", "joint-in-parent", "tendon", "site", "slider-crank"),
    ("sensor", "object"): ("none", "body", "xbody", "geom", "site", "joint", "tendon", "actuator",
                           "subtree"),
}

# whose index a number is
_REFERENCES = {("body", "parent"): "body", ("joint", "body"): "body", ("geom", "body"): "body",
               ("site", "body"): "body", ("exclude", "body1"): "body", ("exclude", "body2"): "body",
               ("pair", "geom1"): "geom", ("pair", "geom2"): "geom", ("geom", "asset"): "mesh",
               ("sensor", "site"): "site", ("actuator", "reference"): "site"}


# rows of arrays of records: a path of a spatial tendon, a chain of joints
_RECORD_TYPES: dict[str, Sequence[str]] = {"rb_wrap_def": ("site", "geom", "pulley"),
                                           "rb_chain_joint": JOINT_TYPES}
_RECORD_DEFAULTS: dict[str, dict[str, Any]] = {
    "rb_wrap_def": {"side": -1, "divisor": 1.0}, "rb_chain_joint": {"joint": -1}}


def _sensor_words() -> list[str]:
    lib.rb_sensor_word.restype = ctypes.c_char_p
    words: list[str] = []
    while (word := lib.rb_sensor_word(len(words))) and word.decode() not in words:
        words.append(word.decode())
    return words


_WORDS[("sensor", "type")] = _sensor_words()


class SpecElement:
    """An element of a Spec; its attributes are the fields of its description in rattleback/spec.h,
    and may be set: `spec.geom("foot").friction = 0.8`. Words stand for types, names for indices."""

    __slots__ = ("_spec", "kind", "id")

    def __init__(self, spec: Spec, kind: str, index: int):
        object.__setattr__(self, "_spec", spec)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "id", index)

    def _address(self) -> int:
        return getattr(lib, f"rb_spec_{self.kind}")(self._spec._handle.address, self.id)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        offset, field = _find(self.kind, name)
        at = self._address() + offset
        if field.type == _lib.TEXT:
            text = ctypes.c_char_p.from_address(at).value
            return text.decode(errors="replace") if text else ""
        if field.pointer:
            return _lib.field_view(field.owner, field.name, at - field.offset, None).copy()
        value = _lib.view(at, tuple(f for f, _ in field.lengths) or (1,),
                          _lib._NUMPY[field.type], None, False).copy()
        if field.lengths:
            return value
        words = _WORDS.get((self.kind, name))
        number = value[0].item()
        return words[number] if words else number

    def __setattr__(self, name: str, value: Any) -> None:
        offset, field = _find(self.kind, name)
        if field.type == _lib.TEXT or field.pointer:
            raise AttributeError(f"{name} of a {self.kind} is given when it is added")
        _store(self._spec, self.kind, name, field, self._address() + offset, value)

    def __dir__(self) -> list[str]:
        return sorted(_names(self.kind)) + ["id", "kind"]

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name!r}, {self.id} of a Spec>"


def _struct(kind: str) -> str:
    return f"rb_{kind}_def"


# parts of a description whose fields are named as if they were its own
_PARTS = ("pose", "material")


def _names(kind: str) -> list[str]:
    own = FIELDS[_struct(kind)]
    names = [n for n, f in own.items() if f.type != _lib.STRUCT or f.pointer]
    for part in _PARTS:
        if part in own:
            names += [n for n in FIELDS[own[part].type_name] if n not in own]
    return names


def _find(kind: str, name: str) -> tuple[int, Field]:
    """Offset and field of a name in the description of a kind."""
    own = FIELDS[_struct(kind)]
    if name in own and (own[name].type != _lib.STRUCT or own[name].pointer):
        return own[name].offset, own[name]
    for part in _PARTS:
        if part in own and name in FIELDS[own[part].type_name]:
            field = FIELDS[own[part].type_name][name]
            return own[part].offset + field.offset, field
    raise AttributeError(f"a {kind} has no {name}{_suggest(name, _names(kind))}")


def _store(spec: Spec, kind: str, name: str, field: Field, at: int, value: Any) -> None:
    """Writes a number, a word, a name or a vector to the address."""
    words, reference = _WORDS.get((kind, name)), _REFERENCES.get((kind, name))
    if isinstance(value, str) and words:
        if value not in words:
            raise ValueError(f"{name} {value!r}: expected one of {', '.join(words)}")
        value = words.index(value)
    elif isinstance(value, str) and (reference or (kind, name) == ("actuator", "target")):
        value = spec.index(reference or "joint", value)
    elif isinstance(value, SpecElement):
        value = value.id
    shape = tuple(f for f, _ in field.lengths)
    array = numbers(value, shape, name)
    if field.type != _lib.DOUBLE and not np.array_equal(array, np.floor(array)):
        raise TypeError(f"{name}: expected a whole number, not {value!r}")
    target = _lib.view(at, shape or (1,), _lib._NUMPY[field.type], None, True)
    target[...] = array if shape else array.reshape(1)


class Spec:
    """A model that can still be edited: read from a file or built by hand, compiled to a Model.

        spec = Spec()
        ball = spec.add_body(name="ball", pos=[0, 0, 1])
        spec.add_joint(body=ball, type="free")
        spec.add_geom(body=ball, type="sphere", size=[0.1, 0, 0])
        model = spec.compile()
    """

    def __init__(self, _handle: Handle | None = None):
        if _handle is None:
            address = lib.rb_spec_new(None)
            if not address:
                raise MemoryError("out of memory for a spec")
            _handle = Handle(address, lib.rb_spec_free)
        self._handle = _handle

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Spec:
        """Reads an MJCF or URDF file; options as of Model.load."""
        return cls._read(os.fsdecode(path), None, **options)

    @classmethod
    def from_string(cls, xml: str | bytes, *, path: str | os.PathLike[str] | None = None,
                    **options: Any) -> Spec:
        """The same for a text; options as of Model.from_string."""
        if not isinstance(xml, (str, bytes, bytearray)):
            raise TypeError(f"xml: expected a text, not {type(xml).__name__}")
        data = xml.encode() if isinstance(xml, str) else bytes(xml)
        return cls._read(None if path is None else os.fsdecode(path), data, **options)

    @classmethod
    def _read(cls, path: str | None, data: bytes | None, *, packages: Sequence[str] = (),
              sandbox: str | None = None, floating_base: bool = False,
              friction: float | None = None, ground: float | None = None,
              snap_angles: bool = False) -> Spec:
        if path is not None and "\0" in path:
            raise ValueError(f"path: {path!r} has a null character in it")
        folders = [os.fspath(p).encode() for p in packages]
        for variable, ending in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "/share")):
            folders += [(p + ending).encode() for p in os.environ.get(variable, "").split(":") if p]
        array = (ctypes.c_char_p * (len(folders) + 1))(*folders, None)
        err = CError()
        nan = float("nan")
        address = lib.rb_flat_read(
            path.encode() if path is not None else None, data, len(data or b""),
            array if folders else None, sandbox.encode() if sandbox else None,
            (1 if floating_base else 0) | (2 if snap_angles else 0),
            nan if friction is None else number(friction, "friction"),
            nan if ground is None else number(ground, "ground"),
            ctypes.byref(err))
        if not address:
            _lib.raise_model(err)
        return cls(Handle(address, lib.rb_spec_free))

    def compile(self, *, keep_overlap: bool = False, lenient: bool = False) -> Model:
        """A Model; the spec can be edited further and compiled again."""
        err = CError()
        address = lib.rb_flat_compile(self._handle.address, keep_overlap, ctypes.byref(err))
        if not address:
            _lib.raise_model(err)
        return Model(Handle(address, _free_model), lenient)

    # ---- elements ----

    def count(self, kind: str) -> int:
        """How many elements of a kind there are."""
        return int(lib.rb_spec_count(self._handle.address, KINDS.index(kind)))

    def index(self, kind: str, which: str | int | SpecElement) -> int:
        """The index of an element."""
        if isinstance(which, SpecElement):
            return which.id
        if isinstance(which, str):
            if kind == "body" and which == "world":
                return 0
            found = lib.rb_spec_find(self._handle.address, KINDS.index(kind), which.encode())
            if found < 0:
                raise KeyError(f"no {kind} is called {which!r}"
                               + _suggest(which, [e.name for e in self.elements(kind)]))
            return int(found)
        if not 0 <= which < self.count(kind):
            raise IndexError(f"{kind} {which}: the spec has {self.count(kind)}")
        return int(which)

    def elements(self, kind: str) -> Iterator[SpecElement]:
        """All elements of a kind."""
        return (SpecElement(self, kind, i) for i in range(self.count(kind)))

    def element(self, kind: str, which: str | int) -> SpecElement:
        """An element of any kind by name or index."""
        return SpecElement(self, kind, self.index(kind, which))

    def add(self, kind: str, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds an element; fields as in rattleback/spec.h, `dir(element)` lists them."""
        if kind not in EDITABLE:
            raise ValueError(f"{kind}: expected one of {', '.join(EDITABLE)}")
        struct = _struct(kind)
        buffer = (ctypes.c_uint64 * (_lib.struct_size(struct) // 8 + 1))()
        base = ctypes.addressof(buffer)
        lib.rb_flat_default(struct.encode(), buffer)
        kept: list[Any] = [name.encode() if name else None]
        fields_of = FIELDS[struct]
        ctypes.c_char_p.from_address(base + fields_of["name"].offset).value = kept[0]
        for key, value in fields.items():
            offset, field = _find(kind, key)
            if field.type == _lib.TEXT:
                kept.append(value.encode())
                ctypes.c_char_p.from_address(base + offset).value = kept[-1]
            elif field.pointer:
                rows = self._records(field, value) if field.type == _lib.STRUCT else value
                kept.append(_give_array(base, offset, field, rows))
            else:
                _store(self, kind, key, field, base + offset, value)
        err = CError()
        index = getattr(lib, f"rb_spec_add_{kind}")(self._handle.address, buffer, ctypes.byref(err))
        if index < 0:
            _lib.raise_model(err)
        return SpecElement(self, kind, index)

    def _records(self, field: Field, rows: Any) -> np.ndarray:
        """Dictionaries as records: words stand for types, names for indices."""
        records = np.zeros(len(rows), _lib.dtype_of(field.type_name))
        for record, row in zip(records, rows):
            if unknown := set(row) - set(records.dtype.names or ()):
                raise AttributeError(f"{field.name}: no {', '.join(sorted(unknown))}; there are "
                                     + ", ".join(records.dtype.names or ()))
            for name, default in _RECORD_DEFAULTS.get(field.type_name, {}).items():
                record[name] = default
            for key, value in row.items():
                record[key] = self._record_value(field.type_name, key, value, row)
        return records

    def _record_value(self, struct: str, key: str, value: Any, row: Any) -> Any:
        if not isinstance(value, str):
            return value.id if isinstance(value, SpecElement) else value
        if key == "type":
            words = _RECORD_TYPES[struct]
            if value not in words:
                raise ValueError(f"type {value!r}: expected one of {', '.join(words)}")
            return words.index(value)
        kind = {"joint": "joint", "side": "site"}.get(key) or str(row.get("type", "site"))
        return self.index(kind, value)

    def body(self, which: str | int) -> SpecElement:
        """A body by name or index."""
        return self.element("body", which)

    def joint(self, which: str | int) -> SpecElement:
        """A joint by name or index."""
        return self.element("joint", which)

    def geom(self, which: str | int) -> SpecElement:
        """A geom by name or index."""
        return self.element("geom", which)

    def site(self, which: str | int) -> SpecElement:
        """A site by name or index."""
        return self.element("site", which)

    def actuator(self, which: str | int) -> SpecElement:
        """An actuator by name or index."""
        return self.element("actuator", which)

    def sensor(self, which: str | int) -> SpecElement:
        """A sensor by name or index."""
        return self.element("sensor", which)

    def add_body(self, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds a body; fields as of `add`."""
        return self.add("body", name, **fields)

    def add_joint(self, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds a joint; fields as of `add`."""
        return self.add("joint", name, **fields)

    def add_geom(self, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds a geom; fields as of `add`."""
        return self.add("geom", name, **fields)

    def add_site(self, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds a site; fields as of `add`."""
        return self.add("site", name, **fields)

    def add_mesh(self, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds a mesh: vert (n, 3), face (m, 3), counter-clockwise from outside."""
        return self.add("mesh", name, **fields)

    def add_actuator(self, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds an actuator; fields as of `add`."""
        return self.add("actuator", name, **fields)

    def add_sensor(self, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds a sensor; fields as of `add`."""
        return self.add("sensor", name, **fields)

    def add_key(self, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds a keyframe; fields as of `add`."""
        return self.add("key", name, **fields)

    def add_custom(self, name: str | None = None, **fields: Any) -> SpecElement:
        """Adds a custom entry, such as rb.stepper; fields as of `add`."""
        return self.add("custom", name, **fields)

    # ---- options ----

    def _option(self, name: str) -> np.ndarray:
        address = lib.rb_spec_option(self._handle.address)
        return _lib.field_view("rb_option", name, address, self._handle, True,
                               tuple(f for f, _ in FIELDS["rb_option"][name].lengths) or (1,))

    @property
    def timestep(self) -> float:
        """[s]"""
        return float(self._option("timestep")[0])

    @timestep.setter
    def timestep(self, h: float) -> None:
        self._option("timestep")[0] = number(h, "timestep")

    @property
    def gravity(self) -> np.ndarray:
        """[m/s^2], a view that may be written."""
        return self._option("gravity")

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._option("gravity")[:] = finite(value, (3,), "gravity")

    def __repr__(self) -> str:
        return (f"<rattleback.Spec: {self.count('body') - 1} bodies, {self.count('joint')} joints, "
                f"{self.count('geom')} geoms>")


def _give_array(base: int, offset: int, field: Field, value: Any) -> np.ndarray:
    """Sets a pointer of a description and the count beside it; the array is to be kept."""
    if field.type == _lib.STRUCT:
        array = value
    else:
        dtype = np.float64 if field.type == _lib.DOUBLE else np.int32
        array = np.ascontiguousarray(numbers(value, None, field.name), dtype=dtype)
    width = field.lengths[1][0] if len(field.lengths) > 1 else 1
    if array.size % width:
        raise ValueError(f"{field.name}: expected rows of {width} numbers")
    ctypes.c_void_p.from_address(base + offset).value = array.__array_interface__["data"][0]
    _, count = field.lengths[0]
    if count != _lib.NO_COUNT:
        ctypes.c_int.from_address(base + offset - field.offset + count).value = array.size // width
    return array
