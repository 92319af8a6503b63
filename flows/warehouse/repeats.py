"""Decisions that stand on two days: each day keeps the hashes of its ids.

A file of a day's ids holds the distinct 64-bit hashes, sorted, named by a digest of
what they were read from. New days are compared with each other and with every day that
passed before; only for days that share a hash the log is read again, for the ids
themselves: equal hashes of unequal ids are no violation.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from flows import columns as c
from flows.decisions.violating import broken_rule
from flows.errors import ViolationsError
from flows.folder import VIOLATIONS, Folder, digest_of
from flows.offpolicy.blocks import identity
from flows.warehouse.days import Day, open_day
from flows.warehouse.settings import Job

RULE = "decision_id_is_unique"
SENTENCE = "No decision is logged twice."
REMEDY = "keep one row a decision (and slot); a retried upload repeats its file."
IDENTITY = "identity"
# How many hashes of new days are compared at a time.
PART = 4_000_000


def across_days(
    folder: Folder, job: Job, fresh: Sequence[Day], known: Sequence[Day]
) -> ViolationsError | None:
    """What the days `fresh` share with each other and with the days `known`.

    The error counts rows, both copies of a decision; its `decisions` is 0.
    """
    shared = _shared(
        [hashes(folder, job, day) for day in fresh],
        [hashes(folder, job, day) for day in known],
    )
    if shared.is_empty():
        return None
    involved = set(shared["day"])
    days = [day for day in (*known, *fresh) if day.day in involved]
    rows = _repeated(job, days, shared[IDENTITY].unique())
    return _violations(folder, days, rows) if rows.height else None


def hashes(folder: Folder, job: Job, day: Day) -> Path:
    """The file of a day's hashes, written when it is not there."""
    layout = job.layout
    names = [layout.theirs(name) for name in (c.DECISION_ID, c.SLOT, c.DECIDED_AT)]
    key = digest_of(day.digest, names)
    path = folder.path("ids", f"{day.day}-{key}.parquet")
    if not path.exists():
        hashes = pl.concat(_rows(job, day)).select(IDENTITY).unique()
        frame = hashes.sort(IDENTITY).with_columns(pl.lit(day.day).alias("day"))
        folder.write_parquet(frame.collect(engine="streaming"), "ids", path.name)
        for superseded in folder.glob("ids", f"{day.day}-*.parquet"):
            if superseded != path:
                superseded.unlink()
    return path


def _rows(job: Job, day: Day) -> list[pl.LazyFrame]:
    """Hash, id, slot, file and row (from 1) of the day's decisions, file by file."""
    log = open_day(job, day.files)
    names = {n: job.layout.theirs(n) for n in (c.DECISION_ID, c.DECIDED_AT)}
    slot = pl.lit("")
    if c.SLOT in log.optional:
        names[c.SLOT] = job.layout.theirs(c.SLOT)
        slot = pl.col(names[c.SLOT]).cast(pl.String).fill_null("")
    at = pl.col(names[c.DECIDED_AT])
    # In the column's own type: polars compares statistics of files by type.
    dtype = log.types[names[c.DECIDED_AT]]
    start, end = (pl.lit(instant).cast(dtype) for instant in day.window)
    return [
        pl.scan_parquet(
            file,
            glob=False,
            hive_partitioning=False,
            schema={name: log.types[name] for name in names.values()},
            extra_columns="ignore",
            row_index_name="row",
            row_index_offset=1,
        )
        .filter((at >= start) & (at < end))
        .select(
            pl.col(names[c.DECISION_ID]).cast(pl.String).alias(c.DECISION_ID),
            slot.alias(c.SLOT),
            pl.lit(day.day).alias("day"),
            pl.lit(file).alias("file"),
            pl.col("row").cast(pl.Int64),
        )
        .with_columns(identity().alias(IDENTITY))
        for file in day.files
    ]


def _shared(fresh: Sequence[Path], known: Sequence[Path]) -> pl.DataFrame:
    """Every (hash, day) whose hash stands on some other day as well."""
    own = pl.scan_parquet(list(fresh), glob=False, hive_partitioning=False)
    size = own.select(pl.len()).collect().item() if fresh else 0
    parts = math.ceil(size / PART)
    found = [pl.DataFrame(schema={IDENTITY: pl.UInt64, "day": pl.Date})]
    width = 2**64 // max(parts, 1) + 1
    for part in range(parts):
        value = pl.col(IDENTITY)
        inside = value >= pl.lit(part * width, dtype=pl.UInt64)
        if part + 1 < parts:
            inside &= value < pl.lit((part + 1) * width, dtype=pl.UInt64)
        new = own.filter(inside).collect(engine="streaming")
        found.append(new.filter(value.is_duplicated()))
        if known:
            others = pl.scan_parquet(list(known), glob=False, hive_partitioning=False)
            met = others.filter(inside).join(new.lazy(), on=IDENTITY, how="semi")
            old = met.collect(engine="streaming")
            found += [old, new.join(old, on=IDENTITY, how="semi")]
    return pl.concat(found)


def _repeated(job: Job, days: Sequence[Day], hashes: pl.Series) -> pl.DataFrame:
    """The rows whose id (and slot) stands on several of the days."""
    is_shared = pl.col(IDENTITY).is_in(hashes.implode())
    plans = [rows.filter(is_shared) for day in days for rows in _rows(job, day)]
    rows = pl.concat(pl.collect_all(plans, engine="streaming"))
    key = [c.DECISION_ID, c.SLOT]
    twice = rows.group_by(key).agg(pl.col("day").unique().sort().alias("days"))
    return (
        rows.join(twice.filter(pl.col("days").list.len() > 1), on=key)
        .sort(*key, "day", "file", "row")
        .select(
            "file",
            "row",
            c.DECISION_ID,
            pl.format(
                "logged on {}",
                pl.col("days").list.eval(pl.element().cast(pl.String)).list.join(", "),
            ).alias("value"),
        )
    )


def _violations(
    folder: Folder, days: Sequence[Day], rows: pl.DataFrame
) -> ViolationsError:
    newest: dt.date = max(day.day for day in days)
    name = f"{newest}-{digest_of([day.digest for day in days])[:8]}.parquet"
    listing = folder.write_parquet(
        rows.select(pl.lit(RULE).alias("rule"), pl.all()), VIOLATIONS, name
    )
    broken = broken_rule(RULE, SENTENCE, REMEDY, rows)
    return ViolationsError(
        (broken,), decisions=0, listing=str(listing), days=(newest.isoformat(),)
    )
