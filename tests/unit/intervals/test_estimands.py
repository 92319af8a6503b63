from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Interval, Points, identified
from flows.intervals.estimands import DIFFERENCE, IMPROVEMENT, VALUE

BOUND = 4.0
EVERY = pytest.mark.parametrize("estimand", ESTIMANDS.values(), ids=ESTIMANDS)


def make_points(*rows, own=None, other=None, sampling=None):
    """Rows of weight, reward (None is missing), is_supported, count."""
    weight, reward, supported, count = zip(*rows, strict=True)
    points = Points(
        np.array(weight, dtype=float),
        np.array([0.0 if r is None else r for r in reward], dtype=float),
        np.array([r is None for r in reward]),
        np.array(supported),
        np.array(count, dtype=float),
    )
    given = {
        "own_unsupported": own,
        "other_unsupported": other,
        "sampling_weight": sampling,
    }
    return dataclasses.replace(
        points, **{name: np.array(v) for name, v in given.items() if v is not None}
    )


@pytest.mark.parametrize("control", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    ("estimand", "row", "expected"),
    [
        (VALUE, (3.0, 0.8, True, 1), lambda c: 3.0 * (0.8 - c) + c),
        (VALUE, (3.0, None, True, 1), lambda c: 3.0 * (0.0 - c) + c),
        (VALUE, (3.0, 0.8, False, 1), lambda _: 2.4),
        (VALUE, (3.0, None, False, 1), lambda _: 0.0),
        (IMPROVEMENT, (3.0, 0.8, True, 1), lambda c: 2.0 * (0.8 - c)),
        (IMPROVEMENT, (3.0, None, True, 1), lambda c: -2.0 * c),
        (IMPROVEMENT, (0.5, None, True, 1), lambda c: -0.5 * (1.0 - c)),
        (IMPROVEMENT, (3.0, 0.8, False, 1), lambda _: 1.6),
        (IMPROVEMENT, (3.0, None, False, 1), lambda _: 0.0),
        (IMPROVEMENT, (0.5, None, False, 1), lambda _: -0.5),
        (DIFFERENCE, (3.0, 0.8, True, 1), lambda c: 3.0 * (0.8 - c)),
        (DIFFERENCE, (-3.0, 0.8, True, 1), lambda c: -3.0 * (0.8 - c)),
        (DIFFERENCE, (3.0, None, True, 1), lambda c: -3.0 * c),
        (DIFFERENCE, (-3.0, None, True, 1), lambda c: -3.0 * (1.0 - c)),
        (DIFFERENCE, (-3.0, 0.8, False, 1), lambda _: -2.4),
    ],
)
def test_scores_follow_the_table(estimand, row, expected, control):
    found = estimand.scores(make_points(row), control)

    assert found[0] == pytest.approx(expected(control))


@pytest.mark.parametrize(("own", "other", "lost"), [(1.0, 0.0, 0.0), (0.0, 1.0, 1.0)])
def test_only_the_other_candidates_mass_lowers_a_difference(own, other, lost):
    points = make_points((1.0, 0.5, False, 1), own=[own], other=[other])

    assert DIFFERENCE.scores(points, 0.3) == 0.5 - lost


@EVERY
@pytest.mark.parametrize("control", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_no_score_leaves_its_declared_range(estimand, control):
    sign = [-1.0, 1.0] if estimand.is_signed else [1.0]
    weights = [s * w for s in sign for w in (0.0, 0.3, 1.0, BOUND)]
    rows = [
        (w, z, supported, 1)
        for w, z, supported in itertools.product(
            weights, (None, 0.0, 0.4, 1.0), (True, False)
        )
    ]
    supported = np.array([row[2] for row in rows])
    gone = np.where(supported, 0.0, 1.0)
    is_pair = float(estimand is DIFFERENCE)
    points = make_points(*rows, own=gone, other=is_pair * gone)

    found = estimand.scores(points, control)

    least = estimand.least(control, BOUND)
    assert found[supported].min() == pytest.approx(least)
    assert found[~supported].min() == pytest.approx(estimand.least_unsupported(BOUND))
    assert found.min() >= estimand.least_score(control, BOUND)
    assert found.max() <= estimand.most(BOUND)


@EVERY
def test_a_mirrored_score_is_the_plain_one_reflected_at_one_control(estimand):
    rows = [(w, z, True, 1) for w in (0.0, 0.5, 3.0) for z in (0.0, 0.3, 1.0)]
    points = make_points(*rows)

    found = estimand.scores(estimand.mirrored(points), estimand.plain_control)

    expected = estimand.reflected(estimand.scores(points, 0.0))
    np.testing.assert_allclose(found, expected, atol=1e-15)


@EVERY
def test_mirroring_twice_changes_nothing(estimand):
    points = make_points((1.0, 0.25, False, 1), (2.0, None, True, 3), own=[0.5, 0.0])

    twice = estimand.mirrored(estimand.mirrored(points))

    for field in dataclasses.fields(Points):
        before, after = getattr(points, field.name), getattr(twice, field.name)
        np.testing.assert_array_equal(before, after)


def test_a_mirrored_difference_is_that_of_the_candidates_the_other_way_round():
    points = make_points((1.5, 0.25, False, 1), own=[0.5], other=[0.25])

    found = DIFFERENCE.mirrored(points)

    assert found.weight == -1.5
    assert (found.own_unsupported, found.other_unsupported) == (0.25, 0.5)
    assert found.reward == 0.25


def test_complete_data_identify_one_estimate():
    rows = [(w, z, True, 250) for w in (0.5, 1.5) for z in (0.0, 1.0)]
    points = make_points(*rows)

    assert identified(points, VALUE) == Interval(0.5, 0.5)
    assert identified(points, IMPROVEMENT) == Interval(0.0, 0.0)
    assert identified(points, DIFFERENCE) == Interval(0.5, 0.5)


@pytest.mark.parametrize(
    ("estimand", "expected"),
    [
        (VALUE, (0.75, 0.75 + 0.25 + 0.1)),
        (IMPROVEMENT, (0.25 - 0.25, 0.25 + 0.1)),
        (DIFFERENCE, (0.75 - 0.05, 0.75 + 0.25 + 0.1)),
    ],
)
def test_missing_decisions_open_their_stake_and_mass(estimand, expected):
    other = [0.1, 0.0] if estimand is DIFFERENCE else [0.0, 0.0]
    points = make_points(
        (1.5, 1.0, False, 1), (0.5, None, False, 1), own=[0.0, 0.2], other=other
    )

    found = identified(points, estimand)

    assert (found.lower, found.upper) == pytest.approx(expected)


def test_with_sampling_weights_estimates_are_ratios():
    # Two decisions of reward 1 and 0, kept with probability .1 and 1 (validity.md 13).
    points = make_points((1.0, 1.0, True, 1), (1.0, 0.0, True, 1), sampling=[1.0, 0.1])

    found = identified(points, VALUE)

    assert found.lower == found.upper == pytest.approx(10 / 11)


@EVERY
def test_no_decision_identifies_nothing(estimand):
    with pytest.raises(ValueError, match="holds no decision"):
        identified(make_points((1.0, 0.0, True, 0)), estimand)
