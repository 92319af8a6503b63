"""Real logs: drawn decisions as a Parquet file, through `evaluate` to an interval.

Rewards of the file lie in [-1, 2], so truths are scaled as a user would see them. Ids
are new in every replication: their hashes make the blocks.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from bed.drawing import draw
from bed.laws import ACTIONS
from bed.looks import OF_ONE, Found

from flows.offpolicy import evaluate
from flows.offpolicy.estimate import WITHHELD

LOWEST, HIGHEST = -1.0, 2.0
NAMES = [f"action {number}" for number in range(ACTIONS)]
CANDIDATES = ("new", "other")


def scaled(law, estimand):
    """The truth in the unit of the file."""
    lowest = LOWEST if estimand == "value" else 0.0
    return lowest + (HIGHEST - LOWEST) * law.truth(estimand)


def frame(law, drawn, random):
    """A log as it would lie on disk, decisions in any order."""
    times = np.repeat(np.arange(drawn.row.size), drawn.count)
    context = drawn.context[times]
    reward = LOWEST + (HIGHEST - LOWEST) * drawn.reward[times]
    start = int(random.integers(2**62))
    columns = {
        "decision_id": [str(start + number) for number in range(times.size)],
        "action": pl.Series(NAMES)[drawn.action[times]],
        "actions": pl.Series([NAMES] * len(law.pays))[context],
        "logging_probabilities": pl.Series(law.logging.tolist())[context],
        "reward": pl.Series(np.where(drawn.is_missing[times], np.nan, reward)),
    }
    for name, policy in zip(CANDIDATES, law.candidates, strict=False):
        columns[name] = pl.Series(policy.tolist())[context]
    if law.kept is not None:
        columns["sample_probability"] = pl.Series(drawn.kept[times])
    return pl.DataFrame(columns).with_columns(pl.col("reward").fill_nan(None))


def on_disk(law, decisions, *, estimands=OF_ONE):
    """A run that writes a log and evaluates it."""

    def run(random, *, with_peers=False):  # noqa: ARG001 - as all runs
        drawn = draw(law, random, [decisions])
        with tempfile.TemporaryDirectory(prefix="bed-") as folder:
            file = Path(folder) / "log.parquet"
            frame(law, drawn, random).write_parquet(file)
            made = estimates(law, file, estimands=estimands)
        return {e: against(one, scaled(law, e)) for e, one in made.items()}

    return run


def estimates(law, file, *, estimands=OF_ONE, method=None):
    """What `evaluate` says, by estimand.

    Where there is a difference, two candidates share the error of the others.
    """
    is_pair = "difference" in estimands
    made = evaluate(
        file,
        candidates=[f"column:{name}" for name in CANDIDATES[: 2 if is_pair else 1]],
        reward_range=(LOWEST, HIGHEST),
        floor=law.floor,
        method=method,
        least_sample_probability=1.0 if law.kept is None else float(law.kept.min()),
        compare=is_pair,
    )
    found = {name: made.candidates[0].finding.of(name) for name in OF_ONE}
    return {**found, "difference": made.pairs[0].difference} if is_pair else found


def against(estimate, truth):
    """An estimate held against the truth; ends withheld cover nothing."""
    if estimate.state == WITHHELD:
        return Found(is_below=True, is_above=True, width=float("nan"))
    width = (estimate.upper - estimate.lower) / (HIGHEST - LOWEST)
    return Found(truth < estimate.lower, truth > estimate.upper, width)
