from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Interval, Points
from flows.intervals.block_plan import (
    Plan,
    fixed_plan,
    nightly_plan,
    window_plan,
)
from flows.intervals.block_points import BlockPoints, in_blocks
from flows.intervals.blocks import anytime, fixed

BOUND = 8.0
OPTIONS = {"max_weight": BOUND, "alpha": 0.05}
COMPLETE = [0.4, 0.4, 0.05, 0.15, 0, 0, 0, 0]
GAPPY = [0.3, 0.3, 0.05, 0.1, 0.1, 0.05, 0.05, 0.05]
VALUE = ESTIMANDS["value"]


def make_cells(*rows, **columns):
    """Cells of weight, reward (None is missing) and is_supported."""
    weight, reward, supported = zip(*rows, strict=True)
    return Points(
        np.array(weight, dtype=float),
        np.array([0.0 if r is None else r for r in reward], dtype=float),
        np.array([r is None for r in reward]),
        np.array(supported),
        np.zeros(len(rows)),
        **{name: np.array(column, dtype=float) for name, column in columns.items()},
    )


SINGLE = make_cells(
    (0.2, 0.0, True),
    (0.2, 1.0, True),
    (4.2, 0.0, True),
    (4.2, 1.0, True),
    (0.2, None, True),
    (4.2, None, True),
    (0.2, 0.5, False),
    (4.2, None, False),
)
PAIR = make_cells(
    (-0.8, 0.0, True),
    (-0.8, 1.0, True),
    (3.2, 0.0, True),
    (3.2, 1.0, True),
    (-0.8, None, True),
    (3.2, None, True),
    (0.2, 0.5, False),
    (-4.2, None, False),
    own_unsupported=[0] * 7 + [1],
    other_unsupported=[0] * 6 + [1, 0],
)


def cells_of(estimand):
    return PAIR if estimand.is_signed else SINGLE


@pytest.fixture(params=ESTIMANDS)
def estimand(request):
    return ESTIMANDS[request.param]


def draw(sizes, law=COMPLETE, seed=1, cells=SINGLE):
    counts = np.random.default_rng(seed).multinomial(np.rint(sizes).astype(int), law)
    return BlockPoints(cells, counts.astype(float))


def drawn_nights(plan, row, law=COMPLETE, seed=1, cells=SINGLE):
    """Rows of a log that has as many decisions in each sub-block as planned."""
    size = round(plan.horizon / row.size)
    log = draw(np.full(row.size, size), law, seed, cells)
    counts = np.zeros((int(plan.rows[-1]), 8))
    np.add.at(counts, row.ravel(), log.counts)
    return BlockPoints(cells, counts)


def four_nights(estimand, law=COMPLETE, seed=1):
    plan, row = nightly_plan(400, horizon_nights=4)
    return drawn_nights(plan, row, law, seed, cells_of(estimand)), plan, row


def until(data, rows):
    return BlockPoints(data.cells, data.counts[:rows])


def test_more_decisions_narrow_the_interval(estimand):
    def width(n):
        plan = fixed_plan(n)
        data = draw(plan.decisions, cells=cells_of(estimand))
        return fixed(data, estimand, plan=plan, **OPTIONS).width

    assert width(500) > 2 * width(5_000) > 4 * width(50_000) > 0


def test_a_window_is_about_as_narrow_as_hash_blocks(estimand):
    cells, plan = cells_of(estimand), fixed_plan(20_000)
    hashed = draw(plan.decisions, cells=cells)
    expected = fixed(hashed, estimand, plan=plan, **OPTIONS)

    for nights in (7, 28):
        plan, row = window_plan(20_000, nights=nights)
        found = fixed(
            drawn_nights(plan, row, cells=cells), estimand, plan=plan, **OPTIONS
        )
        assert found.width == pytest.approx(expected.width, rel=0.25)


def test_ends_are_the_same_bits_in_any_order_of_the_rows(estimand):
    data, plan, _ = four_nights(estimand, GAPPY)
    block, cell = np.nonzero(data.counts)
    halves = np.tile(data.counts[block, cell] / 2, 2)
    block, cell = np.tile(block, 2), np.tile(cell, 2)
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(cell.size)
        rows = dataclasses.replace(
            data.cells,
            **{
                field.name: getattr(data.cells, field.name)[cell[order]]
                for field in dataclasses.fields(data.cells)
            },
        )
        rows = dataclasses.replace(rows, count=halves[order])
        gathered = in_blocks(rows, block[order], blocks=data.counts.shape[0])
        found.append(anytime(gathered, estimand, plan=plan, **OPTIONS))

    assert found[0] == found[1] == found[2]
    expected = anytime(data, estimand, plan=plan, **OPTIONS)
    assert found[0].lower == pytest.approx(expected.lower, abs=1e-9)
    assert found[0].upper == pytest.approx(expected.upper, abs=1e-9)


def test_the_upper_end_is_the_lower_one_of_mirrored_points(estimand):
    data, plan, _ = four_nights(estimand, GAPPY)
    turned = BlockPoints(estimand.mirrored(data.cells), data.counts)

    found = anytime(data, estimand, plan=plan, **OPTIONS)
    other = anytime(turned, estimand, plan=plan, **OPTIONS)

    assert found.lower == pytest.approx(estimand.reflected(other.upper), abs=1e-12)
    assert found.upper == pytest.approx(estimand.reflected(other.lower), abs=1e-12)


@pytest.mark.parametrize("alpha", [0.2, 0.01])
def test_less_error_never_narrows(estimand, alpha):
    data, plan, _ = four_nights(estimand)

    found = anytime(data, estimand, plan=plan, max_weight=BOUND, alpha=alpha)
    usual = anytime(data, estimand, plan=plan, **OPTIONS)

    assert (found.width < usual.width) == (alpha > 0.05)


def test_a_missing_reward_is_the_worst_one_at_each_end():
    data, plan, _ = four_nights(VALUE, GAPPY)
    is_missing = SINGLE.is_reward_missing
    low, high = (
        dataclasses.replace(
            SINGLE,
            is_reward_missing=np.zeros(8, dtype=bool),
            reward=np.where(is_missing, worst, SINGLE.reward),
        )
        for worst in (0.0, 1.0)
    )

    found = anytime(data, VALUE, plan=plan, **OPTIONS)

    worst = anytime(BlockPoints(low, data.counts), VALUE, plan=plan, **OPTIONS)
    best = anytime(BlockPoints(high, data.counts), VALUE, plan=plan, **OPTIONS)
    assert (found.lower, found.upper) == (worst.lower, best.upper)


def test_nothing_is_concluded_from_nothing(estimand):
    data, plan, _ = four_nights(estimand)
    is_first = np.arange(len(data.counts))[:, None] == 0
    only_first = BlockPoints(data.cells, data.counts * is_first)
    nothing = BlockPoints(data.cells, 0 * data.counts)

    for empty in (until(data, 1), only_first, nothing):
        found = anytime(empty, estimand, plan=plan, **OPTIONS)
        assert found == estimand.possible


def test_without_rewards_every_value_is_possible():
    no_rewards, plan, _ = four_nights(VALUE, [0, 0, 0, 0, 0.8, 0.2, 0, 0])

    assert anytime(no_rewards, VALUE, plan=plan, **OPTIONS) == Interval(0.0, 1.0)


def test_a_log_that_starts_late_or_thin_is_no_special_case(estimand):
    plan, row = nightly_plan(400, horizon_nights=8)
    data = drawn_nights(plan, row, cells=cells_of(estimand))
    usual = anytime(data, estimand, plan=plan, **OPTIONS)
    for rows, first in (
        (1, np.zeros(8)),
        (row[1, 7] + 1, np.zeros(8)),
        (1, np.eye(8)[2]),
    ):
        counts = data.counts.copy()
        counts[:rows] = first

        found = anytime(BlockPoints(data.cells, counts), estimand, plan=plan, **OPTIONS)

        assert usual.width / 1.4 < found.width < 1.4 * usual.width


def test_another_night_never_moves_an_end_outward(estimand):
    plan, row = nightly_plan(200)
    log = draw(np.full(160, 25), seed=3, cells=cells_of(estimand))
    counts = np.zeros((int(row[19].max()) + 1, 8))
    np.add.at(counts, row[:20].ravel(), log.counts)

    found = [
        anytime(
            BlockPoints(log.cells, counts[: row[night].max() + 1]),
            estimand,
            plan=plan,
            **OPTIONS,
        )
        for night in range(20)
    ]

    lower, upper = zip(*((i.lower, i.upper) for i in found), strict=True)
    assert list(lower) == sorted(lower)
    assert list(upper) == sorted(upper, reverse=True)
    assert found[19].width < found[6].width < estimand.possible.width


def test_nights_after_the_last_checkpoint_change_nothing(estimand):
    data, plan, _ = four_nights(estimand)
    longer = BlockPoints(data.cells, np.vstack([data.counts, data.counts]))

    assert anytime(longer, estimand, plan=plan, **OPTIONS) == (
        anytime(data, estimand, plan=plan, **OPTIONS)
    )


def test_three_years_of_nights_still_narrow():
    plan, row = nightly_plan(20)
    log = np.random.default_rng(4).multinomial(20, COMPLETE, 1_095).astype(float)
    counts = np.zeros((int(row[1_094].max()) + 1, 8))
    np.add.at(counts, row[:1_095, 0], log)

    first, second, third = (
        anytime(
            BlockPoints(SINGLE, counts[: row[night - 1].max() + 1]),
            VALUE,
            plan=plan,
            **OPTIONS,
        ).width
        for night in (224, 448, 1_095)
    )

    assert first > 1.2 * second > 1.4 * third > 0


def test_the_scale_of_a_nightly_plan_hardly_matters(estimand):
    data, plan, _ = four_nights(estimand)
    wrong = dataclasses.replace(plan, decisions=plan.decisions / 400)

    found = anytime(data, estimand, plan=wrong, **OPTIONS)

    usual = anytime(data, estimand, plan=plan, **OPTIONS)
    assert found.width == pytest.approx(usual.width, rel=0.02)


def test_weights_that_contradict_the_log_leave_an_empty_interval():
    plan = fixed_plan(20_000)
    too_large = draw(plan.decisions, [0, 0, 0.5, 0.5, 0, 0, 0, 0])

    assert fixed(too_large, VALUE, plan=plan, **OPTIONS).is_empty


def test_a_declared_second_moment_only_changes_the_width():
    data = draw(fixed_plan(5_000).decisions)
    found = [
        fixed(data, VALUE, plan=fixed_plan(5_000, second_moment=moment), **OPTIONS)
        for moment in (1.5, 3.6, 8.0)
    ]

    assert all(i.lower < 0.71 < i.upper for i in found)
    assert max(i.width for i in found) < 1.05 * min(i.width for i in found)


def test_sampling_weights_of_one_kind_change_nothing_but_the_bets_range(estimand):
    """The ratio of two means does not see a common factor."""
    data, plan, _ = four_nights(estimand, GAPPY)
    kept = dataclasses.replace(data.cells, sampling_weight=np.full(8, 0.25))

    found = anytime(BlockPoints(kept, data.counts), estimand, plan=plan, **OPTIONS)

    usual = anytime(data, estimand, plan=plan, **OPTIONS)
    assert found.lower == pytest.approx(usual.lower, abs=0.1 * usual.width)
    assert found.upper == pytest.approx(usual.upper, abs=0.1 * usual.width)


def test_what_was_kept_less_often_counts_more(estimand):
    """Decisions with a reward of 0 are kept one time in four."""
    is_zero = np.array([True, False, True, False] + [False] * 4)
    kept = np.where(is_zero, 0.25, 1.0) * COMPLETE
    cells = cells_of(estimand)
    weighted = dataclasses.replace(cells, sampling_weight=np.where(is_zero, 1.0, 0.25))
    plan = fixed_plan(40_000)
    truth = float(np.array(COMPLETE) @ estimand.scores(cells, 0.0))
    log = draw(plan.decisions, kept / kept.sum(), cells=weighted)

    found = fixed(log, estimand, plan=plan, **OPTIONS)

    deceived = fixed(BlockPoints(cells, log.counts), estimand, plan=plan, **OPTIONS)
    assert found.lower < truth < found.upper
    assert found.width < 0.1
    assert not deceived.lower < truth < deceived.upper


@pytest.mark.parametrize("max_weight", [1.0, 1.5])
def test_a_small_largest_weight_is_no_special_case(max_weight):
    cells = make_cells((0.5, 0, False), (0.5, 1, False), (1, 0, True), (1, 1, True))
    plan = fixed_plan(4_000)
    counts = np.outer(np.rint(plan.decisions), [1, 1, 5, 5])

    found = fixed(
        BlockPoints(cells, counts),
        ESTIMANDS["improvement"],
        plan=plan,
        max_weight=max_weight,
        alpha=0.05,
    )

    assert -0.1 < found.lower < -0.5 / 12 < 0.5 / 12 < found.upper < 0.1


HASHED = draw(fixed_plan(100).decisions)


@pytest.mark.parametrize(
    ("method", "plan", "changes", "message"),
    [
        (fixed, nightly_plan(10, horizon_nights=4)[0], {}, "79 rows for one look"),
        (fixed, window_plan(10, nights=4)[0], {}, "79 rows for one look"),
        (fixed, Plan(np.ones(80), (80,), (1.0,)), {}, "79 rows for one look"),
        (fixed, Plan(np.ones(79), (70,), (1.0,)), {}, "79 rows for one look"),
        (fixed, fixed_plan(100), {"alpha": 1.0}, "alpha 1.0 lies outside"),
        (anytime, fixed_plan(100), {"alpha": 0.0}, "alpha 0.0 lies outside"),
        (anytime, fixed_plan(100), {"alpha": math.nan}, "alpha nan lies outside"),
        (anytime, fixed_plan(100), {"max_weight": 4.0}, "exceeds max_weight 4.0"),
        (anytime, fixed_plan(100), {"data": until(HASHED, 0)}, "no row"),
        (anytime, fixed_plan(100), {"data": BlockPoints(PAIR, HASHED.counts)}, "below"),
    ],
)
def test_arguments_out_of_range_are_refused(method, plan, changes, message):
    arguments = {"data": HASHED, "estimand": VALUE}

    with pytest.raises(ValueError, match=message):
        method(plan=plan, **(arguments | OPTIONS | changes))
