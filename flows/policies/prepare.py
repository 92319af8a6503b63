"""Checks a log together with its candidates and lays both out for scoring.

The order is fixed: the log is validated before a callable sees it, every candidate is
validated before anything is scored, and files written on the way live in a work folder
of their own.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions import CandidateColumn, Layout, Log, Profile, check, open_log
from flows.errors import PolicyError, UsageError, ViolationsError
from flows.policies import tables
from flows.policies.callables import LISTED, UNLISTED, Caller, caller
from flows.policies.scorable import Scorable, Scored, closed
from flows.policies.spec import Candidate, Kind

CALLABLE = (Kind.FUNCTION, Kind.ROW_FUNCTION)
Window = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """What to check and lay out.

    window: half-open interval of `decided_at`; None takes every decision.
    keep: columns that segments need.
    work: an existing folder for files written on the way.
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

    columns: per candidate the list column it stands in and, where the candidate can
        name unlisted actions, the column of that mass.
    unknown: per candidate the actions it takes that the log never lists.
    """

    profile: Profile
    scorable: Scorable
    candidates: tuple[Candidate, ...]
    columns: Mapping[str, tuple[str, str | None]]
    unknown: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def scored(self, floor: float) -> list[Scored]:
        """Every candidate as expressions, with support judged against `floor`."""
        return [self._scored(candidate, floor) for candidate in self.candidates]

    def _scored(self, candidate: Candidate, floor: float) -> Scored:
        name, log = candidate.name, self.scorable
        if candidate.kind is Kind.UNIFORM:
            return log.uniform(name, floor)
        if candidate.kind is Kind.LOGGING:
            return log.logging(name)
        if candidate.kind is Kind.FIRST:
            return log.at(name, 0, floor)
        if name not in self.columns:
            actions = self.profile.actions or ()
            known = candidate.argument in actions
            position = actions.index(candidate.argument) if known else None
            return log.at(name, position, floor)
        column, unlisted = self.columns[name]
        mass = pl.col(unlisted) if unlisted else None
        return log.column(name, column, floor, mass)


def prepare(con: duckdb.DuckDBPyConnection, request: Request) -> Prepared:
    """Validates the log and its candidates, and lays them out for scoring.

    Raises: ViolationsError for rows of the log, PolicyError for a candidate.
    """
    log = request.log
    inside = [n for n in request.candidates if n.kind is Kind.COLUMN]
    in_log = [CandidateColumn(n.name, *_in_log(log, n)) for n in inside]
    profile = check(
        con,
        log,
        reward_range=request.reward_range,
        candidates=in_log,
        window=request.window,
        listing=request.listing,
    )
    if profile.decisions == 0:
        return Prepared(profile, Scorable(log.scan(), 0), request.candidates, {})
    loaded = {
        candidate.name: tables.load(con, candidate, log, number=number)
        for number, candidate in enumerate(request.candidates)
        if candidate.kind is Kind.TABLE
    }
    for candidate in request.candidates:
        if candidate.name in loaded:
            tables.require_match(con, candidate, loaded[candidate.name])
    callers = [caller(n) for n in request.candidates if n.kind in CALLABLE]
    called: dict[str, tuple[str, str | None]] = {}
    if callers:
        log, called = _call(con, request, callers)
    is_closed = profile.actions is not None and log.layout.probabilities == "lists"
    by_id = any(c.DECISION_ID in table.keys for table in loaded.values())
    if is_closed and not by_id:
        prepared = _as_it_is(con, request, log, profile, loaded, called)
    else:
        prepared = _laid_out(con, request, log, profile, loaded, called)
    prepared.unknown = _unknown(request, profile, loaded, callers)
    return prepared


def _in_log(log: Log, candidate: Candidate) -> tuple[str, str]:
    """DuckDB expressions of a column candidate: parallel list and unlisted mass."""
    column = queries.identifier(candidate.argument)
    if log.layout.probabilities == "lists":
        return column, "0"
    listed = f"list_transform(actions, lambda a: coalesce({column}[a], 0.0))"
    unlisted = (
        f"coalesce(list_sum(list_transform(list_filter(map_entries({column}), "
        "lambda e: not list_contains(actions, e.key)), lambda e: e.value)), 0.0)"
    )
    return listed, unlisted


def _within(frame: pl.LazyFrame, window: Window | None) -> pl.LazyFrame:
    if window is None:
        return frame
    start, end = (pl.lit(t).str.to_datetime(time_zone="UTC") for t in window)
    at = pl.col(c.DECIDED_AT)
    return frame.filter((at >= start) & (at < end))


def _call(
    con: duckdb.DuckDBPyConnection, request: Request, callers: Sequence[Caller]
) -> tuple[Log, dict[str, tuple[str, str | None]]]:
    """Asks every callable for every decision; the answers stand beside the log."""
    log = request.log
    if log.layout.probabilities != "lists":
        log = _canonical(con, request)
    frame = _within(log.scan(), request.window)
    answers, checked = [], []
    columns: dict[str, tuple[str, str | None]] = {}
    for number, called in enumerate(callers):
        answer = called.expression(log.layout.context)
        listed, unlisted = f"called_{number}", f"called_{number}_unlisted"
        answers.append(answer.struct.field(LISTED).alias(listed))
        answers.append(answer.struct.field(UNLISTED).alias(unlisted))
        columns[called.candidate.name] = (listed, unlisted)
        checked.append(CandidateColumn(called.candidate.name, listed, unlisted))
    target = request.work / "called.parquet"
    try:
        frame.with_columns(answers).sink_parquet(
            target, engine="streaming", compression="zstd", compression_level=1
        )
    except Exception as error:
        failure = next((k.failure for k in callers if k.failure), None)
        if failure is None:
            raise
        raise failure from error
    beside = _reopened(log, target, columns)
    try:
        check(con, beside, reward_range=request.reward_range, candidates=checked)
    except ViolationsError as error:
        raise _not_a_distribution(error) from None
    return beside, columns


def _canonical(con: duckdb.DuckDBPyConnection, request: Request) -> Log:
    log, target = request.log, request.work / "canonical.parquet"
    kept = [c.ACTION, c.ACTIONS, c.LOGGING_PROBABILITIES, c.REWARD]
    kept += [c.DECISION_ID] * log.has_ids + [c.DECIDED_AT] * log.is_dated
    kept += [*log.optional, *map(queries.identifier, log.layout.context)]
    kept += [queries.identifier(name) for name in log.extra]
    queries.run(
        con,
        "staging/canonical",
        columns=",\n        ".join(dict.fromkeys(kept)),
        file=queries.literal(str(target)),
    )
    layout = Layout(context=log.layout.context, sum_tolerance=log.layout.sum_tolerance)
    return open_log([str(target)], layout, dated=log.is_dated, with_ids=log.has_ids)


def _reopened(
    log: Log, file: Path, columns: Mapping[str, tuple[str, str | None]]
) -> Log:
    """The log as it stands in `file`, in canonical form with candidates' columns."""
    unlisted = [mass for _, mass in columns.values() if mass]
    layout = Layout(
        context=(*log.layout.context, *unlisted), sum_tolerance=log.layout.sum_tolerance
    )
    extra = (*log.extra, *(listed for listed, _ in columns.values()))
    return open_log(
        [str(file)], layout, dated=log.is_dated, with_ids=log.has_ids, extra=extra
    )


def _not_a_distribution(error: ViolationsError) -> PolicyError:
    lines = []
    for rule in error.broken:
        lines.append(f"{rule.rule} ({rule.count:,} decisions): {rule.sentence}")
        lines += [f"  decision {row.decision_id}: {row.value}" for row in rule.rows]
    return PolicyError(
        "a candidate's function does not return distributions; nothing was scored.\n"
        + "\n".join(lines)
    )


def _as_it_is(
    con: duckdb.DuckDBPyConnection,
    request: Request,
    log: Log,
    profile: Profile,
    loaded: Mapping[str, tables.Table],
    called: Mapping[str, tuple[str, str | None]],
) -> Prepared:
    """Every decision lists the same actions: score the files where they lie."""
    frame = _within(log.scan(), None if called else request.window)
    columns = dict(called)
    for candidate in request.candidates:
        if candidate.kind is Kind.COLUMN:
            columns[candidate.name] = (candidate.argument, None)
        elif candidate.name in loaded:
            table = loaded[candidate.name]
            columns[candidate.name] = (table.name, f"{table.name}_unlisted")
            entries = _look_up(con, table, log, profile.actions or ())
            frame = frame.join(
                entries.lazy(), on=list(table.keys), how="left", nulls_equal=True
            )
    scorable = closed(frame, profile.actions or ())
    return Prepared(profile, scorable, request.candidates, columns)


def _look_up(
    con: duckdb.DuckDBPyConnection,
    table: tables.Table,
    log: Log,
    actions: Sequence[str],
) -> pl.DataFrame:
    keys = [queries.identifier(key) for key in table.keys]
    query = queries.filled(
        "staging/look_up", {"keys": ", ".join(keys), "table": table.name}
    )
    rows = queries.frame(con, query, {"actions": list(actions)})
    return rows.select(
        *(pl.col(key).cast(log.types[key]) for key in table.keys),
        pl.col("listed").alias(table.name),
        pl.col("unlisted").alias(f"{table.name}_unlisted"),
    )


def _laid_out(
    con: duckdb.DuckDBPyConnection,
    request: Request,
    log: Log,
    profile: Profile,
    loaded: Mapping[str, tables.Table],
    called: Mapping[str, tuple[str, str | None]],
) -> Prepared:
    """Decisions list different actions, or keys are decisions: write padded lists."""
    stands: dict[str, tuple[str, str]] = {}
    for candidate in request.candidates:
        name = candidate.name
        if name in called:
            listed, unlisted = called[name]
            stands[name] = (listed, unlisted or "0")
        elif candidate.kind is Kind.COLUMN:
            stands[name] = _in_log(log, candidate)
        elif name in loaded:
            stands[name] = (loaded[name].column(), loaded[name].unlisted())
        elif candidate.kind is Kind.CONSTANT:
            action = queries.literal(candidate.argument)
            stands[name] = (
                f"list_transform(actions, lambda a: (a = {action})::double)",
                f"(not list_contains(actions, {action}))::double",
            )
    target = request.work / "scorable.parquet"
    width = profile.action_count
    pieces, columns = [], {}
    for number, (name, (listed, unlisted)) in enumerate(stands.items()):
        column = f"candidate_{number}"
        pieces.append(f"list_resize({listed}, {width}, 0.0) as {column}")
        pieces.append(f"({unlisted})::double as {column}_unlisted")
        columns[name] = (column, f"{column}_unlisted")
    kept = [c.DECISION_ID] * log.has_ids + [c.DECIDED_AT] * log.is_dated
    kept += [queries.identifier(name) for name in request.keep]
    queries.run(
        con,
        "staging/scorable",
        columns=",\n        ".join(
            f"measured_decisions.{name}" for name in dict.fromkeys(kept)
        )
        or "null as nothing",
        width=str(width),
        candidates=",\n        ".join(pieces) or "0 as no_candidate",
        joins="\n    ".join(table.join for table in loaded.values()),
        file=queries.literal(str(target)),
    )
    frame = pl.scan_parquet(target, glob=False, hive_partitioning=False)
    return Prepared(profile, Scorable(frame, width), request.candidates, columns)


def _unknown(
    request: Request,
    profile: Profile,
    loaded: Mapping[str, tables.Table],
    callers: Sequence[Caller],
) -> dict[str, tuple[str, ...]]:
    """Per candidate, the actions it takes that the log never lists."""
    known = set(profile.action_names)
    named: dict[str, set[str]] = {
        name: set(table.action_names) for name, table in loaded.items()
    }
    named |= {called.candidate.name: called.unknown for called in callers}
    for candidate in request.candidates:
        if candidate.kind is Kind.CONSTANT:
            named[candidate.name] = {candidate.argument}
    return {
        name: tuple(sorted(actions - known))
        for name, actions in named.items()
        if actions - known
    }


def nearest(action: str, names: Sequence[str]) -> str | None:
    """The listed action whose spelling is closest, case aside; None when none is."""
    folded = {name.strip().casefold(): name for name in names}
    close = difflib.get_close_matches(action.strip().casefold(), folded, n=1)
    return folded[close[0]] if close else None


def column_candidates(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The log columns that candidates stand in, for `open_log`."""
    names = [n.name for n in candidates]
    doubled = sorted({n for n in names if names.count(n) > 1})
    if doubled:
        raise UsageError(f"candidates given twice: {', '.join(doubled)}")
    return tuple(n.argument for n in candidates if n.kind is Kind.COLUMN)
