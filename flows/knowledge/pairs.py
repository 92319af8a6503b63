"""Pairs, what can change in them when a file is written, and the service's limits.

A pair is one answer with its questions; `qna_id` numbers it. The limits are those that
the service documents; a file beyond them is read, with a warning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flows.knowledge.remarks import Findings, Place
from flows.knowledge.suggested import Casing, Suggestions

LARGEST_ID = 2**63 - 1
MOST_ALTERNATES = 300
LONGEST_QUESTION = 1_000
LONGEST_ANSWER = 25_000
LARGEST_TSV_BYTES = 10_000_000
OVER_LIMIT = "It is kept; the service refuses it."


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file says about its knowledge base; None where it says nothing."""

    is_learning_enabled: bool | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """What the questions of one answer share."""

    answer: str
    source: str
    metadata: tuple[tuple[str, str], ...]
    suggestions: Suggestions = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to be written: nothing else differs from the file that was read.

    questions: to add, by pair, in order.
    suggestions: of the pairs whose suggestions changed, whole.
    casing: of the names in rewritten suggestions; None: as the file has them.
    """

    questions: Mapping[int, Sequence[str]]
    suggestions: Mapping[int, Suggestions]
    casing: Casing | None


def tell_long(kind: str, text: str, limit: int, place: Place) -> None:
    """Warns of a text beyond the limit of the service."""
    if len(text) > limit:
        place.warning(
            f"the {kind} has {len(text):,} characters, {limit:,} are allowed",
            remedy=OVER_LIMIT,
            value=text,
        )


def tell_crowded(questions: Sequence[tuple[int, str]], findings: Findings) -> None:
    """Warns of pairs with more alternate questions than the service takes."""
    for qna_id, count in Counter(qna_id for qna_id, _ in questions).items():
        if count - 1 > MOST_ALTERNATES:
            findings.at().warning(
                f"pair {qna_id} has {count - 1:,} alternate questions, "
                f"{MOST_ALTERNATES} are allowed",
                remedy=OVER_LIMIT,
            )
