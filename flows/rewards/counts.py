"""What a join of rewards counted.

Decisions, each once: `observed + default + missing + immature + unactivated`.
Events, each once: `duplicates + dangling + no_such_slot + waiting + too_early +
timely + late + late_after_closing`. Nothing that became known after the run's instant
is in any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from flows import queries


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of decisions and events.

    immature: decisions younger than the wait; they enter nothing, even when rewarded.
    unactivated: deferred decisions that were not activated inside their window;
        rewarded_unactivated: those of them that have a reward.
    clipped: final rewards set to an end of their range.
    ties: how often rewards of different values were received first, at one instant.
    duplicates: events that repeat a reward_id of their decision; contradicting: those
        that say something else than the first.
    dangling: events without a decision, in a day those received in it;
        no_such_slot: whose decision does not have their slot.
    waiting: events of immature decisions.
    too_early, late: received before, or at or after the end of, the window.
    timely: received inside it; before_the_decision, wrong_item: some of them.
    late_after_closing: received in a day, for a decision of an earlier one that had
        closed by then.
    at_the_boundary: late events received exactly when the wait ended.
    outside: events whose own reward lies outside the range, which stops nothing.
    zeros, ones: observed rewards that are 0, and 1.
    """

    decisions: int = 0
    observed: int = 0
    default: int = 0
    missing: int = 0
    immature: int = 0
    unactivated: int = 0
    rewarded_unactivated: int = 0
    clipped: int = 0
    ties: int = 0
    events: int = 0
    duplicates: int = 0
    contradicting: int = 0
    dangling: int = 0
    no_such_slot: int = 0
    waiting: int = 0
    too_early: int = 0
    timely: int = 0
    late: int = 0
    late_after_closing: int = 0
    before_the_decision: int = 0
    at_the_boundary: int = 0
    wrong_item: int = 0
    outside: int = 0
    zeros: int = 0
    ones: int = 0
    activations: int = 0
    dangling_activations: int = 0
    late_activations: int = 0


@dataclass(frozen=True, slots=True)
class Delays:
    """From decisions to their rewards, late ones included, in seconds.

    A reward received before its decision has a delay of 0. A quantile is the least
    delay that at least this share of rewards does not exceed.
    """

    median_seconds: float
    percentile_99_seconds: float
    largest_seconds: float


def count_decisions(con: duckdb.DuckDBPyConnection) -> tuple[dict[str, int], int]:
    """What was judged, and how many observed rewards lie outside their range."""
    counts = {"decisions": 0}
    outside_count = 0
    for status, count, rewarded, outside, zeros, ones in queries.run(
        con, "rewards/tally"
    ):
        counts[status] = count
        counts["decisions"] += count
        if status == "observed":
            outside_count = outside
            counts |= {"zeros": zeros, "ones": ones}
        if status == "unactivated":
            counts["rewarded_unactivated"] = rewarded
    return counts, outside_count


def count_events(
    con: duckdb.DuckDBPyConnection, window: Mapping[str, str]
) -> tuple[dict[str, int], Delays | None]:
    """What became of the known events, and how long rewards took.

    window: around a decision, in microseconds, as text of the query.
    """
    query = queries.filled("rewards/events_counted", window)
    row = queries.frame(con, query).row(0, named=True)
    delays = row.pop("delays_us")
    ((duplicates, contradicting),) = queries.run(con, "rewards/duplicates")
    ((ties,),) = queries.run(con, "rewards/ties")
    counts: dict[str, int] = {
        **row,
        "duplicates": duplicates,
        "contradicting": contradicting,
        "ties": ties,
    }
    return counts, Delays(*(us / 1e6 for us in delays)) if delays else None
