"""What the page and the Markdown both say: labels, cells and notes in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flows.reports import answer as rule
from flows.reports import limits
from flows.reports.answer import day_in_words, listed
from flows.reports.content import Document
from flows.reports.numbers import (
    Unit,
    ends,
    percent,
    plain,
    shown,
    signed,
    unit_of,
)

BADGES = {
    rule.SUPPORTED: "Switching is supported",
    rule.WORSE: "Keep the logging policy",
    rule.UNDECIDED: "Not enough evidence",
    rule.WITHHELD: "Withheld",
    rule.NO_REWARDS: "No rewards yet",
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
    value, log = document["logging_policy"]["value"], document["log"]
    in_unit = unit(document)
    low, high = document["evaluation"]["reward_range"]
    known = cell(value, in_unit, sign=False)
    possible = f"rewards being {low:g} to {high:g}"
    if not rule.has_ends(value):
        return f"{known.number}, {possible}"
    if limits.is_open(value, in_unit):
        missing = log["decisions"] - log["rewards"]
        told = limits.earned(value, missing, log["decisions"], in_unit)
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

    Those that act as the logging policy does come after, those without ends last.
    """
    return sorted(candidates, key=_rank)


def _rank(candidate: Document) -> tuple[int, float]:
    improvement = candidate["improvement"]
    if not rule.has_ends(improvement):
        return 2, 0.0
    return int(rule.acts_as_logged(candidate)), -improvement["lower"]


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


def confidence(level: float) -> str:
    """A confidence level as percent."""
    return percent(level, places=4)


def methods(document: Document) -> list[str]:
    """The methods behind the intervals, in the order of the alphabet."""
    return sorted(
        {
            str(each[estimand]["method"])
            for each in document["candidates"]
            for estimand in ("value", "improvement")
        }
    )


def basis(document: Document) -> str:
    """Of which decisions the numbers speak, and how their intervals are made."""
    log, evaluation = document["log"], document["evaluation"]
    return (
        f"{counted(log['decisions'], 'decision')} since the start, "
        f"{period(log['first_day'], log['last_day'])}; "
        f"{confidence(evaluation['confidence'])} intervals, "
        f"method {' and '.join(methods(document))}"
    )


# The one method whose intervals each use the whole error, however many there are.
UNADJUSTED = "compat"


def together(document: Document) -> str:
    """What confidence means when several candidates are looked at."""
    candidates = document["candidates"]
    declared = document["evaluation"]["confidence"]
    count = len(candidates)
    every = "both" if count == rule.PAIR else f"all {count}"
    if count == 1:
        return ""
    if is_adjusted(document):
        return (
            f"Since the start, the improvements of {every} candidates hold "
            f"together with {confidence(declared)} at every look while the mean stays "
            "constant, and so do their values: each candidate uses a share of the "
            "error, the first to appear the largest. No candidate is compared with "
            "another."
        )
    return (
        f"Each interval holds by itself with {confidence(declared)}; nothing is "
        f"corrected for looking at {count} candidates at once, and no "
        "candidate is compared with another."
    )


def is_adjusted(document: Document) -> bool:
    """Whether intervals share the error, so that all of them hold together."""
    methods = {each["improvement"]["method"] for each in document["candidates"]}
    return UNADJUSTED not in methods


def sentence(document: Document) -> str:
    """The answer beside its badge, which already says how the sentence begins."""
    told = str(document["answer"]["sentence"])
    badge = BADGES[document["answer"]["state"]]
    rest = told.removeprefix(f"{badge}: ")
    return rest if rest == told else rest[0].upper() + rest[1:]


def headline_look(document: Document) -> str:
    """Under which looks the intervals since the start hold."""
    looks = {each["improvement"]["look"] for each in document["candidates"]}
    if looks == {"every look"}:
        return "valid at every look while the mean stays constant"
    return "valid for a single look"


def luck(document: Document, count: int) -> str:
    """What confidence means when several segments are looked at."""
    if count == 1:
        return ""
    declared = confidence(document["evaluation"]["confidence"])
    if is_adjusted(document):
        return (
            "The intervals of all segments and candidates hold together with "
            f"{declared}; that makes each of them wider than it would be alone."
        )
    return (
        f"Each interval holds by itself with {declared}; of {count} looked "
        "at together, the most striking one owes part of it to luck."
    )


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
    if rule.acts_as_logged(candidate):
        return "Acts as the logging policy does"
    return "Earns less" if rule.is_worse(entry) else "Not supported yet"
