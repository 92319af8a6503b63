"""Axes of pictures: how far they reach and where they are marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

REACH = 5.0
MARGIN = 0.04


def domain(
    intervals: Sequence[tuple[float, float]], about: int, times: float = REACH
) -> tuple[float, float]:
    """Both ends of an axis: 0 and all intervals, yet not far beyond the one at `about`.

    intervals: (lower, upper) pairs, at least one. Where the chosen one is 0 to 0, the
    widest of all sets the reach; where all are, it is 1.
    times: as far from 0 as the chosen one may the axis reach.
    """
    extents = [max(abs(lower), abs(upper)) for lower, upper in intervals]
    reach = times * extents[about] or max(extents) or 1.0
    low = max(min(0.0, *(lower for lower, _ in intervals)), -reach)
    high = min(max(0.0, *(upper for _, upper in intervals)), reach)
    if low == high:
        low, high = -reach, reach
    margin = (high - low) * MARGIN
    return low - margin, high + margin


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers in [low, high], about `most` of them, multiples of one step."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((1, 2, 5, 10), key=lambda m: abs(math.log(m * power / rough))) * power
    return [
        float(f"{i * step:.12g}")
        for i in range(math.ceil(low / step), math.floor(high / step) + 1)
    ]


def places(values: Sequence[float]) -> int:
    """How many decimals tell the marks of an axis apart."""
    step = min((b - a for a, b in pairwise(values)), default=1.0)
    return max(0, -int(f"{step:e}".partition("e")[2]))


def length(values: Sequence[float]) -> int:
    """Characters of the longest mark of an axis, sign and separators among them."""
    digits = places(values)
    return max(len(f"{value:+,.{digits}f}") for value in values)
