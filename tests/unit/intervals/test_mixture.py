from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flows.intervals import (
    Interval,
    Points,
    identified_improvement,
    identified_value,
    mixture,
)


def make_points(*rows):
    """Rows of weight, reward (None is missing), is_supported, count."""
    weight, reward, supported, count = zip(*rows, strict=True)
    return Points(
        np.array(weight, dtype=float),
        np.array([0.0 if r is None else r for r in reward], dtype=float),
        np.array([r is None for r in reward]),
        np.array(supported),
        np.array(count, dtype=float),
    )


NOTHING = make_points((1.0, 0.0, True, 0))
EVEN = make_points(
    (0.5, 0.0, True, 250),
    (0.5, 1.0, True, 250),
    (1.5, 0.0, True, 250),
    (1.5, 1.0, True, 250),
)


@pytest.mark.parametrize("control", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ((3.0, 0.8, True, 1), lambda c: 3.0 * (0.8 - c) + c),
        ((3.0, None, True, 1), lambda c: 3.0 * (0.0 - c) + c),
        ((3.0, 0.8, False, 1), lambda _: 2.4),
        ((3.0, None, False, 1), lambda _: 0.0),
    ],
)
def test_value_scores_follow_the_table(row, expected, control):
    found = mixture.value_scores(make_points(row), control)

    assert found[0] == pytest.approx(expected(control))


@pytest.mark.parametrize("control", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ((3.0, 0.8, True, 1), lambda c: 2.0 * (0.8 - c)),
        ((3.0, None, True, 1), lambda c: -2.0 * c),
        ((0.5, None, True, 1), lambda c: -0.5 * (1.0 - c)),
        ((3.0, 0.8, False, 1), lambda _: 1.6),
        ((3.0, None, False, 1), lambda _: 0.0),
        ((0.5, None, False, 1), lambda _: -0.5),
    ],
)
def test_improvement_scores_follow_the_table(row, expected, control):
    found = mixture.improvement_scores(make_points(row), control)

    assert found[0] == pytest.approx(expected(control))


def test_mirroring_turns_rewards_round_and_keeps_missing_ones():
    found = mixture.mirrored(make_points((1.0, 0.2, True, 1), (1.0, None, True, 1)))

    assert found.reward.tolist() == [0.8, 0.0]
    assert found.is_reward_missing.tolist() == [False, True]


def test_without_decisions_everything_is_possible():
    arguments = {"max_weight": 20.0, "alpha": 0.05}

    assert mixture.value(NOTHING, **arguments) == Interval(0.0, 1.0)
    assert mixture.improvement(NOTHING, **arguments) == Interval(-1.0, 1.0)


def test_without_compats_bets_mirrored_rewards_mirror_the_interval():
    skewed = dataclasses.replace(EVEN, count=np.array([10.0, 300.0, 40.0, 250.0]))
    arguments = {"max_weight": 4.0, "alpha": 0.05, "family": mixture.BARE}

    found = mixture.value(skewed, **arguments)

    mirror = mixture.value(mixture.mirrored(skewed), **arguments)
    assert found.lower == pytest.approx(1 - mirror.upper, abs=1e-11)


def test_less_error_allowed_means_a_wider_interval():
    strict = mixture.value(EVEN, max_weight=4.0, alpha=0.001)

    loose = mixture.value(EVEN, max_weight=4.0, alpha=0.1)

    assert strict.lower < loose.lower
    assert strict.upper > loose.upper


def test_a_long_log_gives_a_narrow_interval():
    long = dataclasses.replace(EVEN, count=EVEN.count * 1e6)

    found = mixture.value(long, max_weight=20.0, alpha=0.05)

    assert found.lower < 0.5 < found.upper
    assert found.width < 2e-4


def test_unsupported_decisions_leave_room_above_only():
    gaps = dataclasses.replace(
        EVEN, is_supported=np.zeros(4, dtype=bool), weight=EVEN.weight / 2
    )

    found = mixture.value(
        dataclasses.replace(gaps, count=gaps.count * 1e6), max_weight=4.0, alpha=0.05
    )

    assert found.lower == pytest.approx(0.25, abs=1e-3)
    assert found.upper == pytest.approx(0.75, abs=1e-3)


def test_weights_that_contradict_the_log_empty_the_interval():
    heavy = make_points((2.0, 1.0, True, 5_000), (2.0, 0.0, True, 5_000))

    assert mixture.value(heavy, max_weight=4.0, alpha=0.05).is_empty


def test_a_floor_of_one_allows_no_weight_but_one():
    only = make_points((1.0, 1.0, True, 60), (1.0, 0.0, True, 40))

    value = mixture.value(only, max_weight=1.0, alpha=0.05)
    improvement = mixture.improvement(only, max_weight=1.0, alpha=0.05)

    assert value.lower < 0.6 < value.upper
    assert improvement.lower < 0.0 < improvement.upper


def test_a_weight_above_its_bound_by_rounding_is_harmless():
    rounded = make_points((1.0 + 5e-10, 0.0, True, 100))

    found = mixture.value(rounded, max_weight=1.0, alpha=0.05)

    assert found.lower == 0.0
    assert found.upper < 0.2


@pytest.mark.parametrize("estimate", [mixture.value, mixture.improvement])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha 0.0 lies outside"),
        ({"alpha": 1.0}, "alpha 1.0 lies outside"),
        ({"max_weight": 0.9}, "not a finite number >= 1"),
        ({"max_weight": 1.2}, "weight 1.5 exceeds max_weight 1.2"),
    ],
)
def test_what_cannot_be_meant_is_refused(estimate, arguments, message):
    with pytest.raises(ValueError, match=message):
        estimate(EVEN, **{"max_weight": 4.0, "alpha": 0.05, **arguments})


def test_complete_data_identify_one_estimate():
    assert identified_value(EVEN, unsupported_mean=0.0) == Interval(0.5, 0.5)
    assert identified_improvement(EVEN, unsupported_mean=0.0).width == 0.0


def test_a_missing_reward_opens_its_weight():
    points = make_points((1.5, 1.0, True, 1), (0.5, None, True, 1))

    value = identified_value(points, unsupported_mean=0.1)
    improvement = identified_improvement(points, unsupported_mean=0.1)

    assert (value.lower, value.upper) == pytest.approx((0.75, 1.1))
    assert (improvement.lower, improvement.upper) == pytest.approx((0.0, 0.35))


@pytest.mark.parametrize("identified", [identified_value, identified_improvement])
def test_no_decision_identifies_nothing(identified):
    with pytest.raises(ValueError, match="holds no decision"):
        identified(NOTHING, unsupported_mean=0.0)


def test_every_family_spends_a_prior_of_one():
    assert mixture.SMALL_BET_PRIORS.sum() == pytest.approx(1.0)
    for family in (mixture.HOUSE, mixture.BARE):
        assert sum(family.control_priors) == pytest.approx(1.0)
