"""What every bed is judged by."""

from __future__ import annotations

import math

import pytest


def bound(covered, total):
    """One-sided 99 % lower bound (Clopper and Pearson 1934) of a share."""

    def at_least(probability):
        return sum(
            math.comb(total, k) * probability**k * (1 - probability) ** (total - k)
            for k in range(covered, total + 1)
        )

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if at_least(middle) > 0.01 else (middle, high)
    return low


@pytest.fixture(scope="session")
def least_coverage():
    return bound
