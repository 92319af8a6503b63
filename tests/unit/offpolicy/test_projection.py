"""A projection is the real kernel over the nights there are and those expected."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.intervals.block_plan import fixed_plan
from flows.offpolicy import projection
from flows.offpolicy.cells import Cells
from flows.offpolicy.estimate import Evidence, find
from flows.offpolicy.evidence import LARGEST, SUMS
from flows.offpolicy.grid import UNIT, Grid
from flows.offpolicy.methods import Design, Window

GRID = Grid(0.1, -1.0, 1.0)
DESIGNS = {
    "mixture": Design("mixture", 0.95),
    "anytime": Design("anytime", 0.95),
    "horizon": Design("anytime", 0.95, horizon_nights=12),
    "fixed": Design("fixed", 0.95),
    "drift": Design("mixture", 0.95, is_drifting=True),
}
ALPHA = 0.05


@pytest.fixture(params=DESIGNS)
def design(request):
    return DESIGNS[request.param]


def cells(design, nights, size, seed=1):
    """Nights of a log that took five actions alike; the candidate takes mostly one."""
    rng = np.random.default_rng(seed)
    count = nights * size
    action = rng.integers(5, size=count)
    reward = rng.random(count) < np.where(action == 0, 0.5, 0.3)
    shares = np.full(8, 0.125)
    if design.used == "fixed":
        shares = fixed_plan(1.0).decisions
    weight = pl.lit(pl.Series(np.where(action == 0, 4.5, 0.125)))
    scaled = pl.lit(pl.Series(reward.astype(float)))
    cell, reward_cell = GRID.weight_cell(weight), GRID.reward_cell(scaled)
    frame = pl.DataFrame({"day": np.repeat(np.arange(nights), size)}).select(
        pl.col("day").cast(pl.Int32).cast(pl.Date),
        pl.Series("block", rng.choice(shares.size, size=count, p=shares)),
        weight_cell=cell,
        weight_part=GRID.weight_part(weight, cell),
        reward_cell=reward_cell,
        reward_part=GRID.reward_part(scaled, reward_cell),
    )
    part = pl.col("weight_part")
    frame = frame.with_columns(
        decisions=pl.lit(1, pl.Int64),
        product_part=part * pl.col("reward_part") // UNIT,
        weight_square_part=part * part // UNIT,
        sample_probability=pl.lit(1.0),
        other=pl.lit(""),
        **{LARGEST: part},
    )
    rest = [name for name in (*SUMS, "kind") if name not in frame.columns]
    return Cells.of(
        frame.with_columns(pl.lit(0, pl.Int64).alias(name) for name in rest), GRID
    )


def present(design, nights=6, size=200, pace=200.0, seed=1):
    counted = cells(design, nights, size, seed)
    window = Window(0, nights, is_from_start=True)
    return projection.Present(counted, window, design, ALPHA, pace)


def found(design, nights, size, seed=1):
    """What a night says after so many nights."""
    window = Window(0, nights, is_from_start=True)
    evidence = Evidence(cells(design, nights, size, seed), None, window)
    return find(evidence, design=design, share=1.0, is_withheld=False)


@pytest.mark.parametrize("estimand", ["value", "improvement"])
def test_after_no_further_night_it_is_the_interval_of_the_night(design, estimand):
    made = found(design, 6, 200).of(estimand)
    now = projection.project(present(design), estimand)(0)
    ends = (now.ends.lower, now.ends.upper)
    assert ends == pytest.approx((made.lower, made.upper), abs=1e-9)
    assert now.estimate == pytest.approx(made.estimate, abs=1e-8)


@pytest.mark.parametrize("estimand", ["value", "improvement"])
def test_more_nights_close_in_on_the_estimate(design, estimand):
    future = projection.project(present(design), estimand)
    nights = [future(number) for number in (0, 2, 6)]
    assert all(n.ends.lower < n.estimate < n.ends.upper for n in nights)
    widths = [n.ends.width for n in nights]
    assert sorted(widths, reverse=True) == widths
    assert widths[2] < 0.9 * widths[0]


def test_the_width_expected_of_ten_times_the_data_is_that_of_ten_times_the_data(
    design,
):
    """In few logs, so with room for luck; the bed of the source had 1.005 (sd .053)."""
    nights, later = (4, 12) if design.horizon_nights else (4, 40)
    ratios = []
    for seed in range(3):
        future = projection.project(
            present(design, nights, 500, 500.0, seed), "improvement"
        )
        made = found(design, later, 500, seed + 10).of("improvement")
        ratios.append(future(later - nights).ends.width / (made.upper - made.lower))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.08)


def test_after_the_last_declared_look_nothing_changes():
    design = DESIGNS["horizon"]
    now = present(design)
    assert projection.nights_ahead(now) == 6
    future = projection.project(now, "value")
    assert future(6).ends == future(60).ends
    assert projection.nights_ahead(present(DESIGNS["mixture"])) == 3650


def test_counts_of_compat_are_not_projected():
    with pytest.raises(ValueError, match="counts of compat"):
        projection.project(present(Design("compat", 0.95)), "value")


@given(needed=st.integers(1, 300), most=st.integers(0, 200))
def test_the_first_night_that_passes_is_found_in_few_steps(needed, most):
    asked = []

    def has_passed(nights):
        asked.append(nights)
        return nights >= needed

    night = projection.nights_until(has_passed, most)
    assert night == (needed if needed <= most else None)
    assert len(asked) <= 2 * (most.bit_length() + 1)
    assert all(1 <= nights <= most for nights in asked)
