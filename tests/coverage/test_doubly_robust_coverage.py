"""Coverage of doubly robust intervals, whatever the reward model says.

Several hundred logs are counted at once: the day a decision was made numbers log and
sub-block, and a context column numbers log and context, so that one model holds a
prediction for every log. Models learn from earlier nights by `fit`; a garbage one says
the opposite of what is true. The rule is validity.md 18, and so is the broken bed: a
model that has learnt the very rewards it is corrected by.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from bed import judge

from flows.offpolicy import doubly_robust
from flows.offpolicy.grid import UNIT, Grid
from flows.offpolicy.methods import Design
from flows.offpolicy.plan import Looks, Plan
from flows.offpolicy.reward_fit import fit
from flows.offpolicy.reward_model import Column, RewardModel
from flows.offpolicy.twins import Scores
from flows.policies.scorable import closed

pytest.importorskip("sklearn")

LOGS, NIGHTS, DECISIONS = 240, 3, 300
# Logs that make it certain that a broken model does not cover.
BROKEN_LOGS = 60
SUB_BLOCKS = 8
ACTIONS = ("a", "b", "c")
START = dt.date(2024, 5, 1)
GRID = Grid(floor=0.1, lowest=0.0, highest=1.0)
LOGGING = np.array([[0.2, 0.3, 0.5], [0.35, 0.55, 0.1], [0.6, 0.2, 0.2]])
CANDIDATE = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1]])
PAYS = np.array([[0.9, 0.1, 0.5], [0.1, 0.9, 0.3], [0.5, 0.05, 0.95]])
LEAST_COVERAGE, LEAST_POOLED_COVERAGE = 0.935, 0.95
ESTIMANDS = ("value", "improvement")


def truth(estimand, logging=LOGGING):
    value = float((CANDIDATE * PAYS).sum(axis=1).mean())
    own = float((logging * PAYS).sum(axis=1).mean())
    return value if estimand == "value" else value - own


def draw(rng, logging=LOGGING, lost=0.0):
    """A night of all logs; rewards of 1 are lost with probability `lost`."""
    size = LOGS * DECISIONS
    log = np.repeat(np.arange(LOGS), DECISIONS)
    context = rng.integers(0, len(PAYS), size)
    edges = logging.cumsum(axis=1)[context, :-1]
    action = (rng.random(size)[:, None] >= edges).sum(axis=1)
    paid = rng.random(size) < PAYS[context, action]
    is_lost = paid & (rng.random(size) < lost)
    number = log * SUB_BLOCKS + rng.integers(0, SUB_BLOCKS, size)
    return pl.DataFrame(
        {
            "log": log,
            "context": context,
            "decided_at": number.astype("datetime64[D]").astype("datetime64[us]"),
            "action": np.array(ACTIONS)[action],
            "logging_probabilities": logging[context],
            "new": CANDIDATE[context],
            "reward": np.where(is_lost, np.nan, paid),
        }
    ).with_columns(
        pl.col("logging_probabilities", "new").arr.to_list(),
        pl.col("decided_at").dt.replace_time_zone("UTC"),
        pl.col("reward").fill_nan(None),
        cell=pl.format("{} {}", "log", "context"),
        sample_probability=pl.lit(1.0),
    )


def model_of(expected):
    """One model of all logs: a number for each log, context and action."""
    logs, contexts, _ = expected.shape
    cells = [f"{log} {context}" for log in range(logs) for context in range(contexts)]
    flat = expected.reshape(len(cells), len(ACTIONS))
    return RewardModel(
        0.0,
        (Column("cell", tuple(cells)),),
        ACTIONS,
        (0.0,) * len(cells),
        tuple((0.0, *flat[:, a].tolist()) for a in range(len(ACTIONS))),
    )


def learnt(frame):
    """What models of each log expect, fitted to its rewards."""
    contexts = pl.DataFrame({"context": np.arange(len(PAYS))})
    rows = (
        frame.drop_nulls("reward")
        .with_columns(context=pl.col("context").cast(pl.Int64))
        .group_by("log", "context", "action")
        .agg(
            pl.len().cast(pl.Int64).alias("decisions"),
            (pl.col("reward").sum() * UNIT).cast(pl.Int64).alias("reward_units"),
        )
        .partition_by("log", as_dict=True, include_key=False)
    )
    return np.array([fit(rows[log,]).predict(contexts, ACTIONS) for log in range(LOGS)])


def remembered(frame):
    """Of each decision, itself a context now, the reward that it got."""
    number = pl.int_range(pl.len()).over("log")
    alone = frame.with_columns(cell=pl.format("{} {}", "log", number))
    expected = np.full((frame.height, len(ACTIONS)), 0.5)
    taken = frame["action"].replace_strict(ACTIONS, range(len(ACTIONS)))
    expected[np.arange(frame.height), taken] = frame["reward"]
    return alone, expected.reshape(LOGS, DECISIONS, len(ACTIONS))


def counted(frame, expected):
    """The counted scores of one night, by log."""
    log = closed([frame.lazy()], ACTIONS, is_sampled=False)
    scores = doubly_robust.count(
        log,
        [log.column("new", "new", GRID.tolerated_floor)],
        actions=ACTIONS,
        model=model_of(expected),
        grid=GRID,
        blocks="days",
    )
    return scores.with_columns(
        log=pl.col("block") // SUB_BLOCKS, block=pl.col("block") % SUB_BLOCKS
    )


def covered(nights, logging=LOGGING):
    """By estimand, in how many logs the interval of the last night holds the truth."""
    dated = [
        scores.with_columns(day=pl.lit(START + dt.timedelta(days=number)))
        for number, scores in enumerate(nights)
    ]
    looks = (Looks(dt.date.min, None),)
    plan = Plan(GRID, Design("anytime", 0.95), looks, {("new", ""): 1}, frozenset(), "")
    row = {
        "night": START + dt.timedelta(days=len(nights) - 1),
        "window": "since_start",
        "window_start": START,
        "confidence": 0.95,
    }
    held = dict.fromkeys(ESTIMANDS, 0)
    widths = dict.fromkeys(ESTIMANDS, 0.0)
    for of_log in pl.concat(dated).partition_by("log"):
        scores = replace(Scores.of(of_log, ("new", ""), plan), share=1.0)
        for estimand in ESTIMANDS:
            found = scores.numbers({**row, "estimand": estimand})
            held[estimand] += (
                found["lower"] <= truth(estimand, logging) <= found["upper"]
            )
            widths[estimand] += (found["upper"] - found["lower"]) / LOGS
    return held, widths


def nights_of(kind, seed, **law):
    rng, frames, nights = np.random.default_rng(seed), [], []
    for _ in range(NIGHTS):
        frame = draw(rng, **law)
        expected = np.zeros((LOGS, *PAYS.shape))
        if kind == "garbage":
            expected += 1.0 - PAYS
        elif kind == "remembers":
            frame, expected = remembered(frame)
        elif frames:
            expected = learnt(pl.concat(frames))
        frames.append(frame)
        nights.append(counted(frame, expected))
    return nights


# What the candidate likes best in the first context lies below the floor.
GAPS = np.array([[0.05, 0.35, 0.6], [0.35, 0.55, 0.1], [0.6, 0.2, 0.2]])
SETTINGS = {
    "learnt": {},
    "garbage": {},
    "lost and without support": {"logging": GAPS, "lost": 0.2},
}


@pytest.fixture(scope="module")
def found():
    """By setting, how many logs are covered by estimand, and the mean widths."""
    return {
        name: covered(nights_of(name, seed, **law), law.get("logging", LOGGING))
        for seed, (name, law) in enumerate(SETTINGS.items())
    }


@pytest.mark.parametrize("setting", SETTINGS)
def test_intervals_cover_the_truth_whatever_the_model_says(
    setting, found, least_coverage
):
    held, _ = found[setting]
    assert least_coverage(min(held.values()), LOGS) >= LEAST_COVERAGE


def test_pooled_over_settings_coverage_is_at_its_level(found, least_coverage):
    counts = [count for held, _ in found.values() for count in held.values()]
    assert least_coverage(sum(counts), LOGS * len(counts)) >= LEAST_POOLED_COVERAGE


def test_a_model_that_learnt_makes_intervals_narrower_than_garbage(found):
    (_, learnt_widths), (_, garbage_widths) = found["learnt"], found["garbage"]
    for estimand in ESTIMANDS:
        assert learnt_widths[estimand] < 0.85 * garbage_widths[estimand]


def test_a_model_that_saw_the_decisions_fails_the_bed():
    few = [
        night.filter(pl.col("log") < BROKEN_LOGS) for night in nights_of("remembers", 9)
    ]
    held, _ = covered(few)
    assert judge.fails(max(held.values()), BROKEN_LOGS)
