"""The pool: queries grouped by pair and key, and which of their texts may be offered.

A text stands in the first place that fits:

    orphaned   its pair is gone from the knowledge base
    known      it is a question of its own pair; without a pair, of any
    conflict   it is a question of another pair: told, offered to nobody
    accepted   it was accepted, for whichever pair
    rejected   it was rejected for this pair: for good
    used_up    it has no pair of its own, and enough pairs rejected it (`Rules.offers`)
    masked     it holds personal data: evidence, never an alternate question
    open       everything else

The counts of a text that the knowledge-base file already suggests are the larger of the
file's and ours, since both may have counted the same queries; they are never added.
Source: qna-suggestions 5.1 and 5.5.
"""

from __future__ import annotations

import polars as pl
import polars_hash as plh

from flows.suggestions.schema import PAIR_AND_KEY, QUERIES, Rules
from flows.suggestions.state import Snapshot

POOL_KEY = ["qna_id", "is_gap", "key"]
# What the engine is given; `kind` tells texts without a pair apart.
POOL = [
    *("qna_id", "key", "text", "is_masked", "auto_count", "user_count", "users"),
    *("kind", "bot_qna_id", "first_asked_at", "last_asked_at"),
]
NO_USERS = pl.lit([], dtype=pl.List(pl.UInt64))


def grouped(signals: pl.LazyFrame, baseline: pl.DataFrame) -> pl.DataFrame:
    """One row for each pair, kind of no pair, and key; sorted.

    signals: table `signals`. baseline: table `baseline`.
    Returns: `POOL_KEY`, text (the most frequent spelling of the key; ties: shorter,
    then by code points), is_masked, auto_count, user_count, known_users (hashes),
    unknown_users (queries without a user), bot_qna_id, first_asked_at, last_asked_at.
    """
    is_user = pl.col("kind") == "user"
    marked = signals.with_columns(is_gap=pl.col("kind") == "gap")
    counted = (
        marked.group_by(POOL_KEY)
        .agg(
            is_masked=pl.col("is_masked").any(),
            auto_count=(~is_user).sum().cast(pl.Int64),
            user_count=is_user.sum().cast(pl.Int64),
            known_users=pl.col("user").drop_nulls().unique(),
            unknown_users=pl.col("user").null_count().cast(pl.Int64),
            first_asked_at=pl.col("asked_at").min(),
            last_asked_at=pl.col("asked_at").max(),
        )
        .join(_spellings(signals), on="key", how="left")
        .join(_answers(marked), on=POOL_KEY, how="left", nulls_equal=True)
        .collect()
    )
    return _with_baseline(counted, _imported(baseline)).sort(POOL_KEY)


def standing(pool: pl.DataFrame, state: Snapshot, rules: Rules) -> pl.DataFrame:
    """The pool with `standing` (see above) and the pairs whose question a text is.

    state: tables questions and reviews.
    """
    questions, reviews = state["questions"], state["reviews"]
    owners = questions.unique(PAIR_AND_KEY).group_by("key")
    rejected = reviews.filter(verdict="rejected")
    refusals = rejected.filter(pl.col("qna_id").is_not_null()).group_by("key_hash")
    has_pair = pl.col("qna_id").is_not_null()
    is_guessed = ~has_pair & ~pl.col("is_gap")
    is_used_up = is_guessed & (pl.col("refusal_count") >= rules.offers)
    is_own = ~has_pair | pl.col("other_pairs").list.contains(pl.col("qna_id"))
    places = {
        "orphaned": has_pair & ~pl.col("qna_id").is_in(questions["qna_id"].implode()),
        "known": pl.col("other_pairs").is_not_null() & is_own,
        "conflict": pl.col("other_pairs").is_not_null(),
        "accepted": pl.col("key_hash").is_in(
            reviews.filter(verdict="accepted")["key_hash"].implode()
        ),
        "rejected": pl.col("is_rejected") & ~is_guessed,
        "used_up": is_used_up,
        "masked": pl.col("is_masked"),
        "open": pl.lit(value=True),
    }
    stands = [pl.when(test).then(pl.lit(name)) for name, test in places.items()]
    return (
        pool.with_columns(key_hash=key_hash())
        .join(owners.agg(other_pairs=pl.col("qna_id").sort()), on="key", how="left")
        .join(refusals.agg(refusal_count=pl.len()), on="key_hash", how="left")
        .join(
            rejected.select("qna_id", "key_hash", is_rejected=True),
            on=["qna_id", "key_hash"],
            how="left",
            nulls_equal=True,
        )
        .with_columns(standing=pl.coalesce(stands))
        .drop("is_rejected", "refusal_count")
        .sort(POOL_KEY)
    )


def for_engine(pool: pl.DataFrame) -> pl.DataFrame:
    """Rows of the pool as an engine takes them: columns of `POOL`, in their order."""
    is_user = pl.col("user_count") > 0
    given = pl.when(is_user).then(pl.lit("user")).otherwise(pl.lit("auto"))
    kind = (
        pl.when(pl.col("qna_id").is_not_null())
        .then(given)
        .when(pl.col("is_gap"))
        .then(pl.lit("gap"))
        .otherwise(pl.lit("unassigned"))
    )
    return pool.with_columns(kind=kind, users=users()).select(POOL)


def users() -> pl.Expr:
    """Distinct users of a row of the pool; each query without one counts as one."""
    return pl.col("known_users").list.len().cast(pl.Int64) + pl.col("unknown_users")


def key_hash(column: str = "key") -> pl.Expr:
    """XXH64 (seed 0) of a key; it outlives the text when that is deleted."""
    hashed: pl.Expr = plh.col(column).nchash.xxhash64()
    return hashed


def _spellings(signals: pl.LazyFrame) -> pl.LazyFrame:
    """The most frequent spelling of each key."""
    counted = signals.group_by("key", "text").agg(count=pl.len())
    return _first_spelling(counted, "key", "text").select("key", "text")


def _first_spelling(rows: pl.LazyFrame, of: str | list[str], text: str) -> pl.LazyFrame:
    """Of each group the row with the highest count; ties: shorter, code points."""
    length = pl.col(text).str.len_chars()
    ordered = rows.sort("count", length, text, descending=[True, False, False])
    return ordered.unique(of, keep="first", maintain_order=True)


def _answers(marked: pl.LazyFrame) -> pl.LazyFrame:
    """The bot's most frequent answer to each group; ties: the least."""
    answered = marked.filter(pl.col("bot_qna_id").is_not_null())
    counted = answered.group_by(*POOL_KEY, "bot_qna_id").agg(count=pl.len())
    ordered = counted.sort("count", "bot_qna_id", descending=[True, False])
    return ordered.unique(POOL_KEY, keep="first", maintain_order=True).drop("count")


def _imported(baseline: pl.DataFrame) -> pl.DataFrame:
    """What the knowledge-base file suggests, as rows of the pool."""
    # The same question under two heads was counted for both; two spellings of one key
    # were asked by different queries.
    questions = baseline.group_by(*PAIR_AND_KEY, "question", "text").agg(
        pl.col("auto_count", "user_count").max(), pl.col("is_masked").any()
    )
    counted = questions.lazy().with_columns(count=QUERIES)
    spelled = _first_spelling(counted, PAIR_AND_KEY, "text").collect()
    summed = questions.group_by(PAIR_AND_KEY).agg(
        pl.col("auto_count", "user_count").sum(), pl.col("is_masked").any()
    )
    return summed.join(
        spelled.select(*PAIR_AND_KEY, "text"), on=PAIR_AND_KEY
    ).with_columns(is_gap=pl.lit(value=False))


def _with_baseline(counted: pl.DataFrame, imported: pl.DataFrame) -> pl.DataFrame:
    """The groups with what the knowledge-base file suggests."""
    both = counted.join(
        imported,
        on=POOL_KEY,
        how="full",
        coalesce=True,
        suffix="_file",
        nulls_equal=True,
    )
    larger = {
        name: pl.max_horizontal(name, f"{name}_file")
        for name in ("auto_count", "user_count", "is_masked")
    }
    known = pl.col("known_users").list.len().cast(pl.Int64).fill_null(0)
    beyond = pl.col("auto_count_file") + pl.col("user_count_file") - known
    return both.with_columns(
        pl.col("known_users").fill_null(NO_USERS),
        text=pl.coalesce("text", "text_file"),
        unknown_users=pl.max_horizontal(
            pl.col("unknown_users").fill_null(0), beyond.fill_null(0)
        ),
        **larger,
    ).select(counted.columns)
