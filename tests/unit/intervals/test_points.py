from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flows.intervals import Points


def make_points(*rows):
    weight, reward, missing, supported, count = zip(*rows, strict=True)
    return Points(
        np.array(weight, dtype=float),
        np.array(reward, dtype=float),
        np.array(missing, dtype=bool),
        np.array(supported, dtype=bool),
        np.array(count, dtype=float),
    )


FIRST_FIVE = [field.name for field in dataclasses.fields(Points)][:5]


def as_rows(points, names=FIRST_FIVE):
    return list(zip(*(getattr(points, name) for name in names), strict=True))


def test_rows_of_one_key_become_one_row_with_their_counts_added():
    points = make_points(
        (2.0, 1.0, False, True, 3),
        (0.5, 0.0, False, True, 1),
        (2.0, 1.0, False, True, 0.5),
    )

    assert as_rows(points.merged()) == [
        (0.5, 0.0, False, True, 1.0),
        (2.0, 1.0, False, True, 3.5),
    ]


def test_support_and_missing_rewards_keep_rows_apart():
    points = make_points(
        (1.0, 0.0, False, True, 1),
        (1.0, 0.0, False, False, 1),
        (1.0, 0.0, True, True, 1),
    )

    assert points.merged().count.size == 3


def test_the_number_in_the_place_of_a_missing_reward_means_nothing():
    points = make_points((1.0, 7.0, True, True, 1), (1.0, -2.0, True, True, 1))

    assert as_rows(points.merged()) == [(1.0, 0.0, True, True, 2.0)]


def test_rows_without_decisions_disappear():
    points = make_points((1.0, 0.0, False, True, 0), (2.0, 0.0, False, True, 1))

    assert points.merged().weight.tolist() == [2.0]


def test_fractions_add_up_to_the_same_bits_in_any_order():
    rows = [(1.0, 1.0, False, True, count) for count in (0.1, 1e9, 0.7, 1e-9)]

    totals = {make_points(*rows).merged().count[0]}
    totals.add(make_points(*rows[::-1]).merged().count[0])
    totals.add(make_points(*rows[2:], *rows[:2]).merged().count[0])

    assert len(totals) == 1


def test_negative_zero_is_zero():
    points = make_points((-0.0, -0.0, False, True, 1), (0.0, 0.0, False, True, 1))

    merged = points.merged()

    assert as_rows(merged) == [(0.0, 0.0, False, True, 2.0)]
    assert not np.signbit(merged.weight).any()


def test_no_points_at_all_stay_none():
    nothing = make_points((1.0, 0.0, False, True, 0)).merged()

    assert nothing.decisions == 0.0
    assert nothing.merged().count.size == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((1.0, 1.5, False, True, 1), r"reward 1.5 lies outside \[0, 1\]"),
        ((1.0, 0.5, False, True, -1), "count holds a negative number"),
        ((np.nan, 0.5, False, True, 1), "weight holds a number that is not finite"),
        ((1.0, np.inf, True, True, 1), "reward holds a number that is not finite"),
    ],
)
def test_numbers_out_of_range_are_refused(row, message):
    with pytest.raises(ValueError, match=message):
        make_points(row)


def test_arrays_of_different_shapes_are_refused():
    two, one = np.ones(2), np.ones(1)

    with pytest.raises(ValueError, match="reward has shape"):
        Points(two, one, two > 0, two > 0, two)


def test_what_is_left_out_is_the_usual():
    points = make_points((1.0, 0.0, False, True, 1), (2.0, 0.0, False, True, 1))

    assert points.sampling_weight.tolist() == [1.0, 1.0]
    assert points.own_unsupported.tolist() == [0.0, 0.0]
    assert points.other_unsupported.tolist() == [0.0, 0.0]


def test_an_empty_array_is_not_left_out():
    with pytest.raises(ValueError, match="own_unsupported has shape"):
        dataclasses.replace(
            make_points((1.0, 0.0, False, True, 1)), own_unsupported=np.empty(0)
        )


@pytest.mark.parametrize(
    ("name", "number", "message"),
    [
        ("sampling_weight", 0.0, "sampling_weight holds a number that is not positive"),
        ("sampling_weight", 1.5, r"sampling_weight 1.5 lies outside \[0, 1\]"),
        ("own_unsupported", -0.1, r"own_unsupported -0.1 lies outside \[0, 1\]"),
        ("other_unsupported", 2.0, r"other_unsupported 2.0 lies outside \[0, 1\]"),
        ("other_unsupported", np.nan, "other_unsupported holds a number that is not"),
    ],
)
def test_what_may_be_left_out_is_checked_too(name, number, message):
    points = make_points((1.0, 0.0, False, True, 1))

    with pytest.raises(ValueError, match=message):
        dataclasses.replace(points, **{name: np.array([number])})


def test_sampling_weights_and_masses_keep_rows_apart():
    points = dataclasses.replace(
        make_points(*[(1.0, 0.0, False, False, 1)] * 5),
        sampling_weight=np.array([1.0, 0.5, 1.0, 1.0, 0.5]),
        own_unsupported=np.array([0.0, 0.0, 0.5, 0.0, 0.0]),
        other_unsupported=np.array([0.0, 0.0, 0.0, 0.5, 0.0]),
    )

    assert points.merged().count.tolist() == [2.0, 1.0, 1.0, 1.0]


def test_masses_are_taken_to_their_extremes_with_the_same_means():
    points = dataclasses.replace(
        make_points((1.0, 0.5, False, False, 8), (2.0, 0.0, False, False, 2)),
        own_unsupported=np.array([0.25, 1.0]),
        other_unsupported=np.array([0.5, 0.0]),
    )

    found = points.in_extremes()

    names = ["weight", "own_unsupported", "other_unsupported", "count"]
    assert as_rows(found.merged(), names) == [
        (1.0, 0.0, 0.0, 3.0),
        (1.0, 0.0, 1.0, 3.0),
        (1.0, 1.0, 0.0, 1.0),
        (1.0, 1.0, 1.0, 1.0),
        (2.0, 1.0, 0.0, 2.0),
    ]


def test_masses_at_their_extremes_are_left_alone():
    points = dataclasses.replace(
        make_points((1.0, 0.5, False, False, 8)), own_unsupported=np.ones(1)
    )

    assert points.in_extremes() is points


def test_cells_of_blocks_are_split_in_whole_copies():
    cells = dataclasses.replace(
        make_points((1.0, 0.5, False, False, 1), (2.0, 0.0, False, True, 1)),
        own_unsupported=np.array([0.25, 0.0]),
    )

    found = cells.in_extremes()

    assert as_rows(found, ["weight", "own_unsupported", "count"]) == [
        (1.0, 0.0, 0.75),
        (2.0, 0.0, 1.0),
        (1.0, 1.0, 0.25),
        (2.0, 1.0, 0.0),
    ]


@pytest.mark.parametrize(
    ("bound", "message"),
    [(2.0, "exceeds"), (0.5, "not a finite"), (np.inf, "not a finite")],
)
def test_weights_above_the_bound_are_refused(bound, message):
    with pytest.raises(ValueError, match=message):
        make_points((2.1, 0.0, False, True, 1)).require_weights_up_to(bound)


def test_weights_of_one_candidate_are_never_negative():
    with pytest.raises(ValueError, match=r"weight -0\.1 lies below 0"):
        make_points((-0.1, 0.0, False, True, 1)).require_weights_up_to(2.0)


def test_weights_of_a_difference_are_bounded_on_both_sides():
    points = make_points((-2.0, 0.0, False, True, 1), (2.0, 0.0, False, True, 1))

    points.require_weights_up_to(2.0, signed=True)

    with pytest.raises(ValueError, match=r"weight -2\.0 lies below -1\.5"):
        dataclasses.replace(points, weight=np.full(2, -2.0)).require_weights_up_to(
            1.5, signed=True
        )
