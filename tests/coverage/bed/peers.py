"""What the widths of the bed are held against, on the same counts.

`normal`: importance weighting, mean and standard errors; valid in the limit alone.
`likelihood`: empirical likelihood, likewise; not there below 25 decisions times floor.
`compat`: the interval another tool publishes, cut to what is possible.
"""

from __future__ import annotations

import math

import numpy as np

from flows.intervals import ESTIMANDS, Interval, bounded_mean
from flows.intervals.approximate import second_lines

PEERS = ("normal", "likelihood", "compat")
CONFIDENCE = 0.95
DEVIATIONS = 1.959964


def widths(points, estimand, *, floor, max_weight):
    """Widths by peer, of those that have an interval.

    points: complete data, as counted.
    """
    found = {"normal": normal(points, estimand).width}
    if estimand == "difference":
        return found
    lines = second_lines(
        points,
        estimand,
        max_weight=max_weight,
        alpha=1.0 - CONFIDENCE,
        floor=floor,
    )
    ends = {line.method: (line.lower, line.upper) for line in lines}
    lower, upper = ends["empirical_likelihood"]
    if lower is not None:
        found["likelihood"] = upper - lower
    found["compat"] = compat(points, estimand, max_weight).width
    return found


def normal(points, estimand):
    """The plain normal interval, not cut to what is possible."""
    scores = ESTIMANDS[estimand].scores(points, 0.0)
    mass = points.count * points.sampling_weight
    mean = float(mass @ scores) / float(mass.sum())
    gaps = points.sampling_weight * (scores - mean)
    error = math.sqrt(float(points.count @ (gaps * gaps))) / float(mass.sum())
    return Interval(mean - DEVIATIONS * error, mean + DEVIATIONS * error)


def compat(points, estimand, max_weight):
    """`compat` of complete data, cut to what is possible."""
    one = ESTIMANDS[estimand]
    scores = one.scores(points, 0.0)
    # Scores of a value lie in [0, B], of an improvement in [-1, B - 1].
    lowest = one.least_score(0.0, max_weight)
    highest = lowest + max_weight
    scores = np.clip(scores, lowest, highest)
    found = bounded_mean(
        scores,
        scores,
        points.count,
        value_range=(lowest, highest),
        confidence=CONFIDENCE,
    )
    return found.intersect(one.possible)
