"""Scores and margins, by hand, in a plane whose axes are two pairs."""

from __future__ import annotations

import numpy as np
import pytest

from flows.suggestions import assign
from flows.suggestions.assign import Pairs, assigned, middles

NOTHING = (np.array([], dtype=np.int64), np.array([], dtype=np.int64))


def rows(*vectors):
    from scipy import sparse

    return sparse.csr_array(np.array(vectors, dtype=np.float64).reshape(-1, 2))


def given(texts, pairs=((1, 0), (0, 1)), *, rejected=(), bot=None, closed=NOTHING):
    """Pairs and margins of texts; rejected: (pair, vector)."""
    known = Pairs(
        rows(*pairs),
        rows(*(vector for _, vector in rejected)),
        np.array([pair for pair, _ in rejected], dtype=np.int64),
    )
    made = assigned(
        rows(*texts),
        np.arange(len(texts)),
        known,
        bot=np.full(len(texts), -1) if bot is None else np.array(bot),
        closed=closed,
        rejected_weight=0.4,
        bot_bonus=0.2,
    )
    return made.pair.tolist(), made.margin.tolist()


def test_the_nearest_pair_takes_a_text_by_the_difference_to_the_next():
    assert given([(0.8, 0.6), (0.28, 0.96)]) == ([0, 1], [0.2, 0.68])


def test_a_tie_goes_to_the_first_pair_without_margin():
    assert given([(0.6, 0.6)]) == ([0], [0.0])


def test_resemblance_to_a_rejected_text_counts_against_its_pair():
    # Pair 0: .8 - .4 * .8; its other rejected text is further away.
    near = [(0, (1.0, 0.0)), (0, (-1.0, 0.0))]
    assert given([(0.8, 0.6)], rejected=near) == ([1], [pytest.approx(0.12)])


def test_a_rejected_text_that_points_elsewhere_counts_for_nothing():
    assert given([(0.8, 0.6)], rejected=[(1, (-1.0, 0.0))]) == ([0], [0.2])


def test_the_answer_of_the_bot_counts_for_its_pair():
    texts = [(0.8, 0.6)] * 3
    pairs, margins = given(texts, bot=[1, 0, -1])
    assert pairs == [0, 0, 0]
    assert margins == [0.0, pytest.approx(0.4), 0.2]


def test_a_closed_pair_takes_nothing():
    closed = (np.array([0]), np.array([0]))
    assert given([(0.8, 0.6), (0.8, 0.6)], closed=closed) == ([1, 0], [0.6, 0.2])


def test_the_only_pair_takes_by_its_score_alone():
    assert given([(0.8, 0.6), (0, 1)], pairs=[(1, 0)]) == ([0, -1], [0.8, 0.0])


def test_all_pairs_closed_is_no_pair():
    closed = (np.array([0, 0]), np.array([0, 1]))
    assert given([(0.8, 0.6)], closed=closed) == ([-1], [0.0])


def test_blocks_of_texts_change_nothing(monkeypatch):
    texts = [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, 1.5, 9)]
    options = {
        "rejected": [(0, (1.0, 0.0))],
        "bot": [0, 1, -1] * 3,
        "closed": (np.array([2, 7]), np.array([0, 1])),
    }
    whole = given(texts, **options)
    monkeypatch.setattr(assign, "CELLS", 8)
    assert given(texts, **options) == whole


def test_a_middle_is_the_sum_of_its_texts_to_length_one():
    made = middles(rows((1, 0), (0, 1), (0, 1)), np.array([0, 0, 2]), pairs=3)
    half = 0.5**0.5
    assert made.toarray() == pytest.approx(np.array([(half, half), (0, 0), (0, 1)]))
