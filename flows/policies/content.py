"""What a candidate is read from, to notice when it changed."""

from __future__ import annotations

from pathlib import Path

from flows.policies.spec import Candidate, Kind
from flows.policies.tables import files_of


def sources(candidate: Candidate) -> tuple[str, ...]:
    """The files that hold the candidate: its table, or its function's module.

    What a module imports is not followed: a changed import shows only when the module
    itself changes. Raises: PolicyError when a table has no file.
    """
    if candidate.kind is Kind.TABLE:
        return files_of(candidate)[0]
    if candidate.kind in (Kind.FUNCTION, Kind.ROW_FUNCTION):
        module = candidate.argument.partition(":")[0]
        parts = module.split(".")
        for file in (
            candidate.base.joinpath(*parts).with_suffix(".py"),
            candidate.base.joinpath(*parts, "__init__.py"),
        ):
            if Path(file).is_file():
                return (str(file),)
    return ()
