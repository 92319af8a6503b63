"""What callables answer, written beside the log and checked like any candidate.

Every callable is asked once for every decision of the window. The answers stand in a
canonical copy of the log, so that everything after reads lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions import CandidateColumn, Log, check, open_log
from flows.errors import PolicyError, ViolationsError
from flows.policies.callables import LISTED, UNLISTED, Caller
from flows.policies.request import Columns, Request, in_log, within
from flows.policies.spec import Kind


def ask(
    con: duckdb.DuckDBPyConnection, request: Request, callers: Sequence[Caller]
) -> tuple[Log, Columns]:
    """Asks every callable for every decision.

    Returns: the log with the answers in it, and the columns they stand in, as lists
    parallel to `actions`; candidates that named their actions are among them.
    Raises: PolicyError when a function raises or returns no distributions.
    """
    log, standing = request.log, Columns()
    if log.layout.probabilities not in ("lists", "propensity"):
        log, standing = _canonical(con, request)
    columns = {
        called.candidate.name: (f"called_{number}", f"called_{number}_unlisted")
        for number, called in enumerate(callers)
    }
    target = request.work / "called.parquet"
    _write(log, request, callers, columns, target)
    beside = _opened(log, target, columns, extra=log.extra)
    checked = [CandidateColumn(name, *stands) for name, stands in columns.items()]
    try:
        check(con, beside, reward_range=request.reward_range, candidates=checked)
    except ViolationsError as error:
        raise _not_a_distribution(error) from None
    return beside, {**standing, **columns}


def _write(
    log: Log,
    request: Request,
    callers: Sequence[Caller],
    columns: Columns,
    target: Path,
) -> None:
    frame = within(log.scan(), request.window)
    if log.layout.has_propensities:
        declared = pl.lit(list(log.layout.actions), dtype=pl.List(pl.String))
        frame = frame.with_columns(declared.alias(c.ACTIONS))
    for called in callers:
        listed, unlisted = columns[called.candidate.name]
        # A column of its own, since an expression used twice is evaluated twice.
        answer = called.expression(log.layout.context).alias(listed)
        field = pl.col(listed).struct.field
        frame = frame.with_columns(answer).with_columns(
            field(LISTED).alias(listed), field(UNLISTED).alias(unlisted)
        )
    if log.layout.has_propensities:
        frame = frame.drop(c.ACTIONS)
    try:
        frame.sink_parquet(
            target, engine="streaming", compression="zstd", compression_level=1
        )
    except Exception as error:
        failure = next((k.failure for k in callers if k.failure), None)
        if failure is None:
            raise
        raise failure from error


def _canonical(con: duckdb.DuckDBPyConnection, request: Request) -> tuple[Log, Columns]:
    """The log in canonical form, with the candidates that stand in it as lists."""
    log, target = request.log, request.work / "canonical.parquet"
    kept = [c.ACTION, c.ACTIONS, c.LOGGING_PROBABILITIES, c.REWARD]
    kept += [c.DECISION_ID] * log.has_ids + [c.DECIDED_AT] * log.is_dated
    kept += [*log.optional, *map(queries.identifier, log.layout.other_columns)]
    standing: Columns = {}
    for number, candidate in enumerate(request.candidates):
        if candidate.kind is Kind.COLUMN:
            names = f"standing_{number}", f"standing_{number}_unlisted"
            listed, unlisted = in_log(log, candidate)
            kept += [f"{listed} as {names[0]}", f"({unlisted})::double as {names[1]}"]
            standing[candidate.name] = names
    queries.run(
        con,
        "staging/canonical",
        columns=", ".join(dict.fromkeys(kept)),
        file=queries.literal(str(target)),
    )
    return _opened(log, target, standing, extra=()), standing


def _opened(log: Log, file: Path, columns: Columns, *, extra: Sequence[str]) -> Log:
    """The log as it stands in `file`: canonical, with the candidates of `columns`."""
    layout = replace(
        log.layout,
        columns={},
        probabilities="propensity" if log.layout.has_propensities else "lists",
        has_rewards=True,
        default_reward=None,
        beside=(*log.layout.beside, *(unlisted for _, unlisted in columns.values())),
    )
    return open_log(
        [str(file)],
        layout,
        dated=log.is_dated,
        with_ids=log.has_ids,
        extra=(*extra, *(listed for listed, _ in columns.values())),
    )


def _not_a_distribution(error: ViolationsError) -> PolicyError:
    lines = []
    for rule in error.broken:
        lines.append(f"{rule.rule} ({rule.count:,} decisions): {rule.sentence}")
        lines += [
            f"  decision {row.decision_id or f'in row {row.row}'}: {row.value}"
            for row in rule.rows
        ]
    return PolicyError(
        "a candidate's function does not return distributions; nothing was scored.\n"
        + "\n".join(lines)
    )
