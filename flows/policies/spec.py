"""What a candidate policy is written as.

    column:NAME          a list column of the log, parallel to `actions`: the fast path
    FILE or glob         a candidate table in Parquet; FILE@NAME picks one of several
    uniform              the same probability for every listed action
    constant:ACTION      always this action
    first                always the first action listed
    logging              the policy that ran: every weight is 1
    module:function      a callable over a frame of decisions
    row:module:function  a callable over one decision, a dict in and out (slow)

Names of actions match exactly. The log's own columns other than the declared context
and `actions` are never shown to a callable (001, off-policy evaluation).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from flows.errors import UsageError


class Kind(StrEnum):
    """The forms a candidate is given in."""

    COLUMN = "column"
    TABLE = "table"
    UNIFORM = "uniform"
    CONSTANT = "constant"
    FIRST = "first"
    LOGGING = "logging"
    FUNCTION = "function"
    ROW_FUNCTION = "row_function"


FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate policy: its name, the text it was written as, and that text read.

    argument: the column, files, action or `module:function`.
    base: the folder from which files and modules are found.
    day: of a table kept in folders `day=...`, only this day's files are read.
    largest_probability: that it gives any action, in (0, 1], where that is declared.
    """

    name: str
    spec: str
    kind: Kind
    argument: str = ""
    base: Path = Path()
    probabilities_field: str = "probabilities"
    day: str = ""
    largest_probability: float | None = None


def parse(
    spec: str,
    *,
    name: str | None = None,
    base: Path = Path(),
    probabilities_field: str = "probabilities",
    largest_probability: float | None = None,
) -> Candidate:
    """Reads a SPEC. Raises: UsageError when it is none of the forms."""
    kind, argument = _read(spec.strip())
    return Candidate(
        name=name or spec,
        spec=spec,
        kind=kind,
        argument=argument,
        base=base,
        probabilities_field=probabilities_field,
        largest_probability=largest_probability,
    )


def _read(spec: str) -> tuple[Kind, str]:
    head, colon, rest = spec.partition(":")
    if spec in ("uniform", "first", "logging"):
        return Kind(spec), ""
    if colon and head in ("column", "constant"):
        if not rest:
            raise UsageError(f"candidate {spec!r} names nothing after the colon")
        return Kind(head), rest
    if colon and head == "row" and FUNCTION.fullmatch(rest):
        return Kind.ROW_FUNCTION, rest
    if FUNCTION.fullmatch(spec):
        return Kind.FUNCTION, spec
    if re.search(r"\.parquet(@.+)?$|[*?\[]|/", spec):
        return Kind.TABLE, spec
    raise UsageError(
        f"candidate {spec!r} is none of: column:NAME, a Parquet file or glob, uniform, "
        "constant:ACTION, first, logging, module:function, row:module:function"
    )
