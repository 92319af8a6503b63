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

from flows.intervals import Points
from flows.intervals.block_plan import Plan, fixed_plan, nightly_plan
from flows.intervals.block_points import BlockPoints
from flows.intervals.blocks import anytime, fixed

FLOOR = 0.05
CONTEXTS, ACTIONS = 4, 3
LEAST_COVERAGE, LEAST_POOLED_COVERAGE = 0.935, 0.95
ESTIMANDS = ("value", "improvement")
OPTIONS = {"max_weight": 1 / FLOOR, "alpha": 0.05}


@dataclasses.dataclass(frozen=True)
class Setting:
    """A law, a plan and how many logs."""

    law: str
    plan: Plan
    logs: int

    def interval(self, data, estimand):
        method = fixed if len(self.plan.checkpoints) == 1 else anytime
        return method(data, estimand, plan=self.plan, **OPTIONS)


SETTINGS = {
    "rare": Setting("rare", fixed_plan(300), 300),
    "even": Setting("even", fixed_plan(300), 300),
    "gaps": Setting("gaps", fixed_plan(200), 200),
    "lost": Setting("lost", fixed_plan(200), 200),
    "nights": Setting("even", nightly_plan(100, horizon_nights=4, sub_blocks=4), 300),
}
BROKEN_LOGS = 40


@dataclasses.dataclass(frozen=True)
class Law:
    """Cells, the probability of each, and the true answers."""

    cells: Points
    probability: np.ndarray
    value: float
    improvement: float

    def draw(self, plan, seed, size):
        """Blocks of `size` logs, each of the decisions that the plan expects."""
        random = np.random.default_rng(seed)
        total = round(plan.horizon)
        for sizes in random.multinomial(total, plan.decisions / plan.horizon, size):
            counts = random.multinomial(sizes, self.probability)
            yield BlockPoints(self.cells, counts.astype(float))


@functools.cache
def make_law(name):
    """`rare` and `even`: complete data, mean reward near .05 and .5. `gaps`: half of
    the contexts hold an action below the floor that the candidate likes and that pays
    nothing. `lost`: the logging policy's actions lose rewards of 1, those the candidate
    prefers lose rewards of 0.
    """
    random = np.random.default_rng(20_261_202)
    logging = FLOOR + (1 - ACTIONS * FLOOR) * random.dirichlet(
        np.ones(ACTIONS), CONTEXTS
    )
    candidate = 0.1 / ACTIONS + 0.9 * np.eye(ACTIONS)[random.integers(0, 3, CONTEXTS)]
    mean = {"rare": 0.05, "even": 0.5, "gaps": 0.9, "lost": 0.5}[name]
    pays = np.clip(mean * random.uniform(0.6, 1.4, logging.shape), 0, 0.95)
    loss = np.zeros((*logging.shape, 2))
    if name == "gaps":
        half = CONTEXTS // 2
        logging[:half] = [0.01, 0.495, 0.495]
        candidate[:half] = [0.8, 0.1, 0.1]
        pays[:half, 0] = 0.0
    if name == "lost":
        loss[:] = np.where((candidate > logging)[..., None], [0.6, 0.0], [0.0, 0.6])
    supported = logging >= FLOOR
    context, action, reward, missing = (
        axis.ravel() for axis in np.indices((*logging.shape, 2, 2))
    )
    paid = np.where(reward == 1, pays[context, action], 1 - pays[context, action])
    lost = loss[context, action, reward]
    chance = logging[context, action] * paid * np.where(missing == 1, lost, 1 - lost)
    cells = Points(
        np.where(supported, candidate / logging, 0.0)[context, action],
        reward.astype(float),
        missing == 1,
        supported.all(axis=1)[context],
        np.zeros(context.size),
    )
    value = float((candidate * pays).sum() / CONTEXTS)
    improvement = value - float((logging * pays).sum() / CONTEXTS)
    return Law(cells, chance / chance.sum(), value, improvement)


@functools.cache
def covered_logs(name, estimand):
    setting = SETTINGS[name]
    law = make_law(setting.law)
    seed = list(SETTINGS).index(name)
    found = [
        setting.interval(data, estimand)
        for data in law.draw(setting.plan, seed, setting.logs)
    ]
    truth = getattr(law, estimand)
    return sum(interval.lower <= truth <= interval.upper for interval in found)


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


def skipping_blocks_that_lose(data):
    """Let each end bet nothing on the blocks that turn out against it."""
    scores = (data.cells.weight - 1.0) * (data.cells.reward - 0.5)
    mean = data.counts @ scores / np.maximum(data.counts.sum(axis=1), 1.0)
    wins = (mean >= np.median(mean[data.counts.any(axis=1)]))[:, None]
    return [BlockPoints(data.cells, data.counts * kept) for kept in (wins, ~wins)]


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize(
    ("spoil", "law", "decisions"),
    [
        (with_controls_despite_gaps, "gaps", 1_000),
        (without_missing_decisions, "lost", 500),
        (skipping_blocks_that_lose, "even", 1_000),
    ],
)
def test_a_broken_estimator_fails_the_bed(
    spoil, law, decisions, estimand, least_coverage
):
    setting, law = Setting(law, fixed_plan(decisions), BROKEN_LOGS), make_law(law)
    truth, lost = getattr(law, estimand), 0
    for data in law.draw(setting.plan, 7, setting.logs):
        found = [setting.interval(spoiled, estimand) for spoiled in spoil(data)]
        lost += not all(interval.lower <= truth <= interval.upper for interval in found)

    most_coverage = 1 - least_coverage(lost, setting.logs)
    assert most_coverage < LEAST_COVERAGE
