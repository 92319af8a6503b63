"""Intervals: numbers and counts in, two ends out. Knows nothing of logs or files.

`interval` two ends, empty when the data contradict the assumptions · `points` weights,
rewards, states and counts in one canonical order · `estimands` value, improvement and
difference of two candidates as scores, and identified ranges · `kernel` the one search
behind constant bets · `mixture` any estimand by constant bets · `night_mixture` the
same where means or the logging policy may move · `blocks` bets that learn from block to
block, for one look or for nights · `compat` the interval another tool publishes, to its
digits · `weight_test` whether the weights contradict the logged probabilities.
"""

from __future__ import annotations

from flows.intervals.compat import bounded_mean
from flows.intervals.estimands import ESTIMANDS, Estimand, identified
from flows.intervals.interval import Interval
from flows.intervals.points import Points
from flows.intervals.weight_test import contradicts

__all__ = [
    "ESTIMANDS",
    "Estimand",
    "Interval",
    "Points",
    "bounded_mean",
    "contradicts",
    "identified",
]
