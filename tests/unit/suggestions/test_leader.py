"""Leader clustering on arrows in the plane: their angle says how similar they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.suggestions import leader
from flows.suggestions.leader import density, first_similar, leaders


def arrows(*degrees):
    from scipy import sparse

    angles = np.radians(degrees)
    return sparse.csr_array(np.column_stack([np.cos(angles), np.sin(angles)]))


def led(rows, counts, degrees):
    every = np.arange(rows.shape[0])
    threshold = float(np.cos(np.radians(degrees)))
    return leaders(rows, every, np.array(counts), threshold=threshold).tolist()


def plain(rows, counts, threshold):
    """The definition, one text at a time."""
    similar = (rows @ rows.T).toarray()
    order = sorted(
        range(len(counts)),
        key=lambda i: (-density(rows, np.arange(len(counts)), counts)[i], i),
    )
    follows = {}
    for text in order:
        if text not in follows:
            for other in range(len(counts)):
                if other == text or similar[text, other] >= threshold:
                    follows.setdefault(other, text)
    return [follows[text] for text in range(len(counts))]


def test_the_densest_leads_and_takes_all_that_are_near_it():
    # Sums of cosines: 2.8 at 0 degrees, 3.1 at 10, 3.3 at 20, 1.5 at 90, 1.2 at 100.
    assert led(arrows(0, 10, 20, 90, 100), [1] * 5, 15) == [0, 2, 2, 3, 3]


def test_a_text_that_is_asked_more_often_draws_the_lead():
    assert led(arrows(0, 10, 20, 90, 100), [90, 1, 1, 1, 1], 15) == [0, 0, 2, 3, 3]


def test_equally_dense_texts_lead_in_their_order():
    assert led(arrows(0, 90, 0, 90), [1] * 4, 15) == [0, 1, 0, 1]


def test_some_rows_alone_are_grouped():
    rows = arrows(50, 0, 10, 52)
    which = np.array([0, 1, 2])
    made = leaders(rows, which, np.array([1, 1, 1]), threshold=0.95)
    assert made.tolist() == [0, 2, 2]


def test_density_counts_a_text_as_often_as_it_was_asked():
    made = density(arrows(0, 60, 90), np.arange(3), np.array([1, 2, 4]))
    expected = [1 + 2 * 0.5, 0.5 + 2 + 4 * 3**0.5 / 2, 2 * 3**0.5 / 2 + 4]
    assert made == pytest.approx(expected, abs=1e-6)


def test_the_first_similar_one_is_named_or_none():
    rows = arrows(0, 45, 90, 5, 85, 200)
    first = first_similar(rows, np.array([3, 4, 5]), np.array([2, 1, 0]), threshold=0.7)
    assert first.tolist() == [1, 0, 3]


@given(
    st.lists(
        st.tuples(st.integers(0, 359), st.integers(1, 9)), min_size=1, max_size=40
    ),
    st.integers(1, 5),
    st.floats(0.05, 0.99),
)
def test_blocks_change_nothing_of_the_definition(texts, block, threshold):
    degrees, counts = zip(*texts, strict=True)
    rows, counts = arrows(*degrees), np.array(counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leader, "BLOCK", block)
        patch.setattr(leader, "LEADERS", block + 1)
        patch.setattr(leader, "CELLS", block * 2)
        made = leaders(rows, np.arange(len(counts)), counts, threshold=threshold)
    assert made.tolist() == plain(rows, counts, threshold)
