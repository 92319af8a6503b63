from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flows.intervals import Interval, Points
from flows.intervals.block_plan import Plan, fixed_plan, nightly_plan
from flows.intervals.block_points import BlockPoints, in_blocks
from flows.intervals.blocks import anytime, fixed

BOUND = 8.0
OPTIONS = {"max_weight": BOUND, "alpha": 0.05}
ESTIMANDS = ("value", "improvement")
POSSIBLE = {"value": Interval(0.0, 1.0), "improvement": Interval(-1.0, 1.0)}


def make_cells(*rows):
    """Cells of weight, reward (None is missing) and is_supported."""
    weight, reward, supported = zip(*rows, strict=True)
    return Points(
        np.array(weight, dtype=float),
        np.array([0.0 if r is None else r for r in reward], dtype=float),
        np.array([r is None for r in reward]),
        np.array(supported),
        np.zeros(len(rows)),
    )


CELLS = make_cells(
    (0.2, 0.0, True),
    (0.2, 1.0, True),
    (4.2, 0.0, True),
    (4.2, 1.0, True),
    (0.2, None, True),
    (4.2, None, True),
    (0.2, 0.5, False),
    (4.2, None, False),
)
COMPLETE = [0.4, 0.4, 0.05, 0.15, 0, 0, 0, 0]
GAPPY = [0.3, 0.3, 0.05, 0.1, 0.1, 0.05, 0.05, 0.05]


def draw(sizes, law=COMPLETE, seed=1):
    counts = np.random.default_rng(seed).multinomial(np.rint(sizes).astype(int), law)
    return BlockPoints(CELLS, counts.astype(float))


def nights(law=COMPLETE, seed=1):
    plan = nightly_plan(400, horizon_nights=4)
    return draw(plan.decisions, law, seed), plan


def until(data, blocks):
    return BlockPoints(data.cells, data.counts[:blocks])


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_more_decisions_narrow_the_interval(estimand):
    widths = [
        fixed(
            draw(fixed_plan(n).decisions), estimand, plan=fixed_plan(n), **OPTIONS
        ).width
        for n in (500, 5_000, 50_000)
    ]

    assert widths[0] > 2 * widths[1] > 4 * widths[2] > 0


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_ends_are_the_same_bits_in_any_order_of_the_rows(estimand):
    data, plan = nights(GAPPY)
    block, cell = np.nonzero(data.counts)
    halves = np.tile(data.counts[block, cell] / 2, 2)
    block, cell = np.tile(block, 2), np.tile(cell, 2)
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(cell.size)
        rows = dataclasses.replace(
            CELLS,
            **{
                field.name: getattr(CELLS, field.name)[cell[order]]
                for field in dataclasses.fields(CELLS)
            },
        )
        rows = dataclasses.replace(rows, count=halves[order])
        gathered = in_blocks(rows, block[order], blocks=data.counts.shape[0])
        found.append(anytime(gathered, estimand, plan=plan, **OPTIONS))

    assert found[0] == found[1] == found[2]
    assert found[0] == anytime(data, estimand, plan=plan, **OPTIONS)


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_the_upper_end_is_the_lower_one_of_turned_rewards(estimand):
    data, plan = nights(GAPPY)
    turned = BlockPoints(
        dataclasses.replace(CELLS, reward=1.0 - CELLS.reward), data.counts
    )

    found = anytime(data, estimand, plan=plan, **OPTIONS)
    other = anytime(turned, estimand, plan=plan, **OPTIONS)

    whole = 1.0 if estimand == "value" else 0.0
    assert found.lower == pytest.approx(whole - other.upper, abs=1e-12)
    assert found.upper == pytest.approx(whole - other.lower, abs=1e-12)


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("alpha", [0.2, 0.01])
def test_less_error_never_narrows(estimand, alpha):
    data, plan = nights()

    found = anytime(data, estimand, plan=plan, max_weight=BOUND, alpha=alpha)
    usual = anytime(data, estimand, plan=plan, **OPTIONS)

    assert (found.width < usual.width) == (alpha > 0.05)


def test_a_missing_reward_is_the_worst_one_at_each_end():
    data, plan = nights(GAPPY)
    low = dataclasses.replace(CELLS, is_reward_missing=np.zeros(8, dtype=bool))
    low = dataclasses.replace(
        low, reward=np.where(CELLS.is_reward_missing, 0, low.reward)
    )
    high = dataclasses.replace(
        low, reward=np.where(CELLS.is_reward_missing, 1, low.reward)
    )

    found = anytime(data, "value", plan=plan, **OPTIONS)

    worst = anytime(BlockPoints(low, data.counts), "value", plan=plan, **OPTIONS)
    best = anytime(BlockPoints(high, data.counts), "value", plan=plan, **OPTIONS)
    assert (found.lower, found.upper) == (worst.lower, best.upper)


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_nothing_is_concluded_from_nothing(estimand):
    data, plan = nights()
    only_first = BlockPoints(CELLS, data.counts * (np.arange(32) == 0)[:, None])
    no_rewards = draw(plan.decisions, [0, 0, 0, 0, 0.8, 0.2, 0, 0])

    for empty in (until(data, 1), only_first, BlockPoints(CELLS, 0 * data.counts)):
        found = anytime(empty, estimand, plan=plan, **OPTIONS)
        assert found == POSSIBLE[estimand]
    assert anytime(no_rewards, "value", plan=plan, **OPTIONS) == Interval(0.0, 1.0)


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_another_night_never_moves_an_end_outward(estimand):
    data, plan = nights()

    found = [
        anytime(until(data, 8 * count), estimand, plan=plan, **OPTIONS)
        for count in range(1, 5)
    ]

    lower, upper = zip(*((i.lower, i.upper) for i in found), strict=True)
    assert list(lower) == sorted(lower)
    assert list(upper) == sorted(upper, reverse=True)
    assert found[3].width < found[1].width < POSSIBLE[estimand].width


def test_nights_after_the_last_checkpoint_change_nothing():
    data, plan = nights()
    longer = BlockPoints(CELLS, np.vstack([data.counts, data.counts]))

    assert anytime(longer, "value", plan=plan, **OPTIONS) == (
        anytime(data, "value", plan=plan, **OPTIONS)
    )


def test_weights_that_contradict_the_log_leave_an_empty_interval():
    plan = fixed_plan(20_000)
    too_large = draw(plan.decisions, [0, 0, 0.5, 0.5, 0, 0, 0, 0])

    assert fixed(too_large, "value", plan=plan, **OPTIONS).is_empty


def test_a_declared_second_moment_only_changes_the_width():
    data = draw(fixed_plan(5_000).decisions)
    found = [
        fixed(data, "value", plan=fixed_plan(5_000, second_moment=moment), **OPTIONS)
        for moment in (1.5, 3.6, 8.0)
    ]

    assert all(i.lower < 0.71 < i.upper for i in found)
    assert max(i.width for i in found) < 1.05 * min(i.width for i in found)


@pytest.mark.parametrize("max_weight", [1.0, 1.5])
def test_a_small_largest_weight_is_no_special_case(max_weight):
    cells = make_cells((0.5, 0, False), (0.5, 1, False), (1, 0, True), (1, 1, True))
    plan = fixed_plan(4_000)
    counts = np.outer(np.rint(plan.decisions), [1, 1, 5, 5])

    found = fixed(
        BlockPoints(cells, counts),
        "improvement",
        plan=plan,
        max_weight=max_weight,
        alpha=0.05,
    )

    assert -0.1 < found.lower < -0.5 / 12 < 0.5 / 12 < found.upper < 0.1


@pytest.mark.parametrize(
    ("method", "plan", "changes", "message"),
    [
        (fixed, nightly_plan(10, horizon_nights=4), {}, "79 blocks for one look"),
        (fixed, Plan(np.ones(80), (80,), (1.0,)), {}, "79 blocks for one look"),
        (fixed, Plan(np.ones(79), (70,), (1.0,)), {}, "79 blocks for one look"),
        (fixed, fixed_plan(100), {"alpha": 1.0}, "alpha 1.0 lies outside"),
        (anytime, fixed_plan(100), {"alpha": 0.0}, "alpha 0.0 lies outside"),
        (anytime, fixed_plan(100), {"max_weight": 4.0}, "exceeds max_weight 4.0"),
        (anytime, fixed_plan(100), {"estimand": "sum"}, "'sum' is neither"),
        (anytime, fixed_plan(100), {"data": until(draw([5]), 0)}, "no block"),
    ],
)
def test_arguments_out_of_range_are_refused(method, plan, changes, message):
    arguments = {"data": draw(fixed_plan(100).decisions), "estimand": "value"}

    with pytest.raises(ValueError, match=message):
        method(plan=plan, **(arguments | OPTIONS | changes))


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.ones(8), "counts"),
        (np.ones((2, 7)), "counts"),
        (np.full((2, 8), -1.0), "negative"),
        (np.full((2, 8), np.nan), "not finite"),
    ],
)
def test_counts_that_are_no_counts_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        BlockPoints(CELLS, counts)


@pytest.mark.parametrize("block", [np.zeros(7, int), np.full(8, 3), np.full(8, -1)])
def test_rows_outside_the_blocks_are_refused(block):
    with pytest.raises(ValueError, match="block"):
        in_blocks(CELLS, block, blocks=3)
