r"""The key of a text: two texts with one key are one question.

    key(text) = squeeze(words(unmarked(casefold(NFKD(text)))))

NFKD is the compatibility decomposition of Unicode (Standard Annex 15): wide letters
and ligatures become plain ones, `é` an `e` with a mark. Case folding is lower-casing
and the two letters that lower-casing leaves apart, `ß` (`ss`) and final sigma. Off go:
the marks of Latin, Greek, Cyrillic, Arabic, Hebrew and Syriac letters, which people
leave out when they type, and the Arabic stretch; direction marks, joiners and all else
without width; apostrophes, in every spelling, the free-standing acute among them. A
vowel sign of Devanagari or Thai, or the voicing of a kana, tells words apart and stays.
What is left and is neither letter, digit nor such a sign (punctuation of every script,
symbols, emoji) separates words. A mask (`<email>`, see `flows.suggestions.personal`) is
a word with its brackets: `my <number>` is not `my number`.

A text without any word (`❤`, `¿?`) is its own key, trimmed: else all of these were one
question (qna-suggestions 5.1 point 3). The key of a key is itself.

Source: qna-suggestions sections 4.8 and 5.1.
"""

from __future__ import annotations

import polars as pl

from flows.suggestions.personal import MASKS

APOSTROPHES = r"'`\u2018\u2019\u201b\u02b9\u02bb\u02bc\u2032\uff07"
MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"  # common
    r"\ufe00-\ufe0f\ufe20-\ufe2f"  # variation selectors, half marks
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew
    r"\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8"  # Arabic
    r"\u06ea-\u06ed\u08d3-\u08ff\u0640"
    r"\u0711\u0730-\u074a"  # Syriac
)
# An acute that stands alone decomposes into a space and a mark. Private characters go,
# since one stands for each mask below.
LEFT_OUT = rf" \u0301|[{APOSTROPHES}{MARKS}\p{{Cf}}\p{{Co}}]+"
STANDING = [chr(0xE000 + number) for number in range(len(MASKS))]
BETWEEN = rf"[^\p{{L}}\p{{N}}\p{{M}}{STANDING[0]}-{STANDING[-1]}]+"
FOLDED = ["\u00df", "\u03c2", *MASKS]
FOLDS = ["ss", "\u03c3", *(f" {mark} " for mark in STANDING)]


def key(column: pl.Expr) -> pl.Expr:
    """The key of each text.

    column: texts; null stays null. Returns: text, empty only where `column` holds
    nothing but white space.
    """
    plain = column.str.normalize("NFKD").str.to_lowercase()
    folded = plain.str.replace_all(LEFT_OUT, "").str.replace_many(FOLDED, FOLDS)
    words = folded.str.replace_all(BETWEEN, " ").str.strip_chars(" ")
    named = words.str.replace_many(STANDING, list(MASKS))
    # Not when and otherwise: polars would compute the words twice.
    return pl.coalesce(named.replace({"": None}), column.str.strip_chars())
