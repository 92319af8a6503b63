"""Tables of what was missing, broken, revised or uneven, as `tables` makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.reports import findings, words
from flows.reports.answer import LOGGING
from flows.reports.entries import Document
from flows.reports.numbers import (
    Unit,
    decimals,
    ends,
    exact,
    percent,
    plain,
    shown,
    signed,
    significant,
)
from flows.reports.phrases import counted, day_in_words
from flows.reports.tables import Table
from flows.reports.words import Cell

KINDS = {
    "reward": "Reward missing",
    "support": "Support missing",
    "both": "Both missing",
}
# What is shown of a revised night: the first of these that moved.
SHOWN = ("improvement", "difference", "value")
# How many more decimals may be shown of what moved less than intervals show.
MORE_DIGITS = 2


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
        "Missing decisions since the start, of "
        f"{document['logging_policy']['decisions']:,}. "
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
        expected = found["expected_mean_weight"]
        cells = [
            Cell(
                _number(found["effective_sample_size"], 3),
                f"largest weight {_number(found['largest_weight'], 3)}",
            ),
            Cell(
                _number(found["mean_weight"], 4),
                "expected at most 1"
                if expected is None
                else f"expected {_number(expected, 4)}",
            ),
            Cell(
                "" if found["top_share"] is None else percent(found["top_share"], 0),
                "",
            ),
        ]
        rows.append((each["candidate"], "", cells))
    decisions = document["logging_policy"]["decisions"]
    return Table(
        "Weights",
        f"Importance weights, {counted(decisions, 'decision')} since the start.",
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


def revisions(document: Document) -> Table | None:
    """Per candidate the published night that moved most, then and now; None if none."""
    made_again = [n for n in document["revisions"] if n["known_from"] == n["night"]]
    return _most_moved(
        document,
        made_again,
        "Revisions",
        "Of every candidate the published night that moved most.",
        ("Candidate", "As published", "Now"),
    )


def known_later(document: Document) -> Table | None:
    """The same of nights that stay as published, though a later one knows of more."""
    later = [n for n in document["revisions"] if n["known_from"] > n["night"]]
    return _most_moved(
        document,
        later,
        "Moved by later rewards",
        "Of every candidate the published night that rewards known only after it had "
        "closed would move most. It stays as published; later nights count them.",
        ("Candidate", "As published", "With them"),
    )


def _most_moved(
    document: Document,
    moved: Sequence[Document],
    title: str,
    about: str,
    columns: tuple[str, ...],
) -> Table | None:
    unit = words.unit(document)
    found: dict[tuple[str, str], dict[str, list[Document]]] = {}
    for entry in filter(_moved, moved):
        subject = found.setdefault((entry["candidate"], entry["other"]), {})
        subject.setdefault(entry["estimand"], []).append(entry)
    rows = []
    for (candidate, other), estimands in found.items():
        name = next(name for name in SHOWN if name in estimands)
        most = max(estimands[name], key=_moved)
        since = ""
        if most["known_from"] > most["night"]:
            since = f", rewards known since {day_in_words(most['known_from'])}"
        note = f"{name}, {day_in_words(most['night'])}{since}"
        who = "logging policy" if candidate == LOGGING else candidate
        rows.append(
            (
                f"{candidate} over {other}" if other else who,
                note + _moved_in_all(estimands),
                _before_and_after(most, name, unit),
            )
        )
    if not rows:
        return None
    caption = f"Reward {unit.phrase} since the start. {about}"
    return Table(title, caption, columns, rows)


def frequencies(document: Document) -> Table | None:
    """Actions taken more or less often than their probabilities say; None if none."""
    found = document["frequencies"]
    actions: dict[str, list[Document]] = {}
    for entry in found["deviating"]:
        actions.setdefault(entry["action"], []).append(entry)
    if not actions:
        return None
    fit = found["actions"] - len(actions)
    return Table(
        "Frequencies",
        "How often an action was taken, and how often its logged probabilities say, "
        f"with its standard error. {counted(fit, 'other action')} "
        f"{'fits' if fit == 1 else 'fit'}.",
        ("Action", "Taken", "Expected"),
        sorted(
            (_deviating(entries) for entries in actions.values()),
            key=lambda row: row[0],
        ),
    )


def _deviating(entries: Sequence[Document]) -> tuple[str, str, list[Cell]]:
    """An action over all days, where it deviates, else on the day it does most."""
    most = max(entries, key=lambda entry: (entry["day"] is None, _beyond(entry)))
    note = "all days together" if most["day"] is None else day_in_words(most["day"])
    others = sum(entry["day"] is not None for entry in entries if entry is not most)
    if others:
        note += f"; also on {counted(others, 'day')} alone"
    error = f"\N{PLUS-MINUS SIGN} {_number(most['standard_error'], 2)}"
    return (
        most["action"],
        note,
        [
            Cell(f"{most['logged']:,}", ""),
            Cell(_number(most["expected"], 4), error),
        ],
    )


def _beyond(entry: Document) -> float:
    """How far beyond what chance allows."""
    return float(abs(entry["logged"] - entry["expected"]) / entry["allowed"])


def _moved(entry: Document) -> float:
    """How far a published number moved; endlessly far where it came or went."""
    far = 0.0
    for name in ("estimate", "lower", "upper"):
        before, after = entry["before"][name], entry["after"][name]
        if (before is None) != (after is None):
            return float("inf")
        if before is not None:
            far = max(far, abs(after - before))
    return far


def _moved_in_all(estimands: dict[str, list[Document]]) -> str:
    nights = {entry["night"] for entries in estimands.values() for entry in entries}
    return f"; {counted(len(nights), 'night')} moved" if len(nights) > 1 else ""


def _before_and_after(moved: Document, estimand: str, unit: Unit) -> list[Cell]:
    """Both with as many decimals as show that they differ, if two more do."""
    both = [moved["before"], moved["after"]]
    if any(_is_none(each) for each in both):
        return [_then(each, estimand, unit) for each in both]
    least = max(
        decimals(exact(each["lower"], unit), exact(each["upper"], unit))
        for each in both
    )
    cells = []
    for places in range(least, least + 1 + MORE_DIGITS):
        cells = [_then(each, estimand, unit, places) for each in both]
        if cells[0] != cells[1]:
            return cells
    return [cells[0], Cell("the same", "as far as shown")]


def _is_none(numbers: dict[str, Any]) -> bool:
    return numbers["lower"] is None or numbers["upper"] is None


def _then(numbers: dict[str, Any], estimand: str, unit: Unit, places: int = 0) -> Cell:
    if _is_none(numbers):
        return Cell("none", "")
    lower, upper, sign = numbers["lower"], numbers["upper"], estimand != "value"
    pair = shown(lower, upper, numbers["estimate"], unit, sign=sign, places=places)
    if pair.estimate is None:
        return Cell(ends(pair, sign=sign), "")
    return Cell((signed if sign else plain)(pair.estimate), ends(pair, sign=sign))


def _share(count: int, decisions: int) -> Cell:
    return Cell(f"{count:,}", percent(count / decisions) if count else "")


def _number(number: float | None, digits: int) -> str:
    return "" if number is None else significant(number, digits)
