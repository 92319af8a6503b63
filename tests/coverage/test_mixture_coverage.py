"""Coverage of the mixture on seeded logs with a known truth, and a bed that can fail.

A law lists every kind of decision (context, action, reward, whether the reward is lost)
with its probability, so a log is one multinomial draw and truths are sums. The rule
is validity.md 18: in each setting the one-sided 99 % lower bound of coverage is at
least 93.5 %, pooled at least 95 %, and estimators broken on purpose fall below it.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Points, mixture

FLOOR = 0.05
BOUND = 1 / FLOOR
CONTEXTS, ACTIONS = 6, 4
DECISIONS, LOGS, BROKEN_LOGS = 2_000, 400, 150
LEAST_COVERAGE, LEAST_POOLED_COVERAGE = 0.935, 0.95
OPTIONS = {"max_weight": BOUND, "alpha": 0.05}
SETTINGS = ("rare", "even", "gaps", "lost", "sampled")
# Of decisions rewarded with 0 or 1, how many the setting `sampled` keeps.
KEPT = np.array([0.2, 1.0])


@dataclasses.dataclass(frozen=True)
class Law:
    """Points with count 0 and the truth by estimand; the probability of each point."""

    points: dict[str, Points]
    probability: np.ndarray
    truth: dict[str, float]


@functools.cache
def make_law(setting):
    """`rare` and `even`: complete data, mean reward near .05 and .5. `gaps`: half of
    the contexts hold an action below the floor that one candidate likes and that pays
    nothing, and rewards of 0 are lost more often. `lost`: the logging policy's actions
    lose rewards of 1, those the candidate prefers lose rewards of 0. `sampled`: most
    decisions rewarded with 0 were dropped from the log, and the candidates take the
    best and the worst action.
    """
    random = np.random.default_rng(20_261_130)
    logging = FLOOR + (1 - ACTIONS * FLOOR) * random.dirichlet(
        np.ones(ACTIONS), CONTEXTS
    )
    liked = random.integers(0, ACTIONS, (2, CONTEXTS))
    mean = {"rare": 0.05, "gaps": 0.9}.get(setting, 0.5)
    pays = np.clip(mean * random.uniform(0.6, 1.4, (CONTEXTS, ACTIONS)), 0, 0.95)
    if setting == "sampled":
        liked = np.array([pays.argmax(axis=1), pays.argmin(axis=1)])
    candidate, other = 0.3 / ACTIONS + 0.7 * np.eye(ACTIONS)[liked]
    loss = np.zeros((CONTEXTS, ACTIONS, 2))
    if setting == "gaps":
        half = CONTEXTS // 2
        logging[:half] = [0.01, 0.33, 0.33, 0.33]
        candidate[:half] = [0.7, 0.1, 0.1, 0.1]
        other[:half] = [0.0, 0.4, 0.3, 0.3]
        pays[:half, 0] = 0.0
        loss[:] = [0.5, 0.1]
    if setting == "lost":
        loss[:] = np.where((candidate > logging)[..., None], [0.6, 0.0], [0.0, 0.6])
    kept = KEPT if setting == "sampled" else np.ones(2)
    context, action, reward, missing = (
        axis.ravel() for axis in np.indices((CONTEXTS, ACTIONS, 2, 2))
    )
    paid = np.where(reward == 1, pays[context, action], 1 - pays[context, action])
    lost = loss[context, action, reward]
    chance = logging[context, action] * paid * np.where(missing == 1, lost, 1 - lost)
    chance = chance * kept[reward]
    supported = logging >= FLOOR
    columns = {
        "reward": reward.astype(float),
        "is_reward_missing": missing == 1,
        "is_supported": supported.all(axis=1)[context],
        "count": np.zeros(context.size),
        "sampling_weight": kept.min() / kept[reward],
    }
    one, two = (
        np.where(supported, policy / logging, 0.0)[context, action]
        for policy in (candidate, other)
    )
    gone, gone_too = (
        np.where(supported, 0.0, policy).sum(axis=1)[context]
        for policy in (candidate, other)
    )
    alone = Points(one, **columns, own_unsupported=gone)
    pair = Points(
        one - two, **columns, own_unsupported=gone, other_unsupported=gone_too
    )
    value, second, logged = (
        float((policy * pays).sum() / CONTEXTS)
        for policy in (candidate, other, logging)
    )
    return Law(
        {"value": alone, "improvement": alone, "difference": pair},
        chance / chance.sum(),
        {
            "value": value,
            "improvement": value - logged,
            "difference": value - second,
        },
    )


def draw(law, estimand, seed, size=LOGS, decisions=DECISIONS):
    """Points of `size` logs."""
    random = np.random.default_rng(seed)
    for count in random.multinomial(decisions, law.probability, size):
        yield dataclasses.replace(law.points[estimand], count=count.astype(float))


def coverage_of(law, estimand, seed, size=LOGS, spoil=lambda points: points):
    truth, covered = law.truth[estimand], 0
    for points in draw(law, estimand, seed, size):
        found = mixture.interval(spoil(points), ESTIMANDS[estimand], **OPTIONS)
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


def as_if_nothing_was_dropped(points):
    """Ignore that a log is a sample."""
    return dataclasses.replace(
        points, sampling_weight=np.ones_like(points.sampling_weight)
    )


def without_missing_decisions(points):
    """Drop the decisions whose reward is missing."""
    return dataclasses.replace(
        points, count=np.where(points.is_reward_missing, 0.0, points.count)
    )


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize(
    ("spoil", "setting"),
    [
        (with_controls_despite_gaps, "gaps"),
        (without_missing_decisions, "lost"),
        (as_if_nothing_was_dropped, "sampled"),
    ],
)
def test_a_broken_estimator_fails_the_bed(spoil, setting, estimand, least_coverage):
    covered = coverage_of(make_law(setting), estimand, 7, BROKEN_LOGS, spoil)

    assert least_coverage(covered, BROKEN_LOGS) < LEAST_COVERAGE


def test_looking_again_and_again_keeps_coverage(least_coverage):
    law, looks, logs = make_law("even"), 6, 200
    drawn = draw(law, "value", 11, size=logs * looks, decisions=300)
    counts = np.array([points.count for points in drawn])
    kept = 0
    for arriving in counts.reshape(logs, looks, -1):
        intervals = [
            mixture.interval(
                dataclasses.replace(law.points["value"], count=count),
                ESTIMANDS["value"],
                **OPTIONS,
            )
            for count in arriving.cumsum(axis=0)
        ]
        truth = law.truth["value"]
        kept += all(found.lower <= truth <= found.upper for found in intervals)

    assert least_coverage(kept, logs) >= LEAST_COVERAGE
