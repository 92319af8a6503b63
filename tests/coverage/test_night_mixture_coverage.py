"""Coverage by night in worlds that move, the truth being the running average.

A world draws nights one by one: the logging policy of a run may depend on what the run
has seen, the rewards on the night. Counted are the runs in which no look ever left the
running average out. The rule is validity.md 18: in each world the one-sided 99 % lower
bound of that share is at least 93.5 %, pooled at least 95 %, and ways of reading the
nights that are wrong fall below it.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Interval, Points, night_mixture
from flows.intervals.block_points import BlockPoints

FLOOR, POLICIES, CONTEXTS, ACTIONS = 0.1, 2, 3, 3
OPTIONS = {"max_weight": 1 / FLOOR, "alpha": 0.05}
NIGHTS, DECISIONS = 40, 120
LOOKS = (1, 2, 4, 7, 12, 20, 30, 40)
LEAST_COVERAGE, LEAST_POOLED_COVERAGE = 0.935, 0.95
# What part of its decisions rewarded with 0 or 1 a sampled log keeps.
KEPT = np.array([0.3, 1.0])
PARTS_OF_A_NIGHT = 4
# Worlds, the estimand each is looked at through, and how many runs.
WORLDS = {
    "fixed": ("value", 250),
    "adaptive": ("improvement", 250),
    "reacting": ("value", 250),
    "drifting": ("difference", 250),
    "weekdays": ("improvement", 250),
    "jump": ("value", 250),
    "sampled": ("value", 150),
}


@dataclasses.dataclass(frozen=True)
class Runs:
    """Cells and running averages (runs, nights) by estimand; counts of all runs.

    counts: shape (runs, nights, cells).
    """

    cells: dict[str, Points]
    counts: np.ndarray
    truth: dict[str, np.ndarray]


def factor_of(name, night):
    """What the mean rewards of a night are multiplied by, by context."""
    if name == "drifting":
        return 1 + 0.6 * np.sin(night / 8) * np.array([1.0, -1.0, 0.5])
    if name == "weekdays":
        return np.full(CONTEXTS, 0.3 if night % 7 > 4 else 1.2)
    if name in ("jump", "sampled"):
        return np.full(CONTEXTS, 0.4 if night < 12 else 1.5)
    return np.ones(CONTEXTS)


@functools.cache
def drawn(name, runs, seed=1):
    """Runs of a world. Where logging adapts, nights whose estimate so far lies above
    the truth are logged by the policy with the heavier weights; `reacting` reconsiders
    within the night.
    """
    random = np.random.default_rng([seed, list(WORLDS).index(name)])
    logging = FLOOR + (1 - ACTIONS * FLOOR) * random.dirichlet(
        np.full(ACTIONS, 0.6), (POLICIES, CONTEXTS)
    )
    liked = random.integers(0, ACTIONS, (2, CONTEXTS))
    candidate, other = 0.1 / ACTIONS + 0.9 * np.eye(ACTIONS)[liked]
    pays = 0.4 * random.uniform(0.5, 1.5, (CONTEXTS, ACTIONS))
    logger, context, action, reward = (
        axis.ravel() for axis in np.indices((POLICIES, CONTEXTS, ACTIONS, 2))
    )
    weight, weight_too = (
        policy[context, action] / logging[logger, context, action]
        for policy in (candidate, other)
    )
    kept = KEPT if name == "sampled" else np.ones(2)
    parts = PARTS_OF_A_NIGHT if name == "reacting" else 1
    counts = np.zeros((runs, NIGHTS, reward.size))
    truth = {estimand: np.zeros((runs, NIGHTS)) for estimand in ESTIMANDS}
    chosen = np.zeros(runs, dtype=int)
    surplus = np.zeros(runs)
    for night in range(NIGHTS):
        mean = np.clip(pays * factor_of(name, night)[:, None], 0, 0.95)
        chance = logging[logger, context, action] / CONTEXTS
        chance = chance * np.where(
            reward, mean[context, action], 1 - mean[context, action]
        )
        chance = np.where(logger == np.arange(POLICIES)[:, None], chance, 0.0)
        value, second = ((p * mean).sum() / CONTEXTS for p in (candidate, other))
        logged = (logging * mean).sum(axis=(1, 2)) / CONTEXTS
        for _ in range(parts):
            if name in ("adaptive", "reacting"):
                chosen = (surplus > 0).astype(int)
            new = random.multinomial(DECISIONS // parts, chance[chosen])
            surplus += new @ (weight * reward - value)
            counts[:, night] += random.binomial(new, kept[reward])
            truth["value"][:, night] += value / parts
            truth["improvement"][:, night] += (value - logged[chosen]) / parts
            truth["difference"][:, night] += (value - second) / parts
    yes = np.ones(reward.size, dtype=bool)
    alone = Points(
        weight,
        reward.astype(float),
        ~yes,
        yes,
        np.zeros(reward.size),
        kept.min() / kept[reward],
    )
    pair = dataclasses.replace(alone, weight=weight - weight_too)
    return Runs(
        {"value": alone, "improvement": alone, "difference": pair},
        counts,
        {
            estimand: nightly.cumsum(axis=1) / np.arange(1, NIGHTS + 1)
            for estimand, nightly in truth.items()
        },
    )


def each_for_itself(intervals):
    return intervals


def intersected(intervals):
    """Intersect every interval with all earlier ones."""
    running, found = Interval(-1.0, 1.0), []
    for one in intervals:
        running = running.intersect(one)
        found.append(running)
    return found


def never_left_out(runs, estimand, *, read=each_for_itself, cells=None):
    """In how many runs every look held the running average."""
    held = 0
    for counts, truth in zip(runs.counts, runs.truth[estimand], strict=True):
        intervals = [
            night_mixture.interval(
                BlockPoints(cells or runs.cells[estimand], counts[:look]),
                ESTIMANDS[estimand],
                **OPTIONS,
            )
            for look in LOOKS
        ]
        held += all(
            found.lower <= truth[look - 1] <= found.upper
            for found, look in zip(read(intervals), LOOKS, strict=True)
        )
    return held


@functools.cache
def held_in(name):
    estimand, runs = WORLDS[name]
    return never_left_out(drawn(name, runs), estimand)


@pytest.mark.parametrize("name", WORLDS)
def test_the_running_average_is_hardly_ever_left_out(name, least_coverage):
    assert least_coverage(held_in(name), WORLDS[name][1]) >= LEAST_COVERAGE


def test_pooled_over_worlds_the_nights_cover_at_their_level(least_coverage):
    held = sum(held_in(name) for name in WORLDS)
    total = sum(runs for _, runs in WORLDS.values())

    assert least_coverage(held, total) >= LEAST_POOLED_COVERAGE


def test_intersecting_the_intervals_of_moving_averages_fails_the_bed(least_coverage):
    runs = drawn("jump", 40, 2)

    held = never_left_out(runs, "value", read=intersected)

    assert least_coverage(held, 40) < LEAST_COVERAGE
    assert held < 20


def test_reading_a_sample_as_the_whole_fails_the_bed(least_coverage):
    runs = drawn("sampled", 40, 2)
    whole = dataclasses.replace(
        runs.cells["value"], sampling_weight=np.ones(runs.cells["value"].weight.size)
    )

    held = never_left_out(runs, "value", cells=whole)

    assert least_coverage(held, 40) < LEAST_COVERAGE
    assert held < 20
