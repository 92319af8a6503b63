from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from flows.intervals.block_plan import (
    FIXED_BLOCKS,
    FIXED_CUTS,
    Plan,
    block_of,
    fixed_plan,
    nightly_plan,
    window_plan,
)
from flows.intervals.normal_tail import hazard


def plan(**changes):
    declared = {
        "decisions": np.full(4, 10.0),
        "checkpoints": (2, 4),
        "shares": (0.5, 0.5),
    }
    return Plan(**(declared | changes))


def test_positions_are_cut_into_79_blocks_none_of_them_empty():
    assert FIXED_CUTS[0] == 0
    assert FIXED_CUTS[-1] == FIXED_BLOCKS.size == 65_536
    assert (np.diff(FIXED_CUTS) > 0).all()
    assert set(FIXED_BLOCKS) == set(range(79))


def test_a_block_starts_at_its_cut():
    position = np.array([0, FIXED_CUTS[1] - 1, FIXED_CUTS[1], 65_535], dtype=np.uint64)
    lowest, highest = position << np.uint64(48), ((position + 1) << np.uint64(48)) - 1

    assert block_of(lowest).tolist() == [0, 0, 1, 78]
    assert block_of(highest).tolist() == [0, 0, 1, 78]


def test_a_plan_of_one_data_set_adds_up_to_it():
    made = fixed_plan(20_000)

    assert made.decisions.sum() == pytest.approx(20_000)
    assert made.decisions[:2] == pytest.approx([200, 1_980], rel=2e-3)
    assert (made.checkpoints, made.shares) == ((79,), (1.0,))


def nights_at_checkpoints(plan, row):
    """How many nights are complete at each checkpoint."""
    last = row.max(axis=1)
    return [int((last < plan.rows[c]).sum()) for c in plan.checkpoints]


@pytest.mark.parametrize(
    ("nights", "checkpoints", "shares"),
    [
        (28, [7, 14, 21, 28], (0.15, 0.2, 0.2, 0.45)),
        (6, [2, 3, 5, 6], (0.15, 0.2, 0.2, 0.45)),
        (2, [1, 2], (0.35, 0.65)),
        (1, [1], (1.0,)),
    ],
)
def test_a_declared_horizon_is_looked_at_by_quarters(nights, checkpoints, shares):
    made, row = nightly_plan(800, horizon_nights=nights)

    assert nights_at_checkpoints(made, row) == checkpoints
    assert made.shares == pytest.approx(shares)
    assert made.horizon == pytest.approx(800 * nights)
    assert row.shape == (nights, 8)


def test_without_a_horizon_checkpoints_double_for_ten_years():
    made, row = nightly_plan(800)

    found = nights_at_checkpoints(made, row)
    assert found[:8] == [1, 2, 4, 7, 14, 28, 56, 112]
    assert found[8:] == [112 * 2**i for i in range(1, 6)]
    assert math.fsum(made.shares) == pytest.approx(1)
    assert made.horizon == pytest.approx(3_584 * 800)


@pytest.mark.parametrize("horizon", [1, 2, 28, 365, None])
@pytest.mark.parametrize("sub_blocks", [2, 8])
def test_rows_stand_in_order_of_time_and_never_hold_parts_of_two_nights(
    horizon, sub_blocks
):
    made, row = nightly_plan(100, horizon_nights=horizon, sub_blocks=sub_blocks)

    assert (np.diff(row.ravel()) >= 0).all()
    assert (row[1:, 0] > row[:-1, -1]).all()
    assert set(row.ravel()) == set(range(made.rows[-1]))


def test_the_more_is_left_the_larger_are_the_blocks():
    declared, _ = nightly_plan(8, horizon_nights=28)
    open_ended, row = nightly_plan(8)
    after_400 = np.searchsorted(open_ended.rows, row[399].max())

    assert declared.decisions[:6].tolist() == [1, 1, 2, 4, 8, 8]
    assert declared.decisions[-5:].tolist() == [1, 1, 1, 1, 1]
    assert declared.blocks == 75
    assert after_400 < 180


@pytest.mark.parametrize(
    ("nights", "blocks"), [(1, 8), (7, 33), (28, 48), (400, 60), (1_000, 58)]
)
def test_a_window_of_any_length_has_about_as_many_blocks(nights, blocks):
    made, row = window_plan(1_000, nights=nights)

    assert made.blocks == made.rows[-1] == blocks
    assert made.checkpoints == (blocks,)
    assert made.decisions.sum() == pytest.approx(1_000)
    units = np.bincount(row.ravel())
    assert made.decisions == pytest.approx(units * 1_000 / (8 * nights))
    assert units[0] == max(round(0.08 * nights), 1)


def test_the_blocks_of_a_window_take_from_all_of_its_nights():
    _, row = window_plan(1_000, nights=28)

    weekday = np.repeat(np.arange(28) % 7, 8).reshape(row.shape)
    last = [set(weekday[row == block]) for block in range(row.max() - 6, row.max() + 1)]
    assert len(set().union(*last)) > 3
    assert row[:, 0].max() <= 4
    assert row[:, 7].min() > row[:, 0].max()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decisions": np.array([10.0, 0, 10, 10])}, "positive"),
        ({"decisions": np.full((2, 2), 10.0)}, "positive"),
        ({"shares": (1.0,)}, "1 shares for 2 checkpoints"),
        ({"checkpoints": (), "shares": ()}, "0 shares for 0 checkpoints"),
        ({"checkpoints": (4, 2)}, "ascend"),
        ({"checkpoints": (0, 2)}, "ascend"),
        ({"checkpoints": (2, 5)}, "last checkpoint 5 of 4"),
        ({"checkpoints": (1,), "shares": (1.0,)}, "last checkpoint 1"),
        ({"shares": (0.6, 0.5)}, "parts of 1"),
        ({"shares": (1.0, 0.0)}, "parts of 1"),
        ({"second_moment": 0.5}, "second_moment"),
        ({"rows": np.arange(4)}, "row of its own"),
        ({"rows": np.array([0, 1, 1, 2, 3])}, "row of its own"),
    ],
)
def test_a_plan_that_promises_too_much_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        plan(**changes)


def test_a_horizon_without_nights_is_refused():
    with pytest.raises(ValueError, match="horizon of 0 nights"):
        nightly_plan(100, horizon_nights=0)


def test_the_hazard_agrees_with_the_normal_distribution():
    normal = NormalDist()
    t = np.linspace(0.01, math.sqrt(160), 999)
    odds = np.exp(-t * t / 2)

    expected = [normal.pdf(normal.inv_cdf(p)) / p for p in odds]

    assert hazard(t) == pytest.approx(expected, rel=1e-9, abs=2e-7)
    assert hazard(np.zeros(1))[0] == 0.0
