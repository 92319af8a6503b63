"""Rewards that arrive in a table of their own, joined with the decisions of a log.

`Rewards` says what is declared, `judge` writes what became of each decision, `Counts`
what became of each event; `Judged.warnings` are 000's advice where it applies. The
log's lists are never copied.
"""

from __future__ import annotations

from flows.rewards.counts import Counts, Delays
from flows.rewards.judging import Beside, Decisions, Judged, Outputs, judge
from flows.rewards.settings import AGGREGATIONS, Aggregation, Factor, Rewards
from flows.rewards.spans import (
    Known,
    Span,
    Table,
    find_events,
    spans,
)

__all__ = [
    "AGGREGATIONS",
    "Aggregation",
    "Beside",
    "Counts",
    "Decisions",
    "Delays",
    "Factor",
    "Judged",
    "Known",
    "Outputs",
    "Rewards",
    "Span",
    "Table",
    "find_events",
    "judge",
    "spans",
]
