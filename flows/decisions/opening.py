"""Opens a log: every footer is read, and what cannot be read as declared is refused.

Nothing is guessed and no row is looked at. A column that some files have and others
lack is as wrong as one of two types.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence

from flows import columns as c
from flows.decisions import files as f
from flows.decisions.layout import Layout, Log
from flows.decisions.types import check_types
from flows.errors import LogError, UsageError

PROPENSITIES = (
    "Without the probabilities of the logging policy a log carries no conclusion: log "
    "them when the decision is made; they cannot be estimated afterwards."
)
# What the logging policy drew and what came of it: no candidate sees it, and a cut by
# it would select on the draw.
RESERVED = ("file_row_number", "untaken_file")
OUTCOMES = (c.ACTION, c.LOGGING_PROBABILITIES, c.REWARD)


def open_log(
    files: Sequence[str],
    layout: Layout,
    *,
    dated: bool | None,
    with_ids: bool | None,
    extra: Sequence[str] = (),
) -> Log:
    """Reads every footer and decides how the log is read.

    dated, with_ids: True when the column is required, None when it is used if present.
    extra: names (in `wide` form patterns) of columns that candidates stand in.
    Raises: LogError with everything that does not fit, before a row is read; UsageError
    for a layout that no log can have.
    """
    _require_sense(layout)
    read = f.schemas(files)
    found = list(dict.fromkeys(n for schema in read.values() for n in schema.names()))

    def present(name: str, *, wanted: bool | None) -> bool:
        return layout.theirs(name) in found if wanted is None else wanted

    is_dated = present(c.DECIDED_AT, wanted=dated)
    has_ids = present(c.DECISION_ID, wanted=with_ids)
    optional = tuple(n for n in c.OPTIONAL if layout.theirs(n) in found)
    ours = [c.ACTION, c.REWARD, *optional]
    ours += [c.DECISION_ID] * has_ids + [c.DECIDED_AT] * is_dated
    used = [layout.theirs(name) for name in ours]
    wide: tuple[str, ...] = ()
    own = [name for name in dict.fromkeys(extra) if name != c.LOGGING_PROBABILITIES]
    distributions = [layout.theirs(c.LOGGING_PROBABILITIES), *own]
    if layout.probabilities == "wide":
        wide = tuple(n for pattern in distributions for n in _matching(pattern, found))
        used += wide
    else:
        used += [layout.theirs(c.ACTIONS)] * (layout.probabilities == "lists")
        used += distributions
    used += layout.other_columns
    _require_names(found, used)
    try:
        types = f.common_types(read, list(dict.fromkeys(used)))
    except LogError as error:
        if wide or distributions[0] in found:
            raise
        raise LogError(f"{error}\n{PROPENSITIES}") from None
    log = Log(
        files=tuple(files),
        layout=layout,
        types=types,
        is_dated=is_dated,
        has_ids=has_ids,
        optional=optional,
        extra=tuple(own),
        wide=wide,
    )
    check_types(log, tuple(wide or distributions))
    return log


def _require_sense(layout: Layout) -> None:
    """Refuses mappings of columns we do not have, and outcomes as context or cut."""
    for ours in layout.columns:
        if ours not in c.CANONICAL:
            close = difflib.get_close_matches(ours, c.CANONICAL, n=1)
            raise UsageError(
                f"columns maps {ours!r}, which is none of {', '.join(c.CANONICAL)}"
                + (f"; did you mean {close[0]}?" if close else "")
            )
    outcomes = {*OUTCOMES, *(layout.theirs(name) for name in OUTCOMES)}
    for name in layout.other_columns:
        if name in outcomes:
            raise UsageError(
                f"{name!r} cannot be context or a cut: it tells what the logging "
                "policy drew or what came of it, which a candidate never sees and "
                "which would select on the draw"
            )


def _require_names(found: Sequence[str], used: Sequence[str]) -> None:
    """Refuses names that an engine would take for others."""
    for name in found:
        if name.lower() in RESERVED:
            raise LogError(
                f"the log has a column named {name!r}, a name that row numbers have "
                "here; write the log without it or under another name"
            )
        for other in {*used} & {*found}:
            if name != other and name.lower() == other.lower():
                raise LogError(
                    f"the log has columns {other!r} and {name!r}: DuckDB takes names "
                    "that differ by case alone for one; rename one"
                )


def _matching(pattern: str, found: Sequence[str]) -> list[str]:
    if pattern.count("*") != 1:
        raise LogError(
            f"probabilities = 'wide' needs one `*` in {pattern!r}, such as columns = "
            '{ logging_probabilities = "p_*" } or a candidate column:q_*'
        )
    matching = fnmatch.filter(found, pattern)
    if not matching:
        raise LogError(f"no column matches {pattern!r}; found: {', '.join(found)}")
    return matching
