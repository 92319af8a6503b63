"""What every bed is judged by (validity.md 18).

In each setting the one-sided 99 % lower bound of coverage is at least 93.5 %, pooled
over settings at least 95 %. An estimator that is broken on purpose must fail: the 99 %
upper bound of its coverage stays below 93.5 %.

Source: Clopper and Pearson (1934), "The use of confidence or fiducial limits".
"""

from __future__ import annotations

import math

import numpy as np

LEAST_COVERAGE, LEAST_POOLED_COVERAGE = 0.935, 0.95
ERROR = 0.01
HALVINGS = 40


def least(covered, total):
    """One-sided 99 % lower bound of a share of `total`."""
    if not covered:
        return 0.0
    k = np.arange(covered, total + 1)
    log_factorials = np.zeros(total + 1)
    np.cumsum(np.log(np.arange(1, total + 1)), out=log_factorials[1:])
    ways = log_factorials[total] - log_factorials[k] - log_factorials[total - k]
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        logs = ways + k * math.log(middle) + (total - k) * math.log1p(-middle)
        is_small = np.exp(logs).sum() <= ERROR
        low, high = (middle, high) if is_small else (low, middle)
    return low


def most(covered, total):
    """One-sided 99 % upper bound of a share of `total`."""
    return 1.0 - least(total - covered, total)


def holds(covered, total):
    """Whether one setting passes."""
    return least(covered, total) >= LEAST_COVERAGE


def fails(covered, total):
    """Whether it is certain that one setting does not pass."""
    return most(covered, total) < LEAST_COVERAGE


def holds_pooled(covered, total):
    """Whether all settings together pass."""
    return least(covered, total) >= LEAST_POOLED_COVERAGE
