"""Which version of untaken runs."""

from __future__ import annotations


def version() -> str:
    """The installed version; "uninstalled" in a checkout that is run in place."""
    # The import costs as much as a tenth of a small evaluation.
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("untaken")
    except PackageNotFoundError:
        return "uninstalled"
