"""What the engine groups, and what it leaves out."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from flows.errors import UsageError
from flows.suggestions import lexical
from flows.suggestions.clusters import MEMBERS
from flows.suggestions.texts import key

POOL = {
    "qna_id": pl.Int64,
    "key": pl.String,
    "text": pl.String,
    "is_masked": pl.Boolean,
    "auto_count": pl.Int64,
    "user_count": pl.Int64,
    "kind": pl.String,
    "bot_qna_id": pl.Int64,
}
QUESTIONS = [
    (1, "How do I change my PIN?"),
    (1, "change PIN"),
    (2, "Where is my card?"),
    (3, "What are your opening hours?"),
]
PIN = ["how can i change the pin", "i want to change my pin", "new pin change how"]


def pool(*rows, kind="unassigned"):
    """Rows are texts, or dicts with a text and whatever differs."""
    plain = {"auto_count": 1, "user_count": 0, "is_masked": False, "kind": kind}
    made = [
        {**plain, **(row if isinstance(row, dict) else {"text": row})} for row in rows
    ]
    frame = pl.DataFrame(made, schema={n: t for n, t in POOL.items() if n != "key"})
    return frame.with_columns(key=key(pl.col("text"))).select(*POOL)


def pairs(*rows):
    schema = {"qna_id": pl.Int64, "text": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(key=key(pl.col("text")))


def frames(*texts, accepted=(), rejected=(), kind="unassigned"):
    questions = pairs(*QUESTIONS).select("qna_id", question="text")
    return pool(*texts, kind=kind), questions, pairs(*accepted), pairs(*rejected)


def members(*texts, closed=None, settings=lexical.DEFAULTS, **options):
    made = lexical.engine(settings).cluster(*frames(*texts, **options), closed=closed)
    assert made.schema == MEMBERS
    assert made.equals(made.sort(*MEMBERS))
    return made


def groups(made):
    """Keys by pair and head."""
    named = made.group_by("qna_id", "head_key").agg(pl.col("key").sort())
    return {(pair, head): keys for pair, head, keys in named.iter_rows()}


def given(pair, *texts):
    return [{"text": text, "qna_id": pair, "kind": "auto"} for text in texts]


def test_texts_without_a_pair_go_to_the_one_they_resemble():
    made = members(*PIN, "where is the card", "weather in lisbon")
    assert set(made["qna_id"]) == {1, 2}
    assert sorted(made.filter(qna_id=1)["key"]) == sorted(PIN)
    assert made["margin"].min() >= lexical.DEFAULTS.margin


def test_the_margin_decides_before_texts_are_grouped():
    sure = members(*PIN).filter(pl.col("key") == PIN[0])["margin"].item()
    at = replace(lexical.DEFAULTS, margin=sure)
    above = replace(lexical.DEFAULTS, margin=sure + 1e-6)
    assert PIN[0] in members(*PIN, settings=at)["key"]
    assert PIN[0] not in members(*PIN, settings=above)["key"]


def test_where_the_bot_answered_its_own_margin_counts_and_its_answer():
    text = "change card please"
    told = {"text": text, "bot_qna_id": 2}
    settings = replace(lexical.DEFAULTS, margin=0.9, margin_with_bot=0.1)
    assert members(text, settings=settings).is_empty()
    assert members(told, settings=settings)["qna_id"].to_list() == [2]
    plain = replace(settings, margin=0.0, bot_bonus=0.0)
    by = members(text, settings=plain).row(0, named=True)
    assert by["margin"] < 0.1
    # An answer that is no pair of the knowledge base is none.
    other = {"text": text, "bot_qna_id": 77}
    assert members(other, settings=plain).row(0, named=True) == by


def test_texts_that_the_log_gave_a_pair_need_no_margin():
    made = members(*given(3, "opening times", "opening times today", "qwerty"))
    assert made["margin"].null_count() == 3
    assert groups(made) == {
        (3, "opening times"): ["opening times", "opening times today"],
        (3, "qwerty"): ["qwerty"],
    }


def test_questions_without_a_pair_are_grouped_among_themselves():
    texts = ["cash at home", "bring cash home", "cash at my home", "weather"]
    made = members(*texts, kind="gap")
    assert set(made["qna_id"]) == {None}
    assert ["bring cash home", "cash at home", "cash at my home"] in list(
        groups(made).values()
    )


def test_known_questions_are_left_out_whichever_pair_has_them():
    texts = ["Where is my card", {"text": "change pin!", "qna_id": 2, "kind": "user"}]
    assert members(*texts).is_empty()
    assert members("Where is my card", kind="gap").is_empty()


def test_accepted_texts_count_along_and_are_open_nowhere():
    accepted = [(1, "how to change the pin")]
    made = members(*PIN, "how to change the pin", accepted=accepted)
    (along,) = made.filter("is_accepted").iter_rows(named=True)
    assert (along["qna_id"], along["key"]) == (1, "how to change the pin")
    assert along["margin"] is None
    assert along["head_key"] in PIN
    assert made.filter(~pl.col("is_accepted"))["key"].sort().to_list() == sorted(PIN)


def test_accepted_texts_alone_are_no_group():
    assert members("weather", accepted=[(1, "how to change the pin")]).is_empty()


def test_a_rejected_text_never_meets_its_pair_again_but_may_meet_others():
    texts = ["change card please", *given(1, "change card please")]
    rejected = [(1, "change card please")]
    open_margin = replace(lexical.DEFAULTS, margin=0.0)
    assert set(members(*texts, settings=open_margin)["qna_id"]) == {1}
    after = members(*texts, rejected=rejected, settings=open_margin)
    assert set(after["qna_id"]) == {2}


def test_what_resembles_a_rejected_text_needs_more():
    before = members(*PIN).filter(key=PIN[1])["margin"].item()
    after = members(*PIN, rejected=[(1, "i want to see my pin")])
    assert after.filter(key=PIN[1])["margin"].item() < before


def test_near_copies_of_a_rejected_text_are_held_back():
    copy = "please tell me the opening hours of the office in lisbon"
    parts = frames(
        *given(3, copy + "n", "opening times"),
        rejected=[(3, copy), (2, "opening times")],
    )
    engine = lexical.engine()
    members, held = engine.grouped(*parts)
    assert members["key"].to_list() == ["opening times"]
    assert held.rows() == [(3, copy + "n")]
    assert engine.grouped(*parts[:3], pairs())[1].is_empty()


def test_closed_texts_do_not_meet_their_pair_or_any():
    schema = {"qna_id": pl.Int64, "key": pl.String}
    rows = [*PIN, *given(1, *PIN), *({"text": t, "kind": "gap"} for t in PIN)]
    open_margin = replace(lexical.DEFAULTS, margin=0.0)
    for barred, left in ((1, {None, 2}), (None, {None, 1})):
        closed = pl.DataFrame([(barred, PIN[0])], schema=schema, orient="row")
        made = members(*rows, closed=closed, settings=open_margin)
        kept = made.filter(key=PIN[0])["qna_id"]
        assert 1 not in kept
        assert set(made["qna_id"]) <= left | {1, 3}
        assert (None in kept) is (barred == 1)


def test_a_text_given_to_a_pair_and_also_found_for_it_stands_there_once():
    made = members(*PIN, *given(1, PIN[0]))
    (row,) = made.filter(key=PIN[0]).iter_rows(named=True)
    assert (row["qna_id"], row["margin"]) == (1, None)


def test_the_head_is_the_most_frequent_text():
    texts = [
        {"text": PIN[0], "auto_count": 2},
        PIN[1],
        {"text": PIN[2], "user_count": 2},
    ]
    made = members(*texts)
    assert set(made["head_key"]) == {PIN[2]}
    assert made.filter(key=PIN[2])["similarity"].item() == 1.0
    assert made.filter(key=PIN[0])["similarity"].item() < 1.0


def test_of_equally_frequent_texts_the_one_most_like_the_others_leads():
    texts = ["opening times", "opening times today", "times today"]
    made = members(*given(3, *texts))
    assert set(made["head_key"]) == {"opening times today"}


@pytest.mark.parametrize(
    ("texts", "head"), [(("pin pin", "pin"), "pin"), (("no si", "si no"), "no si")]
)
def test_then_the_shorter_leads_then_the_lesser_by_code_points(texts, head):
    # Of two texts each is as similar to the group as the other.
    settings = replace(lexical.DEFAULTS, given_threshold=0.1)
    assert set(members(*given(3, *texts), settings=settings)["head_key"]) == {head}


def test_a_text_with_a_mask_heads_no_group_that_has_another():
    masked = {"text": "pin of <email>", "is_masked": True, "auto_count": 9}
    masked |= {"qna_id": 1, "kind": "auto"}
    settings = replace(lexical.DEFAULTS, given_threshold=0.1)
    both = members(masked, *given(1, "pin of mine"), settings=settings)
    assert both["head_key"].to_list() == ["pin of mine"] * 2
    assert members(masked)["head_key"].to_list() == ["pin of <email>"]


def test_nothing_asked_or_no_knowledge_base_gives_no_group():
    asked, questions, accepted, rejected = frames(*PIN)
    engine = lexical.engine()
    assert engine.cluster(asked.clear(), questions, accepted, rejected).is_empty()
    assert engine.cluster(asked, questions.clear(), accepted, rejected).is_empty()
    empty = [frame.clear() for frame in (asked, questions, accepted, rejected)]
    members, held = engine.grouped(*empty)
    assert members.schema == MEMBERS
    assert held.is_empty()


@pytest.mark.parametrize("changed", [{"margin": -0.1}, {"given_threshold": 40}])
def test_a_threshold_that_is_no_cosine_is_refused(changed):
    with pytest.raises(UsageError, match=next(iter(changed))):
        replace(lexical.DEFAULTS, **changed)
