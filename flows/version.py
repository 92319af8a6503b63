"""Which version of untaken runs."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> str:
    """The installed version; "uninstalled" in a checkout that is run in place."""
    try:
        return installed("untaken")
    except PackageNotFoundError:
        return "uninstalled"
