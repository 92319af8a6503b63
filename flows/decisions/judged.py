"""Rewards that come in a table of their own, read beside the log they belong to.

What was judged stands in a file for each file of the log, a row for each of its rows in
the same order, so that lists of probabilities are never copied:

    untaken_reward       double, null where it is missing
    untaken_is_default   boolean, the reward is the declared default
    untaken_is_judged    boolean, false for decisions that enter nothing: immature,
                         unactivated, or of another day
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from flows import columns as c
from flows.queries import files as listed
from flows.queries import literal

REWARD = "untaken_reward"
IS_JUDGED = "untaken_is_judged"
SCHEMA: Mapping[str, pl.DataType] = {
    REWARD: pl.Float64(),
    c.IS_DEFAULT: pl.Boolean(),
    IS_JUDGED: pl.Boolean(),
}


def joined(log: str, files: Sequence[str], judged: Sequence[str]) -> str:
    """A DuckDB table of the judged decisions of `log`, which reads `files`."""
    names = ", ".join(SCHEMA)
    own = f"list_position([{_named(files)}], log.untaken_file)"
    other = f"list_position([{_named(judged)}], judged.judged_file)"
    return (
        f"(select log.*, {names} from {log} as log inner join read_parquet("  # noqa: S608 - our names
        f"{listed(judged)}, filename = 'judged_file', file_row_number = true, "
        "hive_partitioning = false) as judged "
        f"on log.file_row_number = judged.file_row_number and {own} = {other} "
        f"where {IS_JUDGED})"
    )


def _named(files: Sequence[str]) -> str:
    return ", ".join(map(literal, files))


def laid_beside(log: pl.LazyFrame, judged: pl.LazyFrame) -> pl.LazyFrame:
    """The judged rows of `log`, with what was judged of the same rows."""
    return pl.concat([log, judged], how="horizontal").filter(IS_JUDGED)
