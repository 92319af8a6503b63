"""Value, improvement and difference by betting block after block: `fixed`, `anytime`.

`fixed` looks once, at all blocks of one data set or window; `anytime` looks after every
night, at the nights so far. Both are one kernel under the plans of `block_plan`; scores
and the reflection that gives the upper ends are those of `estimands`, wealth and bets
are described in `block_bets`, what is bet against in `block_race`.

An end comes from a scan. Candidate means start from a grid that depends on the plan and
on block 0, which is never bet on. In ascending order, the last mean before the first
one that is not rejected is returned (the least possible one when there is none). If the
truth lies below that end, the smallest grid point at or above the truth was rejected,
or, in a plan of nights, the truth itself: this has probability at most alpha / 2.
Whether rejection is monotone in the mean, which is not proven, does not matter.

A mean once rejected stays rejected, so with more nights the ends never move outward as
long as the earlier ones are the same.

Where the plan leaves the mean squared weight open, block 0 decides: its sum of squared
weights and ten pseudo decisions of B / 2 each. Against the true number this cost at
most 2 % of width; B in its place 2 to 10 % with 500 decisions, at most 3 % from 2,000
on (floor .05, mean reward .05 and .5, 60 logs each).

The guarantee assumes true logged probabilities, decisions whose conditional mean is
constant, and a hash that takes no part in the decisions; blocks of nights need a
logging policy that does not react within the night, those of a window or a data set one
that does not react in all of it (validity.md 5c and 5e).

Source: intervals-next.md, sections 4, 7 and 8; validity.md 5a to 5f.
"""

from __future__ import annotations

import numpy as np

from flows.intervals.block_game import Game, prepare
from flows.intervals.block_grid import hardly_exceeded, means
from flows.intervals.block_plan import Plan
from flows.intervals.block_points import BlockPoints
from flows.intervals.block_race import Ranges, race
from flows.intervals.estimands import Estimand
from flows.intervals.interval import Interval
from flows.intervals.points import Floats

# How many means are raced at once after the first part.
PART, NIGHTLY_PART = 128, 8
BORDER_ERRORS = 1.5


def fixed(
    data: BlockPoints,
    estimand: Estimand,
    *,
    plan: Plan,
    max_weight: float,
    alpha: float,
) -> Interval:
    """Interval that is true at the one look which the plan ends with.

    data: every row of the plan, rewards scaled to [0, 1], weights at most max_weight
        (of a difference: from -max_weight to max_weight).
    estimand: what is bounded; unsupported masses of a difference are 0 or 1.
    plan: see `fixed_plan` and `window_plan`; its one checkpoint ends its last block.
    max_weight: 1 / floor, at least 1.
    alpha: total error in (0, 1), half at each end.

    Returns:
        The interval; empty when the weights contradict the logged probabilities.

    Raises:
        ValueError: data holds other rows than the plan, the plan has other checkpoints,
            or max_weight, alpha or a weight is out of its range.
    """
    rows = data.counts.shape[0]
    if plan.checkpoints != (plan.decisions.size,) or plan.rows[-1] != rows:
        raise ValueError(f"{rows} rows for one look at {plan.checkpoints}")
    return anytime(data, estimand, plan=plan, max_weight=max_weight, alpha=alpha)


def anytime(
    data: BlockPoints,
    estimand: Estimand,
    *,
    plan: Plan,
    max_weight: float,
    alpha: float,
) -> Interval:
    """Interval that is true at every look at once, however many rows there are.

    data: the rows so far, in the order of the plan, complete ones; those after the last
        checkpoint are not used.
    plan: see `nightly_plan`.

    Other arguments, result and errors are those of `fixed`, and one row is enough.
    """
    data.cells.require_weights_up_to(max_weight, signed=estimand.is_signed)
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha {alpha} lies outside (0, 1)")
    if not data.counts.shape[0]:
        raise ValueError("data holds no row")
    game = prepare(data, estimand, plan, max_weight=max_weight, alpha=alpha / 2.0)
    below, above = _lower_ends(game)
    return Interval(below, estimand.reflected(above)).intersect(estimand.possible)


def _lower_ends(game: Game) -> tuple[float, float]:
    """The mean up to which all are rejected, of either end."""
    least = game.estimand.possible.lower
    grids = [np.append(least, means(game, end)) for end in (0, 1)]
    size = NIGHTLY_PART if game.plan.is_nightly else PART
    racing, ends = {}, [least, least]
    for end, grid in enumerate(grids):
        border = hardly_exceeded(game, end, BORDER_ERRORS)
        last = int(np.searchsorted(grid, border))
        racing[end] = slice(0, min(max(last, 1), grid.size - 1))
    while racing:
        found = race(game, _ranges(grids, racing))
        for end, part in list(racing.items()):
            ends[end] = found.get(end, float(grids[end][part.stop]))
            racing[end] = slice(part.stop, min(part.stop + size, grids[end].size - 1))
            if end in found or part.stop == racing[end].stop:
                del racing[end]
    return ends[0], ends[1]


def _ranges(grids: list[Floats], racing: dict[int, slice]) -> Ranges:
    """The ranges between neighbouring means of a grid."""
    floors = [grids[end][part] for end, part in racing.items()]
    tops = [grids[end][part.start + 1 : part.stop + 1] for end, part in racing.items()]
    owner = np.repeat(list(racing), [top.size for top in tops])
    floor = np.concatenate(floors)
    return Ranges(floor, np.concatenate(tops), floor, owner)
