"""Which block a decision belongs to.

    one          no blocks
    sub_blocks   eight equal parts of a night, for nights in time order
    hash_blocks  79 parts of planned sizes, for one look at one data set
    days         by the day of the decision (UTC), counted from 1970

Blocks by hash come from the XXH64 (seed 0) of a constant salt and the id: the
top three bits, or the top 16 (`flows.intervals.block_plan`). The salt belongs to the
product and never changes: choosing another one after a look would be picking a result
(validity.md 5b).
"""

from __future__ import annotations

from typing import Literal

import polars as pl
import polars_hash as plh

from flows import columns as c
from flows.intervals.block_plan import FIXED_BLOCKS, POSITIONS, SUB_BLOCKS

Blocks = Literal["one", "sub_blocks", "hash_blocks", "days"]
SALT = "untaken:1:"
HASHES = 2**64


def block(blocks: Blocks) -> pl.Expr:
    """The block of a decision, from 0."""
    if blocks == "one":
        return pl.lit(0, dtype=pl.Int64)
    if blocks == "days":
        return pl.col(c.DECIDED_AT).dt.date().to_physical().cast(pl.Int64)
    if blocks == "sub_blocks":
        return (identity() // (HASHES // SUB_BLOCKS)).cast(pl.Int64)
    position = (identity() // (HASHES // POSITIONS)).cast(pl.UInt32)
    return pl.lit(pl.Series(FIXED_BLOCKS.tolist())).gather(position).cast(pl.Int64)


def identity() -> pl.Expr:
    """XXH64 (seed 0) of the salt and the decision's id, as UInt64."""
    salted = plh.concat_str(pl.lit(SALT), pl.col(c.DECISION_ID))
    hashed: pl.Expr = salted.nchash.xxhash64()
    return hashed
