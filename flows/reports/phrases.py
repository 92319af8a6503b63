"""Dates, counts and lists in words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from flows.reports.numbers import percent, significant

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
# Durations are told in the largest unit that is at most this often in them.
LEAST = 2
SPANS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def day_in_words(day: str, *, year: bool = True) -> str:
    """An ISO date as "27 November 2019"."""
    date = dt.date.fromisoformat(day)
    words = f"{date.day} {MONTHS[date.month - 1]}"
    return f"{words} {date.year}" if year else words


def period(start: str | None, end: str | None) -> str:
    """Two ISO dates as "24 to 30 November 2019", repeating nothing."""
    if start is None or end is None:
        return "no night"
    if start == end:
        return day_in_words(end)
    if start[:7] == end[:7]:
        return f"{int(start[8:])} to {day_in_words(end)}"
    return f"{day_in_words(start, year=start[:4] != end[:4])} to {day_in_words(end)}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun: "1 night", "7 nights"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def moment(instant: str, timezone: str) -> str:
    """An ISO instant in that zone as "27 November 2019, 00:22 (UTC)"."""
    at = dt.datetime.fromisoformat(instant)
    seconds = f":{at:%S}" if at.second else ""
    return f"{day_in_words(str(at.date()))}, {at:%H:%M}{seconds} ({timezone})"


def duration(seconds: float) -> str:
    """A declared duration, exactly: "20 minutes", "36 hours", "0.5 seconds"."""
    for noun, size in SPANS:
        number, left = divmod(seconds, size)
        if not left and (number >= LEAST or noun != "day") and number:
            return counted(int(number), noun)
    return f"{seconds:.12g} seconds"


def about(seconds: float) -> str:
    """A measured duration to three digits: "3.64 minutes"."""
    for noun, size in SPANS:
        if seconds >= LEAST * size:
            return f"{significant(seconds / size)} {noun}s"
    return f"{significant(seconds)} seconds"


def fitting(count: int, most: int) -> int:
    """How many of `count` to list so that "1 more" never stands for a single name."""
    return count if count <= most + 1 else most


def listed(names: Sequence[str], most: int, joint: str = "and") -> str:
    """Names in words, "a, b or 3 more"; at least one name."""
    kept = list(names[: fitting(len(names), most)])
    if len(names) > len(kept):
        kept.append(f"{len(names) - len(kept)} more")
    if len(kept) == 1:
        return kept[0]
    return f"{', '.join(kept[:-1])} {joint} {kept[-1]}"


def confidence(level: float) -> str:
    """A confidence level as percent."""
    return percent(level, places=4)
