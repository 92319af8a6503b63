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
    # P(26 or more of 30 at .75) = .098 is rare, P(25 or more) = .203 is not.
    rare = (26, 0.12, 0.05, True), (4, 0.12, 0.05, False)
    plain = (25, 0.12, 0.05, True), (5, 0.12, 0.05, False)
    assert margin(*rare, in_force=0.2) == 0.05
    assert margin(*plain, in_force=0.2) == 0.2


def test_the_search_ends_where_the_share_falls_short():
    # From .10 on 30 of 30; from .08 on 30 of 40: P(30 or more of 40 at .75) = .584.
    rows = (30, 0.10, 0.05, True), (10, 0.08, 0.05, False)
    assert margin(*rows) == 0.085


def test_nights_speak_for_no_margin_below_their_own():
    assert margin((40, 0.12, 0.09, True), in_force=0.09) == 0.09
    rows = (40, 0.12, 0.09, True), (40, 0.12, 0.05, True)
    assert margin(*rows, in_force=0.09) == 0.05


def test_fewer_than_thirty_reviews_are_skipped_not_failed():
    # From .20 on 29 reviews, none accepted; from .10 on 229, of which 200 are.
    few = (29, 0.20, 0.05, False)
    assert margin(few) == START
    assert margin(few, (200, 0.10, 0.05, True), in_force=0.2) == 0.05


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
