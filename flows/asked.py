"""Which nights a run is asked for.

A night is a date in the job's time zone on which the log holds decisions. Without a
wish it is the newest; the wall clock never decides.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from flows.errors import LogError, UsageError


@dataclass(frozen=True, slots=True)
class Asked:
    """Which nights to run: one replayed, a range, or (all None) the newest.

    as_of: a date, or an instant; of an instant the last night that had ended.
    """

    as_of: str | None = None
    first: dt.date | None = None
    last: dt.date | None = None

    @property
    def instant(self) -> dt.datetime | None:
        """The instant of `as_of`, where it is one; in UTC when it names no zone.

        Raises: UsageError when it is neither an instant nor a date.
        """
        if self.as_of is None or _date(self.as_of) is not None:
            return None
        try:
            instant = dt.datetime.fromisoformat(self.as_of)
        except ValueError:
            raise UsageError(
                f"--as-of {self.as_of!r} is neither a date (2019-11-27) nor an instant "
                "(2019-11-27T12:00:00Z)"
            ) from None
        return instant if instant.tzinfo else instant.replace(tzinfo=dt.UTC)


def nights(
    asked: Asked,
    known: Sequence[dt.date],
    closes_at: Callable[[dt.date], dt.datetime],
    newest: dt.datetime | None = None,
) -> tuple[dt.date, ...]:
    """The nights asked for among the `known` ones, both oldest first.

    closes_at: when a night is over and all its decisions are mature.
    newest: the newest time in the data. Without a wish the night is the newest one that
        had closed by then, or the newest of all when none had; None: all have closed.

    Raises: UsageError for a contradiction, LogError when there is no such night.
    """
    if asked.as_of is not None:
        if asked.first or asked.last:
            raise UsageError("--as-of replays one night: leave out --from and --to")
        first = last = _night_of(asked, asked.as_of, known, closes_at)
        what = f"on {first}, the night asked for"
    elif asked.first or asked.last:
        first = asked.first or min(known[0], asked.last or known[0])
        last = asked.last or max(known[-1], first)
        what = f"from {first} to {last}"
    else:
        closed = [day for day in known if newest is None or closes_at(day) <= newest]
        return ((closed or known)[-1],)
    if first > last:
        raise UsageError(f"--from {first} is later than --to {last}")
    chosen = tuple(day for day in known if first <= day <= last)
    if not chosen:
        before, after = (
            max((d for d in known if d < first), default=None),
            min((d for d in known if d > last), default=None),
        )
        near = " and ".join(str(day) for day in (before, after) if day)
        raise LogError(
            f"no decision {what}. The log holds {span(known)}; nearest: {near}"
        )
    return chosen


def _night_of(
    asked: Asked,
    as_of: str,
    known: Sequence[dt.date],
    closes_at: Callable[[dt.date], dt.datetime],
) -> dt.date:
    instant = asked.instant
    if instant is None:
        return dt.date.fromisoformat(as_of)
    closed = [day for day in known if closes_at(day) <= instant]
    if not closed:
        raise LogError(f"no night had ended at {as_of}; the log holds {span(known)}")
    return max(closed)


def _date(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def span(nights: Collection[dt.date]) -> str:
    """How many nights there are, from when to when."""
    if len(nights) == 1:
        return f"1 night, {min(nights)}"
    return f"{len(nights)} nights from {min(nights)} to {max(nights)}"
