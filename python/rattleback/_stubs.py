"""Writes _fields.py from the table of fields: python -m rattleback._stubs python/rattleback/_fields.py"""
from __future__ import annotations

import sys

from . import _lib

HEAD = '''"""Names and types of the fields of models and data, for editors and type checkers.

Written by `python -m rattleback._stubs`, from the table of the library; a test compares.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_F = npt.NDArray[np.float64]
_I = npt.NDArray[np.int32]
_S = npt.NDArray[Any]
'''


def annotation(field: _lib.Field) -> str:
    array = field.pointer or bool(field.lengths)
    if field.type == _lib.DOUBLE:
        return "_F" if array else "float"
    if field.type == _lib.INT:
        return "_I" if array else "int"
    return "_S"


def fields_class(name: str, struct: str, text: str) -> str:
    lines = [f"class {name}:", f'    """{text}"""', ""]
    lines += [f"    {f.name}: {annotation(f)}" for f in _lib.FIELDS[struct].values()
              if f.name not in ("magic", "bytes", "revision", "names")]
    return "\n".join(lines)


def text() -> str:
    return "\n\n".join([HEAD, fields_class("ModelFields", "rb_model", "Fields of a model."), "",
                        fields_class("InfoFields", "rb_step_info",
                                     "Report of the last step.")]) + "\n"


if __name__ == "__main__":
    written = text()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(written)
