"""Value and improvement by betting block after block: methods `fixed` and `anytime`.

`fixed` looks once, at all 79 hash blocks of one data set; `anytime` looks after every
night, at the nights so far, each in hash sub-blocks. Both are one kernel under two
plans (`block_plan`); wealth and bets are described in `block_bets`, the estimands, the
reflection that gives the upper ends, missing rewards and controls in `mixture`.

The lower end comes from a scan. The grid of candidate means depends on the plan and on
block 0, which is never bet on. In ascending order, the last mean before the first one
that is not rejected is returned (the least possible one when there is none). If the
truth lies below that end, the smallest grid point at or above the truth was rejected,
whose wealth does not grow on average: this has probability at most alpha / 2. Whether
rejection is monotone in the mean, which is not proven, does not matter.

A mean once rejected stays rejected, so with more nights the ends never move outward as
long as the earlier blocks are the same.

Where the plan leaves the mean squared weight open, block 0 decides: its sum of squared
weights and ten pseudo decisions of B / 2 each. Against the true number this cost at
most 2 % of width; B in its place 2 to 10 % with 500 decisions, at most 3 % from 2,000
on (floor .05, mean reward .05 and .5, 60 logs each).

The guarantee assumes true logged probabilities, decisions whose conditional mean is
constant, and a hash that takes no part in the decisions; sub-blocks need a logging
policy that does not react within the night (validity.md 5c and 5e).

Source: intervals-next.md, sections 4, 7 and 8; validity.md 5a to 5f. The fine part of
the grid is the reference's that the golden numbers come from; outside it that one has
ten means below and none above, ours go on in growing steps: block 0 may be small.
"""

from __future__ import annotations

import math

import numpy as np

from flows.intervals.block_bets import Estimand, prepare, rejected
from flows.intervals.block_plan import Plan
from flows.intervals.block_points import BlockPoints
from flows.intervals.interval import Interval
from flows.intervals.mixture import improvement_scores, mirrored, value_scores
from flows.intervals.points import Floats

PRIOR_WEIGHTS = 10.0
STEP = 0.02  # of the grid, in planned standard errors
STEPS_BELOW, STEPS_ABOVE, GROWTH = 60.0, 80.0, 0.02
# How many means are raced at once.
PART = 128


def fixed(
    data: BlockPoints,
    estimand: Estimand,
    *,
    plan: Plan,
    max_weight: float,
    alpha: float,
) -> Interval:
    """Interval that is true at the one look which the plan ends with.

    data: every block of the plan, rewards scaled to [0, 1], weights at most max_weight.
    estimand: "value", in [0, 1], or "improvement" over the logging policy, in [-1, 1].
    plan: see `fixed_plan`; it has one checkpoint, after its last block.
    max_weight: 1 / floor, at least 1.
    alpha: total error in (0, 1), half at each end.

    Returns:
        The interval; empty when the weights contradict the logged probabilities.

    Raises:
        ValueError: data holds other blocks than the plan, the plan has other
            checkpoints, or max_weight, alpha or a weight is out of its range.
    """
    blocks = data.counts.shape[0]
    if not plan.checkpoints == (blocks,) == (plan.decisions.size,):
        raise ValueError(f"{blocks} blocks for one look at {plan.checkpoints}")
    return _interval(data, estimand, plan, max_weight, alpha)


def anytime(
    data: BlockPoints,
    estimand: Estimand,
    *,
    plan: Plan,
    max_weight: float,
    alpha: float,
) -> Interval:
    """Interval that is true at every look at once, however many blocks there are.

    data: the blocks so far, complete ones in the order of the plan; those after the
        last checkpoint are not used.
    plan: see `nightly_plan`.

    Other arguments, result and errors are those of `fixed`, and one block is enough.
    """
    return _interval(data, estimand, plan, max_weight, alpha)


def _interval(
    data: BlockPoints,
    estimand: Estimand,
    plan: Plan,
    max_weight: float,
    alpha: float,
) -> Interval:
    """Both ends, the upper one by reflection."""
    data.cells.require_weights_up_to(max_weight)
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha {alpha} lies outside (0, 1)")
    if estimand not in ("value", "improvement"):
        raise ValueError(f"estimand {estimand!r} is neither value nor improvement")
    if not data.counts.shape[0]:
        raise ValueError("data holds no block")
    below = _lower(data, estimand, plan, max_weight, alpha / 2.0)
    other = BlockPoints(mirrored(data.cells), data.counts)
    above = _lower(other, estimand, plan, max_weight, alpha / 2.0)
    if estimand == "value":
        return Interval(below, 1.0 - above).intersect(Interval(0.0, 1.0))
    return Interval(below, -above).intersect(Interval(-1.0, 1.0))


def _lower(
    data: BlockPoints, estimand: Estimand, plan: Plan, max_weight: float, alpha: float
) -> float:
    """The grid point before the first mean that is not rejected."""
    second_moment = _second_moment(data, plan, max_weight)
    mean_reward = _mean_reward(data)
    game = prepare(
        data,
        estimand,
        plan,
        max_weight=max_weight,
        alpha=alpha,
        second_moment=second_moment,
        mean_reward=mean_reward,
    )
    if estimand == "value":
        grid = _value_grid(data, plan, second_moment)
    else:
        grid = _improvement_grid(data, plan, second_moment, mean_reward)
    end = 0.0 if estimand == "value" else -1.0
    border = int(np.searchsorted(grid, _hardly_exceeded(data, estimand, mean_reward)))
    for part in np.split(grid, range(border, grid.size, PART)):
        out = rejected(game, part)
        kept = part.size if out.all() else int(out.argmin())
        if kept:
            end = float(part[kept - 1])
        if kept < part.size:
            break
    return end


def _hardly_exceeded(
    data: BlockPoints, estimand: Estimand, mean_reward: float
) -> float:
    """1.5 standard errors below the estimate over all blocks.

    Only how the grid is cut into parts depends on it, never the end.
    """
    count = data.counts.sum(axis=0)
    n = max(float(count.sum()), 1.0)
    scores, control = improvement_scores, mean_reward
    if estimand == "value":
        scores = value_scores
        control = min(float(count @ scores(data.cells, 0.0)) / n, 1.0)
    found = scores(data.cells, control)
    mean = float(count @ found) / n
    return mean - 1.5 * math.sqrt(float(count @ (found - mean) ** 2)) / n


def _value_grid(data: BlockPoints, plan: Plan, second_moment: float) -> Floats:
    """Candidate means of w z, ascending, around their mean in block 0."""
    count = data.counts[0]
    decisions = max(float(count.sum()), 1.0)
    middle = float(count @ value_scores(data.cells, 0.0)) / decisions
    variance = second_moment * max(middle, 1.0 / decisions)
    return _grid(middle, math.sqrt(variance / plan.horizon), least=1e-4)


def _improvement_grid(
    data: BlockPoints, plan: Plan, second_moment: float, mean_reward: float
) -> Floats:
    """Candidate means of (w - 1) z, around that of (w - 1) (z - mean z) in block 0."""
    count = data.counts[0]
    decisions = max(float(count.sum()), 1.0)
    observed = np.where(data.cells.is_reward_missing, 0.0, count)
    mean = float(observed @ data.cells.reward) / max(float(observed.sum()), 1.0)
    middle = float(count @ improvement_scores(data.cells, mean)) / decisions
    variance = max(second_moment - 1.0, 0.05) * mean_reward * (1.0 - mean_reward)
    return _grid(middle, math.sqrt(variance / plan.horizon), least=-0.999)


def _grid(middle: float, error: float, *, least: float) -> Floats:
    """Ascending means from the least one to 1, finest around the middle.

    Steps are .02 errors from 60 below the middle to 80 above, then they grow.
    """
    step = STEP * error
    start = min(max(middle - STEPS_BELOW * error, least), 1.0)
    fine = np.arange(start, min(1.0, middle + STEPS_ABOVE * error), step)
    below = start - _growing(step, start - least)
    above = start + step * fine.size + _growing(step, 1.0 - start - step * fine.size)
    return np.concatenate([below[::-1], fine, above])


def _growing(step: float, reach: float) -> Floats:
    """Distances up to `reach`, the last one, in steps that grow from `step`."""
    if reach <= 0.0:
        return np.empty(0)
    steps = math.ceil(math.log1p(reach * GROWTH / step) / math.log1p(GROWTH))
    distances: Floats = np.expm1(np.arange(1, steps) * math.log1p(GROWTH))
    return np.append(distances * (step / GROWTH), reach)


def _second_moment(data: BlockPoints, plan: Plan, max_weight: float) -> float:
    """Planned mean squared weight: declared, or guessed from block 0."""
    if plan.second_moment is not None:
        return plan.second_moment
    count, weight = data.counts[0], data.cells.weight
    total = float(count @ (weight * weight)) + PRIOR_WEIGHTS * max_weight / 2.0
    return max(total / (float(count.sum()) + PRIOR_WEIGHTS), 1.0)


def _mean_reward(data: BlockPoints) -> float:
    """Mean logged reward of block 0, half a success added, in [.01, .99]."""
    is_missing = data.cells.is_reward_missing
    observed = np.where(is_missing, 0.0, data.counts[0])
    rewards = float(observed @ data.cells.reward)
    total = max(float(observed.sum()), 1.0)
    return min(max((rewards + 0.5) / (total + 1.0), 0.01), 0.99)
