"""Any estimand, night by night, where means or the logging policy may move.

For `logging = "adaptive"` or `"reacting"` and for `drift = true`: the target is the
running average of what each decision could expect when it was made, and the interval
of every night holds for that night's average, all nights together with probability
1 - alpha. Averages move, so intervals of different nights must not be intersected.

Scores y >= least, controls and reflection are those of `estimands`; mu is the mean of y
given everything before the decision, at most what that decision could expect. With a
centre k, taken from earlier nights, and a bet b >= 0 that never changes,

    product of 1 + b (y - k),  times exp(-b * sum of (mu - k))

does not grow on average, since 1 + b (mu - k) <= exp(b (mu - k)). It depends on the mu
through their sum alone, so a running average m is rejected when the mixture over bets
reaches 2 / alpha with n m in the place of the sum of mu (Ville). Each bet's log wealth
is linear in m: no m needs a second look at the counts.

Empirical-Bernstein bounds go one step further, to sums of squares: with e = y - k and
p(b) = -log(1 - b) - b, exp(b e - p(b) e^2) <= 1 + b e where e >= -1 (Fan, Grama and
Liu). Counts of cells know the right side, which is far larger where rewards are rare.

With sampling weights v = (least q) / q the average is over all decisions, dropped ones
included, whose number is not known: N is that number times the least q. The factors are
1 + b v (y - k) for kept decisions and 1 for others, which have mean 1 + (least q) b
(mu - k), and the last factor is exp(-b N (m - k)) with a k that never changes. A mean m
is rejected when the mixture over b and k reaches 2 / alpha for every N. A k on either
side of m is enough to hold N: an end is about as far from the truth as the ends for a
known N at these two k, in the mean weighted by how near each is (validity.md 13).

Centres and controls come from earlier nights, starting from each of three guesses,
which are bet on side by side; they are renewed when nights have doubled (after nights
1, 2, 4, 8, ...). Guesses, priors and renewals change width, never validity.

Width of a value over the plain normal one, which holds at one look; floor .05, ten
actions, 28 nights (mean of 30 logs; improvement within 2 % from 2,000 on):

    decisions                     500    2,000    20,000    200,000    2,000,000
    rewards of 0 or 1, mean .05  1.82     1.80      1.66       1.69         1.82
    rewards of 0 or 1, mean .5   1.00     1.00       .95       1.01         1.10
    nine levels, mean .6          .54      .42       .33        .33          .35

With rewards of 0 dropped in seven cases of ten: .9 to 1.2 times as wide as `mixture`.

Source: Fan, Grama and Liu (2015), "Exponential inequalities for martingales with
applications", section 4; Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro (2024),
"Anytime-valid off-policy inference for contextual bandits"; validity.md 5c, 11 and 13;
intervals.md, section 4. Leaving the factor as it is, and N, are derived here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from flows.intervals.block_points import BlockPoints
from flows.intervals.estimands import Estimand
from flows.intervals.interval import Interval
from flows.intervals.kernel import RELATIVE_TOLERANCE
from flows.intervals.points import Floats

# No factor falls below 1 - LARGEST_STAKE.
LARGEST_STAKE = 0.9
LEAST_BET, SPACING = 2e-5, math.sqrt(0.5)
# The prior's peak, in bets times the root of max_weight, and its width in octaves.
PEAK, OCTAVES, TAIL = 0.1, 2.0, 0.1
# Mean rewards to start from; how many decisions and squares of w - 1 stand behind them.
GUESSES = (0.05, 0.5, 0.95)
PSEUDO_DECISIONS, PSEUDO_SQUARES = 10.0, 30.0
# Fixed centres of a sampled log, evenly over what is possible.
CENTRES = 3
TINY = 1e-9
# Halvings of the range of N before a mean counts as not rejected.
LONGEST_SEARCH = 60


def interval(
    data: BlockPoints, estimand: Estimand, *, max_weight: float, alpha: float
) -> Interval:
    """Interval for the running average of an estimand, rewards scaled to [0, 1].

    data: nights in time order, weights at most max_weight. Where every sampling weight
        is 1, the log is taken for one that dropped nothing, or all alike.
    max_weight: 1 / floor, at least 1.
    alpha: total error in (0, 1), half at each end.

    Returns:
        The interval after the last night; empty when the weights contradict the logged
        probabilities. Not to be intersected with those of other nights.

    Raises:
        ValueError: max_weight, alpha or a weight is out of its range.
    """
    data.cells.require_weights_up_to(max_weight, signed=estimand.is_signed)
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha {alpha} lies outside (0, 1)")
    data = _in_extremes(data)
    log_threshold = math.log(2.0 / alpha)
    below = _lower(data, estimand, max_weight, log_threshold)
    other = BlockPoints(estimand.mirrored(data.cells), data.counts)
    above = _lower(other, estimand, max_weight, log_threshold)
    found = Interval(below, estimand.reflected(above))
    return found.intersect(estimand.possible)


def _in_extremes(data: BlockPoints) -> BlockPoints:
    """Nights that held decisions; their cells have unsupported masses of 0 or 1."""
    counts = data.counts[data.counts.any(axis=1)]
    one = replace(data.cells, count=np.ones(data.cells.count.size))
    cells = one.in_extremes()
    copies = cells.count.size // max(one.count.size, 1)
    return BlockPoints(cells, np.tile(counts, copies) * cells.count)


@dataclass(frozen=True, slots=True)
class _Bettor:
    """What one lower end is computed with.

    plain, slope: scores are plain + control * slope, shape (cells,).
    sampling: sampling weights, shape (cells,); None where all are 1.
    returned: see `Estimand`; possible: where the mean lies.
    bets: shape (bets,).
    steepness: the least score is at least -steepness * control, or that at control 0.
    """

    plain: Floats
    slope: Floats
    sampling: Floats | None
    returned: float
    possible: Interval
    bets: Floats
    steepness: float

    def gained(self, count: Floats, seen: Floats, guess: float) -> Floats:
        """Log wealth that some nights add to each member: shape (centres, bets).

        count, seen: decisions of these nights and of those before, shape (cells,).
        guess: mean reward to start from, in [0, 1].
        """
        control, centre = self._planned(seen, guess)
        centres = np.array([centre]) if self.sampling is None else self.fixed_centres
        room = LARGEST_STAKE / self.bets - centres[:, None]
        controls = np.minimum(control, room / self.steepness)[..., None]
        held = count > 0
        stakes = self.plain[held] + controls * self.slope[held]
        stakes -= centres[:, None, None]
        stakes *= self.bets[:, None]
        if self.sampling is not None:
            stakes *= self.sampling[held]
        logs: Floats = np.log1p(stakes, out=stakes) @ count[held]
        if self.sampling is None:
            logs += float(count.sum()) * centre * self.bets
        return logs

    @property
    def fixed_centres(self) -> Floats:
        """The centres of a sampled log; otherwise 0, from which all are counted."""
        if self.sampling is None:
            return np.zeros(1)
        return np.linspace(self.possible.lower, self.possible.upper, CENTRES)

    def _planned(self, seen: Floats, guess: float) -> tuple[float, float]:
        """Control and centre, from the decisions seen so far."""
        mass = squares = seen
        if self.sampling is not None:
            mass = seen * self.sampling
            squares = mass * self.sampling
        total = float(mass.sum()) + PSEUDO_DECISIONS
        first = PSEUDO_DECISIONS * guess * self.returned
        mean = (first + float(mass @ self.plain)) / total
        slopes = squares * self.slope
        both = PSEUDO_SQUARES * guess - float(slopes @ (self.plain - mean))
        control = both / (PSEUDO_SQUARES + float(slopes @ self.slope))
        control = min(max(control, 0.0), 1.0)
        centre = mean + control * float(mass @ self.slope) / total
        centre = min(max(centre, self.possible.lower), self.possible.upper)
        return control, centre


def _lower(
    data: BlockPoints, estimand: Estimand, max_weight: float, log_threshold: float
) -> float:
    """The largest running average that is rejected."""
    reach = estimand.possible.upper - estimand.least_score(0.0, max_weight)
    bets, log_prior = _bets(LARGEST_STAKE / reach, max_weight)
    sampling = data.cells.sampling_weight
    plain = estimand.scores(data.cells, 0.0)
    bettor = _Bettor(
        plain,
        estimand.scores(data.cells, 1.0) - plain,
        None if (sampling == 1.0).all() else sampling,
        estimand.returned,
        estimand.possible,
        bets,
        max(max_weight - 1.0, TINY),
    )
    centres = bettor.fixed_centres
    logs = np.zeros((len(GUESSES), centres.size, bets.size))
    logs += log_prior - math.log(len(GUESSES) * centres.size)
    seen = np.zeros(plain.size)
    for start, stop in _groups(data.counts.shape[0]):
        count = data.counts[start:stop].sum(axis=0)
        for number, guess in enumerate(GUESSES):
            logs[number] += bettor.gained(count, seen, guess)
        seen += count
    wealth = _Wealth(
        np.logaddexp.reduce(logs, axis=0).ravel(),
        np.tile(bets, centres.size),
        np.repeat(centres, bets.size),
    )
    kept = float(seen.sum())
    # N exceeds four times its kept decisions and 200 with probability exp(-190).
    numbers = (kept, kept) if bettor.sampling is None else (0.0, 4.0 * kept + 200.0)
    return wealth.largest_rejected(estimand.possible, numbers, log_threshold)


def _bets(largest: float, max_weight: float) -> tuple[Floats, Floats]:
    """Bets from the largest one down, and logarithms of their prior."""
    steps = math.ceil(math.log(LEAST_BET / largest) / math.log(SPACING))
    bets: Floats = np.asarray(largest * SPACING ** np.arange(max(steps, 1)))
    octaves = np.log2(bets * math.sqrt(max_weight) / PEAK) / OCTAVES
    prior = np.exp(-0.5 * octaves**2) + TAIL / (1.0 + octaves**2)
    log_prior: Floats = np.log(prior / prior.sum())
    return bets, log_prior


def _groups(nights: int) -> list[tuple[int, int]]:
    """First night and the one after the last, of nights that share a centre."""
    starts = [0, *(1 << k for k in range(max(nights - 1, 0).bit_length()))]
    return list(zip(starts, [*starts[1:], nights], strict=True))


@dataclass(frozen=True, slots=True)
class _Wealth:
    """Log wealth of a mixture: of each member, logs - bets * (m - centres) * N.

    logs, bets, centres: shape (members,).
    """

    logs: Floats
    bets: Floats
    centres: Floats

    def largest_rejected(
        self, means: Interval, numbers: tuple[float, float], log_threshold: float
    ) -> float:
        """The largest m in `means` rejected for every N in `numbers`, or the least m.

        The wealth falls as m grows, so the rejected end of a bisection is returned.
        """
        left, right = means.lower, means.upper
        while right - left > RELATIVE_TOLERANCE * means.width:
            middle = 0.5 * (left + right)
            if self._is_rejected(middle, numbers, log_threshold):
                left = middle
            else:
                right = middle
        return left

    def _is_rejected(
        self, mean: float, numbers: tuple[float, float], log_threshold: float
    ) -> bool:
        """Whether the log wealth, convex in N, reaches the threshold for every N."""
        speeds = -self.bets * (mean - self.centres)
        left, right = numbers
        for _ in range(LONGEST_SEARCH):
            middle = 0.5 * (left + right)
            terms = self.logs + speeds * middle
            peak = float(terms.max())
            shares = np.exp(terms - peak)
            total = float(shares.sum())
            log = peak + math.log(total)
            if log < log_threshold:
                return False
            slope = float(shares @ speeds) / total
            reach = middle - left if slope > 0.0 else right - middle
            # It lies above its tangent, and has its minimum on the falling side.
            if log - abs(slope) * reach >= log_threshold:
                return True
            left, right = (left, middle) if slope > 0.0 else (middle, right)
        return False
