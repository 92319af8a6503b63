"""Judges one day as of one night, and what that depends on.

The key of a version is a digest of all it depends on: the day's content and that of
earlier days, the events that may be about it, what is declared of rewards, and the
instant.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl

from flows import queries
from flows.decisions import Window, measure
from flows.folder import Folder, digest_of
from flows.rewards import Beside, Decisions, Judged, Outputs, Rewards, judge
from flows.warehouse.arrivals import Arrivals
from flows.warehouse.belated import belated
from flows.warehouse.checked import listing_of
from flows.warehouse.days import Day, open_day
from flows.warehouse.settings import Job

JUDGED = "judged"
VERSION = 2


def judge_as_of(
    folder: Folder,
    job: Job,
    arrivals: Arrivals,
    day: Day,
    night: dt.date,
    key: str,
    earlier: Sequence[Day],
) -> dict[str, Any]:
    """Judges a day as of a night; returns what is written of it."""
    as_of, is_open = arrivals.known_at(night), not arrivals.is_closed(day.day)
    own = _own(arrivals, day)
    if is_open:
        own = replace(own, default=None)
    apart = folder.path(JUDGED, str(day.day), f"{key}-apart.parquet")
    found = _judged(folder, job, own, day, key, as_of, arrivals.received(day), apart)
    far = belated(folder, job, earlier, arrivals.closes_at, apart)
    counts = replace(
        found.counts,
        events=found.counts.events - far.counted,
        dangling=found.counts.dangling - far.late - far.counted,
        late_after_closing=far.late,
    )
    found = replace(found, counts=counts)
    return {
        "key": key,
        "night": night.isoformat(),
        "as_of": as_of.isoformat(),
        "is_open": is_open,
        "digest": digest_of(found.digest, is_open, own.default),
        "counts": asdict(counts),
        "delays": None if found.delays is None else asdict(found.delays),
        "warnings": [asdict(one) for one in found.advice(own)],
    }


def _judged(
    folder: Folder,
    job: Job,
    own: Rewards,
    day: Day,
    key: str,
    as_of: dt.datetime,
    received: Window,
    apart: Path,
) -> Judged:
    """Judges a day and writes the outcome.

    Raises: ViolationsError, with all rows that break rules in a file of its own.
    """
    log = open_day(job, day.files)
    beside = Beside(
        tuple(files_of(folder, day, key)),
        tuple(_rows_of(file) for file in log.files),
        own.default,
    )
    with (
        queries.connection() as con,
        folder.work() as work,
        listing_of(folder, work, day, key) as listing,
    ):
        measure(con, log, window=day.window)
        return judge(
            con,
            Decisions("measured_decisions", log.files, day.window),
            own,
            as_of=as_of,
            received=received,
            outputs=Outputs(beside=beside, set_aside=apart),
            listing=listing,
        )


def _own(arrivals: Arrivals, day: Day) -> Rewards:
    """What is declared of rewards, over the files that may be about a day."""
    rewards = arrivals.rewards
    events = arrivals.about(day, arrivals.events) or arrivals.events[:1]
    activations = arrivals.about(day, arrivals.activations) or arrivals.activations[:1]
    return replace(
        rewards,
        events=tuple(file.path for file in events),
        activations=tuple(file.path for file in activations),
        base=None,
    )


def key_of(
    job: Job,
    arrivals: Arrivals,
    day: Day,
    night: dt.date,
    earlier: Sequence[Day],
) -> str:
    """A digest of all that the rewards of a day as of a night depend on."""
    about = [
        [file.digest for file in arrivals.about(day, files)]
        for files in (arrivals.events, arrivals.activations)
    ]
    return digest_of(
        VERSION,
        [one.digest for one in (*earlier, day)],
        asdict(job.layout),
        arrivals.rewards.meaning,
        about,
        arrivals.known_at(night).isoformat(),
        arrivals.is_closed(day.day),
    )


def files_of(folder: Folder, day: Day, key: str) -> list[Path]:
    """Where the rewards stand, a file for each of the day's."""
    return [
        folder.path(JUDGED, str(day.day), f"{key}-{number}.parquet")
        for number in range(len(day.files))
    ]


def _rows_of(file: str) -> int:
    rows: int = pl.scan_parquet(file, glob=False).select(pl.len()).collect().item()
    return rows
