"""What further nights would do to an interval: a projection, not a promise.

What nights to come can be expected to add, given those there are: as many decisions a
night as lately, spread over weights, rewards and missing decisions as all nights since
the start were. The method's own kernel is run again over both, with the blocks and
looks that were declared.

Weights so far have some mean that is not quite one, by luck. Those to come have mean
one where probabilities are true, so the expected counts are tilted linearly until they
do: with g = w + u - 1 (times the sampling weight), the share of a cell is multiplied by
1 - mean(g) (g - mean(g)) / var(g). Their value is then the estimate that uses the
weights as a control variate. Without the tilt, luck with the weights grows with the
log, and the two ends, which use weights differently, may even cross.

Bets that learn from block to block expect decisions to fall into blocks by chance; on
blocks that all hold the same they do worse (widths 1.3 times the real ones). So what is
expected in all is dealt to the blocks to come at random, a few times with seeds that
never change, and the median is taken. From 2,000 decisions to 20,000 (6,000 with a
horizon) mean widths were then 1.05 (mixture), 1.00 (by night), 1.06 (fixed), 1.08
(anytime, horizon) and 1.10 (anytime, open) times the real ones: weights 4.5 and .125,
mean rewards .5 and .3, 16 logs each.

The luck of the estimate itself is left out: real nights may take fewer or more. And
further nights take away what is left to chance, never what missing decisions leave
open.

Source: intervals.md, section 7 (scaling the counts); intervals-next.md, section 4
(planned sizes affect width, never validity). Tilt and dealing are derived here.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flows.intervals import (
    ESTIMANDS,
    Estimand,
    Interval,
    block_plan,
    identified,
    mixture,
    night_mixture,
)
from flows.intervals.block_points import BlockPoints
from flows.intervals.blocks import anytime, fixed
from flows.intervals.points import Floats
from flows.offpolicy.cells import Cells
from flows.offpolicy.corners import in_blocks
from flows.offpolicy.methods import Design, Window, looks

Positions = NDArray[np.int64]
# Ten years.
MOST_NIGHTS = 3_650
# How often what is expected is dealt to blocks.
DEALS = 3


@dataclass(frozen=True, slots=True)
class Present:
    """Where a candidate stands.

    cells: all decisions of the window, which began at its start.
    alpha: total error in (0, 1).
    pace: decisions a night, positive.
    """

    cells: Cells
    window: Window
    design: Design
    alpha: float
    pace: float


@dataclass(frozen=True, slots=True)
class Projected:
    """What is expected after some nights, in the unit of the reward.

    left_open: the identified range; its middle is the estimate.
    """

    ends: Interval
    left_open: Interval

    @property
    def estimate(self) -> float:
        """The middle of what missing decisions leave open."""
        return (self.left_open.lower + self.left_open.upper) / 2.0


# What is expected after so many more nights.
Future = Callable[[int], Projected]


@dataclass(frozen=True, slots=True)
class _Kernel:
    """How a method sees nights.

    data: the rows of counts that there are.
    night: what one more night adds to each cell, shape (cells,).
    grown: the rows after so many more nights, dealt so many times before.
    ends: the interval of such rows after so many more nights.
    deals: how often rows are dealt.
    """

    data: BlockPoints
    night: Floats
    grown: Callable[[int, int], Floats]
    ends: Callable[[BlockPoints, int], Interval]
    deals: int = 1


def project(present: Present, estimand: str) -> Future:
    """What is expected of value or improvement after any number of further nights.

    Raises: ValueError for `compat`, which has other counts.
    """
    grid, asked = present.cells.grid, ESTIMANDS[estimand]
    kernel = _kernel(present, asked)
    slack = grid.reward_slack if present.cells.is_logging else grid.slack
    origin = grid.lowest if estimand == "value" else 0.0

    def in_unit(ends: Interval) -> Interval:
        return Interval(*(origin + grid.span * end for end in (ends.lower, ends.upper)))

    def after(nights: int) -> Projected:
        deals = range(kernel.deals if nights else 1)
        found = [
            kernel.ends(BlockPoints(kernel.data.cells, kernel.grown(nights, n)), nights)
            for n in deals
        ]
        ends = Interval(
            statistics.median(one.lower for one in found) - slack,
            statistics.median(one.upper for one in found) + slack,
        )
        total = kernel.data.counts.sum(axis=0) + nights * kernel.night
        left_open = identified(replace(kernel.data.cells, count=total), asked)
        return Projected(in_unit(ends.intersect(asked.possible)), in_unit(left_open))

    return after


def nights_ahead(present: Present) -> int:
    """How many more nights are looked at: to the last declared look, or ten years."""
    if present.design.used != "anytime":
        return MOST_NIGHTS
    _, row = looks(present.cells, present.design, present.window)
    return min(MOST_NIGHTS, max(len(row) - present.window.nights, 0))


def nights_until(has_passed: Callable[[int], bool], most: int) -> int | None:
    """After how many more nights, from 1 to `most`, something has passed; or None.

    What has passed once is taken to stay so: nights double until it has, then the last
    step is halved.
    """
    before, nights = 0, min(1, most)
    while nights and not has_passed(nights):
        if nights == most:
            return None
        before, nights = nights, min(2 * nights, most)
    while nights - before > 1:
        middle = (before + nights) // 2
        if has_passed(middle):
            nights = middle
        else:
            before = middle
    return nights or None


def _kernel(present: Present, estimand: Estimand) -> _Kernel:
    """The method's own kernel, rewards scaled to [0, 1]."""
    design = present.design
    if design.is_by_night:
        return _by_night(present, estimand)
    kernels = {
        "mixture": _by_mixture,
        "fixed": _by_hash_blocks,
        "anytime": _by_checkpoints,
    }
    if design.used not in kernels:
        raise ValueError(f"the counts of {design.used} are not those of other methods")
    return kernels[design.used](present, estimand)


def _by_mixture(present: Present, estimand: Estimand) -> _Kernel:
    cells, alpha = present.cells, present.alpha
    data = in_blocks(cells, np.zeros_like(cells.block), blocks=1)
    night = _expected(data, present)

    def ends(rows: BlockPoints, _: int) -> Interval:
        every, bound = replace(rows.cells, count=rows.counts[0]), cells.max_weight
        return mixture.interval(every, estimand, max_weight=bound, alpha=alpha)

    return _Kernel(data, night, lambda nights, _: data.counts + nights * night, ends)


def _by_night(present: Present, estimand: Estimand) -> _Kernel:
    cells, window, alpha = present.cells, present.window, present.alpha
    data = in_blocks(cells, cells.day - window.first, blocks=window.nights)
    night = _expected(data, present)

    def grown(nights: int, _: int) -> Floats:
        return np.concatenate([data.counts, np.tile(night, (nights, 1))])

    def ends(rows: BlockPoints, _: int) -> Interval:
        bound = cells.max_weight
        return night_mixture.interval(rows, estimand, max_weight=bound, alpha=alpha)

    return _Kernel(data, night, grown, ends)


def _by_hash_blocks(present: Present, estimand: Estimand) -> _Kernel:
    cells, alpha = present.cells, present.alpha
    shares = block_plan.fixed_plan(1.0).decisions
    data = in_blocks(cells, cells.block, blocks=shares.size)
    night = _expected(data, present)

    def grown(nights: int, deal: int) -> Floats:
        return data.counts + _dealt(nights * night, shares, deal)

    def ends(rows: BlockPoints, nights: int) -> Interval:
        plan = block_plan.fixed_plan(cells.decisions + nights * present.pace)
        bound = cells.max_weight
        return fixed(rows, estimand, plan=plan, max_weight=bound, alpha=alpha)

    return _Kernel(data, night, grown, ends, DEALS)


def _by_checkpoints(present: Present, estimand: Estimand) -> _Kernel:
    """One row more than the plan has holds what came after its last look."""
    cells, window, alpha = present.cells, present.window, present.alpha
    plan, row = looks(cells, present.design, window)
    beyond = int(row.max()) + 1
    number = cells.day - window.first
    rows = np.full(number.shape, beyond)
    inside = number < len(row)
    rows[inside] = row[number[inside], cells.block[inside]]
    data = in_blocks(cells, rows, blocks=beyond + 1)
    night = _expected(data, present)

    def grown(nights: int, deal: int) -> Floats:
        coming = row[window.nights : window.nights + nights]
        parts = np.bincount(coming.ravel(), minlength=beyond + 1)
        return data.counts + _dealt(len(coming) * night, parts, deal)

    def ends(rows: BlockPoints, nights: int) -> Interval:
        seen = int(row[: window.nights + nights].max()) + 1
        kept, bound = replace(rows, counts=rows.counts[:seen]), cells.max_weight
        return anytime(kept, estimand, plan=plan, max_weight=bound, alpha=alpha)

    return _Kernel(data, night, grown, ends, DEALS)


def _expected(data: BlockPoints, present: Present) -> Floats:
    """What one more night adds to each cell: shape (cells,)."""
    share = data.counts.sum(axis=0) / data.counts.sum()
    cells = data.cells
    excess = cells.sampling_weight * (cells.weight + cells.own_unsupported - 1.0)
    mean = float(share @ excess)
    variance = float(share @ (excess - mean) ** 2)
    if variance > 0.0:
        tilt = 1.0 - mean * (excess - mean) / variance
        share = share * np.maximum(tilt, 0.0)
    expected: Floats = share * (present.pace / share.sum())
    return expected


def _dealt(expected: Floats, parts: Floats | Positions, deal: int) -> Floats:
    """Expected counts of all that comes, dealt to rows by their parts.

    expected: shape (cells,); parts: shape (rows,), not negative.
    Returns: shape (rows, cells), whole numbers; rounded so that any neighbouring cells
        together are off by less than 2.
    """
    if not parts.any():
        return np.zeros((parts.size, expected.size))
    rng = np.random.default_rng(deal)
    ends = np.floor(np.cumsum(expected) + rng.random()).astype(np.int64)
    dealt = rng.multinomial(np.diff(ends, prepend=0), parts / parts.sum())
    return dealt.T.astype(np.float64)
