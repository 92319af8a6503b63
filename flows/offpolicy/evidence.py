"""Evidence: the counts that any interval is computed from, without the log.

One row a day, candidate, segment, hash block, kind, sampling probability and cell;
int64 sums that add over days, files and workers to the same bits in any order. Bets
that are fixed within a block see the data only through that block's counts, so this
table is a sufficient state (DESIGN section 3, "Evidence is the central idea").

The weight counted is the weight on supported actions: 0 where the logged action itself
lies below the floor. `kind` is 0 for a measured decision, plus 1 when its reward is
missing, plus 2 when the candidate has mass without support, plus 4 when its reward is
the declared default one. Of two compared candidates the difference of their weights is
counted, `other` names the second one, and 2 is added when either has mass without
support.

`sample_probability` is the probability with which the decision was kept in the log: an
axis, since estimates are ratios then (validity.md 13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from flows import columns as c
from flows.errors import UntakenError
from flows.offpolicy.blocks import Blocks, block
from flows.offpolicy.grid import UNIT, Grid, product
from flows.policies.scorable import Scorable, Scored

SCHEMA_VERSION = 3
# The sampling probability at which a decision is counted.
Q = "counted_sample_probability"
REWARD_MISSING = 1
SUPPORT_MISSING = 2
REWARD_DEFAULT = 4
NO_SEGMENT = ""
NULL_SEGMENT = "(null)"
NO_OTHER = ""
# A value that looks like a null, or among several like two values.
LIKE_NULL = r"^\(null\)$"
AMBIGUOUS = r"[\\,]|^\(null\)$"

KEYS = (
    "segment_by",
    "segment",
    "block",
    "kind",
    "sample_probability",
    "weight_cell",
    "reward_cell",
)
SUMS = (
    "decisions",
    "weight_part",
    "reward_part",
    "product_part",
    "weight_square_part",
    "unsupported_part",
    "other_unsupported_part",
)
LARGEST = "largest_weight_part"

SCHEMA = {
    "candidate": pl.String,
    "other": pl.String,
    "segment_by": pl.String,
    "segment": pl.String,
    "block": pl.Int64,
    "kind": pl.Int64,
    "sample_probability": pl.Float64,
    "weight_cell": pl.Int64,
    "reward_cell": pl.Int64,
    **dict.fromkeys(SUMS, pl.Int64),
    LARGEST: pl.Int64,
}
SUBJECT = ["candidate", "other"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two candidates whose difference is counted: the first one's minus the other's."""

    one: Scored
    other: Scored


Subject = Scored | Pair
T = TypeVar("T", bound=Subject)


def count(
    log: Scorable,
    subjects: Sequence[Subject],
    *,
    grid: Grid,
    segments: Sequence[Sequence[str]] = (),
    blocks: Blocks,
    sampling: pl.Expr | None = None,
) -> pl.DataFrame:
    """The evidence of one log (or one day of it) for each candidate and pair.

    segments: each a list of context columns whose joint values are told apart. All
        decisions together always stand there too, with an empty `segment_by`.
    blocks: those by hash need ids, those by day a dated log.
    sampling: the sampling probability at which a decision is counted
        (`flows.offpolicy.sampling`); None where all decisions were kept.
    Returns: a frame of `SCHEMA`, sorted by all its keys.
    """
    parts = counted(
        log,
        subjects,
        segments,
        lambda frame, subject, cut: _grouped(
            log,
            frame.with_columns(
                (pl.lit(1.0) if sampling is None else sampling).alias(Q)
            ),
            subject,
            grid,
            cut,
            blocks,
        ),
    )
    return merge(pl.concat(part.select(list(SCHEMA)) for part in parts))


Grouping = Callable[[pl.LazyFrame, T, Sequence[str]], pl.LazyFrame]


def counted(
    log: Scorable,
    candidates: Sequence[T],
    segments: Sequence[Sequence[str]],
    grouping: Grouping[T],
) -> Iterator[pl.DataFrame]:
    """Counts a log piece by piece, for each subject by each cut and altogether.

    grouping: the counts of one piece, subject and cut.
    """
    cuts = list(segments) or [()]
    for frame in log.frames:
        plans = [grouping(frame, n, cut) for n in candidates for cut in cuts]
        found = pl.collect_all(plans, engine="streaming")
        yield from found
        if segments:
            # All decisions together are those of any one cut.
            for whole in found[:: len(cuts)]:
                yield whole.with_columns(
                    segment_by=pl.lit(NO_SEGMENT), segment=pl.lit(NO_SEGMENT)
                )


def require_all(evidence: pl.DataFrame, decisions: int) -> None:
    """Raises: UntakenError when a decision was lost or counted twice on the way."""
    whole = evidence.filter(pl.col("segment_by") == NO_SEGMENT)
    for name, _, count in whole.group_by(SUBJECT).agg(pl.col("decisions").sum()).rows():
        if count != decisions:
            raise UntakenError(
                f"a fault of ours: {count:,} decisions were counted for {name!r}, but "
                f"the log holds {decisions:,}; please report it"
            )


def merge(evidence: pl.DataFrame) -> pl.DataFrame:
    """Adds rows of equal keys; exact, and the same for any order of the rows."""
    keys = [*SUBJECT, *KEYS]
    return (
        evidence.group_by(keys)
        .agg(*(pl.col(name).sum() for name in SUMS), pl.col(LARGEST).max())
        .sort(keys)
        .select(list(SCHEMA))
    )


def weight(log: Scorable, candidate: Scored, floor: float) -> pl.Expr:
    """The importance weight on supported actions, else 0.

    No `when`: polars evaluates its branches on part of the rows, and an array's element
    taken at a row's own position fails there.
    """
    if not candidate.needs_support:
        return pl.lit(1.0)
    logged = log.logged()
    is_supported = (logged >= floor).cast(pl.Float64)
    return candidate.probability / pl.max_horizontal(logged, floor) * is_supported


def segment_text(cut: Sequence[str]) -> pl.Expr:
    """The joint value of the columns of a cut, as text."""
    if not cut:
        return pl.lit(NO_SEGMENT)
    ambiguous = AMBIGUOUS if len(cut) > 1 else LIKE_NULL
    values = [
        pl.col(n)
        .cast(pl.String)
        .str.replace_all(ambiguous, r"\${0}")
        .fill_null(NULL_SEGMENT)
        for n in cut
    ]
    return pl.concat_str(values, separator=", ")


def _weights(log: Scorable, subject: Subject, floor: float) -> tuple[pl.Expr, ...]:
    """Weight, unsupported mass and that of the other candidate."""
    if isinstance(subject, Scored):
        return weight(log, subject, floor), subject.unsupported, pl.lit(0.0)
    one, other = subject.one, subject.other
    difference = weight(log, one, floor) - weight(log, other, floor)
    return difference, one.unsupported, other.unsupported


def _labels(subject: Subject) -> dict[str, pl.Expr]:
    if isinstance(subject, Scored):
        return {"candidate": pl.lit(subject.name), "other": pl.lit(NO_OTHER)}
    one, other = subject.one.name, subject.other.name
    return {"candidate": pl.lit(one), "other": pl.lit(other)}


def _grouped(
    log: Scorable,
    frame: pl.LazyFrame,
    subject: Subject,
    grid: Grid,
    cut: Sequence[str],
    blocks: Blocks,
) -> pl.LazyFrame:
    weights, unsupported, other = _weights(log, subject, grid.tolerated_floor)
    rows = frame.select(
        weights.alias("weight"),
        unsupported.alias("unsupported"),
        other.alias("other_unsupported"),
        grid.scaled(pl.col(c.REWARD)).alias("scaled"),
        (
            pl.col(c.REWARD).is_null().cast(pl.Int64) * REWARD_MISSING
            + pl.col(c.IS_DEFAULT).cast(pl.Int64) * REWARD_DEFAULT
        ).alias("rewarded"),
        block(blocks).alias("block"),
        pl.col(Q).alias("sample_probability"),
        segment_text(cut).alias("segment"),
    )
    u, other_u = pl.col("unsupported"), pl.col("other_unsupported")
    is_unsupported = (u + other_u > 0).cast(pl.Int64)
    if not log.knows_support:
        is_unsupported = pl.lit(1, dtype=pl.Int64)
    rows = rows.with_columns(
        grid.weight_cell(pl.col("weight")).alias("weight_cell"),
        grid.reward_cell(pl.col("scaled")).alias("reward_cell"),
        (pl.col("rewarded") + is_unsupported * SUPPORT_MISSING).alias("kind"),
        (u * UNIT).round().cast(pl.Int64).alias("unsupported_part"),
        (other_u * UNIT).round().cast(pl.Int64).alias("other_unsupported_part"),
    )
    rows = rows.with_columns(
        grid.weight_part(pl.col("weight"), pl.col("weight_cell")).alias("weight_part"),
        grid.reward_part(pl.col("scaled"), pl.col("reward_cell")).alias("reward_part"),
    )
    a, b = pl.col("weight_part"), pl.col("reward_part")
    keys = [name for name in KEYS if name != "segment_by"]
    return (
        rows.group_by(keys)
        .agg(
            pl.len().cast(pl.Int64).alias("decisions"),
            a.sum(),
            b.sum(),
            product(a, b).sum().alias("product_part"),
            product(a, a).sum().alias("weight_square_part"),
            pl.col("unsupported_part", "other_unsupported_part").sum(),
            a.max().alias(LARGEST),
        )
        .with_columns(segment_by=pl.lit(", ".join(cut)), **_labels(subject))
    )
