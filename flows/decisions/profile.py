"""What a log that passed its checks holds, and what about it is worth a warning.

All but sampling probabilities and models comes out of the one pass of
`flows.decisions.checks`; those are asked for by themselves, where a log has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import duckdb

from flows import columns as c
from flows import queries
from flows.decisions.log import Log
from flows.decisions.rules import Rule

MOST_MODEL_IDS = 20
# Words in the name of a column that holds what one wants little of.
COST = re.compile(r"(?<![a-z])(cost|loss|losse|regret|penalt(y|ie))s?(?![a-z])")
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
NEGATED = (
    "if the log holds costs, write reward = 0 - cost, so that more is better, and "
    "declare the range of that; if not, nothing is wrong."
)


@dataclass(frozen=True, slots=True)
class Warned:
    """A rule that nothing stops for and some decisions break."""

    rule: str
    sentence: str
    remedy: str
    count: int


@dataclass(frozen=True, slots=True)
class Profile:
    """What a log that passed holds.

    actions: the one list of actions every decision has, None when lists differ; of a
        log of propensities those declared, None when none are.
    action_names: all that are listed; of a log of propensities those declared, or else
        those that were taken.
    sum_deviation: the largest distance of a probability sum from 1.
    least_reward, largest_reward: seen in the log; None without any reward.
    least_sample_probability, sample_probability_count: the least probability with which
        a decision was kept in the log, and how many there are; 1.0 and 1 when the log
        does not say.
    model_ids, model_id_count: those named most often, and how many there are.
    """

    decisions: int
    rewards: int
    first_at: str | None
    last_at: str | None
    sum_deviation: float
    action_count: int
    actions: tuple[str, ...] | None
    action_names: tuple[str, ...]
    warned: tuple[Warned, ...]
    least_reward: float | None = None
    largest_reward: float | None = None
    least_sample_probability: float = 1.0
    sample_probability_count: int = 1
    model_ids: tuple[str, ...] = ()
    model_id_count: int = 0

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Profile:
        """The profile whose fields were written as JSON, in this version or before."""
        known = {field.name for field in fields(cls)} & {*kept}
        lists = {
            name: tuple(kept[name])
            for name in known
            if isinstance(kept[name], list | tuple)
        }
        lists["warned"] = tuple(Warned(**one) for one in kept["warned"])
        return cls(**{name: kept[name] for name in known} | lists)


def profile(
    con: duckdb.DuckDBPyConnection, log: Log, warn: Sequence[Rule]
) -> tuple[Profile, bool]:
    """What the pass over `log` found, and whether a list names an action twice."""
    sums = [f"sum(warned_{n})::bigint as warned_{n}" for n in range(len(warn))]
    (row,) = queries.run(con, "checks/profile", warnings=",\n    ".join(sums))
    decisions, rewards, first, last, deviation, lists, count, actions, repeats = row[:9]
    least, largest, negative, *broken = row[9:]
    seen = tuple(name for (name,) in queries.run(con, "checks/action_names"))
    names, listed = seen, tuple(actions) if lists == 1 and actions else None
    if log.layout.has_propensities:
        listed = log.layout.actions or None
        names = tuple(sorted(listed)) if listed else seen
        count = len(names)
    warned = [
        Warned(rule.name, rule.sentence, rule.remedy, number)
        for rule, number in zip(warn, broken, strict=True)
        if number
    ]
    is_negative = negative > 0 and largest <= 0
    warned += _costs(log, rewards, negative if is_negative else 0)
    found = Profile(
        decisions=decisions,
        rewards=rewards,
        first_at=first,
        last_at=last,
        sum_deviation=deviation or 0.0,
        action_count=count or 0,
        actions=listed,
        action_names=names,
        warned=tuple(warned),
        least_reward=least,
        largest_reward=largest,
        **_sampling(con, log),
        **_models(con, log),
    )
    return found, repeats > 0


def looks_like_a_cost(column: str) -> bool:
    """Whether a column bears the name of something one wants little of."""
    return COST.search(HUMP.sub("_", column).lower()) is not None


def _costs(log: Log, rewards: int, negative: int) -> list[Warned]:
    """What is said of a reward that looks like a cost.

    negative: how many rewards lie below 0 where none lies above, else 0.
    """
    name = log.layout.theirs(c.REWARD)
    if looks_like_a_cost(name) and rewards:
        said = f"The reward column, {name!r}, is not named like a cost."
        return [Warned("reward_is_not_named_like_a_cost", said, NEGATED, rewards)]
    if negative:
        said = "Where rewards lie below 0, some lie above 0."
        return [Warned("rewards_are_not_costs", said, NEGATED, negative)]
    return []


def _sampling(con: duckdb.DuckDBPyConnection, log: Log) -> dict[str, Any]:
    if not log.is_sampled:
        return {}
    ((count, least),) = queries.run(con, "checks/sample_probabilities")
    if not count:
        return {}
    return {"sample_probability_count": count, "least_sample_probability": least}


def _models(con: duckdb.DuckDBPyConnection, log: Log) -> dict[str, Any]:
    if not log.has_model_ids:
        return {}
    rows = queries.run(con, "checks/model_ids", {"most": MOST_MODEL_IDS})
    if not rows:
        return {}
    names = tuple(name for name, _ in rows)
    return {"model_ids": names, "model_id_count": rows[0][1]}
