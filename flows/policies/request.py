"""What to check and lay out, and what comes of it.

A `Request` names a log, its candidates and the window; a `Prepared` is the log that
passed, with every candidate laid beside it as expressions that scoring reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions import Log, Profile, Window
from flows.policies.scorable import Scorable, Scored
from flows.policies.spec import Candidate, Kind
from flows.policies.support import require_full_support

# Per candidate: the column it stands in (a list, or the probability of the logged
# action) and that of its mass on unlisted actions, an empty text where it has none.
Columns = dict[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Request:
    """What to check and lay out.

    window: half-open interval of `decided_at`; None takes every decision.
    work: an existing folder for files written on the way.
    keep: columns that segments need.
    listing: where to list violating rows, if anywhere.
    """

    log: Log
    candidates: tuple[Candidate, ...]
    reward_range: tuple[float, float]
    work: Path
    keep: tuple[str, ...] = ()
    window: Window | None = None
    listing: Path | None = None


@dataclass(slots=True)
class Prepared:
    """A log that passed, with its candidates laid beside it.

    columns: where candidates stand.
    unknown: per candidate the actions it takes that the log never lists.
    """

    profile: Profile
    scorable: Scorable
    candidates: tuple[Candidate, ...]
    columns: Columns
    unknown: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def scored(self, floor: float) -> list[Scored]:
        """Every candidate as expressions, with support judged against `floor`.

        Raises: LogError when the log contradicts a declared full support.
        """
        scored = [self._scored(candidate, floor) for candidate in self.candidates]
        require_full_support(self.scorable, scored, floor)
        return scored

    def _scored(self, candidate: Candidate, floor: float) -> Scored:
        name, log = candidate.name, self.scorable
        if candidate.kind is Kind.UNIFORM:
            return log.uniform(name, floor)
        if candidate.kind is Kind.LOGGING:
            return log.logging(name)
        if candidate.kind is Kind.FIRST:
            return log.first(name, floor)
        if name not in self.columns:
            return log.constant(name, candidate.argument, floor)
        column, unlisted = self.columns[name]
        mass = pl.col(unlisted) if unlisted else None
        return log.column(name, column, floor, mass)


def in_log(log: Log, candidate: Candidate) -> tuple[str, str]:
    """DuckDB expressions of a column candidate, and of its mass on unlisted actions.

    The former is a list parallel to `actions`, or the probability of the logged action.
    """
    column = queries.identifier(candidate.argument)
    stands = log.stands(candidate.argument)
    if stands == "list":
        return f"{column}::double[]", "0"
    if stands == "probability":
        return f"{column}::double", "0"
    if stands == "name":
        is_taken = f"coalesce({column}::varchar = action, false)::double"
        is_other = f"not list_contains(actions, {column}::varchar)"
        return (
            f"if({column} is null, null, {is_taken})",
            f"coalesce({is_other}, false)::double",
        )
    listed = (
        f"case when {column} is not null then list_transform(actions, lambda a: "
        f"case when list_contains(list_transform({column}, lambda e: e.key), a) "
        f"then list_filter({column}, lambda e: e.key = a)[1].value else 0.0 end) end"
    )
    unlisted = (
        f"coalesce(list_sum(list_transform(list_filter({column}, "
        "lambda e: not coalesce(list_contains(actions, e.key), false)), "
        "lambda e: e.value)), 0.0)"
    )
    return listed, unlisted


def is_list(log: Log, candidate: Candidate) -> bool:
    """Whether `in_log` gives a list, not the probability of one action."""
    return log.stands(candidate.argument) in ("list", "entries")


def within(frame: pl.LazyFrame, window: Window | None) -> pl.LazyFrame:
    """The decisions of `frame` that were made in the window."""
    if window is None:
        return frame
    # The files' own zone, so that their least and greatest times can be compared.
    zone = getattr(frame.collect_schema()[c.DECIDED_AT], "time_zone", "UTC")
    start, end = (pl.lit(t).dt.convert_time_zone(zone) for t in window)
    at = pl.col(c.DECIDED_AT)
    return frame.filter((at >= start) & (at < end))
