"""Estimators broken on purpose: the bed must find them out (validity.md 18)."""

from __future__ import annotations

import dataclasses

import numpy as np

from flows.offpolicy.evidence import REWARD_MISSING, SUPPORT_MISSING


def with_controls_despite_gaps(cells):
    """Bets with controls where candidate mass is unsupported."""
    return dataclasses.replace(cells, kind=cells.kind % SUPPORT_MISSING)


def without_missing_decisions(cells):
    """Drops the decisions whose reward is missing."""
    return cells.where(cells.kind % (2 * REWARD_MISSING) == 0)


def as_if_nothing_was_dropped(cells):
    """Ignores with what probability decisions were kept in the log."""
    grid = dataclasses.replace(cells.grid, least_sample_probability=1.0)
    ones = np.ones_like(cells.sample_probability)
    return dataclasses.replace(cells, sample_probability=ones, grid=grid)
