"""By the rule of the retired service, beside the test of the improvement.

    label       what its intervals are: approximate, by normal theory
    confidence  of each of them, by itself
    baseline    the candidate that takes the first action; null where there is none
    online      value of the policy that ran, with its ends
    candidates  value and ends; `online`, the same of the policy that ran over the
                same decisions; `of_baseline`, the value over the baseline's, null
                where that is not above 0; `would_switch`, by the rule

Null for every other log. A candidate whose estimates are withheld or unknown has its
`state` and nulls. The rule decides nothing here (`flows.importers.switch_rule`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.intervals.approximate import APPROXIMATE, LEAST_FLOORED_DECISIONS
from flows.reports import answer as rule
from flows.reports import words
from flows.reports.entries import Document
from flows.reports.night import NightFacts
from flows.reports.numbers import Unit, ends, lone, percent, plain, shown
from flows.reports.phrases import confidence, counted, day_in_words, listed
from flows.reports.tables import Table
from flows.reports.words import Cell, cell

TITLE = "By the rule of the retired service"
CONFIDENCE = 0.95
BASELINES = ("first", "column:baseline")
ENDS = ("value", "lower", "upper")
MOST_NAMED = 5
WHY = (
    "The service exchanged its online policy for one with a higher average reward, if "
    "the interval of that reward also began higher; each interval was made for one "
    "policy alone. That is no test: it never asks whether the difference may be "
    "chance, and of two policies that earn the same it may exchange one for the other "
    "up to every second time it looks. The test compares both on the same decisions, "
    "and supports a switch only when the whole interval of the improvement lies above "
    "0."
)
SHORT = "{} at a floor of {} are too few for them: here they are much too narrow."
# What the test says of an improvement; a state where there is no interval.
MORE, LESS, OPEN = "earns more", "earns less", "undecided"


def told(facts: NightFacts, candidates: Sequence[Document]) -> Document | None:
    """The part of the document; candidates: its entries, in the order of the job."""
    if facts.switch_rule is None:
        return None
    found = {row["candidate"]: row for row in facts.switch_rule.rows(named=True)}
    baseline = next((n for n, spec in facts.candidates if spec in BASELINES), None)
    online = found.get(rule.LOGGING)
    return {
        "label": APPROXIMATE,
        "confidence": CONFIDENCE,
        "baseline": baseline,
        "online": None if online is None else _ends(online),
        "candidates": [
            _candidate(each, found.get(each["candidate"]), found.get(baseline or ""))
            for each in candidates
        ],
    }


def _candidate(
    entry: Document, row: dict[str, Any] | None, baseline: dict[str, Any] | None
) -> Document:
    is_known = rule.has_ends(entry["improvement"]) and row is not None
    made = dict.fromkeys((*ENDS, "online", "of_baseline", "would_switch"))
    if row is not None and is_known:
        made = _ends(row) | {
            "online": _ends(row, "online_"),
            "of_baseline": row["value"] / baseline["value"]
            if baseline is not None and baseline["value"] > 0
            else None,
            "would_switch": row["would_switch"],
        }
    state = entry["improvement"]["state"]
    return {"candidate": entry["candidate"], "state": state, **made}


def _ends(row: dict[str, Any], of: str = "") -> dict[str, Any]:
    return {name: row[f"{of}{name}"] for name in ENDS}


def notes(document: Document) -> list[str]:
    """Why the rule is no test, and what its numbers are, a paragraph each."""
    found = document["switch_rule"]
    level = confidence(found["confidence"])
    approximate = (
        f"Its intervals follow normal theory ({level}) and are approximate: nothing "
        "guarantees that they cover the truth that often."
    )
    about = [approximate]
    decisions = document["logging_policy"]["decisions"]
    floor = document["evaluation"]["propensity_floor"]
    if decisions * floor < LEAST_FLOORED_DECISIONS:
        about.append(SHORT.format(counted(decisions, "decision"), lone(floor)))
    return [WHY, " ".join([*about, *_counted_as_nothing(document)])]


def verdict(document: Document) -> str:
    """What the rule would have done, and what the test says of that, in sentences."""
    rows = document["switch_rule"]["candidates"]
    tested = {each["candidate"]: each["improvement"] for each in document["candidates"]}
    switch = [each["candidate"] for each in rows if each["would_switch"]]
    supported = [name for name, entry in tested.items() if rule.is_supported(entry)]
    unsure = [name for name in switch if name not in supported]
    waits = [name for name in supported if name not in switch]
    told = []
    if all(each["would_switch"] is None for each in rows):
        told.append("Nothing is known yet by which the service could have decided.")
    elif not switch:
        told.append("By its rule the service would have kept its online policy.")
    else:
        names = listed(switch, MOST_NAMED, "or")
        told.append(f"By its rule the service would have switched to {names}.")
    if unsure:
        names = listed(unsure, MOST_NAMED)
        verb = "earns" if len(unsure) == 1 else "earn"
        told.append(f"The log does not show that {names} {verb} more.")
    if waits:
        told.append(f"The test supports a switch to {listed(waits, MOST_NAMED, 'or')}.")
    elif switch and not unsure:
        told.append("The test supports that.")
    elif not switch and not supported and len(told) == 1 and rows:
        told.append("The test supports no switch either.")
    return " ".join(told)


def _counted_as_nothing(document: Document) -> list[str]:
    """How the rule counts what is missing, a sentence; none where nothing is."""
    missing = [each["missing"] for each in document["candidates"]]
    rewards = max(each["reward"] + each["both"] for each in missing)
    support = any(each["support"] + each["both"] for each in missing)
    told = []
    if rewards:
        verb = "counts" if rewards == 1 else "count"
        told.append(
            f"{counted(rewards, 'decision')} without a reward {verb} as 0, which was "
            "the service's usual default."
        )
    if support:
        told.append("Actions logged below the floor count as never taken.")
    return told


def table(document: Document) -> Table | None:
    """Rule and test beside each other, a row each candidate; None for other logs."""
    unit, found = words.unit(document), document["switch_rule"]
    if found is None:
        return None
    entries = {each["candidate"]: each for each in found["candidates"]}
    rows = []
    if found["online"] is not None:
        alone = [Cell("", ""), _alone(found["online"], unit), Cell("", "")]
        share = _of_baseline(found, entries)
        rows.append(("logging policy", f"the online policy{share}", alone))
    rows += [
        _row(document, each, entries[each["candidate"]], unit)
        for each in words.ranked(document["candidates"])
    ]
    return Table(
        TITLE,
        f"Reward {unit.phrase} since the start. The rule reads the average reward and "
        "its interval, the test the improvement.",
        ("Candidate", "By the rule", "Average reward", "By the test"),
        rows,
    )


def _row(
    document: Document, each: Document, entry: Document, unit: Unit
) -> tuple[str, str, list[Cell]]:
    tested = cell(each["improvement"], unit, sign=True)
    if entry["would_switch"] is None:
        state = words.STATES.get(entry["state"], "not known")
        return each["candidate"], "", [Cell(state, ""), Cell("", ""), Cell("", "")]
    about = []
    if rule.acts_as_logged(each):
        about.append("acts as the online policy does")
    elif entry["online"] != document["switch_rule"]["online"]:
        online = _alone(entry["online"], unit)
        about.append(
            f"since {day_in_words(each['looks']['start'])}; online "
            f"{online.number}, {online.interval}"
        )
    if entry["candidate"] == document["switch_rule"]["baseline"]:
        about.append("the baseline")
    elif entry["of_baseline"] is not None:
        about.append(f"{percent(entry['of_baseline'], 0)} of the baseline")
    says = OPEN
    if rule.is_exploratory(each["improvement"]):
        says = "exploratory"
    elif rule.is_supported(each["improvement"]):
        says = MORE
    elif rule.is_worse(each["improvement"]):
        says = LESS
    elif rule.acts_as_logged(each):
        says = "the same"
    return (
        each["candidate"],
        "; ".join(about),
        [
            Cell("switch" if entry["would_switch"] else "keep", ""),
            _alone(entry, unit),
            Cell(says, tested.interval or tested.number),
        ],
    )


def _of_baseline(found: Document, entries: dict[str, Document]) -> str:
    """The online policy's value over the baseline's, where both are of all decisions.

    The service showed it so; it says nothing where the baseline earns 0 or less.
    """
    baseline, online = entries.get(found["baseline"] or ""), found["online"]
    if baseline is None or baseline["online"] != online or baseline["value"] <= 0:
        return ""
    return f"; {percent(online['value'] / baseline['value'], 0)} of the baseline"


def _alone(found: Document, unit: Unit) -> Cell:
    """A value with the interval made for it alone."""
    pair = shown(found["lower"], found["upper"], found["value"], unit, sign=False)
    number = "" if pair.estimate is None else plain(pair.estimate)
    return Cell(number, "" if pair.is_point else ends(pair, sign=False))
