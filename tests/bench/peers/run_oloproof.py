"""oloproof: its scorer and its interval kernel, called directly on decisions in memory.

INTERVAL says how the scores come about; `bounded_mean_interval` follows for both.

    evaluators   its two evaluators on every decision, as its own run calls them
    shared       one call of the reading inside them, `importance_weighted`, for both
                 scores: the least it can do, and nothing it offers

Reading the file and laying a decision out as the mappings it takes are not counted in
either. Laid out a few thousand at a time, they hardly show in its memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

import clock
import polars as pl
from oloproof_core.evaluators.off_policy import (
    OffPolicyImprovement,
    OffPolicyValue,
    importance_weighted,
)
from oloproof_core.stats.mean import bounded_mean_interval

READ, LAID_OUT = 100_000, 10_000
Evaluators = tuple[OffPolicyValue, OffPolicyImprovement]


def decisions_of(log: str) -> Iterator[list[SimpleNamespace]]:
    """The log as cases that its evaluators can read, a few thousand at a time."""
    scan = pl.scan_parquet(log)
    total = scan.select(pl.len()).collect().item()
    names = ("actions", "logging_probabilities", "candidate", "action", "reward")
    for offset in range(0, total, READ):
        for part in scan.slice(offset, READ).collect().iter_slices(LAID_OUT):
            columns = zip(*(part[name].to_list() for name in names), strict=True)
            yield [
                SimpleNamespace(
                    output={"probabilities": dict(zip(actions, wanted, strict=True))},
                    scenario=SimpleNamespace(
                        expected={
                            "action": action,
                            "logging_probabilities": dict(
                                zip(actions, logged, strict=True)
                            ),
                            "reward": reward,
                        }
                    ),
                )
                for actions, logged, wanted, action, reward in columns
            ]


async def evaluated(
    evaluators: Evaluators, cases: list[SimpleNamespace]
) -> list[tuple[float, ...]]:
    """Both scores of every case, by its evaluators."""
    return [tuple([(await e.evaluate(n)).score for e in evaluators]) for n in cases]


def read_once(
    evaluators: Evaluators, cases: list[SimpleNamespace]
) -> list[tuple[float, ...]]:
    """Both scores of every case out of one reading; lowest reward 0."""
    highest, most = (one.score_range[1] for one in evaluators)
    floor = evaluators[0].floor
    scores = []
    for case in cases:
        expected = case.scenario.expected
        weight, shifted = importance_weighted(
            target=case.output["probabilities"],
            logging=expected["logging_probabilities"],
            logged=expected["action"],
            reward=expected["reward"],
            reward_range=clock.REWARD_RANGE,
            floor=floor,
        )
        value, improvement = weight * shifted, (weight - 1.0) * shifted
        scores.append((min(value, highest), min(improvement, most)))
    return scores


def run(interval: str, log: str, floor: float, timed: clock.Clock) -> clock.Run:
    """Value and improvement."""
    evaluators = (
        OffPolicyValue(clock.REWARD_RANGE, propensity_floor=floor),
        OffPolicyImprovement(clock.REWARD_RANGE, propensity_floor=floor),
    )
    scores: list[tuple[float, ...]] = []
    for cases in decisions_of(log):
        with timed.step("scores"):
            if interval == "evaluators":
                scores += asyncio.run(evaluated(evaluators, cases))
            else:
                scores += read_once(evaluators, cases)
    found = {}
    for number, estimand in enumerate(("value", "improvement")):
        with timed.step(estimand):
            made = bounded_mean_interval(
                [pair[number] for pair in scores],
                n_missing=0,
                value_range=evaluators[number].score_range,
                confidence_level=clock.CONFIDENCE,
            )
        found[estimand] = (made.lower, made.upper)
    return clock.Run(len(scores), "betting", found)


if __name__ == "__main__":
    clock.drive(run)
