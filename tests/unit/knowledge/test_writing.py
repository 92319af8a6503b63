"""What is written to a TSV file, and what is refused."""

from __future__ import annotations

import pytest

from flows.errors import UsageError
from flows.knowledge import KnowledgeBaseError, written

# Spelled as no program here spells it.
ODD = '[ {"clusterHead" : "h", "alternateQuestionList":[{"question":"h"} ]}]'


def test_new_rows_repeat_their_pair_after_its_last_row(kb, added):
    """Pair 1 is scattered; the last line has no end, before and after."""
    head = "Question\tAnswer\tSource\tMetadata\tPrompts\tQnaId\tSourceDisplayName\n"
    knowledge_base = kb(
        head + "a\tx\ts\tk:v\t[1]\t1\td\nb\ty\ts\t\t[]\t2\td\nc\tx\ts\tk:v\t[1]\t1\td"
    )
    content = written(knowledge_base, added=added((1, "n1"), (2, "n2"), (1, "n3")))
    assert content.decode() == head + (
        "a\tx\ts\tk:v\t[1]\t1\td\nb\ty\ts\t\t[]\t2\td\nn2\ty\ts\t\t[]\t2\td\n"
        "c\tx\ts\tk:v\t[1]\t1\td\nn1\tx\ts\tk:v\t[1]\t1\td\nn3\tx\ts\tk:v\t[1]\t1\td"
    )


def test_suggestions_are_rewritten_only_where_they_changed(kb, table, added, suggested):
    rows = [
        {"Question": "a", "QnaId": "1", "SuggestedQuestions": ODD},
        {"Question": "b", "QnaId": "2", "SuggestedQuestions": ODD},
        {"Question": "c", "QnaId": "2", "SuggestedQuestions": "[]"},
    ]
    knowledge_base = kb(table(*rows))
    asked = suggested((2, "i", "i", 5, 1), (2, "i", "j", 1, 0), (1, "h", "h", 0, 0))
    content = written(knowledge_base, added=added(), suggested=asked).decode()
    cell = (
        '[{"clusterHead":"i","totalAutoSuggestedCount":6,"totalUserSuggestedCount":1,'
        '"alternateQuestionList":['
        '{"question":"i","autoSuggestedCount":5,"userSuggestedCount":1},'
        '{"question":"j","autoSuggestedCount":1,"userSuggestedCount":0}]}]'
    )
    for row in rows[1:]:
        row["SuggestedQuestions"] = cell
    assert content == table(*rows)


def test_a_pair_that_is_not_given_has_no_suggestions_any_more(
    kb, table, added, suggested
):
    row = {"Question": "a", "QnaId": "1", "SuggestedQuestions": ODD}
    knowledge_base = kb(table(row))
    content = written(knowledge_base, added=added(), suggested=suggested())
    assert content.decode() == table({**row, "SuggestedQuestions": "[]"})


def test_suggested_text_that_no_cell_could_hold_is_escaped(kb, table, added, suggested):
    knowledge_base = kb(table({"Question": "a", "QnaId": "1"}))
    asked = suggested((1, "tab\there", 'line\nfeed "é"', 1, 0))
    content = written(knowledge_base, added=added(), suggested=asked)
    assert kb(content).suggested.rows() == asked.rows()
    assert 'line\\nfeed \\"é\\"' in content.decode()


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\rb", "a\0b"])
def test_a_question_that_no_cell_can_hold_is_refused(kb, table, added, text):
    knowledge_base = kb(table({"Question": "a", "QnaId": "1"}))
    with pytest.raises(KnowledgeBaseError, match="nothing was written") as refused:
        written(knowledge_base, added=added((1, text)))
    (problem,) = refused.value.problems
    assert (problem.column, problem.value) == ("question", text)
    assert "put a space in its place" in problem.remedy


def test_all_that_cannot_be_written_is_told_at_once(kb, added, suggested):
    knowledge_base = kb("Question\tAnswer\nq\ta\n")
    with pytest.raises(KnowledgeBaseError) as refused:
        written(
            knowledge_base,
            added=added((9, "x"), (1, " "), (1, "a\tb"), (1, "fine")),
            suggested=suggested((8, "h", "h", 1, 0)),
        )
    assert [(p.fact, p.value) for p in refused.value.problems] == [
        ("the file has no such pair", "9"),
        ("the question to add to pair 1 is empty", None),
        ("the question to add to pair 1 holds a tab or line break", "a\tb"),
        ("the file has no column for suggestions", None),
        ("the file has no such pair", "8"),
    ]


def test_no_suggestions_fit_a_file_without_a_column_for_them(kb, added, suggested):
    content = "Question\tAnswer\nq\ta\n"
    knowledge_base = kb(content)
    assert not knowledge_base.has_suggestions
    assert written(knowledge_base, added=added(), suggested=suggested()) == (
        content.encode()
    )


def test_another_casing_is_refused(kb, added):
    knowledge_base = kb("Question\tAnswer\nq\ta\n")
    with pytest.raises(UsageError, match="choose one of found, camelCase, PascalCase"):
        written(knowledge_base, added=added(), casing="snake_case")


def test_ids_without_a_column_are_never_written(kb, added):
    content = written(kb("Question\tAnswer\nq\ta\nr\tb\n"), added=added((2, "s")))
    assert content == b"Question\tAnswer\nq\ta\nr\tb\ns\tb\n"
