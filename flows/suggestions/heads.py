"""The head of each group, and how similar its members are to it.

The head is the group's most frequent open text, before any with a mask; ties go to the
highest summed similarity to the members (each once, rounded to 6 places), then to the
shorter text, then to the lesser by code points (qna-suggestions 5.4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from flows.suggestions.leader import PLACES
from flows.suggestions.vectors import row_products

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

OPEN = ~pl.col("is_accepted")
GROUP = "leader"


def with_heads(entries: pl.DataFrame, rows: csr_array) -> pl.DataFrame:
    """Adds `head_key` and `similarity`; groups without an open text are left out.

    entries: columns key, row (of `rows`, unit rows), count, is_masked, is_accepted,
    leader (any number that tells groups apart).
    """
    entries = entries.filter(OPEN.any().over(GROUP))
    plain = OPEN & ~pl.col("is_masked")
    able = pl.when(plain.any().over(GROUP)).then(plain).otherwise(OPEN)
    top = able & (pl.col("count") == pl.col("count").filter(able).max().over(GROUP))
    marked = entries.with_columns(is_top=top)
    marked = marked.with_columns(summed=pl.Series(_tie_breaks(marked, rows)))
    best = [
        pl.col("summed").neg(),
        pl.col("key").str.len_chars(),
        pl.col("key"),
    ]
    heads = (
        marked.filter("is_top")
        .group_by(GROUP)
        .agg(
            head_key=pl.col("key").sort_by(best).first(),
            head_row=pl.col("row").sort_by(best).first(),
        )
    )
    made = marked.join(heads, on=GROUP, maintain_order="left")
    similar = row_products(
        rows, made["row"].to_numpy(), rows, made["head_row"].to_numpy()
    )
    return made.with_columns(
        similarity=pl.when(pl.col("row") == pl.col("head_row"))
        .then(1.0)
        .otherwise(pl.Series(np.round(similar, PLACES)))
    )


def _tie_breaks(entries: pl.DataFrame, rows: csr_array) -> Floats:
    """Summed similarity to the group where two or more texts could head it, else 0."""
    from scipy import sparse

    summed = np.zeros(entries.height)
    is_tied = pl.col("is_top").sum().over(GROUP) > 1
    tied = entries.with_row_index("at").filter(is_tied)
    if tied.is_empty():
        return summed
    group = tied[GROUP].rank("dense").to_numpy().astype(np.int64) - 1
    members = tied["row"].to_numpy()
    shape = (int(group.max()) + 1, group.size)
    ones = np.ones(group.size, dtype=rows.dtype)
    belongs = sparse.csr_array((ones, (group, np.arange(group.size))), shape=shape)
    totals = belongs @ rows[members]
    totals.sort_indices()
    similar = row_products(rows, members, totals, group)
    summed[tied["at"].to_numpy()] = np.round(similar, PLACES)
    return summed
