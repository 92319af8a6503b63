"""Laws of the engine `lexical`: what must not matter, and what must never happen."""

from __future__ import annotations

import random

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.suggestions import lexical

WORDS = ("pin", "card", "change", "lost", "where", "hours", "como", "الزيارات")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
PAIR = st.integers(1, 3)
SOME = settings(max_examples=25)
PAIR_AND_KEY = {"qna_id": pl.Int64, "key": pl.String}
POOL = {
    **PAIR_AND_KEY,
    "kind": pl.String,
    "bot_qna_id": pl.Int64,
    "is_masked": pl.Boolean,
    "auto_count": pl.Int64,
    "user_count": pl.Int64,
}


def framed(rows, schema):
    return pl.DataFrame(rows, schema=schema, orient="row")


@st.composite
def frames(draw):
    """Pool, questions, accepted and rejected texts; accepted are not rejected too."""
    places = st.one_of(
        st.tuples(PAIR, TEXTS, st.just("auto")),
        st.tuples(st.none(), TEXTS, st.sampled_from(["unassigned", "gap"])),
    )
    asked = draw(st.lists(places, max_size=30, unique=True))
    rest = st.tuples(
        st.none() | PAIR, st.booleans(), st.integers(0, 9), st.integers(0, 9)
    )
    pool = [(pair, text, kind, *draw(rest), 1)[:7] for pair, text, kind in asked]
    decided = draw(st.lists(st.tuples(PAIR, TEXTS), max_size=8, unique=True))
    cut = draw(st.integers(0, len(decided)))
    questions = draw(st.lists(st.tuples(PAIR, TEXTS), max_size=6))
    return (
        framed(pool, POOL),
        framed(questions, {"qna_id": pl.Int64, "question": pl.String}),
        framed(decided[:cut], PAIR_AND_KEY),
        framed(decided[cut:], PAIR_AND_KEY),
    )


def shuffled(frame, seed):
    order = random.Random(seed).sample(range(frame.height), frame.height)  # noqa: S311 - an order
    return frame[order]


def grouped(parts):
    return lexical.engine().cluster(*parts)


@SOME
@given(frames(), st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(parts, seed):
    turned = [shuffled(frame, seed + place) for place, frame in enumerate(parts)]
    assert grouped(parts).equals(grouped(turned))


@SOME
@given(frames())
def test_repeats_of_questions_and_reviews_do_not_matter(parts):
    pool, *rest = parts
    twice = [pl.concat([frame, frame]) for frame in rest]
    assert grouped(parts).equals(grouped([pool, *twice]))


@SOME
@given(frames())
def test_asking_everything_three_times_groups_the_same(parts):
    pool, *rest = parts
    thrice = pool.with_columns(pl.col("auto_count", "user_count") * 3)
    without_accepted = [pool, rest[0], rest[1].clear(), rest[2]]
    assert grouped(without_accepted).equals(grouped([thrice, *without_accepted[1:]]))


@SOME
@given(frames())
def test_groups_part_the_open_texts_of_a_pair(parts):
    made = grouped(parts)
    is_open = ~pl.col("is_accepted")
    place = made.filter(is_open).select("qna_id", "key")
    assert place.is_unique().all()
    heads = made.filter(is_open, pl.col("key") == pl.col("head_key"))
    groups = made.select("qna_id", "head_key").unique()
    assert heads.height == groups.height
    assert (heads["similarity"] == 1.0).all()
    assert made["similarity"].is_between(-1, 1.000001).all()


@SOME
@given(frames())
def test_what_is_known_or_decided_is_never_offered(parts):
    pool, questions, accepted, rejected = parts
    shown = grouped(parts).filter(~pl.col("is_accepted"))
    assert not set(shown["key"]) & set(accepted["key"])
    assert not set(shown["key"]) & set(questions["question"])
    refused = set(rejected.rows())
    assert not refused & set(shown.select("qna_id", "key").rows())
    assert set(shown["key"]) <= set(pool["key"])


@SOME
@given(frames())
def test_every_open_text_whose_pair_is_given_is_in_a_group_or_held_back(parts):
    pool, questions, accepted, rejected = parts
    placed = pool.filter(pl.col("qna_id").is_not_null()).select(*PAIR_AND_KEY).unique()
    known = set(questions["question"]) | set(accepted["key"])
    refused = set(rejected.rows())
    due = {row for row in placed.rows() if row[1] not in known and row not in refused}
    held = set(lexical.engine().grouped(*parts)[1].rows())
    shown = grouped(parts).filter(pl.col("margin").is_null(), ~pl.col("is_accepted"))
    assert due == (due & held) | (due & set(shown.select(*PAIR_AND_KEY).rows()))
    assert not held & set(shown.select(*PAIR_AND_KEY).rows())
