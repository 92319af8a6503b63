"""The retired service's rule, which looks at two intervals, not at one difference."""

from __future__ import annotations

import math

import pytest

from flows.importers.switch_rule import would_switch


@pytest.mark.parametrize(
    ("candidate", "online", "expected"),
    [
        # Overlapping intervals pass: [0.31, 0.53] against [0.30, 0.52].
        ((0.42, 0.31), (0.41, 0.30), True),
        ((0.42, 0.30), (0.41, 0.30), False),
        ((0.41, 0.31), (0.41, 0.30), False),
        ((0.50, 0.29), (0.41, 0.30), False),
        ((0.40, 0.35), (0.41, 0.30), False),
        ((math.nan, math.nan), (0.41, 0.30), False),
        ((0.42, 0.31), (0.41, math.nan), False),
    ],
)
def test_the_higher_value_and_the_higher_lower_end_win(candidate, online, expected):
    found = would_switch(
        candidate_value=candidate[0],
        candidate_lower=candidate[1],
        online_value=online[0],
        online_lower=online[1],
    )
    assert found is expected


def test_a_lower_end_above_its_value_is_refused():
    with pytest.raises(ValueError, match=r"lower end 0\.5 above the value 0\.4"):
        would_switch(
            candidate_value=0.4, candidate_lower=0.5, online_value=0.4, online_lower=0.3
        )
