"""Knowledge-base files made for one test."""

from __future__ import annotations

import polars as pl
import pytest

from flows.knowledge import KnowledgeBaseError, read

COLUMNS = (
    *("Question", "Answer", "Source", "Metadata"),
    *("SuggestedQuestions", "IsContextOnly", "Prompts", "QnaId"),
)
PLAIN = {"SuggestedQuestions": "[]", "IsContextOnly": "False", "Prompts": "[]"}


@pytest.fixture
def kb(tmp_path):
    """Writes bytes, or text as UTF-8, to a file and reads it."""

    def knowledge_base(content, name="kb.tsv"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(file)

    return knowledge_base


@pytest.fixture
def refused(kb):
    """Reads what cannot be read: row, column, what is wrong and the value of each."""

    def problems(content, name="kb.tsv"):
        with pytest.raises(KnowledgeBaseError) as error:
            kb(content, name)
        return [(p.row, p.column, p.fact, p.value) for p in error.value.problems]

    return problems


@pytest.fixture
def table():
    """A TSV file of eight columns from dicts of the cells that matter."""

    def of(*rows):
        lines = [[{**PLAIN, **row}.get(name, "") for name in COLUMNS] for row in rows]
        return "".join("\t".join(cells) + "\n" for cells in [COLUMNS, *lines])

    return of


@pytest.fixture
def added():
    """Accepted questions from pairs of id and text."""

    def frame(*rows):
        schema = {"qna_id": pl.Int64, "question": pl.String}
        return pl.DataFrame(rows, schema=schema, orient="row")

    return frame


@pytest.fixture
def suggested():
    """Suggestions from tuples of id, head, text, automatic and user count."""

    def frame(*rows):
        schema = {
            "qna_id": pl.Int64,
            "cluster_head": pl.String,
            "question": pl.String,
            "auto_count": pl.Int64,
            "user_count": pl.Int64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    return frame
