"""Second lines: intervals shown beside a valid one for comparison, never decided on.

    empirical_likelihood    chi-square cut, the known mean weight profiled out
    gaffke                  conjectured: proven for scores of two values only
    normal                  importance weighting, mean and standard error
    normal_self_normalised  the same over the sum of weights, by the delta method

Estimands, their scores, mirror and reflection are those of `estimands`: each method is
a lower end for the scores, and the upper end is that of the mirrored points, reflected.
With w the weight and s = 1 where a decision is fully supported, else 0, what a method
knows of the weights is E[s (w - 1)] = 0: where candidate mass is unsupported, or not
known to be supported, E[w] need not be 1 and the decision is left out of the equation.
A missing reward takes the worst value for its score at the lower end and, by the
mirror, the best one at the upper end. So where something is missing, the ends belong to
those of the identified range, one each, by one estimator.

    empirical likelihood   scores at control 0, balance s (w - 1)
    gaffke                 scores at the mean of the rewards that are there as control
    normal                 lower: scores at control 0; upper: mirrored scores less the
                           balance, which for complete data are the same scores
    self-normalised        weights of supported decisions divided by their mean; at
                           their weighted mean reward as control, the scores are the
                           influence of each decision on the estimate

Width over that of `normal` | share that covered, value, confidence .95, floor .05, ten
actions, 400 logs (standard error .011):

    decisions              500           2,000         20,000
    reward .05
      empirical likelihood 1.21 | .980   1.00 | .978    .97 | .955
      gaffke               1.88 | .993   1.29 | .995   1.04 | .968
      normal               1    | .853   1    | .930   1    | .940
      self-normalised       .98 | .855    .97 | .938    .97 | .953
    reward .5
      empirical likelihood  .64 | .945    .64 | .965    .64 | .953
      gaffke                .83 | .988    .73 | .975    .68 | .965
      normal               1    | .940   1    | .955   1    | .955
      self-normalised       .64 | .932    .64 | .965    .64 | .955

Shorter logs are worse: at decisions times floor = 5 empirical likelihood covered .72 in
the research, and normal theory no more. Below 25 only `gaffke` has ends. Its conjecture
is about a control chosen beforehand; with the true mean reward as control, ends were as
wide, with a control of 0 up to 2.2 times as wide.

Source: Karampatziakis, Langford and Mineiro (2020), "Empirical likelihood for
contextual bandits"; Learned-Miller and Thomas (2019), "A new confidence interval for
the mean of a bounded random variable"; Owen (2013), "Monte Carlo theory, methods and
examples", section 9.2 (self-normalised); intervals.md, sections 2, 3 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from flows.intervals import empirical_likelihood, gaffke
from flows.intervals.estimands import ESTIMANDS, Estimand
from flows.intervals.interval import Interval
from flows.intervals.points import Floats, Points

APPROXIMATE = "approximate: no finite-sample guarantee"
WITHHELD = f"{APPROXIMATE}; not shown below decisions * floor = 25"
CONJECTURED = "conjectured: coverage is proven for two-point laws only"
LEAST_FLOORED_DECISIONS = 25.0


@dataclass(frozen=True, slots=True)
class SecondLine:
    """An interval that nothing is decided on, and the words that say why.

    method: one of the four names of the module.
    lower, upper: of rewards scaled to [0, 1]; None where the log is too short for the
        method. An empty interval (see `Interval`) contradicts the logged probabilities.
    """

    method: str
    lower: float | None
    upper: float | None
    label: str


def second_lines(
    points: Points,
    estimand: Literal["value", "improvement"],
    *,
    max_weight: float,
    alpha: float,
    floor: float,
) -> tuple[SecondLine, ...]:
    """One line per method, always in the same order, intersected with what is possible.

    points: rewards scaled to [0, 1], weights at most max_weight, in any order.
    max_weight: the largest weight there can be, at least 1.
    alpha: total error in (0, 1), half at each end.
    floor: least logging probability of a supported action, in (0, 1].

    Raises:
        ValueError: an argument is out of its range or a weight exceeds max_weight.
    """
    points.require_weights_up_to(max_weight)
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha {alpha} lies outside (0, 1)")
    if not 0.0 < floor <= 1.0:
        raise ValueError(f"floor {floor} lies outside (0, 1]")
    if estimand not in ("value", "improvement"):
        raise ValueError(f"estimand {estimand!r} is neither value nor improvement")
    end = _End(points.merged(), ESTIMANDS[estimand], max_weight, alpha)
    is_long = float(end.mass.sum()) * floor >= LEAST_FLOORED_DECISIONS
    methods = (
        ("empirical_likelihood", _End.empirical_likelihood, APPROXIMATE),
        ("gaffke", _End.gaffke, CONJECTURED),
        ("normal", _End.normal, APPROXIMATE),
        ("normal_self_normalised", _End.normal_self_normalised, APPROXIMATE),
    )
    return tuple(
        end.line(method, lower, label)
        if is_long or label == CONJECTURED
        else SecondLine(method, None, None, WITHHELD)
        for method, lower, label in methods
    )


@dataclass(frozen=True, slots=True)
class _End:
    """The lower end of each method, for points in canonical form or their mirror."""

    points: Points
    estimand: Estimand
    max_weight: float
    alpha: float
    is_mirrored: bool = False

    def line(
        self, method: str, lower: Callable[[_End], float | None], label: str
    ) -> SecondLine:
        """Both ends by one method; none where either of them does not exist."""
        mirror = replace(
            self, points=self.estimand.mirrored(self.points), is_mirrored=True
        )
        below, above = lower(self), lower(mirror)
        if below is None or above is None:
            return SecondLine(method, None, None, label)
        found = Interval(below, self.estimand.reflected(above))
        found = found.intersect(self.estimand.possible)
        return SecondLine(method, found.lower, found.upper, label)

    @property
    def mass(self) -> Floats:
        """Counts times sampling weights: shape (points,)."""
        return self.points.count * self.points.sampling_weight

    @property
    def deviations(self) -> float:
        """Standard errors on each side; its square is the chi-square quantile."""
        return -NormalDist().inv_cdf(0.5 * self.alpha)

    def empirical_likelihood(self) -> float | None:
        """None without decisions."""
        if not self.points.count.size:
            return None
        # The least scores there can be: at weight 0, at the largest one, unsupported.
        # A largest weight of 1 would leave no corner to balance a weight of 0.
        yes = np.ones(3, dtype=np.bool_)
        corners = Points(
            np.array([0.0, max(self.max_weight, 2.0), 0.0]),
            np.zeros(3),
            yes,
            np.array([True, True, False]),
            np.zeros(3),
        )
        kept = 2 if self.points.is_supported.all() else 3
        sample = empirical_likelihood.Sample(
            self.estimand.scores(self.points, 0.0),
            _balances(self.points),
            self.points.count,
            self.points.sampling_weight,
            self.estimand.scores(corners, 0.0)[:kept],
            _balances(corners)[:kept],
        )
        return empirical_likelihood.lower_end(sample, deviations=self.deviations)

    def gaffke(self) -> float | None:
        """Control: the mean reward of the decisions that have one."""
        observed = np.where(self.points.is_reward_missing, 0.0, self.mass)
        total = float(observed.sum())
        control = float((observed * self.points.reward).sum()) / total if total else 0.0
        least = self.estimand.least_score(control, self.max_weight)
        # Rounding of a weight at its bound must not break the least score.
        scores = np.maximum(self.estimand.scores(self.points, control), least)
        return gaffke.lower_bound(
            scores,
            self.points.count,
            self.points.sampling_weight,
            least=least,
            alpha=0.5 * self.alpha,
        )

    def normal(self) -> float | None:
        """Mean less standard errors, of one and the same estimator at both ends."""
        scores = self.estimand.scores(self.points, 0.0)
        return self._less_errors(
            scores - _balances(self.points) if self.is_mirrored else scores
        )

    def normal_self_normalised(self) -> float | None:
        """None where no supported decision has any weight: the ratio does not exist."""
        supported = np.where(self.points.is_supported, self.mass, 0.0)
        decisions = float(supported.sum())
        weights = float((supported * self.points.weight).sum())
        if decisions > 0.0 and weights <= 0.0:
            return None
        share = decisions / weights if decisions > 0.0 else 1.0
        scaled = replace(
            self.points,
            weight=self.points.weight * np.where(self.points.is_supported, share, 1.0),
        )
        worst = np.where(self.estimand.stake(scaled) >= 0.0, 0.0, 1.0)
        reward = np.where(scaled.is_reward_missing, worst, scaled.reward)
        rewards = float((supported * scaled.weight * reward).sum())
        control = rewards / decisions if decisions > 0.0 else 0.0
        return self._less_errors(self.estimand.scores(scaled, control))

    def _less_errors(self, scores: Floats) -> float | None:
        """Mean less standard errors; None without a second decision."""
        mass = self.mass
        decisions, total = self.points.decisions, float(mass.sum())
        if decisions <= 1.0:
            return None
        mean = float((mass * scores).sum()) / total
        gaps = self.points.sampling_weight * (scores - mean)
        squares = float((self.points.count * gaps * gaps).sum())
        error = math.sqrt(squares * decisions / (decisions - 1.0)) / total
        return mean - self.deviations * error


def _balances(points: Points) -> Floats:
    """What is known to have a mean of 0: shape (points,)."""
    return np.where(points.is_supported, points.weight - 1.0, 0.0)
