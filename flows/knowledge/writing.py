"""Writes a knowledge base with what was accepted and what is suggested now.

Accepting saves, exporting publishes: the file that was read is not touched, and what is
not told to change is written as it was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

from flows.errors import UsageError
from flows.knowledge.base import QUESTIONS, SUGGESTED, KnowledgeBase
from flows.knowledge.pairs import Changes
from flows.knowledge.remarks import Findings
from flows.knowledge.suggested import Casing, Suggestions

CASINGS: Mapping[str, Casing | None] = {
    "found": None,
    "camelCase": "camelCase",
    "PascalCase": "PascalCase",
}


def written(
    knowledge_base: KnowledgeBase,
    *,
    added: pl.DataFrame,
    suggested: pl.DataFrame | None = None,
    casing: Literal["found", "camelCase", "PascalCase"] = "found",
) -> bytes:
    """The bytes of the knowledge base's file with new questions and suggestions.

    added: `qna_id` int64, `question`: accepted questions in the order in which they
        follow the last one of their pair; one that the pair already has, to the letter,
        is not added again.
    suggested: columns of `KnowledgeBase.suggested`: all suggestions from now on, of
        every pair; None leaves them as they are. Only a pair whose suggestions differ,
        in whatever order, is written anew, in the order given here.
    casing: of the names in the suggestions that are written anew.

    Raises: KnowledgeBaseError with every question and suggestion that the file cannot
    hold; UsageError for another casing.
    """
    if casing not in CASINGS:
        raise UsageError(f"casing is {casing!r}; choose one of {', '.join(CASINGS)}")
    findings = Findings(knowledge_base.file)
    changes = Changes(
        questions=_new_questions(knowledge_base, added, findings),
        suggestions=_new_suggestions(knowledge_base, suggested, findings),
        casing=CASINGS[casing],
    )
    findings.stop_if_any(outcome="written")
    content = knowledge_base.document.written(changes)
    replica = knowledge_base.replica
    return content if replica is None else replica.written(content)


def _new_questions(
    knowledge_base: KnowledgeBase, added: pl.DataFrame, findings: Findings
) -> dict[int, list[str]]:
    """The questions to add by pair, each once, without those that stand there."""
    document = knowledge_base.document
    present = set(document.questions)
    new: dict[int, list[str]] = {}
    for qna_id, text in added.select(QUESTIONS.names()).iter_rows():
        place = findings.at(column="question")
        if qna_id not in document.pairs:
            _tell_absent(qna_id, findings)
        elif text is None or not text.strip():
            place.problem(
                f"the question to add to pair {qna_id} is empty",
                remedy="Leave it out.",
            )
        elif any(character in text for character in document.unwritable):
            place.problem(
                f"the question to add to pair {qna_id} holds a tab or line break",
                value=text,
                remedy="No cell of this file can hold it; put a space in its place.",
            )
        elif (qna_id, text) not in present:
            present.add((qna_id, text))
            new.setdefault(qna_id, []).append(text)
    return new


def _new_suggestions(
    knowledge_base: KnowledgeBase, suggested: pl.DataFrame | None, findings: Findings
) -> dict[int, Suggestions]:
    """The suggestions of the pairs where they differ from what the file has."""
    if suggested is None:
        return {}
    if suggested.height and not knowledge_base.has_suggestions:
        findings.at().problem(
            "the file has no column for suggestions",
            remedy="Write it without them, or to a file of a later generation.",
        )
    asked: dict[int, Suggestions] = {}
    for qna_id, head, text, *counts in suggested.select(SUGGESTED.names()).iter_rows():
        auto, user = counts
        asked.setdefault(qna_id, {}).setdefault(head, {})[text] = (auto, user)
    pairs = knowledge_base.document.pairs
    for qna_id in sorted(asked.keys() - pairs.keys()):
        _tell_absent(qna_id, findings)
    return {
        qna_id: asked.get(qna_id, {})
        for qna_id, pair in pairs.items()
        if asked.get(qna_id, {}) != pair.suggestions
    }


def _tell_absent(qna_id: object, findings: Findings) -> None:
    findings.at(column="qna_id").problem(
        "the file has no such pair",
        value=str(qna_id),
        remedy="Leave out what belongs to pairs that are gone.",
    )
