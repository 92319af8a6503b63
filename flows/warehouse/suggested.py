"""The tables of suggestions, from the list that their last run left.

suggestions/suggestions.json    document `untaken.suggestions/1`
                                (`flows.suggestions.document`)
"""

from __future__ import annotations

from typing import Any

import polars as pl

LIST = ("suggestions", "suggestions.json")
SCHEMAS = {
    "suggestions": {
        "suggestion": pl.String,
        "qna_id": pl.Int64,
        "pair": pl.String,
        "head": pl.String,
        "size": pl.Int64,
        "auto_count": pl.Int64,
        "user_count": pl.Int64,
        "users": pl.Int64,
        "is_one_user": pl.Boolean,
        "is_own_assignment": pl.Boolean,
        "margin": pl.Float64,
        "state": pl.String,
        "first_shown": pl.String,
    },
    "suggestion_reviews": {
        "night": pl.String,
        "accepted": pl.Int64,
        "rejected": pl.Int64,
    },
}
DATES = {"suggestions": "first_shown", "suggestion_reviews": "night"}


def tables(document: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """Frames of the columns of `SCHEMAS` by table, with dates as such."""
    rows = {
        "suggestions": [{**n, "suggestion": n["id"]} for n in document["suggestions"]],
        "suggestion_reviews": document["reviewed"],
    }
    return {
        name: pl.DataFrame(
            [{key: row[key] for key in schema} for row in rows[name]], schema=schema
        ).with_columns(pl.col(DATES[name]).str.to_date())
        for name, schema in SCHEMAS.items()
    }
