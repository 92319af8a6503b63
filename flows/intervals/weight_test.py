"""Do the weights contradict the logged probabilities?

With true probabilities the supported weight w and the unsupported mass u of a decision
satisfy E[w + u] = 1. Two lower bounds by betting, one on w + u and one on -(w + u),
test this at every look at once; a test at a fixed number of standard errors, repeated
each night, would raise false alarms without end (validity.md 14).

Only the mean of u is known at a point. Its count is split into decisions with u = 0 and
with u = 1 that keep that mean: log wealth is concave in the score, so the split never
raises the wealth and the test stays conservative (intervals.md, section 4). Scores lie
in [0, max_weight + 1].
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
    unsupported_mean: Floats,
    *,
    max_weight: float,
    alpha: float = 0.001,
) -> Contradiction | None:
    """Which way the mean of the weights rules out the logged probabilities, if any.

    unsupported_mean: shape (points,), mean unsupported mass of each point, in [0, 1].
    max_weight: 1 / floor, the largest weight that can occur.
    alpha: probability of ever raising a false alarm, in (0, 1).

    Raises:
        ValueError: unsupported_mean has another shape or leaves [0, 1], or a weight
            exceeds max_weight.
    """
    points.require_weights_up_to(max_weight)
    if unsupported_mean.shape != points.weight.shape:
        raise ValueError("unsupported_mean and points differ in shape")
    if not ((unsupported_mean >= 0) & (unsupported_mean <= 1)).all():
        raise ValueError("unsupported_mean leaves [0, 1]")
    scores = np.concatenate([points.weight, points.weight + 1.0])
    counts = np.concatenate(
        [points.count * (1.0 - unsupported_mean), points.count * unsupported_mean]
    )
    threshold = math.log(2.0 / alpha)
    if _log_wealth(scores, counts, 0.0, 1.0) >= threshold:
        return "weights too large"
    if _log_wealth(-scores, counts, -(max_weight + 1.0), -1.0) >= threshold:
        return "weights too small"
    return None


def _log_wealth(scores: Floats, counts: Floats, minimum: float, mean: float) -> float:
    """Log wealth of the small bets against a mean of at most `mean`."""
    bets = Bets(scores, counts, minimum, SMALL_BETS, np.log(SMALL_BET_PRIORS))
    return wealth([merged(bets)], mean).log
