"""Tables of estimates as plain values: a caption, column names, rows of cells.

Every caption names unit, window, number of decisions, confidence, method, looks and
what is assumed, so that a table that is cut out and passed on still says what it shows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flows.offpolicy.methods import EXPLORATORY
from flows.reports import answer as rule
from flows.reports import compared, limits, looks, words
from flows.reports.entries import Document
from flows.reports.numbers import Unit
from flows.reports.phrases import counted, day_in_words, period
from flows.reports.words import Cell, cell

NUMBERS = ("Improvement", "Value")
MOST_NIGHTS = 60
MOST_SEGMENTS = 100


@dataclass(frozen=True, slots=True)
class Table:
    """One table; title is its short name where it is folded.

    columns: the first one heads the rows, the others hold numbers.
    rows: (row head, note beneath it, cells).
    """

    title: str
    caption: str
    columns: tuple[str, ...]
    rows: list[tuple[str, str, list[Cell]]]

    @property
    def footnotes(self) -> list[tuple[str, str]]:
        """(mark, text) of the marks that its cells carry."""
        used = {cell.mark for _, _, cells in self.rows for cell in cells}
        return [(m, text) for m, text in limits.FOOTNOTES.items() if m in used]

    def parts(self, most: int) -> list[Table]:
        """The table, or its first rows and a second one with the others."""
        if len(self.rows) <= most:
            return [self]
        left = self.rows[most:]
        return [
            replace(self, rows=self.rows[:most]),
            replace(self, title=f"{len(left)} more", rows=left),
        ]


def candidates(document: Document) -> Table:
    """Value, improvement and place of every candidate, all decisions since the start.

    Places are left out where none is certain.
    """
    unit = words.unit(document)
    logged = cell(document["logging_policy"]["value"], unit, sign=False)
    about = f"what the log earned{_place(document, rule.LOGGING)}"
    rows = [("logging policy", about, [Cell("0", ""), logged])]
    rows += [
        (each["candidate"], _about(document, each), _estimates(each, unit))
        for each in words.ranked(document["candidates"])
    ]
    return Table(
        "Candidates",
        f"Reward {unit.phrase}, {words.basis(document)}.",
        ("Candidate", *NUMBERS),
        rows,
    )


def doubly_robust(document: Document) -> Table:
    """The same by the other estimator, which shares no error with the first."""
    unit, every = words.unit(document), document["doubly_robust"]
    rows = [(each["candidate"], "", _estimates(each, unit)) for each in every]
    made = looks.made(document, [each["improvement"] for each in every])
    return Table(
        "Doubly robust",
        f"Reward {unit.phrase} since the start by the doubly robust estimator: a model "
        "of earlier nights predicts rewards, and weights correct what it misses; "
        f"{made}. Nothing decides on it: picking the narrower of two intervals would "
        "make it too narrow.",
        ("Candidate", *NUMBERS),
        rows,
    )


def differences(document: Document) -> Table:
    """Of each compared pair what the first candidate earns more than the other."""
    unit = words.unit(document)
    rows = [
        (
            compared.label(each),
            _n(each) + _exploratory(each["difference"]),
            _estimates(each, unit),
        )
        for each in document["differences"]
    ]
    made = looks.made(
        document, [each["difference"] for each in document["differences"]]
    )
    return Table(
        counted(len(rows), "declared difference"),
        f"Reward {unit.phrase} that the first candidate earns more than the other, "
        f"since the start; {made}.",
        ("Candidates", "Difference"),
        rows,
    )


def windows(document: Document, candidate: Document) -> Table:
    """The same candidate over shorter windows."""
    unit, every = words.unit(document), candidate["windows"]
    rows = [
        (words.WINDOWS[name], _span(document, window), _estimates(window, unit))
        for name, window in every.items()
    ]
    made = looks.made(document, [window["improvement"] for window in every.values()])
    caption = f"{candidate['candidate']}, reward {unit.phrase}; {made}."
    title = f"{candidate['candidate']}, {counted(len(rows), 'window')}"
    return Table(title, caption, ("Window", *NUMBERS), rows)


def nights(document: Document, candidate: Document) -> Table:
    """The interval since the start, as it stood on each night."""
    unit, kept = words.unit(document), thinned(candidate)
    checkpoints = candidate["looks"]["checkpoints"]
    rows = [
        (
            day_in_words(entry["night"]),
            _n(entry)
            + ", checkpoint" * (entry["night"] in checkpoints)
            + _exploratory(entry["improvement"]),
            _estimates(entry, unit),
        )
        for entry in reversed(kept)
    ]
    left = len(candidate["nights"]) - len(kept)
    made = looks.made(document, [entry["improvement"] for entry in kept])
    caption = (
        f"{candidate['candidate']}, reward {unit.phrase} on all decisions since the "
        f"start, as it stood after each night; {made}."
        f"{_left_out(left, f'of {left + len(kept)} nights')}"
    )
    title = f"{candidate['candidate']}, {counted(len(rows), 'night')}"
    return Table(title, caption, ("Night", *NUMBERS), rows)


def segments(document: Document, candidate: Document) -> Table:
    """Value and improvement by segment since the start, most decisions kept."""
    unit = words.unit(document)
    kept = largest(candidate["segments"], MOST_SEGMENTS)
    rows = [
        (
            words.segment(entry),
            f"{entry['by']}, {_n(entry)}{_exploratory(entry['improvement'])}",
            _estimates(entry, unit),
        )
        for entry in kept
    ]
    left = len(candidate["segments"]) - len(kept)
    made = looks.made(document, [entry["improvement"] for entry in kept])
    caption = (
        f"{candidate['candidate']}, reward {unit.phrase} since the start; {made}."
        f"{_left_out(left, f'of {left + len(kept)} segments, the smallest,')}"
    )
    title = f"{candidate['candidate']}, {counted(len(rows), 'segment')}"
    return Table(title, caption, ("Segment", *NUMBERS), rows)


def thinned(candidate: Document) -> list[Document]:
    """At most 60 nights, evenly spaced up to the last one.

    Among them, where there is room: checkpoints, the night since which a switch is
    supported, and those on which other looks began.
    """
    nights: Sequence[Document] = candidate["nights"]
    if len(nights) <= MOST_NIGHTS:
        return list(nights)
    marked = {candidate["supported_since"], *candidate["looks"]["checkpoints"]}
    special = {
        i
        for i, entry in enumerate(nights)
        if entry["night"] in marked or entry["start"] != nights[max(i - 1, 0)]["start"]
    }
    special = set(sorted(special)[-MOST_NIGHTS // 2 :])
    kept: set[int] = set()
    for step in range(-(-len(nights) // MOST_NIGHTS), len(nights) + 1):
        kept = special | set(range(len(nights) - 1, -1, -step))
        if len(kept) <= MOST_NIGHTS:
            break
    return [nights[i] for i in sorted(kept)]


def largest(entries: Sequence[Document], most: int) -> list[Document]:
    """The entries with the most decisions, in their own order."""
    order = sorted(range(len(entries)), key=lambda i: -entries[i]["decisions"])
    return [entries[i] for i in sorted(order[:most])]


def _estimates(entry: dict[str, Any], unit: Unit) -> list[Cell]:
    if "difference" in entry:
        return [cell(entry["difference"], unit, sign=True)]
    return [
        cell(entry["improvement"], unit, sign=True),
        cell(entry["value"], unit, sign=False),
    ]


def _about(document: Document, candidate: Document) -> str:
    """What the candidate is, and how its decisions differ from the logging policy's."""
    told, logging = [str(candidate["spec"])], document["logging_policy"]
    if candidate["decisions"] != logging["decisions"]:
        told.append(counted(candidate["decisions"], "decision"))
    if candidate["looks"]["start"] != logging["start"]:
        told.append(f"since {day_in_words(candidate['looks']['start'])}")
    told[-1] += _exploratory(candidate["improvement"])
    return ", ".join(told) + _place(document, candidate["candidate"])


def _place(document: Document, name: str) -> str:
    places = compared.places(document)
    return f"; place {places[name]} of {len(places)}" if places else ""


def _exploratory(entry: dict[str, Any]) -> str:
    return f", {EXPLORATORY}" if rule.is_exploratory(entry) else ""


def _n(entry: dict[str, Any]) -> str:
    return f"n = {entry['decisions']:,}"


def _span(document: Document, window: dict[str, Any]) -> str:
    """The dates of the window that hold decisions; how many, where some do not."""
    start, end = window["start"], window["end"]
    held = [
        day["day"]
        for day in document["days"]
        if start <= day["day"] <= end and day["decisions"]
    ]
    told = period(min(held, default=None), max(held, default=None))
    length = dt.date.fromisoformat(end) - dt.date.fromisoformat(start)
    if held and len(held) <= length.days:
        told += f"; {counted(len(held), 'night')} of data"
    return f"{told}, {_n(window)}, {window['look']}"


def _left_out(count: int, of_which: str) -> str:
    verb = "is" if count == 1 else "are"
    return f" {count} {of_which} {verb} left out." if count else ""
