"""Which segments a predicate means, and what it may not do."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.errors import UsageError
from flows.offpolicy.evidence import segment_text
from flows.warehouse.segments import Chosen, matching, values

ROWS = pl.DataFrame(
    {
        "position": [1, 2, 2, 3, None],
        "device": ["phone", "phone", "desk", "it's, new", "(null)"],
        "is_member": [True, False, None, True, False],
        "size": [0.5, 2.0, 1e-9, 2.0, None],
        "code": ["007", "7", "7", "x", "x"],
    }
)


def known(*cuts):
    rows = [
        ROWS.select(
            pl.lit(", ".join(cut)).alias("segment_by"),
            segment_text(cut).alias("segment"),
        )
        for cut in cuts
    ]
    return pl.concat(rows).unique(maintain_order=True)


def found(where, *cuts):
    return matching(where, cuts, known(*cuts))


@pytest.mark.parametrize(
    ("where", "column", "segments"),
    [
        ("position = 2", "position", ["2"]),
        ("position between 2 and 9", "position", ["2", "3"]),
        ("position is null", "position", ["(null)"]),
        ("position = '2'", "position", ["2"]),
        ("device = 'it''s, new'", "device", ["it's, new"]),
        ("device = '(null)'", "device", ["\\(null)"]),
        ("device like 'ph%'", "device", ["phone"]),
        ("is_member", "is_member", ["true"]),
        ("not is_member", "is_member", ["false"]),
        ("size < 1", "size", ["0.5", "1e-9"]),
        ("code = '007'", "code", ["007"]),  # text, since 007 is no way to write 7
    ],
)
def test_a_column_of_numbers_is_compared_as_numbers_and_a_null_is_null(
    where, column, segments
):
    assert found(where, [column]) == Chosen(column, tuple(segments))


def test_several_columns_are_told_apart_whatever_they_hold():
    cut = ["position", "device"]
    assert found("position = 3 and device = 'it''s, new'", cut).segments == (
        "3, it's\\, new",
    )
    assert found("position is null and device = '(null)'", cut).segments == (
        "(null), \\(null)",
    )


def test_the_cut_with_the_fewest_columns_answers():
    cuts = [["position", "device"], ["position"]]
    assert found("position = 2", *cuts) == Chosen("position", ("2",))
    both = found("position = 2 and device = 'desk'", *cuts)
    assert both == Chosen("position, device", ("2, desk",))
    assert both.is_declared


def test_a_coarser_cut_of_declared_columns_is_one_that_nobody_declared():
    coarser = found("position = 2", ["position", "device"])
    assert coarser.segments == ("2, phone", "2, desk")
    assert not coarser.is_declared


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("colour = 'red'", "no declared segment has together.*: position; device"),
        ("position = 2 and device = 'desk'", "has together"),
        (
            "position = 9",
            r"no segment has position = 9. There are position: 1, 2, 3, n",
        ),
        ("position =", "syntax error"),
        ("", "Parser Error"),
        ("position = 2) or (true", "syntax error"),
        ("position = 2; drop table segments", "Parser Error"),
        ("position = 'second'", "Could not convert"),
        ("count(*) > 1", "aggregates"),
        ("exists (from read_text('/etc/hostname'))", "disabled by configuration"),
        ("nothing(position)", "does not exist"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_there_is(where, told):
    with pytest.raises(UsageError, match=told):
        found(where, ["position"], ["device"])


def test_without_declared_segments_the_job_file_is_named():
    with pytest.raises(UsageError, match="declares none"):
        matching("position = 2", [], known(["position"]))


TEXTS = st.one_of(
    st.none(), st.text(max_size=6), st.sampled_from(["(null)", "a, b", "\\"])
)


@given(st.lists(TEXTS, min_size=2, max_size=4))
def test_values_that_were_joined_come_apart_again(row):
    columns = [f"c{number}" for number in range(len(row))]
    frame = pl.DataFrame([row], schema=dict.fromkeys(columns, pl.String), orient="row")
    (text,) = frame.select(segment_text(columns).alias("text"))["text"]
    assert values(text, len(row)) == row
