"""Which days a log holds, and what of it must be read.

A file is opened again when its size or time of change differs from the last run; its
content is then compared by digest. A day's digest covers its files' contents in order,
so a day whose digest is known holds nothing new. A file may hold several days and a day
several files. Whenever a file is new, the footers of all are compared again, so that a
log is refused for its schemas whichever way its nights are reached.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions import Log, Window, check, open_log
from flows.errors import LogError
from flows.folder import VIOLATIONS, Folder, digest_of, digest_of_file
from flows.policies import column_candidates
from flows.warehouse.imported import log_files
from flows.warehouse.settings import Job

FILES = "files.json"


@dataclass(frozen=True, slots=True)
class Judged:
    """Rewards of a day that come apart, as they were known at some instant.

    files: beside each file of the day (`flows.decisions.judged`).
    digest: of the rewards. as_of: the instant; night: the first one that knows them.
    revision: how often they changed. is_first: the version of the day's own night.
    """

    files: tuple[str, ...]
    digest: str
    as_of: dt.datetime
    night: dt.date
    revision: int
    is_first: bool


@dataclass(frozen=True, slots=True)
class Day:
    """One night's share of the log.

    digest: of the contents of its files.
    window: its decisions, half-open, in UTC.
    is_newest: no later day is in the log, so more of this one may still arrive.
    judged: its rewards, where they come apart and were judged.
    """

    day: dt.date
    files: tuple[str, ...]
    digest: str
    window: Window
    is_newest: bool
    judged: Judged | None = None

    @property
    def scored_digest(self) -> str:
        """A digest of decisions and rewards, and of when those were known."""
        if self.judged is None:
            return self.digest
        return digest_of(self.digest, self.judged.digest, self.judged.as_of)

    @property
    def judged_as_of(self) -> dt.datetime:
        """The instant as of which its rewards are known, in a log its end."""
        return self.window[1] if self.judged is None else self.judged.as_of

    @property
    def known_from(self) -> dt.date:
        """The first night that knows these rewards."""
        return self.day if self.judged is None else self.judged.night


def find_days(
    folder: Folder, job: Job, advance: Callable[[], None] = lambda: None
) -> tuple[Day, ...]:
    """The days of the job's log, oldest first.

    advance: called after each file that has to be imported.
    Raises: LogError for files that cannot be read or do not fit together,
    ViolationsError for decisions without a time.
    """
    files = log_files(folder, job, advance)
    known = folder.read_json(FILES) or {}
    read_as = digest_of(job.timezone, job.layout.theirs(c.DECIDED_AT))
    stamps = {file: stamp_of(file) for file in files}
    index: dict[str, dict[str, Any]] = {}
    for file in files:
        entry = known.get(name_of(file, job))
        if entry and (entry["stamp"], entry["read_as"]) == (stamps[file], read_as):
            index[file] = entry
    fresh = [file for file in files if file not in index]
    if fresh:
        for file, days in _days_of(folder, job, open_day(job, files), fresh).items():
            index[file] = {
                "stamp": stamps[file],
                "read_as": read_as,
                "digest": digest_of_file(file),
                "days": days,
            }
    folder.write_json({name_of(f, job): index[f] for f in files}, FILES)
    found = _grouped(index, job.timezone)
    if not found:
        raise LogError(f"no decision in the {len(files)} files of the log")
    return found


def open_day(job: Job, files: Sequence[str]) -> Log:
    """The log of some files of a job, with the columns its candidates stand in."""
    return open_log(
        files,
        job.layout,
        dated=True,
        with_ids=True,
        extra=column_candidates(job.candidates),
    )


def open_judged(job: Job, day: Day) -> Log:
    """The log of a day with its rewards."""
    log = open_day(job, day.files)
    return log if day.judged is None else log.with_rewards(day.judged.files)


def newest_decision(job: Job, day: Day) -> dt.datetime:
    """When the last decision of a day was made."""
    at = pl.col(job.layout.theirs(c.DECIDED_AT)).dt.convert_time_zone("UTC")
    # One by one: files may differ in columns that are not read.
    rows = pl.concat(
        pl.scan_parquet(file, glob=False, hive_partitioning=False).select(at.max())
        for file in day.files
    )
    newest: dt.datetime = rows.max().collect(engine="streaming").item()
    return newest


def _days_of(
    folder: Folder, job: Job, log: Log, files: Sequence[str]
) -> dict[str, list[str]]:
    """The days in each of some files of the log."""
    decided_at = queries.identifier(job.layout.theirs(c.DECIDED_AT))
    values = {"timezone": job.timezone}
    with queries.connection() as con:
        rows = queries.run(
            con,
            "staging/file_days",
            values,
            decided_at=decided_at,
            log=replace(log, files=tuple(files)).source(),
        )
        undated = tuple(sorted({file for file, day, _ in rows if day is None}))
        if undated:
            # Nobody can say which nights they belong to, so no night can go on.
            name = f"undated-{digest_of(*map(digest_of_file, undated))[:8]}"
            check(
                con,
                replace(log, files=undated),
                reward_range=job.reward_range,
                listing=folder.path(VIOLATIONS, f"{name}.parquet"),
            )
            raise LogError(
                "decided_at holds years before 1000 or after 9000, which stand for no "
                f"time: {', '.join(undated)}. Log when decisions were made."
            )
    days: dict[str, list[str]] = {file: [] for file in files}
    for file, day, _ in rows:
        days[file].append(day)
    return days


def _grouped(index: dict[str, dict[str, Any]], zone: str) -> tuple[Day, ...]:
    by_day: dict[str, list[str]] = {}
    for file in sorted(index):
        for day in index[file]["days"]:
            by_day.setdefault(day, []).append(file)
    newest = max(by_day, default="")
    return tuple(
        Day(
            day=dt.date.fromisoformat(day),
            files=tuple(files),
            digest=digest_of(zone, [index[file]["digest"] for file in files]),
            window=(
                border(dt.date.fromisoformat(day), zone),
                ends_at(dt.date.fromisoformat(day), zone),
            ),
            is_newest=day == newest,
        )
        for day, files in sorted(by_day.items())
    )


def days_in_log(folder: Folder) -> set[str]:
    """The days that the log held when it was last looked at."""
    files = (folder.read_json(FILES) or {}).values()
    return {day for file in files for day in file["days"]}


def ends_at(night: dt.date, zone: str) -> dt.datetime:
    """The instant at which `night` ends in `zone`, in UTC."""
    return border(night + dt.timedelta(days=1), zone)


def border(day: dt.date, zone: str) -> dt.datetime:
    """The instant at which `day` begins in `zone`, in UTC."""
    start = dt.datetime.combine(day, dt.time(), tzinfo=ZoneInfo(zone))
    return start.astimezone(dt.UTC)


def name_of(file: str, job: Job) -> str:
    """A name of the file that does not depend on where the command was started."""
    return os.path.relpath(file, job.base)


def stamp_of(file: str) -> list[int]:
    """What changes when the file does: its size in bytes, its time of change in ns."""
    status = Path(file).stat()
    return [status.st_size, status.st_mtime_ns]
