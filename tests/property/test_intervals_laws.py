"""Laws of the intervals, on random points."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.intervals import (
    ESTIMANDS,
    Points,
    bounded_mean,
    contradicts,
    identified,
    mixture,
)
from flows.intervals.estimands import DIFFERENCE, IMPROVEMENT, VALUE
from flows.intervals.kernel import Bets, wealth

BOUND = 20.0
OPTIONS = {"max_weight": BOUND, "alpha": 0.05}
EVERY = pytest.mark.parametrize("estimand", ESTIMANDS.values(), ids=ESTIMANDS)
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
        st.sampled_from([1.0, 1.0, 0.5, 0.05]),
        fractions_of(1.0),
        fractions_of(1.0),
    ),
    min_size=1,
    max_size=25,
)


def as_points(rows, estimand=None):
    """Points of one candidate or, for a difference, of two."""
    weight, reward, missing, supported, count, sampling, own, other = map(
        np.array, zip(*rows, strict=True)
    )
    is_pair = estimand is DIFFERENCE
    return Points(
        2 * weight - BOUND if is_pair else weight,
        reward,
        missing,
        supported,
        count.astype(float),
        sampling,
        np.where(supported, 0.0, own),
        np.where(supported | (not is_pair), 0.0, other),
    )


def complete(points):
    """The same points, supported and rewarded."""
    no = np.zeros(points.weight.size, dtype=bool)
    return replace(
        points,
        is_reward_missing=no,
        is_supported=~no,
        own_unsupported=np.zeros(no.size),
        other_unsupported=np.zeros(no.size),
    )


@few
@EVERY
@given(rows=ROWS, seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_changes_no_bit(estimand, rows, seed):
    shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]

    expected = mixture.interval(as_points(rows, estimand), estimand, **OPTIONS)

    found = mixture.interval(as_points(shuffled, estimand), estimand, **OPTIONS)
    assert found == expected


@few
@EVERY
@given(rows=ROWS)
def test_splitting_counts_over_two_rows_leaves_the_interval_alone(estimand, rows):
    points = as_points(rows, estimand)
    halves = as_points(rows * 2, estimand)
    halves = replace(halves, count=halves.count / 2)

    found = mixture.interval(halves, estimand, **OPTIONS)

    expected = mixture.interval(points, estimand, **OPTIONS)
    assert found.lower == pytest.approx(expected.lower, abs=1e-9)
    assert found.upper == pytest.approx(expected.upper, abs=1e-9)
    whole = replace(points, count=2.0 * np.rint(points.count))
    halved = replace(halves, count=np.tile(whole.count / 2, 2))
    found = mixture.interval(halved, estimand, **OPTIONS)
    assert found == mixture.interval(whole, estimand, **OPTIONS)


@few
@EVERY
@given(rows=ROWS, lost=st.lists(st.booleans(), min_size=25, max_size=25))
def test_losing_a_reward_never_narrows_either_end(estimand, rows, lost):
    points = as_points(rows, estimand)
    poorer = replace(
        points, is_reward_missing=points.is_reward_missing | np.array(lost[: len(rows)])
    )

    before = mixture.interval(points, estimand, **OPTIONS)

    after = mixture.interval(poorer, estimand, **OPTIONS)
    assert after.lower <= before.lower + 1e-9
    assert after.upper >= before.upper - 1e-9


@few
@EVERY
@given(rows=ROWS, times=st.integers(2, 1000))
def test_replicated_data_never_widen(estimand, rows, times):
    points = as_points(rows, estimand)
    more = replace(points, count=points.count * times)

    found = mixture.interval(more, estimand, **OPTIONS)

    before = mixture.interval(points, estimand, **OPTIONS)
    assert found.lower >= before.lower - 1e-9
    assert found.upper <= before.upper + 1e-9


def in_a_grid(points):
    """Every point as four: weight and reward up and down by the same, mass split."""
    step = np.minimum(points.weight, BOUND - points.weight) / 2
    gap = np.minimum(points.reward, 1.0 - points.reward) / 2
    four = {f.name: np.tile(getattr(points, f.name), 4) for f in fields(Points)}
    four["weight"] += np.outer([-1, -1, 1, 1], step).ravel()
    four["reward"] += np.outer([-1, 1, -1, 1], gap).ravel()
    return replace(Points(**four), count=four["count"] / 4)


@few
@EVERY
@given(rows=ROWS)
def test_mass_split_over_a_grid_never_narrows_either_end(estimand, rows):
    points = as_points(rows)

    before = mixture.interval(points, estimand, **OPTIONS)

    split = mixture.interval(in_a_grid(points), estimand, **OPTIONS)
    assert split.lower <= before.lower + 1e-9
    assert split.upper >= before.upper - 1e-9


@few
@EVERY
@given(rows=ROWS)
def test_sampling_weights_of_one_change_no_bit(estimand, rows):
    points = as_points([(*row[:5], 1.0, *row[6:]) for row in rows], estimand)
    left_out = {f.name: getattr(points, f.name) for f in fields(Points)}
    del left_out["sampling_weight"]

    found = mixture.interval(Points(**left_out), estimand, **OPTIONS)

    assert found == mixture.interval(points, estimand, **OPTIONS)


@few
@given(rows=ROWS)
def test_a_candidate_equal_to_the_logging_policy_may_improve_nothing(rows):
    points = as_points(rows)
    equal = replace(points, weight=np.ones(points.weight.size))

    found = mixture.interval(equal, IMPROVEMENT, **OPTIONS)

    assert found.lower <= 0.0 <= found.upper


@few
@given(rows=ROWS)
def test_a_candidate_does_not_differ_from_itself(rows):
    points = as_points(rows, DIFFERENCE)
    same = replace(
        points,
        weight=np.zeros(points.weight.size),
        other_unsupported=points.own_unsupported,
    )

    found = mixture.interval(same, DIFFERENCE, **OPTIONS)

    assert found.lower <= 0.0 <= found.upper
    assert found.lower == -found.upper
    assert identified(same, DIFFERENCE).lower <= 0.0


@few
@given(rows=ROWS)
def test_a_difference_from_the_logging_policy_is_the_improvement(rows):
    points = as_points([(*row[:3], True, *row[4:]) for row in rows])
    pair = replace(points, weight=points.weight - 1.0)

    found, expected = identified(pair, DIFFERENCE), identified(points, IMPROVEMENT)

    assert (found.lower, found.upper) == (expected.lower, expected.upper)


@few
@given(
    weights=st.lists(fractions_of(1.0), min_size=1, max_size=20),
    reward=fractions_of(1.0),
    count=st.integers(1, 10_000),
)
def test_a_constant_reward_lies_inside_when_weights_average_one(weights, reward, count):
    paired = [w for half in weights for w in (half, 2.0 - half)]
    points = as_points([(w, reward, False, True, count, 1.0, 0, 0) for w in paired])

    found = mixture.interval(points, VALUE, **OPTIONS)

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
    points = as_points([(*row[:5], 1.0, *row[6:]) for row in rows])

    found = mixture.interval(points, ESTIMANDS[estimand], **OPTIONS)

    reference = compat_ends(points, estimand)
    assert found.lower >= reference.lower - 1e-9
    assert found.upper <= reference.upper + 1e-9


@few
@EVERY
@given(rows=ROWS)
def test_the_estimates_of_complete_data_lie_in_the_identified_ranges(estimand, rows):
    points = as_points(rows, estimand)

    found = identified(points, estimand)

    estimate = identified(complete(points), estimand)
    assert estimate.width == 0.0
    assert found.lower - 1e-9 <= estimate.lower <= found.upper + 1e-9


@few
@given(rows=ROWS)
def test_the_weight_test_reads_weight_and_mass_whatever_the_order(rows):
    found = contradicts(as_points(rows), max_weight=BOUND)

    assert contradicts(as_points(rows[::-1]), max_weight=BOUND) == found


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
