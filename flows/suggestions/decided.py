"""What is still to be decided, and what a suggestion became once nothing is.

A text is closed for every pair once it was accepted for one or is a question of the
knowledge base, and for its pair once it was rejected there. This holds from the instant
of the review or the import on; the next cycle only follows it.
"""

from __future__ import annotations

import polars as pl

from flows.suggestions.offers import OPEN
from flows.suggestions.pool import key_hash

# A suggestion in one of these may still be reviewed.
LIVE = ("open", "below", "unknown")
# One in these is in the list no more; a decision that is taken back can change that.
LEFT = ("accepted", "rejected", "closed", "gone", "below")


def is_live() -> pl.Expr:
    """Whether a suggestion may still be reviewed."""
    return pl.col("status").is_in(LIVE)


def still_open(
    members: pl.DataFrame, reviews: pl.DataFrame, questions: pl.DataFrame
) -> pl.DataFrame:
    """The rows of table `members` that may be accepted or rejected now."""
    accepted = reviews.filter(verdict="accepted").select("key_hash")
    rejected = reviews.filter(verdict="rejected").select("qna_id", "key_hash")
    return (
        members.filter(OPEN)
        .join(questions.select("key"), on="key", how="anti")
        .with_columns(key_hash=key_hash())
        .join(accepted, on="key_hash", how="anti")
        .join(rejected, on=["qna_id", "key_hash"], how="anti", nulls_equal=True)
        .drop("key_hash")
    )


def settled(
    suggestions: pl.DataFrame,
    members: pl.DataFrame,
    reviews: pl.DataFrame,
    questions: pl.DataFrame,
) -> pl.DataFrame:
    """The suggestions with the status of those that have no open text left.

    `accepted` where one of its texts was, else `rejected` where one was, else `closed`:
    its texts were accepted for another pair or became questions of one.
    """
    waiting = still_open(members, reviews, questions).select("suggestion").unique()
    decided = reviews.group_by("suggestion").agg(
        is_accepted=(pl.col("verdict") == "accepted").any()
    )
    outcome = (
        pl.when(pl.col("is_accepted").is_null())
        .then(pl.lit("closed"))
        .when(pl.col("is_accepted"))
        .then(pl.lit("accepted"))
        .otherwise(pl.lit("rejected"))
    )
    is_waiting = pl.col("suggestion").is_in(waiting["suggestion"].implode())
    status = pl.when(is_live() & ~is_waiting).then(outcome).otherwise("status")
    joined = suggestions.join(decided, on="suggestion", how="left")
    return joined.with_columns(status=status).select(suggestions.columns)


def reopened(suggestions: pl.DataFrame, open_texts: pl.DataFrame) -> pl.DataFrame:
    """The suggestions with those open that left the list and have undecided texts.

    Whether they are large enough is for `flows.suggestions.retention.recounted` to say.
    """
    has_open = pl.col("suggestion").is_in(open_texts["suggestion"].implode())
    has_left = pl.col("status").is_in(LEFT)
    status = pl.when(has_left & has_open).then(pl.lit("open")).otherwise("status")
    return suggestions.with_columns(status=status)
