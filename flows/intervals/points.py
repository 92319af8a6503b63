"""What the intervals of this room are computed from: weighted, counted points.

A point is a set of decisions that share importance weight, reward and state:

    weight             importance weight on supported actions, in [0, max_weight]
    reward             reward scaled to [0, 1]; any finite number where it is missing
    is_reward_missing  the decision has no reward
    is_supported       no action the candidate may take is unsupported (u = 0), judged
                       over all actions and never from the logged one (validity.md 1)
    count              how many decisions; fractional where mass was split over a grid

The same key may appear in any number of rows and in any order. `merged` brings points
into one canonical form, so that everything computed from it is the same to the last
bit whatever the order was (intervals.md, section 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

# Relative slack of the largest weight: probabilities are divided on the way here.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Points:
    """Counted points, five arrays of shape (points,); see the module for their ranges.

    Raises:
        ValueError: shapes differ, a number is not finite, a weight or a count is
            negative, or a reward that is not missing lies outside [0, 1].
    """

    weight: Floats
    reward: Floats
    is_reward_missing: Booleans
    is_supported: Booleans
    count: Floats

    def __post_init__(self) -> None:
        shape = self.weight.shape
        for name in ("reward", "is_reward_missing", "is_supported", "count"):
            if (found := getattr(self, name).shape) != shape or len(shape) != 1:
                raise ValueError(f"{name} has shape {found}, weight has shape {shape}")
        for name in ("weight", "reward", "count"):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} holds a number that is not finite")
        for name in ("weight", "count"):
            if (getattr(self, name) < 0).any():
                raise ValueError(f"{name} holds a negative number")
        outside = (self.reward < 0) | (self.reward > 1)
        if (outside & ~self.is_reward_missing).any():
            found = self.reward[outside & ~self.is_reward_missing][0]
            raise ValueError(f"reward {found} lies outside [0, 1]")

    @property
    def decisions(self) -> float:
        """How many decisions there are, summed over the points."""
        return float(self.count.sum())

    def require_weights_up_to(self, max_weight: float) -> None:
        """Refuse weights above `max_weight`, which is 1 / floor, beyond rounding.

        Raises:
            ValueError: a weight is larger, or max_weight is not a finite number >= 1.
        """
        if not 1.0 <= max_weight < math.inf:
            raise ValueError(f"max_weight {max_weight} is not a finite number >= 1")
        largest = float(self.weight.max(initial=0.0))
        if largest > max_weight * (1.0 + ROUNDING):
            raise ValueError(f"weight {largest} exceeds max_weight {max_weight}")

    def merged(self) -> Points:
        """The same points, sorted, one row for each key, without empty ones.

        The reward of a point without one becomes 0. The counts of a key are added in
        ascending order, so that rounding does not depend on the order of the rows.
        """
        held = self.count > 0
        missing = self.is_reward_missing[held]
        supported = self.is_supported[held]
        # Adding 0.0 turns -0.0, which sorts equal to 0.0, into 0.0.
        weight = self.weight[held] + 0.0
        reward = np.where(missing, 0.0, self.reward[held] + 0.0)
        count = self.count[held]
        order = np.lexsort((count, supported, missing, reward, weight))
        is_first = np.arange(order.size) == 0
        for key in (weight, reward, missing, supported):
            is_first[1:] |= key[order[1:]] != key[order[:-1]]
        starts = np.flatnonzero(is_first)
        first = order[starts]
        return Points(
            weight[first],
            reward[first],
            missing[first],
            supported[first],
            np.add.reduceat(count[order], starts) if order.size else count,
        )
