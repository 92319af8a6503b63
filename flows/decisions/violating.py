"""Rows that break a rule, as the error that tells them."""

from __future__ import annotations

import polars as pl

from flows.errors import BrokenRule, ViolatingRow

# How many of each rule a message shows.
SHOWN_ROWS = 5


def broken_rule(
    rule: str, sentence: str, remedy: str, rows: pl.DataFrame
) -> BrokenRule:
    """A broken rule with the first of its rows.

    rows: all of them, with `file`, `row`, `decision_id` and `value`.
    """
    shown = rows.head(SHOWN_ROWS).select("file", "row", "decision_id", "value")
    listed = tuple(ViolatingRow(*row) for row in shown.rows())
    return BrokenRule(rule, sentence, remedy, rows.height, listed)
