"""How much published nights moved when they were made again.

A day's decisions or rewards that change after the day was read are a revision: every
night from that day on is estimated again (validity.md 7). What its estimates since the
start were before and are now is kept in `revisions/NIGHT-RUN.parquet`, one file each
time, so that nobody has to guess how far a published number can be trusted to stay.

Rewards that became known after a night had closed leave that night as it is, and count
from the first night on that knows them. What the night before that one would be now is
kept likewise; `known_from` is the night that knows it.

A night that was made under other settings is another analysis, and not compared.
"""

from __future__ import annotations

import datetime as dt

import polars as pl

from flows.folder import Folder
from flows.offpolicy.nights import headline

REVISIONS = "revisions"
KEYS = ["candidate", "other", "estimand"]
NUMBERS = ["estimate", "lower", "upper"]
SCHEMA = {
    "night": pl.Date,
    "known_from": pl.Date,
    **dict.fromkeys(KEYS, pl.String),
    **{f"{name}_before": pl.Float64 for name in NUMBERS},
    **{f"{name}_after": pl.Float64 for name in NUMBERS},
    "run_id": pl.String,
}


def record(
    folder: Folder,
    night: dt.date,
    before: pl.DataFrame,
    after: pl.DataFrame,
    known_from: dt.date,
) -> None:
    """Keeps what moved between two makings of a night; nothing when nothing did.

    before, after: rows of table `estimates`.
    known_from: the first night that knows what changed; a night that is made again
        knows it itself.
    """
    moved = (
        _headline(before)
        .join(
            _headline(after),
            on=["night", *KEYS],
            suffix="_after",
            validate="1:1",
        )
        .rename({name: f"{name}_before" for name in NUMBERS})
        .filter(
            pl.any_horizontal(
                pl.col(f"{name}_before").ne_missing(pl.col(f"{name}_after"))
                for name in NUMBERS
            )
        )
        .with_columns(
            pl.lit(known_from).alias("known_from"),
            pl.col("run_id_after").alias("run_id"),
        )
        .select(list(SCHEMA))
        .sort(KEYS)
    )
    if moved.height:
        run = moved["run_id"][0]
        later = "" if known_from == night else f"-{known_from}"
        folder.write_parquet(moved, REVISIONS, f"{night}-{run}{later}.parquet")


def read(folder: Folder) -> pl.DataFrame:
    """Everything that moved, by night and run."""
    frames = [
        pl.read_parquet(file, glob=False)
        for file in folder.glob(REVISIONS, "*.parquet")
    ]
    found = pl.concat([pl.DataFrame(schema=SCHEMA), *frames])
    return found.sort("night", "run_id", "known_from", *KEYS)


def _headline(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(headline()).select("night", *KEYS, *NUMBERS, "run_id")
