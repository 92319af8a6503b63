"""Evidence: the counts that any interval is computed from, without the log.

One row a day, candidate, segment, hash sub-block, kind and cell; int64 sums that add
over days, files and workers to the same bits in any order. Bets that are fixed within a
block see the data only through that block's counts, so this table is a sufficient state
(`research`: DESIGN section 3, "Evidence is the central idea").

The weight counted is the weight on supported actions: 0 where the logged action itself
lies below the floor. `kind` is 0 for a measured decision, plus 1 when its reward is
missing, plus 2 when the candidate has mass without support. The sub-block of a decision
is the top three bits of the XXH64 of a constant salt and its id; the salt belongs to
the product and never changes (choosing another one after a look would be picking a
result).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl
import polars_hash as plh

from flows import columns as c
from flows.errors import UntakenError
from flows.offpolicy.grid import UNIT, Grid, product
from flows.policies.scorable import Scorable, Scored

SCHEMA_VERSION = 1
SALT = "untaken:1:"
SUB_BLOCKS = 8
REWARD_MISSING = 1
SUPPORT_MISSING = 2
NO_SEGMENT = ""
NULL_SEGMENT = "(null)"
# A value that looks like a null, or among several like two values.
LIKE_NULL = r"^\(null\)$"
AMBIGUOUS = r"[\\,]|^\(null\)$"

KEYS = ("segment_by", "segment", "sub_block", "kind", "weight_cell", "reward_cell")
SUMS = (
    "decisions",
    "weight_part",
    "reward_part",
    "product_part",
    "weight_square_part",
    "unsupported_part",
)
LARGEST = "largest_weight_part"

SCHEMA = {
    "candidate": pl.String,
    "segment_by": pl.String,
    "segment": pl.String,
    "sub_block": pl.Int64,
    "kind": pl.Int64,
    "weight_cell": pl.Int64,
    "reward_cell": pl.Int64,
    **dict.fromkeys(SUMS, pl.Int64),
    LARGEST: pl.Int64,
}


def count(
    log: Scorable,
    candidates: Sequence[Scored],
    *,
    grid: Grid,
    segments: Sequence[Sequence[str]] = (),
    has_ids: bool,
) -> pl.DataFrame:
    """The evidence of one log (or one day of it) for each candidate.

    segments: each a list of context columns whose joint values are told apart. All
    decisions together always stand there too, with an empty `segment_by`.
    Returns: a frame of `SCHEMA`, sorted by all its keys.
    """
    parts = counted(
        log,
        candidates,
        segments,
        lambda frame, candidate, cut: _grouped(
            log, frame, candidate, grid, cut, has_ids=has_ids
        ),
    )
    return merge(pl.concat(part.select(list(SCHEMA)) for part in parts))


Grouping = Callable[[pl.LazyFrame, Scored, Sequence[str]], pl.LazyFrame]


def counted(
    log: Scorable,
    candidates: Sequence[Scored],
    segments: Sequence[Sequence[str]],
    grouping: Grouping,
) -> Iterator[pl.DataFrame]:
    """Counts a log piece by piece, for each candidate by each cut and altogether.

    grouping: the counts of one piece, candidate and cut.
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
    for name, count in (
        whole.group_by("candidate").agg(pl.col("decisions").sum()).rows()
    ):
        if count != decisions:
            raise UntakenError(
                f"a fault of ours: {count:,} decisions were counted for {name!r}, but "
                f"the log holds {decisions:,}; please report it"
            )


def merge(evidence: pl.DataFrame) -> pl.DataFrame:
    """Adds rows of equal keys; exact, and the same for any order of the rows."""
    keys = ["candidate", *KEYS]
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


def sub_block(*, has_ids: bool) -> pl.Expr:
    """The hash sub-block of a decision, 0 to 7; 0 in a log without ids."""
    if not has_ids:
        return pl.lit(0, dtype=pl.Int64)
    return (identity() // (2**64 // SUB_BLOCKS)).cast(pl.Int64)


def identity() -> pl.Expr:
    """XXH64 (seed 0) of the salt and the decision's id, as UInt64."""
    salted = plh.concat_str(pl.lit(SALT), pl.col(c.DECISION_ID))
    hashed: pl.Expr = salted.nchash.xxhash64()
    return hashed


def _grouped(
    log: Scorable,
    frame: pl.LazyFrame,
    candidate: Scored,
    grid: Grid,
    cut: Sequence[str],
    *,
    has_ids: bool,
) -> pl.LazyFrame:
    unsupported = candidate.unsupported
    is_missing = pl.col(c.REWARD).is_null().cast(pl.Int64) * REWARD_MISSING
    rows = frame.select(
        weight(log, candidate, grid.tolerated_floor).alias("weight"),
        unsupported.alias("unsupported"),
        grid.scaled(pl.col(c.REWARD)).alias("scaled"),
        is_missing.alias("is_missing"),
        sub_block(has_ids=has_ids).alias("sub_block"),
        segment_text(cut).alias("segment"),
    )
    rows = rows.with_columns(
        grid.weight_cell(pl.col("weight")).alias("weight_cell"),
        grid.reward_cell(pl.col("scaled")).alias("reward_cell"),
        kind=pl.col("is_missing")
        + (pl.col("unsupported") > 0).cast(pl.Int64) * SUPPORT_MISSING,
        unsupported_part=(pl.col("unsupported") * UNIT).round().cast(pl.Int64),
    )
    rows = rows.with_columns(
        grid.weight_part(pl.col("weight"), pl.col("weight_cell")).alias("weight_part"),
        grid.reward_part(pl.col("scaled"), pl.col("reward_cell")).alias("reward_part"),
    )
    a, b = pl.col("weight_part"), pl.col("reward_part")
    keys = ["segment", "sub_block", "kind", "weight_cell", "reward_cell"]
    return (
        rows.group_by(keys)
        .agg(
            pl.len().cast(pl.Int64).alias("decisions"),
            a.sum(),
            b.sum(),
            product(a, b).sum().alias("product_part"),
            product(a, a).sum().alias("weight_square_part"),
            pl.col("unsupported_part").sum(),
            a.max().alias(LARGEST),
        )
        .with_columns(
            candidate=pl.lit(candidate.name), segment_by=pl.lit(", ".join(cut))
        )
    )
