"""Names and types of the tables that the suggestions keep, and the rules they follow.

Times are instants in UTC with microseconds. A null `qna_id` means no pair: what no
answer fits. Counts are queries: `auto_count` from near scores, `user_count` from
feedback. Every table is sorted by its first columns, so its bytes follow from its rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from flows.errors import UsageError

TIME = pl.Datetime("us", "UTC")

# What logs say, one row an event and pair; `flows.suggestions.signals` makes it.
SIGNALS = pl.Schema(
    {
        "event": pl.UInt64(),
        "asked_at": TIME,
        "text": pl.String(),
        "key": pl.String(),
        "is_masked": pl.Boolean(),
        "user": pl.UInt64(),
        "kind": pl.String(),
        "qna_id": pl.Int64(),
        "bot_qna_id": pl.Int64(),
    }
)

TABLES: dict[str, pl.Schema] = {
    # `kept_from`: `asked_at`, or for an undated signal the cycle that took it in.
    "signals": pl.Schema({**SIGNALS, "kept_from": TIME}),
    # Every event that was ever taken in, those deleted since among them.
    "events": pl.Schema({"event": pl.UInt64()}),
    # The questions of the knowledge base, in the order of its file.
    "questions": pl.Schema(
        {"qna_id": pl.Int64(), "question": pl.String(), "key": pl.String()}
    ),
    # The suggestions its file carries, in the order of the file; `text` is `question`
    # with its masks.
    "baseline": pl.Schema(
        {
            "qna_id": pl.Int64(),
            "cluster_head": pl.String(),
            "question": pl.String(),
            "text": pl.String(),
            "key": pl.String(),
            "is_masked": pl.Boolean(),
            "auto_count": pl.Int64(),
            "user_count": pl.Int64(),
        }
    ),
    # What the last export carried beyond that.
    "exported": pl.Schema({"qna_id": pl.Int64(), "key": pl.String()}),
    # One row a pair and text that was decided: `source` is `review`, or `import` for a
    # suggestion that became a question of the file. `key_hash` stays when a text is
    # deleted. `margin`: of a text whose pair the engine found; `margin_in_force`: least
    # one of the cycle that it was reviewed after.
    "reviews": pl.Schema(
        {
            "qna_id": pl.Int64(),
            "key_hash": pl.UInt64(),
            "key": pl.String(),
            "text": pl.String(),
            "verdict": pl.String(),
            "source": pl.String(),
            "suggestion": pl.String(),
            "margin": pl.Float64(),
            "margin_in_force": pl.Float64(),
            "reviewed_by": pl.String(),
            "reviewed_at": TIME,
        }
    ),
    "suggestions": pl.Schema(
        {
            "suggestion": pl.String(),
            "qna_id": pl.Int64(),
            "head_key": pl.String(),
            "head": pl.String(),
            "status": pl.String(),
            "size": pl.Int64(),
            "users": pl.Int64(),
            "is_one_user": pl.Boolean(),
            "first_shown_at": TIME,
            "shown_at": TIME,
            "shown_size": pl.Int64(),
            "shown_head": pl.UInt64(),
            "absorbed_into": pl.String(),
        }
    ),
    # The texts of every group; without a suggestion where a group was never shown.
    "members": pl.Schema(
        {
            "qna_id": pl.Int64(),
            "head_key": pl.String(),
            "key": pl.String(),
            "suggestion": pl.String(),
            "text": pl.String(),
            "auto_count": pl.Int64(),
            "user_count": pl.Int64(),
            "users": pl.Int64(),
            "similarity": pl.Float64(),
            "margin": pl.Float64(),
            "is_accepted": pl.Boolean(),
            "is_masked": pl.Boolean(),
            "first_asked_at": TIME,
            "last_asked_at": TIME,
        }
    ),
    # Texts that are not offered, each with the reason; questions of other pairs say
    # whose in `other_pairs`.
    "withheld": pl.Schema(
        {
            "standing": pl.String(),
            "qna_id": pl.Int64(),
            "key": pl.String(),
            "text": pl.String(),
            "query_count": pl.Int64(),
            "other_pairs": pl.List(pl.Int64()),
        }
    ),
    # Why nothing is suggested: `scope` is `all` or `pair`.
    "reasons": pl.Schema(
        {
            "scope": pl.String(),
            "qna_id": pl.Int64(),
            "reason": pl.String(),
            "count": pl.Int64(),
            "of": pl.Int64(),
        }
    ),
}

PAIR_AND_KEY = ["qna_id", "key"]
GROUP = ["qna_id", "head_key"]
QUERIES = pl.col("auto_count") + pl.col("user_count")

# A shown suggestion that nobody reviewed is news again from this growth on
# (qna-suggestions 5.5).
GROWTH = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a suggestion needs to be shown.

    minimum: how many similar open queries a first showing needs, from 1 (003: five).
    minimum_users: how many distinct users they need; a query without a user counts as
        one of its own.
    is_strict: whether texts accepted before never count towards the minimum.
    offers: how many pairs a text without a pair of its own is offered to, one after the
        other.
    retention_days: after how many days a query is forgotten; None: never.
    """

    minimum: int = 5
    minimum_users: int = 1
    is_strict: bool = False
    offers: int = 2
    retention_days: int | None = None

    def __post_init__(self) -> None:
        for name in ("minimum", "minimum_users", "offers", "retention_days"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} is {value}; choose 1 or more")


def empty(name: str) -> pl.DataFrame:
    """The table `name` without rows."""
    return pl.DataFrame(schema=TABLES[name])


def typed(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The columns of `frame` that the table `name` has, in its order and types."""
    schema = TABLES[name]
    return frame.select(schema.names()).cast(schema)
