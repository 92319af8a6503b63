from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flows.intervals import Points
from flows.intervals.block_points import BlockPoints, in_blocks

CELLS = Points(
    np.array([-0.8, -0.8, 3.2, 3.2, -0.8, 3.2, 0.2, -4.2]),
    np.array([0.0, 1.0, 0.0, 1.0, 0.7, 0.7, 0.5, 0.7]),
    np.array([False] * 4 + [True, True, False, True]),
    np.array([True] * 6 + [False] * 2),
    np.arange(1.0, 9.0),
    np.linspace(0.3, 1.0, 8),
    np.array([0.0] * 7 + [1.0]),
    np.array([0.0] * 6 + [1.0, 0.0]),
)


def test_points_of_every_kind_stay_apart_in_blocks():
    twice = {
        field.name: np.tile(getattr(CELLS, field.name), 2)
        for field in dataclasses.fields(CELLS)
    }

    found = in_blocks(Points(**twice), np.repeat([0, 2], 8), blocks=3)

    back = np.argsort(found.cells.sampling_weight)
    assert found.counts[0, back].tolist() == found.counts[2, back].tolist()
    assert found.counts[0, back].tolist() == list(range(1, 9))
    assert not found.counts[1].any()
    assert (found.cells.weight[back] == CELLS.weight).all()
    assert (found.cells.is_supported[back] == CELLS.is_supported).all()
    assert (found.cells.other_unsupported[back] == CELLS.other_unsupported).all()
    assert (found.cells.reward[back][CELLS.is_reward_missing] == 0.0).all()


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
