"""A candidate as a plain Python callable: one house favourite a position.

The favourites come from `candidates/thompson.parquet` alone, from no click of this log:
an item picked for its clicks would look better here than it is.
"""

from __future__ import annotations

import polars as pl

FAVOURITES = {1: "13", 2: "23", 3: "6"}


def by_position(decisions: pl.DataFrame) -> pl.Series:
    """Gives half the mass to the position's favourite, half to all items alike.

    decisions: the declared context column `position` (1 to 3) and `actions`, a list
    of text that is never empty and holds the favourite. Returns a Series of lists of
    float64, parallel to `actions`, each adding up to 1. An unknown position has no
    favourite: polars raises InvalidOperationError.
    """
    favourite = pl.col("position").replace_strict(FAVOURITES)
    share = 0.5 / pl.len().over("row") + 0.5 * (pl.col("actions") == favourite)
    return (
        decisions.select("position", "actions")
        .with_row_index("row")
        .explode("actions")
        .select("row", probabilities=share)
        .group_by("row", maintain_order=True)
        .agg("probabilities")
        .get_column("probabilities")
    )
