"""Registers the environments as soon as Gymnasium is there, in whichever order the two are imported."""
from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def _register() -> None:
    importlib.import_module("rattleback.gym")


class _Loader:
    """That of Gymnasium; the environments are registered behind it."""

    def __init__(self, loader: Any):
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        _register()


class _Finder:
    """Stands before the others until Gymnasium is imported."""

    def find_spec(self, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "gymnasium" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)      # type: ignore[assignment]
        return spec


def watch() -> None:
    """Now, where Gymnasium is imported already, else when it is."""
    if hasattr(sys.modules.get("gymnasium"), "register"):
        _register()
    elif "gymnasium" not in sys.modules:
        sys.meta_path.insert(0, _Finder())          # type: ignore[arg-type]
