"""Opens a log: every footer is read, and what cannot be read as declared is refused.

Nothing is guessed and no row is looked at. A column that some files have and others
lack is as wrong as one of two types; `model_id` alone, from which nothing is computed,
may be absent or of another type in some files.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence

from flows import columns as c
from flows.decisions import files as f
from flows.decisions.layout import Layout
from flows.decisions.log import Log
from flows.decisions.types import check_types
from flows.errors import LogError, UsageError

PROPENSITIES = (
    "Without the probabilities of the logging policy a log carries no conclusion: log "
    "them when the decision is made; they cannot be estimated afterwards."
)
ALONE = 'of the logged action alone is read with probabilities = "propensity"'
# What the logging policy drew and what came of it: no candidate sees it, and a cut by
# it would select on the draw.
RESERVED = ("file_row_number", "untaken_file")
OUTCOMES = (c.ACTION, c.LOGGING_PROBABILITIES, c.REWARD, c.REWARD_STATUS)


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
    _require_sense(layout, extra)
    read = f.schemas(files)
    found = list(dict.fromkeys(n for schema in read.values() for n in schema.names()))

    def present(name: str, *, wanted: bool | None = None) -> bool:
        return layout.theirs(name) in found if wanted is None else wanted

    is_dated = present(c.DECIDED_AT, wanted=dated)
    has_ids = present(c.DECISION_ID, wanted=with_ids)
    # Mapped, it is meant to be there: a misspelt sample_probability would count as 1.
    known = (*layout.optional, c.IS_DEFAULT)
    optional = tuple(n for n in known if n in layout.columns or present(n))
    ours = [c.ACTION, *optional, *{c.MODEL_ID} & {*layout.columns}]
    ours += [c.REWARD] * layout.has_rewards
    ours += [c.REWARD_STATUS] * (layout.default_reward is not None)
    ours += [c.DECISION_ID] * has_ids + [c.DECIDED_AT] * is_dated
    ours += [c.ACTIONS] * (layout.probabilities == "lists")
    own = [n for n in dict.fromkeys(extra) if n != layout.distribution]
    distributions = [layout.theirs(layout.distribution), *own]
    wide: tuple[str, ...] = ()
    if layout.probabilities == "wide":
        wide = tuple(n for pattern in distributions for n in _matching(pattern, found))
    used = [layout.theirs(name) for name in ours]
    used += [*(wide or distributions), *layout.other_columns]
    _require_names(found, [*used, *[layout.theirs(c.MODEL_ID)]])
    try:
        types = f.common_types(read, list(dict.fromkeys(used)))
    except LogError as error:
        if wide or distributions[0] in found:
            raise
        raise LogError(f"{error}\n{_without(layout, found)}") from None
    log = Log(
        files=tuple(files),
        layout=layout,
        types=types,
        is_dated=is_dated,
        has_ids=has_ids,
        optional=(*optional, *[c.IS_DEFAULT] * (layout.default_reward is not None)),
        extra=tuple(own),
        wide=wide,
        has_model_ids=present(c.MODEL_ID),
    )
    check_types(log, tuple(wide or distributions))
    return log


def _require_sense(layout: Layout, extra: Sequence[str]) -> None:
    """Refuses what no log of this layout can have, and outcomes as context or cut."""
    for ours in layout.columns:
        if ours not in layout.canonical:
            raise UsageError(_unknown(ours, layout))
    outcomes = {*OUTCOMES, layout.distribution}
    outcomes |= {layout.theirs(name) for name in outcomes}
    for name in layout.other_columns:
        if name in outcomes:
            raise UsageError(
                f"{name!r} cannot be context or a cut: it tells what the logging "
                "policy drew or what came of it, which a candidate never sees and "
                "which would select on the draw"
            )
    if layout.has_propensities:
        _require_propensity_sense(layout, extra)
    elif layout.full_support or layout.actions:
        raise UsageError(
            "full_support and actions are declared of a log with probabilities = "
            f'"propensity" alone; with "{layout.probabilities}" each decision says '
            "which actions could be taken, and with which probabilities"
        )


def _require_propensity_sense(layout: Layout, extra: Sequence[str]) -> None:
    named = {name for name in layout.actions if name}
    if len(named) < len(layout.actions):
        raise UsageError("actions must name each action that could be taken, once")
    drawn = {
        name for ours in (c.ACTION, c.REWARD) for name in (ours, layout.theirs(ours))
    }
    for name in extra:
        if name in drawn:
            raise UsageError(
                f"column:{name} cannot be a candidate: it tells what the logging "
                "policy drew or what came of it"
            )
    if c.ACTIONS in (*layout.other_columns, *extra):
        raise UsageError(
            f"the column {c.ACTIONS!r} cannot be read beside declared actions; write "
            "it under another name"
        )


def _unknown(ours: str, layout: Layout) -> str:
    """What is said of a mapping to a column that is none of ours."""
    said = f"columns maps {ours!r}, which is none of {', '.join(layout.canonical)}"
    if ours == c.PROPENSITY:
        return f"{said}; the probability {ALONE}"
    if ours == c.REWARD:
        return f"{said}; rewards come in the table that [rewards] names"
    if ours == c.IS_DEFERRED:
        return f"{said}; only a log whose rewards come in a table of their own has it"
    if ours in c.CANONICAL:
        return f'{said} of probabilities = "{layout.probabilities}"'
    close = difflib.get_close_matches(ours, layout.canonical, n=1)
    return said + (f"; did you mean {close[0]}?" if close else "")


def _without(layout: Layout, found: Sequence[str]) -> str:
    """What is said of a log without the logging policy's probabilities."""
    if c.PROPENSITY in found and not layout.has_propensities:
        return f"The log has a column {c.PROPENSITY!r}: the probability {ALONE}."
    return PROPENSITIES


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
