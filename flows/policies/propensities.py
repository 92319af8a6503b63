"""How a log with the probability of the logged action alone is laid out for scoring.

as_it_is   candidates stand in columns of the log, in look-ups by context or in their
           names: the files are read where they lie
laid_out   tables keyed by decision: each candidate's probability of the logged action
           is written once, beside the log

A candidate's mass on actions that are not among the declared ones is known to have no
support. Where none are declared, nothing is known of the actions that were not taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb
import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions import Log
from flows.decisions.log import as_list
from flows.errors import PolicyError
from flows.policies import tables
from flows.policies.layouts import Sources, kept_columns, look_up, written
from flows.policies.request import Columns, Prepared, Request, in_log, within
from flows.policies.scorable import Propensities, completed, position_in
from flows.policies.spec import Candidate, Kind

# Kinds of candidates that need to know which actions could be taken.
NEEDS_ACTIONS = (Kind.UNIFORM, Kind.FIRST, Kind.FUNCTION, Kind.ROW_FUNCTION)
# Of a candidate's columns: its probability of the logged action, its mass on others.
ENDS = ("", "_unlisted")


def require_actions(log: Log, candidates: Sequence[Candidate]) -> None:
    """Raises: PolicyError for candidates that need actions nobody declared."""
    if not log.layout.has_propensities or log.layout.actions:
        return
    names = [repr(n.name) for n in candidates if n.kind in NEEDS_ACTIONS]
    if names:
        raise PolicyError(
            "a log of propensities does not hold the names of all actions that could "
            f"be taken, without which there is no {', '.join(names)}. Declare them, "
            'named as in the log: actions = ["...", "..."]'
        )


def as_it_is(
    con: duckdb.DuckDBPyConnection, request: Request, sources: Sources
) -> Prepared:
    """Reads each candidate's probability of the logged action where the log lies."""
    log = sources.log
    window = None if sources.is_windowed else request.window
    frames = [within(frame, window) for frame in log.scans()]
    columns: Columns = {}
    for number, candidate in enumerate(request.candidates):
        own = f"untaken_candidate_{number}"
        unlisted = f"{own}_unlisted"
        stands: list[pl.Expr] = []
        if candidate.name in sources.tables:
            table = sources.tables[candidate.name]
            for entries in _look_ups(con, table, log, own):
                on = entries.columns[:-1]
                frames = [_joined(frame, entries, on) for frame in frames]
            unlisted = unlisted if _takes_others(table, log) else ""
        elif candidate.name in sources.columns:
            column, unlisted = sources.columns[candidate.name]
            stands = [pl.col(column).list.get(position_in(log.layout.actions))]
        elif candidate.kind is Kind.COLUMN:
            stands = _standing(log, candidate.argument)
            unlisted = unlisted if len(stands) > 1 else ""
        else:
            continue
        named = [n.alias(own + end) for n, end in zip(stands, ENDS, strict=False)]
        frames = [frame.with_columns(named) for frame in frames]
        columns[candidate.name] = (own, unlisted)
    kept = tuple(completed(frame, log) for frame in frames)
    return _prepared(request, sources, kept, columns)


def laid_out(
    con: duckdb.DuckDBPyConnection, request: Request, sources: Sources
) -> Prepared:
    """Writes each candidate's probability of the logged action beside the log."""
    log = sources.log
    stands: list[str] = []
    columns: Columns = {}
    for number, candidate in enumerate(request.candidates):
        if candidate.name in sources.tables:
            table = sources.tables[candidate.name]
            taken = table.probability("measured_decisions.action")
            unlisted = table.unlisted()
        elif candidate.name in sources.columns:
            column, unlisted = sources.columns[candidate.name]
            taken = f"{column}[list_position(actions, action)]"
        elif candidate.kind is Kind.COLUMN:
            taken, unlisted = in_log(log, candidate)
            if log.stands(candidate.argument) == "list":
                taken = f"({taken})[list_position(actions, action)]"
        else:
            continue
        own = f"untaken_candidate_{number}"
        stands.append(f"{taken} as {own}")
        stands.append(f"({unlisted})::double as {own}_unlisted")
        columns[candidate.name] = (own, f"{own}_unlisted")
    target = request.work / "scorable.parquet"
    queries.run(
        con,
        "staging/scorable_propensities",
        columns=kept_columns(request, log),
        candidates=",\n        ".join(stands),
        joins="\n    ".join(table.join for table in sources.tables.values()),
        file=queries.literal(str(target)),
    )
    frames = written(target, log)
    return _prepared(request, sources, frames, columns)


def _prepared(
    request: Request,
    sources: Sources,
    frames: tuple[pl.LazyFrame, ...],
    columns: Columns,
) -> Prepared:
    layout = sources.log.layout
    scorable = Propensities(
        frames=frames,
        is_sampled=sources.log.is_sampled,
        actions=layout.actions,
        full_support=layout.full_support,
    )
    return Prepared(sources.profile, scorable, request.candidates, columns)


def _standing(log: Log, column: str) -> list[pl.Expr]:
    """A candidate of a column: its probability, and its mass on undeclared actions."""
    stands, actions = log.stands(column), log.layout.actions
    if stands == "list":
        return [as_list(log, column, pl.Float64).list.get(position_in(actions))]
    if stands == "probability":
        return [pl.col(column).cast(pl.Float64)]
    name = pl.col(column).cast(pl.String)
    is_taken = (name == pl.col(c.ACTION)).cast(pl.Float64)
    if not actions:
        return [is_taken]
    return [is_taken, (~name.is_in(list(actions))).cast(pl.Float64)]


def _look_ups(
    con: duckdb.DuckDBPyConnection, table: tables.Table, log: Log, own: str
) -> Iterator[pl.DataFrame]:
    """Frames to join: the look-up's probabilities, and its mass on undeclared actions.

    All columns but the last are keys.
    """
    keys = [queries.identifier(key) for key in table.keys]
    query = queries.filled(
        "staging/look_up_entries", {"keys": ", ".join(keys), "table": table.name}
    )
    yield queries.frame(con, query).select(
        *(pl.col(key).cast(log.types[key]) for key in table.keys),
        pl.col("entry_action").alias(c.ACTION),
        pl.col("entry_probability").alias(own),
    )
    if _takes_others(table, log):
        yield look_up(con, table, log, log.layout.actions).select(
            *table.keys, pl.col(f"{table.name}_unlisted").alias(f"{own}_unlisted")
        )


def _joined(
    frame: pl.LazyFrame, entries: pl.DataFrame, on: Sequence[str]
) -> pl.LazyFrame:
    joined = frame.join(entries.lazy(), on=on, how="left", nulls_equal=True)
    return joined.with_columns(pl.col(entries.columns[-1]).fill_null(0.0))


def _takes_others(table: tables.Table, log: Log) -> bool:
    """Whether a table gives mass to actions that are not among those declared."""
    actions = log.layout.actions
    return bool(actions) and not {*table.action_names} <= {*actions}
