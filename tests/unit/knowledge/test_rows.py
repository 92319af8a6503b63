"""Rows of a TSV file: what stops, what is only told, and how pairs are found."""

from __future__ import annotations

import pytest

from flows.knowledge import KnowledgeBaseError, read


def test_all_problems_are_told_at_once_with_row_and_column(refused, table):
    content = table(
        {"Question": "", "QnaId": "1"},
        {"Question": "a", "QnaId": "1.5"},
        {"Question": "b", "QnaId": "1", "IsContextOnly": "perhaps"},
        {"Question": "c", "QnaId": "2", "SuggestedQuestions": "[{]"},
    )
    assert refused(content + "too\tfew\n") == [
        (2, "Question", "the question is empty", None),
        (3, "QnaId", "not a whole number", "1.5"),
        (4, "IsContextOnly", "neither true nor false", "perhaps"),
        (
            *(5, "SuggestedQuestions"),
            *("not JSON: a name in quotes is missing at character 2", "[{]"),
        ),
        (6, None, "2 cells, the header has 8", "too"),
    ]


def test_a_message_shows_the_first_problems_and_counts_the_others(kb, table):
    rows = [{"Question": "q", "QnaId": f"n{number}"} for number in range(25)]
    with pytest.raises(KnowledgeBaseError) as error:
        kb(table(*rows))
    lines = str(error.value).splitlines()
    assert lines[0] == "25 problems with the knowledge base; nothing was read."
    assert lines[1].endswith(
        "kb.tsv, row 2, column QnaId: not a whole number: 'n0'. "
        "Give the row the number of its pair, or delete the row."
    )
    assert lines[-1] == "  and 5 more"
    assert len(error.value.problems) == 25


def test_a_long_value_is_cut_and_unseen_characters_are_spelled(kb, table):
    with pytest.raises(KnowledgeBaseError, match=r"'\\u200f1x{58}'\.\.\. ?") as error:
        kb(table({"Question": "q", "QnaId": "\u200f1" + "x" * 90}))
    assert error.value.problems[0].value.endswith("x" * 90)


def test_what_is_odd_is_kept_and_told(kb, table):
    content = table(
        {"Question": "a", "Answer": "x", "Metadata": "plain", "QnaId": "1"},
        {"Question": "b", "Answer": "y", "QnaId": "1"},
    )
    _, last = table({"Question": "c", "QnaId": "2"}).splitlines()
    knowledge_base = kb(f"{content}\n{last}")
    told = [(w.row, w.column, w.fact, w.value) for w in knowledge_base.warnings]
    assert told == [
        (2, "Metadata", "metadata without a colon", "plain"),
        (3, "Answer", "differs from row 2 of the same pair", "y"),
        (3, "Metadata", "differs from row 2 of the same pair", ""),
        (4, None, "the line is empty", None),
    ]
    assert knowledge_base.questions.rows() == [(1, "a"), (1, "b"), (2, "c")]
    assert knowledge_base.pairs.rows() == [(1, "x", ""), (2, "", "")]


def test_limits_of_the_service_are_told_but_do_not_stop(kb, table):
    rows = [
        {"Question": "q" * 1001, "Answer": "a" * 25_001, "QnaId": "1"},
        *(
            {"Question": str(n), "Answer": "a" * 25_001, "QnaId": "1"}
            for n in range(301)
        ),
    ]
    knowledge_base = kb(table(*rows))
    assert [w.fact for w in knowledge_base.warnings] == [
        "the question has 1,001 characters, 1,000 are allowed",
        "the answer has 25,001 characters, 25,000 are allowed",
        "pair 1 has 301 alternate questions, 300 are allowed",
    ]


def test_a_file_above_ten_megabytes_is_told(kb):
    rows = (f"q\t{number:05}{'a' * 20_000}\n" for number in range(500))
    (warning,) = kb("".join(["Question\tAnswer\n", *rows])).warnings
    assert warning.fact == "the file has 10,004,016 bytes, 10,000,000 are allowed"


def test_columns_are_found_in_any_case_and_order(kb):
    knowledge_base = kb("QNAID\tnote\tanswer\tquestion\n5\tn\ta\tq\n")
    assert knowledge_base.questions.rows() == [(5, "q")]
    assert knowledge_base.pairs.rows() == [(5, "a", "")]
    (warning,) = knowledge_base.warnings
    assert (warning.fact, warning.value) == ("the column is not known", "note")


def test_two_columns_of_one_name_are_refused(refused):
    assert refused("Question\tAnswer\tanswer\nq\ta\tb\n") == [
        (1, None, "two columns have one name", "answer")
    ]


@pytest.mark.parametrize("content", ["", "\n", "Question,Answer\nq,a\n", "Question\n"])
def test_what_has_no_questions_and_answers_is_no_knowledge_base(refused, content):
    (problem,) = refused(content)
    assert problem[2] == "this is not a knowledge base by its columns"


def test_a_file_that_is_absent_is_refused(tmp_path):
    with pytest.raises(KnowledgeBaseError, match="No such file"):
        read(tmp_path / "absent.tsv")


def test_a_file_with_nul_characters_is_refused(refused):
    content = "Question\tAnswer\nq\ta\n".encode("utf-16-le")
    assert refused(content) == [(1, None, "character 1 is NUL", None)]


def test_rows_without_ids_form_pairs_wherever_they_stand(kb):
    """Suggestions do not tell pairs apart; everything but the question does."""
    knowledge_base = kb(
        "Question\tAnswer\tSource\tSuggestedQuestions\n"
        "a\tx\ts\t[]\nb\ty\ts\t[]\nc\tx\tother\t[]\nd\tx\ts\t\n"
    )
    assert knowledge_base.questions["qna_id"].to_list() == [1, 2, 3, 1]
    assert not knowledge_base.has_ids


def test_a_tsv_file_says_nothing_about_learning_or_language(kb):
    settings = kb("Question\tAnswer\nq\ta\n").settings
    assert (settings.is_learning_enabled, settings.language) == (None, None)
