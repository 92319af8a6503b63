"""Sets the margin from what reviewers said, so that a declared share is aimed at.

Candidates are tried from strict to loose. For each, the reviews that it would have
shown are counted: those with its margin or more, from nights whose margin in force was
at or below it, since a night shows nothing below its own margin and so cannot speak for
a looser one. A candidate passes when so many acceptances would be rare, of probability
`LEVEL` or less, if the accepted share were only what is aimed at (exact binomial tail).
The first candidate that does not pass ends the search; the last that passed is taken.
Candidates with fewer than `FEWEST` reviews are skipped: with 8, the number of qna-next,
the search ends at a strict margin that chance rejected, and the margin stays there (on
tuning labels of a Spanish set at .08 with a recall of .65, against .05 and .79). Where
none passes, or before night `FIRST_NIGHT`, the margin in force stays.

This aims at the share and guarantees nothing. The test supposes exchangeable texts, yet
reviews take the easy texts away, the pairs' middles move, members of one group are
dependent, and testing every night uses the level again. The share that comes out is to
be told every night. Going below the first margin needs that texts are shown below it
on purpose. Source: qna-next section 6; fixed-sequence form of Learn then Test,
Angelopoulos, Bates, Candès, Jordan and Lei (2021), section 3.
"""

from __future__ import annotations

import polars as pl

from flows.errors import UsageError

START = 0.05  # in force until reviews speak
FIRST_NIGHT = 4
LEVEL = 0.10
FEWEST = 30
STEP, STRICTEST = 0.005, 0.30


def margin_from_reviews(
    reviews: pl.DataFrame, *, night: int, in_force: float, aims_at: float
) -> float:
    """The margin for `night`, to three places.

    reviews: of all nights before, columns margin, margin_in_force (of its night) and
    is_accepted; rows without a margin, whose pair the log gave, are left out.
    night: from 1. in_force: the margin of the night before. aims_at: an accepted share
    in (0, 1).
    Raises: UsageError for a share out of its range.
    """
    if not 0 < aims_at < 1:
        raise UsageError(f"aims_at is {aims_at}; choose a share between 0 and 1")
    if night < FIRST_NIGHT:
        return in_force
    chosen = in_force
    for place in range(round(STRICTEST / STEP), -1, -1):
        candidate = round(place * STEP, 3)
        counted = reviews.filter(
            pl.col("margin") >= candidate, pl.col("margin_in_force") <= candidate
        )
        if counted.height < FEWEST:
            continue
        if _tail(int(counted["is_accepted"].sum()), counted.height, aims_at) > LEVEL:
            break
        chosen = candidate
    return chosen


def _tail(accepted: int, shown: int, share: float) -> float:
    """The probability of `accepted` or more of `shown` when each is accepted alike."""
    from scipy.special import bdtrc

    return 1.0 if accepted == 0 else float(bdtrc(accepted - 1, shown, share))
