"""When rewards arrived: which files of events a day needs, and when nights close.

    events.json    of every file of rewards and activations its digest and when its
                   events were received and became known

A night closes when its last decision is mature: at its end, plus the wait, plus the
load delay (validity.md 6). What a run may know ends at the instant it is asked for, or
at the newest time in the data; nights that close later are open.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from flows import queries
from flows.folder import VIOLATIONS, Folder, digest_of, digest_of_file
from flows.rewards import (
    Known,
    Rewards,
    Span,
    Table,
    find_events,
    spans,
)
from flows.warehouse.days import Day, ends_at, name_of, stamp_of
from flows.warehouse.settings import Job

EVENTS = "events.json"
VERSION = 1
# In the order of `find_events`.
TABLES: tuple[Table, ...] = ("events", "activations")


@dataclass(frozen=True, slots=True)
class File:
    """A file of rewards or of activations; without an event it has no span."""

    path: str
    digest: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What is known of the times at which rewards arrived.

    as_of: what becomes known later is not known to this run.
    """

    rewards: Rewards
    timezone: str
    as_of: dt.datetime
    events: tuple[File, ...]
    activations: tuple[File, ...]

    def closes_at(self, night: dt.date) -> dt.datetime:
        """When the last decision of a night is mature."""
        return closing(self.rewards, night, self.timezone)

    def is_closed(self, night: dt.date) -> bool:
        """Whether every decision of a night is mature."""
        return self.closes_at(night) <= self.as_of

    def known_at(self, night: dt.date) -> dt.datetime:
        """The instant as of which a night is estimated."""
        return min(self.closes_at(night), self.as_of)

    def received(self, day: Day) -> tuple[dt.datetime, dt.datetime]:
        """When events must have been received to be about a day, half-open."""
        before = dt.timedelta(seconds=self.rewards.backward_seconds)
        return day.window[0] - before, self.closes_at(day.day)

    def about(self, day: Day, files: Iterable[File]) -> list[File]:
        """The files that may hold events about a day."""
        start, end = self.received(day)
        return [
            file
            for file in files
            if file.span is None or (file.span.first < end and file.span.last >= start)
        ]

    def revisions(self, day: dt.date) -> set[dt.date]:
        """The nights that may know more of a day than the night of its own did."""
        return {
            known.night
            for file in (*self.events, *self.activations)
            if file.span is not None
            for known in file.span.late
            if known.first_day <= day <= known.last_day and day < known.night
        }


def closing(rewards: Rewards, night: dt.date, timezone: str) -> dt.datetime:
    """When the last decision of a night is mature (validity.md 6)."""
    return ends_at(night, timezone) + rewards.held


def arrivals(
    folder: Folder,
    job: Job,
    rewards: Rewards,
    *,
    as_of: dt.datetime | None,
    newest: dt.datetime,
) -> Arrivals:
    """Reads when events arrived, of files that are new or changed.

    as_of: the instant that was asked for; None for the newest time in the data.
    newest: when the newest decision was made.
    Raises: LogError, UsageError for files that do not fit, ViolationsError for events
    without a time.
    """
    known = folder.read_json(EVENTS) or {}
    names = find_events(rewards)
    entries: dict[str, dict[str, Any]] = {}
    with queries.connection() as con:
        for files, table in zip(names, TABLES, strict=True):
            entries |= _entries(con, folder, job, rewards, files, table, known)
    folder.write_json({name_of(f, job): one for f, one in entries.items()}, EVENTS)
    events, activations = (
        tuple(_file(file, entries[file]) for file in files) for files in names
    )
    spans_of = [one.span for one in (*events, *activations) if one.span is not None]
    end = as_of or max([newest, *(span.newest for span in spans_of)])
    return Arrivals(rewards, job.timezone, end, events, activations)


def _entries(
    con: duckdb.DuckDBPyConnection,
    folder: Folder,
    job: Job,
    rewards: Rewards,
    files: Iterable[str],
    table: Table,
    known: Mapping[str, Any],
) -> dict[str, dict[str, Any]]:
    """What is written of each file."""
    read_as = digest_of(VERSION, rewards.meaning, job.timezone)
    stamps = {file: stamp_of(file) for file in files}
    entries = {
        file: entry
        for file, stamp in stamps.items()
        if (entry := known.get(name_of(file, job)))
        and (entry["stamp"], entry["read_as"]) == (stamp, read_as)
    }
    fresh = [file for file in stamps if file not in entries]
    found = {}
    if fresh:
        name = f"undated-{digest_of(*map(digest_of_file, fresh))[:8]}.parquet"
        listing = folder.path(VIOLATIONS, name)
        zone = job.timezone
        found = spans(con, table, rewards, fresh, timezone=zone, listing=listing)
    for file in fresh:
        span = found.get(file)
        entries[file] = {
            "stamp": stamps[file],
            "read_as": read_as,
            "digest": digest_of_file(file),
            "span": None if span is None else _written(span),
        }
    return entries


def _written(span: Span) -> dict[str, Any]:
    return {
        "first": span.first.isoformat(),
        "last": span.last.isoformat(),
        "newest": span.newest.isoformat(),
        "late": [
            [str(one.first_day), str(one.last_day), str(one.night)] for one in span.late
        ],
    }


def _file(path: str, entry: Mapping[str, Any]) -> File:
    kept = entry["span"]
    if kept is None:
        return File(path, entry["digest"], None)
    first, last, newest = (
        dt.datetime.fromisoformat(kept[name]) for name in ("first", "last", "newest")
    )
    late = tuple(Known(*map(dt.date.fromisoformat, one)) for one in kept["late"])
    return File(path, entry["digest"], Span(first, last, newest, late))
