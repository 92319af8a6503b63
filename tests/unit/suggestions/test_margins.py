"""The margin that reviews allow, with the tail of a binomial by hand."""

from __future__ import annotations

import polars as pl
import pytest

from flows.errors import UsageError
from flows.suggestions.margins import START, margin_from_reviews

REVIEWS = {
    "margin": pl.Float64,
    "margin_in_force": pl.Float64,
    "is_accepted": pl.Boolean,
}


def reviews(*rows):
    """Each row: how many, margin, margin in force, accepted."""
    each = [row for count, *row in rows for _ in range(count)]
    return pl.DataFrame(each, schema=REVIEWS, orient="row")


def margin(*rows, night=4, in_force=START, aims_at=0.75):
    return margin_from_reviews(
        reviews(*rows), night=night, in_force=in_force, aims_at=aims_at
    )


def test_enough_acceptances_allow_the_margin_that_they_had():
    # .75^9 = .0751 is rare, .75^8 = .1001 is not quite.
    assert margin((9, 0.12, 0.05, True), in_force=0.2) == 0.05
    assert margin((8, 0.12, 0.05, True), in_force=0.2) == 0.2


def test_the_search_ends_where_the_share_falls_short():
    # From .10 on 9 of 9; below, 9 of 12: P(9 or more of 12 at .75) = .649.
    rows = (9, 0.10, 0.05, True), (3, 0.08, 0.05, False)
    assert margin(*rows) == 0.085


def test_nights_speak_for_no_margin_below_their_own():
    assert margin((20, 0.12, 0.09, True), in_force=0.09) == 0.09
    rows = (20, 0.12, 0.09, True), (20, 0.12, 0.05, True)
    assert margin(*rows, in_force=0.09) == 0.05


def test_fewer_than_eight_reviews_are_skipped_not_failed():
    # From .20 on 7 reviews, none accepted; from .10 on 47, of which 40 are.
    assert margin((7, 0.20, 0.05, False)) == START
    rows = (7, 0.20, 0.05, False), (60, 0.10, 0.05, True)
    assert margin(*rows) == 0.05


def test_where_nothing_passes_the_margin_in_force_stays():
    assert margin((30, 0.10, 0.05, False), in_force=0.06) == 0.06


def test_the_first_nights_change_nothing():
    assert margin((50, 0.12, 0.0, True), night=3) == START
    assert margin((50, 0.12, 0.0, True), night=4) == 0.0


def test_texts_whose_pair_the_log_gave_have_no_say():
    assert margin((50, None, 0.05, True), in_force=0.2) == 0.2


def test_no_review_changes_nothing():
    assert margin_from_reviews(
        reviews(), night=9, in_force=0.07, aims_at=0.75
    ) == pytest.approx(0.07)


@pytest.mark.parametrize("aims_at", [0, 1, -0.2, 75])
def test_a_share_out_of_its_range_is_refused(aims_at):
    with pytest.raises(UsageError, match="aims_at"):
        margin(aims_at=aims_at)
