"""What users asked, in the report of a night: how much waits, and what is first.

The report is handed around, so it withholds suggestions whose queries come from one
user, and says how many. The review page beside it shows all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flows.reports.entries import Document
from flows.reports.numbers import percent
from flows.reports.phrases import counted, day_in_words
from flows.reports.tables import Table
from flows.reports.words import Cell

MOST = 10
PAGE = "../suggestions/review.html"  # from the folder of reports
STATES = {"new": "new", "grown": "grown", "shown": ""}


def told(made: Mapping[str, Any] | None) -> Document | None:
    """The part of the report document; None without suggestions.

    as_of; waiting, pairs: suggestions and their pairs; withheld: of one user only;
    largest: pair, head, size, state of at most ten others; gaps: groups of questions
    that no pair answers; accepted, rejected: reviewed texts; reasons: sentences.
    """
    if made is None:
        return None
    shared = [one for one in made["suggestions"] if not one["is_one_user"]]
    return {
        "knowledge_base": made["knowledge_base"],
        "as_of": made["as_of"],
        "waiting": len(made["suggestions"]),
        "pairs": len({one["qna_id"] for one in made["suggestions"]}),
        "withheld": len(made["suggestions"]) - len(shared),
        "largest": [
            {key: one[key] for key in ("pair", "head", "size", "state")}
            for one in shared[:MOST]
        ],
        "gaps": len(made["gaps"]),
        "accepted": sum(night["accepted"] for night in made["reviewed"]),
        "rejected": sum(night["rejected"] for night in made["reviewed"]),
        "reasons": [
            why["sentence"] for why in made["reasons"] if why["qna_id"] is None
        ],
    }


def sentences(document: Document) -> list[str]:
    """What there is to review, and what became of earlier suggestions."""
    found = document["suggestions"]
    if found is None:
        return []
    waits = counted(found["waiting"], "suggestion")
    asked = f"What was asked up to {day_in_words(found['as_of'][:10])}:"
    lines = [
        f"{asked} {waits} of alternate questions for "
        f"{counted(found['pairs'], 'pair')} "
        f"{'waits' if found['waiting'] == 1 else 'wait'} for review."
        if found["waiting"]
        else f"{asked} nothing to review, "
        f"{'; '.join(found['reasons']) or 'all is decided'}."
    ]
    if found["gaps"]:
        verb = "asks" if found["gaps"] == 1 else "ask"
        groups = counted(found["gaps"], "group")
        lines.append(f"{groups} of users {verb} what no pair answers.")
    if found["withheld"]:
        lines.append(
            f"{counted(found['withheld'], 'suggestion')} from one user alone "
            f"{'is' if found['withheld'] == 1 else 'are'} on the review page only."
        )
    if reviewed := found["accepted"] + found["rejected"]:
        share = percent(found["accepted"] / reviewed)
        lines.append(f"Of {counted(reviewed, 'reviewed text')} {share} were accepted.")
    return lines


def largest(document: Document) -> Table | None:
    """The largest suggestions; None when there are none to show."""
    found = document["suggestions"]
    if found is None or not found["largest"]:
        return None
    rows = [
        (one["head"], _about(one), [Cell(f"{one['size']:,}", "")])
        for one in found["largest"]
    ]
    return Table(
        "Suggestions",
        "What users asked in words that no pair holds, the largest groups first: their "
        "most asked text, and the pair it may belong to.",
        ("Question", "Queries"),
        rows,
    )


def _about(one: Document) -> str:
    state = STATES[one["state"]]
    return f"{one['pair']}{f', {state}' if state else ''}"
