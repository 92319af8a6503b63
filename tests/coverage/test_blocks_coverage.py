"""Coverage of the block bettor on seeded logs with a known truth, and a bed that fails.

A law lists every kind of decision (context, action, reward, whether the reward is lost)
with its probability; a log is one multinomial draw over blocks and kinds. The rule is
validity.md 18: in each setting the one-sided 99 % lower bound of coverage is at least
93.5 %, pooled at least 95 %, and estimators broken on purpose fall below it. Looks in
between need no draw of their own: an end once reached is never taken back, so a truth
that was ever left out stays left out.

Settings are small so that few logs decide: with 500 decisions and more the coverage
comes down to .95 to .98, and takes thousands of logs to tell from .935.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Points
from flows.intervals.block_plan import Plan, fixed_plan, nightly_plan, window_plan
from flows.intervals.block_points import BlockPoints
from flows.intervals.blocks import anytime, fixed

FLOOR = 0.05
CONTEXTS, ACTIONS = 4, 3
LEAST_COVERAGE, LEAST_POOLED_COVERAGE = 0.935, 0.95
OPTIONS = {"max_weight": 1 / FLOOR, "alpha": 0.05}


@dataclasses.dataclass(frozen=True)
class Setting:
    """A law, a plan, the decisions expected in each row of counts, how many logs."""

    law: str
    plan: Plan
    sizes: np.ndarray
    logs: int

    def interval(self, data, estimand):
        method = fixed if len(self.plan.checkpoints) == 1 else anytime
        return method(data, ESTIMANDS[estimand], plan=self.plan, **OPTIONS)


def hashed(law, decisions, logs):
    plan = fixed_plan(decisions)
    return Setting(law, plan, plan.decisions, logs)


def by_night(law, a_night, nights, logs, **options):
    plan, row = nightly_plan(a_night, **options)
    units = np.bincount(row[:nights].ravel())
    return Setting(law, plan, units * (a_night / row.shape[1]), logs)


def windowed(law, decisions, nights, logs):
    plan, _ = window_plan(decisions, nights=nights)
    return Setting(law, plan, plan.decisions, logs)


SETTINGS = {
    "rare": hashed("rare", 200, 200),
    "even": hashed("even", 100, 300),
    "gaps": hashed("gaps", 200, 200),
    "lost": hashed("lost", 200, 200),
    "sampled": hashed("sampled", 300, 200),
    "nights": by_night("even", 100, 4, 300, horizon_nights=4, sub_blocks=4),
    "gaps by night": by_night("gaps", 40, 6, 200, horizon_nights=6),
    "open": by_night("rare", 60, 10, 200),
    "window": windowed("even", 300, 7, 200),
    "sampled window": windowed("sampled", 300, 2, 200),
}
BROKEN_LOGS = 40


@dataclasses.dataclass(frozen=True)
class Law:
    """Cells, the probability of each in the log, and the true answer."""

    cells: Points
    truth: float

    def draw(self, sizes, seed, logs):
        """Rows of `logs` logs, each of as many decisions in all as are expected."""
        random = np.random.default_rng(seed)
        shares, law = sizes / sizes.sum(), self.cells.count
        for drawn in random.multinomial(round(sizes.sum()), shares, logs):
            counts = random.multinomial(drawn, law / law.sum())
            yield BlockPoints(self.cells, counts.astype(float))


@functools.cache
def make_law(name, estimand):
    """`rare` and `even`: complete data, mean reward near .05 and .5. `gaps`: half of
    the contexts hold an action below the floor that the candidate likes and that pays
    nothing. `lost`: the logging policy's actions lose rewards of 1, those the candidate
    prefers lose rewards of 0. `sampled`: of the decisions that earned nothing only one
    in four is kept. The difference is that to a candidate that likes other actions.
    """
    random = np.random.default_rng(20_261_202)
    logging = FLOOR + (1 - ACTIONS * FLOOR) * random.dirichlet(
        np.ones(ACTIONS), CONTEXTS
    )
    liked = random.integers(0, ACTIONS, CONTEXTS)
    candidate, other = (
        0.1 / ACTIONS + 0.9 * np.eye(ACTIONS)[action % ACTIONS]
        for action in (liked, liked + 1)
    )
    mean = {"rare": 0.05, "gaps": 0.9}.get(name, 0.5)
    pays = np.clip(mean * random.uniform(0.6, 1.4, logging.shape), 0, 0.95)
    loss, kept = np.zeros((*logging.shape, 2)), np.array([1.0, 1.0])
    if name == "gaps":
        half = CONTEXTS // 2
        logging[:half] = [0.01, 0.495, 0.495]
        candidate[:half] = [0.8, 0.1, 0.1]
        pays[:half, 0] = 0.0
    if name == "lost":
        loss[:] = np.where((candidate > logging)[..., None], [0.6, 0.0], [0.0, 0.6])
    if name == "sampled":
        kept = np.array([0.25, 1.0])
    has_support = logging >= FLOOR
    context, action, reward, missing = (
        axis.ravel() for axis in np.indices((*logging.shape, 2, 2))
    )
    paid = np.where(reward == 1, pays[context, action], 1 - pays[context, action])
    lost = loss[context, action, reward]
    chance = logging[context, action] * paid * np.where(missing == 1, lost, 1 - lost)
    against = {"value": 0 * logging, "improvement": logging, "difference": other}
    compared = candidate - (other if estimand == "difference" else 0)
    unsupported = [
        np.where(has_support, 0, policy).sum(axis=1)[context]
        for policy in (candidate, other if estimand == "difference" else 0 * other)
    ]
    cells = Points(
        np.where(has_support, compared / logging, 0.0)[context, action],
        reward.astype(float),
        missing == 1,
        has_support.all(axis=1)[context],
        chance * kept[reward] / CONTEXTS,
        kept.min() / kept[reward],
        *unsupported,
    )
    truth = ((candidate - against[estimand]) * pays).sum() / CONTEXTS
    return Law(cells.in_extremes().merged(), float(truth))


@functools.cache
def covered_logs(name, estimand):
    setting = SETTINGS[name]
    law = make_law(setting.law, estimand)
    seed = list(SETTINGS).index(name)
    found = [
        setting.interval(data, estimand)
        for data in law.draw(setting.sizes, seed, setting.logs)
    ]
    return sum(interval.lower <= law.truth <= interval.upper for interval in found)


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("name", SETTINGS)
def test_the_block_bettor_covers_the_truth(name, estimand, least_coverage):
    covered = covered_logs(name, estimand)

    assert least_coverage(covered, SETTINGS[name].logs) >= LEAST_COVERAGE


def test_pooled_over_settings_the_block_bettor_covers_at_its_level(least_coverage):
    covered = sum(covered_logs(n, e) for n in SETTINGS for e in ESTIMANDS)
    total = sum(setting.logs * len(ESTIMANDS) for setting in SETTINGS.values())

    assert least_coverage(covered, total) >= LEAST_POOLED_COVERAGE


def with_controls_despite_gaps(data):
    """Bet with controls where candidate mass is unsupported."""
    cells = data.cells
    yes = np.ones_like(cells.is_supported)
    return [BlockPoints(dataclasses.replace(cells, is_supported=yes), data.counts)]


def without_missing_decisions(data):
    """Drop the decisions whose reward is missing."""
    return [BlockPoints(data.cells, data.counts * ~data.cells.is_reward_missing)]


def without_sampling_weights(data):
    """Take a log that was thinned out for a complete one."""
    cells = data.cells
    once = np.ones_like(cells.sampling_weight)
    return [BlockPoints(dataclasses.replace(cells, sampling_weight=once), data.counts)]


def skipping_blocks_that_lose(data):
    """Let each end bet nothing on the blocks that turn out against it."""
    scores = (data.cells.weight - 1.0) * (data.cells.reward - 0.5)
    mean = data.counts @ scores / np.maximum(data.counts.sum(axis=1), 1.0)
    wins = (mean >= np.median(mean[data.counts.any(axis=1)]))[:, None]
    return [BlockPoints(data.cells, data.counts * kept) for kept in (wins, ~wins)]


@pytest.mark.parametrize(
    ("spoil", "law", "decisions", "estimand"),
    [
        (with_controls_despite_gaps, "gaps", 1_000, "value"),
        (with_controls_despite_gaps, "gaps", 1_000, "improvement"),
        (without_missing_decisions, "lost", 500, "value"),
        (without_missing_decisions, "lost", 500, "improvement"),
        (without_missing_decisions, "lost", 4_000, "difference"),
        (without_sampling_weights, "sampled", 1_000, "value"),
        (without_sampling_weights, "sampled", 4_000, "difference"),
        (skipping_blocks_that_lose, "even", 1_000, "value"),
        (skipping_blocks_that_lose, "even", 1_000, "improvement"),
    ],
)
def test_a_broken_estimator_fails_the_bed(
    spoil, law, decisions, estimand, least_coverage
):
    setting, law = hashed(law, decisions, BROKEN_LOGS), make_law(law, estimand)
    lost = 0
    for data in law.draw(setting.sizes, 7, setting.logs):
        found = [setting.interval(spoiled, estimand) for spoiled in spoil(data)]
        lost += not all(i.lower <= law.truth <= i.upper for i in found)

    most_coverage = 1 - least_coverage(lost, setting.logs)
    assert most_coverage < LEAST_COVERAGE
