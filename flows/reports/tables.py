"""Tables of the page as plain values: a caption, column names, rows of cells.

Every caption names unit, window, number of decisions, confidence and method, so that a
table that is cut out and passed on still says what it shows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flows.reports import findings, limits, words
from flows.reports.answer import day_in_words
from flows.reports.content import Document
from flows.reports.numbers import Unit, ends, percent, shown, significant
from flows.reports.words import Cell, cell, counted

NUMBERS = ("Improvement", "Value")
MOST_NIGHTS = 60
MOST_SEGMENTS = 100
KINDS = {
    "reward": "Reward missing",
    "support": "Support missing",
    "both": "Both missing",
}


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
    """Value and improvement of every candidate, all decisions since the start."""
    unit = words.unit(document)
    every = document["log"]["decisions"]
    logged = cell(document["logging_policy"]["value"], unit, sign=False)
    rows = [("logging policy", "what the log earned", [Cell("0", ""), logged])]
    rows += [
        (
            each["candidate"],
            each["spec"]
            if each["decisions"] == every
            else f"{each['spec']}, {counted(each['decisions'], 'decision')}",
            [
                cell(each["improvement"], unit, sign=True),
                cell(each["value"], unit, sign=False),
            ],
        )
        for each in words.ranked(document["candidates"])
    ]
    return Table(
        "Candidates",
        f"Reward {unit.phrase}, {words.basis(document)}.",
        ("Candidate", *NUMBERS),
        rows,
    )


def windows(document: Document, candidate: Document) -> Table:
    """The same candidate over shorter windows."""
    unit = words.unit(document)
    rows = [
        (
            words.WINDOWS[name],
            _span(document, window),
            _estimates(window, unit),
        )
        for name, window in candidate["windows"].items()
    ]
    caption = f"{candidate['candidate']}, reward {unit.phrase}; {_made(document)}."
    title = f"{candidate['candidate']}, {counted(len(rows), 'window')}"
    return Table(title, caption, ("Window", *NUMBERS), rows)


def nights(document: Document, candidate: Document) -> Table:
    """The interval since the start, as it stood on each night."""
    unit = words.unit(document)
    kept = thinned(candidate)
    rows = [
        (day_in_words(entry["night"]), _n(entry), _estimates(entry, unit))
        for entry in reversed(kept)
    ]
    left = len(candidate["nights"]) - len(kept)
    caption = (
        f"{candidate['candidate']}, reward {unit.phrase} on all decisions since the "
        f"start, as it stood after each night; {_made(document)}."
        f"{_left_out(left, f'of {left + len(kept)} nights')}"
    )
    title = f"{candidate['candidate']}, {counted(len(rows), 'night')}"
    return Table(title, caption, ("Night", *NUMBERS), rows)


def segments(document: Document, candidate: Document) -> Table:
    """Value and improvement by segment since the start, most decisions kept."""
    unit = words.unit(document)
    kept = largest(candidate["segments"], MOST_SEGMENTS)
    rows = [
        (words.segment(entry), f"{entry['by']}, {_n(entry)}", _estimates(entry, unit))
        for entry in kept
    ]
    left = len(candidate["segments"]) - len(kept)
    caption = (
        f"{candidate['candidate']}, reward {unit.phrase} since the start; "
        f"{_made(document)}."
        f"{_left_out(left, f'of {left + len(kept)} segments, the smallest,')}"
    )
    title = f"{candidate['candidate']}, {counted(len(rows), 'segment')}"
    return Table(title, caption, ("Segment", *NUMBERS), rows)


def missing(document: Document) -> Table | None:
    """Missing decisions by kind; None when there are none."""
    unit = words.unit(document)
    candidates = document["candidates"]
    kinds = [
        kind for kind in KINDS if any(each["missing"][kind] for each in candidates)
    ]
    rows = []
    for each in words.ranked(candidates):
        if not findings.missing_total(each):
            continue
        entry = each["improvement"]
        low, high = entry["identified_lower"], entry["identified_upper"]
        limits = ""
        if low is not None and high is not None:
            limits = f"limits {ends(shown(low, high, None, unit), sign=True)}"
        rows.append(
            (
                each["candidate"],
                limits,
                [_share(each["missing"][kind], each["decisions"]) for kind in kinds],
            )
        )
    if not rows:
        return None
    return Table(
        "Missing decisions",
        f"Missing decisions since the start, of {document['log']['decisions']:,}. "
        "Limits are what endless data would still allow of the improvement, in reward "
        f"{unit.phrase}.",
        ("Candidate", *(KINDS[kind] for kind in kinds)),
        rows,
    )


def weights(document: Document) -> Table:
    """How the importance weights are spread."""
    rows = []
    for each in words.ranked(document["candidates"]):
        found = each["diagnostics"]
        cells = [
            Cell(
                _number(found["effective_sample_size"], 3),
                f"largest weight {_number(found['largest_weight'], 3)}",
            ),
            Cell(
                _number(found["mean_weight"], 4),
                f"expected {_number(found['expected_mean_weight'], 4)}",
            ),
            Cell(
                "" if found["top_share"] is None else percent(found["top_share"], 0),
                "",
            ),
        ]
        rows.append((each["candidate"], "", cells))
    return Table(
        "Weights",
        f"Importance weights, {counted(document['log']['decisions'], 'decision')} "
        "since the start.",
        (
            "Candidate",
            "Effective sample size",
            "Mean weight",
            "Share of the top 1\N{NO-BREAK SPACE}%",
        ),
        rows,
    )


def violations(document: Document) -> Table | None:
    """Rules that rows broke, by day; None when no row did."""
    rows = [
        (entry["rule"], day_in_words(entry["day"]), [Cell(f"{entry['count']:,}", "")])
        for entry in document["violations"]
    ]
    if not rows:
        return None
    return Table(
        "Violations", "Rows that break a rule, by day.", ("Rule", "Rows"), rows
    )


def thinned(candidate: Document) -> list[Document]:
    """At most 60 nights: evenly spaced, the last among them, and the supported one."""
    nights: Sequence[Document] = candidate["nights"]
    step = -(-len(nights) // MOST_NIGHTS)
    kept = list(nights[::-1][::step][::-1]) if step > 1 else list(nights)
    since = candidate["supported_since"]
    if since is None or any(entry["night"] == since for entry in kept):
        return kept
    first = next(entry for entry in nights if entry["night"] == since)
    if len(kept) == MOST_NIGHTS:
        kept = kept[1:]
    return sorted([*kept, first], key=lambda entry: str(entry["night"]))


def largest(entries: Sequence[Document], most: int) -> list[Document]:
    """The entries with the most decisions, in their own order."""
    order = sorted(range(len(entries)), key=lambda i: -entries[i]["decisions"])
    return [entries[i] for i in sorted(order[:most])]


def _estimates(entry: dict[str, Any], unit: Unit) -> list[Cell]:
    return [
        cell(entry["improvement"], unit, sign=True),
        cell(entry["value"], unit, sign=False),
    ]


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
    told = words.period(min(held, default=None), max(held, default=None))
    length = dt.date.fromisoformat(end) - dt.date.fromisoformat(start)
    if held and len(held) <= length.days:
        told += f"; {counted(len(held), 'night')} of data"
    return f"{told}, {_n(window)}, {window['look']}"


def _left_out(count: int, of_which: str) -> str:
    verb = "is" if count == 1 else "are"
    return f" {count} {of_which} {verb} left out." if count else ""


def _made(document: Document) -> str:
    level = words.confidence(document["evaluation"]["confidence"])
    return f"{level} intervals, method {' and '.join(words.methods(document))}"


def _share(count: int, decisions: int) -> Cell:
    return Cell(f"{count:,}", percent(count / decisions) if count else "")


def _number(number: float | None, digits: int) -> str:
    return "" if number is None else significant(number, digits)
