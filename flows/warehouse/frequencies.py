"""How often each action was logged on each day, counted once and kept.

frequencies/DAY/KEY.parquet   counts of `flows.offpolicy.frequencies`; the key is a
                              digest of the day's content and of how the log is read

They belong to the log, not to a candidate.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

import duckdb
import polars as pl

from flows.decisions import Profile, measure
from flows.folder import Folder, digest_of
from flows.offpolicy.frequencies import FINDINGS, count, findings
from flows.warehouse.days import Day, open_day
from flows.warehouse.settings import Job

FREQUENCIES = "frequencies"


def is_counted(folder: Folder, job: Job, day: Day) -> bool:
    """Whether the day's actions were counted."""
    return _path(folder, job, day).exists()


def count_day(
    con: duckdb.DuckDBPyConnection,
    folder: Folder,
    job: Job,
    day: Day,
    *,
    profile: Profile,
) -> None:
    """Counts the actions of all decisions of a day, whatever came of them, once."""
    target = _path(folder, job, day)
    if target.exists():
        return
    log = open_day(job, day.files)
    measure(con, log, window=day.window)
    dated = count(con, log, profile).select(pl.lit(day.day).alias("day"), pl.all())
    folder.write_parquet(dated, FREQUENCIES, str(day.day), target.name)
    for old in folder.glob(f"{FREQUENCIES}/{day.day}", "*.parquet"):
        if old != target:
            old.unlink()


def found(folder: Folder, job: Job, days: Collection[dt.date]) -> pl.DataFrame:
    """What the frequencies of the days say: a frame of `FINDINGS`."""
    files = [
        file
        for day in sorted(days)
        for file in folder.glob(f"{FREQUENCIES}/{day}", "*.parquet")
    ]
    if not files:
        return pl.DataFrame(schema=FINDINGS)
    counts = pl.concat(pl.read_parquet(file, glob=False) for file in files)
    return findings(counts, sum_tolerance=job.layout.sum_tolerance)


def _path(folder: Folder, job: Job, day: Day) -> Path:
    key = digest_of(day.digest, asdict(job.layout))
    return folder.path(FREQUENCIES, str(day.day), f"{key}.parquet")
