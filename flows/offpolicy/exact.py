"""Exact scores, counted: what `compat` needs and the grid cannot give.

`compat` reproduces another tool to 1e-9 of the score range, so it is computed from the
distinct (weight, reward) pairs of the log, compared with the declared floor itself. A
decision without a reward, or whose candidate has any mass on an action logged below the
floor, is missing and stands at both ends of the score range (001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import polars as pl

from flows import columns as c
from flows.intervals import Interval, bounded_mean
from flows.offpolicy.evidence import counted, segment_text, weight
from flows.offpolicy.grid import Grid
from flows.policies.scorable import Scorable, Scored

KEYS = ("segment_by", "segment", "is_missing", "weight", "reward")
SCHEMA = {
    "candidate": pl.String,
    "segment_by": pl.String,
    "segment": pl.String,
    "is_missing": pl.Boolean,
    "weight": pl.Float64,
    "reward": pl.Float64,
    "decisions": pl.Int64,
}


def count(
    log: Scorable,
    candidates: Sequence[Scored],
    *,
    grid: Grid,
    segments: Sequence[Sequence[str]] = (),
) -> pl.DataFrame:
    """How many decisions have each weight and reward; missing ones carry 0.0."""

    def grouped(
        frame: pl.LazyFrame, candidate: Scored, cut: Sequence[str]
    ) -> pl.LazyFrame:
        is_missing = pl.col(c.REWARD).is_null() | (candidate.unsupported > 0)
        rows = frame.select(
            segment_text(cut).alias("segment"),
            is_missing.alias("is_missing"),
            weight(log, candidate, grid.floor).alias("weight"),
            pl.col(c.REWARD).alias("reward"),
        ).with_columns(
            pl.when(~pl.col("is_missing")).then(pl.col(name)).otherwise(0.0)
            for name in ("weight", "reward")
        )
        return (
            rows.group_by("segment", "is_missing", "weight", "reward")
            .agg(pl.len().cast(pl.Int64).alias("decisions"))
            .with_columns(
                candidate=pl.lit(candidate.name), segment_by=pl.lit(", ".join(cut))
            )
        )

    parts = counted(log, candidates, segments, grouped)
    return merge(pl.concat(part.select(list(SCHEMA)) for part in parts))


def merge(counts: pl.DataFrame) -> pl.DataFrame:
    """Adds rows of equal keys; exact, and the same for any order of the rows."""
    keys = ["candidate", *KEYS]
    return (
        counts.group_by(keys)
        .agg(pl.col("decisions").sum())
        .sort(keys)
        .select(list(SCHEMA))
    )


def estimate(
    counts: pl.DataFrame,
    estimand: str,
    *,
    grid: Grid,
    confidence: float,
    is_logging: bool,
) -> tuple[float, Interval] | None:
    """Mean over the decisions that are not missing, and compat's interval.

    counts: rows of one candidate and segment.
    is_logging: the candidate is the logging policy, whose weight is exactly 1.
    Returns: None when every decision is missing.
    """
    low, span = grid.lowest, grid.span
    inverse = 1.0 if is_logging else 1.0 / grid.floor
    missing = counts["is_missing"].to_numpy()
    weights, rewards = counts["weight"].to_numpy(), counts["reward"].to_numpy()
    number = counts["decisions"].to_numpy()
    if missing.all():
        return None
    if estimand == "value":
        scores = low + weights * (rewards - low)
        ends = (low, low + span * inverse)
    else:
        scores = (weights - 1.0) * (rewards - low)
        ends = (-span, span * max(1.0, inverse - 1.0))
    scores = scores.clip(*ends)
    kept = ~missing
    total = math.fsum((scores[kept] * number[kept]).tolist())
    interval = bounded_mean(
        np.where(missing, ends[0], scores),
        np.where(missing, ends[1], scores),
        number.astype("float64"),
        value_range=ends,
        confidence=confidence,
    )
    return total / int(number[kept].sum()), interval
