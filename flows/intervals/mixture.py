"""Any estimand by a mixture of constant bets: valid at every look, order-free.

Scores, controls and the reflection that gives the upper end are those of `estimands`,
the bets and the search for an end those of `kernel`.

Half of the prior lies on the 20 fractions of `compat`, on the very scores `compat` bets
on at each end: control 0 at the lower one and, by reflection, control 1 at the upper
one (0 for a difference, which `compat` does not have). Its wealth is then at least half
of compat's, so the interval is never wider than compat's at confidence 1 - alpha/2
(validity.md 5). The other half lies on fractions 0.9 * 2**-j with prior 1 / (j + 3),
which follow the best bet down as data grow, times five controls. Among six sets of
controls these were within 2 % of the narrowest, mean rewards .05 to .9 and 500 to
200,000 decisions. Width over compat's, both clipped, at the same confidence .95, floor
.05, ten actions (mean over 5 to 100 logs):

    decisions                     500    2,000    20,000    200,000
    value, reward .05             .98      .98       .58        .24
    improvement, reward .05       .99     1.06      1.03        .80
    value, reward .5              .80      .74       .38        .15
    improvement, reward .5        .81      .84       .58        .26

The guarantee assumes logged probabilities that are true and decisions whose conditional
mean is constant; it then holds for every number of looks. Ends are intersected with
what is possible; data that contradict the weights can make the interval empty, which is
for the caller to report. With sampling weights the mean is a ratio (`estimands`).

Source: validity.md 1, 5 and 13; intervals.md, sections 4, 5 and 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flows.intervals.compat import FRACTIONS as COMPAT_FRACTIONS
from flows.intervals.estimands import Estimand
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


def interval(
    points: Points,
    estimand: Estimand,
    *,
    max_weight: float,
    alpha: float,
    family: Family = HOUSE,
) -> Interval:
    """Interval for an estimand, rewards scaled to [0, 1].

    points: weights at most `max_weight`; none at all gives what is possible.
    max_weight: 1 / floor, at least 1.
    alpha: total error in (0, 1), half at each end.

    Returns:
        The interval; empty when the weights contradict the logged probabilities.

    Raises:
        ValueError: max_weight, alpha or a weight is out of its range.
    """
    points.require_weights_up_to(max_weight, signed=estimand.is_signed)
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha {alpha} lies outside (0, 1)")
    points = points.in_extremes().merged()
    end = _Ends(estimand, family, max_weight, math.log(2.0 / alpha))
    below = end.lower(points, compat_control=0.0)
    above = end.lower(estimand.mirrored(points), compat_control=estimand.plain_control)
    found = Interval(below, estimand.reflected(above))
    return found.intersect(estimand.possible)


@dataclass(frozen=True, slots=True)
class _Ends:
    """One lower end, for any estimand and either direction."""

    estimand: Estimand
    family: Family
    max_weight: float
    log_threshold: float

    def lower(self, points: Points, *, compat_control: float) -> float:
        """Largest rejected mean of the scores."""
        is_sampled = bool((points.sampling_weight != 1.0).any())
        weights = points.sampling_weight if is_sampled else None
        mixture = []
        for control, fractions, priors in self._bets(compat_control):
            least = self.estimand.least_score(control, self.max_weight)
            # Rounding of a weight at its bound must not break the least score.
            scores = np.maximum(self.estimand.scores(points, control), least)
            mixture.append(
                Bets(scores, points.count, least, fractions, priors, weights)
            )
        return largest_rejected(
            mixture,
            low=self.estimand.possible.lower,
            high=self.estimand.most(self.max_weight),
            log_threshold=self.log_threshold,
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
