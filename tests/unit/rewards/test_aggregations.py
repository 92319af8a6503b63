"""Aggregates give the same whatever order DuckDB's threads meet the rewards in."""

from __future__ import annotations

import itertools

import pytest

from flows import queries

# Reward, delay in microseconds, arrival: two of them at one instant.
REWARDS = ((0.7, 5, 1), (0.1, 5, 2), (0.2, 7, 0), (-0.3, 9, 3))
EXPECTED = {
    "earliest": 0.7,
    "sum": 0.7,
    "average": 0.175,
    "median": 0.15,
    "min": -0.3,
    "max": 0.7,
}


@pytest.mark.parametrize("aggregation", EXPECTED)
def test_an_aggregate_does_not_depend_on_the_order_of_rows(aggregation):
    pieces = {"wait_us": "0", "backward_us": "0", "otherwise": "''"}
    found = set()
    with queries.connection() as con:
        queries.run(con, "rewards/macros", None, unit=repr(2.0**-80), **pieces)
        queries.run(con, f"rewards/aggregations/{aggregation}")
        for rows in itertools.permutations(REWARDS):
            values = ", ".join(map(str, rows))
            query = f"from (values {values}) as given (reward, delay_us, arrival)"
            told = con.execute(
                f"select aggregate(reward::double, delay_us, arrival) {query}"
            )
            found.add(told.fetchall()[0][0])
    (same,) = found
    assert same == pytest.approx(EXPECTED[aggregation], abs=1e-15)
