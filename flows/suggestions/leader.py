"""Densest-first leader clustering: every member is similar to its leader.

Texts are taken in the order of their density. The first one leads, and every text that
is similar to it by `threshold` or more follows it; of those left the next one leads,
and so on. A text's density is its summed similarity to all texts of the group, each
as often as it was asked: one product with the group's weighted sum. Ties go to the
lesser row, which is the lesser key when rows stand in the order of keys.

Source: leader clustering, Hartigan (1975), "Clustering algorithms", chapter 3; why not
average link, components or density trees: qna-suggestions 4.3, 4.4 and 5.2. Time grows
with texts times leaders, memory with texts. Two devices keep it low and change nothing:

blocks  Texts are taken by blocks, and all texts left are compared with many leaders at
        once.
bounds  The commonest grams cost most and say least. They are left out of a leader until
        their part of its length reaches threshold - `BOUND`: by the inequality of
        Cauchy and Schwarz a similar text still has a product of `BOUND` or more, and
        only the products of such texts are taken in full (Bayardo, Ma and Srikant,
        2007, "Scaling up all pairs similarity search").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flows.suggestions.vectors import CELLS, Floats, Integers, row_products

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PLACES = 6  # that similarities are compared in
BLOCK = 256  # texts that may lead, taken at a time
LEADERS = 512  # that all texts left are compared with at once
BOUND = 0.2
ROUNDING = 1e-5  # of products in single precision


def leaders(
    rows: csr_array, which: Integers, counts: Integers, *, threshold: float
) -> Integers:
    """The place in `which` of the text that each text follows; a leader its own.

    rows: unit rows with sorted columns. which: the rows to group, shape (texts,).
    counts: shape (texts,), how often each was asked. threshold: in (0, 1].
    Returns: shape (texts,).
    """
    order = np.argsort(-density(rows, which, counts), kind="stable")
    ordered = which[order]
    follows = np.full(order.size, -1)

    def left(texts: Integers, heads: Integers) -> Integers:
        """Texts that no head is similar to; the others follow the first that is."""
        first = first_similar(rows, ordered[texts], ordered[heads], threshold=threshold)
        found = first < heads.size
        follows[texts[found]] = heads[first[found]]
        return texts[~found]

    free, heads = np.arange(order.size), np.arange(0)
    while free.size:
        block = left(free[:BLOCK], heads)
        chosen = _one_by_one(rows[ordered[block]], threshold)
        follows[block] = block[chosen]
        heads = np.append(heads, block[np.unique(chosen)])
        free = free[BLOCK:]
        if heads.size >= LEADERS:
            free, heads = left(free, heads), heads[:0]
    led = np.empty_like(order)
    led[order] = order[follows]
    return led


def density(rows: csr_array, which: Integers, counts: Integers) -> Floats:
    """Summed similarity to all of the rows, each as often as its count, to 6 places."""
    step = max(1, CELLS // 256)
    total = np.zeros(rows.shape[1])
    for at in range(0, which.size, step):
        part = slice(at, at + step)
        total += rows[which[part]].T @ counts[part].astype(np.float64)
    summed = np.zeros(which.size)
    for at in range(0, which.size, step):
        summed[at : at + step] = rows[which[at : at + step]] @ total
    return np.round(summed, PLACES)


def first_similar(
    rows: csr_array, texts: Integers, others: Integers, *, threshold: float
) -> Integers:
    """For each of `texts` the place of the first similar one of `others`.

    Texts and others are places of `rows`. Their number means that none is similar.
    """
    first = np.full(texts.size, others.size)
    if others.size == 0:
        return first
    light = max(threshold - BOUND, 0.0)
    heads = _without_common(rows[others], light)
    step = max(1, CELLS // others.size)
    for at in range(0, texts.size, step):
        part = texts[at : at + step]
        text, place, similar = _near(rows[part], heads, threshold - light - ROUNDING)
        if light:
            similar = row_products(rows, part[text], rows, others[place])
        found = similar >= threshold
        np.minimum.at(first[at : at + step], text[found], place[found])
    return first


def _near(
    rows: csr_array, heads: csr_array, least: float
) -> tuple[Integers, Integers, Floats]:
    """Row, head and product of all products from `least` on, by row."""
    products = rows @ heads.T
    found = np.flatnonzero(products.data >= least)
    row = np.searchsorted(products.indptr, found, side="right") - 1
    return row, products.indices[found], products.data[found]


def _without_common(heads: csr_array, light: float) -> csr_array:
    """The heads without their commonest columns, up to a length of `light`."""
    from scipy import sparse

    row = np.repeat(np.arange(heads.shape[0]), np.diff(heads.indptr))
    common = np.bincount(heads.indices)[heads.indices]
    order = np.lexsort((-common, row))
    squares = np.cumsum(heads.data[order].astype(np.float64) ** 2)
    before = np.append(0.0, squares)[heads.indptr[:-1]]
    kept = order[squares - before[row] > light**2]
    kept.sort()
    parts = (heads.data[kept], (row[kept], heads.indices[kept]))
    return sparse.csr_array(parts, shape=heads.shape)


def _one_by_one(rows: csr_array, threshold: float) -> Integers:
    """Leaders among few rows, given in their order."""
    row, other, _ = _near(rows, rows, threshold)
    starts = np.searchsorted(row, np.arange(rows.shape[0] + 1))
    follows = np.full(rows.shape[0], -1)
    for text in range(rows.shape[0]):
        if follows[text] < 0:
            near = other[starts[text] : starts[text + 1]]
            follows[near[follows[near] < 0]] = text
            follows[text] = text
    return follows
