"""The list of suggestions that can be reviewed now, from the state alone.

It holds the whole open set, largest first, whatever was shown when. A text that is
offered to several pairs stands under each, with the others named beside it: accepting
it for one closes it for all.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from flows.suggestions.decided import still_open
from flows.suggestions.schema import PAIR_AND_KEY, QUERIES
from flows.suggestions.state import Snapshot, State

READ = ("suggestions", "members", "reviews", "questions", "withheld", "reasons")


@dataclass(frozen=True, slots=True)
class Listing:
    """What can be reviewed, and why there is not more.

    name: the knowledge base's. as_of: the last cycle, None before the first. mark: what
    a decisions file must name.
    suggestions: columns of table `suggestions`, query_count (of its undecided texts),
        text_count, is_fresh (shown by the last cycle); largest first.
    texts: columns of table `members` and other_pairs (where else the text is offered);
        by suggestion in that order, most asked first. Masked ones are evidence.
    unknown: suggestions that the file dropped; they can be reviewed, too.
    withheld, reasons: the tables.
    """

    name: str
    as_of: datetime | None
    mark: str
    suggestions: pl.DataFrame
    texts: pl.DataFrame
    unknown: pl.DataFrame
    withheld: pl.DataFrame
    reasons: pl.DataFrame


def listed(state: State) -> Listing:
    """What can be reviewed now. Raises: StateError before the first import."""
    return listing(state.load(*READ))


def listing(state: Snapshot) -> Listing:
    """What can be reviewed in a snapshot with the tables `READ`."""
    undecided = still_open(state["members"], state["reviews"], state["questions"])
    counts = undecided.group_by("suggestion").agg(
        query_count=QUERIES.sum(), text_count=pl.len().cast(pl.Int64)
    )
    reviewable = (
        state["suggestions"]
        .join(counts, on="suggestion")
        .with_columns(is_fresh=pl.col("shown_at").eq(pl.lit(state.as_of)))
        .sort("size", "suggestion", descending=[True, False])
    )
    shown = reviewable.filter(status="open")
    return Listing(
        name=state.name,
        as_of=state.as_of,
        mark=mark(state, undecided),
        suggestions=shown,
        texts=_texts(state["members"], undecided, shown),
        unknown=reviewable.filter(status="unknown"),
        withheld=state["withheld"],
        reasons=state["reasons"],
    )


def mark(state: Snapshot, undecided: pl.DataFrame) -> str:
    """Name of the knowledge base, identity of the state, digest of undecided texts."""
    rows = undecided.select("suggestion", *PAIR_AND_KEY).drop_nulls("suggestion")
    text = rows.sort(rows.columns).write_ndjson()
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"{state.name}/{state.identity}/{digest}"


def _texts(
    members: pl.DataFrame, undecided: pl.DataFrame, shown: pl.DataFrame
) -> pl.DataFrame:
    """Undecided texts and masked evidence of the suggestions shown."""
    order = shown.select("suggestion").with_row_index("order")
    evidence = members.filter("is_masked")
    texts = pl.concat([undecided, evidence]).join(order, on="suggestion")
    offered = texts.filter(~pl.col("is_masked"), pl.col("qna_id").is_not_null())
    pairs = offered.group_by("key").agg(pairs=pl.col("qna_id").unique().sort())
    others = pl.col("pairs").list.set_difference(pl.concat_list("qna_id"))
    return (
        texts.join(pairs, on="key", how="left")
        .with_columns(other_pairs=others.list.sort())
        .sort(
            *("order", "is_masked", QUERIES, "margin", "key"),
            descending=[False, False, True, True, False],
            nulls_last=True,
        )
        .drop("order", "pairs")
    )
