"""Nights of suggestions on labelled questions: what the quality bench runs.

A label is a pair: its first three texts are its questions, the others are asked over
seven nights in a random order. Every night the engine groups what was asked and is
open, groups that are large enough are shown, and a reviewer accepts a text when its
label is the pair. A text without a pair of its own is offered twice at most.

Labels are parted into halves: half 0 is for tuning, half 1 for the report. They are
ranked by size, ties by a hash of their names, and taken in the order 0 1 1 0, so that
both halves have large ones. Source of the protocol: qna-next section 2; of the bot's
simulated answers: section 5.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from flows.suggestions import lexical
from flows.suggestions.assign import middles
from flows.suggestions.margins import START, margin_from_reviews
from flows.suggestions.texts import key
from flows.suggestions.vectors import lexical_vectors

DATA = Path(__file__).parents[1] / "golden" / "data" / "questions"
QUESTIONS, NIGHTS, SMALLEST, OFFERS = 3, 7, 5, 2
NO_LABEL = "oos"
CONFUSED_WITH = 5  # nearest wrong pairs, among which a bot errs
# File, language, texts of each label.
SETS = {
    "BANKING77": ("banking77", None, 20),
    "CLINC150": ("clinc150", None, 12),
    "home es": ("ha_intents_es_pt_en", "es", None),
    "home pt": ("ha_intents_es_pt_en", "pt", None),
    "home en": ("ha_intents_es_pt_en", "en", None),
    "library es": ("library_bot_es_en", "es", None),
    "library en": ("library_bot_es_en", "en", None),
}
NULL = pl.lit(None, pl.Int64)
REVIEWS = {
    "night": pl.Int64,
    "qna_id": pl.Int64,
    "key": pl.String,
    "margin": pl.Float64,
    "margin_in_force": pl.Float64,
    "is_right": pl.Boolean,
    "is_accepted": pl.Boolean,
}


@dataclass(frozen=True)
class Case:
    """questions: qna_id, question. asked: columns of a pool and label (null: none)."""

    questions: pl.DataFrame
    asked: pl.DataFrame

    @property
    def pairs(self) -> int:
        return self.questions["qna_id"].n_unique()

    @property
    def ceiling(self) -> float:
        """Queries of pairs that are asked five times or more, of those of all pairs."""
        sizes = self.asked.drop_nulls("label").group_by("label").len()["len"]
        return sizes.filter(sizes >= SMALLEST).sum() / sizes.sum()


@dataclass(frozen=True)
class Rules:
    """How nights go. aims_at: the share that the margin is set for from reviews."""

    settings: lexical.Settings = field(default_factory=lexical.Settings)
    counts_accepted: bool = True
    reviewer_errs: float = 0.0
    kept: float = 1.0
    aims_at: float | None = None


def halves(sizes: dict[str, int]) -> dict[str, int]:
    """The half of each label."""
    ranked = sorted(sizes, key=lambda label: (-sizes[label], digest(label)))
    return {label: (place + 1) // 2 % 2 for place, label in enumerate(ranked)}


def digest(label: str) -> str:
    return hashlib.blake2b(label.encode(), digest_size=8).hexdigest()


def case(name: str, *, half: int | None, skip: int = 0, each: int | None = 0) -> Case:
    """A set's labels of one half, or of both without the first `skip` texts of each.

    each: how many texts of a label, None for all, by default as `SETS` says.
    """
    file, language, usual = SETS[name]
    each = usual if each == 0 else each
    rows = pl.read_parquet(DATA / f"{file}.parquet")
    if language is not None:
        rows = rows.filter(lang=language)
    rows = rows.select("intent", "text", key=key(pl.col("text"))).unique(
        "key", keep="first", maintain_order=True
    )
    loose = rows.filter(intent=NO_LABEL)[0 if half == 0 else 1 :: 2]
    rows = rows.filter(pl.col("intent") != NO_LABEL)
    of = halves(dict(rows["intent"].value_counts().iter_rows()))
    labels = sorted(label for label in of if half is None or of[label] == half)
    numbers = dict(zip(labels, range(1, len(labels) + 1), strict=True))
    place = pl.int_range(pl.len()).over("intent") - skip
    rows = rows.filter(pl.col("intent").is_in(labels)).with_columns(
        label=pl.col("intent").replace_strict(numbers, return_dtype=pl.Int64),
        place=place,
    )
    rows = rows.filter(pl.col("place") >= 0)
    if each is not None:
        rows = rows.filter(pl.col("place") < each)
    questions = rows.filter(pl.col("place") < QUESTIONS)
    later = rows.filter(pl.col("place") >= QUESTIONS).drop("place")
    asked = pl.concat([later, loose.with_columns(label=NULL)])
    return Case(
        questions.select(qna_id="label", question="text"),
        asked.select(
            *("key", "text", "label"),
            qna_id=NULL,
            kind=pl.lit("unassigned"),
            bot_qna_id=NULL,
            is_masked=False,
            auto_count=pl.lit(1, pl.Int64),
            user_count=pl.lit(0, pl.Int64),
        ),
    )


def answered(case: Case, *, right: float, seed: int) -> Case:
    """The case with a bot's answer to every query, so often the right one.

    It errs to one of the nearest wrong pairs, in proportion to the similarity; a query
    of no pair gets such an answer, too.
    """
    rng = np.random.default_rng(seed)
    known = case.questions.select("qna_id", key=key(pl.col("question")))
    keys = sorted({*case.asked["key"], *known["key"]})
    place = {name: row for row, name in enumerate(keys)}
    rows = lexical_vectors(keys)
    of = known["qna_id"].to_numpy() - 1
    middle = middles(rows[[place[k] for k in known["key"]]], of, pairs=case.pairs)
    similar = (rows[[place[k] for k in case.asked["key"]]] @ middle.T).toarray()
    answers = []
    for label, scores in zip(case.asked["label"], similar, strict=True):
        if label is not None and rng.random() < right:
            answers.append(label)
            continue
        if label is not None:
            scores[label - 1] = -1.0
        nearest = np.argsort(-scores, kind="stable")[:CONFUSED_WITH]
        weights = np.maximum(scores[nearest], 1e-6).astype(np.float64)
        answers.append(int(rng.choice(nearest, p=weights / weights.sum())) + 1)
    return replace(case, asked=case.asked.with_columns(bot_qna_id=pl.Series(answers)))


def run(case: Case, rules: Rules, seed: int) -> pl.DataFrame:
    """All reviews of seven nights: columns of `REVIEWS`."""
    rng = np.random.default_rng([seed, 1])
    nights = np.random.default_rng(seed).permutation(case.asked.height) % NIGHTS + 1
    asked = case.asked.with_columns(night=pl.Series(nights))
    asked = asked.filter(pl.Series(rng.random(asked.height) < rules.kept))
    reviews = pl.DataFrame(schema=REVIEWS)
    settings = rules.settings
    if rules.aims_at is not None:
        settings = replace(settings, margin=START)
    for night in range(1, NIGHTS + 1):
        if rules.aims_at is not None:
            margin = margin_from_reviews(
                reviews, night=night, in_force=settings.margin, aims_at=rules.aims_at
            )
            settings = replace(settings, margin=margin)
        today = asked.filter(pl.col("night") <= night)
        shown = showing(case, today, reviews, replace(rules, settings=settings))
        right = (shown["label"] == shown["qna_id"]).fill_null(value=False)
        errs = pl.Series(
            rng.random(shown.height) < rules.reviewer_errs, dtype=pl.Boolean
        )
        made = shown.with_columns(
            night=pl.lit(night, pl.Int64),
            margin_in_force=pl.lit(settings.margin),
            is_right=right,
            is_accepted=right ^ errs,
        )
        reviews = pl.concat([reviews, made.select(*REVIEWS)])
    return reviews


def showing(
    case: Case, asked: pl.DataFrame, reviews: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """What a night shows: qna_id, head_key, key, margin and label."""
    rejected = reviews.filter(~pl.col("is_accepted"))
    often = rejected.group_by("key").len().filter(pl.col("len") >= OFFERS)
    members = lexical.engine(rules.settings).cluster(
        asked,
        case.questions,
        reviews.filter("is_accepted"),
        rejected,
        closed=often.select("key", qna_id=NULL),
    )
    group = ["qna_id", "head_key"]
    is_open = ~pl.col("is_accepted")
    open_size, size = is_open.sum().over(group), pl.len().over(group)
    is_shown = open_size >= SMALLEST
    if rules.counts_accepted:
        is_shown |= (size > open_size) & (size >= SMALLEST)
    return members.filter(is_shown & is_open).join(
        asked.select("key", "label"), on="key", maintain_order="left"
    )


def share_and_recall(case: Case, reviews: pl.DataFrame) -> tuple[float, float]:
    """Accepted of those shown; accepted and right, of all queries of pairs."""
    accepted = reviews.filter("is_accepted")
    share = accepted.height / reviews.height if reviews.height else float("nan")
    return share, accepted["is_right"].sum() / case.asked["label"].count()
