"""Evaluates candidates on a log at once: no job file, no warehouse, one window.

The method is `fixed`, for one look at one data set; a log without ids, or one whose
logging policy or rewards change over time, takes `mixture`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from flows import queries
from flows.columns import FLOOR_TOLERANCE
from flows.decisions import Layout, Log, find, open_log
from flows.errors import LogError, UsageError
from flows.offpolicy import evidence as cells_of
from flows.offpolicy import exact as exact_of
from flows.offpolicy import frequencies
from flows.offpolicy.blocks import Blocks
from flows.offpolicy.evaluation import OWN, Counted, Evaluation
from flows.offpolicy.grid import Grid
from flows.offpolicy.methods import METHODS, Design, Logging, Method
from flows.offpolicy.sampling import sampling
from flows.policies import (
    Candidate,
    Request,
    column_candidates,
    largest_probability,
    parse,
    prepare,
)
from flows.policies.scorable import Scored

COMPAT = "compat"
NO_COMPAT = (
    "compat counts a decision as missing when any mass of the candidate lacks support, "
    "which a log of propensities alone does not tell; declare full_support or use "
    "another method"
)


def evaluate(  # noqa: PLR0913 - what is known by design, and where to look
    log: str | Path | Sequence[str | Path],
    *,
    candidates: Sequence[str | Candidate],
    reward_range: tuple[float, float],
    floor: float,
    method: Method | None = None,
    confidence: float = 0.95,
    logging: Logging = "fixed",
    drift: bool = False,
    least_sample_probability: float = 1.0,
    compare: bool = False,
    second_lines: bool = False,
    context: Sequence[str] = (),
    by: Sequence[str] = (),
    layout: Layout | None = None,
    listing: Path | None = None,
) -> Evaluation:
    """Value and improvement of each candidate on the decisions of `log`.

    log: Parquet files, folders or globs; dated or not.
    candidates: SPECs (`flows.policies.spec`) or candidates read before.
    reward_range: lowest and highest reward a decision can have, by design.
    floor: least probability the logging policy gave any action a candidate may take,
        by design, in (0, 1].
    method: None: `fixed` where it can be used, else `mixture`.
    logging: "adaptive" when the logging policy changed between days because of
        rewards, "reacting" within them; drift: the mean reward of decisions may change.
        All need a dated log (`flows.offpolicy.methods`).
    least_sample_probability: by design, that a decision was kept in the log.
    compare: also the difference of each two candidates.
    second_lines: also approximate intervals, labelled so.
    context: the columns candidates see; by: a cut, told apart beside all decisions.
    layout: names and form of the log's columns; `context` is added to it.
    listing: where to write all violating rows.
    Raises: UsageError, LogError (ViolationsError among them), PolicyError.
    """
    given = layout or Layout()
    grid = Grid(
        floor,
        *reward_range,
        tolerance=0.0 if method == COMPAT else FLOOR_TOLERANCE,
        sum_tolerance=given.sum_tolerance,
        least_sample_probability=least_sample_probability,
    )
    read = [n if isinstance(n, Candidate) else parse(n) for n in candidates]
    seen, cut = (*given.context, *context), tuple(by)
    opened = _open(log, replace(given, context=seen, beside=cut), read)
    design = _design(opened, method, confidence, logging, is_drifting=drift)
    with tempfile.TemporaryDirectory(prefix="untaken-") as work:
        request = Request(
            log=opened,
            candidates=(OWN, *read),
            reward_range=reward_range,
            work=Path(work),
            keep=cut,
            listing=listing,
        )
        counted = _count(request, grid, design, compare=compare)
    return counted.evaluation(read, cut, compare=compare, second_lines=second_lines)


def _open(
    log: str | Path | Sequence[str | Path], layout: Layout, read: Sequence[Candidate]
) -> Log:
    """Opens the log with the columns that candidates stand in."""
    if not read:
        raise UsageError("give at least one candidate")
    paths = [log] if isinstance(log, str | Path) else list(log)
    return open_log(
        find([str(path) for path in paths]),
        layout,
        dated=None,
        with_ids=None,
        extra=column_candidates(read),
    )


def _design(
    log: Log,
    method: Method | None,
    confidence: float,
    logging: Logging,
    *,
    is_drifting: bool,
) -> Design:
    """How intervals are made. Raises: UsageError when the log cannot carry it."""
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} must lie in (0, 1)")
    if method not in (None, *METHODS):
        raise UsageError(f"method {method!r} is none of {', '.join(METHODS)}")
    usual: Method = "fixed" if log.has_ids else "mixture"
    design = Design(method or usual, confidence, logging, is_drifting)
    if design.is_by_night and not log.is_dated:
        raise UsageError(
            "adaptive or reacting logging and drift need decided_at: intervals go "
            "by day"
        )
    if design.used == COMPAT and not log.layout.knows_support:
        raise UsageError(NO_COMPAT)
    if design.used == "anytime":
        raise UsageError(
            "anytime is for nights that are looked at one after the other: use a job "
            "file and untaken nightly. At one look, fixed is narrower"
        )
    if design.used == "fixed" and not log.has_ids:
        raise UsageError(
            "fixed needs decision_id, whose hash tells its blocks apart; without ids "
            "use mixture"
        )
    return design


def _count(request: Request, grid: Grid, design: Design, *, compare: bool) -> Counted:
    """Checks the log and counts the evidence of every candidate."""
    if compare and design.used == COMPAT:
        raise UsageError("differences of candidates are not made by compat")
    log, cuts = request.log, [request.keep] if request.keep else []
    blocks: Blocks = "hash_blocks" if design.used == "fixed" else "one"
    with queries.connection() as con:
        prepared = prepare(con, request)
        if prepared.profile.decisions == 0:
            raise LogError(
                f"no decision in {len(log.files)} files; nothing to evaluate"
            )
        rows, scored = prepared.scorable, prepared.scored(grid.tolerated_floor)
        cells = cells_of.count(
            rows,
            [*scored, *(_pairs(scored) if compare else ())],
            grid=grid,
            segments=cuts,
            blocks="days" if design.is_by_night else blocks,
            sampling=sampling(log, prepared.profile, grid),
        )
        cells_of.require_all(cells, prepared.profile.decisions)
        exact = None
        if design.used == COMPAT:
            exact = exact_of.count(rows, scored, grid=grid, segments=cuts)
        taken = frequencies.count(con, log, prepared.profile)
    if design.is_by_night:
        cells = cells.with_columns(day=pl.col("block").cast(pl.Int32).cast(pl.Date))
    return Counted(
        files=log.files,
        profile=prepared.profile,
        unknown=prepared.unknown,
        cells=cells,
        exact=exact,
        grid=grid,
        design=design,
        knows_support=rows.knows_support,
        largest={
            candidate.name: largest_probability(candidate, prepared.profile.actions)
            for candidate in request.candidates
        },
        frequencies=frequencies.findings(taken, sum_tolerance=log.layout.sum_tolerance),
    )


def _pairs(scored: Sequence[Scored]) -> list[cells_of.Pair]:
    """Each two candidates, the logging policy left out."""
    _, *candidates = scored
    return [
        cells_of.Pair(one, other)
        for number, one in enumerate(candidates)
        for other in candidates[number + 1 :]
    ]
