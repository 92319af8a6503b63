"""Carries suggestions from one cycle to the next.

    open       shown, and at least one text of it is undecided
    below      its group fell below the gate; it waits
    accepted, rejected, closed
               nothing of it is undecided (`flows.suggestions.decided`)
    absorbed   it went into another, named in `absorbed_into`
    unknown    the knowledge-base file dropped it: not known why. It comes back when it
               has grown by half or has a new head
    orphaned   its pair is gone from the knowledge base
    gone       its group fell apart: its texts were deleted, too old or moved away

A suggestion is shown by the cycle in which it first passes the gate, and again by one
in which it has grown by half since or has another head: `shown_at`. In between it stays
in the list without being news.
"""

from __future__ import annotations

from datetime import datetime

import polars as pl

from flows.suggestions.decided import is_live, settled
from flows.suggestions.identities import born, inherited
from flows.suggestions.offers import Groups, may_show, size
from flows.suggestions.pool import key_hash
from flows.suggestions.schema import (
    GROUP,
    GROWTH,
    PAIR_AND_KEY,
    QUERIES,
    TIME,
    Rules,
    typed,
)
from flows.suggestions.state import Snapshot

SHOWN = ["first_shown_at", "shown_at", "shown_size", "shown_head"]


def carried(
    old: Snapshot, groups: Groups, *, rules: Rules, as_of: datetime
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Tables `suggestions` and `members` after a cycle.

    old: tables suggestions, members, reviews and questions.
    """
    before = settled(
        old["suggestions"], old["members"], old["reviews"], old["questions"]
    )
    texts = groups.rows.select(*GROUP, "key", count=QUERIES)
    ids = inherited(_texts(old), texts)
    judged = _judged(groups.groups, ids.groups, before, rules)
    shown = _with_ids(judged, old)
    lives = _lives(shown, as_of)
    targets = ids.absorbed.join(
        shown.select(*GROUP, absorbed_into="suggestion"), on=GROUP, nulls_equal=True
    ).filter(pl.col("absorbed_into").is_not_null())
    ended = _ended(before, lives, targets, old["questions"])
    suggestions = pl.concat([lives, ended]).sort("suggestion")
    members = groups.rows.join(
        shown.select(*GROUP, "suggestion"), on=GROUP, how="left", nulls_equal=True
    )
    orphans = suggestions.filter(status="orphaned").select("suggestion")
    kept = old["members"].join(orphans, on="suggestion", how="semi")
    both = pl.concat([typed(members, "members"), kept])
    return suggestions, both.sort(*GROUP, "key", "suggestion")


def _texts(old: Snapshot) -> pl.DataFrame:
    """The texts of every suggestion: those of its group, and those accepted from it."""
    known = old["suggestions"].select("suggestion", "first_shown_at", "absorbed_into")
    accepted = old["reviews"].filter(verdict="accepted")
    ways = ["suggestion", *PAIR_AND_KEY]
    texts = pl.concat([old["members"].select(ways), accepted.select(ways)])
    texts = texts.unique(PAIR_AND_KEY, keep="first", maintain_order=True)
    return _followed(texts, known).join(
        known.drop("absorbed_into"), on="suggestion", how="inner"
    )


def _followed(texts: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The texts with the suggestion that theirs went into, over any number of steps."""
    step = known.select("suggestion", "absorbed_into")
    while True:
        moved = texts.join(step, on="suggestion", how="left")
        if moved["absorbed_into"].null_count() == moved.height:
            return texts
        target = pl.coalesce("absorbed_into", "suggestion")
        texts = moved.with_columns(suggestion=target).drop("absorbed_into")


def _judged(
    groups: pl.DataFrame, ids: pl.DataFrame, before: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """The groups with what they were, their size, status and whether they are news."""
    joined = groups.join(ids, on=GROUP, how="left", nulls_equal=True)
    kept = before.select("suggestion", "status", *SHOWN)
    known = joined.join(kept, on="suggestion", how="left")
    has_id = pl.col("suggestion").is_not_null()
    was_shown = has_id | (pl.col("accepted_size") > 0)
    sized = known.with_columns(was_shown=was_shown, head_hash=key_hash("head_key"))
    sized = sized.with_columns(size=size(rules), passes=may_show(rules))
    has_changed = (
        ~has_id
        | (pl.col("size") >= GROWTH * pl.col("shown_size"))
        | (pl.col("head_hash") != pl.col("shown_head"))
    )
    was_unknown = (pl.col("status") == "unknown").fill_null(value=False)
    waits = was_unknown & ~(pl.col("passes") & has_changed)
    status = (
        pl.when(waits)
        .then(pl.lit("unknown"))
        .when(pl.col("passes"))
        .then(pl.lit("open"))
        .when(has_id)
        .then(pl.lit("below"))
    )
    return sized.with_columns(status=status).with_columns(
        is_news=has_changed & (pl.col("status") == "open")
    )


def _with_ids(judged: pl.DataFrame, old: Snapshot) -> pl.DataFrame:
    """The groups, those shown for the first time with an id of their own."""
    is_new = pl.col("suggestion").is_null() & (pl.col("status") == "open")
    new = judged.filter(is_new).select(GROUP).sort(GROUP)
    taken = set(old["suggestions"]["suggestion"])
    ids = pl.Series("born", list(born(old.name, new.iter_rows(), taken)), pl.String)
    named = judged.join(new.with_columns(ids), on=GROUP, how="left", nulls_equal=True)
    return named.with_columns(suggestion=pl.coalesce("suggestion", "born"))


def _lives(shown: pl.DataFrame, as_of: datetime) -> pl.DataFrame:
    """Rows of table `suggestions` for the groups that have an id."""
    at = pl.lit(as_of, dtype=TIME)
    news = {
        "shown_at": at,
        "shown_size": pl.col("size"),
        "shown_head": pl.col("head_hash"),
    }
    latest = {
        name: pl.when("is_news").then(value).otherwise(pl.col(name))
        for name, value in news.items()
    }
    rows = shown.filter(pl.col("suggestion").is_not_null()).with_columns(
        first_shown_at=pl.coalesce("first_shown_at", at),
        is_one_user=pl.col("users") == 1,
        absorbed_into=pl.lit(None, dtype=pl.String),
        **latest,
    )
    return typed(rows, "suggestions")


def _ended(
    before: pl.DataFrame,
    lives: pl.DataFrame,
    targets: pl.DataFrame,
    questions: pl.DataFrame,
) -> pl.DataFrame:
    """Rows of table `suggestions` for those that no group carries on."""
    rest = before.join(lives, on="suggestion", how="anti")
    absorbed = rest.drop("absorbed_into").join(
        targets.select("suggestion", "absorbed_into"), on="suggestion"
    )
    other = rest.join(targets, on="suggestion", how="anti")
    has_pair = pl.col("qna_id").is_null() | pl.col("qna_id").is_in(
        questions["qna_id"].implode()
    )
    is_orphan = pl.col("status") == "orphaned"
    fell = is_live() | (is_orphan & has_pair)
    status = pl.when(fell).then(pl.lit("gone")).otherwise("status")
    ended = other.with_columns(status=status)
    forgotten = [
        pl.when(pl.col("status") != "gone").then(pl.col(name)).alias(name)
        for name in ("head_key", "head")
    ]
    return pl.concat(
        [
            typed(absorbed.with_columns(status=pl.lit("absorbed")), "suggestions"),
            typed(ended.with_columns(forgotten), "suggestions"),
        ]
    )
