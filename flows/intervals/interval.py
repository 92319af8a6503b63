"""A confidence interval: two ends, and nothing else.

An interval whose lower end lies above its upper end is empty. It is a finding, not a
mistake: the data contradict the assumptions (as a rule, the logged probabilities), and
whoever reports the interval must withhold its ends.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `lower` to `upper`, both included."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """Length of the interval; negative when it is empty."""
        return self.upper - self.lower

    @property
    def is_empty(self) -> bool:
        """Whether no number lies in the interval."""
        return self.lower > self.upper

    def intersect(self, other: Interval) -> Interval:
        """The numbers that lie in both; may be empty."""
        return Interval(max(self.lower, other.lower), min(self.upper, other.upper))
