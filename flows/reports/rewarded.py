"""Rewards that come in a table of their own: how they are joined, in plain words."""

from __future__ import annotations

import datetime as dt

from flows.reports.entries import Document
from flows.reports.numbers import lone
from flows.reports.phrases import (
    about,
    counted,
    day_in_words,
    duration,
    listed,
    moment,
    period,
)

MOST_NAMED = 5
# Of several rewards, by aggregation.
OF_SEVERAL = {
    "earliest": "Of several rewards of {} the one that was received first counts.",
    "sum": "Several rewards of {} are added.",
    "average": "Of several rewards of {} the average counts.",
    "median": "Of several rewards of {} the median counts.",
    "min": "Of several rewards of {} the lowest counts.",
    "max": "Of several rewards of {} the highest counts.",
}
SELECTED = (
    "Leaving out decisions that were not activated assumes that activation does not "
    "depend on the action. Where it does, the numbers are about activated decisions "
    "only, which the logging policy and a candidate may reach differently."
)


def opening(document: Document) -> str:
    """Until when the night is open, a sentence; empty where all rewards are in."""
    found = document["rewards"]
    if found is None or found["open_until"] is None:
        return ""
    until = moment(found["open_until"], document["timezone"])
    told = f"The night is open until {until}: rewards that are not there yet count as "
    told += "missing"
    waits = found["counts"]["immature"]
    if waits:
        verb = "is" if waits == 1 else "are"
        told += f", and {counted(waits, 'decision')} too young for one {verb} left out"
    return f"{told}."


def became(document: Document) -> str:
    """What became of all decisions, after their number; empty without such rewards."""
    found = document["rewards"]
    if found is None:
        return ""
    counts, default = found["counts"], found["declared"]["default"]
    kinds = {
        "observed": "observed",
        "default": "" if default is None else f"by default ({lone(default)})",
        "missing": "missing",
        "unactivated": "left out as not activated",
        "immature": "left out as immature",
    }
    told = [f"{counts[name]:,} {kind}" for name, kind in kinds.items() if counts[name]]
    return listed(told, len(told))


def declared(document: Document) -> list[str]:
    """How rewards are joined, or which is the default, in sentences; or nothing."""
    if document["rewards"] is None:
        return _by_default(document)
    said = document["rewards"]["declared"]
    wait, backward = said["wait_seconds"], said["backward_seconds"]
    load = said["load_delay_seconds"]
    default = said["default"]
    window = f"less than {duration(wait)} after its decision"
    told = [
        f"A reward counts when it is received {window}{_early(backward)}.",
        _mature(wait, load),
        "No default reward is declared: a decision without a reward is missing."
        if default is None
        else f"A decision without a reward earns the default, {lone(default)}.",
        *_composed(document),
    ]
    if said["clip"]:
        low, high = document["evaluation"]["reward_range"]
        told.append(
            f"What lies beyond {lone(low)} to {lone(high)} is set to the nearer end."
        )
    if said["deferred"] or said["has_activations"] or said["reward_activates"]:
        also = " or a reward" * said["reward_activates"]
        told.append(
            f"A decision that has to be activated counts when an activation{also} is "
            f"received less than {duration(wait)} after it."
        )
    return told


def _by_default(document: Document) -> list[str]:
    """Of a log that holds its rewards, how many decisions earn the default one."""
    found = document["default_reward"]
    if found is None or not found["without"]:
        return []
    missing = found["without"][0]["missing"]
    count, every = missing["reward"] + missing["both"], document["logging_policy"]
    told = "has no reward and earns" if count == 1 else "have no reward and earn"
    of_all = f"{count:,} of {counted(every['decisions'], 'decision')}"
    return [f"{of_all} {told} the default, {lone(found['reward'])}."]


def _early(backward: float) -> str:
    """How long before its decision a reward may be received."""
    if not backward:
        return ""
    return f"; clocks differ, so one received up to {duration(backward)} before it does"


def _mature(wait: float, load: float) -> str:
    """When a decision enters the numbers, a sentence."""
    told = "A decision enters the numbers when no reward can count for it any more: "
    told += f"{duration(wait + load)} after it was made"
    if not load:
        return f"{told}."
    return f"{told}, since rewards may take {duration(load)} more to be loaded."


def _composed(document: Document) -> list[str]:
    """How several rewards of a decision become one."""
    said = document["rewards"]["declared"]
    factors, told = said["factors"], []
    if not factors or any(factor["condition"] is None for factor in factors):
        whose = "one factor" if factors else "a decision"
        told.append(OF_SEVERAL[said["aggregation"]].format(whose))
    if factors:
        told.append(
            "Each factor counts once a decision; the factors of a decision are added."
        )
    return told


def known(document: Document) -> list[str]:
    """Which days are open, and which were judged again, in sentences."""
    days = document["rewards"]["days"]
    told = []
    if open_days := [day for day in days if day["is_open"]]:
        until = moment(open_days[-1]["closes_at"], document["timezone"])
        verb = "is" if len(open_days) == 1 else "are"
        which = _named([day["day"] for day in open_days])
        last = "" if len(open_days) == 1 else "the last of them "
        told.append(
            f"{which} {verb} still open, {last}until {until}: rewards may arrive in "
            "time, and those that are not there are missing, never the default."
        )
    if again := [day for day in days if day["known_from"] > day["day"]]:
        which = _named([day["day"] for day in again])
        is_one = len(again) == 1
        told.append(
            f"More rewards of {which} became known after "
            f"{'that night' if is_one else 'those nights'} had closed. This night "
            f"counts them; {'that one stays' if is_one else 'those stay'} as published."
        )
    return told


def delays(document: Document) -> str:
    """How long rewards took, a sentence; empty where none came."""
    found = [day["delays"] for day in document["rewards"]["days"] if day["delays"]]
    if not found:
        return ""
    half, most, largest = (
        [each[f"{name}_seconds"] for each in found]
        for name in ("median", "percentile_99", "largest")
    )
    day = "" if len(found) == 1 else " of a day"
    share = "" if _span(most) == about(max(largest)) else f", 99 % within {_span(most)}"
    return (
        f"Half of the rewards{day} came within {_span(half)}{share}, the slowest after "
        f"{about(max(largest))}. Late ones are among them, as far as they came before "
        "their day closed."
    )


def selected(document: Document) -> str:
    """What leaving out decisions assumes; empty where none were."""
    found = document["rewards"]
    return SELECTED if found is not None and found["counts"]["unactivated"] else ""


def _span(seconds: list[float]) -> str:
    """One duration, or the least and the largest of several."""
    least, most = about(min(seconds)), about(max(seconds))
    if least == most:
        return least
    number, _, unit = least.partition(" ")
    return f"{number if most.endswith(f' {unit}') else least} to {most}"


def _named(days: list[str]) -> str:
    """Days in words: from when to when, each, or only how many where there are many."""
    dates = [dt.date.fromisoformat(day) for day in days]
    if (dates[-1] - dates[0]).days == len(days) - 1:
        return period(days[0], days[-1])
    if len(days) > MOST_NAMED:
        return f"{len(days):,} days"
    return listed([day_in_words(day) for day in days], MOST_NAMED)
