"""Is each action logged as often as its logged probabilities say?

Let x be 1 where a decision took an action and else 0, and p the probability logged for
it beforehand. If p is true, S = sum of (x - p) is a martingale with steps of at most 1
either way and variance V = sum of p (1 - p), however the logging policy learns on the
way. Then for every slope s > 0, at all times together,

    P(S >= (log(1 / e) + (exp(s) - 1 - s) V) / s) <= e

(Freedman 1975; Howard, Ramdas, McAuliffe and Sekhon 2020, "Time-uniform Chernoff bounds
via nonnegative supermartingales", Theorem 1 with the psi of Bennett). The slopes 2^3 to
2^-13 share the error equally, so that the lowest of their lines bounds S for rare and
for common actions alike: for V from 1 to 4e9 it lies at most an eighth above the line
of the best slope at the same error.

Two families of tests share `alpha` equally: each day by itself, and all days since the
first. Of a family's half, day number b gets 6 / (pi^2 b^2), where the first day is 1
and days without decisions count. Its actions share that; the running total of an action
has its part of the day that listed it first, beside the others that were new then. The
probability that any action is ever found deviating, whenever one looks, is so at most
`alpha`, for logs that are counted from one fixed first day on.

A logged probability may miss the true one by the declared tolerance of sums, and is
counted in units of 2^-20; bounds are widened by as much as both can amount to.
"""

from __future__ import annotations

import math
from typing import Any

import duckdb
import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions import Log, Profile
from flows.offpolicy.grid import UNIT

ACTION = "action"
DAY = "day"
COUNTS = ("listed", "logged", "probability_part", "variance_part")
SCHEMA = {ACTION: pl.String, **dict.fromkeys(COUNTS, pl.Int64)}
FINDINGS = {
    DAY: pl.Date,
    ACTION: pl.String,
    "listed": pl.Int64,
    "logged": pl.Int64,
    "expected": pl.Float64,
    "standard_error": pl.Float64,
    "z": pl.Float64,
    "allowed": pl.Float64,
    "is_deviating": pl.Boolean,
}
SLOPES = tuple(2.0**k for k in range(3, -14, -1))
# Each day by itself, and all days since the first.
FAMILIES = 2
# Above and below.
DIRECTIONS = 2


def count(con: duckdb.DuckDBPyConnection, log: Log, profile: Profile) -> pl.DataFrame:
    """How often each action was listed and logged, and how often it was to be.

    con: where `log` was checked or prepared, so that it has `measured_decisions`.
    Returns: a frame of `SCHEMA`, sorted by action: decisions that listed it and that
        took it, and the sums of p and of p (1 - p) in units of 2^-20, which add over
        parts of a log to the same bits in any order. Empty when there is nothing to
        compare: a log of propensities, and one whose decisions were kept with several
        sampling probabilities, which may depend on the action.
    """
    is_sampled_unevenly = profile.sample_probability_count > 1
    if log.layout.has_propensities or is_sampled_unevenly or not profile.decisions:
        return pl.DataFrame(schema=SCHEMA)
    pieces = {"entries": "actions", "name": "entry"}
    if profile.actions is not None:
        # Where all lists are the same, names need not be read: 3 times as fast.
        names = ", ".join(map(queries.literal, profile.actions))
        pieces = {
            "entries": f"range(1, {len(profile.actions) + 1})",
            "name": f"([{names}])[entry]",
        }
    query = queries.filled("staging/frequencies", pieces)
    return queries.frame(con, query, {"unit": UNIT})


def findings(
    counts: pl.DataFrame,
    *,
    alpha: float = 0.001,
    sum_tolerance: float = c.SUM_TOLERANCE,
) -> pl.DataFrame:
    """Which actions are logged more or less often than chance allows.

    counts: what `count` returned, of several days with a column `day` (Date); rows of
        equal day and action are added.
    alpha: probability of ever finding any action deviating falsely, in (0, 1).
    sum_tolerance: how far the log's distributions may miss one.
    Returns: a frame of `FINDINGS`, sorted by day and action: a row an action for all
        days together (`day` null) and, where there are days, a row a day and action.
        `logged` and `expected` are decisions, `z` is their difference in standard
        errors (null without any), `allowed` the largest difference that is no finding.
    Raises: ValueError when alpha lies outside (0, 1).
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha} must lie in (0, 1)")
    if DAY not in counts.columns:
        counts = counts.with_columns(pl.lit(None, pl.Date).alias(DAY))
    days = pl.col(DAY) - pl.col(DAY).min()
    number = days.dt.total_days().fill_null(0) + 1
    daily = (
        counts.group_by(DAY, ACTION)
        .agg(pl.col(COUNTS).sum())
        .with_columns(number.alias("number"))
    )
    together = (
        daily.group_by(ACTION)
        .agg(pl.col(COUNTS).sum(), pl.col("number").min())
        .with_columns(pl.lit(None, pl.Date).alias(DAY))
    )
    dated = daily.filter(pl.col(DAY).is_not_null())
    return pl.concat(
        _judged(family, alpha / FAMILIES, sum_tolerance)
        for family in (together, dated.select(together.columns))
    ).sort(DAY, ACTION)


def told(found: pl.DataFrame) -> dict[str, Any]:
    """How many actions were looked at, and those that deviate, as a document.

    found: a frame of `FINDINGS`. Of each deviation: `day` (null: all days together),
    `action`, `logged`, `expected`, `standard_error`, `z` and `allowed`.
    """
    keys = (ACTION, "logged", "expected", "standard_error", "z", "allowed")
    deviating = found.filter("is_deviating").sort(DAY, ACTION)
    return {
        "actions": found[ACTION].n_unique(),
        "deviating": [
            {DAY: None if row[DAY] is None else row[DAY].isoformat()}
            | {key: row[key] for key in keys}
            for row in deviating.iter_rows(named=True)
        ],
    }


def _judged(family: pl.DataFrame, alpha: float, sum_tolerance: float) -> pl.DataFrame:
    """The tests of one family, which share `alpha`."""
    slack = pl.col("listed") * (sum_tolerance + 1.0 / UNIT)
    variance = pl.col("variance_part") / UNIT
    spent = 6.0 / (math.pi * pl.col("number")) ** 2
    share = alpha * spent / pl.len().over("number")
    difference = pl.col("logged") - pl.col("expected")
    error = pl.col("standard_error")
    return (
        family.with_columns(
            (pl.col("probability_part") / UNIT).alias("expected"),
            variance.clip(0.0).sqrt().alias("standard_error"),
            (_bound(variance + slack, share) + slack).alias("allowed"),
        )
        .with_columns(
            pl.when(error > 0).then(difference / error).alias("z"),
            (difference.abs() > pl.col("allowed")).alias("is_deviating"),
        )
        .select(list(FINDINGS))
    )


def _bound(variance: pl.Expr, share: pl.Expr) -> pl.Expr:
    """What |S| exceeds with a probability of at most `share`."""
    log_error = (DIRECTIONS * len(SLOPES) / share).log()
    lines = [(log_error + (math.expm1(s) - s) * variance) / s for s in SLOPES]
    return pl.min_horizontal(lines)
