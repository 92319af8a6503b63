"""The one kernel of the constant-bet intervals: a lower bound for a mean, by betting.

A bet stakes the fraction f of its wealth on "the mean of the scores exceeds m". After
scores x_1..x_n, none below `minimum`, its wealth is the product of

    1 + f * v_i * (x_i - m) / (m - minimum)                f in (0, 1)

which never turns negative and, when the mean is at most m, does not grow on average. v
is a sampling weight in (0, 1], as a rule 1; the mean is E[v x] / E[v] (validity.md 13).
So does the wealth of a mixture, sum of prior * wealth over bets; by Ville's inequality
it ever reaches 1/a with probability at most a, whatever the sample size and the order
of arrival. Every m whose wealth reaches 1/a is rejected; the largest rejected m bounds
the mean from below at level 1 - a, under peeking too.

The log of a factor is log((1 - f v) + f v (x - minimum) / (m - minimum)): with s the
logarithm of m - minimum it is convex and falls as s grows, and s is concave in m. So
the log wealth of each bet, and of a mixture (a log-sum-exp), is convex and falls as m
grows. Hence rejection is monotone, a Newton step from either side lands on a rejected
m, and a chord lands on one that is not: both ends of the bracket close in. The rejected
end is returned, so the error of the search only ever widens an interval.

Leaving a bet out lowers the wealth. Bets that fall 45 nats short of mattering at a
rejected m are left out above it (they fall as m grows), which is why long logs, where
all but a few bets are broke, are cheap.

Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by
betting", sections 4 and 5; intervals.md, sections 4 and 8. The convexity and the search
are derived here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flows.intervals.points import Booleans, Floats, Positions

RELATIVE_TOLERANCE = 1e-12
NEGLIGIBLE_NATS = 45.0
# Numbers held at once by one evaluation: half a megabyte, which stays in the cache.
CHUNK = 1 << 16
# Above so many scores, a search over as many averaged ones finds the starting point.
PILOT_SCORES = 2048


@dataclass(frozen=True, slots=True)
class Bets:
    """Bets on one kind of score, all counted over the same scores.

    scores, counts: shape (scores,); counts not negative.
    minimum: the least score that could ever occur.
    fractions, log_priors: shape (bets,); fractions in (0, 1), priors of all `Bets` of
        one mixture add up to at most 1.
    weights: sampling weights, shape (scores,), in (0, 1]; None: all are 1.
    """

    scores: Floats
    counts: Floats
    minimum: float
    fractions: Floats
    log_priors: Floats
    weights: Floats | None = None

    @property
    def mass(self) -> Floats:
        """Counts times sampling weights: shape (scores,)."""
        return self.counts if self.weights is None else self.counts * self.weights


@dataclass(frozen=True, slots=True)
class Wealth:
    """Log wealth of a mixture at one m, its slope in m, and log wealth of each bet."""

    log: float
    slope: float
    bets: tuple[Floats, ...]


def merged(bets: Bets) -> Bets:
    """The same bets over sorted, distinct scores; independent of their order."""
    if not (bets.counts > 0).all():
        bets = _at(bets, np.flatnonzero(bets.counts > 0))
    counts, weights = bets.counts, bets.weights
    if weights is not None:
        bets = _at(bets, np.lexsort((counts, weights, bets.scores)))
    elif counts.size and counts.min() == counts.max():
        # Millions of values, as a rule, each counted once.
        bets = replace(bets, scores=np.sort(bets.scores))
    else:
        bets = _at(bets, np.lexsort((counts, bets.scores)))
    is_first = np.ones(bets.scores.size, dtype=np.bool_)
    np.not_equal(bets.scores[1:], bets.scores[:-1], out=is_first[1:])
    if bets.weights is not None:
        is_first[1:] |= bets.weights[1:] != bets.weights[:-1]
    if is_first.all():
        return bets
    starts = np.flatnonzero(is_first)
    return replace(_at(bets, starts), counts=np.add.reduceat(bets.counts, starts))


def _at(bets: Bets, where: Positions) -> Bets:
    """The same bets over some of the scores, in the order of `where`."""
    return replace(
        bets,
        scores=bets.scores[where],
        counts=bets.counts[where],
        weights=None if bets.weights is None else bets.weights[where],
    )


def wealth(mixture: Sequence[Bets], mean: float) -> Wealth:
    """Log wealth of a mixture against the hypothesis that the mean is at most `mean`.

    mean: above the minimum of every member.
    """
    logs, slopes = zip(*(_bet_wealth(bets, mean) for bets in mixture), strict=True)
    weighted = np.concatenate(
        [log + bets.log_priors for log, bets in zip(logs, mixture, strict=True)]
    )
    peak = float(weighted.max())
    shares = np.exp(weighted - peak)
    total = float(shares.sum())
    slope = float((shares * np.concatenate(slopes)).sum()) / total
    return Wealth(peak + math.log(total), slope, logs)


def _bet_wealth(bets: Bets, mean: float) -> tuple[Floats, Floats]:
    """Log wealth and slope of each bet, in chunks of scores."""
    reach = mean - bets.minimum
    fractions = bets.fractions[:, None]
    logs = np.zeros(bets.fractions.size)
    inverses = np.zeros(bets.fractions.size)
    spared = np.zeros(bets.fractions.size)
    step = max(1, CHUNK // max(1, bets.fractions.size))
    for start in range(0, bets.scores.size, step):
        part = slice(start, start + step)
        counts, odds = bets.counts[part], (bets.scores[part] - mean) / reach
        if bets.weights is not None:
            odds *= bets.weights[part]
        gains = fractions * odds
        terms = np.log1p(gains)
        terms *= counts
        logs += terms.sum(axis=1)
        gains += 1.0
        shares = np.divide(counts, gains, out=gains)
        inverses += shares.sum(axis=1)
        if bets.weights is not None:
            spared += shares @ (1.0 - bets.weights[part])
    kept = (1.0 - bets.fractions) * inverses + bets.fractions * spared
    return logs, -(bets.counts.sum() - kept) / reach


def largest_rejected(
    mixture: Sequence[Bets], *, low: float, high: float, log_threshold: float
) -> float:
    """The largest m in [low, high] whose log wealth reaches the threshold.

    mixture: members with equal totals of counts; low is at least every minimum.
    high: at least every score, so that no m above it can be rejected.
    log_threshold: log(1/a), positive.

    Returns:
        A rejected m within 1e-12 * (high - low) of the largest; `low` when none above
        it is rejected.
    """
    mixture = [merged(bets) for bets in mixture]
    if not all(bets.scores.size for bets in mixture):
        return low
    tolerance = RELATIVE_TOLERANCE * (high - low)
    guess = _start(mixture, log_threshold)
    if max(bets.scores.size for bets in mixture) > PILOT_SCORES:
        pilot = [_averaged(bets) for bets in mixture]
        guess = _search(pilot, guess, low, high, log_threshold, tolerance)
    return _search(mixture, guess, low, high, log_threshold, tolerance)


def _search(
    mixture: Sequence[Bets],
    guess: float,
    low: float,
    high: float,
    log_threshold: float,
    tolerance: float,
) -> float:
    """Close a bracket around the largest rejected m; return its rejected end."""
    # At the mean of its scores or above no bet has gained (Jensen): not rejected.
    left, right = low, min(high, max(_mean(bets) for bets in mixture))
    bound, stride, probe = low, math.inf, 0.75 * tolerance
    mean = min(max(guess, low + tolerance), right)
    while right - left > tolerance:
        at = wealth(mixture, mean)
        excess = at.log - log_threshold
        # Where the Newton step lands; the largest rejected m is never below it.
        bound = max(bound, mean - excess / at.slope if at.slope < 0.0 else low)
        if excess >= 0.0:
            left = mean
            mixture = _solvent(mixture, at, log_threshold)
        else:
            right = mean
        step = bound - left
        if left == low:  # nothing is rejected yet
            mean = max(bound, low + tolerance)
        elif step < probe:  # the Newton steps have converged: look just beyond
            mean, probe = left + probe, 2.0 * probe
        elif step <= 0.5 * stride:
            mean, stride = bound, step
        else:  # they stall: halve the bracket, then go on from there
            mean, stride = 0.5 * (bound + right), math.inf
        if not left < mean < right:  # rounding: look just below the other end
            mean, probe = max(0.5 * (left + right), right - probe), 2.0 * probe
    return left


def _solvent(mixture: Sequence[Bets], at: Wealth, log_threshold: float) -> list[Bets]:
    """The bets that can still matter above the m at which `at` was measured."""
    least = log_threshold - NEGLIGIBLE_NATS
    kept = [
        _subset(bets, logs + bets.log_priors > least)
        for bets, logs in zip(mixture, at.bets, strict=True)
    ]
    return [bets for bets in kept if bets.fractions.size]


def _subset(bets: Bets, which: Booleans) -> Bets:
    """Some of the bets, on the same scores."""
    return replace(
        bets, fractions=bets.fractions[which], log_priors=bets.log_priors[which]
    )


def _mean(bets: Bets) -> float:
    """Mean of the scores, a ratio where there are sampling weights."""
    return float((bets.scores * bets.mass).sum() / bets.mass.sum())


def _start(mixture: Sequence[Bets], log_threshold: float) -> float:
    """A rough guess of the result: the best normal approximation over the scores."""
    guesses = []
    for bets in mixture:
        mass = bets.mass if bets.weights is None else bets.mass * bets.weights
        decisions = float(bets.mass.sum())
        mean = _mean(bets)
        variance = float((mass * (bets.scores - mean) ** 2).sum()) / decisions
        # Two nats are about what the mixture pays for not knowing the best bet.
        deviations = math.sqrt(2.0 * variance * (log_threshold + 2.0) / decisions)
        guesses.append(max(mean - deviations, mean - 0.9 * (mean - bets.minimum)))
    return max(guesses)


def _averaged(bets: Bets) -> Bets:
    """The same bets over at most `PILOT_SCORES` averages of neighbouring scores.

    Their wealth is no smaller (Jensen), so they only serve to find a starting point.
    """
    if bets.scores.size <= PILOT_SCORES:
        return bets
    edges = np.linspace(bets.scores[0], bets.scores[-1], PILOT_SCORES, endpoint=False)
    starts = np.unique(np.searchsorted(bets.scores, edges))
    counts = np.add.reduceat(bets.counts, starts)
    mass = np.add.reduceat(bets.mass, starts)
    sums = np.add.reduceat(bets.scores * bets.mass, starts)
    weights = None if bets.weights is None else mass / counts
    return replace(bets, scores=sums / mass, counts=counts, weights=weights)
