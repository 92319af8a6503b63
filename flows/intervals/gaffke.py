"""A lower bound for a mean that is conjectured to hold: Gaffke's, without random draws.

Given n independent scores x_1..x_n, none below `least`, the bound at error a is the
a-quantile of D_0 * least + D_1 x_1 + ... + D_n x_n, where D is spread evenly over the
simplex (a Dirichlet law with n + 1 ones). For scores with two values it is the exact
binomial bound; otherwise nobody has proven that it covers, or found that it fails.

The quantile is computed, not drawn. D is a vector of independent exponential variables
over their sum, so the weighted mean is at most m exactly when the sum of Gamma(count)
times (score - m) over distinct scores, `least` counting once, is at most 0. For any s
between 0 and 1 / (m - least) the chance of that is an integral from s upwards,

    1/pi * Im of the integral of exp F(s) ds
    F(s) = -log s - sum over scores of count * log(1 + s (score - m))

F without -log s is minus the log wealth of the bet s (see `kernel`). On the real line F
is convex. The path starts at its minimum and bends like the steepest one: in units of
1 / sqrt(F''), b (cosh v - 1) + i sinh v with b from F''' there. All singularities are
real and none is closer than one unit, so the trapezoidal rule in v converges
geometrically. Against the exact binomial bound, 1 to 1e7 decisions, the error was below
2e-9 standard deviations; for 2,700 sets of 1 to 30 scores the chance was right to 5e-6.

With sampling weights v in (0, 1] the gaps are v (score - m), whose mean is 0 at the
ratio that is bounded (see `estimands`); that of `least` is not reduced.

Source: Gaffke (2005), "Three test statistics for a nonparametric one-sided hypothesis
on the mean of a nonnegative variable"; Learned-Miller and Thomas (2019), "A new
confidence interval for the mean of a bounded random variable"; the path is that of
Lugannani and Rice (1980), "Saddle point approximation for the distribution of the sum
of independent random variables", followed to its end.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from flows.intervals.points import Floats

STEP = 0.1  # of v
NEGLIGIBLE_NATS = 40.0
# Numbers held at once by one evaluation: half a megabyte, which stays in the cache.
CHUNK = 1 << 16
TOLERANCE = 1e-12
MOST_STEPS = 100  # enough to halve a bracket until it is empty
NEAR_ENOUGH = 0.01  # to the minimum of F, in units: the path need not be the best


def lower_bound(
    scores: Floats, counts: Floats, weights: Floats, *, least: float, alpha: float
) -> float:
    """The alpha-quantile of the mean score under random weights.

    scores, counts, weights: shape (scores,); scores at least `least`, counts positive,
        sampling weights in (0, 1]. The last bits depend on the order.
    alpha: error of the one end, in (0, 1/2].

    Returns:
        The bound, within 1e-12 of the range of the scores; `least` without scores.
    """
    if not scores.size or float(scores.max()) <= least:
        return least
    heights = np.append(scores - least, 0.0)
    counts, weights = np.append(counts, 1.0), np.append(weights, 1.0)
    wanted = NormalDist().inv_cdf(alpha)
    root, slope = _guess(heights, counts, weights, wanted)
    left, right = 0.0, float(heights.max())
    tolerance = TOLERANCE * right
    last: tuple[float, float] | None = None
    while right - left > tolerance:
        if not left < root**3 < right:
            root = math.cbrt(0.5 * (left + right))
        chance = _chance(weights * (heights - root**3), counts)
        excess = _quantile(chance) - wanted
        left, right = (root**3, right) if excess < 0.0 else (left, root**3)
        if last is not None and root != last[0]:
            slope = (excess - last[1]) / (root - last[0])
        last = (root, excess)
        # A falling line is rounding: then the bracket is halved.
        root = root - excess / slope if slope > 0.0 else -1.0
        if abs(root**3 - last[0] ** 3) <= tolerance:
            return least + max(root, 0.0) ** 3
    return least + left


def _guess(
    heights: Floats, counts: Floats, weights: Floats, wanted: float
) -> tuple[float, float]:
    """Where the search begins: a cube root, and the slope of the quantile there.

    Cube roots of a Gamma law are close to normal (Wilson and Hilferty 1931): against
    the cube root of m - least, the normal quantile of the chance is close to a line.
    """
    mass = counts * weights
    total = float(mass.sum())
    mean = float((mass * heights).sum()) / total
    squares = float((counts * (weights * (heights - mean)) ** 2).sum())
    shape = (mean * total) ** 2 / squares
    slope = 3.0 * math.sqrt(shape) / math.cbrt(mean)
    return math.cbrt(mean) * (1.0 - 1.0 / (9.0 * shape)) + wanted / slope, slope


def _quantile(chance: float) -> float:
    """Of the normal law, away from 0 and 1."""
    return NormalDist().inv_cdf(min(max(chance, 1e-300), 1.0 - 1e-16))


def _chance(gaps: Floats, counts: Floats) -> float:
    """P(sum of gaps times Gamma(counts) <= 0), of gaps of either sign."""
    bet = _lowest(gaps, counts)
    log_height = -float((counts * np.log1p(bet * gaps)).sum()) - math.log(bet)
    # The factor 1 / s is one more score whose 1 + s * gap has its zero at s = 0.
    slants = np.append(gaps / (1.0 + bet * gaps), 1.0 / bet)
    counts = np.append(counts, 1.0)
    unit = 1.0 / math.sqrt(float((counts * slants * slants).sum()))
    slants *= unit
    bend = -2.0 / 3.0 * float((counts * slants**3).sum())
    total = _along(slants, counts, bend)
    return unit * math.exp(log_height) * total / math.pi


def _along(slants: Floats, counts: Floats, bend: float) -> float:
    """The integral along a path, in units; along a straight one if it leads uphill."""
    nodes = max(1, min(32, CHUNK // slants.size))
    total, start = -0.5, 0  # half the first node, whose term is 1
    while True:
        v = STEP * np.arange(start, start + nodes)
        along = (bend * (np.cosh(v) - 1.0))[:, None] * slants
        rise = np.sinh(v)[:, None] * slants
        angle = -(counts * np.arctan2(rise, 1.0 + along)).sum(axis=1)
        log_size = np.log1p(along * (2.0 + along) + rise * rise)
        log_size = -0.5 * (counts * log_size).sum(axis=1)
        steps = np.cos(angle) * np.cosh(v) + np.sin(angle) * bend * np.sinh(v)
        is_over = log_size + v < -NEGLIGIBLE_NATS
        kept = int(is_over.argmax()) if is_over.any() else nodes
        if log_size[:kept].max(initial=0.0) > 1.0:
            return _along(slants, counts, 0.0)
        total += float((np.exp(log_size[:kept]) * steps[:kept]).sum())
        if kept < nodes:
            return STEP * total
        start += nodes


def _lowest(gaps: Floats, counts: Floats) -> float:
    """Roughly where F is least, between 0 and the bet that could lose everything."""
    left, right = 0.0, -1.0 / float(gaps.min())
    spread = math.sqrt(float((counts * gaps * gaps).sum()))
    drift = float((counts * gaps).sum()) / spread
    bet = min(0.5 * (drift + math.hypot(drift, 2.0)) / spread, 0.9 * right)
    for _ in range(MOST_STEPS):
        slants = gaps / (1.0 + bet * gaps)
        slope = -float((counts * slants).sum()) - 1.0 / bet
        curvature = float((counts * slants * slants).sum()) + 1.0 / (bet * bet)
        if abs(slope) <= NEAR_ENOUGH * math.sqrt(curvature):
            break
        left, right = (bet, right) if slope < 0.0 else (left, bet)
        bet -= slope / curvature
        if not left < bet < right:
            bet = 0.5 * (left + right)
    return bet
