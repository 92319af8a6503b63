"""Do the weights contradict the logged probabilities?

With true probabilities the supported weight w and the unsupported mass u of a decision
satisfy E[v (w + u - 1)] = 0, v a sampling weight (1 in a log that kept every decision).
Two lower bounds by betting, one on w + u and one on -(w + u), test this at every look
at once; a test at a fixed number of standard errors, repeated each night, would raise
false alarms without end (validity.md 14). Where a log has the logged action's
propensity alone, u is unknown and E[v (w - 1)] <= 0 is all that can be tested.

Unsupported masses are taken to their extremes (`Points.in_extremes`), which never
raises the wealth. Scores lie in [0, max_weight + 1].
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from flows.intervals.kernel import Bets, merged, wealth
from flows.intervals.mixture import SMALL_BET_PRIORS, SMALL_BETS
from flows.intervals.points import Floats, Points

Contradiction = Literal["weights too large", "weights too small"]


def contradicts(
    points: Points,
    *,
    max_weight: float,
    alpha: float = 0.001,
    is_support_known: bool = True,
) -> Contradiction | None:
    """Which way the mean of the weights rules out the logged probabilities, if any.

    points: of one candidate, not of a difference.
    max_weight: 1 / floor, the largest weight that can occur.
    alpha: probability of ever raising a false alarm, in (0, 1).
    is_support_known: whether `own_unsupported` was computed over all actions; else it
        is not read, and weights are never too small.

    Raises:
        ValueError: a weight is negative or exceeds max_weight.
    """
    points.require_weights_up_to(max_weight)
    threshold = math.log(2.0 / alpha)
    if not is_support_known:
        too_large = _log_wealth(points, points.weight, 0.0, 1.0) >= threshold
        return "weights too large" if too_large else None
    points = points.in_extremes()
    scores = points.weight + points.own_unsupported
    if _log_wealth(points, scores, 0.0, 1.0) >= threshold:
        return "weights too large"
    if _log_wealth(points, -scores, -(max_weight + 1.0), -1.0) >= threshold:
        return "weights too small"
    return None


def _log_wealth(points: Points, scores: Floats, minimum: float, mean: float) -> float:
    """Log wealth of the small bets against a mean of at most `mean`."""
    bets = Bets(
        scores,
        points.count,
        minimum,
        SMALL_BETS,
        np.log(SMALL_BET_PRIORS),
        points.sampling_weight,
    )
    return wealth([merged(bets)], mean).log
