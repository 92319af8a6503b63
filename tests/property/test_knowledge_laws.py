"""Laws of knowledge-base files: nothing is lost, nothing else changes."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from flows.knowledge import KnowledgeBaseError, read, written

QUESTIONS = {"qna_id": pl.Int64, "question": pl.String}
NOTHING = pl.DataFrame(schema=QUESTIONS)
SUGGESTED = {
    "qna_id": pl.Int64,
    "cluster_head": pl.String,
    "question": pl.String,
    "auto_count": pl.Int64,
    "user_count": pl.Int64,
}
HEADER = (
    "Question\tAnswer\tSource\tMetadata\t"
    "SuggestedQuestions\tIsContextOnly\tPrompts\tQnaId"
)
# What other readers trip over: quotes, escapes, line ends that are none.
TRAPS = "\"'\\|:[]{}=\x0b\x0c\x1c\x85\u2028\u2029\u200f\ufeff\xa0é😀"
LETTERS = st.one_of(
    st.sampled_from(TRAPS),
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0"),
)
CELLS = st.text(LETTERS, max_size=8)
TEXTS = CELLS.filter(str.strip)
IDS = st.integers(0, 3)
COUNTS = st.integers(0, 50)


def read_bytes(content):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kb"
        file.write_bytes(content)
        return read(file)


@st.composite
def tables(draw):
    """A valid TSV file of eight columns and its questions; pairs may be scattered."""
    rows = draw(st.lists(st.tuples(TEXTS, IDS), min_size=1, max_size=6))
    shared = {
        qna_id: "\t".join(
            (*draw(st.tuples(CELLS, CELLS)), "", "[]", "False", "[]", str(qna_id))
        )
        for qna_id in range(4)
    }
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [HEADER, *(f"{question}\t{shared[qna_id]}" for question, qna_id in rows)]
    tail = draw(st.sampled_from([end, ""]))
    text = draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + tail
    return text.encode(), [(qna_id, question) for question, qna_id in rows]


@st.composite
def projects(draw):
    """A valid JSON project in some layout and its questions."""
    records = [
        {
            "id": qna_id,
            "answer": draw(st.text(st.characters(exclude_categories=["Cs"]))),
            **({"questions": asked} if asked is not None else {}),
        }
        for qna_id, asked in draw(
            st.dictionaries(IDS, st.none() | st.lists(TEXTS, max_size=3), min_size=1)
        ).items()
    ]
    text = json.dumps(
        {"metadata": {"language": "es"}, "assets": {"qnas": records}},
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 0, 2, "\t"])),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
    )
    asked = [(r["id"], q) for r in records for q in r.get("questions", [])]
    return text.encode(), asked


def archive():
    """A replica with one question."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as replica:
        replica.writestr("Settings.tsv", "Key\tValue\nEnableActiveLearning\tTrue\n")
        replica.writestr("QnAs.tsv", "Question\tAnswer\nq\ta\n")
    return buffer.getvalue()


ARCHIVE = archive()
FILES = st.one_of(tables(), projects())


def suggestions(draw, ids):
    """Suggestions of some pairs: each text once in a cluster."""
    listed = st.dictionaries(
        st.tuples(st.sampled_from(ids), TEXTS, TEXTS), st.tuples(COUNTS, COUNTS)
    )
    rows = [(*key, *counts) for key, counts in draw(listed).items()]
    return pl.DataFrame(rows, schema=SUGGESTED, orient="row")


@given(FILES)
def test_an_untouched_file_is_written_as_it_was_read(file):
    content, asked = file
    knowledge_base = read_bytes(content)
    assert knowledge_base.questions.rows() == asked
    assert written(knowledge_base, added=NOTHING) == content
    same = knowledge_base.suggested
    assert written(knowledge_base, added=NOTHING, suggested=same) == content


@given(
    st.lists(st.tuples(TEXTS, CELLS, CELLS), max_size=6),
    st.text(st.one_of(LETTERS, st.sampled_from("\t\n\r"))),
)
def test_no_row_is_lost_silently(rows, tail):
    """Any lines at all below a header: every one is read or told."""
    lines = ["Question\tAnswer\tNote", *("\t".join(cells) for cells in rows)]
    content = ("\n".join(lines) + tail).encode()
    try:
        knowledge_base = read_bytes(content)
    except KnowledgeBaseError as refused:
        assert refused.problems  # noqa: PT017 - either outcome is right
        return
    body = content.decode().split("\n")[1:]
    empty = [w.row for w in knowledge_base.warnings if w.fact == "the line is empty"]
    count = len(body) - (body[-1:] == [""])
    assert knowledge_base.questions.height + len(empty) == count
    assert written(knowledge_base, added=NOTHING) == content


@given(FILES, st.lists(st.tuples(IDS, TEXTS), max_size=4))
def test_added_questions_follow_their_pair_and_change_nothing_else(file, new):
    content, _ = file
    knowledge_base = read_bytes(content)
    known = set(knowledge_base.pairs["qna_id"])
    new = [(qna_id, text) for qna_id, text in new if qna_id in known]
    added = pl.DataFrame(new, schema=QUESTIONS, orient="row")
    longer = written(knowledge_base, added=added)
    again = read_bytes(longer)
    for qna_id in known:
        old = knowledge_base.questions.filter(qna_id=qna_id)["question"].to_list()
        texts = dict.fromkeys(text for of, text in new if of == qna_id)
        expected = [*old, *(text for text in texts if text not in old)]
        assert again.questions.filter(qna_id=qna_id)["question"].to_list() == expected
    assert_frame_equal(again.pairs, knowledge_base.pairs)
    assert_frame_equal(again.metadata, knowledge_base.metadata)
    assert_frame_equal(again.suggested, knowledge_base.suggested)
    assert written(again, added=added) == longer


@given(FILES, st.data(), st.sampled_from(["found", "camelCase", "PascalCase"]))
def test_written_suggestions_are_read_again(file, data, casing):
    content, asked = file
    knowledge_base = read_bytes(content)
    suggested = suggestions(data.draw, knowledge_base.pairs["qna_id"].to_list())
    changed = written(knowledge_base, added=NOTHING, suggested=suggested, casing=casing)
    again = read_bytes(changed)
    assert_frame_equal(
        again.suggested,
        suggested.sort("qna_id", maintain_order=True),
        check_row_order=False,
    )
    assert again.questions.rows() == asked
    emptied = written(again, added=NOTHING, suggested=suggested.clear())
    assert read_bytes(emptied).suggested.is_empty()


@given(projects(), st.data())
def test_a_changed_project_holds_the_same_values_elsewhere(file, data):
    content, _ = file
    knowledge_base = read_bytes(content)
    suggested = suggestions(data.draw, knowledge_base.pairs["qna_id"].to_list())
    added = suggested.select("qna_id", "question").head(2)
    changed = json.loads(
        written(knowledge_base, added=added, suggested=suggested).decode()
    )
    before = json.loads(content)
    records = zip(changed["assets"]["qnas"], before["assets"]["qnas"], strict=True)
    for now, then in records:
        now.pop("activeLearningSuggestions", None)
        asked, had = now.pop("questions", []), then.pop("questions", [])
        assert asked[: len(had)] == had
    assert changed == before


@given(st.integers(0), st.integers(1, 255))
def test_a_damaged_archive_is_read_or_refused(place, mask):
    content = bytearray(ARCHIVE)
    content[place % len(content)] ^= mask
    try:
        knowledge_base = read_bytes(bytes(content))
    except KnowledgeBaseError as refused:
        assert refused.problems  # noqa: PT017 - either outcome is right
        return
    added = pl.DataFrame([(1, "new")], schema=QUESTIONS, orient="row")
    longer = read_bytes(written(knowledge_base, added=added))
    assert longer.questions.rows() == [(1, "q"), (1, "new")]


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(content):
    for start in (b"", b"PK\x03\x04", b'{"assets":{"qnas":[', b"Question\tAnswer\n"):
        try:
            read_bytes(start + content)
        except KnowledgeBaseError as refused:
            assert refused.problems  # noqa: PT017 - either outcome is right
