"""Takes signals into the state, each event once.

An event that was taken in before adds nothing, whatever it says now: a rerun over the
same files, or over more of them, counts no query twice. Within one batch an event that
comes with several contents (the same id for two questions) counts with the least of
them, feedback before near scores; one row is kept for each pair that the event names.

Signals after `as_of` wait for a later cycle. Those older than `retention_days` are
dropped, yet their events stay known, so that old files bring nothing back. An undated
signal ages from the cycle that took it in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import polars as pl
import polars_hash as plh

from flows.suggestions.schema import SIGNALS

# An event counts with its least content: feedback, then by text and what stands beside.
CONTENT = ["rank", "text_hash"]
ORDER = ["event", *CONTENT, "qna_id", "asked_at", "user", "bot_qna_id", "is_masked"]
PLACE = ["event", "qna_id"]
KINDS = ("user", "auto", "unassigned", "gap")


@dataclass(frozen=True, slots=True)
class Folded:
    """Signals and events that the state holds now, and what became of the new ones.

    new_count, repeated_count, later_count: events of this batch that are new, that were
    known, and that wait for a later cycle.
    """

    signals: pl.DataFrame
    events: pl.DataFrame
    new_count: int
    repeated_count: int
    later_count: int


def fold(
    kept: pl.LazyFrame,
    events: pl.DataFrame,
    new: pl.LazyFrame,
    *,
    as_of: datetime,
    retention_days: int | None,
) -> Folded:
    """The signals `kept` with what is new among `new`, sorted by event and pair.

    kept: table `signals`. events: table `events`. new: columns of `SIGNALS`.
    """
    instant = pl.lit(as_of, dtype=SIGNALS["asked_at"])
    batch = new.select(SIGNALS.names()).cast(SIGNALS)
    is_due = pl.col("asked_at").is_null() | (pl.col("asked_at") <= instant)
    due = batch.filter(is_due)
    fresh = due.join(events.lazy(), on="event", how="anti").collect()
    seen = due.select(pl.col("event").n_unique()).collect().item()
    later = batch.filter(~is_due).select(pl.col("event").n_unique()).collect().item()
    counted = fresh["event"].unique().sort()
    dated = _once(fresh).with_columns(
        kept_from=pl.coalesce("asked_at", instant),
    )
    signals = kept.merge_sorted(dated.lazy(), key="event")
    if retention_days is not None:
        oldest = instant - timedelta(days=retention_days)
        signals = signals.filter(pl.col("kept_from") >= oldest)
    return Folded(
        signals=signals.collect(),
        events=pl.concat([events["event"], counted]).sort().to_frame(),
        new_count=counted.len(),
        repeated_count=seen - counted.len(),
        later_count=later,
    )


def _once(fresh: pl.DataFrame) -> pl.DataFrame:
    """One content for each event, one row for each pair it names; sorted."""
    rank = pl.col("kind").replace_strict(KINDS, range(len(KINDS)), return_dtype=pl.Int8)
    text_hash: pl.Expr = plh.col("text").nchash.xxhash64()
    ordered = fresh.with_columns(rank=rank, text_hash=text_hash).sort(ORDER)
    is_other = pl.col("event") != pl.col("event").shift()
    is_first = is_other.fill_null(value=True)
    least = [
        pl.when(is_first).then(pl.col(name)).forward_fill() == pl.col(name)
        for name in CONTENT
    ]
    chosen = ordered.filter(pl.all_horizontal(least))
    place = [pl.col(name).eq_missing(pl.col(name).shift()) for name in PLACE]
    is_first = pl.int_range(pl.len()) == 0
    repeats = pl.all_horizontal(place) & ~is_first
    return chosen.filter(~repeats).select(SIGNALS.names())
