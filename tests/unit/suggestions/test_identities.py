"""Suggestions keep their ids while their texts mostly stay."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from flows.suggestions.identities import born, inherited

FIRST = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def matched(old, new, pair=1):
    """Old: id to texts, older first. New: head to {text: count}."""
    old_rows = [
        (name, FIRST + dt.timedelta(days=age), pair, key)
        for age, (name, keys) in enumerate(old.items())
        for key in keys
    ]
    new_rows = [
        (pair, head, key, count)
        for head, texts in new.items()
        for key, count in texts.items()
    ]
    found = inherited(
        pl.DataFrame(
            old_rows,
            schema={
                "suggestion": pl.String,
                "first_shown_at": pl.Datetime("us", "UTC"),
                "qna_id": pl.Int64,
                "key": pl.String,
            },
            orient="row",
        ),
        pl.DataFrame(
            new_rows,
            schema={
                "qna_id": pl.Int64,
                "head_key": pl.String,
                "key": pl.String,
                "count": pl.Int64,
            },
            orient="row",
        ),
    )
    kept = dict(found.groups.select("head_key", "suggestion").iter_rows())
    absorbed = dict(found.absorbed.select("suggestion", "head_key").iter_rows())
    return kept, absorbed


def test_a_group_with_half_of_the_weight_in_common_keeps_the_id():
    assert matched({"old": "ab"}, {"a": {"a": 3, "c": 3}}) == ({"a": "old"}, {})


def test_a_group_with_less_in_common_is_new_and_the_old_one_ends_in_it():
    assert matched({"old": "ab"}, {"a": {"a": 3, "c": 4}}) == ({}, {"old": "a"})


def test_weights_are_queries_and_not_texts():
    kept, _ = matched({"old": "abcd"}, {"a": {"a": 9}, "b": {"b": 1, "c": 1, "d": 1}})
    assert kept == {"a": "old"}


def test_a_split_leaves_the_id_with_the_bigger_part():
    kept, absorbed = matched({"old": "abc"}, {"a": {"a": 4}, "b": {"b": 3, "c": 3}})
    assert (kept, absorbed) == ({"b": "old"}, {})


def test_a_split_into_halves_leaves_it_with_the_lesser_head():
    assert matched({"old": "ab"}, {"b": {"b": 2}, "a": {"a": 2}}) == ({"a": "old"}, {})


def test_a_split_into_small_parts_ends_the_id():
    thirds = {head: {head: 2} for head in "abc"}
    assert matched({"old": "abc"}, thirds) == ({}, {})


@pytest.mark.parametrize("weights", [(9, 2), (2, 9), (5, 5)])
def test_a_merge_keeps_the_older_id_and_names_the_other(weights):
    texts = dict(zip("ab", weights, strict=True))
    kept, absorbed = matched({"older": "a", "younger": "b"}, {"a": texts})
    assert (kept, absorbed) == ({"a": "older"}, {"younger": "a"})


def test_three_that_merge_keep_the_oldest_id():
    old = {name: name for name in "xyz"}
    kept, absorbed = matched(old, {"x": {"x": 2, "y": 2, "z": 2}})
    assert (kept, absorbed) == ({"x": "x"}, {"y": "x", "z": "x"})


def test_texts_that_left_speak_for_neither_side():
    assert matched({"old": "abcdefg"}, {"a": {"a": 1, "h": 1}}) == ({"a": "old"}, {})


def test_pairs_do_not_mix():
    old = pl.DataFrame(
        {"suggestion": ["s"], "first_shown_at": [FIRST], "qna_id": [1], "key": ["a"]}
    )
    new = pl.DataFrame({"qna_id": [2], "head_key": ["a"], "key": ["a"], "count": [5]})
    assert inherited(old, new).groups.is_empty()


def test_groups_without_a_pair_keep_their_ids_too():
    assert matched({"old": "ab"}, {"a": {"a": 2, "b": 2}}, pair=None) == (
        {"a": "old"},
        {},
    )


def test_an_id_follows_from_name_pair_and_head():
    (one,) = born("bot", [(1, "reset")], set())
    assert one == "588a2bdafedd"
    others = born("bot", [(1, "reset code"), (2, "reset"), (None, "reset")], set())
    assert len({one, *others, *born("shop", [(1, "reset")], set())}) == 5


def test_an_id_is_never_given_twice():
    first, second = born("bot", [(1, "reset"), (1, "reset")], set())
    assert first != second
    assert list(born("bot", [(1, "reset")], {first})) == [second]
