"""Corners of the mass split: what they keep, and where unsupported mass goes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from flows.offpolicy.cells import Cells
from flows.offpolicy.corners import in_blocks, points
from flows.offpolicy.evidence import SCHEMA, merge
from flows.offpolicy.grid import UNIT, Grid

GRID = Grid(0.1, 0.0, 1.0)
KEYS = {"candidate": "a", "segment_by": "", "segment": "", "sample_probability": 1.0}


def counted(rng, *, pair=False, rows=30):
    """Evidence of single decisions of random positions in random cells."""
    low = -256 if pair else 0
    made = []
    for _ in range(rows):
        a, b = rng.integers(0, UNIT, 2)
        made.append(
            {
                **KEYS,
                "other": "b" if pair else "",
                "block": int(rng.integers(0, 3)),
                "kind": 2,
                "weight_cell": int(rng.integers(low, 256)),
                "reward_cell": int(rng.integers(0, 128)),
                "decisions": 1,
                "weight_part": int(a),
                "reward_part": int(b),
                "product_part": int(a * b) // UNIT,
                "weight_square_part": int(a * a) // UNIT,
                "unsupported_part": int(rng.integers(0, UNIT)),
                "other_unsupported_part": int(rng.integers(0, UNIT)) if pair else 0,
                "largest_weight_part": int(a),
            }
        )
    return merge(pl.DataFrame(made, schema=SCHEMA))


@pytest.mark.parametrize("pair", [False, True], ids=["single", "pair"])
def test_means_are_kept(pair):
    evidence = counted(np.random.default_rng(1), pair=pair)
    cells = Cells.of(evidence, GRID)
    found = points(cells)
    low = GRID.weight_at(cells.weight_cell)
    step = GRID.weight_at(cells.weight_cell + 1) - low
    weight = low + step * cells.sums["weight_part"] / UNIT
    reward = (cells.reward_cell + cells.sums["reward_part"] / UNIT) / 128
    assert found.decisions == pytest.approx(30)
    assert found.count @ found.weight == pytest.approx(weight.sum())
    assert found.count @ found.reward == pytest.approx(reward.sum())
    assert found.count @ (found.weight * found.reward) == pytest.approx(
        weight @ reward, abs=1e-4
    )
    for name in ("own", "other"):
        sums = "unsupported_part" if name == "own" else "other_unsupported_part"
        assert found.count @ getattr(found, f"{name}_unsupported") == pytest.approx(
            cells.sums[sums].sum() / UNIT
        )


def test_blocks_add_up_to_the_points():
    cells = Cells.of(counted(np.random.default_rng(2)), GRID)
    found = in_blocks(cells, cells.block, blocks=3)
    assert np.array_equal(found.counts.sum(axis=0), points(cells).count)
    assert found.counts.sum(axis=1) == pytest.approx(np.bincount(cells.block))


def test_unsupported_mass_lies_where_it_lowers_wealth_most():
    """Every other way to deal a row's mass to its corners leaves a bet richer."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        evidence = counted(rng, pair=True, rows=1)
        cells = Cells.of(evidence, GRID)
        found = points(cells)
        scores = found.weight * found.reward - found.other_unsupported
        bet = 0.04
        wealth = found.count @ np.log1p(bet * scores)
        mass = points(
            Cells.of(
                evidence.with_columns(unsupported_part=0, other_unsupported_part=0),
                GRID,
            )
        )
        share = cells.sums["other_unsupported_part"][0] / UNIT
        stake = mass.weight * mass.reward
        evenly = mass.count @ (
            (1 - share) * np.log1p(bet * stake) + share * np.log1p(bet * (stake - 1))
        )
        assert wealth <= evenly + 1e-12


def test_a_pair_never_has_more_unsupported_mass_than_decisions():
    found = points(Cells.of(counted(np.random.default_rng(4), pair=True), GRID))
    assert (found.count > 0).all()
    assert set(found.own_unsupported) | set(found.other_unsupported) <= {0.0, 1.0}
