"""Gives texts to pairs when the log does not say whose they are, with a margin.

The score of text x for pair p is its similarity to the middle of the pair, less what
it resembles texts that were rejected for the pair, plus a bonus where the bot answered
with it (qna-next sections 3 to 5):

    score[x, p] = x . middle[p] - rejected_weight * max(0, max over r of x . r)
                  + bot_bonus where p is the bot's answer
    middle[p]   = the sum of the pair's questions and accepted texts, to length one

A text goes to the pair with the highest score (ties: the first pair), never to one that
is closed for it. Its margin is that score less the next one, or less 0 when that is
lower: so a knowledge base of one pair takes no text that resembles nothing in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flows.suggestions.leader import PLACES
from flows.suggestions.vectors import CELLS, unit_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """What is known of the pairs, each a number from 0.

    middles: unit rows, shape (pairs, columns). rejected: rows of rejected texts, sorted
    by the pair that each was rejected for, `rejected_for`.
    """

    middles: csr_array
    rejected: csr_array
    rejected_for: Integers


@dataclass(frozen=True, slots=True)
class Assigned:
    """For each text the pair with the highest score, -1 for none, and its margin."""

    pair: Integers
    margin: Floats


def middles(rows: csr_array, pair: Integers, *, pairs: int) -> csr_array:
    """The middle of each pair, from rows of its texts; zeros without any.

    rows: shape (texts, columns). pair: shape (texts,), the pair of each.
    """
    from scipy import sparse

    ones = np.ones(pair.size, dtype=rows.dtype)
    members = sparse.csr_array(
        (ones, (pair, np.arange(pair.size))), shape=(pairs, pair.size)
    )
    summed = members @ rows
    summed.sort_indices()
    return unit_rows(summed)


def assigned(
    rows: csr_array,
    which: Integers,
    pairs: Pairs,
    *,
    bot: Integers,
    closed: tuple[Integers, Integers],
    rejected_weight: float,
    bot_bonus: float,
) -> Assigned:
    """Pair and margin of each text.

    rows: unit rows. which: rows of the texts, shape (texts,). bot: shape (texts,), the
    pair that the bot answered with, -1 for none. closed: text and pair of what must not
    meet, sorted by text.
    """
    best = np.full(which.size, -1)
    margin = np.zeros(which.size)
    for at, scores in _scores(rows, which, pairs, rejected_weight):
        end = at + scores.shape[0]
        answered = np.flatnonzero(bot[at:end] >= 0)
        scores[answered, bot[at:end][answered]] += bot_bonus
        barred = slice(*np.searchsorted(closed[0], [at, end]))
        scores[closed[0][barred] - at, closed[1][barred]] = -np.inf
        best[at:end], margin[at:end] = _highest(scores)
    return Assigned(best, margin)


def _scores(
    rows: csr_array, which: Integers, pairs: Pairs, rejected_weight: float
) -> Iterator[tuple[int, Floats]]:
    """Scores of a block of texts for all pairs, with the block's first text."""
    width = max(pairs.middles.shape[0], pairs.rejected.shape[0], 1)
    step = max(1, CELLS // 2 // width)
    to_middles, to_rejected = pairs.middles.T.tocsr(), pairs.rejected.T.tocsr()
    blamed, first = np.unique(pairs.rejected_for, return_index=True)
    for at in range(0, which.size, step):
        block = rows[which[at : at + step]]
        scores = (block @ to_middles).toarray().astype(np.float64)
        if blamed.size:
            similar = (block @ to_rejected).toarray()
            worst = np.maximum.reduceat(similar, first, axis=1)
            scores[:, blamed] -= rejected_weight * np.maximum(worst, 0.0)
        yield at, scores


def _highest(scores: Floats) -> tuple[Integers, Floats]:
    """Place of the highest score of each row (-1: none above 0), and its margin."""
    scores = np.round(scores, PLACES)
    best = np.argmax(scores, axis=1)
    each = np.arange(best.size)
    highest = scores[each, best]
    scores[each, best] = -np.inf
    margin = np.round(highest - np.maximum(scores.max(axis=1), 0.0), PLACES)
    return np.where(highest > 0, best, -1), np.where(highest > 0, margin, 0.0)
