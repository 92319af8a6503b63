"""Which days a log holds, and what of it must be read.

A file is opened again when its size or time of change differs from the last run; its
content is then compared by digest. A day's digest covers its files' contents in order,
so a day whose digest is known holds nothing new. A file may hold several days and a day
several files.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from flows import columns as c
from flows import queries
from flows.decisions import Log, Window, check, find, open_log
from flows.errors import LogError
from flows.policies import column_candidates
from flows.warehouse.folder import Folder, digest_of, digest_of_file
from flows.warehouse.settings import Job

FILES = "files.json"


@dataclass(frozen=True, slots=True)
class Day:
    """One night's share of the log.

    digest: of the contents of its files.
    window: its decisions, half-open, in UTC.
    """

    day: dt.date
    files: tuple[str, ...]
    digest: str
    window: Window


def find_days(folder: Folder, job: Job) -> tuple[Day, ...]:
    """The days of the job's log, oldest first.

    Raises: LogError for files that cannot be read or do not fit together,
    ViolationsError for decisions without a time.
    """
    files = find(job.log, base=job.base)
    known = folder.read_json(FILES) or {}
    zone = job.timezone
    index: dict[str, dict[str, Any]] = {}
    fresh = []
    for file in files:
        name, stamp = _name(file, job), _stamp(file)
        entry = known.get(name)
        if entry and entry["stamp"] == stamp and entry["timezone"] == zone:
            index[file] = entry
        else:
            fresh.append(file)
    if fresh:
        for file, days in _days_of(job, fresh).items():
            index[file] = {
                "stamp": _stamp(file),
                "timezone": zone,
                "digest": digest_of_file(file),
                "days": days,
            }
        folder.write_json({_name(f, job): index[f] for f in sorted(index)}, FILES)
    return _grouped(index, zone)


def open_day(job: Job, files: Sequence[str]) -> Log:
    """The log of some files of a job, with the columns its candidates stand in."""
    return open_log(
        files,
        job.layout,
        dated=True,
        with_ids=True,
        extra=column_candidates(job.candidates),
    )


def _days_of(job: Job, files: Sequence[str]) -> dict[str, list[str]]:
    """The days in each file."""
    log = open_day(job, files)
    decided_at = queries.identifier(job.layout.theirs(c.DECIDED_AT))
    values = {"timezone": job.timezone}
    with queries.connection() as con:
        rows = queries.run(
            con,
            "staging/file_days",
            values,
            decided_at=decided_at,
            log=log.source(),
        )
        without_time = sorted({file for file, day, _ in rows if day is None})
        if without_time:
            check(con, open_day(job, without_time), reward_range=job.reward_range)
    days: dict[str, list[str]] = {file: [] for file in files}
    for file, day, _ in rows:
        days[file].append(day)
    if not rows:
        raise LogError(f"no decision in {len(files)} new files of the log")
    return days


def _grouped(index: dict[str, dict[str, Any]], zone: str) -> tuple[Day, ...]:
    by_day: dict[str, list[str]] = {}
    for file in sorted(index):
        for day in index[file]["days"]:
            by_day.setdefault(day, []).append(file)
    return tuple(
        Day(
            day=dt.date.fromisoformat(day),
            files=tuple(files),
            digest=digest_of(zone, [index[file]["digest"] for file in files]),
            window=(
                border(dt.date.fromisoformat(day), zone),
                border(dt.date.fromisoformat(day) + dt.timedelta(days=1), zone),
            ),
        )
        for day, files in sorted(by_day.items())
    )


def border(day: dt.date, zone: str) -> dt.datetime:
    """The instant at which `day` begins in `zone`, in UTC."""
    start = dt.datetime.combine(day, dt.time(), tzinfo=ZoneInfo(zone))
    return start.astimezone(dt.UTC)


def _name(file: str, job: Job) -> str:
    """A name of the file that does not depend on where the command was started."""
    return os.path.relpath(file, job.base)


def _stamp(file: str) -> list[int]:
    status = Path(file).stat()
    return [status.st_size, status.st_mtime_ns]
