"""Value and improvement by a mixture of constant bets: valid at every look, order-free.

Estimands, with rewards z scaled to [0, 1], w the importance weight on supported actions
in [0, B], B = max_weight = 1 / floor, and u the unsupported candidate mass:

    value        V <= E[w z] + E[u] = 1 - E[w (1 - z)],  V >= E[w z]
    improvement  D = E[(w - 1) z] likewise, and D <= -E[(w - 1) (1 - z)]

so one lower bound serves both ends: the upper end is 1 - LCB (value) or -LCB
(improvement) of the same scores with 1 - z in the place of z ("reflection", validity.md
1). The scores and the least value each could take, for a control c in [0, 1]:

    value        w (z - c) + c        least  c - B c
    improvement  (w - 1) (z - c)      least  min(-1, -(B - 1) c)

A control costs nothing on average where E[w] = 1 and takes out the noise of the weight
itself. Where u > 0 it would claim mass that was never seen, so there c = 0. A missing
reward takes the worst z in {0, 1} for its score: 0 for the value; for the improvement
0 where w >= 1 and 1 where w < 1 (intervals.md, section 5).

Half of the prior lies on the 20 fractions of `compat`, on the very scores `compat` bets
on at each end: control 0 at the lower one and, by reflection, control 1 at the upper
one. Its wealth is then at least half of compat's, so the interval is never wider than
compat's at confidence 1 - alpha/2 (validity.md 5). The other half lies on fractions
0.9 * 2**-j with prior 1 / (j + 3), which follow the best bet down as data grow, times
five controls. Among six sets of controls these were within 2 % of the narrowest, mean
rewards .05 to .9 and 500 to 200,000 decisions. Width over compat's, both clipped, at
the same confidence .95, floor .05, ten actions (mean over 5 to 100 logs):

    decisions                     500    2,000    20,000    200,000
    value, reward .05             .98      .98       .58        .24
    improvement, reward .05       .99     1.06      1.03        .80
    value, reward .5              .80      .74       .38        .15
    improvement, reward .5        .81      .84       .58        .26

The guarantee assumes logged probabilities that are true and decisions whose conditional
mean is constant; it then holds for every number of looks. Ends are intersected with
what is possible, [0, 1] and [-1, 1]; data that contradict the weights can make the
interval empty, which is for the caller to report.

Source: validity.md 1 and 5; intervals.md, sections 4, 5 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flows.intervals.compat import FRACTIONS as COMPAT_FRACTIONS
from flows.intervals.interval import Interval
from flows.intervals.kernel import Bets, largest_rejected
from flows.intervals.points import Floats, Points

SMALL_BETS: Floats = np.ldexp(0.9, -np.arange(21))
SMALL_BET_PRIORS: Floats = np.float64(1.0) / np.arange(3, 24)
SMALL_BET_PRIORS /= SMALL_BET_PRIORS.sum()


@dataclass(frozen=True, slots=True)
class Family:
    """Which bets a mixture holds.

    controls, control_priors: shape (controls,); priors add up to 1.
    compat_share: prior mass on compat's bets, in [0, 1); the rest is spread over
        `SMALL_BETS` times the controls.
    """

    controls: tuple[float, ...]
    control_priors: tuple[float, ...]
    compat_share: float


HOUSE = Family((0.0, 0.1, 0.5, 0.9, 1.0), (0.2, 0.2, 0.2, 0.2, 0.2), 0.5)
# No control and no compat: what the golden cases of the research were computed with.
BARE = Family((0.0,), (1.0,), 0.0)

Scores = Callable[[Points, float], Floats]


def value(
    points: Points, *, max_weight: float, alpha: float, family: Family = HOUSE
) -> Interval:
    """Interval for the candidate's value, rewards scaled to [0, 1].

    points: weights at most `max_weight`; none at all gives [0, 1].
    max_weight: 1 / floor, at least 1.
    alpha: total error in (0, 1), half at each end.

    Raises:
        ValueError: max_weight, alpha or a weight is out of its range.
    """
    _check(points, max_weight, alpha)
    end = _Ends(family, alpha, high=max_weight)
    points = points.merged()

    def least(control: float) -> float:
        return control - max_weight * control

    below = end.lower(points, value_scores, least, compat_control=0.0)
    above = end.lower(mirrored(points), value_scores, least, compat_control=1.0)
    return Interval(below, 1.0 - above).intersect(Interval(0.0, 1.0))


def improvement(
    points: Points, *, max_weight: float, alpha: float, family: Family = HOUSE
) -> Interval:
    """Interval for value minus the logging policy's own, rewards scaled to [0, 1].

    Arguments and errors are those of `value`; no points at all give [-1, 1].
    """
    _check(points, max_weight, alpha)
    end = _Ends(family, alpha, high=max(1.0, max_weight - 1.0))
    points = points.merged()

    def least(control: float) -> float:
        return min(-1.0, -(max_weight - 1.0) * control)

    below = end.lower(points, improvement_scores, least, compat_control=0.0)
    above = end.lower(mirrored(points), improvement_scores, least, compat_control=1.0)
    return Interval(below, -above).intersect(Interval(-1.0, 1.0))


def mirrored(points: Points) -> Points:
    """The points with 1 - z in the place of every reward z that is not missing."""
    return Points(
        points.weight,
        np.where(points.is_reward_missing, 0.0, 1.0 - points.reward),
        points.is_reward_missing,
        points.is_supported,
        points.count,
    )


def value_scores(points: Points, control: float) -> Floats:
    """Scores whose mean is at most the value: shape (points,)."""
    reward: Floats = np.where(points.is_reward_missing, 0.0, points.reward)
    usable: Floats = np.where(points.is_supported, control, 0.0)
    return points.weight * (reward - usable) + usable


def improvement_scores(points: Points, control: float) -> Floats:
    """Scores whose mean is at most the improvement: shape (points,)."""
    worst = np.where(points.weight >= 1.0, 0.0, 1.0)
    reward: Floats = np.where(points.is_reward_missing, worst, points.reward)
    usable: Floats = np.where(points.is_supported, control, 0.0)
    return (points.weight - 1.0) * (reward - usable)


def identified_value(points: Points, *, unsupported_mean: float) -> Interval:
    """The value's estimates that missing decisions leave open: importance weighting.

    points: at least one decision.
    unsupported_mean: mean unsupported candidate mass over all decisions, in [0, 1].

    Returns:
        The estimate with every missing reward and all unsupported mass at worst and at
        best, by one estimator at both ends; not clipped.

    Raises:
        ValueError: there is no decision.
    """
    points = _not_empty(points)
    low = _mean(value_scores(points, 0.0), points)
    open_weight = np.where(points.is_reward_missing, points.weight, 0.0)
    return Interval(low, low + (_mean(open_weight, points) + unsupported_mean))


def identified_improvement(points: Points, *, unsupported_mean: float) -> Interval:
    """The improvement's estimates that missing decisions leave open.

    Arguments, result and errors are those of `identified_value`.
    """
    points = _not_empty(points)
    low = _mean(improvement_scores(points, 0.0), points)
    gap = np.where(points.is_reward_missing, np.abs(points.weight - 1.0), 0.0)
    return Interval(low, low + (_mean(gap, points) + unsupported_mean))


def _mean(scores: Floats, points: Points) -> float:
    """Mean of one score per point, weighted by counts."""
    return float((scores * points.count).sum()) / points.decisions


def _not_empty(points: Points) -> Points:
    """The points in canonical form."""
    points = points.merged()
    if not points.count.size:
        raise ValueError("points holds no decision, so no estimate")
    return points


def _check(points: Points, max_weight: float, alpha: float) -> None:
    points.require_weights_up_to(max_weight)
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha {alpha} lies outside (0, 1)")


@dataclass(frozen=True, slots=True)
class _Ends:
    """One lower end, for either estimand and either direction."""

    family: Family
    alpha: float
    high: float

    def lower(
        self,
        points: Points,
        scores: Scores,
        least: Callable[[float], float],
        *,
        compat_control: float,
    ) -> float:
        """Largest rejected mean of `scores`, at error alpha / 2."""
        mixture = []
        for control, fractions, priors in self._bets(compat_control):
            # Rounding of a weight at its bound must not break the least score.
            bounded = np.maximum(scores(points, control), least(control))
            mixture.append(
                Bets(bounded, points.count, least(control), fractions, priors)
            )
        return largest_rejected(
            mixture,
            low=least(0.0),
            high=self.high,
            log_threshold=math.log(2.0 / self.alpha),
        )

    def _bets(self, compat_control: float) -> list[tuple[float, Floats, Floats]]:
        """Control, fractions and log priors of each member of the mixture."""
        share = self.family.compat_share
        members = []
        for control, prior in zip(
            self.family.controls, self.family.control_priors, strict=True
        ):
            fractions = SMALL_BETS
            priors = (1.0 - share) * prior * SMALL_BET_PRIORS
            if share > 0.0 and control == compat_control:
                even = np.full(COMPAT_FRACTIONS.size, share / COMPAT_FRACTIONS.size)
                fractions = np.concatenate([fractions, COMPAT_FRACTIONS])
                priors = np.concatenate([priors, even])
            members.append((control, fractions, np.log(priors)))
        return members
