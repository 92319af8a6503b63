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


@pytest.mark.parametrize(
    ("nights", "checkpoints", "shares"),
    [
        (28, (56, 112, 168, 224), (0.15, 0.2, 0.2, 0.45)),
        (6, (16, 24, 40, 48), (0.15, 0.2, 0.2, 0.45)),
        (2, (8, 16), (0.35, 0.65)),
        (1, (8,), (1.0,)),
    ],
)
def test_a_declared_horizon_is_looked_at_by_quarters(nights, checkpoints, shares):
    made = nightly_plan(800, horizon_nights=nights)

    assert made.checkpoints == checkpoints
    assert made.shares == pytest.approx(shares)
    assert made.decisions == pytest.approx(np.full(8 * nights, 100.0))


def test_without_a_horizon_checkpoints_double():
    made = nightly_plan(800, sub_blocks=1)

    assert made.checkpoints == (1, 2, 4, 7, 14, 28, 56, 112)
    assert math.fsum(made.shares) == pytest.approx(1)
    assert made.horizon == pytest.approx(112 * 800)


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
