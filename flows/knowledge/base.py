"""A knowledge base: what its file says, as frames, and the file to write again.

What the file is shows in its first bytes, not in its name: an archive is a replica, a
text that opens a brace is a JSON project, everything else a TSV file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from flows.knowledge.encodings import MARKED
from flows.knowledge.pairs import Settings
from flows.knowledge.project import Project, read_project
from flows.knowledge.remarks import Findings, Remark
from flows.knowledge.replica import MARK, Replica, read_replica
from flows.knowledge.rows import read_sheet
from flows.knowledge.tsv import Sheet

QUESTIONS = pl.Schema({"qna_id": pl.Int64(), "question": pl.String()})
SUGGESTED = pl.Schema(
    {
        "qna_id": pl.Int64(),
        "cluster_head": pl.String(),
        "question": pl.String(),
        "auto_count": pl.Int64(),
        "user_count": pl.Int64(),
    }
)
PAIRS = pl.Schema({"qna_id": pl.Int64(), "answer": pl.String(), "source": pl.String()})
METADATA = pl.Schema({"qna_id": pl.Int64(), "name": pl.String(), "value": pl.String()})


@dataclass(frozen=True, slots=True, eq=False)
class KnowledgeBase:
    """A knowledge base as its file has it. Nothing changes it; `written` makes bytes.

    questions: `qna_id` int64, `question` text as in the file; in the file's order.
    suggested: `qna_id` int64, `cluster_head`, `question`, `auto_count` and `user_count`
        int64: the suggestions the file carries, one row a text of a cluster.
    pairs: `qna_id` int64, `answer`, `source`, in the order of first appearance.
    metadata: `qna_id` int64, `name`, `value`, of each pair in the file's order.
    settings: whether the service collects suggestions, and the language; None where the
        file does not say.
    has_ids: whether the file numbers its pairs; else the numbers count first
        appearances, and another order of the file's pairs gives other numbers.
    has_suggestions: whether suggestions can be written to the file.
    warnings: what may surprise, in the order of the file.
    document, replica: the file, and the archive it was in.
    """

    questions: pl.DataFrame
    suggested: pl.DataFrame
    pairs: pl.DataFrame
    metadata: pl.DataFrame
    settings: Settings
    has_ids: bool
    has_suggestions: bool
    warnings: tuple[Remark, ...]
    file: str
    document: Sheet | Project
    replica: Replica | None


def read(file: Path) -> KnowledgeBase:
    """Reads a knowledge-base file: TSV, replica ZIP or JSON project.

    All or nothing. Raises: KnowledgeBaseError with every problem of the file.
    """
    findings = Findings(str(file))
    try:
        content = file.read_bytes()
    except OSError as error:
        findings.at().stop(
            f"cannot be opened ({error.strerror})", remedy="Name a readable file."
        )
    replica = read_replica(content, findings) if content.startswith(MARK) else None
    if replica is not None:
        document = _document(replica.sheet, findings.inside(replica.member))
    else:
        document = _document(content, findings)
    pairs = document.pairs.items()
    suggested = [
        (qna_id, head, text, *counts)
        for qna_id, pair in pairs
        for head, texts in pair.suggestions.items()
        for text, counts in texts.items()
    ]
    return KnowledgeBase(
        questions=_frame(document.questions, QUESTIONS),
        suggested=_frame(suggested, SUGGESTED),
        pairs=_frame([(qna_id, p.answer, p.source) for qna_id, p in pairs], PAIRS),
        metadata=_frame(
            [(qna_id, *named) for qna_id, p in pairs for named in p.metadata], METADATA
        ),
        settings=_settings(document, replica),
        has_ids=document.has_ids,
        has_suggestions=document.has_suggestions,
        warnings=tuple(findings.warnings),
        file=str(file),
        document=document,
        replica=replica,
    )


def _settings(document: Sheet | Project, replica: Replica | None) -> Settings:
    if replica is not None:
        return replica.settings
    return document.settings if isinstance(document, Project) else Settings()


def _document(content: bytes, findings: Findings) -> Sheet | Project:
    bare = content
    for encoding in MARKED:
        bare = bare.removeprefix(encoding.mark)
    # In UTF-16 a zero byte stands beside each of these characters.
    if bare[:1000].replace(b"\0", b"").lstrip().startswith(b"{"):
        return read_project(content, findings)
    return read_sheet(content, findings)


def _frame(rows: Sequence[tuple[object, ...]], schema: pl.Schema) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row")
