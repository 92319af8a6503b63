"""How the rewards of one decision become one, as expressions for DuckDB.

Within a factor the rewards are aggregated, once; the factors, each times its weight,
are added. Of factors that share a group only the highest that occurred is (000,
"Creación de recompensas con varios factores").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from flows.rewards.settings import Factor, Rewards

Worth = Callable[[int], str]  # of the factor with this number, null where none came
SUM_BITS = 80  # below the larger end of the range; 47 remain for sums


def unit(rewards: Rewards) -> str:
    """What rewards are whole multiples of while they are added, a power of two."""
    largest = max(1e-200, *map(abs, rewards.reward_range))
    return repr(2.0 ** (math.ceil(math.log2(largest)) - SUM_BITS))


def of_one(rewards: Rewards, names: Sequence[str]) -> str:
    """The reward of a decision with one event; `names`: the factors events name."""
    if not _declared(rewards, names):
        return "reward"
    return _composed(
        _declared(rewards, names),
        lambda n: f"case when factor = {n} then reward end",
        lambda n: f"case when (met & {1 << n}) > 0 then 1 end",
    )


def of_several(rewards: Rewards, names: Sequence[str]) -> str:
    """The reward of a decision from its events, grouped."""
    if not _declared(rewards, names):
        return "aggregate(reward, delay_us, arrival)"
    return _composed(
        _declared(rewards, names),
        lambda n: (
            f"aggregate(case when factor = {n} then reward end, delay_us, arrival)"
        ),
        lambda n: f"case when (bit_or(met) & {1 << n}) > 0 then 1 end",
    )


def number_of_factor(rewards: Rewards, names: Sequence[str]) -> dict[str, int]:
    """The number of each factor that events name themselves."""
    declared = _declared(rewards, names)
    return {one.name: n for n, one in enumerate(declared) if one.condition is None}


def highest(rewards: Rewards) -> float | None:
    """The most that conditions alone can add up to; None where events bring numbers."""
    if rewards.reads_rewards:
        return None
    best: dict[str, float] = {}
    for group, factors in _groups(rewards.factors).items():
        best[group] = max(0.0, *(factor.weight for _, factor in factors))
    return math.fsum(best.values())


def _declared(rewards: Rewards, names: Sequence[str]) -> tuple[Factor, ...]:
    return rewards.factors or tuple(map(Factor, names))


def _groups(factors: Sequence[Factor]) -> dict[str, list[tuple[int, Factor]]]:
    """Factors with their numbers, by group; one without a group is its own."""
    groups: dict[str, list[tuple[int, Factor]]] = {}
    for number, factor in enumerate(factors):
        key = f"group {factor.group}" if factor.group else f"factor {factor.name}"
        groups.setdefault(key, []).append((number, factor))
    return groups


def _composed(factors: Sequence[Factor], named: Worth, conditional: Worth) -> str:
    parts = []
    for members in _groups(factors).values():
        worths = [
            f"{factor.weight!r}::double * "
            f"{(named if factor.condition is None else conditional)(number)}"
            for number, factor in members
        ]
        parts.append(f"coalesce(list_max([{', '.join(worths)}]), 0)")
    return " + ".join(parts)
