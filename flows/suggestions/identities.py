"""Which group of today is which suggestion of yesterday.

Groups are made anew in every cycle; a suggestion is the same one as long as its texts
mostly are. Texts of both are compared within a pair, each weighing as many queries as
it has today; a text that left (decided, deleted, too old) speaks for neither side.

    moves     an old suggestion moves to the group that holds at least half of it, the
              larger part when it was split (ties: larger group, then the head's key)
    inherits  a group keeps the id of the oldest suggestion that moved to it, when
              they and the group share at least half of what either holds
    absorbed  the others that moved there, and all of them where the group is new

With one suggestion moving, this is a Jaccard index of at least one half, weighted by
counts. Ids are born with the first showing: the first 12 hexadecimal digits of the
SHA-256 of the knowledge base's name, the pair and the head's key; where that id exists,
it is salted until it does not. No id is ever given twice. Source: qna-suggestions 5.4.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from flows.suggestions.schema import GROUP, PAIR_AND_KEY

DIGITS = 12


@dataclass(frozen=True, slots=True)
class Inherited:
    """groups: `GROUP`, suggestion. absorbed: suggestion, `GROUP` that it went to."""

    groups: pl.DataFrame
    absorbed: pl.DataFrame


def inherited(old: pl.DataFrame, new: pl.DataFrame) -> Inherited:
    """The ids that groups keep, and those that end in them.

    old: suggestion, first_shown_at, qna_id, key; one row a text. new: `GROUP`, key,
    count; one row a text. Groups without an id to keep are absent from the result.
    """
    weights = new.group_by(GROUP).agg(whole=pl.col("count").sum())
    shared = (
        old.join(new, on=PAIR_AND_KEY, nulls_equal=True)
        .group_by("suggestion", "first_shown_at", *GROUP)
        .agg(shared=pl.col("count").sum())
        .with_columns(left=pl.col("shared").sum().over("suggestion"))
        .join(weights, on=GROUP, nulls_equal=True)
    )
    largest = [pl.col("shared").neg(), pl.col("whole").neg(), pl.col("head_key")]
    moved = (
        shared.filter(2 * pl.col("shared") >= pl.col("left"), pl.col("left") > 0)
        .sort("suggestion", *largest)
        .unique("suggestion", keep="first", maintain_order=True)
    )
    together = pl.col("shared").sum().over(GROUP)
    either = pl.col("whole") + pl.col("left").sum().over(GROUP) - together
    judged = moved.with_columns(is_same=2 * together >= either).sort(
        *GROUP, "first_shown_at", "suggestion"
    )
    is_oldest = pl.int_range(pl.len()).over(GROUP) == 0
    keeps = judged.with_columns(keeps=pl.col("is_same") & is_oldest)
    return Inherited(
        keeps.filter("keeps").select(*GROUP, "suggestion"),
        keeps.filter(~pl.col("keeps")).select("suggestion", *GROUP),
    )


def born(
    name: str, heads: Iterable[tuple[int | None, str]], taken: set[str]
) -> Iterator[str]:
    """A new id for each pair and head key, in their order.

    name: the knowledge base's. taken: every id ever given.
    """
    given = set(taken)
    for qna_id, head_key in heads:
        salt = 0
        while (made := _digest(name, qna_id, head_key, salt)) in given:
            salt += 1
        given.add(made)
        yield made


def _digest(name: str, qna_id: int | None, head_key: str, salt: int) -> str:
    parts = [name, qna_id, head_key, *([salt] if salt else [])]
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
