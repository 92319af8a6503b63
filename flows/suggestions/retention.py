"""Forgets a user: the queries, what follows from them, texts that nobody else asked.

The user's signals go from the state; the counts of every suggestion are taken anew
from what is left, suggestions that fall below the gate leave the list, and texts that
nobody else asked leave with them. Of a rejection of such a text only the hash stays, so
that it never comes back. The events stay known: reading the same logs again brings
nothing back. What was accepted is content of the knowledge base by now, and what a
knowledge-base file carries is the file's: both stay.

Groups stay as the last cycle made them until the next. Age is the other way out of the
state: `Rules.retention_days`, applied by each cycle (`flows.suggestions.folding`).
Source: qna-suggestions 5.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from flows.errors import UsageError
from flows.suggestions.decided import is_live
from flows.suggestions.offers import MEMBERS, may_show, size, weighed
from flows.suggestions.pool import grouped
from flows.suggestions.schema import GROUP, PAIR_AND_KEY, QUERIES, Rules, typed
from flows.suggestions.state import Snapshot, State

READ = ("suggestions", "members", "reviews", "questions", "baseline", "withheld")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went and what stays.

    query_count: events removed. text_count: keys that nobody else asked.
    fallen: suggestions that left the list. accepted_count: accepted texts that nobody
    else asked, which stay as questions of the knowledge base.
    """

    query_count: int
    text_count: int
    fallen: tuple[str, ...]
    accepted_count: int


def forget_user(
    state: State,
    user_id: str,
    *,
    hashed: Callable[[pl.Expr, bytes], pl.Expr],
    rules: Rules,
) -> Forgotten:
    """Removes what a user asked.

    user_id: as the logs have it. hashed: the function that made `user` of the signals
    (`flows.suggestions.users.user_hash`). rules: those of the last cycle.
    Raises: UsageError for an empty id.
    """
    if not user_id:
        raise UsageError("the user id is empty; name the user whose queries are to go")
    with state.alone():
        secret = state.user_key()
        user = pl.select(hashed(pl.lit(user_id), secret)).item()
        is_theirs = pl.col("user").eq_missing(pl.lit(user, dtype=pl.UInt64))
        signals = state.scan("signals")
        theirs = signals.filter(is_theirs).select("event", "key").collect()
        left = signals.filter(~is_theirs).collect()
        old = state.load(*READ)
        lost = _lost(theirs, left, old)
        pool = grouped(left.lazy(), old["baseline"])
        spelled = (
            pool.select("key", "text").sort("key", "text").unique("key", keep="first")
        )
        suggestions, members = recounted(old, pool, rules)
        reviews = _scrubbed(old["reviews"], lost, spelled)
        state.commit(
            {
                "signals": left,
                "suggestions": _renamed(suggestions, lost, spelled),
                "members": members,
                "reviews": reviews,
                "withheld": _withheld(old["withheld"], pool, spelled),
            }
        )
    return Forgotten(
        query_count=theirs["event"].n_unique(),
        text_count=lost.len(),
        fallen=_fallen(old["suggestions"], suggestions),
        accepted_count=reviews.filter(verdict="accepted")
        .filter(pl.col("key").is_in(lost.implode()))
        .height,
    )


def _lost(theirs: pl.DataFrame, left: pl.DataFrame, old: Snapshot) -> pl.Series:
    """Keys that nobody else asked, and that no file has."""
    kept = [left, old["questions"], old["baseline"]]
    known = pl.concat([frame.select("key") for frame in kept])
    return theirs.select("key").unique().join(known, on="key", how="anti")["key"]


def recounted(
    old: Snapshot, pool: pl.DataFrame, rules: Rules
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Suggestions and members with the counts of a pool, and the status they give.

    old: tables suggestions and members. An open suggestion that falls below the gate
    waits; one that may be reviewed and has no group is gone.
    """
    members = old["members"]
    groups = weighed(members.select(MEMBERS.names()), pool)
    ids = members.select(*PAIR_AND_KEY, "suggestion")
    rows = groups.rows.join(ids, on=PAIR_AND_KEY, how="left", nulls_equal=True)
    named = rows.select(*GROUP, "suggestion").unique(GROUP).drop_nulls("suggestion")
    shown = groups.groups.join(named, on=GROUP, nulls_equal=True)
    now = shown.with_columns(was_shown=pl.lit(value=True)).select(
        "suggestion",
        now_key="head_key",
        now_head="head",
        now_size=size(rules),
        now_users="users",
        passes=may_show(rules),
    )
    joined = old["suggestions"].join(now, on="suggestion", how="left")
    is_gone = pl.col("now_key").is_null() & is_live()
    status = (
        pl.when(is_gone)
        .then(pl.lit("gone"))
        .when((pl.col("status") == "open") & ~pl.col("passes"))
        .then(pl.lit("below"))
        .otherwise("status")
    )
    counts = {
        name: pl.when(is_gone).then(0).otherwise(pl.coalesce(f"now_{name}", name))
        for name in ("size", "users")
    }
    suggestions = joined.with_columns(
        status=status,
        head_key=pl.coalesce("now_key", "head_key"),
        head=pl.coalesce("now_head", "head"),
        **counts,
    ).with_columns(is_one_user=pl.col("users") == 1)
    return typed(suggestions, "suggestions"), typed(rows, "members").sort(*GROUP, "key")


def _renamed(
    suggestions: pl.DataFrame, lost: pl.Series, spelled: pl.DataFrame
) -> pl.DataFrame:
    """The suggestions without heads that are lost, the others as spelled now."""
    stays = ~pl.col("head_key").is_in(lost.implode())
    now = spelled.rename({"key": "head_key", "text": "now"})
    joined = suggestions.join(now, on="head_key", how="left", maintain_order="left")
    return joined.with_columns(
        head_key=pl.when(stays).then("head_key"),
        head=pl.when(stays).then(pl.coalesce("now", "head")),
    )


def _scrubbed(
    reviews: pl.DataFrame, lost: pl.Series, spelled: pl.DataFrame
) -> pl.DataFrame:
    """The reviews; of a rejected text that is lost its hash is left."""
    is_rejected = pl.col("verdict") == "rejected"
    stays = ~is_rejected | ~pl.col("key").is_in(lost.implode())
    now = spelled.rename({"text": "now"})
    joined = reviews.join(now, on="key", how="left", maintain_order="left")
    text = pl.when(is_rejected).then(pl.coalesce("now", "text")).otherwise("text")
    return joined.with_columns(
        key=pl.when(stays).then("key"), text=pl.when(stays).then(text)
    )


def _withheld(
    withheld: pl.DataFrame, pool: pl.DataFrame, spelled: pl.DataFrame
) -> pl.DataFrame:
    """What is told apart, with the counts of what is left."""
    counts = pool.group_by(PAIR_AND_KEY).agg(now=QUERIES.sum())
    guessed = counts.filter(pl.col("qna_id").is_null()).select("key", guessed="now")
    return (
        withheld.drop("text")
        .join(spelled, on="key")
        .join(counts, on=PAIR_AND_KEY, how="left", nulls_equal=True)
        .join(guessed, on="key", how="left")
        .with_columns(query_count=pl.coalesce("now", "guessed"))
        .filter(pl.col("query_count").is_not_null())
        .sort("standing", "qna_id", "key")
    )


def _fallen(old: pl.DataFrame, new: pl.DataFrame) -> tuple[str, ...]:
    """Suggestions that were open and are not."""
    left = new.filter(status="open")
    fallen = old.filter(status="open").join(left, on="suggestion", how="anti")
    return tuple(fallen["suggestion"].sort())
