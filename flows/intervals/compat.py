"""The interval named `bounded_mean_betting_mixture@1`, to its digits.

Values in a known range [a, b] are mapped to y in [0, 1]. Against a mean m the capital
is the average over f = j/21, j = 1..20, of the product of 1 - f + f * y / m. The lower
end is the largest m whose log capital reaches ln(2 / (1 - confidence)) + 1e-9; the
upper end is the mirror image. Decisions without a value count as a at the lower end and
as b at the upper end: the caller passes both values of each row. Ends are mapped back
outward. Nothing is clipped to what is possible and nothing is adjusted for several
candidates, or the digits would be others (validity.md 3).

This interval stops narrowing as data grow: its smallest bet, 1/21, is far above the
best one for a long log (intervals.md, section 3). It is kept to agree with the tool
that published it; `mixture` is never wider than this one at half the error.

Source: oloproof 0.1.0a20 as described in ope-anchors.md, section 2.
"""

from __future__ import annotations

import math

import numpy as np

from flows.intervals.interval import Interval
from flows.intervals.kernel import Bets, largest_rejected
from flows.intervals.points import Floats

FRACTIONS = np.arange(1, 21) / 21.0
THRESHOLD_SLACK = 1e-9


def bounded_mean(
    low_values: Floats,
    high_values: Floats,
    counts: Floats,
    *,
    value_range: tuple[float, float],
    confidence: float,
) -> Interval:
    """Interval for the mean of values that lie in a known range.

    low_values, high_values: shape (rows,), in the range; equal where a row has a value,
        the two ends of the range where it has none.
    counts: shape (rows,), how often each row occurs, not negative.
    value_range: (a, b) with a < b.
    confidence: of the two-sided interval, in (0, 1).

    Raises:
        ValueError: shapes, range, confidence or a value is not as described, or there
            is no row with a positive count.
    """
    low, high = value_range
    if not low < high:
        raise ValueError(f"value_range {value_range} does not ascend")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence {confidence} lies outside (0, 1)")
    if not low_values.shape == high_values.shape == counts.shape:
        raise ValueError("low_values, high_values and counts differ in shape")
    for name, values in (("low_values", low_values), ("high_values", high_values)):
        if not ((values >= low) & (values <= high)).all():
            raise ValueError(f"{name} holds a value outside {value_range}")
    if not ((counts >= 0) & np.isfinite(counts)).all() or not (counts > 0).any():
        raise ValueError("counts must be finite, not negative, and positive somewhere")
    width = high - low
    below = _lower((low_values - low) / width, counts, confidence)
    above = _lower((high - high_values) / width, counts, confidence)
    return Interval(
        max(low, math.nextafter(low + width * below, -math.inf)),
        min(high, math.nextafter(high - width * above, math.inf)),
    )


def _lower(shares: Floats, counts: Floats, confidence: float) -> float:
    """Lower end for values in [0, 1]."""
    bets = Bets(
        scores=shares,
        counts=counts,
        minimum=0.0,
        fractions=FRACTIONS,
        log_priors=np.full(FRACTIONS.size, -math.log(FRACTIONS.size)),
    )
    return largest_rejected(
        [bets],
        low=0.0,
        high=1.0,
        log_threshold=math.log(2.0 / (1.0 - confidence)) + THRESHOLD_SLACK,
    )
