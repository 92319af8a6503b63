"""Coverage of the mixture on seeded logs with a known truth, and a bed that can fail.

A law lists every kind of decision (context, action, reward, whether the reward is lost)
with its probability, so a log is one multinomial draw and the truth is a sum. The rule
is validity.md 18: in each setting the one-sided 99 % lower bound of coverage is at
least 93.5 %, pooled at least 95 %, and estimators broken on purpose fall below it.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from flows.intervals import Points, mixture

FLOOR = 0.05
BOUND = 1 / FLOOR
CONTEXTS, ACTIONS = 6, 4
DECISIONS, LOGS = 2_000, 400
LEAST_COVERAGE, LEAST_POOLED_COVERAGE = 0.935, 0.95
ESTIMANDS = ("value", "improvement")
SETTINGS = ("rare", "even", "gaps", "lost")


@dataclasses.dataclass(frozen=True)
class Law:
    """Points with count 0, the probability of each, and the true answers."""

    points: Points
    probability: np.ndarray
    value: float
    improvement: float


def make_law(setting):
    """`rare` and `even`: complete data, mean reward near .05 and .5. `gaps`: half of
    the contexts hold an action below the floor that the candidate likes and that pays
    nothing, and rewards of 0 are lost more often. `lost`: the logging policy's actions
    lose rewards of 1, those the candidate prefers lose rewards of 0.
    """
    rng = np.random.default_rng(20_261_130)
    logging = FLOOR + (1 - ACTIONS * FLOOR) * rng.dirichlet(np.ones(ACTIONS), CONTEXTS)
    candidate = 0.3 / ACTIONS + 0.7 * np.eye(ACTIONS)[rng.integers(0, 4, CONTEXTS)]
    mean = {"rare": 0.05, "even": 0.5, "gaps": 0.9, "lost": 0.5}[setting]
    pays = np.clip(mean * rng.uniform(0.6, 1.4, (CONTEXTS, ACTIONS)), 0, 0.95)
    loss = np.zeros((CONTEXTS, ACTIONS, 2))
    if setting == "gaps":
        half = CONTEXTS // 2
        logging[:half] = [0.01, 0.33, 0.33, 0.33]
        candidate[:half] = [0.7, 0.1, 0.1, 0.1]
        pays[:half, 0] = 0.0
        loss[:] = [0.5, 0.1]
    if setting == "lost":
        loss[:] = np.where((candidate > logging)[..., None], [0.6, 0.0], [0.0, 0.6])
    supported = logging >= FLOOR
    weight = np.where(supported, candidate / logging, 0.0)
    complete = supported.all(axis=1)
    context, action, reward, missing = (
        axis.ravel() for axis in np.indices((CONTEXTS, ACTIONS, 2, 2))
    )
    paid = np.where(reward == 1, pays[context, action], 1 - pays[context, action])
    lost = loss[context, action, reward]
    kept = np.where(missing == 1, lost, 1 - lost)
    points = Points(
        weight[context, action],
        reward.astype(float),
        missing == 1,
        complete[context],
        np.zeros(context.size),
    )
    value = float((candidate * pays).sum() / CONTEXTS)
    return Law(
        points,
        logging[context, action] / CONTEXTS * paid * kept,
        value,
        value - float((logging * pays).sum() / CONTEXTS),
    )


def draw(law, seed, size=LOGS, decisions=DECISIONS):
    """Points of `size` logs."""
    share = law.probability / law.probability.sum()
    for count in np.random.default_rng(seed).multinomial(decisions, share, size):
        yield dataclasses.replace(law.points, count=count.astype(float))


def coverage_of(law, estimand, seed, spoil=lambda points: points):
    truth = getattr(law, estimand)
    covered = 0
    for points in draw(law, seed):
        found = getattr(mixture, estimand)(spoil(points), max_weight=BOUND, alpha=0.05)
        covered += found.lower <= truth <= found.upper
    return covered


@functools.cache
def covered_logs(setting, estimand):
    return coverage_of(make_law(setting), estimand, seed=SETTINGS.index(setting))


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_mixture_covers_the_truth(setting, estimand, least_coverage):
    covered = covered_logs(setting, estimand)

    assert least_coverage(covered, LOGS) >= LEAST_COVERAGE


def test_pooled_over_settings_the_mixture_covers_at_its_level(least_coverage):
    covered = [covered_logs(s, e) for s in SETTINGS for e in ESTIMANDS]

    assert least_coverage(sum(covered), LOGS * len(covered)) >= LEAST_POOLED_COVERAGE


def with_controls_despite_gaps(points):
    """Bet with controls where candidate mass is unsupported."""
    return dataclasses.replace(points, is_supported=np.ones_like(points.is_supported))


def without_missing_decisions(points):
    """Drop the decisions whose reward is missing."""
    return dataclasses.replace(
        points, count=np.where(points.is_reward_missing, 0.0, points.count)
    )


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize(
    ("spoil", "setting"),
    [(with_controls_despite_gaps, "gaps"), (without_missing_decisions, "lost")],
)
def test_a_broken_estimator_fails_the_bed(spoil, setting, estimand, least_coverage):
    covered = coverage_of(make_law(setting), estimand, seed=7, spoil=spoil)

    assert least_coverage(covered, LOGS) < LEAST_COVERAGE


def test_looking_again_and_again_keeps_coverage(least_coverage):
    law, looks, logs = make_law("even"), 6, 200
    counts = np.array(
        [points.count for points in draw(law, 11, size=logs * looks, decisions=300)]
    )
    kept = 0
    for arriving in counts.reshape(logs, looks, -1):
        intervals = [
            mixture.value(
                dataclasses.replace(law.points, count=count),
                max_weight=BOUND,
                alpha=0.05,
            )
            for count in arriving.cumsum(axis=0)
        ]
        kept += all(found.lower <= law.value <= found.upper for found in intervals)

    assert least_coverage(kept, logs) >= LEAST_COVERAGE
