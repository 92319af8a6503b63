"""One end of an empirical likelihood interval for a mean, a second mean being known.

Scores x_i have a mean of at least m, balances h_i a mean of 0 (as a rule the balance is
the weight less one). The likelihood puts a probability on every decision, and at no
charge on corners: pairs of score and balance that can occur, whether seen or not. Its
largest logarithm under both means is, up to a constant, -W(m), with

    W(m) = max over b, t of sum of count * log(1 + b h_i + t (x_i - m))

taken where no argument, of a decision or of a corner, is negative: the wealth of the
best pair of bets in hindsight. With W_0 the same maximum at t = 0, twice W(m) - W_0
falls as m grows and is 0 at the estimate; the end is where it meets the chi-square
quantile of one degree of freedom. With complete data and many decisions this is the
normal interval with the best multiple of the balance taken off the score, which is at
most as wide as the self-normalised one.

With sampling weights v in (0, 1] both means are ratios: h_i and x_i - m are taken v_i
times (see `estimands`). Corners stay: what v takes off leaves an argument nearer to 1.

The maximum is found by a primal-dual interior point method; the multipliers of the
corners are the likelihood's mass on them, in decisions. What it leaves open is below
1e-9 of a decision's log wealth. The end is found by Newton's method within a bracket.

Source: Owen (2001), "Empirical likelihood", sections 2.4, 3.4 and 3.5; Karampatziakis,
Langford and Mineiro (2020), "Empirical likelihood for contextual bandits", whose
likelihood also reaches unseen pairs of weight and reward; Nocedal and Wright (2006),
"Numerical optimization", algorithm 19.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flows.intervals.points import Floats

TOLERANCE = 1e-11
OPEN_NATS = 1e-10
# How far towards the nearest border a step may go, and how fast the barrier sinks.
TO_BORDER = 0.99
SINKING = 0.05
# Never needed: 91 steps were the most in 4,500 random problems, most of them absurd.
MOST_STEPS = 500
NEWTON_TRIALS = 12  # from then on the bracket is halved


@dataclass(frozen=True, slots=True)
class Best:
    """The best bets in hindsight, on the balance and on the score, and what they earn.

    masses: probability times decisions, shape (points,); corner_masses alike.
    """

    bets: Floats
    log_wealth: float
    masses: Floats
    corner_masses: Floats


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen, and the corners of what can be.

    scores, balances, counts, weights: shape (points,), at least one, counts positive,
        sampling weights in (0, 1]. The last bits of an end depend on the order.
    corner_scores, corner_balances: shape (corners,); all that can occur lies in their
        convex hull or has a higher score. Balances of both signs are among them.
    """

    scores: Floats
    balances: Floats
    counts: Floats
    weights: Floats
    corner_scores: Floats
    corner_balances: Floats

    def best(self, mean: float | None) -> Best:
        """The best bets against a mean of the scores; None: on the balance alone."""
        gaps, corner_gaps = (
            np.zeros_like(self.scores),
            np.zeros_like(self.corner_scores),
        )
        if mean is not None:
            gaps, corner_gaps = self.scores - mean, self.corner_scores - mean
        return _best(
            self.weights * np.stack([self.balances, gaps]),
            self.counts,
            np.stack([self.corner_balances, corner_gaps]),
        )

    def mass(self, best: Best) -> float:
        """Decisions, sampled ones by their weights."""
        seen = float((self.weights * best.masses).sum())
        return seen + float(best.corner_masses.sum())

    def estimate(self, base: Best) -> tuple[float, float]:
        """The likeliest mean where nothing is known but the balance, and its error."""
        mass, total = self.weights * base.masses, self.mass(base)
        unseen = float((base.corner_masses * self.corner_scores).sum())
        mean = (float((mass * self.scores).sum()) + unseen) / total
        squares = _unexplained(self.scores - mean, self.balances, self.weights * mass)
        return mean, math.sqrt(squares) / total


def lower_end(sample: Sample, *, deviations: float) -> float:
    """The least mean of the scores that the likelihood ratio does not reject.

    deviations: square root of the chi-square quantile, positive.

    Returns:
        The end, within about 1e-11 of the range of the scores; never below the least
        mean that the corners allow.
    """
    base = sample.best(None)
    least = _least_mean(sample.corner_scores, sample.corner_balances)
    left, (right, error) = least, sample.estimate(base)
    mean = right - deviations * max(error, 0.5 * deviations / sample.mass(base))
    span = max(np.ptp(sample.scores), np.ptp(sample.corner_scores), right - left)
    tolerance = TOLERANCE * float(span)
    trials = 0
    while right - left > tolerance:
        if not left < mean < right or trials >= NEWTON_TRIALS:
            mean = 0.5 * (left + right)
        trials += 1
        found = sample.best(mean)
        ratio = math.sqrt(max(2.0 * (found.log_wealth - base.log_wealth), 0.0))
        left, right = (mean, right) if ratio > deviations else (left, mean)
        slope = float(found.bets[1]) * sample.mass(found)
        step = (ratio - deviations) * ratio / slope if slope > 0.0 else -math.inf
        mean += step
        if abs(step) <= tolerance:
            return max(mean, least)
    return left


def _least_mean(scores: Floats, balances: Floats) -> float:
    """The lowest score in the convex hull of the corners at a balance of 0."""
    corners = list(zip(scores.tolist(), balances.tolist(), strict=True))
    found: list[float] = [score for score, balance in corners if balance == 0.0]
    for score, balance in corners:
        found += [
            (score * opposite - other * balance) / (opposite - balance)
            for other, opposite in corners
            if balance < 0.0 < opposite
        ]
    return min(found)


def _unexplained(scores: Floats, balances: Floats, masses: Floats) -> float:
    """Sum of squares of the scores after the best multiple of the balances."""
    squares = float((masses * balances * balances).sum())
    shared = float((masses * scores * balances).sum())
    explained = shared * shared / squares if squares > 0.0 else 0.0
    return max(float((masses * scores * scores).sum()) - explained, 0.0)


def _best(features: Floats, counts: Floats, corners: Floats) -> Best:
    """Largest log wealth over bets on two features, of shape (2, points)."""
    bets, gains = np.zeros(2), np.zeros(counts.size)
    slack, masses = np.ones(corners.shape[1]), np.ones(corners.shape[1])
    for _ in range(MOST_STEPS):
        pulls = features / (1.0 + gains)
        slope = (counts * pulls).sum(axis=1)
        curvature = (counts * pulls[:, None] * pulls).sum(axis=2)
        hold = masses / slack
        barrier = SINKING * float((masses * slack).sum()) / slack.size
        slope += (barrier / slack * corners).sum(axis=1)
        curvature += (hold * corners[:, None] * corners).sum(axis=2)
        step = _newton_step(curvature, slope)
        gain_step = (step[:, None] * features).sum(axis=0)
        slack_step = (step[:, None] * corners).sum(axis=0)
        mass_step = barrier / slack - masses - hold * slack_step
        share = min(
            1.0,
            _reach(1.0 + gains, gain_step),
            _reach(slack, slack_step),
            _reach(masses, mass_step),
        )
        bets, gains = bets + share * step, gains + share * gain_step
        slack, masses = slack + share * slack_step, masses + share * mass_step
        if float((slope * step).sum()) <= OPEN_NATS >= barrier:
            break
    log_wealth = float((counts * np.log1p(gains)).sum())
    return Best(bets, log_wealth, counts / (1.0 + gains), masses)


def _newton_step(curvature: Floats, slope: Floats) -> Floats:
    """The top of a downward parabola in two directions; 0 along a flat one."""
    (first, shared), (_, second) = curvature.tolist()
    along, across = slope.tolist()
    ratio = shared / first if first > 0.0 else 0.0
    second -= ratio * shared
    step = (across - ratio * along) / second if second > 0.0 else 0.0
    return np.array([along / first - ratio * step if first > 0.0 else 0.0, step])


def _reach(room: Floats, step: Floats) -> float:
    """The share of the step that uses up nearly all the room somewhere."""
    used = float((-step / room).max())
    return TO_BORDER / used if used > 0.0 else math.inf
