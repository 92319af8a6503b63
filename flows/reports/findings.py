"""What was missing or wrong, and what is assumed, in plain words."""

from __future__ import annotations

from typing import Any

from flows.reports import answer as rule
from flows.reports.content import Document
from flows.reports.numbers import Unit, difference, percent, shown, significant


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
        f"its decisions are missing, and by what is known so far they leave about "
        f"{words} open, however long the log."
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
