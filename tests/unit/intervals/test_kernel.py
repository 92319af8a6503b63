from __future__ import annotations

import math

import numpy as np
import pytest

from flows.intervals.kernel import (
    PILOT_SCORES,
    Bets,
    largest_rejected,
    merged,
    wealth,
)

THRESHOLD = math.log(40)


def one_bet(scores, fraction=0.5, minimum=0.0, counts=None):
    scores = np.array(scores, dtype=float)
    counts = np.ones(scores.size) if counts is None else np.array(counts, dtype=float)
    return Bets(scores, counts, minimum, np.array([fraction]), np.zeros(1))


def search(mixture, low=0.0, high=1.0):
    return largest_rejected(mixture, low=low, high=high, log_threshold=THRESHOLD)


def test_the_wealth_is_the_product_of_its_factors():
    at = wealth([one_bet([0.0, 0.8, 1.0])], 0.4)

    assert at.log == pytest.approx(math.log(0.5 * 1.5 * 1.75))


def test_a_mixture_averages_wealth_over_bets_and_scores():
    first, second = one_bet([1.0]), one_bet([0.0], fraction=0.2)
    half = np.full(1, math.log(0.5))
    mixture = [
        Bets(bet.scores, bet.counts, 0.0, bet.fractions, half)
        for bet in (first, second)
    ]

    assert wealth(mixture, 0.5).log == pytest.approx(math.log((1.5 + 0.8) / 2))


def test_the_slope_is_the_derivative_of_the_log_wealth():
    bets = Bets(
        np.array([-0.5, 0.2, 0.9]),
        np.array([3.0, 2.0, 1.5]),
        -1.0,
        np.array([0.1, 0.8]),
        np.log([0.3, 0.7]),
    )

    around = [wealth([bets], 0.3 + step).log for step in (-1e-6, 1e-6)]

    slope = wealth([bets], 0.3).slope
    assert slope == pytest.approx((around[1] - around[0]) / 2e-6, rel=1e-6)


def test_a_single_bet_is_solved_in_closed_form():
    # Ten scores of 1 at f = 1/2: (0.5 + 0.5 / m)^10 = 40.
    expected = 0.5 / (40**0.1 - 0.5)

    found = search([one_bet([1.0] * 10)])

    assert found <= expected
    assert found == pytest.approx(expected, abs=2e-12)


def test_the_end_returned_is_rejected_and_the_next_one_is_not():
    scores = np.random.default_rng(1).random(500)
    mixture = [one_bet(scores, fraction=0.3)]

    found = search(mixture)

    assert wealth(mixture, found).log >= THRESHOLD
    assert wealth(mixture, found + 1e-12).log < THRESHOLD


@pytest.mark.parametrize(
    ("scores", "low"), [([], 0.0), ([0.0] * 50, 0.0), ([0.5], 0.1), ([0.5] * 9, 0.5)]
)
def test_without_evidence_the_end_is_the_lowest_mean(scores, low):
    assert search([one_bet(scores, fraction=0.1)], low=low) == low


def test_scores_may_reach_below_zero():
    found = search([one_bet([-0.5] * 900 + [0.5] * 100, minimum=-1.0)], low=-1.0)

    assert -1.0 < found < -0.4


def test_very_rare_gains_are_found_near_the_minimum():
    counts = [999_999.0, 3.0]
    mixture = [one_bet([0.0, 1.0], fraction=1e-5, counts=counts)]

    found = search(mixture, high=1000.0)

    assert wealth(mixture, found).log >= THRESHOLD
    assert wealth(mixture, found + 2e-9).log < THRESHOLD


@pytest.mark.parametrize("count", [1.0, 0.37])
def test_the_order_of_scores_changes_no_bit(count):
    scores = np.random.default_rng(2).random(300)
    counts = np.where(scores > 0.5, count, 2.0)

    found = search([one_bet(scores[::-1], counts=counts[::-1])])

    assert found == search([one_bet(scores, counts=counts)])


def test_a_pilot_over_averages_leaves_the_end_where_it_is():
    rng = np.random.default_rng(3)
    scores = np.concatenate([np.zeros(1), rng.random(4 * PILOT_SCORES) ** 4])
    mixture = [one_bet(scores, fraction=0.02)]

    found = search(mixture)

    assert wealth(mixture, found).log >= THRESHOLD
    assert wealth(mixture, found + 1e-12).log < THRESHOLD


def test_leaving_out_broke_bets_moves_nothing_that_can_be_seen():
    scores, counts = np.array([0.0, 1.0]), np.array([9e6, 1e6])
    fractions = np.array([1e-4, 1e-3, 0.3, 0.9])
    many = Bets(scores, counts, 0.0, fractions, np.full(4, math.log(0.25)))

    found = search([many])

    assert wealth([many], found).log == pytest.approx(THRESHOLD, abs=1e-4)


def test_a_sampling_weight_scales_the_stake():
    bets = Bets(
        np.array([1.0, 0.0]),
        np.ones(2),
        0.0,
        np.array([0.5]),
        np.zeros(1),
        np.array([0.2, 1.0]),
    )

    at = wealth([bets], 0.5)

    assert at.log == pytest.approx(math.log((1 + 0.5 * 0.2) * (1 - 0.5)))


def sampled(seed, fractions=(0.1, 0.8)):
    random = np.random.default_rng(seed)
    size = 3 * PILOT_SCORES
    return Bets(
        random.random(size) ** 3 - 0.5,
        random.integers(1, 4, size) * 1.0,
        -1.0,
        np.array(fractions),
        np.full(2, math.log(0.5)),
        random.choice([0.1, 0.35, 1.0], size),
    )


def test_with_sampling_weights_the_slope_is_the_derivative():
    bets = sampled(4)

    around = [wealth([bets], -0.3 + step).log for step in (-1e-7, 1e-7)]

    slope = wealth([bets], -0.3).slope
    assert slope == pytest.approx((around[1] - around[0]) / 2e-7, rel=1e-5)


def test_with_sampling_weights_the_end_is_the_last_one_rejected():
    bets = sampled(5, (0.01, 0.05))

    found = search([bets], low=-1.0)

    mean = float((bets.scores * bets.mass).sum() / bets.mass.sum())
    assert -1.0 < found < mean
    assert wealth([bets], found).log >= THRESHOLD
    assert wealth([bets], found + 4e-12).log < THRESHOLD


def test_scores_of_different_sampling_weights_stay_apart():
    bets = Bets(
        np.array([0.5, 0.5, 0.5]),
        np.array([1.0, 2.0, 4.0]),
        0.0,
        np.array([0.5]),
        np.zeros(1),
        np.array([0.5, 1.0, 0.5]),
    )

    found = merged(bets)

    assert found.scores.tolist() == [0.5, 0.5]
    assert found.counts.tolist() == [5.0, 2.0]
    assert found.mass.tolist() == [2.5, 2.0]


def test_sampling_weights_of_one_change_no_bit():
    scores = np.random.default_rng(6).random(500)
    bets = one_bet(scores, fraction=0.05)
    ones = Bets(
        bets.scores, bets.counts, 0.0, bets.fractions, bets.log_priors, np.ones(500)
    )

    assert search([ones]) == search([bets])
