"""What a night's report says of suggestions, and what it keeps to the review page."""

from __future__ import annotations

import dataclasses

import pytest

from flows.reports import build, html, markdown


def suggestion(head, *, size=7, state="new", is_one_user=False, pair=1):
    return {
        "id": head,
        "qna_id": pair,
        "pair": f"Pair {pair}?",
        "head": head,
        "size": size,
        "state": state,
        "is_one_user": is_one_user,
        "texts": [],
    }


@pytest.fixture
def listed():
    """A list with two suggestions, one of a single user, and one content gap."""
    return {
        "knowledge_base": "bank",
        "as_of": "2019-11-30T10:00:00+00:00",
        "suggestions": [
            suggestion("where <is> my card", size=12),
            suggestion("a secret of one", is_one_user=True, pair=2),
        ],
        "gaps": [{"id": "g", "head": "loans?", "size": 6, "texts": []}],
        "reviewed": [{"night": "2019-11-29", "accepted": 3, "rejected": 1}],
        "reasons": [],
    }


@pytest.fixture
def facts(sample, listed):
    return dataclasses.replace(sample.facts(), suggested=listed)


def test_the_report_says_how_much_waits_and_what_became_of_earlier_ones(facts):
    document = build(facts)
    assert document["suggestions"] == {
        "knowledge_base": "bank",
        "as_of": "2019-11-30T10:00:00+00:00",
        "waiting": 2,
        "pairs": 2,
        "withheld": 1,
        "largest": [
            {
                "pair": "Pair 1?",
                "head": "where <is> my card",
                "size": 12,
                "state": "new",
            }
        ],
        "gaps": 1,
        "accepted": 3,
        "rejected": 1,
        "reasons": [],
    }
    for told in (html(document).replace("\N{NO-BREAK SPACE}", " "), markdown(document)):
        for sentence in (
            "2 suggestions of alternate questions for 2 pairs wait for review.",
            "1 group of users asks what no pair answers.",
            "1 suggestion from one user alone is on the review page only.",
            "Of 4 reviewed texts 75 % were accepted.",
        ):
            assert sentence in told


def test_texts_of_one_user_stay_out_and_others_are_escaped(facts):
    page, text = html(build(facts)), markdown(build(facts))
    assert "a secret of one" not in page + text
    assert "where &lt;is&gt; my card" in page
    assert "where \\<is\\> my card" in text


def test_nothing_to_review_says_why(sample, listed):
    why = {"qna_id": None, "reason": "below_minimum", "sentence": "the largest is 4"}
    empty = {**listed, "suggestions": [], "gaps": [], "reviewed": [], "reasons": [why]}
    document = build(dataclasses.replace(sample.facts(), suggested=empty))
    assert "30 November 2019: nothing to review, the largest is 4." in html(document)
    assert "What did users ask?" not in html(build(sample.facts()))
