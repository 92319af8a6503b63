"""What can be reviewed, as a document for machines: `untaken.suggestions/1`.

    schema, knowledge_base, state (what a decisions file must name), as_of, minimum
    in_file        how many texts the knowledge-base file suggested itself
    counts         of the last reading of the logs (`flows.suggestions.signals.Counts`)
    suggestions    id, qna_id, pair and answer (first question and answer of the pair),
                   head, size, auto_count, user_count, users, is_one_user,
                   is_own_assignment, margin, state (new | grown | shown), first_shown,
                   texts: question, auto_count, user_count, also_in (the suggestions
                   that offer it, too); largest first
    gaps           questions that no pair answers: id, head, size, texts (question,
                   count)
    masked         evidence that is never proposed: qna_id, question, count
    held_back      near copies of rejected texts: qna_id, question, count
    conflicts      questions asked for one pair that stand in another: question, qna_ids
    orphans        suggestions whose pair is gone: qna_id, id, head
    reviewed       night by night: night, accepted, rejected
    reasons        why there is nothing, or not more: qna_id (null: all), reason,
                   sentence

It is a function of the state alone. Texts are masked; no user is named.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from flows.knowledge import KnowledgeBase
from flows.suggestions import reasons
from flows.suggestions.listing import READ, Listing, listing
from flows.suggestions.schema import Rules
from flows.suggestions.signals import Counts
from flows.suggestions.state import State

SCHEMA = "untaken.suggestions/1"
Document = dict[str, Any]


def document(state: State, base: KnowledgeBase) -> Document:
    """The document of a state; `base` is its knowledge base.

    Raises: StateError before the first import.
    """
    now = state.load("baseline", *READ)
    found = listing(now)
    pairs = _pairs(base)
    offered = _suggestions(found, pairs)
    return {
        "schema": SCHEMA,
        "knowledge_base": found.name,
        "state": found.mark,
        "as_of": None if found.as_of is None else found.as_of.isoformat(),
        "minimum": now.facts.get("rules", {}).get("minimum", Rules().minimum),
        "counts": dict.fromkeys(Counts.__slots__, 0) | now.facts.get("counts", {}),
        "in_file": now["baseline"].height,
        "suggestions": [one for one in offered if one["qna_id"] is not None],
        "gaps": [_gap(one) for one in offered if one["qna_id"] is None],
        "masked": _withheld(found.withheld, "masked"),
        "held_back": _withheld(found.withheld, "held"),
        "conflicts": [
            {"question": row["text"], "qna_ids": sorted({*row["other_pairs"]})}
            for row in found.withheld.filter(standing="conflict").iter_rows(named=True)
        ],
        "orphans": _orphans(now["suggestions"]),
        "reviewed": _reviewed(now["reviews"]),
        "reasons": [
            {
                "qna_id": row["qna_id"],
                "reason": row["reason"],
                "sentence": reasons.words(row["reason"], row["count"], row["of"]),
            }
            for row in found.reasons.iter_rows(named=True)
        ],
    }


def text(made: Document) -> str:
    """The document in a few lines for a terminal."""
    lines = []
    for one in made["suggestions"]:
        mark = "" if one["state"] == "shown" else f", {one['state']}"
        about = f"pair {one['qna_id']}, {one['size']} queries{mark}"
        lines.append(f"{one['id']}  {one['pair']}  ({about})")
        also = " (also for another pair)"
        lines += [
            f"    {each['question']}{also if each['also_in'] else ''}"
            for each in one["texts"]
        ]
    for one in made["gaps"]:
        lines.append(f"{one['id']}  no pair  ({one['size']} queries)")
        lines += [f"    {each['question']}" for each in one["texts"]]
    if lines:
        return "\n".join(lines)
    if made["as_of"] is None:
        kept = made["in_file"]
        return (
            "nothing to review: no question was read yet; run: untaken suggest JOB"
            + (f". The file's own {kept:,} suggested texts are kept" if kept else "")
        )
    told = [why["sentence"] for why in made["reasons"] if why["qna_id"] is None]
    return "nothing to review: " + ("; ".join(told) or "all is decided")


def _pairs(base: KnowledgeBase) -> dict[int, tuple[str, str]]:
    """First question and answer of each pair."""
    first = base.questions.unique("qna_id", keep="first", maintain_order=True)
    joined = first.join(base.pairs, on="qna_id")
    return {
        row["qna_id"]: (row["question"], row["answer"])
        for row in joined.iter_rows(named=True)
    }


def _suggestions(found: Listing, pairs: dict[int, tuple[str, str]]) -> list[Document]:
    texts = found.texts.filter(~pl.col("is_masked")).sort(
        pl.col("key") == pl.col("head_key"), descending=True, maintain_order=True
    )
    offered = texts.group_by("key").agg(pl.col("suggestion").unique().sort())
    others: dict[str, list[str]] = dict(offered.iter_rows())
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in texts.iter_rows(named=True):
        rows.setdefault(row["suggestion"], []).append(row)
    return [
        _suggestion(one, rows[one["suggestion"]], pairs, others)
        for one in found.suggestions.iter_rows(named=True)
    ]


def _suggestion(
    one: dict[str, Any],
    texts: list[dict[str, Any]],
    pairs: dict[int, tuple[str, str]],
    others: dict[str, list[str]],
) -> Document:
    pair, answer = pairs.get(one["qna_id"], ("", ""))
    margins = [row["margin"] for row in texts if row["margin"] is not None]
    is_new = one["is_fresh"] and one["first_shown_at"] == one["shown_at"]
    return {
        "id": one["suggestion"],
        "qna_id": one["qna_id"],
        "pair": pair,
        "answer": answer,
        "head": one["head"],
        "size": one["size"],
        "auto_count": sum(row["auto_count"] for row in texts),
        "user_count": sum(row["user_count"] for row in texts),
        "users": one["users"],
        "is_one_user": one["is_one_user"],
        "is_own_assignment": bool(margins),
        "margin": min(margins, default=None),
        "state": "new" if is_new else "grown" if one["is_fresh"] else "shown",
        "first_shown": one["first_shown_at"].date().isoformat(),
        "texts": [
            {
                "question": row["text"],
                "auto_count": row["auto_count"],
                "user_count": row["user_count"],
                "also_in": [n for n in others[row["key"]] if n != one["suggestion"]],
            }
            for row in texts
        ],
    }


def _gap(one: Document) -> Document:
    texts = [
        {"question": text["question"], "count": text["auto_count"] + text["user_count"]}
        for text in one["texts"]
    ]
    return {key: one[key] for key in ("id", "head", "size")} | {"texts": texts}


def _withheld(withheld: pl.DataFrame, standing: str) -> list[Document]:
    return [
        {
            "qna_id": row["qna_id"],
            "question": row["text"],
            "count": row["query_count"],
        }
        for row in withheld.filter(standing=standing).iter_rows(named=True)
    ]


def _orphans(suggestions: pl.DataFrame) -> list[Document]:
    rows = suggestions.filter(status="orphaned").sort("qna_id", "suggestion")
    return [
        {"qna_id": row["qna_id"], "id": row["suggestion"], "head": row["head"]}
        for row in rows.iter_rows(named=True)
    ]


def _reviewed(reviews: pl.DataFrame) -> list[Document]:
    """How many texts were accepted and rejected on each day (UTC)."""
    days = (
        reviews.filter(source="review")
        .with_columns(night=pl.col("reviewed_at").dt.date())
        .group_by("night")
        .agg(
            accepted=(pl.col("verdict") == "accepted").sum(),
            rejected=(pl.col("verdict") == "rejected").sum(),
        )
        .sort("night")
    )
    return [
        {**row, "night": row["night"].isoformat()} for row in days.iter_rows(named=True)
    ]
