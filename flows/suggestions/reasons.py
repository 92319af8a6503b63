"""Why nothing is suggested, in words and as data.

    learning_off      the knowledge base's settings switch learning off
    no_queries        nothing was asked
    unknown_pairs     queries or feedback named `count` pairs that there are not
    no_near_scores    queries were read, none of which names this pair
    below_minimum     the largest group holds `count` of the `of` queries it needs
    few_users         the largest group that is large enough has `count` of `of` users
    unreviewed        shown before, then gone from the file; back when it has grown
    no_pair_fits      texts that no pair fits with a sufficient margin
    known, conflict, accepted, rejected, held, used_up, masked, orphaned
                      where the texts stand (`flows.suggestions.pool`); `count` of the
                      `of` queries

Every reason that holds is told, the one that is nearest to a suggestion first. They
are told for all pairs together when none has a suggestion, and for each pair without
one. People who get no suggestion and no reason guess (qna-suggestions 2).
"""

from __future__ import annotations

import polars as pl

from flows.suggestions.schema import QUERIES, Rules, typed

SENTENCES = {
    "learning_off": "learning is switched off in the settings of the knowledge base",
    "no_queries": "no query was read",
    "unknown_pairs": "answers and records of pairs that the knowledge base does not "
    "have: {count:,}",
    "no_near_scores": "none of the queries read came near: {of:,}",
    "below_minimum": "the largest group holds {count:,} of {of:,} similar queries",
    "few_users": "the largest group comes from {count:,} of {of:,} users",
    "unreviewed": "shown before and gone from the file since: {queries}",
    "known": "already known: {queries}",
    "accepted": "accepted before: {queries}",
    "conflict": "a question of another pair: {queries}",
    "rejected": "rejected before: {queries}",
    "held": "nearly the same as a rejected text: {queries}",
    "used_up": "rejected for other pairs: {queries}",
    "masked": "holding personal data: {queries}",
    "orphaned": "of pairs that are gone from the knowledge base: {queries}",
    "no_pair_fits": "fitting no pair clearly: {queries}",
}
ORDER = (
    *("learning_off", "no_queries", "below_minimum", "few_users", "unreviewed"),
    *("known", "accepted", "conflict", "rejected", "held", "used_up", "masked"),
    *("orphaned", "no_pair_fits", "unknown_pairs", "no_near_scores"),
)


def words(reason: str, count: int, of: int) -> str:
    """A reason as a sentence without its full stop."""
    noun = "query" if of == 1 else "queries"
    among = f"{of:,}" if count == of else f"{count:,} of {of:,}"
    return SENTENCES[reason].format(count=count, of=of, queries=f"{among} {noun}")


def found(
    pool: pl.DataFrame,
    groups: pl.DataFrame,
    questions: pl.DataFrame,
    *,
    rules: Rules,
    read: tuple[int, int],
) -> pl.DataFrame:
    """The reasons of a cycle: table `reasons`.

    pool: with `standing`, of which `no_pair_fits` and `held` are the engine's. groups:
    one row a group: `GROUP`, open_size, users, status. questions: table `questions`.
    read: how many queries were read, whether they came near a pair or not; and how many
    pairs they named that there are not.
    """
    read_count, _ = read
    is_shown = pl.col("status") == "open"
    pairs = questions.select("qna_id").unique()
    silent = pairs.join(groups.filter(is_shown), on="qna_id", how="anti")
    parts = [_standings(pool, "qna_id"), _group_reasons(groups, rules, "qna_id")]
    named = pl.concat(parts)
    told = silent.join(named, on="qna_id", how="left").with_columns(
        pl.col("reason").fill_null("no_near_scores"),
        pl.col("count").fill_null(0),
        pl.col("of").fill_null(read_count),
        scope=pl.lit("pair"),
    )
    return _ordered([told, *_overall(pool, groups, rules, read)])


def switched_off(questions: pl.DataFrame) -> pl.DataFrame:
    """The reasons where learning is switched off."""
    pairs = questions.select("qna_id", scope=pl.lit("pair")).unique()
    overall = pl.DataFrame({"qna_id": [None], "scope": ["all"]}, schema=pairs.schema)
    why = [pl.lit("learning_off").alias("reason"), pl.lit(0).alias("count")]
    both = pl.concat([overall, pairs]).with_columns(*why, pl.lit(0).alias("of"))
    return _ordered([both])


def _overall(
    pool: pl.DataFrame, groups: pl.DataFrame, rules: Rules, read: tuple[int, int]
) -> list[pl.DataFrame]:
    """The reasons for all pairs together; none when something is suggested."""
    if groups.filter(pl.col("status") == "open").height:
        return []
    scope = {"scope": pl.lit("all"), "qna_id": pl.lit(None, pl.Int64)}
    read_count, unknown = read
    rows = [("unknown_pairs", unknown, unknown)] if unknown else []
    if pool.is_empty() and not unknown:
        rows.append(("no_near_scores" if read_count else "no_queries", 0, read_count))
    named = pl.Schema({"reason": pl.String(), "count": pl.Int64(), "of": pl.Int64()})
    told = [
        _standings(pool, "scope").select(named.names()).cast(named),
        _group_reasons(groups, rules, "scope").select(named.names()).cast(named),
        pl.DataFrame(rows, schema=named, orient="row"),
    ]
    return [pl.concat(told).with_columns(**scope)]


def _standings(pool: pl.DataFrame, by: str) -> pl.DataFrame:
    """How many queries stand where, beside those of all texts of the pair."""
    counted_in = pool.with_columns(scope=pl.lit("all"))
    counts = counted_in.group_by(by, "standing").agg(count=QUERIES.sum())
    return (
        counts.with_columns(of=pl.col("count").sum().over(by))
        .filter(pl.col("standing") != "open", pl.col("count") > 0)
        .select(by, "count", "of", reason="standing")
    )


def _group_reasons(groups: pl.DataFrame, rules: Rules, by: str) -> pl.DataFrame:
    """What the groups of a pair lack."""
    is_large = pl.col("open_size") >= rules.minimum
    largest = (
        groups.with_columns(scope=pl.lit("all"))
        .group_by(by)
        .agg(
            below_minimum=pl.col("open_size").max(),
            few_users=pl.col("users").filter(is_large).max(),
            unreviewed=pl.col("open_size").filter(pl.col("status") == "unknown").max(),
        )
    )
    needed = {"below_minimum": rules.minimum, "few_users": rules.minimum_users}
    return (
        largest.unpivot(index=by, variable_name="reason", value_name="count")
        .with_columns(
            of=pl.col("reason").replace_strict(
                needed, default=pl.col("count"), return_dtype=pl.Int64
            )
        )
        .filter(
            pl.col("count").is_not_null(),
            (pl.col("count") < pl.col("of")) | (pl.col("reason") == "unreviewed"),
        )
        .select(by, "count", "of", "reason")
    )


def _ordered(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Overall reasons first, then by pair; in the order of `ORDER`."""
    told = pl.concat([typed(part, "reasons") for part in parts])
    place = range(len(ORDER))
    rank = pl.col("reason").replace_strict(ORDER, place, return_dtype=pl.Int8)
    return told.sort("scope", "qna_id", rank)
