"""When the events of each file were received and became known.

A day needs only the files whose events could be about it. An event that became known
after the night of its decision had closed is a revision for later nights (validity.md
7 and 8): `Known` says which days it may be about, and the night that first knows it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import duckdb

from flows import queries
from flows.decisions import find
from flows.rewards import settings as s
from flows.rewards.events import Events, explained, open_activations, open_events
from flows.rewards.joining import EPOCH, MICROSECOND, window_of
from flows.rewards.settings import Rewards

# No event becomes known later.
EVER = "'infinity'::timestamptz"


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


def event_spans(
    con: duckdb.DuckDBPyConnection,
    rewards: Rewards,
    files: Sequence[str],
    *,
    timezone: str,
) -> dict[str, Span]:
    """The spans of some files of rewards; those without a time have none.

    timezone: of the nights' border.
    Raises: LogError, UsageError for files that do not fit.
    """
    only = replace(rewards, events=tuple(files), base=None)
    return _spans(con, only, "reward_events", s.REWARDED_AT, open_events, timezone)


def activation_spans(
    con: duckdb.DuckDBPyConnection,
    rewards: Rewards,
    files: Sequence[str],
    *,
    timezone: str,
) -> dict[str, Span]:
    """The same of files of activations."""
    only = replace(rewards, activations=tuple(files), base=None)
    view, at = "activation_events", s.ACTIVATED_AT
    return _spans(con, only, view, at, open_activations, timezone)


Opening = Callable[[duckdb.DuckDBPyConnection, Rewards, str, None], Events]


def _spans(
    con: duckdb.DuckDBPyConnection,
    rewards: Rewards,
    view: str,
    received_at: str,
    opening: Opening,
    timezone: str,
) -> dict[str, Span]:
    events = opening(con, rewards, EVER, None)
    pieces = {"events": view, "received_at": received_at, **window_of(rewards)}
    pieces["held_us"] = str(rewards.held // MICROSECOND)
    values = {"timezone": timezone}
    with explained(con, events, rewards):
        spans = queries.run(con, "rewards/spans", None, **pieces)
        late = queries.run(con, "rewards/late_knowledge", values, **pieces)
    known: dict[str, list[Known]] = {file: [] for file, *_ in spans}
    for file, first, last, night in late:
        known[file].append(Known(first, last, night))
    return {
        file: Span(_instant(first), _instant(last), _instant(newest), tuple(late_of))
        for (file, first, last, newest), late_of in zip(
            spans, known.values(), strict=True
        )
    }


def _instant(microseconds: int) -> dt.datetime:
    return EPOCH + microseconds * MICROSECOND
