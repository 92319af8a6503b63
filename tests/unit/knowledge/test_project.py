"""The successor's JSON project: read, and changed in its places."""

from __future__ import annotations

import json

import pytest

from flows.knowledge import written

PROJECT = """{
  "metadata": {"language": "es", "settings": {"defaultAnswer": "nada"}, "x": 1.50},
  "assets": {
    "synonyms": [{"alterations": ["wifi", "wi-fi"]}],
    "qnas": [
      {
        "id": 7,
        "answer": "Caf\\u00e9\\n\\nsí",
        "source": "Editorial",
        "questions": [
          "hola",
          "buenas"
        ],
        "metadata": {"topic": "a: b"},
        "dialog": {"isContextOnly": false, "prompts": []},
        "activeLearningSuggestions": [{"clusterHead": "help", "suggestedQuestions": [
          {"question": "help", "userSuggestedCount": 2, "autoSuggestedCount": 1}]}]
      },
      {"id": 9, "questions": ["una"]},
      {"id": 11}
    ]
  }
}
"""


def test_a_project_is_read(kb):
    knowledge_base = kb(PROJECT, "project.json")
    assert knowledge_base.questions.rows() == [(7, "hola"), (7, "buenas"), (9, "una")]
    assert knowledge_base.suggested.rows() == [(7, "help", "help", 1, 2)]
    assert knowledge_base.pairs.rows()[0] == (7, "Café\n\nsí", "Editorial")
    assert knowledge_base.metadata.rows() == [(7, "topic", "a: b")]
    assert knowledge_base.settings.language == "es"
    assert knowledge_base.settings.is_learning_enabled is None
    assert knowledge_base.warnings == ()


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le"])
def test_an_untouched_project_is_written_as_it_was_read(kb, added, mark, end, codec):
    if codec != "utf-8":
        mark = "\ufeff"
    content = (mark + PROJECT.replace("\n", end)).encode(codec)
    assert written(kb(content), added=added()) == content


def test_accepted_questions_become_entries_laid_out_as_the_last_one(kb, added):
    new = added((7, "¿qué tal?"), (9, 'con "comillas"\ty\nsalto'), (11, "sola"))
    content = written(kb(PROJECT), added=new).decode()
    expected = (
        PROJECT.replace(
            '          "buenas"\n', '          "buenas",\n          "¿qué tal?"\n'
        )
        .replace('["una"]', r'["una","con \"comillas\"\ty\nsalto"]')
        .replace('{"id": 11}', '{"id": 11,"questions": ["sola"]}')
    )
    assert content == expected


def test_suggestions_change_in_their_place_or_follow_the_last_name(
    kb, added, suggested
):
    asked = suggested((7, "i", "i", 5, 1), (9, "j", "j", 1, 0))
    content = written(kb(PROJECT), added=added(), suggested=asked).decode()
    changed, before = json.loads(content), json.loads(PROJECT)
    found = [
        record.pop("activeLearningSuggestions", None)
        for record in changed["assets"]["qnas"]
    ]
    del before["assets"]["qnas"][0]["activeLearningSuggestions"]
    assert changed == before
    assert found == [
        [
            {
                "clusterHead": "i",
                "suggestedQuestions": [
                    {"question": "i", "userSuggestedCount": 1, "autoSuggestedCount": 5}
                ],
            }
        ],
        [
            {
                "clusterHead": "j",
                "suggestedQuestions": [
                    {"question": "j", "userSuggestedCount": 0, "autoSuggestedCount": 1}
                ],
            }
        ],
        None,
    ]


def test_names_are_read_in_any_case_and_written_as_found(kb, added, suggested):
    content = '{"Assets": {"Qnas": [{"Id": 1, "Questions": ["q"]}]}}'
    asked = suggested((1, "h", "é", 1, 0))
    changed = written(kb(content), added=added((1, "r")), suggested=asked).decode()
    assert changed == (
        '{"Assets": {"Qnas": [{"Id": 1, "Questions": ["q","r"], '
        '"ActiveLearningSuggestions": [{"ClusterHead":"h","SuggestedQuestions":'
        '[{"Question":"é","UserSuggestedCount":0,"AutoSuggestedCount":1}]}]}]}}'
    )


def test_a_project_that_escapes_stays_one_that_escapes(kb, added):
    content = r'{"assets": {"qnas": [{"id": 1, "questions": ["\u00e9"]}]}}'
    changed = written(kb(content), added=added((1, "ñ"))).decode()
    assert changed == content.replace(r'"\u00e9"', r'"\u00e9","\u00f1"')


def test_all_problems_are_told_at_once_with_row_and_place(refused):
    content = """{"assets": {"qnas": [
      {"id": "1", "questions": ["q"]},
      {"id": 2, "questions": "q", "answer": 5},
      {"id": 3, "questions": ["", 4],
       "metadata": ["k"]},
      {"id": 3, "metadata": {"k": 1}},
      "pair"
    ]}}"""
    assert refused(content, "p.json") == [
        (2, "assets.qnas[0].id", "not a whole number from 0", "1"),
        (3, "assets.qnas[1].answer", "not a text", None),
        (3, "assets.qnas[1].questions", "the questions are not a list", None),
        (5, "assets.qnas[2].metadata", "the metadata is not an object", None),
        (4, "assets.qnas[2].questions[0]", "the question is empty", None),
        (4, "assets.qnas[2].questions[1]", "not a text", None),
        (4, "assets.qnas[2].questions[1]", "the question is empty", None),
        (6, "assets.qnas[3]", "two pairs have one id", "3"),
        (6, "assets.qnas[3].metadata.k", "not a text", None),
        (7, "assets.qnas[4]", "the pair is not an object", None),
    ]


def test_text_that_is_not_json_is_refused_with_its_line(refused):
    ((row, _, fact, _),) = refused('{"assets":\n {"qnas": [}}', "p.json")
    assert (row, fact) == (2, "not JSON: Expecting value at character 22")


@pytest.mark.parametrize("content", ["{}", '{"assets": {"qnas": {}}}', '{"assets": 1}'])
def test_json_without_pairs_is_no_knowledge_base(refused, content):
    (problem,) = refused(content)
    assert problem[1:3] == (
        "assets.qnas",
        "this is not a knowledge base: it has no list of pairs",
    )


def test_limits_of_the_service_are_told(kb):
    records = [{"id": 1, "answer": "a" * 25_001, "questions": ["q" * 1001] * 302}]
    told = [w.fact for w in kb(json.dumps({"assets": {"qnas": records}})).warnings]
    assert told[0] == "the answer has 25,001 characters, 25,000 are allowed"
    assert told[1] == "the question has 1,001 characters, 1,000 are allowed"
    assert told[-1] == "pair 1 has 301 alternate questions, 300 are allowed"
