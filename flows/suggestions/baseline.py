"""What a knowledge-base file changes when it is imported, a second time above all.

Its suggestions become a baseline: the counts of a text are the larger of the file's and
ours. A suggested text that is a question of its pair by now closes as accepted.
Suggestions that the last file carried, read or exported, and that this one neither
carries nor has as questions, become `unknown`: whoever dropped them did not say why.
Those of a pair that is gone become `orphaned`, and its queries wait with them.

A file has no place for rejections, so an older one brings none of them back
(qna-suggestions 1.2). The same file twice changes nothing, and one that cannot be read
changes nothing. Source: document 003, "Cuando se vuelva a importar esta aplicación";
qna-suggestions 5.5.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import polars as pl

from flows import knowledge
from flows.suggestions.decided import is_live, settled, still_open
from flows.suggestions.masking import masked
from flows.suggestions.pool import key_hash
from flows.suggestions.schema import PAIR_AND_KEY, TIME, empty, typed
from flows.suggestions.state import Snapshot, State, StateError, instant
from flows.suggestions.texts import key

READ = ("questions", "baseline", "exported", "reviews", "suggestions", "members")


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import changed.

    base: the knowledge base, with its warnings. is_unchanged: whether it was this very
    file before. added_count, removed_count: questions. accepted_count: suggested texts
    that became questions. unknown, orphaned: ids of suggestions that became it.
    clashes: keys that are questions of several pairs: key, pairs, questions.
    """

    base: knowledge.KnowledgeBase
    is_unchanged: bool
    added_count: int
    removed_count: int
    accepted_count: int
    unknown: tuple[str, ...]
    orphaned: tuple[str, ...]
    clashes: pl.DataFrame


def imported(state: State, file: Path, *, name: str, at: datetime) -> Imported:
    """Takes a knowledge-base file into the state.

    name: of the knowledge base; it is part of every id and cannot change. at: when, for
    suggestions that close by it.
    Raises: KnowledgeBaseError with every problem of the file; StateError when the state
    is of another knowledge base.
    """
    base = knowledge.read(file)
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    with state.alone():
        facts = state.facts()
        if facts.get("name", name) != name:
            raise StateError(
                f"{state.root} is of the knowledge base {facts['name']!r}, not of "
                f"{name!r}; name another folder"
            )
        tables = {table: empty(table) for table in READ}
        old = state.load(*READ) if facts else Snapshot(facts, tables)
        is_unchanged = facts.get("digest") == digest
        made = dict(old.tables)
        if not is_unchanged:
            made |= _compared(old, _questions(base), _baseline(base), instant(at))
            state.commit(
                made,
                {"name": name, "digest": digest},
                knowledge=(file.name, content),
            )
    return Imported(
        base=base,
        is_unchanged=is_unchanged,
        added_count=_beyond(made["questions"], old["questions"]),
        removed_count=_beyond(old["questions"], made["questions"]),
        accepted_count=_beyond(made["reviews"], old["reviews"]),
        unknown=_became("unknown", made, old),
        orphaned=_became("orphaned", made, old),
        clashes=clashes(made["questions"]),
    )


def clashes(questions: pl.DataFrame) -> pl.DataFrame:
    """Keys that are questions of several pairs: key, pairs, questions; sorted."""
    return (
        questions.sort("qna_id", "question")
        .group_by("key", maintain_order=True)
        .agg(
            pairs=pl.col("qna_id").unique(maintain_order=True),
            questions=pl.col("question"),
        )
        .filter(pl.col("pairs").list.len() > 1)
        .sort("key")
    )


def _compared(
    old: Snapshot, questions: pl.DataFrame, baseline: pl.DataFrame, at: datetime
) -> dict[str, pl.DataFrame]:
    """The tables after a file with these questions and suggestions."""
    reviews = _reviews(old, questions, at)
    undecided = still_open(old["members"], reviews, questions)
    undecided = undecided.drop_nulls("suggestion")
    carried = pl.concat(
        [old["baseline"].select(PAIR_AND_KEY), old["exported"]]
    ).unique()
    in_file = undecided.join(baseline, on=PAIR_AND_KEY, how="semi")["suggestion"]
    dropped = undecided.join(carried, on=PAIR_AND_KEY, how="semi")["suggestion"]
    has_pair = pl.col("qna_id").is_null() | pl.col("qna_id").is_in(
        questions["qna_id"].implode()
    )
    is_in_file = pl.col("suggestion").is_in(in_file.implode())
    is_dropped = pl.col("suggestion").is_in(dropped.implode()) & ~is_in_file
    status = (
        pl.when(is_live() & ~has_pair)
        .then(pl.lit("orphaned"))
        .when(is_live() & is_dropped)
        .then(pl.lit("unknown"))
        .when((pl.col("status") == "unknown") & is_in_file)
        .then(pl.lit("open"))
        .otherwise("status")
    )
    suggestions = settled(
        old["suggestions"].with_columns(status=status),
        old["members"],
        reviews,
        questions,
    )
    return {
        "questions": questions,
        "baseline": _with_larger_counts(baseline, old["baseline"]),
        "exported": empty("exported"),
        "reviews": reviews,
        "suggestions": suggestions,
    }


def _reviews(old: Snapshot, questions: pl.DataFrame, at: datetime) -> pl.DataFrame:
    """The reviews, with what the file accepted, without what it takes back."""
    reviews = old["reviews"]
    is_stated = pl.col("source") == "review"
    still = reviews.filter(~is_stated).join(questions, on=PAIR_AND_KEY, how="semi")
    reviews = pl.concat([reviews.filter(is_stated), still])
    shown = old["members"].drop_nulls("suggestion")
    became = (
        still_open(shown, reviews, questions.clear())
        .join(questions, on=PAIR_AND_KEY, how="semi")
        .with_columns(
            key_hash=key_hash(),
            verdict=pl.lit("accepted"),
            source=pl.lit("import"),
            margin_in_force=pl.lit(old.facts.get("margin"), dtype=pl.Float64),
            reviewed_by=pl.lit(None, dtype=pl.String),
            reviewed_at=pl.lit(at, dtype=TIME),
        )
    )
    return pl.concat([reviews, typed(became, "reviews")]).sort("qna_id", "key_hash")


def _with_larger_counts(new: pl.DataFrame, old: pl.DataFrame) -> pl.DataFrame:
    """The new file's suggestions; of the counts of both files the larger hold."""
    place = ["qna_id", "cluster_head", "question"]
    both = new.join(old, on=place, how="left", suffix="_old", maintain_order="left")
    larger = {
        name: pl.max_horizontal(name, f"{name}_old")
        for name in ("auto_count", "user_count")
    }
    return typed(both.with_columns(**larger), "baseline")


def _questions(base: knowledge.KnowledgeBase) -> pl.DataFrame:
    texts = masked(base.questions["question"])
    keyed = base.questions.with_columns(texts["text"].alias("text"))
    return typed(keyed.with_columns(key=key(pl.col("text"))), "questions")


def _baseline(base: knowledge.KnowledgeBase) -> pl.DataFrame:
    texts = masked(base.suggested["question"])
    return typed(
        pl.concat([base.suggested, texts], how="horizontal").with_columns(
            key=key(pl.col("text"))
        ),
        "baseline",
    )


def _beyond(new: pl.DataFrame, old: pl.DataFrame) -> int:
    """How many pairs and keys `new` has beyond `old`."""
    return new.join(old, on=PAIR_AND_KEY, how="anti", nulls_equal=True).height


def _became(
    status: str, new: dict[str, pl.DataFrame], old: Snapshot
) -> tuple[str, ...]:
    """The suggestions that have a status now and had not before."""
    before = old["suggestions"].filter(status=status)
    now = new["suggestions"].filter(status=status)
    return tuple(now.join(before, on="suggestion", how="anti")["suggestion"].sort())
