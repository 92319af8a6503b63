"""Public knowledge-base files, and reports about readers that damaged such files.

`IDS` lists the cases that reading and writing a file decide; the last test fails when
one has no test. The files are real exports; `NOTICE.md` beside them names their source.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from flows.knowledge import KnowledgeBaseError, read, written

IDS = ("Q01", "Q03", "Q04", "Q05", "Q11", "Q14", "Q16", "Q17", "Q19")
DATA = Path(__file__).parent / "data" / "qna"
# Questions, pairs and suggested texts of each.
FILES = {
    "QnAMaker_dispatch.tsv": (10, 2, 0),
    "SampleActiveLearning.tsv": (22, 21, 4),
    "SampleForCQA.tsv": (156, 156, 13),
    "SampleQnAs.tsv": (11, 11, 0),
    "SampleV2QnAs.tsv": (11, 11, 0),
    "basic-kb.tsv": (16, 16, 0),
    "smartLightFAQ_all_features.tsv": (22, 9, 0),
    "smartLightFAQ_v1.tsv": (14, 11, 0),
}
NOT_KNOWLEDGE_BASES = {
    "Scenario_Responses_Friendly.tsv": "Scenario, Response",
    "SampleSynonyms.tsv": "Synonyms",
}
NOTHING = pl.DataFrame(schema={"qna_id": pl.Int64, "question": pl.String})
COLUMNS = (
    *("Question", "Answer", "Source", "Metadata"),
    *("SuggestedQuestions", "IsContextOnly", "Prompts", "QnaId"),
)
PASCAL = (
    '[{"ClusterHead":"help","TotalAutoSuggestedCount":1,"TotalUserSuggestedCount":0,'
    '"AlternateQuestionList":'
    '[{"Question":"help","AutoSuggestedCount":1,"UserSuggestedCount":0}]}]'
)


@pytest.fixture
def kb(tmp_path):
    """Writes bytes, or text as UTF-8, to a file and reads it."""

    def knowledge_base(content, name="kb.tsv"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(file)

    return knowledge_base


def table(*rows):
    """A TSV file of eight columns from dicts of the cells that matter."""
    plain = {"SuggestedQuestions": "[]", "IsContextOnly": "False", "Prompts": "[]"}
    lines = [[{**plain, **row}.get(name, "") for name in COLUMNS] for row in rows]
    return "".join("\t".join(cells) + "\n" for cells in [COLUMNS, *lines])


def camel(head, auto, user):
    """The cell of one cluster with its head alone, as document 003 spells it."""
    return (
        f'[{{"clusterHead":"{head}","totalAutoSuggestedCount":{auto},'
        f'"totalUserSuggestedCount":{user},"alternateQuestionList":'
        f'[{{"question":"{head}","autoSuggestedCount":{auto},'
        f'"userSuggestedCount":{user}}}]}}]'
    )


def rewritten(knowledge_base, **changes):
    return written(knowledge_base, **{"added": NOTHING, **changes})


@pytest.mark.parametrize("name", FILES)
def test_an_untouched_public_export_is_written_as_it_was_read(name):
    knowledge_base = read(DATA / name)
    assert rewritten(knowledge_base) == (DATA / name).read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_every_row_of_a_public_export_is_read(name):
    knowledge_base = read(DATA / name)
    found = (
        knowledge_base.questions.height,
        knowledge_base.pairs.height,
        knowledge_base.suggested.height,
    )
    assert found == FILES[name]


@pytest.mark.parametrize(("name", "columns"), NOT_KNOWLEDGE_BASES.items())
def test_a_file_that_is_no_knowledge_base_is_refused_with_its_columns(name, columns):
    with pytest.raises(KnowledgeBaseError, match="not a knowledge base") as refused:
        read(DATA / name)
    (problem,) = refused.value.problems
    assert (problem.row, problem.value) == (1, columns)
    assert "columns Question and Answer" in problem.remedy


@pytest.mark.parametrize("name", FILES)
def test_a_public_export_takes_an_accepted_question_after_its_pair(name):
    """Only one line is new, and only its question differs from the line before."""
    knowledge_base = read(DATA / name)
    last = knowledge_base.pairs["qna_id"][-1]
    added = pl.DataFrame({"qna_id": [last], "question": ["¿Y ahora qué?"]})
    content = rewritten(knowledge_base, added=added)
    before = (DATA / name).read_bytes().split(b"\n")
    after = content.split(b"\n")
    (new,) = [line for line in after if line.startswith("¿Y ahora qué?\t".encode())]
    at = after.index(new)
    assert [*after[:at], *after[at + 1 :]] == before
    assert new.split(b"\t")[1:] == after[at - 1].split(b"\t")[1:]


def test_a_repeated_header_is_kept_and_told():
    knowledge_base = read(DATA / "smartLightFAQ_v1.tsv")
    told = [(w.row, w.fact) for w in knowledge_base.warnings]
    assert told == [
        (2, "the row repeats the header"),
        (10, "the row repeats the header"),
    ]
    assert knowledge_base.questions["question"].to_list().count("Question") == 2


def test_pairs_without_ids_are_numbered_by_first_appearance():
    knowledge_base = read(DATA / "QnAMaker_dispatch.tsv")
    assert not knowledge_base.has_ids
    assert knowledge_base.questions["qna_id"].to_list() == [1] * 4 + [2] * 6
    assert knowledge_base.pairs["answer"][0] == "Hello!"


def test_suggestions_of_the_public_export_with_learning():
    knowledge_base = read(DATA / "SampleActiveLearning.tsv")
    assert knowledge_base.suggested.rows() == [
        (92, *["can i draw with surface pen"] * 2, 10, 2),
        (92, *["how to write with surface pen"] * 2, 10, 2),
        (103, *["apps for surface pen"] * 2, 6, 2),
        (118, *["help with my surface pen"] * 2, 10, 2),
    ]
    assert knowledge_base.warnings == ()


def test_q01_a_lone_quotation_mark_swallows_no_row(kb):
    content = 'Question\tAnswer\n"open only\tC\nnext\tD\n'
    knowledge_base = kb(content)
    assert knowledge_base.questions["question"].to_list() == ['"open only', "next"]
    assert rewritten(knowledge_base) == content.encode()


def test_q03_backslash_and_n_stay_two_characters(kb):
    answers = [r"a\n\nb", r"C:\new"]
    content = table(
        {"Question": "a", "Answer": answers[0], "QnaId": "1"},
        {"Question": "path", "Answer": answers[1], "QnaId": "2"},
    )
    knowledge_base = kb(content)
    assert knowledge_base.pairs["answer"].to_list() == answers
    added = pl.DataFrame({"qna_id": [2], "question": [r"where is C:\new"]})
    assert rewritten(knowledge_base) == content.encode()
    assert rb"where is C:\new" in rewritten(knowledge_base, added=added)


def test_q04_both_spellings_of_the_keys_give_the_same_cluster(kb):
    read_both = [
        kb(table({"Question": "q", "QnaId": "7", "SuggestedQuestions": cell}))
        for cell in (PASCAL, camel("help", 1, 0))
    ]
    for knowledge_base in read_both:
        assert knowledge_base.suggested.rows() == [(7, "help", "help", 1, 0)]
        assert knowledge_base.warnings == ()


def test_q04_a_rewritten_cell_is_what_document_003_shows(kb):
    """Found casing by default; the other one on request."""
    row = {"Question": "q", "QnaId": "7"}
    knowledge_base = kb(table({**row, "Prompts": '[{"DisplayOrder":0}]'}))
    asked = pl.DataFrame(
        [(7, "help", "help", 1, 0)],
        schema=knowledge_base.suggested.schema,
        orient="row",
    )
    cells = {"found": PASCAL, "camelCase": camel("help", 1, 0), "PascalCase": PASCAL}
    for casing, cell in cells.items():
        content = rewritten(knowledge_base, suggested=asked, casing=casing).decode()
        assert content.splitlines()[1].split("\t")[4] == cell
    document = [
        {
            "clusterHead": "help",
            "totalAutoSuggestedCount": 1,
            "totalUserSuggestedCount": 0,
            "alternateQuestionList": [
                {"question": "help", "autoSuggestedCount": 1, "userSuggestedCount": 0}
            ],
        }
    ]
    assert json.loads(camel("help", 1, 0)) == document


def test_q05_suggestions_repeated_on_each_row_are_not_added_up(kb):
    cell = camel("help", 10, 2)
    rows = [{"Question": q, "QnaId": "92", "SuggestedQuestions": cell} for q in "ab"]
    knowledge_base = kb(table(*rows))
    assert knowledge_base.suggested.rows() == [(92, "help", "help", 10, 2)]
    assert knowledge_base.warnings == ()


def test_q05_rows_that_differ_are_united_by_head_with_a_warning(kb):
    cells = (camel("help", 1, 3), camel("help", 4, 0), camel("hilfe", 1, 0))
    rows = [
        {"Question": str(number), "QnaId": "92", "SuggestedQuestions": cell}
        for number, cell in enumerate(cells)
    ]
    knowledge_base = kb(table(*rows))
    assert knowledge_base.suggested.rows() == [
        (92, "help", "help", 4, 3),
        (92, "hilfe", "hilfe", 1, 0),
    ]
    assert [w.row for w in knowledge_base.warnings] == [3, 4]
    assert rewritten(knowledge_base) == table(*rows).encode()


def test_q11_a_file_with_a_bad_row_is_refused_whole_with_line_and_column(kb):
    rows = [{"Question": q, "Answer": "x", "QnaId": "1"} for q in "abc"]
    rows[1]["QnaId"] = "one"
    with pytest.raises(KnowledgeBaseError) as refused:
        kb(table(*rows))
    (problem,) = refused.value.problems
    assert (problem.row, problem.column, problem.value) == (3, "QnaId", "one")
    assert "nothing was read" in str(refused.value)
    assert refused.value.exit_code == 2
    rows[1]["QnaId"] = "1"
    assert kb(table(*rows)).questions.height == 3


def test_q11_what_stands_there_is_not_written_twice(kb):
    knowledge_base = kb(table({"Question": "a", "Answer": "x", "QnaId": "1"}))
    added = pl.DataFrame({"qna_id": [1, 1, 1], "question": ["b", "a", "b"]})
    once = rewritten(knowledge_base, added=added)
    again = rewritten(kb(once), added=added)
    assert again == once
    assert kb(once).questions["question"].to_list() == ["a", "b"]


def test_q14_utf8_with_a_mark_keeps_every_character(kb):
    content = b"\xef\xbb\xbf" + "Question\tAnswer\nfiancé £6,500\tx\n".encode()
    knowledge_base = kb(content)
    assert knowledge_base.questions["question"].to_list() == ["fiancé £6,500"]
    assert rewritten(knowledge_base) == content


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_q14_utf16_with_a_mark_is_read_and_written_as_utf16(kb, codec):
    text = "\ufeffQuestion\tAnswer\nfiancé £6,500\tx\n"
    knowledge_base = kb(text.encode(codec))
    assert knowledge_base.questions["question"].to_list() == ["fiancé £6,500"]
    assert rewritten(knowledge_base) == text.encode(codec)


def test_q14_code_page_1252_is_refused_with_the_offset_of_the_byte(kb):
    content = "Question\tAnswer\nfiancé £6,500\tx\n".encode("cp1252")
    with pytest.raises(KnowledgeBaseError) as refused:
        kb(content)
    (problem,) = refused.value.problems
    assert problem.fact == "byte 0xE9 at offset 21 is not UTF-8"
    assert (content[21], problem.row) == (0xE9, 2)
    assert "1252" in problem.remedy


def test_q16_right_to_left_text_is_kept_with_its_marks(kb):
    spellings = [
        "كم عدد الزيارات؟",
        "كَم عَدَد الزِّيارات؟",
        "\u200fكم عدد الزيارات؟",
        "كم عدد الزيارات؟\u200f",
    ]
    knowledge_base = kb(table({"Question": "زيارات", "QnaId": "1"}))
    added = pl.DataFrame({"qna_id": [1] * 4, "question": spellings})
    content = rewritten(knowledge_base, added=added)
    assert kb(content).questions["question"].to_list() == ["زيارات", *spellings]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_q17_line_ends_mark_and_tail_are_kept(kb, end, tail, mark):
    text = mark + table({"Question": "q", "QnaId": "98"}).replace("\n", end)
    content = (text if tail else text.removesuffix(end)).encode()
    knowledge_base = kb(content)
    assert knowledge_base.questions.rows() == [(98, "q")]
    assert rewritten(knowledge_base) == content
    added = pl.DataFrame({"qna_id": [98], "question": ["r"]})
    longer = rewritten(knowledge_base, added=added)
    assert kb(longer).questions.rows() == [(98, "q"), (98, "r")]
    assert longer.count(end.encode()) == content.count(end.encode()) + 1
    assert longer.endswith(end.encode()) == tail


def test_q19_metadata_divides_at_the_first_colon(kb):
    cell = "explicitlytaggedheading:power states: on, off | category:chitchat"
    knowledge_base = kb(table({"Question": "q", "Metadata": cell, "QnaId": "1"}))
    assert knowledge_base.metadata.rows() == [
        (1, "explicitlytaggedheading", "power states: on, off"),
        (1, "category", "chitchat"),
    ]
    export = read(DATA / "SampleForCQA.tsv").metadata
    assert export.filter(value="power states: on, off, sleep, and restart").height == 1


def test_every_listed_case_has_a_test():
    names = vars(sys.modules[__name__])
    for case in IDS:
        assert any(name.startswith(f"test_{case.lower()}_") for name in names), case
