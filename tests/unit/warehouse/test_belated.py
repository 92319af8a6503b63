"""Rewards that arrive on a later day than the one they are about."""

from __future__ import annotations

import datetime as dt

import polars as pl

from flows.warehouse.judging import judgements, standing

DAY, HOUR = 86_400, 3_600


def test_rewards_of_earlier_days_are_late_or_counted_there(place):
    place.apart("default = 0.0")
    wait = 600
    noon = [(f"e{day}", DAY * day + 12 * HOUR) for day in range(3)]
    night = [(f"d{day}", DAY * day + DAY - 60) for day in range(3)]
    place.decide(sorted(noon + night, key=lambda one: one[1]))
    received = [
        ("d0", DAY + 30),  # in time, though the next day has begun
        ("e0", DAY + 60),  # late, before its day closes
        ("e0", DAY + 9 * HOUR),  # after it had closed
        ("ghost", DAY + 9 * HOUR),
        ("e0", 2 * DAY + HOUR),
        ("e2", 4 * DAY),  # closes the third night
    ]
    place.events([(name, at, at, 1.0) for name, at in received])
    plan = place.judged()
    assert plan.arrivals.rewards.wait_seconds == wait
    judged = standing(judgements(place.folder()), dt.date(2024, 5, 3))
    found = ("events", "timely", "late", "late_after_closing", "dangling")
    assert [[getattr(one.counts, name) for name in found] for one in judged] == [
        [2, 1, 1, 0, 0],
        [2, 0, 0, 1, 1],
        [1, 0, 0, 1, 0],
    ]
    (apart,) = place.folder().glob("judged/2024-05-02", "*-apart.parquet")
    assert pl.read_parquet(apart).select("reason", "decision_id").rows() == [
        ("late after closing", "e0"),
        ("dangling", "ghost"),
    ]
