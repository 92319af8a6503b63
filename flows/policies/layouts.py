"""The two ways a checked log is laid out for scoring (`flows.policies.scorable`).

as_it_is   all decisions list the same actions: the files are read where they lie
laid_out   everything else: padded lists are written once, beside the log

Logs of propensities have their own (`flows.policies.propensities`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions import Log, Profile
from flows.decisions.pieces import pieces
from flows.policies import tables
from flows.policies.request import Columns, Prepared, Request, in_log, within
from flows.policies.scorable import Lists, closed, completed
from flows.policies.spec import Kind

# DuckDB's own size, its least one, and how many list entries are held at once.
GROUP_ROWS = 122_880
LEAST_GROUP_ROWS = 2_048
GROUP_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Sources:
    """A checked log and where its candidates are found.

    is_windowed: `log` holds the decisions of the window alone.
    tables: per candidate the table it was loaded into.
    columns: per candidate the columns of `log` that were written for it.
    """

    log: Log
    is_windowed: bool
    profile: Profile
    tables: Mapping[str, tables.Table]
    columns: Columns


def as_it_is(
    con: duckdb.DuckDBPyConnection, request: Request, sources: Sources
) -> Prepared:
    """Every decision lists the same actions: score the files where they lie."""
    log, actions = sources.log, sources.profile.actions or ()
    window = None if sources.is_windowed else request.window
    frames = [within(frame, window) for frame in log.scans()]
    columns = dict(sources.columns)
    for candidate in request.candidates:
        name = candidate.name
        if candidate.kind is Kind.COLUMN and name not in columns:
            columns[name] = (candidate.argument, "")
        elif name in sources.tables:
            table = sources.tables[name]
            columns[name] = (table.name, f"{table.name}_unlisted")
            entries = look_up(con, table, log, actions)
            frames = [
                frame.join(
                    entries.lazy(), on=list(table.keys), how="left", nulls_equal=True
                )
                for frame in frames
            ]
    frames = [completed(frame, log) for frame in frames]
    scorable = closed(frames, actions, is_sampled=log.is_sampled)
    return Prepared(sources.profile, scorable, request.candidates, columns)


def laid_out(
    con: duckdb.DuckDBPyConnection, request: Request, sources: Sources
) -> Prepared:
    """Decisions list different actions, or keys are decisions: write padded lists."""
    log, width = sources.log, sources.profile.action_count
    lists: list[str] = []
    columns: Columns = {}
    for number, (name, expressions) in enumerate(_stands(request, sources).items()):
        listed, unlisted = expressions
        column = f"candidate_{number}"
        lists.append(f"list_resize({listed}, {width}, 0.0) as {column}")
        lists.append(f"({unlisted})::double as {column}_unlisted")
        columns[name] = (column, f"{column}_unlisted")
    target = request.work / "scorable.parquet"
    queries.run(
        con,
        "staging/scorable",
        columns=kept_columns(request, log),
        width=str(width),
        rows=str(_group_rows(width)),
        candidates=",\n        ".join(lists) or "0 as no_candidate",
        joins="\n    ".join(table.join for table in sources.tables.values()),
        file=queries.literal(str(target)),
    )
    scorable = Lists(
        frames=written(target, log),
        is_sampled=log.is_sampled,
        width=width,
    )
    return Prepared(sources.profile, scorable, request.candidates, columns)


def kept_columns(request: Request, log: Log) -> str:
    """What a file laid out for scoring keeps of each decision, besides its scores."""
    kept = [c.DECISION_ID] * log.has_ids + [c.DECIDED_AT] * log.is_dated
    kept += [c.SAMPLE_PROBABILITY] * log.is_sampled
    kept += [c.IS_DEFAULT] * log.has_defaults
    kept += [queries.identifier(name) for name in request.keep if name not in kept]
    named = (f"measured_decisions.{name}" for name in dict.fromkeys(kept))
    return ",\n        ".join(named) or "null as nothing"


def written(file: Path, log: Log) -> tuple[pl.LazyFrame, ...]:
    """A file of `log`, laid out for scoring, in pieces."""
    return tuple(
        completed(
            pl.scan_parquet(file, glob=False).slice(piece.offset, piece.rows), log
        )
        for piece in pieces([str(file)])
    )


def _group_rows(width: int) -> int:
    """Rows of a row group, so that long lists do not fill the memory."""
    return max(LEAST_GROUP_ROWS, min(GROUP_ROWS, GROUP_CELLS // width))


def _stands(request: Request, sources: Sources) -> dict[str, tuple[str, str]]:
    """Per candidate, DuckDB expressions of its parallel list and its unlisted mass."""
    stands: dict[str, tuple[str, str]] = {}
    for candidate in request.candidates:
        name = candidate.name
        if name in sources.columns:
            listed, unlisted = sources.columns[name]
            stands[name] = (listed, unlisted or "0")
        elif candidate.kind is Kind.COLUMN:
            stands[name] = in_log(sources.log, candidate)
        elif name in sources.tables:
            table = sources.tables[name]
            stands[name] = (table.column(), table.unlisted())
        elif candidate.kind is Kind.CONSTANT:
            action = queries.literal(candidate.argument)
            stands[name] = (
                f"list_transform(actions, lambda a: (a = {action})::double)",
                f"(not list_contains(actions, {action}))::double",
            )
    return stands


def look_up(
    con: duckdb.DuckDBPyConnection,
    table: tables.Table,
    log: Log,
    actions: Sequence[str],
) -> pl.DataFrame:
    """A table by its keys: probabilities along `actions`, and the mass on others."""
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
