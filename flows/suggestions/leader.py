"""Densest-first leader clustering: every member is similar to its leader.

Texts are taken in the order of their density. The first one leads, and every text that
is similar to it by `threshold` or more follows it; of those left the next one leads,
and so on. A text's density is its summed similarity to all texts of the group, each
as often as it was asked: one product with the group's weighted sum. Ties go to the
lesser row, which is the lesser key when rows stand in the order of keys.

Source: leader clustering, Hartigan (1975), "Clustering algorithms", chapter 3; why not
average link, components or density trees: qna-suggestions 4.3, 4.4 and 5.2. Time grows
with texts times leaders, memory with texts: similarities are taken by blocks, and of a
block's texts only those that lead are compared with the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PLACES = 6  # that similarities are compared in
BLOCK = 256  # texts that may lead, taken at a time
HEADS = 512  # that lead before all texts left are compared with them
CELLS = 1 << 22  # similarities held at a time

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def leaders(
    rows: csr_array, which: Integers, counts: Integers, *, threshold: float
) -> Integers:
    """The place in `which` of the text that each text follows; a leader its own.

    rows: unit rows with sorted columns. which: the rows to group, shape (texts,).
    counts: shape (texts,), how often each was asked. threshold: in (0, 1].
    Returns: shape (texts,).
    """
    order = np.argsort(-density(rows[which], counts), kind="stable")
    rows = rows[which[order]]
    follows = np.full(order.size, -1)
    free = np.arange(order.size)
    heads = free[:0]
    while free.size:
        block, free = free[:BLOCK], free[BLOCK:]
        block = _follow(rows, follows, block, heads, threshold)
        chosen = _one_by_one(rows[block], threshold)
        follows[block] = block[chosen]
        heads = np.append(heads, block[np.unique(chosen)])
        if heads.size >= HEADS:
            free = _follow(rows, follows, free, heads, threshold)
            heads = free[:0]
    led = np.empty_like(order)
    led[order] = order[follows]
    return led


def _follow(
    rows: csr_array,
    follows: Integers,
    free: Integers,
    heads: Integers,
    threshold: float,
) -> Integers:
    """Lets free texts follow the first similar head; returns those still free."""
    first = first_similar(rows, free, heads, threshold=threshold)
    found = first < heads.size
    follows[free[found]] = heads[first[found]]
    return free[~found]


def first_similar(
    rows: csr_array, texts: Integers, others: Integers, *, threshold: float
) -> Integers:
    """For each of `texts` the place of the first similar one of `others`.

    Texts and others are places of `rows`. Their number means that none is similar.
    """
    first = np.full(texts.size, others.size)
    compared = rows[others]
    step = max(1, CELLS // max(others.size, 1))
    for at in range(0, texts.size, step):
        near = _near(rows[texts[at : at + step]], compared, threshold)
        which = np.repeat(np.arange(near.shape[0]), np.diff(near.indptr))
        np.minimum.at(first[at : at + step], which, near.indices)
    return first


def density(rows: csr_array, counts: Integers) -> Floats:
    """Summed similarity to all rows, each as often as its count, to 6 places."""
    total = rows.T @ counts.astype(np.float64)
    summed: Floats = np.round(rows @ total, PLACES)
    return summed


def _one_by_one(rows: csr_array, threshold: float) -> Integers:
    """Leaders among few rows, given in their order."""
    near = _near(rows, rows, threshold)
    follows = np.full(rows.shape[0], -1)
    for row in range(rows.shape[0]):
        if follows[row] < 0:
            others = near.indices[near.indptr[row] : near.indptr[row + 1]]
            follows[others[follows[others] < 0]] = row
            follows[row] = row
    return follows


def _near(rows: csr_array, heads: csr_array, threshold: float) -> csr_array:
    """Similarities of rows and heads from `threshold` on."""
    near = rows @ heads.T
    near.data[near.data < threshold] = 0
    near.eliminate_zeros()
    return near
