from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flows.intervals import ESTIMANDS, Interval, Points, mixture
from flows.intervals.estimands import DIFFERENCE, IMPROVEMENT, VALUE


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


EVERY = pytest.mark.parametrize("estimand", ESTIMANDS.values(), ids=ESTIMANDS)


def test_without_decisions_everything_is_possible():
    arguments = {"max_weight": 20.0, "alpha": 0.05}

    assert mixture.interval(NOTHING, VALUE, **arguments) == Interval(0.0, 1.0)
    assert mixture.interval(NOTHING, IMPROVEMENT, **arguments) == Interval(-1.0, 1.0)
    assert mixture.interval(NOTHING, DIFFERENCE, **arguments) == Interval(-1.0, 1.0)


def test_without_compats_bets_mirrored_rewards_mirror_the_interval():
    skewed = dataclasses.replace(EVEN, count=np.array([10.0, 300.0, 40.0, 250.0]))
    arguments = {"max_weight": 4.0, "alpha": 0.05, "family": mixture.BARE}

    found = mixture.interval(skewed, VALUE, **arguments)

    mirror = mixture.interval(VALUE.mirrored(skewed), VALUE, **arguments)
    assert found.lower == pytest.approx(1 - mirror.upper, abs=1e-11)


def test_less_error_allowed_means_a_wider_interval():
    strict = mixture.interval(EVEN, VALUE, max_weight=4.0, alpha=0.001)

    loose = mixture.interval(EVEN, VALUE, max_weight=4.0, alpha=0.1)

    assert strict.lower < loose.lower
    assert strict.upper > loose.upper


def test_a_long_log_gives_a_narrow_interval():
    long = dataclasses.replace(EVEN, count=EVEN.count * 1e6)

    found = mixture.interval(long, VALUE, max_weight=20.0, alpha=0.05)

    assert found.lower < 0.5 < found.upper
    assert found.width < 2e-4


def test_unsupported_decisions_leave_room_above_only():
    gaps = dataclasses.replace(
        EVEN, is_supported=np.zeros(4, dtype=bool), weight=EVEN.weight / 2
    )

    found = mixture.interval(
        dataclasses.replace(gaps, count=gaps.count * 1e6),
        VALUE,
        max_weight=4.0,
        alpha=0.05,
    )

    assert found.lower == pytest.approx(0.25, abs=1e-3)
    assert found.upper == pytest.approx(0.75, abs=1e-3)


def test_weights_that_contradict_the_log_empty_the_interval():
    heavy = make_points((2.0, 1.0, True, 5_000), (2.0, 0.0, True, 5_000))

    assert mixture.interval(heavy, VALUE, max_weight=4.0, alpha=0.05).is_empty


def test_a_floor_of_one_allows_no_weight_but_one():
    only = make_points((1.0, 1.0, True, 60), (1.0, 0.0, True, 40))

    value = mixture.interval(only, VALUE, max_weight=1.0, alpha=0.05)
    improvement = mixture.interval(only, IMPROVEMENT, max_weight=1.0, alpha=0.05)

    assert value.lower < 0.6 < value.upper
    assert improvement.lower < 0.0 < improvement.upper


def test_a_weight_above_its_bound_by_rounding_is_harmless():
    rounded = make_points((1.0 + 5e-10, 0.0, True, 100))

    found = mixture.interval(rounded, VALUE, max_weight=1.0, alpha=0.05)

    assert found.lower == 0.0
    assert found.upper < 0.2


@EVERY
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha 0.0 lies outside"),
        ({"alpha": 1.0}, "alpha 1.0 lies outside"),
        ({"max_weight": 0.9}, "not a finite number >= 1"),
        ({"max_weight": 1.2}, "weight 1.5 exceeds max_weight 1.2"),
    ],
)
def test_what_cannot_be_meant_is_refused(estimand, arguments, message):
    with pytest.raises(ValueError, match=message):
        mixture.interval(
            EVEN, estimand, **{"max_weight": 4.0, "alpha": 0.05, **arguments}
        )


def test_only_a_difference_has_negative_weights():
    signed = dataclasses.replace(EVEN, weight=EVEN.weight - 1.0)
    arguments = {"max_weight": 4.0, "alpha": 0.05}

    assert mixture.interval(signed, DIFFERENCE, **arguments).lower < 0.0
    for estimand in (VALUE, IMPROVEMENT):
        with pytest.raises(ValueError, match="lies below 0"):
            mixture.interval(signed, estimand, **arguments)


def test_candidates_that_change_places_change_the_sign_of_their_difference():
    points = dataclasses.replace(
        make_points(
            (2.5, 1.0, True, 900), (-1.5, 0.0, True, 700), (-0.5, None, False, 40)
        ),
        own_unsupported=np.array([0.0, 0.0, 0.3]),
        other_unsupported=np.array([0.0, 0.0, 0.6]),
    )
    arguments = {"max_weight": 4.0, "alpha": 0.05}

    found = mixture.interval(DIFFERENCE.mirrored(points), DIFFERENCE, **arguments)

    there = mixture.interval(points, DIFFERENCE, **arguments)
    assert found == Interval(-there.upper, -there.lower)


def test_unsupported_mass_of_either_candidate_opens_its_end_of_a_difference():
    rows = [(w, z, False, 5e8) for w in (-1.0, 1.0) for z in (0.0, 1.0)]
    points = dataclasses.replace(
        make_points(*rows),
        own_unsupported=np.full(4, 0.1),
        other_unsupported=np.full(4, 0.2),
    )

    found = mixture.interval(points, DIFFERENCE, max_weight=4.0, alpha=0.05)

    assert found.lower == pytest.approx(-0.2, abs=1e-3)
    assert found.upper == pytest.approx(0.1, abs=1e-3)


def test_a_sampled_log_is_about_the_decisions_it_was_drawn_from():
    # Of as many rewards of 1 as of 0, a tenth of the zeros was kept.
    kept = make_points((1.0, 1.0, True, 1e6), (1.0, 0.0, True, 1e5))
    sampled = dataclasses.replace(kept, sampling_weight=np.array([0.1, 1.0]))
    arguments = {"max_weight": 4.0, "alpha": 0.05}

    found = mixture.interval(sampled, VALUE, **arguments)
    ignored = mixture.interval(kept, VALUE, **arguments)

    assert found.lower < 0.5 < found.upper
    assert found.width < 0.01
    assert ignored.lower > 0.9


@EVERY
def test_where_all_sampling_weights_are_equal_they_hardly_matter(estimand):
    points = dataclasses.replace(
        EVEN, weight=EVEN.weight - estimand.is_signed, count=EVEN.count * 100
    )
    halved = dataclasses.replace(points, sampling_weight=np.full(4, 0.5))
    arguments = {"max_weight": 4.0, "alpha": 0.05}

    found = mixture.interval(halved, estimand, **arguments)

    # Every bet is half as large, and so is the choice of bets.
    expected = mixture.interval(points, estimand, **arguments)
    assert found.width == pytest.approx(expected.width, rel=0.05)


def test_every_family_spends_a_prior_of_one():
    assert mixture.SMALL_BET_PRIORS.sum() == pytest.approx(1.0)
    for family in (mixture.HOUSE, mixture.BARE):
        assert sum(family.control_priors) == pytest.approx(1.0)
