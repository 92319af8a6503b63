"""draft"""

from __future__ import annotations

import math

import numpy as np

from flows.intervals.block_bets import Game, prepare
from flows.intervals.block_plan import Plan
from flows.intervals.block_points import BlockPoints
from flows.intervals.block_race import first_times, race
from flows.intervals.interval import Interval
from flows.intervals.points import Floats

PRIOR_WEIGHTS = 10.0
STEP = 0.02
STEPS_BELOW, STEPS_ABOVE, GROWTH = 60.0, 80.0, 0.02
NIGHTLY_STEP, NIGHTLY_STEPS = 0.2, 12.0
PART, NIGHTLY_PART = 128, 8
SURE = 1.5


def fixed(data, estimand, *, plan, max_weight, alpha):
    rows = data.counts.shape[0]
    blocks = plan.decisions.size
    if plan.checkpoints != (blocks,) or plan.rows[-1] != rows:
        raise ValueError(f"{rows} blocks for one look at {plan.checkpoints}")
    return _interval(data, estimand, plan, max_weight, alpha)


def anytime(data, estimand, *, plan, max_weight, alpha):
    return _interval(data, estimand, plan, max_weight, alpha)


def _interval(data, estimand, plan, max_weight, alpha):
    data.cells.require_weights_up_to(max_weight, signed=estimand.is_signed)
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha {alpha} lies outside (0, 1)")
    if not data.counts.shape[0]:
        raise ValueError("data holds no block")
    second = _second_moment(data, estimand, plan, max_weight)
    game = prepare(data, estimand, plan, max_weight=max_weight, alpha=alpha / 2.0, second_moment=second)
    below, above = _lower_ends(game)
    return Interval(below, estimand.reflected(above)).intersect(estimand.possible)


def _lower_ends(game: Game) -> list[float]:
    least = game.estimand.possible.lower
    ends = [least, least]
    grids, borders = [], []
    for i in range(2):
        grid = _means(game, i)
        grids.append(np.append(least, grid))
        border = _hardly_exceeded(game, i)
        borders.append(min(int(np.searchsorted(grid, border)) + 1, grid.size))
    at = [0, 0]
    open_ = [True, True]
    while any(open_):
        floors, means, sizes = [], [], []
        for i in range(2):
            low, high = at[i], borders[i]
            if not open_[i]:
                low = high = 0
            floors.append(grids[i][low:high]); means.append(grids[i][low + 1 : high + 1])
            sizes.append(high - low)
        found = race(game, np.concatenate(floors), np.concatenate(means), sizes)
        for i in range(2):
            if not open_[i]: continue
            if found[i] is not None:
                ends[i] = found[i]; open_[i] = False
            else:
                ends[i] = float(grids[i][borders[i]])
                at[i] = borders[i]
                part = NIGHTLY_PART if game.plan.is_nightly else PART
                borders[i] = min(at[i] + part, grids[i].size - 1)
                if at[i] == borders[i]: open_[i] = False
    return ends


def _hardly_exceeded(game: Game, i: int) -> float:
    end = game.ends[i]
    count = game.counts.sum(axis=0)
    total = max(float(count @ game.mass), 1e-9)
    if game.estimand.returned:
        control = min(max(float(count @ end.plain) / total, 0.0), 1.0)
    else:
        control = end.mean_reward
    found = end.plain + control * end.slope
    mean = float(count @ found) / total
    rest = found - mean * game.mass
    return mean - SURE * math.sqrt(float(count @ (rest * rest))) / total


def _means(game: Game, i: int) -> Floats:
    plan, end, estimand = game.plan, game.ends[i], game.estimand
    first = game.counts[: plan.rows[1]].sum(axis=0)
    decisions = max(float(first.sum()), 1.0)
    total = max(float(first @ game.mass), 1e-9)
    if estimand.returned:
        middle = float(first @ end.plain) / total
        variance = game.spread * max(middle, 1.0 / decisions)
        least = 1e-4
    else:
        observed = end.control
        middle = float(first @ (end.plain + observed * end.slope)) / total
        variance = game.spread * end.mean_reward * (1.0 - end.mean_reward)
        least = -0.999
    inverse = decisions * math.sqrt(game.pseudo / 200.0) / total if total>1e-6 else 1.
    if plan.is_nightly:
        times = first_times(plan)
        error = math.sqrt(variance / (times * decisions)) * inverse
        return _grid(middle, error, NIGHTLY_STEP, NIGHTLY_STEPS, NIGHTLY_STEPS, least=least)
    error = math.sqrt(variance / plan.horizon) * inverse
    return _grid(middle, error, STEP, STEPS_BELOW, STEPS_ABOVE, least=least)


def _grid(middle, error, coefficient, below_, above_, *, least: float) -> Floats:
    step = coefficient * error
    start = min(max(middle - below_ * error, least), 1.0)
    fine = np.arange(start, min(1.0, middle + above_ * error), step)
    below = start - _growing(step, start - least)
    above = start + step * fine.size + _growing(step, 1.0 - start - step * fine.size)
    return np.concatenate([below[::-1], fine, above])


def _growing(step: float, reach: float) -> Floats:
    if reach <= 0.0:
        return np.empty(0)
    steps = math.ceil(math.log1p(reach * GROWTH / step) / math.log1p(GROWTH))
    distances: Floats = np.expm1(np.arange(1, steps) * math.log1p(GROWTH))
    return np.append(distances * (step / GROWTH), reach)


def _second_moment(data: BlockPoints, estimand, plan: Plan, max_weight: float) -> float:
    if plan.second_moment is not None:
        return plan.second_moment - (1.0 if estimand.name == "improvement" else 0.0)
    first = data.counts[: plan.rows[1]].sum(axis=0)
    v = data.cells.sampling_weight
    vv = first * v * v
    weight = data.cells.weight
    total = float(vv @ (weight * weight)) + PRIOR_WEIGHTS * max_weight / 2.0
    found = total / (float(vv.sum()) + PRIOR_WEIGHTS)
    if estimand.is_signed: return found
    return max(found, 1.0) - (1.0 if estimand.name == "improvement" else 0.0)
