"""What the page and the Markdown both say: labels, cells and notes in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flows.offpolicy.methods import EXPLORATORY
from flows.reports import answer as rule
from flows.reports import limits, looks, rewarded
from flows.reports.entries import Document
from flows.reports.numbers import (
    Unit,
    ends,
    lone,
    plain,
    shown,
    signed,
    unit_of,
)
from flows.reports.phrases import counted, day_in_words, listed, period

BADGES = {
    rule.SUPPORTED: "Switching is supported",
    rule.WORSE: "Keep the logging policy",
    rule.UNDECIDED: "Not enough evidence",
    rule.WITHHELD: "Withheld",
    rule.NO_REWARDS: "No rewards yet",
    EXPLORATORY: "Exploratory",
}
WINDOWS = {
    "night": "This night",
    "last_7": "Last 7 nights",
    "last_28": "Last 28 nights",
    "since_start": "Since the start",
}
# An estimate without ends, in a table.
STATES = {
    "withheld": "withheld",
    "all_rewards_missing": "no rewards yet",
    "nothing_measured": "nothing measured",
}
MOST_NAMED = 5
VALUE = re.compile(r"((?:\\.|[^\\,])*)(?:, |$)", re.DOTALL)  # one of several
ESCAPED_NULL = r"\(null)"
QUOTED = "\N{LEFT DOUBLE QUOTATION MARK}{}\N{RIGHT DOUBLE QUOTATION MARK}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One estimate in a table: the number, and the interval beneath it.

    mark: of a footnote (`limits.FOOTNOTES`), or empty.
    """

    number: str
    interval: str
    mark: str = ""


def unit(document: Document) -> Unit:
    """The unit of every reward shown."""
    low, high = document["evaluation"]["reward_range"]
    return unit_of((low, high))


def cell(entry: dict[str, Any], in_unit: Unit, *, sign: bool) -> Cell:
    """An estimate for a table; a state in words where there is no interval."""
    if not rule.has_ends(entry):
        return Cell(STATES[entry["state"]], "")
    both = (entry["lower"], entry["upper"])
    pair = shown(*both, entry["estimate"], in_unit, sign=sign)
    text, mark = ends(pair, sign=sign), limits.mark(entry, in_unit)
    if mark == limits.UNKNOWN:
        return Cell(limits.NONE, text, mark)
    if pair.is_point or pair.estimate is None:
        return Cell(text, "")
    return Cell((signed if sign else plain)(pair.estimate), text, mark)


def logged(document: Document) -> str:
    """What the logging policy earned, in words."""
    policy = document["logging_policy"]
    value, missing = policy["value"], policy["missing"]
    in_unit = unit(document)
    low, high = document["evaluation"]["reward_range"]
    known = cell(value, in_unit, sign=False)
    possible = f"rewards being {lone(low)} to {lone(high)}"
    if not rule.has_ends(value):
        return f"{known.number}, {possible}"
    if limits.is_open(value, in_unit):
        count = missing["reward"] + missing["both"]
        told = limits.earned(value, count, policy["decisions"], in_unit)
        return f"earned {told}, {possible}; interval {known.interval}"
    interval = f" ({known.interval})" if known.interval else ""
    return f"earned {known.number}{interval} reward {in_unit.phrase}, {possible}"


def segment(entry: dict[str, Any]) -> str:
    """The value of a segment for reading.

    Several values stand in the table as "1, mobile", a comma or backslash of their own
    behind a backslash (`flows.offpolicy.evidence`). Here such a value stands in
    quotes, as does text that looks like a null.
    """
    text, columns = str(entry["segment"]), str(entry["by"]).count(", ") + 1
    parts = VALUE.findall(text)[:columns] if columns > 1 else [text]
    return ", ".join(_value(part, several=columns > 1) for part in parts)


def _value(part: str, *, several: bool) -> str:
    if not several and part != ESCAPED_NULL:
        return part
    told = re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL)
    is_plain = told == part or ("," not in told and part != ESCAPED_NULL)
    return told if is_plain else QUOTED.format(told)


def ranked(candidates: Sequence[Document]) -> list[Document]:
    """Candidates by the lower end of their improvement, greatest first.

    Those that act as the logging policy does come after, then exploratory ones, those
    without ends last.
    """
    return sorted(candidates, key=_rank)


def _rank(candidate: Document) -> tuple[int, float]:
    improvement = candidate["improvement"]
    if not rule.has_ends(improvement):
        return 3, 0.0
    if rule.is_exploratory(improvement):
        return 2, -improvement["lower"]
    return int(rule.acts_as_logged(candidate)), -improvement["lower"]


def basis(document: Document, entries: Sequence[dict[str, Any]] | None = None) -> str:
    """Of which decisions the numbers speak, and how their intervals are made.

    entries: the estimates; left out, the improvements of all candidates.
    """
    logging = document["logging_policy"]
    if entries is None:
        entries = [each["improvement"] for each in document["candidates"]]
    return (
        f"{counted(logging['decisions'], 'decision')} since the start, "
        f"{period(logging['start'], document['log']['last_day'])}; "
        f"{looks.made(document, entries)}"
    )


def sentence(document: Document) -> str:
    """The answer beside its badge, which already says how the sentence begins.

    That a night is open stands beneath it (`rewarded.opening`).
    """
    told = str(document["answer"]["sentence"])
    if is_open := rewarded.opening(document):
        told = told.removesuffix(f" {is_open}")
    badge = BADGES[document["answer"]["state"]]
    rest = told.removeprefix(f"{badge}: ")
    return rest if rest == told else rest[0].upper() + rest[1:]


def since(document: Document) -> list[str]:
    """Since when a switch is supported, in sentences."""
    supported = [each for each in document["candidates"] if each["supported_since"]]
    lost = [
        each["candidate"]
        for each in document["candidates"]
        if not each["supported_since"]
        and any(rule.is_supported(entry["improvement"]) for entry in each["nights"])
    ]
    told = []
    if not supported:
        told.append("No switch is supported on this night.")
    elif len(supported) <= MOST_NAMED:
        for each in supported:
            run = sum(e["night"] >= each["supported_since"] for e in each["nights"])
            told.append(
                f"A switch to {each['candidate']} is supported since "
                f"{day_in_words(each['supported_since'])}: "
                f"{counted(run, 'night')} in a row."
            )
    else:
        told.append(f"A switch to any of {len(supported)} candidates is supported.")
    if lost:
        names = listed(lost, MOST_NAMED)
        told.append(f"Supported on earlier nights and no longer: {names}.")
    return told


def standing(candidate: Document) -> str:
    """Since when a switch to this candidate is supported, or how it stands."""
    entry = candidate["improvement"]
    if candidate["supported_since"] is not None:
        return f"Supported since {day_in_words(candidate['supported_since'])}"
    if not rule.has_ends(entry):
        return "No interval"
    if rule.is_exploratory(entry):
        return f"Exploratory until {day_in_words(candidate['fixed_at'])}"
    if rule.acts_as_logged(candidate):
        return "Acts as the logging policy does"
    return "Earns less" if rule.is_worse(entry) else "Not supported yet"
