"""Functions that a job names as `module:function`, from its own folder first."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def function(name: str, base: Path) -> Any:  # noqa: ANN401 - whatever the module holds
    """What `module:function` names; modules of the folder `base` come first.

    Raises: whatever the import raises; AttributeError for a name the module lacks.
    """
    module_name, _, function_name = name.partition(":")
    folder = str(base.resolve())
    sys.path.insert(0, folder)
    try:
        return getattr(_fresh(module_name, folder), function_name)
    finally:
        sys.path.remove(folder)


def _fresh(module_name: str, base: str) -> ModuleType:
    """The module, not one of the same name that another job's folder left behind."""
    known = sys.modules.get(module_name)
    file = getattr(known, "__file__", None)
    local = Path(base, *module_name.split(".")).with_suffix(".py")
    if file is not None and local.exists() and Path(file).resolve() != local.resolve():
        del sys.modules[module_name]
    return importlib.import_module(module_name)
