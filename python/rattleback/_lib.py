"""The C library: found, checked, its table of fields read, its statuses as exceptions.

Nothing of the layout of a struct is written down here: names, types, shapes and offsets come from
the table of rattleback/flat.h, which the C compiler made.
"""
from __future__ import annotations

import ctypes
import enum
import os
import sys
from typing import Any, NamedTuple

import numpy as np

ABI = 4

_double_p = ctypes.POINTER(ctypes.c_double)


def _candidates() -> list[str]:
    name = {"darwin": "librattleback_flat.dylib", "win32": "rattleback_flat.dll"}.get(
        sys.platform, "librattleback_flat.so")
    given = os.environ.get("RATTLEBACK_LIBRARY")
    return [given] if given else [os.path.join(os.path.dirname(__file__), name)]


def _open() -> ctypes.CDLL:
    for path in _candidates():
        if not os.path.exists(path):
            raise ImportError(f"{path}: no such file; the library of the package is missing: install "
                              "it with pip, or set RATTLEBACK_LIBRARY to librattleback_flat.so")
        found = ctypes.CDLL(path)
        found.rb_flat_version.restype = ctypes.c_char_p
        abi = found.rb_flat_abi()
        if abi != ABI:
            raise ImportError(f"{path}: has ABI {abi}, this package needs {ABI}: both must come from "
                              "the same version")
        return found
    raise ImportError("no library")


lib = _open()
VERSION: str = lib.rb_flat_version().decode()


# ---- the table of fields -------------------------------------------------------------------------

NO_COUNT = ctypes.c_size_t(-1).value


class _CLength(ctypes.Structure):
    _fields_ = [("factor", ctypes.c_int), ("count", ctypes.c_size_t)]


class _CField(ctypes.Structure):
    _fields_ = [("owner", ctypes.c_char_p), ("name", ctypes.c_char_p),
                ("type_name", ctypes.c_char_p), ("type", ctypes.c_int), ("pointer", ctypes.c_int),
                ("ndim", ctypes.c_int), ("offset", ctypes.c_size_t), ("size", ctypes.c_size_t),
                ("length", _CLength * 2), ("text", ctypes.c_char_p)]


class Field(NamedTuple):
    """A field of a struct of the library."""
    owner: str
    name: str
    type_name: str
    type: int
    pointer: bool
    offset: int
    size: int
    lengths: tuple[tuple[int, int], ...]
    text: str

    def shape(self, address: int) -> tuple[int, ...]:
        """Of this field of the object at the address."""
        return tuple(factor if count == NO_COUNT else
                     factor * max(0, ctypes.c_int.from_address(address + count).value)
                     for factor, count in self.lengths)


DOUBLE, INT, UINT, LONG, UINT64, SIZE, CHAR, UCHAR, SCHAR, TEXT, STRUCT = range(11)
_NUMPY = {DOUBLE: "f8", INT: "i4", UINT: "u4", LONG: f"i{ctypes.sizeof(ctypes.c_long)}",
          UINT64: "u8", SIZE: f"u{ctypes.sizeof(ctypes.c_size_t)}", UCHAR: "u1", SCHAR: "i1",
          TEXT: f"u{ctypes.sizeof(ctypes.c_void_p)}"}


def _read_table() -> dict[str, dict[str, Field]]:
    lib.rb_flat_field.restype = ctypes.POINTER(_CField)
    table: dict[str, dict[str, Field]] = {}
    for i in range(lib.rb_flat_field_count()):
        f = lib.rb_flat_field(i).contents
        lengths = tuple((f.length[k].factor, f.length[k].count) for k in range(f.ndim))
        field = Field(f.owner.decode(), f.name.decode(), f.type_name.decode(), f.type,
                      bool(f.pointer), f.offset, f.size, lengths, f.text.decode())
        table.setdefault(field.owner, {})[field.name] = field
    return table


FIELDS = _read_table()
lib.rb_flat_size.restype = ctypes.c_size_t
_dtypes: dict[str, np.dtype] = {}


def struct_size(name: str) -> int:
    return int(lib.rb_flat_size(name.encode()))


def dtype_of(struct: str) -> np.dtype:
    """The struct as a NumPy dtype, without what pointers lead to."""
    found = _dtypes.get(struct)
    if found is None:
        names, formats, offsets = [], [], []
        for field in FIELDS[struct].values():
            if field.pointer:
                continue
            names.append(field.name)
            formats.append(_format(field))
            offsets.append(field.offset)
        found = np.dtype({"names": names, "formats": formats, "offsets": offsets,
                          "itemsize": struct_size(struct)})
        _dtypes[struct] = found
    return found


def _format(field: Field) -> Any:
    shape = tuple(factor for factor, _ in field.lengths)
    if field.type == CHAR:
        return f"S{shape[0]}" if shape else "S1"
    base: Any = dtype_of(field.type_name) if field.type == STRUCT else _NUMPY[field.type]
    return (base, shape) if shape else base


def _check_sizes() -> None:
    """Every field lies within its struct: a table of another build would not."""
    for owner, fields in FIELDS.items():
        size = struct_size(owner)
        for field in fields.values():
            if size == 0 or field.offset + 1 > size:
                raise ImportError(f"the table of fields is broken at {owner}.{field.name}")


_check_sizes()


# ---- memory --------------------------------------------------------------------------------------

class Handle:
    """Owns something of the library, and what that depends on; frees it with the last reference."""

    __slots__ = ("address", "_free", "keeps", "__weakref__")

    def __init__(self, address: int, free: Any, keeps: Any = None):
        self.address = address
        self._free = free
        self.keeps = keeps

    def __reduce__(self) -> Any:
        raise TypeError("memory of the library cannot be pickled: pickle the Model, Sim or State")

    def __del__(self) -> None:
        address, self.address = getattr(self, "address", 0), 0
        if address:
            self._free(ctypes.c_void_p(address))


class _Memory:
    """What the base of a view is: keeps the owner alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, interface: dict[str, Any], owner: Any):
        self.__array_interface__ = interface
        self.owner = owner


def view(address: int, shape: tuple[int, ...], dtype: Any, owner: Any, writable: bool) -> np.ndarray:
    """An array over memory of the library that keeps its owner alive."""
    dtype = np.dtype(dtype)
    if 0 in shape or not address:
        empty = np.empty(shape if 0 in shape else (0,), dtype)
        empty.flags.writeable = writable
        return empty
    interface = {"data": (address, not writable), "shape": shape, "version": 3,
                 "typestr": dtype.str if dtype.names is None else f"|V{dtype.itemsize}"}
    array = np.asarray(_Memory(interface, owner))
    if dtype.names is not None:
        array = array.view(dtype)
        array.flags.writeable = writable
    return array


def field_view(struct: str, name: str, address: int, owner: Any, writable: bool = False,
               shape: tuple[int, ...] | None = None) -> np.ndarray:
    """A field of the object at the address, by the table."""
    field = FIELDS[struct][name]
    own = field.shape(address) if shape is None else shape
    at = address + field.offset
    if field.pointer:
        at = ctypes.c_void_p.from_address(at).value or 0
    dtype = dtype_of(field.type_name) if field.type == STRUCT else _NUMPY[field.type]
    return view(at, own, dtype, owner, writable)


def as_json(struct: str, address: int) -> str:
    """The object as JSON, written by the library from its table."""
    found = lib.rb_flat_json(struct.encode(), address)
    if not found:
        raise MemoryError(f"out of memory for the JSON of {struct}")
    try:
        return ctypes.string_at(found).decode(errors="replace")
    finally:
        lib.rb_flat_free(found)


def read_int(struct: str, name: str, address: int) -> int:
    return ctypes.c_int.from_address(address + FIELDS[struct][name].offset).value


def read_double(struct: str, name: str, address: int) -> float:
    return ctypes.c_double.from_address(address + FIELDS[struct][name].offset).value


# ---- statuses ------------------------------------------------------------------------------------

class Status(enum.IntEnum):
    """What became of a call; rb_status of rattleback/base.h."""
    OK = 0
    NOMEM = 1
    BAD_INPUT = 2
    UNSUPPORTED = 3
    TOO_LARGE = 4
    FILE = 5
    SINGULAR = 6
    FULL = 7
    UNSOLVED = 8
    JAMMED = 9
    CROWDED = 10
    BUDGET = 11
    CANCELLED = 12

    @property
    def text(self) -> str:
        """What it means."""
        return lib.rb_status_text(int(self)).decode()


lib.rb_status_text.restype = ctypes.c_char_p


class RattlebackError(Exception):
    """Base of the exceptions of this package. `text` is the sentence of the command, `file` and
    `line` say where, "" and 0 where no file is involved."""

    def __init__(self, text: str, status: Status = Status.BAD_INPUT, file: str = "", line: int = 0):
        self.text = text
        self.status = status
        self.file = file
        self.line = line
        where = (f"{file}:{line}: " if file and line else f"{file}: " if file else
                 f"line {line}: " if line else "")
        super().__init__(where + text)

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else self.text

    def __reduce__(self) -> Any:
        return (_rebuild, (type(self), str(self), dict(self.__dict__)))


def _rebuild(kind: type[RattlebackError], message: str, attributes: dict[str, Any]) -> RattlebackError:
    error: RattlebackError = kind.__new__(kind, message)
    error.args = (message,)
    error.__dict__.update(attributes)
    return error


class ModelError(RattlebackError, ValueError):
    """A model that cannot be read or compiled."""


class ModelFileError(ModelError, OSError):
    """A file that cannot be opened or read."""


class StepError(RattlebackError, RuntimeError):
    """A step that failed; the state is as after the last good one. `steps`: how many of the call
    were good; `worlds`: of a batch, which ones failed."""

    def __init__(self, text: str, status: Status = Status.UNSOLVED, steps: int = 0,
                 worlds: list[int] | None = None):
        super().__init__(text, status)
        self.steps = steps
        self.worlds = worlds or []


class InputError(StepError, ValueError):
    """A step that was given a number that is not finite, or an option that is out of range."""


class CError(ctypes.Structure):
    """rb_error; its layout is checked against the table below."""
    _fields_ = [("status", ctypes.c_int), ("file", ctypes.c_char * 256), ("line", ctypes.c_int),
                ("text", ctypes.c_char * 512)]


if ctypes.sizeof(CError) != struct_size("rb_error"):
    raise ImportError("rb_error has another size in the library: both must come from one version")


def sentence(err: CError, status: int | None = None) -> str:
    text = err.text.decode(errors="replace")
    return text or Status(err.status if status is None else status).text


def raise_model(err: CError) -> None:
    """The error of a reader or of the compiler, as the command says it."""
    status = Status(err.status) if err.status else Status.BAD_INPUT
    if status == Status.NOMEM:
        raise MemoryError(sentence(err))
    kind = ModelFileError if status == Status.FILE else ModelError
    raise kind(sentence(err), status, err.file.decode(errors="replace"), err.line)


# ---- Ctrl-C --------------------------------------------------------------------------------------

class _Host(ctypes.Structure):
    """rb_host: how the library asks CPython for signals within a long call."""
    _fields_ = [("lock", ctypes.c_void_p), ("check", ctypes.c_void_p), ("take", ctypes.c_void_p),
                ("unlock", ctypes.c_void_p), ("taken", ctypes.c_void_p * 3)]


def _function(name: str) -> int | None:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value


_host = _Host(_function("PyGILState_Ensure"), _function("PyErr_CheckSignals"),
              _function("PyErr_Fetch"), _function("PyGILState_Release"))
HOST = ctypes.addressof(_host)
_restore = ctypes.pythonapi.PyErr_Restore
_restore.restype = None
_restore.argtypes = [ctypes.c_void_p] * 3


def raise_pending() -> None:
    """Raises what a signal handler raised within a call."""
    if _host.taken[0]:
        raised = tuple(_host.taken)
        _host.taken[:] = [None, None, None]
        _restore(*raised)


# ---- calls ---------------------------------------------------------------------------------------

def _declare() -> None:
    p, i, d, z, s = (ctypes.c_void_p, ctypes.c_int, ctypes.c_double, ctypes.c_size_t,
                     ctypes.c_char_p)
    n = ctypes.c_long
    err = ctypes.POINTER(CError)
    calls: dict[str, tuple[Any, list[Any]]] = {
        "rb_flat_default": (i, [s, p]),
        "rb_flat_read": (p, [s, p, z, p, s, i, d, d, err]),
        "rb_flat_compile": (p, [p, i, err]),
        "rb_flat_model_from": (p, [p, z]),
        "rb_option_set": (i, [p, s, s, err]),
        "rb_flat_free": (None, [p]),
        "rb_spec_new": (p, [p]),
        "rb_spec_free": (None, [p]),
        "rb_spec_count": (i, [p, i]),
        "rb_spec_find": (i, [p, i, s]),
        "rb_spec_option": (p, [p]),
        "rb_model_free": (None, [p, p]),
        "rb_model_copy": (p, [p, p]),
        "rb_model_count": (i, [p, i]),
        "rb_model_find": (i, [p, i, s]),
        "rb_model_name": (s, [p, i, i, p, z]),
        "rb_geom_title": (s, [p, i, p, z]),
        "rb_model_set_friction": (i, [p, i, d, err]),
        "rb_model_set_restitution": (i, [p, i, d, err]),
        "rb_model_set_mass": (i, [p, i, d, err]),
        "rb_model_set_gravity": (i, [p, p, err]),
        "rb_model_set_gain": (i, [p, i, p, p, err]),
        "rb_sim_new": (p, [p, err]),
        "rb_sim_free": (None, [p]),
        "rb_sim_copy": (p, [p]),
        "rb_sim_data": (p, [p]),
        "rb_sim_model": (p, [p]),
        "rb_flat_json": (p, [s, p]),
        "rb_sim_opts": (p, [p]),
        "rb_sim_info": (p, [p]),
        "rb_sim_error": (err, [p]),
        "rb_sim_threads": (i, [p, i]),
        "rb_sim_forget_threads": (None, [p]),
        "rb_sim_reset": (i, [p, i]),
        "rb_sim_on_wait": (None, [p, p]),
        "rb_sim_update": (i, [p]),
        "rb_sim_energy": (d, [p, p, p]),
        "rb_sim_save_size": (z, [p]),
        "rb_sim_save": (z, [p, p, z]),
        "rb_sim_restore": (i, [p, p, z]),
        "rb_sim_gaps": (p, [p, d, p, p]),
        "rb_data_hash": (ctypes.c_uint64, [p]),
        "rb_data_lead": (None, [p, i, p, d]),
        "rb_batch_new": (p, [p, i, i, err]),
        "rb_batch_free": (None, [p]),
        "rb_batch_sim": (p, [p, i]),
        "rb_batch_on_wait": (None, [p, p]),
        "rb_batch_array": (p, [p, s, p]),
        "rb_batch_time": (p, [p]),
        "rb_batch_threads": (i, [p, i]),
        "rb_batch_forget_threads": (None, [p]),
        "rb_batch_step": (i, [p, n, p, p, p]),
        "rb_batch_rollout": (i, [p, i, i, p, p, p, p, p, p, p]),
        "rb_batch_reset": (i, [p, p, i, i]),
        "rb_batch_set": (i, [p, i, p, p, i, err]),
        "rb_batch_certificates": (None, [p, p]),
        "rb_batch_get": (None, [p, i, p]),
        "rb_batch_bodies": (i, [p, i, p]),
        "rb_batch_actuation": (None, [p, p]),
        "rb_batch_center_of_mass": (None, [p, p]),
        "rb_flat_part": (p, [s, d, d, s, err]),
        "rb_flat_drops": (i, [p, p, p, i, i, i, p, err]),
        "rb_part_read": (i, [p, p, d, err]),
        "rb_part_free": (None, [p]),
        "rb_drop_opts_finish": (i, [p, p, d, err]),
        "rb_stepper_name": (s, [i]),
        "rb_wilson": (None, [i, i, p, p]),
        "rb_kinematics": (None, [p, p]),
        "rb_velocity": (None, [p, p]),
        "rb_frames": (None, [p, p]),
        "rb_sensors": (i, [p, p]),
        "rb_mass": (None, [p, p]),
        "rb_mass_dense": (None, [p, p, p]),
        "rb_bias": (None, [p, p]),
        "rb_passive": (None, [p, p]),
        "rb_actuation": (None, [p, p]),
        "rb_inverse": (None, [p, p, p, p]),
        "rb_forward": (i, [p, p, p, p]),
        "rb_forward_loops": (i, [p, p, p, p, p, p]),
        "rb_aba_factor": (i, [p, p, p, p]),
        "rb_upsilon": (None, [p, p]),
        "rb_compliance": (i, [p, p, i, p, p]),
        "rb_jacobian": (None, [p, p, i, p, p]),
        "rb_jacobian_bias": (None, [p, p, i, p, p]),
        "rb_point_velocity": (None, [p, p, i, p, p]),
        "rb_momentum": (None, [p, p, p, p, p]),
        "rb_center_of_mass": (None, [p, p, p]),
        "rb_integrate": (None, [p, p, p, d, p]),
        "rb_difference": (None, [p, p, p, p]),
        "rb_contact_on_body": (None, [p, p, i, p, p]),
        "rb_contact_between": (d, [p, p, i, i]),
        "rb_geom_distance": (i, [p, p, i, i, d, p]),
        "rb_body_distance": (i, [p, p, i, i, d, p]),
        "rb_ray": (i, [p, p, p, p, p, p]),
        "rb_impact_predict": (i, [p, p, d, p, err]),
    }
    for name, (result, arguments) in calls.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments
    for kind in ("body", "joint", "geom", "mesh", "site", "equality", "tendon", "actuator",
                 "exclude", "pair", "key", "custom", "sensor"):
        add, get = getattr(lib, f"rb_spec_add_{kind}"), getattr(lib, f"rb_spec_{kind}")
        add.restype, add.argtypes = i, [p, p, err]
        get.restype, get.argtypes = p, [p, i]
    # the hot ones take prepared arguments: no conversion
    lib.rb_sim_step.restype = i
    lib.rb_sim_contacts.restype = i


_declare()
