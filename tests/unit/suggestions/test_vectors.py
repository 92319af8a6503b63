"""Lexical vectors: by hand, against scikit-learn, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest

from flows.suggestions import vectors
from flows.suggestions.vectors import lexical_vectors, unit_rows

# No word of one letter: scikit-learn counts its longest piece twice.
TEXTS = [
    "can i change my pin".replace(" i ", " we "),
    "change pin",
    "cuando llega mi tarjeta",
    "la tarjeta no ha llegado no no",
    "onde esta meu cartao",
    "pin",
    "كم عدد الزيارات",
    "私のカード はどこ",
]


def cosines(rows):
    return (rows @ rows.T).toarray()


def test_two_short_texts_by_hand():
    """`ab` has 6 pieces and 1 word, `ab cd` 12 pieces, 2 words and a pair of words.

    Grams of `cd` stand in one of two texts and weigh 1 + ln(3 / 2), the others 1:
    (6 / sqrt(6 * 6 * (1 + w^2)) + 1 / sqrt(1 + 2 * w^2)) / 2 with w = 1.405465.
    """
    assert cosines(lexical_vectors(["ab", "ab cd"]))[0, 1] == pytest.approx(
        0.514588, abs=1e-6
    )


def test_cosines_are_those_of_scikit_learn():
    from sklearn.feature_extraction.text import TfidfVectorizer

    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    expected = sum(cosines(half.fit_transform(TEXTS)) / 2 for half in (pieces, words))
    assert cosines(lexical_vectors(TEXTS)) == pytest.approx(expected, abs=1e-6)


def test_rows_have_length_one_and_sorted_columns():
    rows = lexical_vectors(TEXTS)
    assert rows.shape[0] == len(TEXTS)
    assert rows.has_sorted_indices
    assert rows.power(2).sum(axis=1) == pytest.approx(1, abs=1e-6)


def test_a_row_hangs_on_the_set_of_texts_and_on_no_block(monkeypatch):
    whole = lexical_vectors(TEXTS)
    monkeypatch.setattr(vectors, "BLOCK", 3)
    blocks = lexical_vectors(TEXTS)
    turned = lexical_vectors(TEXTS[::-1])[np.arange(len(TEXTS))[::-1]]
    for other in (blocks, turned):
        assert np.array_equal(whole.toarray(), other.toarray())


def test_texts_without_a_common_piece_do_not_meet():
    assert cosines(lexical_vectors(["hola", "bill"]))[0, 1] == 0


def test_emoji_are_words_of_their_own():
    similar = cosines(lexical_vectors(["❤", "😀", "❤ ❤"]))
    assert similar[0, 1] == 0
    assert similar[0, 2] > 0.5


def test_no_text_gives_no_row():
    assert lexical_vectors([]).shape[0] == 0


def test_a_row_of_zeros_stays():
    from scipy import sparse

    rows = sparse.csr_array(np.array([[3.0, 4.0], [0.0, 0.0]]))
    expected = np.array([[0.6, 0.8], [0.0, 0.0]])
    assert unit_rows(rows).toarray() == pytest.approx(expected)
