"""Rewards of earlier days that arrived after those had closed.

A day is judged by the events received until it closes. Whoever is later enters no
reward, but is no stranger either: of the events that found no decision on the day they
were received, those that name a decision of an earlier day are told apart by the hashes
of ids that each day keeps (`flows.warehouse.repeats`).

    received before that day closed    counted there already
    received later                     late after closing
    named by no day looked at          dangling
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from flows.folder import Folder
from flows.offpolicy.blocks import identity
from flows.warehouse.days import Day
from flows.warehouse.repeats import IDENTITY, hashes
from flows.warehouse.settings import Job

# How many earlier days are looked at.
EARLIER_DAYS = 31
DANGLING, LATE = "dangling", "late after closing"


@dataclass(frozen=True, slots=True)
class Belated:
    """Of events without a decision on their day.

    late: received after the day of their decision had closed.
    counted: received before, and counted there.
    """

    late: int
    counted: int


def belated(
    folder: Folder,
    job: Job,
    earlier: Sequence[Day],
    closes_at: Callable[[dt.date], dt.datetime],
    set_aside: Path,
) -> Belated:
    """Looks for the decisions of dangling events among earlier days.

    set_aside: of the day, written by `flows.rewards.judge`; it is written again with
        what was found.
    """
    rows = pl.read_parquet(set_aside, glob=False)
    strangers = rows.filter(pl.col("reason") == DANGLING)
    near = earlier[-EARLIER_DAYS:]
    if strangers.is_empty() or not near:
        return Belated(0, 0)
    named = strangers.select(identity().alias(IDENTITY)).unique()
    files = [hashes(folder, job, day) for day in near]
    known = (
        pl.scan_parquet(files, glob=False, hive_partitioning=False)
        .join(named.lazy(), on=IDENTITY, how="semi")
        .group_by(IDENTITY)
        .agg(pl.col("day").max())
        .collect(engine="streaming")
    )
    closing = {day.day: closes_at(day.day) for day in near}
    is_stranger = pl.col("reason") == DANGLING
    is_late = pl.col("rewarded_at") >= pl.col("closed_at")
    found = (
        rows.with_row_index()
        .with_columns(identity().alias(IDENTITY))
        .join(known, on=IDENTITY, how="left")
        .with_columns(closed_at=pl.col("day").replace_strict(closing, default=None))
        .with_columns(is_known=is_stranger & pl.col("closed_at").is_not_null())
        .sort("index")
    )
    late = found.filter("is_known", is_late)
    counted = found.filter("is_known", ~is_late)
    (
        found.join(counted, on="index", how="anti")
        .with_columns(
            reason=pl.when(pl.col("index").is_in(late["index"].implode()))
            .then(pl.lit(LATE))
            .otherwise("reason")
        )
        .select(rows.columns)
        .write_parquet(set_aside, compression="zstd", compression_level=1)
    )
    return Belated(late.height, counted.height)
