"""When the events of each file were received and became known.

A day needs only the files whose events could be about it. Of an event without a time
nobody can say which days that are, so it is refused here. An event that became known
after the night of its decision had closed is a revision for later nights (validity.md
7 and 8): `Known` says which days it may be about, and the night that first knows it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import duckdb

from flows import queries
from flows.decisions import find
from flows.rewards import rules
from flows.rewards import settings as s
from flows.rewards.events import Events, explained, open_activations, open_events
from flows.rewards.instants import EPOCH, MICROSECOND, window_of
from flows.rewards.settings import Rewards

# No event becomes known later.
EVER = "'infinity'::timestamptz"
Table = Literal["events", "activations"]
# The view of each table, and its time of receipt.
VIEWS = {
    "events": ("reward_events", s.REWARDED_AT),
    "activations": ("activation_events", s.ACTIVATED_AT),
}
OPENERS = {"events": open_events, "activations": open_activations}
OF_TIMES = "_at_is_present"


@dataclass(frozen=True, slots=True)
class Known:
    """Events that became known late: about which days they may be, and since when."""

    first_day: dt.date
    last_day: dt.date
    night: dt.date


@dataclass(frozen=True, slots=True)
class Span:
    """When the events of a file were received, at the earliest and the latest.

    newest: when the last of them became known. late: sorted.
    """

    first: dt.datetime
    last: dt.datetime
    newest: dt.datetime
    late: tuple[Known, ...]


def find_events(rewards: Rewards) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files of rewards, and those of activations. Raises: LogError for none."""
    activations = rewards.activations
    return (
        find(rewards.events, base=rewards.base),
        find(activations, base=rewards.base) if activations else (),
    )


def spans(
    con: duckdb.DuckDBPyConnection,
    table: Table,
    rewards: Rewards,
    files: Sequence[str],
    *,
    timezone: str,
    listing: Path | None = None,
) -> dict[str, Span]:
    """The spans of some files of a table; those without an event have none.

    timezone: of the nights' border. listing: where to write all events without a time.
    Raises: LogError, UsageError where not all files of the table fit together,
    ViolationsError for events without a time.
    """
    opened = OPENERS[table]
    opened(con, rewards, EVER, None)
    if table == "events":
        only = replace(rewards, base=None, events=tuple(files))
    else:
        only = replace(rewards, base=None, activations=tuple(files))
    events = opened(con, only, EVER, None)
    with explained(con, events, only):
        _check_times(con, table, events, listing)
        return _spans(con, only, table, timezone)


def _check_times(
    con: duckdb.DuckDBPyConnection,
    table: Table,
    events: Events,
    listing: Path | None,
) -> None:
    absent = ["known_at_is_present"] * (not events.has(s.KNOWN_AT))
    rules.check(
        con,
        VIEWS[table][0],
        tuple(one for one in rules.load(table, absent) if one.name.endswith(OF_TIMES)),
        {},
        is_outside="false",
        factor="null",
        listing=listing,
    )


def _spans(
    con: duckdb.DuckDBPyConnection, rewards: Rewards, table: Table, timezone: str
) -> dict[str, Span]:
    view, received_at = VIEWS[table]
    pieces = {"events": view, "received_at": received_at, **window_of(rewards)}
    pieces["held_us"] = str(rewards.held // MICROSECOND)
    values = {"timezone": timezone}
    found = queries.run(con, "rewards/spans", None, **pieces)
    late = queries.run(con, "rewards/late_knowledge", values, **pieces)
    known: dict[str, list[Known]] = {file: [] for file, *_ in found}
    for file, first, last, night in late:
        known[file].append(Known(first, last, night))
    return {
        file: Span(_instant(first), _instant(last), _instant(newest), tuple(late_of))
        for (file, first, last, newest), late_of in zip(
            found, known.values(), strict=True
        )
    }


def _instant(microseconds: int) -> dt.datetime:
    return EPOCH + microseconds * MICROSECOND
