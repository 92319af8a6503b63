"""Intervals: numbers and counts in, two ends out. Knows nothing of logs or files.

`interval` two ends, empty when the data contradict the assumptions · `points` weights,
rewards, states and counts in one canonical order · `kernel` the one search behind all
of it · `mixture` value and improvement by constant bets, and identified ranges ·
`compat` the interval another tool publishes, to its digits · `weight_test` whether the
weights contradict the logged probabilities.
"""

from __future__ import annotations

from flows.intervals.compat import bounded_mean
from flows.intervals.interval import Interval
from flows.intervals.mixture import identified_improvement, identified_value
from flows.intervals.points import Points
from flows.intervals.weight_test import contradicts

__all__ = [
    "Interval",
    "Points",
    "bounded_mean",
    "contradicts",
    "identified_improvement",
    "identified_value",
]
