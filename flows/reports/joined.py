"""Rewards that come in a table of their own, and a default one, in the document.

`rewards`, null for logs that hold theirs:

    declared         how rewards are joined (`flows.rewards.Rewards`)
    open_until       when the reported night closes; null when it has
    counts           of all days (`flows.rewards.Counts`), but `events`, which others
                     add up to
    days             a day each: `known_from`, the first night that knows these rewards,
                     later than the day where it was judged again; whether it is open,
                     and when it closes; counts; delays in seconds

`default_reward`, null where none is declared:

    reward           what a decision without a reward earns
    without          value and improvement since the start had decisions without a
                     reward any reward in the range instead of the default one; of the
                     logging policy the value alone. Empty where no default counts

On open days a reward that is not there is missing, never the default (validity.md 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import polars as pl

from flows.offpolicy.evidence import NO_OTHER
from flows.offpolicy.nights import HEADLINE
from flows.reports.answer import LOGGING
from flows.reports.entries import Document, Rows, estimates, missing
from flows.reports.night import JudgedDay, NightFacts
from flows.rewards import Rewards

DECLARED = (
    "wait_seconds",
    "backward_seconds",
    "load_delay_seconds",
    "default",
    "aggregation",
    "clip",
    "deferred",
    "reward_activates",
)
ADDED_UP = ("events",)


def told(facts: NightFacts) -> Document | None:
    """The part of the document; None for logs that hold their rewards."""
    if facts.rewards is None:
        return None
    days = [_day(day) for day in facts.rewards.judged]
    tonight = days[-1]
    return {
        "declared": _declared(facts.rewards.declared),
        "open_until": tonight["closes_at"] if tonight["is_open"] else None,
        "counts": {
            name: sum(day["counts"][name] for day in days)
            for name in days[0]["counts"]
            if name not in ADDED_UP
        },
        "days": days,
    }


def default(facts: NightFacts) -> Document | None:
    """The part of the document about a default reward, in either kind of log."""
    if facts.default is None:
        return None
    names = [name for name, _ in facts.candidates]
    return {
        "reward": facts.default.reward,
        "without": _without_default(facts.default.without, names),
    }


def _declared(rewards: Rewards) -> Document:
    return {name: getattr(rewards, name) for name in DECLARED} | {
        "has_activations": bool(rewards.activations),
        "factors": [asdict(factor) for factor in rewards.factors],
    }


def _day(day: JudgedDay) -> Document:
    return {
        "day": day.day.isoformat(),
        "known_from": day.known_from.isoformat(),
        "is_open": day.is_open,
        "closes_at": day.closes_at.isoformat(),
        "counts": asdict(day.counts),
        "delays": None if day.delays is None else asdict(day.delays),
    }


def _without_default(frame: pl.DataFrame, names: Sequence[str]) -> list[Document]:
    """The logging policy, then candidates in the order of the job file."""
    found: dict[str, Rows] = {}
    for row in frame.rows(named=True):
        if row["other"] == NO_OTHER:
            key = (HEADLINE, "", "", row["estimand"])
            found.setdefault(row["candidate"], {})[key] = row
    return [
        {"candidate": name, "missing": missing(found[name][HEADLINE, "", "", "value"])}
        | estimates(found[name], HEADLINE)
        for name in (LOGGING, *names)
        if name in found
    ]
