"""One cycle: new signals in, groups made anew, suggestions carried on.

    fold       every event once (`folding`)
    pool       the open texts of all time (`pool`)
    engine     groups all of them anew: groups that grow by arrival depend on its order
               (qna-suggestions 4.5)
    carry      what each group was before, and what is shown of it (`carrying`)
    reasons    why there is not more (`reasons`)

Running a cycle again, with the same inputs and `as_of`, gives the same tables to the
byte. The state never goes back: an `as_of` before the last one counts as that one.
Source: document 003; qna-suggestions 5.1 and 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import polars as pl

from flows.suggestions import reasons
from flows.suggestions.carrying import carried
from flows.suggestions.engine import Engine
from flows.suggestions.folding import fold
from flows.suggestions.listing import READ, Listing, listing
from flows.suggestions.offers import MEMBERS, weighed
from flows.suggestions.pool import for_engine, grouped, standing
from flows.suggestions.schema import (
    GROUP,
    PAIR_AND_KEY,
    QUERIES,
    Rules,
    typed,
)
from flows.suggestions.state import Snapshot, State, instant

# Where a text stands that the engine sees: accepted ones weigh as often as asked.
GIVEN = ("open", "masked", "accepted")
# Where a text stands that is told apart because it is not offered.
WITHHELD = ("conflict", "held", "used_up", "masked", "orphaned")
IS_GUESSED = pl.col("qna_id").is_null() & ~pl.col("is_gap")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a cycle did.

    new_count, repeated_count, later_count: events of this batch that were new, known
    before, and later than `as_of`. read_count: queries read. is_learning: whether
    learning is switched on; if not, nothing was taken in. listing: what can be
    reviewed now, and why there is not more.
    """

    new_count: int
    repeated_count: int
    later_count: int
    read_count: int
    is_learning: bool
    listing: Listing


def cycle(  # noqa: PLR0913 - each is of one run and by name
    state: State,
    signals: pl.LazyFrame,
    *,
    engine: Engine,
    rules: Rules,
    as_of: datetime,
    read_count: int,
    unknown_count: int = 0,
    margin: float | None = None,
    is_learning: bool = True,
) -> Outcome:
    """Takes signals in and makes the suggestions anew.

    signals: columns of `schema.SIGNALS`, of all files or of the new ones: what was
    taken in before is not counted again. read_count: how many queries and feedback
    records they came from. unknown_count: how many pairs these named that the knowledge
    base does not have. margin: the least margin that the engine assigns with; it is
    kept beside each review. is_learning: whether learning is switched on.

    Raises: StateError before the first import; UsageError when another run holds the
    folder, or for an `as_of` without zone.
    """
    with state.alone():
        old = state.load("baseline", "events", *READ)
        at = max(instant(as_of), old.as_of or instant(as_of))
        facts: dict[str, str | float | None] = {"as_of": at.isoformat()}
        counts = (0, 0, 0)
        if is_learning:
            counts = _folded(state, old, signals, rules, at)
            baseline = old["baseline"]
            pool = standing(grouped(state.scan("signals"), baseline), old, rules)
            read = (read_count, unknown_count)
            tables = _suggested(pool, old, engine, rules, at, read)
            facts["margin"] = margin
        else:
            tables = {"reasons": reasons.switched_off(old["questions"])}
        state.commit(tables, facts)
        return Outcome(*counts, read_count, is_learning, listing(state.load(*READ)))


def _folded(
    state: State, old: Snapshot, signals: pl.LazyFrame, rules: Rules, as_of: datetime
) -> tuple[int, int, int]:
    """Takes the signals into the state: new, repeated and later events.

    At once: they need not stay in memory, and an event counts once whether or not the
    rest of the cycle comes to its end.
    """
    folded = fold(
        state.scan("signals"),
        old["events"],
        signals,
        as_of=as_of,
        retention_days=rules.retention_days,
    )
    state.commit({"signals": folded.signals, "events": folded.events})
    return folded.new_count, folded.repeated_count, folded.later_count


def _suggested(
    pool: pl.DataFrame,
    old: Snapshot,
    engine: Engine,
    rules: Rules,
    as_of: datetime,
    read: tuple[int, int],
) -> dict[str, pl.DataFrame]:
    """The tables that follow from the pool."""
    members, held = _clustered(pool, old, engine)
    groups = weighed(members, pool)
    suggestions, rows = carried(old, groups, rules=rules, as_of=as_of)
    stands = _placed(pool, members, held)
    named = rows.select(*GROUP, "suggestion").unique(GROUP)
    status = suggestions.select("suggestion", "status")
    judged = groups.groups.join(named, on=GROUP, how="left", nulls_equal=True).join(
        status, on="suggestion", how="left"
    )
    why = reasons.found(stands, judged, old["questions"], rules=rules, read=read)
    return {
        "suggestions": suggestions,
        "members": rows,
        "withheld": _withheld(stands),
        "reasons": why,
    }


def _clustered(
    pool: pl.DataFrame, old: Snapshot, engine: Engine
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The engine's groups, and what it holds back: pairs and keys."""
    reviews = old["reviews"]
    given = for_engine(pool.filter(pl.col("standing").is_in(GIVEN)))
    text = [*PAIR_AND_KEY, "text"]
    accepted = reviews.filter(verdict="accepted").select(text)
    rejected = reviews.filter(pl.col("qna_id").is_not_null(), verdict="rejected")
    spelled = rejected.filter(pl.col("key").is_not_null()).select(text)
    # Texts that were deleted, and are asked again by somebody else.
    deleted = rejected.filter(pl.col("key").is_null()).select("qna_id", "key_hash")
    closed = pool.select("key", "key_hash").unique().join(deleted, on="key_hash")
    questions = old["questions"].select("qna_id", "question")
    frames = (given, questions, accepted, spelled)
    apart = closed.select(PAIR_AND_KEY)
    members, held = engine.grouped(*frames, closed=apart)
    return members.select(MEMBERS.names()).cast(MEMBERS), held


def _placed(
    pool: pl.DataFrame, members: pl.DataFrame, held: pl.DataFrame
) -> pl.DataFrame:
    """The pool with the standings that follow from the engine, and `held_for`."""
    yes = pl.lit(value=True)
    assigned = (
        members.filter(pl.col("margin").is_not_null())
        .select("key", is_assigned=yes)
        .unique()
    )
    held_for = held.group_by("key").agg(held_for=pl.col("qna_id").min())
    marked = (
        pool.join(
            held.unique().with_columns(is_held=yes),
            on=PAIR_AND_KEY,
            how="left",
        )
        .join(held_for, on="key", how="left")
        .join(assigned, on="key", how="left")
    )
    is_open = pl.col("standing") == "open"
    is_held = pl.col("is_held").is_not_null() | (
        IS_GUESSED & pl.col("held_for").is_not_null()
    )
    is_lost = IS_GUESSED & pl.col("is_assigned").is_null()
    return marked.with_columns(
        standing=pl.when(is_open & is_held)
        .then(pl.lit("held"))
        .when(is_open & is_lost)
        .then(pl.lit("no_pair_fits"))
        .otherwise("standing")
    )


def _withheld(stands: pl.DataFrame) -> pl.DataFrame:
    """Table `withheld`: what is told apart because it is not offered."""
    is_conflict = pl.col("standing") == "conflict"
    is_held = pl.col("standing") == "held"
    rows = stands.filter(pl.col("standing").is_in(WITHHELD)).with_columns(
        qna_id=pl.coalesce("qna_id", pl.when(is_held).then("held_for")),
        query_count=QUERIES,
        other_pairs=pl.when(is_conflict).then("other_pairs"),
    )
    return typed(rows.sort("standing", "qna_id", "key"), "withheld")
