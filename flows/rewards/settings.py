"""What is declared about rewards that arrive in a table of their own.

Source: 000, "Tiempo de espera de las recompensas", "Composición de las puntuaciones de
recompensa", "Creación de recompensas con varios factores", "Procedimientos
recomendados".

Wait: a reward counts when it was received less than `wait_seconds` after its decision,
and at most `backward_seconds` before it, because two collecting services run on two
clocks. The service joined rewards less than 120 s before, without the end; with the end
an instant that both share counts even where `backward_seconds` is 0.

Factors: a decision's reward is the sum of its factors, each of which counts once.

    none declared    one factor; where events name a `factor`, each name is one, of
                     weight 1
    without condition
                     weight times the aggregate of the rewards whose event names it
    with condition   its weight, once, when any event fulfils the condition

Of factors that share a `group` only the highest that occurred counts. Events that
fulfil no condition are a reward of 0, observed.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from flows import columns as c
from flows.errors import UsageError

Aggregation = Literal["earliest", "sum", "average", "median", "min", "max"]
AGGREGATIONS: tuple[Aggregation, ...] = get_args(Aggregation)
# What 000 offers: 10 minutes, 4, 12 and 24 hours.
USUAL_WAITS = (600, 14_400, 43_200, 86_400)
SHORTEST_WAIT = 1e-6  # seconds; instants are kept to microseconds
LONGEST_WAIT = 366 * 86_400  # seconds; microseconds of it fit many times in 64 bits
MOST_FACTORS = 60  # conditions that an event fulfils are bits of one number

REWARDED_AT = "rewarded_at"
KNOWN_AT = "known_at"
ACTIVATED_AT = "activated_at"
REWARD_ID = "reward_id"
FACTOR = "factor"
ARRIVAL = "arrival_sequence"
IS_DEFERRED = "is_deferred"
OF_EVENTS = (
    c.DECISION_ID,
    c.REWARD,
    REWARDED_AT,
    c.SLOT,
    KNOWN_AT,
    c.ACTION,
    REWARD_ID,
    FACTOR,
    ARRIVAL,
)
OF_ACTIVATIONS = (c.DECISION_ID, ACTIVATED_AT, KNOWN_AT)


@dataclass(frozen=True, slots=True)
class Factor:
    """One part of a reward.

    condition: an SQL predicate over the events' own columns; None where events name the
        factor themselves.
    group: of factors that share one, only the highest that occurred counts.
    """

    name: str
    weight: float = 1.0
    condition: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Rewards:
    """How rewards are joined with decisions.

    events, activations: files, folders or globs, relative ones from `base`.
    columns, activation_columns: ours to theirs, where they differ.
    reward_range: of the final reward; negative_is_intended: that it may be below 0.
    default: the reward of a mature decision without any; None: it is missing.
    aggregation: of several rewards of one factor.
    clip: final rewards beyond the range are set to its ends; otherwise they stop.
    deferred: where decisions have no `is_deferred`, whether they wait for activation.
    reward_activates: a reward inside the window is an activation too.
    load_delay_seconds: how long after its receipt a reward may become known.
    naive_is_utc: times without a zone are in UTC; otherwise they are refused.
    Raises: UsageError with everything that cannot be meant.
    """

    events: tuple[str, ...]
    wait_seconds: float
    reward_range: tuple[float, float]
    aggregation: Aggregation = "earliest"
    default: float | None = None
    backward_seconds: float = 120.0
    load_delay_seconds: float = 0.0
    columns: Mapping[str, str] = field(default_factory=dict)
    factors: tuple[Factor, ...] = ()
    activations: tuple[str, ...] = ()
    activation_columns: Mapping[str, str] = field(default_factory=dict)
    deferred: bool = False
    reward_activates: bool = False
    clip: bool = False
    negative_is_intended: bool = False
    naive_is_utc: bool = False
    base: Path | None = None

    def __post_init__(self) -> None:
        problems = [
            *self._of_numbers(),
            *self._of_factors(),
            *_of_names("columns", self.columns, OF_EVENTS),
            *_of_names("activation_columns", self.activation_columns, OF_ACTIVATIONS),
        ]
        if not self.events:
            problems.append("events must name the files in which rewards arrive")
        if self.aggregation not in AGGREGATIONS:
            problems.append(
                f"aggregation {self.aggregation!r} is none of {', '.join(AGGREGATIONS)}"
            )
        if problems:
            raise UsageError("rewards: " + "; ".join(problems))

    @property
    def held(self) -> dt.timedelta:
        """How long after it was made a decision is mature (validity.md 6)."""
        return dt.timedelta(seconds=self.wait_seconds + self.load_delay_seconds)

    @property
    def meaning(self) -> dict[str, Any]:
        """All that is declared but where the files are."""
        places = ("events", "activations", "base")
        return {name: one for name, one in asdict(self).items() if name not in places}

    @property
    def named_factors(self) -> tuple[str, ...]:
        """The declared factors that events name themselves."""
        return tuple(one.name for one in self.factors if one.condition is None)

    @property
    def reads_rewards(self) -> bool:
        """Whether events bring numbers; conditions alone need none."""
        return not self.factors or bool(self.named_factors)

    def theirs(self, ours: str) -> str:
        """The events' own name of our column."""
        return self.columns.get(ours, ours)

    def _of_numbers(self) -> list[str]:
        lowest, highest = self.reward_range
        problems = []
        if not (math.isfinite(lowest) and math.isfinite(highest) and lowest < highest):
            problems.append(f"reward_range {lowest} to {highest} must ascend")
        if not SHORTEST_WAIT <= self.wait_seconds <= LONGEST_WAIT:
            problems.append(
                f"wait_seconds {self.wait_seconds} must be above 0 and at most a year"
            )
        problems += [
            f"{name} {getattr(self, name)} must be from 0 to a year"
            for name in ("backward_seconds", "load_delay_seconds")
            if not 0 <= getattr(self, name) <= LONGEST_WAIT
        ]
        if self.default is not None and not lowest <= self.default <= highest:
            problems.append(
                f"default {self.default} lies outside reward_range, {lowest} to "
                f"{highest}: a decision without a reward has a reward too"
            )
        return problems

    def _of_factors(self) -> list[str]:
        names = [one.name for one in self.factors]
        problems = [
            f"factor {name!r} stands more than once"
            for name in sorted({name for name in names if names.count(name) > 1})
        ]
        problems += [
            f"the weight of factor {one.name!r} is {one.weight}; it must be a number"
            for one in self.factors
            if not math.isfinite(one.weight)
        ]
        problems += [
            f"factor {one.name!r} has an empty name or condition"
            for one in self.factors
            if not one.name or (one.condition is not None and not one.condition.strip())
        ]
        if len(names) > MOST_FACTORS:
            problems.append(f"at most {MOST_FACTORS} factors can be told apart")
        return problems


def _of_names(key: str, columns: Mapping[str, str], known: Sequence[str]) -> list[str]:
    return [
        f"{key} maps {name!r}, which is none of {', '.join(known)}"
        for name in columns
        if name not in known
    ]
