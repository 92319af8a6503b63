"""Laws of the intervals, on random points."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.intervals import (
    Points,
    bounded_mean,
    contradicts,
    identified_improvement,
    identified_value,
    mixture,
)
from flows.intervals.kernel import Bets, wealth

BOUND = 20.0
ESTIMANDS = pytest.mark.parametrize(
    "estimate", [mixture.value, mixture.improvement], ids=["value", "improvement"]
)
few = settings(max_examples=60, deadline=None)


def fractions_of(top):
    return st.integers(0, 64).map(lambda step: top * step / 64)


ROWS = st.lists(
    st.tuples(
        fractions_of(BOUND),
        fractions_of(1.0),
        st.booleans(),
        st.booleans(),
        st.one_of(st.integers(1, 400), st.floats(0.001, 50.0)),
    ),
    min_size=1,
    max_size=25,
)


def as_points(rows):
    weight, reward, missing, supported, count = zip(*rows, strict=True)
    return Points(
        np.array(weight, dtype=float),
        np.array(reward, dtype=float),
        np.array(missing, dtype=bool),
        np.array(supported, dtype=bool),
        np.array(count, dtype=float),
    )


def complete(rows):
    """The same rows, supported and rewarded."""
    return [(weight, reward, False, True, count) for weight, reward, *_, count in rows]


@few
@ESTIMANDS
@given(rows=ROWS, seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_changes_no_bit(estimate, rows, seed):
    shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]

    expected = estimate(as_points(rows), max_weight=BOUND, alpha=0.05)

    found = estimate(as_points(shuffled), max_weight=BOUND, alpha=0.05)
    assert found == expected


@few
@ESTIMANDS
@given(rows=ROWS)
def test_splitting_counts_over_two_rows_leaves_the_interval_alone(estimate, rows):
    halves = [(*key, count / 2) for *key, count in rows] * 2

    found = estimate(as_points(halves), max_weight=BOUND, alpha=0.05)

    expected = estimate(as_points(rows), max_weight=BOUND, alpha=0.05)
    assert found.lower == pytest.approx(expected.lower, abs=1e-9)
    assert found.upper == pytest.approx(expected.upper, abs=1e-9)
    whole = [(*key, 2.0 * round(count)) for *key, count in rows]
    halved = [(*key, count / 2) for *key, count in whole] * 2
    assert estimate(as_points(halved), max_weight=BOUND, alpha=0.05) == estimate(
        as_points(whole), max_weight=BOUND, alpha=0.05
    )


@few
@ESTIMANDS
@given(rows=ROWS, lost=st.lists(st.booleans(), min_size=25, max_size=25))
def test_losing_a_reward_never_narrows_either_end(estimate, rows, lost):
    points = as_points(rows)
    poorer = dataclasses.replace(
        points, is_reward_missing=points.is_reward_missing | np.array(lost[: len(rows)])
    )

    before = estimate(points, max_weight=BOUND, alpha=0.05)

    after = estimate(poorer, max_weight=BOUND, alpha=0.05)
    assert after.lower <= before.lower + 1e-9
    assert after.upper >= before.upper - 1e-9


@few
@ESTIMANDS
@given(rows=ROWS, times=st.integers(2, 1000))
def test_replicated_data_never_widen(estimate, rows, times):
    more = [(*key, count * times) for *key, count in rows]

    found = estimate(as_points(more), max_weight=BOUND, alpha=0.05)

    before = estimate(as_points(rows), max_weight=BOUND, alpha=0.05)
    assert found.lower >= before.lower - 1e-9
    assert found.upper <= before.upper + 1e-9


@few
@given(rows=ROWS)
def test_a_candidate_equal_to_the_logging_policy_may_improve_nothing(rows):
    equal = [(1.0, *rest) for _, *rest in rows]

    found = mixture.improvement(as_points(equal), max_weight=BOUND, alpha=0.05)

    assert found.lower <= 0.0 <= found.upper


@few
@given(
    weights=st.lists(fractions_of(1.0), min_size=1, max_size=20),
    reward=fractions_of(1.0),
    count=st.integers(1, 10_000),
)
def test_a_constant_reward_lies_inside_when_weights_average_one(weights, reward, count):
    paired = [w for half in weights for w in (half, 2.0 - half)]
    points = as_points([(w, reward, False, True, count) for w in paired])

    found = mixture.value(points, max_weight=BOUND, alpha=0.05)

    assert found.lower <= reward <= found.upper


def compat_ends(points, estimand):
    """compat's interval: missing and unsupported decisions at the ends of the range."""
    bounded = points.is_supported & ~points.is_reward_missing
    weight = points.weight if estimand == "value" else points.weight - 1.0
    span = (0.0, BOUND) if estimand == "value" else (-1.0, max(1.0, BOUND - 1.0))
    return bounded_mean(
        np.where(bounded, weight * points.reward, span[0]),
        np.where(bounded, weight * points.reward, span[1]),
        points.count,
        value_range=span,
        confidence=0.975,
    )


@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("estimand", ["value", "improvement"])
@given(rows=ROWS)
def test_the_mixture_is_never_wider_than_compat_at_half_the_error(estimand, rows):
    points = as_points(rows)

    found = getattr(mixture, estimand)(points, max_weight=BOUND, alpha=0.05)

    reference = compat_ends(points, estimand)
    assert found.lower >= reference.lower - 1e-9
    assert found.upper <= reference.upper + 1e-9


@few
@given(rows=ROWS, unsupported=fractions_of(1.0))
def test_the_estimates_of_complete_data_lie_in_the_identified_ranges(rows, unsupported):
    points, known = as_points(rows), as_points(complete(rows))

    for identified in (identified_value, identified_improvement):
        found = identified(points, unsupported_mean=unsupported)
        estimate = identified(known, unsupported_mean=0.0)
        assert estimate.width == 0.0
        assert found.lower - 1e-9 <= estimate.lower <= found.upper + 1e-9


@few
@given(rows=ROWS, masses=st.lists(fractions_of(1.0), min_size=25, max_size=25))
def test_the_weight_test_reads_weight_and_mass_whatever_the_order(rows, masses):
    points, mass = as_points(rows), np.array(masses[: len(rows)])
    backwards = as_points(rows[::-1])

    found = contradicts(points, mass, max_weight=BOUND)

    assert contradicts(backwards, mass[::-1], max_weight=BOUND) == found


@few
@given(
    scores=st.lists(fractions_of(1.0), min_size=1, max_size=20),
    first=fractions_of(0.9),
    second=fractions_of(0.9),
)
def test_log_wealth_falls_and_is_convex_in_the_mean(scores, first, second):
    bets = Bets(
        np.array(scores),
        np.ones(len(scores)),
        0.0,
        mixture.SMALL_BETS,
        np.log(mixture.SMALL_BET_PRIORS),
    )
    low, high = sorted((first + 0.05, second + 0.05))

    left, middle, right = (
        wealth([bets], mean).log for mean in (low, (low + high) / 2, high)
    )

    assert left >= right - 1e-9
    assert middle <= (left + right) / 2 + 1e-9
