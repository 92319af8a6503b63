"""The law all tools are measured on: ten actions, rare rewards, a true value known.

    python tests/bench/peers/law.py FOLDER DECISIONS LOGS

writes LOGS logs of DECISIONS decisions each and prints the truth as JSON. A decision
draws one of 100,000 contexts with equal chance, so the mean reward of a policy is an
exact mean over the contexts. With five normal features x and random A, B, C:

    reward      1 with chance logistic(-2.55 + 0.6 x C), about .12
    logging     floor + (1 - 10 floor) softmax(0.8 x A), floor .02
    candidate   softmax(0.8 x B + 0.4 x C): other tastes, some leaning to what pays

No reward is missing and nothing is logged below the floor: the peers have no common way
with either. Columns are the canonical ones, and `candidate` beside them.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl

FLOOR, REWARD_RANGE = 0.02, (0.0, 1.0)
ACTIONS = [f"item-{number}" for number in range(10)]
CONTEXTS, FEATURES, SEED = 100_000, 5, 20_261_205
ROW_GROUP = 100_000


@dataclasses.dataclass(frozen=True)
class Law:
    """For each context and action; shape (CONTEXTS, actions)."""

    logging: np.ndarray
    candidate: np.ndarray
    pays: np.ndarray

    @property
    def truth(self) -> dict[str, float]:
        """What the intervals are to cover."""
        value = (self.candidate * self.pays).sum(axis=1).mean()
        own = (self.logging * self.pays).sum(axis=1).mean()
        return {"value": float(value), "improvement": float(value - own)}


def make_law() -> Law:
    """The same law at every call."""
    random = np.random.default_rng(SEED)
    features = random.normal(size=(CONTEXTS, FEATURES))
    ours, theirs, quality = features @ random.normal(size=(3, FEATURES, len(ACTIONS)))
    free = 1 - len(ACTIONS) * FLOOR
    return Law(
        # The maximum undoes a rounding below the floor.
        logging=np.maximum(FLOOR + free * softmax(0.8 * ours), FLOOR),
        candidate=softmax(0.8 * theirs + 0.4 * quality),
        pays=1 / (1 + np.exp(2.55 - 0.6 * quality)),
    )


def softmax(scores: np.ndarray) -> np.ndarray:
    """Distributions along the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def draw(law: Law, decisions: int, number: int) -> pl.DataFrame:
    """Log `number` of those with this many decisions."""
    random = np.random.default_rng([SEED, decisions, number])
    context = random.integers(0, CONTEXTS, decisions)
    logged = law.logging[context]
    passed = logged.cumsum(axis=1) < random.random((decisions, 1))
    action = passed.sum(axis=1).clip(max=len(ACTIONS) - 1)
    reward = random.random(decisions) < law.pays[context, action]
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    row = pl.int_range(decisions)
    return pl.DataFrame(
        {
            "action": pl.Series(ACTIONS).gather(action),
            "actions": pl.Series([ACTIONS]).new_from_index(0, decisions),
            "logging_probabilities": pl.Series(logged).arr.to_list(),
            "candidate": pl.Series(law.candidate[context]).arr.to_list(),
            "reward": reward.astype(np.float64),
        }
    ).with_columns(
        decision_id=pl.format("d{}-{}", pl.lit(number), row),
        decided_at=start + pl.duration(seconds=row),
    )


def main() -> None:
    """Writes the logs and prints the truth."""
    folder, decisions, logs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    law = make_law()
    for number in range(logs):
        draw(law, decisions, number).write_parquet(
            folder / f"{number:04d}.parquet", row_group_size=ROW_GROUP
        )
    sys.stdout.write(json.dumps({"floor": FLOOR, **law.truth}) + "\n")


if __name__ == "__main__":
    main()
