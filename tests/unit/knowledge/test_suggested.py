"""The cell SuggestedQuestions: what is read, what is told, what stops."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def cell(table):
    """A TSV file with one pair that carries the clusters."""

    def content(*clusters):
        spelled = json.dumps(clusters)
        return table({"Question": "q", "QnaId": "1", "SuggestedQuestions": spelled})

    return content


def cluster(head, *texts, **names):
    entries = [
        {"question": text, "autoSuggestedCount": auto, "userSuggestedCount": user}
        for text, auto, user in texts
    ]
    return {"clusterHead": head, "alternateQuestionList": entries, **names}


def test_clusters_of_one_head_are_united_with_the_larger_counts(kb, cell):
    content = cell(
        cluster("h", ("h", 1, 5), ("h", 3, 0), ("i", 2, 2)), cluster("h", ("i", 1, 9))
    )
    knowledge_base = kb(content)
    assert knowledge_base.suggested.rows() == [(1, "h", "h", 3, 5), (1, "h", "i", 2, 9)]


def test_totals_heads_and_names_that_do_not_fit_are_told(kb, cell):
    content = cell(
        cluster("h", ("h", 1, 0), totalAutoSuggestedCount=7, totalUserSuggestedCount=0),
        cluster("gone", ("i", 1, 0), autoCount=3),
    )
    told = [(w.row, w.column, w.fact, w.value) for w in kb(content).warnings]
    assert told == [
        (
            *(2, "SuggestedQuestions"),
            *("totalAutoSuggestedCount differs from the sum of its list, 1", "h"),
        ),
        (2, "SuggestedQuestions", "the cluster head is not in its list", "gone"),
        (2, "SuggestedQuestions", "the name is not known and not used", "autoCount"),
    ]


@pytest.mark.parametrize("empty", ["", "[]", " [ ] "])
def test_an_empty_cell_carries_no_suggestions(kb, table, empty):
    content = table({"Question": "q", "QnaId": "1", "SuggestedQuestions": empty})
    knowledge_base = kb(content)
    assert knowledge_base.suggested.is_empty()
    assert knowledge_base.warnings == ()


def test_a_count_that_is_absent_is_zero(kb, cell):
    content = cell(
        {"clusterHead": "h", "suggestedQuestions": [{"question": "h"}]},
    )
    assert kb(content).suggested.rows() == [(1, "h", "h", 0, 0)]


@pytest.mark.parametrize(
    ("clusters", "fact"),
    [
        ({"clusterHead": "h"}, "the suggestions are not a list"),
        (["h"], "a cluster is not an object"),
        ([{"clusterHead": "h"}], "a cluster has no list of questions"),
        ([cluster("", ("h", 1, 0))], "clusterHead is not a text"),
        ([cluster("h", ("h", -1, 0))], "autoSuggestedCount is not a count"),
        ([cluster("h", ("h", 1, 1.0))], "userSuggestedCount is not a count"),
        ([cluster("h", ("h", True, 0))], "autoSuggestedCount is not a count"),
        ([cluster("h", (3, 1, 0))], "question is not a text"),
        (
            [{**cluster("h"), "alternateQuestionList": [1]}],
            "a question is not an object",
        ),
    ],
)
def test_suggestions_of_another_shape_are_refused(refused, table, clusters, fact):
    spelled = json.dumps(clusters)
    content = table({"Question": "q", "QnaId": "1", "SuggestedQuestions": spelled})
    row, column, found, _ = refused(content)[0]
    assert (row, column, found) == (2, "SuggestedQuestions", fact)


def test_a_cell_that_a_spreadsheet_quoted_is_refused_with_its_row(refused, table):
    quoted = '"[{""clusterHead"":""h""}]"'
    content = table({"Question": "q", "QnaId": "1", "SuggestedQuestions": quoted})
    (problem,) = refused(content)
    assert problem[:2] == (2, "SuggestedQuestions")
    assert problem[2].startswith("not JSON")
