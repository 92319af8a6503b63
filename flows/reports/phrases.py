"""Dates, counts and lists in words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from flows.reports.numbers import percent

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
