"""The probability with which a decision was kept in the log, as an axis of evidence.

Up to 64 values are told apart as they are. More are put on 64 values in even steps of
their logarithm: a decision goes to one of its two neighbours, by further bits of the
hash of its id, so that 1 / q keeps its mean. The draw takes no part in the decision, so
every bound that holds for the weights 1 / q holds for the drawn ones; the estimate
moves by far less than a standard error.

Source: validity.md 13; the draw is derived here.
"""

from __future__ import annotations

import math

import polars as pl

from flows import columns as c
from flows.decisions import Log, Profile
from flows.errors import LogError
from flows.offpolicy.blocks import identity
from flows.offpolicy.grid import Grid

MOST = 64
# Bits of the hash that no block is made from.
DRAWS = 2**20


def sampling(log: Log, profile: Profile, grid: Grid) -> pl.Expr | None:
    """The sampling probability at which decisions are counted; None: all were kept.

    Raises: LogError when one is smaller than the grid declares, or when there are many
    and no ids to draw by.
    """
    if not log.is_sampled:
        return None
    least, seen = grid.least_sample_probability, profile.least_sample_probability
    if seen < least * (1.0 - c.FLOOR_TOLERANCE):
        raise LogError(
            f"sample_probability {seen:g} lies below the declared least one, "
            f"{least:g}. Declare least_sample_probability: the least probability, by "
            "design, that a decision was kept in the log"
        )
    if profile.sample_probability_count <= MOST:
        return pl.col(c.SAMPLE_PROBABILITY)
    if not log.has_ids:
        raise LogError(
            f"sample_probability has {profile.sample_probability_count:,} values; more "
            f"than {MOST} need decision_id"
        )
    return _drawn(least)


def _drawn(least: float) -> pl.Expr:
    """One of the two neighbours among 64 values, such that 1 / q keeps its mean."""
    exact, step = pl.col(c.SAMPLE_PROBABILITY), -math.log(least) / (MOST - 1)
    place = ((exact.log() - math.log(least)) / step).floor().clip(0, MOST - 2)
    low, high = ((math.log(least) + (place + k) * step).exp() for k in (0, 1))
    share = (1.0 / exact - 1.0 / high) / (1.0 / low - 1.0 / high)
    drawn = (identity() % DRAWS).cast(pl.Float64) / DRAWS
    is_low = (drawn < share).cast(pl.Float64)
    return high + is_low * (low - high)
