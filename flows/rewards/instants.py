"""Instants and spans, in whole microseconds and as texts of a query."""

from __future__ import annotations

import datetime as dt

from flows.decisions import Window
from flows.rewards.settings import Rewards

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MICROSECOND = dt.timedelta(microseconds=1)


def window_of(rewards: Rewards) -> dict[str, str]:
    """The window around a decision, in microseconds, as texts of a query."""
    return {
        "wait_us": str(_us(rewards.wait_seconds)),
        "backward_us": str(_us(rewards.backward_seconds)),
    }


def microseconds(instant: dt.datetime) -> int:
    """Since 1970 in UTC."""
    return (instant - EPOCH) // MICROSECOND


def own_of(rewards: Rewards, decided: Window | None, received_us: str) -> str:
    """A DuckDB predicate: the span is the one that counts an event without decision.

    Of adjacent spans one is: that of the receipt, as early as a decision may still
    follow it.
    """
    if decided is None:
        return "true"
    backward = _us(rewards.backward_seconds)
    start, end = (microseconds(instant) - backward for instant in decided)
    return f"{received_us} >= {start} and {received_us} < {end}"


def _us(seconds: float) -> int:
    return round(seconds * 1_000_000)
