"""What missing decisions leave open, and how a number says so.

A missing reward, or mass without support, could be anything in the reward range, and so
could mass of which nobody knows whether it has support (validity.md 2). The identified
range of an estimate is what remains possible when that is granted, sampling error
aside; the estimate itself is its middle (`flows.offpolicy.estimate`). A middle is no
measurement: it carries a mark wherever the range is not a point, and where the range is
as wide as the rewards it is not shown at all.
"""

from __future__ import annotations

from typing import Any

from flows.reports.numbers import Unit, difference, plain, shown
from flows.reports.phrases import listed

POINT = 1e-9  # of the reward range; what is narrower is rounding
NONE = "\N{EN DASH}"
MIDDLE, UNKNOWN = "*", "\N{DAGGER}"
FOOTNOTES = {
    MIDDLE: "The middle of what is possible where something is missing or not known; "
    "not a measurement.",
    UNKNOWN: "No number: what is missing or not known leaves every outcome possible.",
}


def width(entry: dict[str, Any]) -> float:
    """Width of the identified range, per decision; 0 where there is none."""
    low, high = entry["identified_lower"], entry["identified_upper"]
    return 0.0 if low is None or high is None else float(high - low)


def is_open(entry: dict[str, Any], unit: Unit) -> bool:
    """Whether missing decisions leave more than one number possible."""
    return width(entry) > POINT * unit.span


def is_unknown(entry: dict[str, Any], unit: Unit) -> bool:
    """Whether they leave every outcome possible: nothing supports a number."""
    return width(entry) >= (1 - POINT) * unit.span


def mark(entry: dict[str, Any], unit: Unit) -> str:
    """The footnote mark of an estimate, empty for a measured one."""
    if is_unknown(entry, unit):
        return UNKNOWN
    return MIDDLE if is_open(entry, unit) else ""


def is_support_unknown(candidate: dict[str, Any]) -> bool:
    """Whether nobody can tell how much of the candidate's mass lacks support."""
    return candidate["diagnostics"]["expected_mean_weight"] is None


def lacking(candidate: dict[str, Any]) -> str:
    """Which decisions are missing: "620 of 6,000 rewards are missing"."""
    missing, every = candidate["missing"], candidate["decisions"]
    rewards = missing["reward"] + missing["both"]
    support = missing["support"] + missing["both"]
    told = []
    if rewards:
        verb = "is" if rewards == 1 else "are"
        told.append(f"{rewards:,} of {every:,} rewards {verb} missing")
    if support:
        verb = "lacks" if support == 1 else "lack"
        told.append(f"{support:,} of {every:,} decisions {verb} support")
    if is_support_unknown(candidate):
        told.append("support is not known")
    return listed(told, len(told)) if told else ""


def left_open(candidate: dict[str, Any], unit: Unit) -> str:
    """What missing decisions do to the improvement, a sentence; empty if nothing."""
    entry, lack = candidate["improvement"], lacking(candidate)
    if not lack or not is_open(entry, unit):
        return ""
    if candidate["missing"]["unsupported_probability"] >= 1 - POINT:
        return (
            f"No number can be given for {candidate['candidate']}: the logging policy "
            "takes none of its actions often enough."
        )
    if is_unknown(entry, unit):
        lack = lack[0].upper() + lack[1:]
        return f"{lack}, which leaves every outcome possible."
    pair = shown(entry["identified_lower"], entry["identified_upper"], None, unit)
    lack = lack[0].upper() + lack[1:]
    return f"{lack}, which by itself leaves open {difference(pair, '').strip()}."


def earned(value: dict[str, Any], missing: int, decisions: int, unit: Unit) -> str:
    """What the logging policy earned while rewards are missing, after "earned".

    value: with an estimate and an identified range that is not a point.
    """
    low, high = value["identified_lower"], value["identified_upper"]
    pair = shown(low, high, value["estimate"], unit, sign=False)
    middle = ""
    if pair.estimate is not None and not is_unknown(value, unit):
        middle = f"; {plain(pair.estimate)} is the middle of what they leave possible"
    return (
        f"between {plain(pair.lower)} and {plain(pair.upper)} reward {unit.phrase} "
        f"({missing:,} of {decisions:,} rewards missing{middle})"
    )
