"""What was missing or wrong, and what is assumed, in plain words."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import Any

from flows.reports import answer as rule
from flows.reports import words
from flows.reports.answer import fitting, listed
from flows.reports.content import Document
from flows.reports.numbers import Unit, difference, percent, shown, significant

MOST_GAPS = 3


def withheld(document: Document) -> list[str]:
    """Candidates whose weights contradict the log, why, and what to do."""
    told = []
    for each in document["candidates"]:
        if each["improvement"]["state"] == rule.WITHHELD:
            found = each["diagnostics"]
            mean, expected = found["mean_weight"], found["expected_mean_weight"]
            told.append(
                f"The intervals of {each['candidate']} are withheld. The logged "
                "probabilities cannot be those the actions were drawn with"
                f"{_means(mean, expected)}. Check how logging_probabilities are "
                "logged and joined."
            )
    return told


def _means(mean: float | None, expected: float | None) -> str:
    """Where the two mean weights disagree; empty where they agree as far as shown."""
    if mean is None or expected is None:
        return ""
    found, wanted = significant(mean, 4), significant(expected, 4)
    if found == wanted:
        return ""
    wanted = "1" if expected == 1 else wanted
    return f": the mean weight must be {wanted} and is {found}"


def gaps(document: Document) -> str:
    """Dates without a decision between the first and the last day, a sentence."""
    days = sorted(
        dt.date.fromisoformat(day["day"])
        for day in document["days"]
        if day["decisions"] and day["day"] <= document["night"]
    )
    one = dt.timedelta(1)
    found = [(a + one, b - one) for a, b in pairwise(days) if b - a > one]
    if not found:
        return ""
    kept = fitting(len(found), MOST_GAPS)
    named = [words.period(str(start), str(end)) for start, end in found[:kept]]
    left = sum((end - start).days + 1 for start, end in found[kept:])
    if left:
        named.append(words.counted(left, "more day"))
    return f"No decision on {listed(named, len(named))}."


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
    if rule.acts_as_logged(candidate):
        return ""
    count = missing_total(candidate)
    share = percent(count / candidate["decisions"])
    verb = "is" if count == 1 else "are"
    told = difference(shown(low, high, None, in_unit), f"reward {in_unit.phrase}")
    return (
        f"More nights like these cannot settle {candidate['candidate']}: {share} of "
        f"its decisions {verb} missing, and by what is known so far they leave open "
        f"{told}, however long the log."
    )


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
