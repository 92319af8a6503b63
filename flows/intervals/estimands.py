"""What is estimated, as scores whose mean bounds it: value, improvement, difference.

Rewards z are scaled to [0, 1], w is the importance weight on supported actions in
[0, B], B = max_weight = 1 / floor, and u the unsupported candidate mass:

    value        V >= E[w z],              V <= E[w z] + E[u] = 1 - E[w (1 - z)]
    improvement  D >= E[(w - 1) z],        D <= -E[(w - 1) (1 - z)]
    difference   of two candidates, x = w - w' in [-B, B]:
                 D >= E[x z] - E[u'],      D <= -(E[-x z] - E[u])

so one lower bound serves both ends: the upper end is that of the mirrored points,
reflected (validity.md 1). Mirrored, a reward is 1 - z for value and improvement; for a
difference the two candidates change places. What a reward of 1 adds to a score is its
stake: w, w - 1 or x. Scores for a control c in [0, 1], and the least each can be:

    value        w (z - c) + c        least  c - B c
    improvement  (w - 1) (z - c)      least  -max(1 - c, (B - 1) c)
    difference   x (z - c) - u'       least  -B max(1 - c, c)

A control costs nothing on average where E[w] = 1 (E[x] = 0) and takes out the noise of
the weight itself. Where u > 0 it would claim mass that was never seen, so there c = 0,
and the least scores are 0, -1 and -(B + 1). A missing reward takes the worst z in
{0, 1} for its score: 0 where the stake is not negative, else 1 (intervals.md, section
5). Worst scores are concave in the weight, so mass split over weights never raises one.

With sampling weights v = (least q) / q, q the probability that a decision was kept in
the log, every estimand is a ratio E[v score] / E[v], and a mean m is tested by
E[v (score - m)] <= 0; as v <= 1, v (score - m) is never below the least score - m
(validity.md 13).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from flows.intervals.interval import Interval
from flows.intervals.points import Floats, Points


@dataclass(frozen=True, slots=True)
class Estimand:
    """A mean to be bounded, rewards scaled to [0, 1].

    possible: what it can be at all.
    stake: what a reward of 1 adds to the score of each point, shape (points,).
    returned: 1 where the control is added back to the score, else 0.
    least: control and max_weight to the least score of a fully supported decision.
    least_unsupported: max_weight to the least score of any other.
    most: max_weight to a number that no score exceeds.
    mirrored: the points whose lower end, reflected, is the upper end.
    reflected: that reflection of one number.
    plain_control: at this control a mirrored score is the score at control 0 reflected.
    is_signed: whether weights are those of a difference, down to -max_weight.
    """

    name: str
    possible: Interval
    stake: Callable[[Points], Floats]
    returned: float
    least: Callable[[float, float], float]
    least_unsupported: Callable[[float], float]
    most: Callable[[float], float]
    mirrored: Callable[[Points], Points]
    reflected: Callable[[float], float]
    plain_control: float
    is_signed: bool

    def scores(self, points: Points, control: float) -> Floats:
        """Scores whose mean is at most the estimand: shape (points,)."""
        stake = self.stake(points)
        worst = np.where(stake >= 0.0, 0.0, 1.0)
        reward = np.where(points.is_reward_missing, worst, points.reward)
        usable = np.where(points.is_supported, control, 0.0)
        scores: Floats = stake * (reward - usable) + self.returned * usable
        return scores - points.other_unsupported

    def least_score(self, control: float, max_weight: float) -> float:
        """The least score of any decision, supported or not."""
        least = self.least(control, max_weight)
        return min(least, self.least_unsupported(max_weight))


def other_reward(points: Points) -> Points:
    """The points with 1 - z in the place of every reward z that is not missing."""
    missing = points.is_reward_missing
    return replace(points, reward=np.where(missing, 0.0, 1.0 - points.reward))


def other_way(points: Points) -> Points:
    """The points of the same two candidates with their places changed."""
    return replace(
        points,
        weight=-points.weight,
        own_unsupported=points.other_unsupported,
        other_unsupported=points.own_unsupported,
    )


VALUE = Estimand(
    "value",
    Interval(0.0, 1.0),
    stake=lambda points: points.weight,
    returned=1.0,
    least=lambda control, max_weight: control - max_weight * control,
    least_unsupported=lambda _: 0.0,
    most=lambda max_weight: max_weight,
    mirrored=other_reward,
    reflected=lambda end: 1.0 - end,
    plain_control=1.0,
    is_signed=False,
)
IMPROVEMENT = Estimand(
    "improvement",
    Interval(-1.0, 1.0),
    stake=lambda points: points.weight - 1.0,
    returned=0.0,
    least=lambda control, max_weight: -max(1.0 - control, (max_weight - 1.0) * control),
    least_unsupported=lambda _: -1.0,
    most=lambda max_weight: max(1.0, max_weight - 1.0),
    mirrored=other_reward,
    reflected=lambda end: -end,
    plain_control=1.0,
    is_signed=False,
)
DIFFERENCE = Estimand(
    "difference",
    Interval(-1.0, 1.0),
    stake=lambda points: points.weight,
    returned=0.0,
    least=lambda control, max_weight: -max_weight * max(1.0 - control, control),
    least_unsupported=lambda max_weight: -(max_weight + 1.0),
    most=lambda max_weight: max_weight,
    mirrored=other_way,
    reflected=lambda end: -end,
    plain_control=0.0,
    is_signed=True,
)
ESTIMANDS = {one.name: one for one in (VALUE, IMPROVEMENT, DIFFERENCE)}


def identified(points: Points, estimand: Estimand) -> Interval:
    """The estimates that missing decisions leave open; not clipped.

    points: at least one decision. Every missing reward and all unsupported mass stand
        at their worst and at their best, in one estimator: importance weighting, a
        ratio where there are sampling weights.

    Raises:
        ValueError: there is no decision.
    """
    points = points.merged()
    if not points.count.size:
        raise ValueError("points holds no decision, so no estimate")
    unseen = points.own_unsupported + points.other_unsupported
    stake = np.abs(estimand.stake(points))
    gap = np.where(points.is_reward_missing, stake, 0.0) + unseen
    mass = points.count * points.sampling_weight
    total = float(mass.sum())
    lower = float((mass * estimand.scores(points, 0.0)).sum()) / total
    return Interval(lower, lower + float((mass * gap).sum()) / total)
