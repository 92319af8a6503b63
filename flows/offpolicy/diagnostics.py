"""What the weights of an estimate look like: how far its data carry it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flows.offpolicy.cells import Cells, Floats
from flows.offpolicy.corners import points as points_of
from flows.offpolicy.grid import UNIT

TOP_SHARE = 0.01
# Decimals of a mean weight that the grid resolves.
RESOLVED = 6


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What the weights look like. Weights are those on supported actions.

    effective_sample_size: (sum w)^2 / sum w^2, in decisions; of weights divided by the
        sampling probability where the log was sampled.
    expected_mean_weight: 1 minus the mean unsupported mass: what true logged
        probabilities give; None where the log does not tell that mass.
    top_share: share of the value's estimate carried by the top 1 % of decisions; None
        when the estimate is 0 at the bottom of the range.
    """

    mean_weight: float
    expected_mean_weight: float | None
    effective_sample_size: float
    largest_weight: float
    top_share: float | None


def diagnostics(cells: Cells) -> Diagnostics:
    """What the weights of these decisions look like."""
    known, v = cells.knows_support, cells.sampling_weight
    total, squares = cells.weight_sums, _square_sums(cells)
    weighted, square = float((v * total).sum()), float((v * v * squares).sum())
    return Diagnostics(
        mean_weight=round(cells.mean_weight, RESOLVED),
        expected_mean_weight=1.0 - cells.unsupported_mean if known else None,
        effective_sample_size=weighted**2 / square if square > 0 else 0.0,
        largest_weight=largest_weight(cells),
        top_share=_top_share(cells),
    )


def _square_sums(cells: Cells) -> Floats:
    """The squared weights of each row, added up."""
    if cells.is_logging:
        return cells.weight_sums
    n, a, aa = (
        cells.sums[name] for name in ("decisions", "weight_part", "weight_square_part")
    )
    low, step = cells.weight_ends
    sums: Floats = n * low**2 + 2 * low * step * (a / UNIT) + step**2 * (aa / UNIT)
    return sums


def largest_weight(cells: Cells) -> float:
    """The largest weight; of compared candidates the largest difference upwards."""
    if cells.is_logging:
        return 1.0
    low, step = cells.weight_ends
    return float((low + step * (cells.largest_part / UNIT)).max())


def _top_share(cells: Cells) -> float | None:
    points = points_of(cells)
    measured = ~points.is_reward_missing
    score = (points.weight * points.reward * points.sampling_weight)[measured]
    count = points.count[measured]
    total = float((score * count).sum())
    if total <= 0:
        return None
    order = np.argsort(-score, kind="stable")
    score, count = score[order], count[order]
    room = TOP_SHARE * cells.decisions - (np.cumsum(count) - count)
    taken = np.clip(room, 0.0, count)
    return float((score * taken).sum()) / total
