"""Which answers of a query lie so close together that each may be the right one.

Of the answers from the highest score down, on a scale of 0 to 100: when the top score
is above 20 and at most 95, an answer is near when

    previous - score < 0.7 sqrt(previous)   and   top - score < 1.0 sqrt(top)

where `previous` is the last answer found near, first the top one. At a top of 80 that
is 6.3 to the neighbour and 8.9 to the top, at 40 it is 4.4 and 6.3. The guide that goes
with the rule names about 10 and 4; the code is followed. Two pairs or more make a near
group, and the query is a candidate alternate question of each of them.

Going down, both differences only grow until an answer is near again, so none is after
the first that is not: `previous` is simply the answer above, and the group is what
stands before the first failure. This is what makes the rule a few operations on whole
columns.

Source: the public bot SDK since October 2019 (qna-suggestions section 1.1).
"""

from __future__ import annotations

import polars as pl

SCALE = 100.0
LOWEST_TOP = 20.0  # at or below it nothing was answered
HIGHEST_TOP = 95.0  # above it the answer is clear
TO_PREVIOUS = 0.7
TO_TOP = 1.0


def near_pairs(answers: pl.Series, *, score_unit: float) -> pl.DataFrame:
    """The pairs of each near group.

    answers: lists of struct with `qna_id` and finite `score`, in any order; null and
    empty lists have no group. score_unit: the highest score there can be, 1 or 100.
    Returns: `row` (of `answers`, from 0) and `qna_id`, sorted, each pair once a row.
    """
    scored = (
        pl.DataFrame({"answer": answers})
        .with_row_index("row")
        .filter(pl.col("answer").list.len() > 1)
        .explode("answer")
        .select(
            "row",
            qna_id=pl.col("answer").struct.field("qna_id"),
            score=pl.col("answer").struct.field("score") * (SCALE / score_unit),
        )
        .sort("row", "score", descending=[False, True])
    )
    is_top = (pl.col("row") != pl.col("row").shift(1)).fill_null(value=True)
    top = pl.when(is_top).then("score").forward_fill()
    previous = pl.col("score").shift(1)
    is_close = (previous - pl.col("score") < TO_PREVIOUS * previous.sqrt()) & (
        top - pl.col("score") < TO_TOP * top.sqrt()
    )
    failures = (~(is_top | is_close)).cum_sum()
    before = pl.when(is_top).then(failures).forward_fill()
    is_near = (failures == before) & (top > LOWEST_TOP) & (top <= HIGHEST_TOP)
    pairs = scored.filter(is_near).select("row", "qna_id").unique()
    return pairs.filter(pl.len().over("row") > 1).sort("row", "qna_id")
