"""Which means a block bettor races against: where they lie before the start.

They depend on the plan and on block 0, which is never bet on. One look at a data set
takes the grid of the reference that the golden numbers come from, in steps of .02
planned standard errors. A plan of nights starts with ranges that are fit for its first
blocks and are split later (`block_race`). That one has ten means below its fine part
and none above; ours go on in growing steps: block 0 may be small.

Source: intervals-next.md, section 8; validity.md 5a.
"""

from __future__ import annotations

import math

import numpy as np

from flows.intervals.block_game import Game
from flows.intervals.block_race import splits
from flows.intervals.points import Floats

# Of the grid of one look, in planned standard errors; outside it steps grow.
STEP, BELOW, ABOVE = 0.02, 60.0, 80.0
# Of the first ranges of a plan of nights, which are split later.
FIRST_STEP, FIRST_BELOW, FIRST_ABOVE = 0.03, 10.0, 10.0
GROWTH = 0.02
LEAST_VALUE, LEAST_OTHER = 1e-4, -0.999


def means(game: Game, end: int) -> Floats:
    """Ascending means from the least one to 1, finest around that of block 0."""
    first = game.counts[: game.plan.rows[1]].sum(axis=0)
    decisions = max(float(first.sum()), 1.0)
    mass = float(first @ game.mass) or 1.0
    control = 0.0 if game.is_scaled else float(game.first_rewards[end])
    middle = float(first @ (game.plain[end] + control * game.slope[end])) / mass
    if game.is_scaled:
        reward = max(middle, 1.0 / decisions)
    else:
        planned = float(game.planned_rewards[end])
        reward = planned * (1.0 - planned)
    # Of v (score - m), over the mean of v.
    square = float(first @ (game.mass * game.mass)) or 1.0
    deviation = math.sqrt(game.spread * reward * square * decisions) / mass
    least = LEAST_VALUE if game.is_scaled else LEAST_OTHER
    if game.plan.is_nightly:
        error = deviation / math.sqrt(decisions * splits(game)[0])
        sides = (FIRST_STEP, FIRST_BELOW, FIRST_ABOVE)
    else:
        error = deviation / math.sqrt(game.plan.horizon)
        sides = (STEP, BELOW, ABOVE)
    return _grid(middle, error, sides, least)


def _grid(
    middle: float, error: float, sides: tuple[float, float, float], least: float
) -> Floats:
    """Means in even steps around the middle and in growing ones beyond."""
    step = sides[0] * error
    start = min(max(middle - sides[1] * error, least), 1.0)
    fine = np.arange(start, min(1.0, middle + sides[2] * error), step)
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


def hardly_exceeded(game: Game, end: int, errors: float) -> float:
    """So many standard errors below the estimate over all blocks.

    Only how the means are cut into parts depends on it, never the end.
    """
    count = game.counts.sum(axis=0)
    mass = max(float(count @ game.mass), 1.0)
    control = float(game.planned_rewards[end])
    if game.is_scaled:
        control = min(max(float(count @ game.plain[end]) / mass, 0.0), 1.0)
    found = game.plain[end] + control * game.slope[end]
    mean = float(count @ found) / mass
    rest = found - mean * game.mass
    return mean - errors * math.sqrt(float(count @ (rest * rest))) / mass
