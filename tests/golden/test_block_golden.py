"""Ends of the plain reference of the block bettor, to 1e-9 of the range."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Points
from flows.intervals.block_plan import POSITIONS, Plan, fixed_plan
from flows.intervals.block_points import BlockPoints, in_blocks
from flows.intervals.blocks import anytime, fixed

DATA = Path(__file__).parent / "data" / "intervals"
CASES = {
    "block_fixed_500": fixed,
    "block_fixed_20000_rare": fixed,
    "block_weekly_28_nights": anytime,
}


def read(name):
    return json.loads((DATA / f"{name}.json").read_text())


def as_blocks(case):
    block, cell, count = np.array(case["counts"]).T
    weight, reward = np.array(case["cells"])[cell].T
    yes = np.ones(cell.size, dtype=bool)
    points = Points(weight, reward, ~yes, yes, count.astype(float))
    return in_blocks(points, block, blocks=len(case["planned"]))


def as_plan(case):
    return Plan(
        np.array(case["planned"]),
        tuple(case["checkpoints"]),
        tuple(case["shares"]),
        second_moment=case["e2"],
    )


@pytest.mark.parametrize("estimand", ["value", "improvement"])
@pytest.mark.parametrize("name", CASES)
def test_block_intervals_agree_with_the_reference(name, estimand):
    case = read(name)

    found = CASES[name](
        as_blocks(case),
        ESTIMANDS[estimand],
        plan=as_plan(case),
        max_weight=case["bound"],
        alpha=0.05,
    )

    prefix = "" if estimand == "value" else "improvement_"
    expected = [case[f"{prefix}lower"], case[f"{prefix}upper"]]
    assert [found.lower, found.upper] == pytest.approx(expected, rel=0, abs=1e-9)


def test_order_and_unused_cells_do_not_move_an_end():
    case = read("block_fixed_500")
    blocks = as_blocks(case)
    cells, counts = blocks.cells, blocks.counts
    reverse = np.arange(cells.weight.size)[::-1]
    turned = BlockPoints(
        Points(
            *(
                np.append(column[reverse], extra)
                for column, extra in (
                    (cells.weight, 20.0),
                    (cells.reward, 0.0),
                    (cells.is_reward_missing, True),
                    (cells.is_supported, False),
                    (cells.count, 0.0),
                )
            )
        ),
        np.pad(counts[:, reverse], ((0, 0), (0, 1))),
    )
    options = {"plan": as_plan(case), "max_weight": case["bound"], "alpha": 0.05}

    found = fixed(turned, ESTIMANDS["value"], **options)

    assert [found.lower, found.upper] == pytest.approx(
        [case["lower"], case["upper"]], rel=0, abs=1e-9
    )


def test_planned_sizes_are_those_of_the_hash_within_a_position():
    planned = np.array(read("block_fixed_500")["planned"])

    ours = fixed_plan(500).decisions

    assert ours == pytest.approx(planned, rel=0, abs=500 / POSITIONS)
