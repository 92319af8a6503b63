from __future__ import annotations

import math

import numpy as np
import pytest

from flows.intervals.empirical_likelihood import Sample, lower_end

CORNERS = ([0.0, 0.0], [-1.0, 3.0])  # of a value, weights up to 4


def end(scores, balances, counts, *, corners=CORNERS, deviations=1.96, weights=None):
    counts = np.array(counts, dtype=float)
    sample = Sample(
        np.array(scores, dtype=float),
        np.array(balances, dtype=float),
        counts,
        np.ones(counts.size) if weights is None else np.array(weights),
        *(np.array(numbers, dtype=float) for numbers in corners),
    )
    return lower_end(sample, deviations=deviations)


def test_without_a_balance_the_ratio_is_the_binomial_one():
    found = end([1.0, 0.0], [0.0, 0.0], [30, 70])

    divergence = 0.3 * math.log(0.3 / found) + 0.7 * math.log(0.7 / (1 - found))
    assert 2 * 100 * divergence == pytest.approx(1.96**2, abs=1e-7)


def test_a_known_mean_of_the_balance_narrows_what_the_score_shares_with_it():
    scores, counts = [0.0, 1.0, 2.0], [100, 100, 100]

    alone = end(scores, [0.0, 0.0, 0.0], counts)
    shared = end(scores, [-0.9, 0.1, 0.8], counts)

    assert alone < shared < 1.0


def test_scores_that_follow_from_the_balance_are_known():
    # Scores are 1 + balance, seen or not: the mean is 1 whatever was drawn.
    found = end([0.5, 2.0], [-0.5, 1.0], [650, 350], corners=([0, 4], [-1, 3]))

    assert found == pytest.approx(1.0, abs=1e-9)


def test_unseen_corners_pull_the_end_down():
    # The seen weights average .4: a mean of 1 needs mass on a weight that was not seen.
    light = end([0.4], [-0.6], [200])

    assert 0.2 < light < 0.4


def test_scores_as_low_as_can_be_leave_the_least_mean():
    found = end([-1.0], [0.0], [900], corners=([-1, 0, -1], [-1, 1, 0]))

    assert found == -1.0


def test_more_deviations_reject_less():
    ends = [
        end([1.0, 0.2, 0.0], [0.5, -0.5, 0.0], [50, 50, 90], deviations=deviations)
        for deviations in (0.5, 1.0, 2.0, 4.0)
    ]

    assert ends == sorted(ends, reverse=True)


def test_a_sampling_weight_stands_for_the_decisions_that_were_dropped():
    ratio = end([1.0, 0.0], [0.0, 0.0], [3e7, 7e6], weights=[0.1, 1.0], deviations=1e-3)

    assert ratio == pytest.approx(0.3, abs=1e-5)


@pytest.mark.parametrize("decisions", [1e2, 1e5, 1e9])
def test_any_number_of_decisions_is_solved_to_the_same_precision(decisions):
    counts = np.array([0.3, 0.4, 0.1, 0.2]) * decisions

    found = end([0.0, 0.5, 0.0, 2.0], [-0.5, -0.5, 1.0, 1.0], counts, deviations=2.0)
    again = end(
        [0.5, 0.0, 2.0, 0.0],
        [-0.5, 1.0, 1.0, -0.5],
        np.roll(counts, -1),
        deviations=2.0,
    )

    assert found == pytest.approx(again, abs=1e-11)
