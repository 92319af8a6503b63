"""The near group of a query: replayed by hand, and against the rule step by step."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.suggestions.near import near_pairs

ANSWERS = pl.List(pl.Struct({"qna_id": pl.Int64, "score": pl.Float64}))


def answers(*scores):
    """One list of answers a row: the pairs are numbered from 0 in order."""
    rows = [
        None
        if row is None
        else [{"qna_id": n, "score": float(s)} for n, s in enumerate(row)]
        for row in scores
    ]
    return pl.Series(rows, dtype=ANSWERS)


def groups(*scores, unit=100.0):
    found = near_pairs(answers(*scores), score_unit=unit)
    return [found.filter(row=row)["qna_id"].to_list() for row in range(len(scores))]


@pytest.mark.parametrize(
    ("scores", "group"),
    [
        ([74.21, 74.15, 69.99], [0, 1, 2]),  # document 003
        ([80, 78, 75, 50], [0, 1, 2]),
        ([96, 95.9], []),
        ([20, 19.9], []),
        ([95, 94.9], [0, 1]),
        ([20.1, 20], [0, 1]),
        ([40, 36, 35, 33], [0, 1, 2]),
        ([80, 73.7], []),  # 6.3 is not within 0.7 * sqrt(80) = 6.26
        ([80, 73.8], [0, 1]),
        ([80, 75, 71.1], [0, 1, 2]),  # within 1.0 * sqrt(80) = 8.94 of the top
        ([80, 75, 71], [0, 1]),
        ([80], []),
        ([10], []),
        ([], []),
        (None, []),
    ],
)
def test_the_public_rule_gives_these_groups(scores, group):
    assert groups(scores) == [group]
    assert groups(scores and [s / 100 for s in scores], unit=1.0) == [group]


def test_the_order_of_answers_does_not_matter():
    rows = pl.Series(
        [
            [{"qna_id": 600, "score": 69.99}, {"qna_id": 607, "score": 74.21}],
            [{"qna_id": 607, "score": 74.21}, {"qna_id": 600, "score": 69.99}],
        ],
        dtype=ANSWERS,
    )
    found = near_pairs(rows, score_unit=100)
    assert found.rows() == [(0, 600), (0, 607), (1, 600), (1, 607)]


def test_one_pair_listed_twice_is_no_group():
    rows = [[{"qna_id": 7, "score": 80.0}, {"qna_id": 7, "score": 79.0}]]
    assert near_pairs(pl.Series(rows, dtype=ANSWERS), score_unit=100).is_empty()


def step_by_step(scores):
    """The rule as its source tells it: `previous` moves to answers that are near."""
    order = sorted(range(len(scores)), key=lambda n: -scores[n])
    if not order or not 20 < scores[order[0]] <= 95:
        return []
    top = previous = scores[order[0]]
    near = {order[0]}
    for n in order[1:]:
        score = scores[n]
        if previous - score < 0.7 * math.sqrt(
            previous
        ) and top - score < 1.0 * math.sqrt(top):
            near.add(n)
            previous = score
    return sorted(near) if len(near) > 1 else []


SCORES = st.lists(
    st.one_of(st.floats(0, 100), st.integers(15, 100).map(float)), max_size=8
)


@given(st.lists(SCORES, min_size=1, max_size=6))
def test_whole_columns_give_what_the_rule_gives_step_by_step(rows):
    assert groups(*rows) == [step_by_step(row) for row in rows]
