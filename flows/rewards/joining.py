"""The steps of a join, each a file of `sql/rewards/` with what is declared put in.

`Pieces` are computed once from settings and log; every function runs the statements of
one step on the tables and views that the steps before it left in the connection.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from flows import columns as c
from flows import queries
from flows.decisions import Window
from flows.errors import UsageError
from flows.rewards import composing
from flows.rewards import settings as s
from flows.rewards.events import Events
from flows.rewards.instants import microseconds, own_of, window_of
from flows.rewards.settings import Rewards

TOLERANCE = 1e-6  # of a final reward, in ends of its range: sums of 32-bit floats


@dataclass(frozen=True, slots=True)
class Pieces:
    """What several steps put into their statements.

    has_slots, has_deferred: what the decisions' table holds; can_defer: some decision
        may have to be activated.
    """

    rewards: Rewards
    as_of: dt.datetime
    has_slots: bool
    has_deferred: bool

    @property
    def can_defer(self) -> bool:
        """Whether a decision may have to be activated."""
        return self.has_deferred or self.rewards.deferred

    @property
    def known(self) -> str:
        """The instant of the run, as a DuckDB expression."""
        return f"make_timestamptz({microseconds(self.as_of)})"

    @property
    def window(self) -> dict[str, str]:
        """The window around a decision, in microseconds."""
        return window_of(self.rewards)

    @property
    def newest_us(self) -> str:
        """When the newest decision was made that is mature (validity.md 6)."""
        return str(microseconds(self.as_of - self.rewards.held))

    def is_outside(self, reward: str) -> str:
        """Whether a reward lies outside its range by more than rounding."""
        lowest, highest = self.rewards.reward_range
        slack = TOLERANCE * max(abs(lowest), abs(highest))
        return f"{reward} not between {lowest - slack!r} and {highest + slack!r}"


def view_decisions(
    con: duckdb.DuckDBPyConnection,
    table: str,
    files: Sequence[str],
    rewards: Rewards,
    as_of: dt.datetime,
) -> Pieces:
    """Makes `rewarded_decisions`.

    Raises: UsageError for activations that no decision waits for.
    """
    has = {*con.sql(f"from {table} limit 0").columns}
    pieces = Pieces(rewards, as_of, c.SLOT in has, s.IS_DEFERRED in has)
    if rewards.activations and not pieces.can_defer:
        raise UsageError(
            "rewards: activations are named, but no decision waits for one: log "
            "is_deferred, or declare deferred = true where every decision does"
        )
    deferred = str(rewards.deferred).lower()
    if pieces.has_deferred:
        deferred = f"coalesce({s.IS_DEFERRED}, false)"
    queries.run(
        con,
        "rewards/decisions",
        files="[" + ", ".join(map(queries.literal, files)) + "]",
        their_slot=f"{c.SLOT}::varchar" if pieces.has_slots else "null::varchar",
        waits=deferred,
        log=table,
    )
    return pieces


def join_events(
    con: duckdb.DuckDBPyConnection,
    pieces: Pieces,
    events: Events,
    names: Sequence[str],
    decided: Window | None,
) -> None:
    """Makes `joined_rewards`, `several_rewards` and `outcomes`.

    names: the factors that events name, where none is declared.
    """
    rewards = pieces.rewards
    otherwise = "missing" if rewards.default is None else "default"
    queries.run(
        con,
        "rewards/macros",
        None,
        unit=composing.unit(rewards),
        otherwise=queries.literal(otherwise),
        **pieces.window,
    )
    by_slot = pieces.has_slots or events.has(c.SLOT)
    match = "event.decision_id = decision.decision_id"
    if by_slot:
        match += " and event.slot_key = coalesce(decision.slot, '')"
    read = _read(events, rewards, names, decided, by_slot=by_slot)
    not_read = [f"{absent} as {n}" for n, absent in ABSENT.items() if n not in read]
    queries.run(
        con,
        "rewards/joined",
        slot_of_event="coalesce(slot, '')" if by_slot else "null",
        match=match,
        newest_us=pieces.newest_us,
        read=",\n    ".join(f"{value} as {name}" for name, value in read.items()),
    )
    if by_slot:
        queries.run(con, "rewards/no_such_slot")
    queries.run(
        con,
        "rewards/fated",
        not_read=",\n    ".join(not_read),
        lost_slot="lost_id in (from lost_slots)" if by_slot else "false",
    )
    queries.run(con, "rewards/several")
    queries.run(con, f"rewards/aggregations/{rewards.aggregation}")
    of_several = composing.of_several(rewards, names)
    queries.run(con, "rewards/outcomes", of_several=of_several)


def join_activations(
    con: duckdb.DuckDBPyConnection, pieces: Pieces, decided: Window | None
) -> dict[str, int]:
    """Makes `activated`, and counts activations."""
    queries.run(
        con,
        "rewards/joined_activations",
        newest_us=pieces.newest_us,
        own=own_of(pieces.rewards, decided, "epoch_us(event.activated_at)"),
    )
    queries.run(con, "rewards/activated", None, **pieces.window)
    ((known, dangling, late),) = queries.run(
        con, "rewards/activations_counted", None, **pieces.window
    )
    return {
        "activations": known,
        "dangling_activations": dangling,
        "late_activations": late,
    }


def judge_decisions(
    con: duckdb.DuckDBPyConnection, pieces: Pieces, names: Sequence[str]
) -> None:
    """Makes `judgements`, one row a decision."""
    rewards = pieces.rewards
    lowest, highest = rewards.reward_range
    ways = ["activated.number is not null"] * bool(rewards.activations)
    ways += ["is_rewarded"] * rewards.reward_activates
    joins = "left join activated using (number)" if rewards.activations else ""
    queries.run(
        con,
        "rewards/judgements",
        of_one=composing.of_one(rewards, names),
        was_activated=" or ".join(ways) or "false",
        joins=joins,
        is_outside=pieces.is_outside("joined_reward"),
        clip=str(rewards.clip).lower(),
        lowest=repr(lowest) + "::double",
        highest=repr(highest) + "::double",
    )


def write_judged(con: duckdb.DuckDBPyConnection, pieces: Pieces, out: Path) -> None:
    """Writes the decisions with their rewards and statuses."""
    names = ", ".join([c.DECISION_ID, *[c.SLOT] * pieces.has_slots])
    queries.run(con, "rewards/judged", names=names, file=queries.literal(str(out)))


def write_beside(
    con: duckdb.DuckDBPyConnection,
    place: int,
    rows: int,
    default: float | None,
    out: Path,
) -> None:
    """Writes what is judged of the rows of one file of the log.

    place: of the file among those of the log, from 0.
    default: the reward of decisions with that status; None where they have none.
    """
    of_file = {"first": str(number_of(place)), "rows": str(rows)}
    every = f"(select unnest(range(1, {rows} + 1)) as row) as every_row"
    ((judged,),) = queries.run(con, "rewards/judged_rows", None, **of_file)
    queries.run(
        con,
        "rewards/beside",
        None,
        **of_file,
        judged="judged"
        if judged == rows
        else f"{every} left join judged using (row) order by row",
        default_reward="null::double" if default is None else f"{default!r}::double",
        file=queries.literal(str(out)),
    )


def number_of(place: int) -> int:
    """The number before that of the first row of a file (`rewards/decisions`)."""
    return (place + 1) << 40


# What is read of an event where its table has it, and what stands for it otherwise.
ABSENT = {
    c.REWARD: "null::double",
    s.FACTOR: "null::utinyint",
    "met": "0",
    "identity": "null::ubigint",
    "is_wrong_item": "false",
    "is_elsewhere": "false",
    "lost_id": "null::varchar",
}


def _read(
    events: Events,
    rewards: Rewards,
    names: Sequence[str],
    decided: Window | None,
    *,
    by_slot: bool,
) -> dict[str, str]:
    """What is read of an event: the columns of `ABSENT` that its table has."""
    read = {}
    reward, met = "event.reward", "event.met"
    if events.has(c.ACTION):
        # A reward for another action than the chosen one is 0.
        read["is_wrong_item"] = "coalesce(event.action <> decision.action, false)"
        reward, met = (
            f"case when {read['is_wrong_item']} then 0 else {value} end"
            for value in (reward, met)
        )
    read[c.REWARD] = reward
    if numbers := composing.number_of_factor(rewards, names):
        whens = [f"when {queries.literal(f)} then {n}" for f, n in numbers.items()]
        read[s.FACTOR] = f"(case event.factor {' '.join(whens)} end)::utinyint"
    if len(rewards.named_factors) < len(rewards.factors):
        read["met"] = met
    if events.has(s.REWARD_ID):
        given = "event.reward_id is not null"
        read["identity"] = f"case when {given} then hash(event.reward_id) end"
    if decided is not None:
        own = own_of(rewards, decided, "event.rewarded_us")
        read["is_elsewhere"] = f"not ({own})"
    if by_slot:
        lost = "decision.number is null"
        read["lost_id"] = f"case when {lost} then event.decision_id end"
    return read
