"""How intervals are made and under which looks they hold, in plain words.

Every estimate carries `method`, `look` and `assumes`; the labels and terms here say
what each of them means (validity.md 5, 9 and 11).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.offpolicy.methods import (
    CONSTANT_MEAN,
    EVERY_LOOK,
    EXPLORATORY,
    RUNNING_AVERAGE,
    SINGLE_LOOK,
)
from flows.reports.answer import UNADJUSTED
from flows.reports.entries import Document
from flows.reports.phrases import confidence, counted, day_in_words, listed

MOST_NAMED = 5
ASSUMED = {CONSTANT_MEAN: "constant mean", RUNNING_AVERAGE: "running average"}
HOLDS = {
    (EVERY_LOOK, CONSTANT_MEAN): "valid at every look while the mean stays constant",
    (EVERY_LOOK, RUNNING_AVERAGE): "valid at every look for the running average",
    (SINGLE_LOOK, CONSTANT_MEAN): "valid for a single look while the mean stays "
    "constant",
    (SINGLE_LOOK, RUNNING_AVERAGE): "valid for a single look for the running average",
}
METHODS = {
    ("fixed", CONSTANT_MEAN): (
        "One data set, looked at once. A hash of the decision id cuts it into 79 "
        "blocks; bets on a block are learnt from the blocks before it, and every "
        "mean that these bets refute lies outside the interval. It holds for a "
        "single look, on a night chosen beforehand, and not for a log that is read "
        "again as it grows."
    ),
    ("anytime", CONSTANT_MEAN): (
        "Nights in the order of time, cut into eighths by a hash of the decision "
        "id and gathered into blocks. Bets on a block are learnt from the blocks "
        "before it; a mean that they refute stays refuted, so the interval never "
        "widens, unless a past day is revised. Since the start it holds at every "
        "look; a shorter window is cut anew and holds for a single look. The error "
        "is shared among checkpoints, nights declared beforehand on which the "
        "interval may narrow most; after the last one it no longer changes."
    ),
    ("mixture", CONSTANT_MEAN): (
        "A mixture of constant bets against every mean that could be true; what the "
        "bets have refuted lies outside the interval. It assumes nothing about the "
        "rewards but their range, needs no ids, and holds for any number of "
        "decisions; since the start at every look, in a shorter window for a single "
        "one."
    ),
    ("mixture", RUNNING_AVERAGE): (
        "A mixture of constant bets, centred each night on what earlier nights "
        "showed. What it bounds is the average, over the nights of the window, of "
        "what the policies would have earned; neither the logging policy nor the "
        "rewards have to stay the same. Since the start it holds at every look, in "
        "a shorter window for a single one. Averages move, so the interval of a "
        "night may lie outside that of an earlier one."
    ),
    ("compat", CONSTANT_MEAN): (
        "The interval that other tools publish as bounded_mean_betting_mixture@1, "
        "to its digits: neither clipped to what is possible nor adjusted for the "
        "number of candidates. Its estimate leaves missing decisions out; its "
        "interval does not. Since the start it holds at every look, in a shorter "
        "window for a single one."
    ),
}
BY_NIGHT = "mixture, night by night"
MOVED = {
    "adaptive": "the logging policy learns from night to night",
    "reacting": "the logging policy learns within a night",
}
LOOKS_TERM = (
    "An interval for every look may be read each night and acted on the first time it "
    "leaves 0. One for a single look holds on one night chosen beforehand, not for "
    "whoever waits for a good one. An exploratory one rests on nights that may have "
    "shaped the candidate: it may suggest, and decides nothing."
)
ASSUMES_TERMS = {
    CONSTANT_MEAN: (
        "The interval holds while what a policy earns on average stays the same. A "
        "mean that moves with the weekday or the season is no constant one; a job "
        "that declares drift has its intervals made for the running average."
    ),
    RUNNING_AVERAGE: (
        "The interval is about the average over its nights, whatever moved in "
        "between, and says nothing of the nights to come. Improvement is measured "
        "against the logging policy as it was on each of the nights. Methods that "
        "assume a constant mean do not hold here: the mixture takes their place."
    ),
}


def label(entry: dict[str, Any]) -> str:
    """The looks of an estimate and what it assumes: "every look, constant mean"."""
    return f"{entry['look']}, {ASSUMED[entry['assumes']]}"


def headline(document: Document) -> dict[str, Any]:
    """The estimate that stands for those since the start: one that decides, if any."""
    found = [each["improvement"] for each in document["candidates"]]
    deciding = [entry for entry in found if entry["look"] != EXPLORATORY]
    entry: dict[str, Any] = (deciding or found)[0]
    return entry


def holds(document: Document) -> str:
    """Under which looks the intervals since the start hold."""
    entry = headline(document)
    return HOLDS.get((entry["look"], entry["assumes"]), EXPLORATORY)


def methods(document: Document) -> list[tuple[str, str]]:
    """(name, text) of the methods behind the intervals."""
    used = {
        (entry["method"], entry["assumes"])
        for each in document["candidates"]
        for entry in (each["value"], each["improvement"])
    }
    return [(_name(*key), METHODS[key]) for key in sorted(used)]


def terms(document: Document) -> list[tuple[str, str]]:
    """What a reader has to know of looks, assumptions and methods: (term, text)."""
    assumed = {each["improvement"]["assumes"] for each in document["candidates"]}
    return [
        ("Every look, single look, exploratory", LOOKS_TERM),
        *(
            (ASSUMED[each].capitalize(), ASSUMES_TERMS[each])
            for each in sorted(assumed)
        ),
        *((f"Method: {name}", text) for name, text in methods(document)),
    ]


def _name(method: str, assumes: str) -> str:
    by_night = method == "mixture" and assumes == RUNNING_AVERAGE
    return BY_NIGHT if by_night else method


def is_adjusted(document: Document) -> bool:
    """Whether intervals share the error, so that all of them hold together."""
    methods = {each["improvement"]["method"] for each in document["candidates"]}
    return UNADJUSTED not in methods


def target(document: Document) -> str:
    """What the answer is about where something may move by declaration; else empty."""
    declared = document["evaluation"]
    if declared["assumes"] != RUNNING_AVERAGE:
        return ""
    moved = [MOVED[declared["logging"]]] if declared["logging"] in MOVED else []
    moved += ["the mean reward may drift"] * declared["is_drifting"]
    return (
        f"the average over each window, whatever moved: {' and '.join(moved)}, by "
        "declaration"
    )


def checkpoints(document: Document) -> list[str]:
    """Where the horizon ends and which checkpoint is next, in sentences."""
    groups: dict[tuple[str, str | None, str], list[str]] = {}
    for each in document["candidates"]:
        found = each["looks"]
        if found["checkpoints"] and each["improvement"]["look"] != EXPLORATORY:
            last = found["checkpoints"][-1]
            key = (found["start"], found["next_checkpoint"], last)
            groups.setdefault(key, []).append(each["candidate"])
    nights = document["evaluation"]["horizon_nights"]
    horizon = "open" if nights is None else counted(nights, "night")
    told = []
    for (start, following, last), names in groups.items():
        about = f" of {listed(names, MOST_NAMED)}" if len(groups) > 1 else ""
        if following is None:
            told.append(
                f"Since {day_in_words(last)}, the last checkpoint, the interval{about} "
                "no longer changes, whatever later nights hold."
            )
        else:
            told.append(
                f"The horizon{about} is {horizon}, counted from {day_in_words(start)}; "
                f"the next checkpoint is {day_in_words(following)}."
            )
    if any(following is None for _, following, _ in groups):
        told.append("A new horizon in the job file starts new looks.")
    return told


def new_starts(document: Document) -> list[str]:
    """Candidates whose looks do not begin with the log, a sentence for each night."""
    starts: dict[str, list[str]] = {}
    for each in document["candidates"]:
        start = each["looks"]["start"]
        if start != document["log"]["first_day"]:
            starts.setdefault(start, []).append(each["candidate"])
    return [
        f"What counts as the start is {day_in_words(start)} for "
        f"{listed(starts[start], MOST_NAMED)}."
        for start in sorted(starts)
    ]


def made(document: Document, entries: Sequence[dict[str, Any]]) -> str:
    """How intervals are made, as a caption says it; rows name looks that differ."""
    looks = {str(entry["look"]) for entry in entries}
    deciding = sorted(looks - {EXPLORATORY}) or [EXPLORATORY]
    told = [
        f"{confidence(document['evaluation']['confidence'])} intervals",
        f"method {' and '.join(sorted({e['method'] for e in entries}))}",
    ]
    if len(deciding) == 1:
        mixed = " unless marked exploratory" if len(looks) > 1 else ""
        told.append(f"{deciding[0]}{mixed}")
    told += sorted({ASSUMED[entry["assumes"]] for entry in entries})
    return ", ".join(told)
