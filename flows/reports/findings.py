"""What was missing or wrong, and what is assumed, in plain words."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import Any

from flows.reports import answer as rule
from flows.reports import limits
from flows.reports.entries import Document
from flows.reports.numbers import Unit, difference, percent, shown, significant
from flows.reports.phrases import counted, day_in_words, fitting, listed, period

MOST_GAPS = 3
DECLARED = (
    "That the logging policy gave at least the floor to every action a candidate may "
    "take is declared in the job file (full_support). The log cannot show it, and the "
    "intervals rest on it."
)
UNKNOWN = (
    "How much of a candidate's probability lies on actions without support cannot be "
    "known. The intervals allow for it: what the mean weight falls short of one may "
    "have earned anything, and no control variate narrows them.\n"
    "A mean weight below 1 may come from lost support as well as from wrongly logged "
    "probabilities; only one above 1 is told to be wrong. Estimates are the middle of "
    "what this leaves possible.\n"
    "Log the probability of every action to know. Where the logging policy gives each "
    "action a candidate may take at least the floor, by design, the job file can say "
    "so (full_support = true), which narrows the intervals."
)


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
    if mean is None:
        return ""
    most = "" if expected is not None else "at most "
    expected = 1.0 if expected is None else expected
    found, wanted = significant(mean, 4), significant(expected, 4)
    if found == wanted:
        return ""
    wanted = "1" if expected == 1 else wanted
    return f": the mean weight must be {most}{wanted} and is {found}"


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
    named = [period(str(start), str(end)) for start, end in found[:kept]]
    left = sum((end - start).days + 1 for start, end in found[kept:])
    if left:
        named.append(counted(left, "more day"))
    return f"No decision on {listed(named, len(named))}."


def nothing_missing(document: Document) -> str:
    """A sentence for a log in which every decision can be scored; otherwise empty."""
    if any(missing_total(each) for each in document["candidates"]):
        return ""
    every, support = document["log"]["decisions"], document["evaluation"]["support"]
    defaulted = ""
    if (joined := document["rewards"]) is not None:
        every = document["logging_policy"]["decisions"]
        defaulted = ", observed or by default" if joined["counts"]["default"] else ""
    if support == "unknown":
        return f"No reward is missing: all {every:,} decisions have one{defaulted}."
    declared = ", by declaration" if support == "declared" else ""
    return (
        f"No decision is missing: all {every:,} have a reward{defaulted}, and every "
        f"action that a candidate may take has support{declared}."
    )


def unknowable(document: Document) -> list[str]:
    """What a log with the logged action's probability alone cannot say, in sentences.

    Source: validity.md 2.
    """
    support = document["evaluation"]["support"]
    if support == "logged":
        return []
    start = "The log holds the probability of the logged action alone."
    told = DECLARED if support == "declared" else UNKNOWN
    return f"{start} {told}".split("\n")


def warnings(document: Document) -> list[str]:
    """Rules that nothing stops for and some decisions break, what to do about them.

    Advice about rewards says what should be and, behind a colon, what is; it is told
    by the days on which it applies, in the words of the last of them.
    """
    every = len(document["days"])
    return [
        f"{_broken(entry) if entry['days'] is None else _advised(entry, every)} "
        f"{entry['remedy'][:1].upper()}{entry['remedy'][1:]}"
        for entry in document["warnings"]
    ]


def _broken(entry: Document) -> str:
    """By how many decisions a rule is broken."""
    verb = "breaks" if entry["count"] == 1 else "break"
    return f"{counted(entry['count'], 'decision')} {verb}: {entry['sentence']}"


def _advised(entry: Document, every: int) -> str:
    """What should be of rewards, and what is."""
    wanted, _, found = entry["sentence"].removesuffix(".").partition(": ")
    on = ""
    if entry["days"] < every:
        last = day_in_words(entry["last_day"])
        several = f" of {every} days, last on {last}"
        on = f" on {last}" if entry["days"] == 1 else f" on {entry['days']}{several}"
    is_so = f"Found{on}: {found}." if found else f"Not so{on}."
    return f"Expected: {wanted[:1].lower()}{wanted[1:]}. {is_so}"


def frequencies(document: Document) -> str:
    """A sentence where all actions were taken as often as logged; otherwise empty."""
    found = document["frequencies"]
    if not found["actions"] or found["deviating"]:
        return ""
    every = (
        "The one action was"
        if found["actions"] == 1
        else (f"All {found['actions']:,} actions were")
    )
    return f"{every} taken as often as the logged probabilities say, but for chance."


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
    if rule.acts_as_logged(candidate) or limits.is_support_unknown(candidate):
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
