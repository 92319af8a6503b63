"""Candidates against each other: places, who is certainly worse, declared differences.

Places follow from the improvements, which hold together (`flows.offpolicy.ranking`).
Declared differences are a family of their own; they are shown beside, not mixed in.
"""

from __future__ import annotations

from typing import Any

from flows.reports import answer as rule
from flows.reports import looks
from flows.reports.entries import Document
from flows.reports.phrases import confidence, listed

LOGGED = "the logging policy"
MOST_NAMED = 5
MOST_TOLD = 6
EARN = "the other earns more", "the first earns more"


def places(document: Document) -> dict[str, str]:
    """Of each name the places it may have; empty where nothing is certain."""
    ranking = document["ranking"] or []
    if not any(rank["worse_than"] for rank in ranking):
        return {}
    return {rank["candidate"]: _span(rank) for rank in ranking}


def _span(rank: dict[str, Any]) -> str:
    best, worst = rank["best_place"], rank["worst_place"]
    return f"{best}" if best == worst else f"{best} to {worst}"


def certainties(document: Document) -> list[str]:
    """Who is certainly worse than whom, in sentences."""
    ranking, candidates = document["ranking"], document["candidates"]
    if len(candidates) == 1 or not any(
        rule.has_ends(c["improvement"]) for c in candidates
    ):
        return []
    if ranking is None:
        return ["No candidate is ranked: these intervals do not hold together."]
    worse = [rank for rank in ranking if rank["worse_than"]]
    if not worse:
        return [
            "No candidate is certainly worse than another, or than the logging policy."
        ]
    if len(worse) > MOST_TOLD:
        return [f"{len(worse)} of {len(ranking)} are certainly worse than another."]
    return [_worse(rank) for rank in worse]


def _worse(rank: dict[str, Any]) -> str:
    better = sorted(rank["worse_than"], key=lambda name: name == rule.LOGGING)
    names = [LOGGED if name == rule.LOGGING else str(name) for name in better]
    who = rank["candidate"]
    who = LOGGED.capitalize() if who == rule.LOGGING else who
    return f"{who} is certainly worse than {listed(names, MOST_NAMED)}."


def label(pair: Document) -> str:
    """A compared pair in words."""
    return f"{pair['candidate']} over {pair['other']}"


def together(document: Document) -> str:
    """What confidence means when several candidates are looked at."""
    candidates = document["candidates"]
    declared = confidence(document["evaluation"]["confidence"])
    count = len(candidates)
    if count == 1:
        return ""
    if not looks.is_adjusted(document):
        return (
            f"Each interval holds by itself with {declared}; nothing is corrected for "
            f"looking at {count} candidates at once."
        )
    every = "both" if count == rule.PAIR else f"all {count}"
    pairs = ""
    if document["differences"]:
        pairs = " The declared differences are a further family."
    return (
        f"Since the start, the improvements of {every} candidates hold together with "
        f"{declared}, and so do their values: each candidate uses a share of the "
        f"error, the first to appear the largest.{pairs}"
    )


def luck(document: Document, count: int) -> str:
    """What confidence means when several segments are looked at."""
    if count == 1:
        return ""
    declared = confidence(document["evaluation"]["confidence"])
    if looks.is_adjusted(document):
        return (
            "The intervals of all segments and candidates hold together with "
            f"{declared}; that makes each of them wider than it would be alone."
        )
    return (
        f"Each interval holds by itself with {declared}; of {count} looked "
        "at together, the most striking one owes part of it to luck."
    )
