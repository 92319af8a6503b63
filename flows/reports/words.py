"""What the page and the Markdown both say: labels, cells and notes in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flows.reports import answer as rule
from flows.reports.answer import day_in_words
from flows.reports.content import Document
from flows.reports.numbers import (
    Unit,
    difference,
    ends,
    percent,
    plain,
    shown,
    signed,
    significant,
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
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Cell:
    """One estimate in a table: the number, and the interval beneath it."""

    number: str
    interval: str


def unit(document: Document) -> Unit:
    """The unit of every reward shown."""
    low, high = document["evaluation"]["reward_range"]
    return unit_of((low, high))


def cell(entry: dict[str, Any], in_unit: Unit, *, sign: bool) -> Cell:
    """An estimate for a table; a state in words where there is no interval."""
    if not rule.has_ends(entry):
        return Cell(
            "withheld" if entry["state"] == rule.WITHHELD else "no rewards yet", ""
        )
    both = (entry["lower"], entry["upper"])
    pair = shown(*both, entry["estimate"], in_unit, sign=sign)
    text = ends(pair, sign=sign)
    if pair.is_point or pair.estimate is None:
        return Cell(text, "")
    return Cell((signed if sign else plain)(pair.estimate), text)


def ranked(candidates: Sequence[Document]) -> list[Document]:
    """Candidates by the lower end of their improvement, greatest first.

    Those that act as the logging policy does come after, those without ends last.
    """
    return sorted(candidates, key=lambda each: _rank(each["improvement"]))


def _rank(improvement: dict[str, Any]) -> tuple[int, float]:
    if not rule.has_ends(improvement):
        return 2, 0.0
    same = improvement["lower"] == improvement["upper"] == 0
    return int(same), -improvement["lower"]


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


def together(document: Document) -> str:
    """What confidence means when several candidates are looked at."""
    candidates = document["candidates"]
    declared = document["evaluation"]["confidence"]
    levels = {each["improvement"]["confidence"] for each in candidates}
    if levels != {declared}:
        return (
            "Candidates share the error that the declared confidence allows: each "
            "interval holds with a confidence of its own, given in the JSON report."
        )
    if len(candidates) == 1:
        return ""
    return (
        f"Each interval holds by itself with {confidence(declared)}; nothing is "
        f"corrected for looking at {len(candidates)} candidates at once, and no "
        "candidate is compared with another."
    )


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
    """A caution about picking the best of several segments."""
    declared = document["evaluation"]["confidence"]
    levels = {
        entry["improvement"]["confidence"]
        for candidate in document["candidates"]
        for entry in candidate["segments"]
    }
    if count == 1 or levels != {declared}:
        return ""
    return (
        f"Each interval holds by itself with {confidence(declared)}; of {count} looked "
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
        names = ", ".join(lost[:MOST_NAMED])
        more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
        told.append(f"Supported on earlier nights and no longer: {names}{more}.")
    return told


def withheld(document: Document) -> list[str]:
    """Candidates whose weights contradict the log, with the two means."""
    told = []
    for each in document["candidates"]:
        if each["improvement"]["state"] == rule.WITHHELD:
            found = each["diagnostics"]
            mean, expected = found["mean_weight"], found["expected_mean_weight"]
            numbers = (
                ""
                if mean is None or expected is None
                else f": the mean weight is {significant(mean, 4)} where the logged "
                f"probabilities imply {significant(expected, 4)}"
            )
            told.append(f"The intervals of {each['candidate']} are withheld{numbers}.")
    return told


def nothing_missing(document: Document) -> str:
    """A sentence for a log in which every decision can be scored; otherwise empty."""
    if any(missing_total(each) for each in document["candidates"]):
        return ""
    return (
        f"No decision is missing: all {document['log']['decisions']:,} have a reward, "
        "and every action that a candidate may take has support."
    )


def missing_total(candidate: Document) -> int:
    """Decisions that are missing for a candidate, of whatever kind."""
    missing = candidate["missing"]
    return int(missing["reward"] + missing["support"] + missing["both"])


def unsettled(candidate: Document, in_unit: Unit) -> str:
    """Why more nights alone cannot decide, when that is so; otherwise empty."""
    entry = candidate["improvement"]
    low, high = entry["identified_lower"], entry["identified_upper"]
    if low is None or high is None or not low < 0 < high or rule.is_supported(entry):
        return ""
    share = percent(missing_total(candidate) / candidate["decisions"])
    words = difference(shown(low, high, None, in_unit), f"reward {in_unit.phrase}")
    return (
        f"More nights like these cannot settle {candidate['candidate']}: {share} of "
        f"its decisions are missing, and even with endless data they would leave "
        f"anything {words} possible."
    )


def standing(candidate: Document) -> str:
    """Since when a switch to this candidate is supported, or how it stands."""
    entry = candidate["improvement"]
    if candidate["supported_since"] is not None:
        return f"Supported since {day_in_words(candidate['supported_since'])}"
    if not rule.has_ends(entry):
        return "No interval"
    if entry["lower"] == entry["upper"] == 0:
        return "Acts as the logging policy does"
    return "Earns less" if rule.is_worse(entry) else "Not supported yet"


def revised(document: Document) -> list[Document]:
    """Days that changed after they were first read."""
    return [day for day in document["days"] if day["revision"] > 0]


def assumptions(document: Document) -> list[dict[str, Any]]:
    """Each assumption once, with its findings and the candidates each is about.

    A finding that is the same for every candidate names none.
    """
    candidates = document["candidates"]
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for candidate in candidates:
        for entry in candidate["assumptions"]:
            key = (entry["status"], entry["finding"])
            findings = found.setdefault(entry["assumption"], {})
            findings.setdefault(key, []).append(candidate["candidate"])
    return [
        {
            "assumption": assumption,
            "findings": [
                {
                    "status": status,
                    "finding": finding,
                    "candidates": names if len(names) < len(candidates) else [],
                }
                for (status, finding), names in findings.items()
            ],
        }
        for assumption, findings in found.items()
    ]


def unknown_actions(document: Document) -> list[tuple[str, list[Document]]]:
    """Candidates that name actions which no decision offers, with those actions."""
    return [
        (each["candidate"], each["diagnostics"]["unknown_actions"])
        for each in document["candidates"]
        if each["diagnostics"]["unknown_actions"]
    ]
