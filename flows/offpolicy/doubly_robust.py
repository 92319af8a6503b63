"""Doubly robust scores: a reward model's guess, corrected by what was logged.

With rewards z scaled to [0, 1], w the importance weight on supported actions, q(a) what
a model expects of action a in the decision's context, S the candidate's and P the
logging policy's mean of q, S over supported actions alone, u the candidate's mass on
the others, and q, z those of the logged action, the scores are

    value        S + w (z - q)               mean in [V - E[u], V]
    improvement  S - P + (w - 1)(z - q)      mean in [D - E[u], D]

whatever the model says, as long as it was fitted on other decisions: that of a night is
fitted on earlier nights. Decisions in time order, and bets that are fixed before a
night, then see scores whose mean, given everything before, is at most V or D. The 79
hash blocks of `fixed` run across nights; a model has seen decisions of all of them, so
that method cannot be used. (P - q has mean 0; without it an improvement would be noisy
where the candidate acts as the logging policy does.)

A lower end bets on these scores, an upper end on minus the scores with u added. A
missing reward takes the worst z for each: 0 or 1. Probabilities give S + u <= 1, and
w <= 1 / (logging probability), hence

    value        -(B - 1) <= score,  score + u <= B       B = 1 / floor
    improvement  neither exceeds max(2, B - 1)

nor, with W the candidate's largest weight, 1 + W. Scores are counted as signed weights
on the grid of evidence, with a reward of 1 and as rows without support, which no
control variate touches; fixed-point rounding is that of weights.

A night without a model (the first) expects 0 of everything, which makes its scores
those of importance weighting.

Source: Dudik, Langford and Li (2011), "Doubly robust policy evaluation and learning",
section 3; Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro (2024), "Anytime-valid
off-policy inference for contextual bandits", on predictions made before each decision;
validity.md 1, 13 and 16. Ranges and the improvement's scores are derived here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from flows import columns as c
from flows.offpolicy import evidence
from flows.offpolicy.blocks import Blocks, block
from flows.offpolicy.evidence import LARGEST, SCHEMA, SUPPORT_MISSING
from flows.offpolicy.grid import REWARD_CELLS, UNIT, Grid, product
from flows.offpolicy.reward_model import RewardModel
from flows.policies.scorable import POSITION, Lists, Scored

# No score exceeds this where B is smaller.
LEAST_RANGE = 2.0
# What is bet on: means whose lower ends bound the estimand from below and, of minus
# the score with all that is missing at its best, from above.
LOWER, UPPER = "lower", "upper"
PREDICTED = "untaken_predicted"
NO_CONTEXT = "untaken_no_context"


def count(
    log: Lists,
    candidates: Sequence[Scored],
    *,
    actions: Sequence[str],
    model: RewardModel,
    grid: Grid,
    blocks: Blocks,
) -> pl.DataFrame:
    """The counted scores of one day for each candidate.

    log: decisions that all list `actions`, in this order.
    model: fitted on earlier days.
    grid: that of evidence.
    Returns: evidence with a column `score`, "value lower" and so on; sorted.
    """
    found = []
    for frame in log.frames:
        rows = _predicted(frame, model, actions)
        plans = [_counted(log, rows, one, grid, blocks) for one in candidates]
        found += pl.collect_all(plans, engine="streaming")
    return _added(pl.concat(found))


def _added(counts: pl.DataFrame) -> pl.DataFrame:
    """Adds rows of equal keys; fills in what all scores share as evidence."""
    keys = ["candidate", "score", "block", "sample_probability", "weight_cell"]
    sums = ("decisions", "weight_part", "weight_square_part")
    constant = {
        **dict.fromkeys(("other", "segment_by", "segment"), ""),
        "kind": SUPPORT_MISSING,
        "reward_cell": REWARD_CELLS - 1,
        "unsupported_part": 0,
        "other_unsupported_part": 0,
    }
    return (
        counts.group_by(keys)
        .agg(*(pl.col(name).sum() for name in sums), pl.col(LARGEST).max())
        .with_columns(
            *(
                pl.lit(v, dtype=SCHEMA[name]).alias(name)
                for name, v in constant.items()
            ),
            reward_part=pl.col("decisions") * UNIT,
            product_part=pl.col("weight_part"),
        )
        .sort(keys)
        .select("score", *SCHEMA)
    )


def grid_of_scores(grid: Grid) -> Grid:
    """The grid on which scores are counted: no score leaves it."""
    return replace(grid, floor=min(grid.floor, 1.0 / LEAST_RANGE))


def _predicted(
    frame: pl.LazyFrame, model: RewardModel, actions: Sequence[str]
) -> pl.LazyFrame:
    """The frame with what the model expects of each action, joined by context."""
    names = set(frame.collect_schema().names())
    keys = [column.name for column in model.columns if column.name in names]
    if not keys:
        frame = frame.with_columns(pl.lit(0, dtype=pl.Int64).alias(NO_CONTEXT))
        keys = [NO_CONTEXT]
    contexts = frame.select(keys).unique().collect(engine="streaming")
    expected = pl.Series(
        PREDICTED,
        model.predict(contexts, actions),
        dtype=pl.Array(pl.Float64, len(actions)),
    )
    known = contexts.with_columns(expected).lazy()
    return frame.join(known, on=keys, how="left", nulls_equal=True)


def _counted(
    log: Lists, frame: pl.LazyFrame, candidate: Scored, grid: Grid, blocks: Blocks
) -> pl.LazyFrame:
    """The scores of a candidate, counted by block and cell."""
    if candidate.expected is None:
        raise ValueError(f"{candidate.name} gives no probability for every action")
    numbers, floor = pl.col(PREDICTED), grid.tolerated_floor
    logged = log.array(c.LOGGING_PROBABILITIES)
    kept = pl.col(c.SAMPLE_PROBABILITY) if log.is_sampled else pl.lit(1.0)
    rows = frame.select(
        block(blocks).alias("block"),
        kept.alias("sample_probability"),
        evidence.weight(log, candidate, floor).alias("w"),
        candidate.unsupported.alias("u"),
        candidate.expected(numbers).alias("of_candidate"),
        (logged * numbers).arr.sum().alias("of_logging"),
        numbers.arr.get(pl.col(POSITION)).alias("q"),
        grid.scaled(pl.col(c.REWARD)).alias("z"),
    )
    return _grouped(
        rows.select("block", "sample_probability", **_scores()), grid_of_scores(grid)
    ).with_columns(candidate=pl.lit(candidate.name))


def _scores() -> dict[str, pl.Expr]:
    """What each end bets on; missing rewards are at their worst for it."""
    w, q, u, z = (pl.col(name) for name in ("w", "q", "u", "z"))
    of_candidate, gained = pl.col("of_candidate"), w - 1.0
    ahead = of_candidate - pl.col("of_logging")
    is_less = (gained < 0.0).cast(pl.Float64)
    return {
        f"value {LOWER}": of_candidate + w * (z.fill_null(0.0) - q),
        f"value {UPPER}": -(of_candidate + w * (z.fill_null(1.0) - q) + u),
        f"improvement {LOWER}": ahead + gained * (z.fill_null(is_less) - q),
        f"improvement {UPPER}": -(
            ahead + gained * (z.fill_null(1.0 - is_less) - q) + u
        ),
    }


def _grouped(rows: pl.LazyFrame, grid: Grid) -> pl.LazyFrame:
    index = ["block", "sample_probability"]
    listed = rows.unpivot(index=index, variable_name="score", value_name="number")
    number, cell = pl.col("number"), pl.col("weight_cell")
    part = pl.col("weight_part")
    return (
        listed.with_columns(weight_cell=grid.weight_cell(number))
        .with_columns(weight_part=grid.weight_part(number, cell))
        .group_by("score", *index, "weight_cell")
        .agg(
            pl.len().cast(pl.Int64).alias("decisions"),
            part.sum(),
            product(part, part).sum().alias("weight_square_part"),
            part.max().alias(LARGEST),
        )
    )
