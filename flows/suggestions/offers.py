"""From groups of texts to suggestions: counts, heads, size and who asked.

A group's size is the number of queries for its open texts, and for texts of it that
were accepted before, once the group was shown (document 003: five similar queries;
qna-next 1, counting rule C). A masked text is evidence: it stands beside the others,
counts for nothing and is never proposed. The head is the engine's, where that is an
open text; else the most frequent open one (ties: nearest to the engine's head, shorter,
code points). A group without an open text is no group.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from flows.suggestions.pool import POOL_KEY, users
from flows.suggestions.schema import GROUP, PAIR_AND_KEY, QUERIES, TABLES, Rules

# What an engine returns.
MEMBERS = pl.Schema(
    {
        name: TABLES["members"][name]
        for name in (*GROUP, "key", "similarity", "margin", "is_accepted")
    }
)
OPEN = ~pl.col("is_accepted") & ~pl.col("is_masked")


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups with their counts.

    rows: columns of table `members` but `suggestion`; sorted by group and key.
    groups: one row a group: `GROUP`, head, open_size, accepted_size, users.
    """

    rows: pl.DataFrame
    groups: pl.DataFrame


def weighed(members: pl.DataFrame, pool: pl.DataFrame) -> Groups:
    """Groups with the counts that the pool holds for their texts.

    members: columns of `MEMBERS`. pool: as `flows.suggestions.pool.grouped` makes it,
    whole: accepted texts have their counts there too.
    """
    sources = _sources(members).join(pool, on=POOL_KEY, nulls_equal=True)
    counted = sources.group_by("pair", "head_key", "key").agg(
        pl.col("is_accepted", "similarity", "margin").first(),
        pl.col("text").sort_by(QUERIES, "text", descending=[True, False]).first(),
        pl.col("is_masked").any(),
        pl.col("auto_count", "user_count", "unknown_users").sum(),
        pl.col("first_asked_at").min(),
        pl.col("last_asked_at").max(),
        known_users=pl.col("known_users").explode().drop_nulls().unique(),
    )
    rows = _headed(
        counted.rename({"pair": "qna_id"})
        .filter(OPEN.any().over(GROUP))
        .with_columns(users=users())
    )
    return Groups(
        rows.select(name for name in TABLES["members"] if name != "suggestion").sort(
            *GROUP, "key"
        ),
        _summed(rows),
    )


def may_show(rules: Rules) -> pl.Expr:
    """Whether a group is shown: columns of `Groups.groups` and `was_shown`."""
    enough = pl.col("open_size") >= rules.minimum
    if not rules.is_strict:
        counts = pl.col("open_size") + pl.col("accepted_size") >= rules.minimum
        enough = enough | (pl.col("was_shown") & counts)
    return enough & (pl.col("users") >= rules.minimum_users)


def size(rules: Rules) -> pl.Expr:
    """The size of a group: columns of `Groups.groups` and `was_shown`."""
    if rules.is_strict:
        return pl.col("open_size")
    accepted = pl.when(pl.col("was_shown")).then(pl.col("accepted_size")).otherwise(0)
    return pl.col("open_size") + accepted


def _sources(members: pl.DataFrame) -> pl.DataFrame:
    """Which row of the pool each member's counts come from, once for each source."""
    has_pair = pl.col("qna_id").is_not_null()
    # A text without a pair of its own is where the engine put it, or where it was
    # accepted.
    is_guessed = has_pair & (pl.col("margin").is_not_null() | pl.col("is_accepted"))
    one_group = members.sort(
        *("similarity", *GROUP, "margin"),
        descending=[True, False, False, True],
        nulls_last=True,
    )
    pairs = one_group.unique(PAIR_AND_KEY, keep="first", maintain_order=True)
    named = pairs.with_columns(pair="qna_id", is_gap=pl.col("qna_id").is_null())
    return pl.concat(
        [named, named.filter(is_guessed).with_columns(qna_id=pl.lit(None, pl.Int64))]
    )


def _headed(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with each group called by its head, and the head's text."""
    length = pl.col("text").str.len_chars()
    heads = (
        rows.filter(OPEN)
        .with_columns(is_head=pl.col("key") == pl.col("head_key"), count=QUERIES)
        .sort(
            *("is_head", "count", "similarity", length, "text"),
            descending=[True, True, True, False, False],
        )
        .unique(GROUP, keep="first", maintain_order=True)
        .select(*GROUP, head_is="key", head="text")
    )
    return rows.join(heads, on=GROUP, nulls_equal=True).with_columns(head_key="head_is")


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    """One row a group."""
    asked = rows.filter(OPEN)
    known = (
        asked.select(*GROUP, pl.col("known_users"))
        .explode("known_users", empty_as_null=True)
        .group_by(GROUP)
        .agg(known=pl.col("known_users").drop_nulls().n_unique())
    )
    sizes = rows.group_by(GROUP).agg(
        pl.col("head").first(),
        open_size=QUERIES.filter(OPEN).sum(),
        accepted_size=QUERIES.filter("is_accepted").sum(),
        unknown=pl.col("unknown_users").filter(OPEN).sum(),
    )
    joined = sizes.join(known, on=GROUP, nulls_equal=True)
    total = pl.col("known").cast(pl.Int64) + pl.col("unknown")
    return joined.with_columns(users=total).drop("known", "unknown").sort(GROUP)
