"""What the intervals of this room are computed from: weighted, counted points.

A point is a set of decisions that share importance weight, reward and state:

    weight             importance weight on supported actions, in [0, max_weight]
    reward             reward scaled to [0, 1]; any finite number where it is missing
    is_reward_missing  the decision has no reward
    is_supported       no action the candidate may take is unsupported (u = 0), judged
                       over all actions and never from the logged one (validity.md 1)
    count              how many decisions; fractional where mass was split over a grid
    sampling_weight    (least q) / q in (0, 1], q the probability that the decision was
                       kept in the log; 1 in a log that kept all
    own_unsupported    candidate mass without support, in [0, 1]; 0 or 1 where an
    other_unsupported  interval is made from it (a log of a convex combination would
                       raise the wealth). `other` is the second candidate of a
                       difference, whose `weight`, w - w', lies in [-max_weight,
                       max_weight]; it is 0 elsewhere

The same key may appear in any number of rows and in any order. `merged` brings points
into one canonical form, so that everything computed from it is the same to the last
bit whatever the order was (intervals.md, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Positions = NDArray[np.intp]

# Relative slack of the largest weight: probabilities are divided on the way here.
ROUNDING = 1e-9
# What is left out of points, and the number it stands for.
USUAL = {"sampling_weight": 1.0, "own_unsupported": 0.0, "other_unsupported": 0.0}
LEFT_OUT: Floats = np.empty(0)
KEYS = ("weight", "reward", "is_reward_missing", "is_supported", *USUAL)


def _left_out() -> Floats:
    return LEFT_OUT


@dataclass(frozen=True, slots=True)
class Points:
    """Counted points, arrays of shape (points,); see the module for their ranges.

    The last three may be left out: 1, 0 and 0 for every point.

    Raises:
        ValueError: shapes differ, a number is not finite, a count is negative, or a
            number lies outside its range (a weight: see `require_weights_up_to`).
    """

    weight: Floats
    reward: Floats
    is_reward_missing: Booleans
    is_supported: Booleans
    count: Floats
    sampling_weight: Floats = field(default_factory=_left_out)
    own_unsupported: Floats = field(default_factory=_left_out)
    other_unsupported: Floats = field(default_factory=_left_out)

    def __post_init__(self) -> None:
        shape = self.weight.shape
        for name, usual in USUAL.items():
            if getattr(self, name) is LEFT_OUT:
                object.__setattr__(self, name, np.full(shape, usual))
        for name in (*KEYS[1:], "count"):
            if (found := getattr(self, name).shape) != shape or len(shape) != 1:
                raise ValueError(f"{name} has shape {found}, weight has shape {shape}")
        self._require_ranges()

    def _require_ranges(self) -> None:
        for name in ("weight", "reward", "count", *USUAL):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} holds a number that is not finite")
        if (self.count < 0).any():
            raise ValueError("count holds a negative number")
        if (self.sampling_weight <= 0).any():
            raise ValueError("sampling_weight holds a number that is not positive")
        for name in ("reward", *USUAL):
            numbers = getattr(self, name)
            outside = (numbers < 0) | (numbers > 1)
            if name == "reward":
                outside &= ~self.is_reward_missing
            if outside.any():
                raise ValueError(f"{name} {numbers[outside][0]} lies outside [0, 1]")

    @property
    def decisions(self) -> float:
        """How many decisions there are, summed over the points."""
        return float(self.count.sum())

    def require_weights_up_to(self, max_weight: float, *, signed: bool = False) -> None:
        """Refuse weights above `max_weight`, which is 1 / floor, beyond rounding.

        signed: weights are those of a difference, down to -max_weight; else none is
            negative.

        Raises:
            ValueError: a weight is too large or too small, or max_weight is not a
                finite number >= 1.
        """
        if not 1.0 <= max_weight < math.inf:
            raise ValueError(f"max_weight {max_weight} is not a finite number >= 1")
        least, largest = self.weight.min(initial=0.0), self.weight.max(initial=0.0)
        bound = max_weight * (1.0 + ROUNDING)
        if largest > bound:
            raise ValueError(f"weight {largest} exceeds max_weight {max_weight}")
        if least < (-bound if signed else 0.0):
            raise ValueError(
                f"weight {least} lies below {-max_weight if signed else 0}"
            )

    def in_extremes(self) -> Points:
        """Points whose unsupported masses are 0 or 1, with the same means.

        The count of a point with a mass in between is split in its proportion. What is
        linear in a mass keeps its mean, the log of what is linear never grows: wealth
        computed from the split is at most that of the decisions, whose masses are
        known by their mean alone (intervals.md, section 4).
        """
        points = self
        for name in ("own_unsupported", "other_unsupported"):
            mass = getattr(points, name)
            if not np.isin(mass, (0.0, 1.0)).all():
                twice = {key: np.tile(getattr(points, key), 2) for key in KEYS}
                twice[name] = np.repeat((0.0, 1.0), mass.size)
                counts = (points.count * (1.0 - mass), points.count * mass)
                points = Points(count=np.concatenate(counts), **twice)
        return points

    def merged(self) -> Points:
        """The same points, sorted, one row for each key, without empty ones.

        The reward of a point without one becomes 0. The counts of a key are added in
        ascending order, so that rounding does not depend on the order of the rows.
        """
        held = self.count > 0
        # Adding 0.0 turns -0.0, which sorts equal to 0.0, into 0.0.
        keys = {name: getattr(self, name)[held] + 0 for name in KEYS}
        keys["is_reward_missing"] = self.is_reward_missing[held]
        keys["is_supported"] = self.is_supported[held]
        keys["reward"] = np.where(keys["is_reward_missing"], 0.0, keys["reward"])
        count = self.count[held]
        order, starts = groups(keys, count)
        first = order[starts]
        added = np.add.reduceat(count[order], starts) if order.size else count
        return Points(count=added, **{name: key[first] for name, key in keys.items()})


def groups(keys: Mapping[str, Floats], count: Floats) -> tuple[Positions, Positions]:
    """The order in which equal keys stand together, and where each group starts."""
    order = np.lexsort((count, *reversed(list(keys.values()))))
    is_first = np.arange(order.size) == 0
    for key in keys.values():
        is_first[1:] |= key[order[1:]] != key[order[:-1]]
    return order, np.flatnonzero(is_first)
