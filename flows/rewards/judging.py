"""Joins rewards with the decisions of a log, in DuckDB, with bounded memory.

A reward belongs to the decision (and slot) whose id it bears, and counts when it was
received inside `[-backward_seconds, wait_seconds)` of it; an instant at the end is
late. Sources: 000, "Tiempo de espera de las recompensas"; the retired service's joiner,
whose unit test pins that end; never an as-of join, which takes one match, includes the
end and chooses between ties anew at each run.

What a run may know ends at `as_of`: events with a later `known_at` are not there, so a
past night has the same outcome whatever arrived since. A decision is judged once
`decided_at + wait + load delay` has passed (validity.md 6).

    observed     has an event inside its window; `reward` is composed of all of them
    default      has none, and a default is declared; `reward` is null, the default is
                 put in where values are estimated (`reward_with`)
    missing      has none, and no default is declared
    immature     not to be judged yet, even when it is rewarded
    unactivated  deferred, and not activated inside its window, even when rewarded

A reward that names another action than the chosen one is 0, and observed.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from flows import columns as c
from flows import queries
from flows.decisions import Window
from flows.decisions.profile import Warned
from flows.decisions.rules import Rule
from flows.errors import UsageError, ViolationsError, counted
from flows.folder import replacing
from flows.rewards import joining, rules
from flows.rewards import settings as s
from flows.rewards.advice import advise
from flows.rewards.counts import Counts, Delays, count_decisions, count_events
from flows.rewards.events import Events, explained, open_activations, open_events
from flows.rewards.instants import own_of
from flows.rewards.joining import Pieces
from flows.rewards.settings import MOST_FACTORS, Rewards

# More than other steps have: the ids of ten million decisions then stay in memory.
MEMORY_LIMIT = "1400MB"
LARGEST = 1e9  # of an event's reward, in ends of the range
IN_RANGE = Rule(
    "final_reward_is_in_range",
    "The reward of a decision lies in reward_range.",
    "declare the range that the composed reward has by design, or clip = true.",
    "",
    "",
)


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of a log, as a table or view of the connection.

    table: has `file`, `row` (from 1), `decision_id`, `decided_at`, `action`, and may
        have `slot` and `is_deferred`; ids (with slots) are unique. Such as
        `measured_decisions` of `flows.decisions.measure`.
    files: all values of `file`, in the order of the log.
    window: when the table holds all decisions of a half-open span and no others, that
        span: events without decision that were received in another are not counted.
    """

    table: str
    files: tuple[str, ...]
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """Where to write what is judged of each file of the log, for reading it beside it.

    files: a path for each of the log's; rows: how many rows each of those has.
    default: the reward of decisions with that status, None to leave it missing, as it
        is on days still open (validity.md 7).
    """

    files: tuple[Path, ...]
    rows: tuple[int, ...]
    default: float | None


@dataclass(frozen=True, slots=True)
class Outputs:
    """What to write of an outcome.

    out: `decision_id`, `slot` (where the log has slots), `reward` and `status`, a row a
        decision in the order of the log.
    set_aside: the events that entered no reward, with the reason.
    """

    out: Path | None = None
    beside: Beside | None = None
    set_aside: Path | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What `judge` found.

    digest: of the outcome of all decisions, whatever order events came in.
    delays: None without any reward.
    names: the factors that events name, where none is declared.
    is_loaded_at: events say when they were loaded.
    """

    digest: str
    counts: Counts
    delays: Delays | None
    names: tuple[str, ...]
    is_loaded_at: bool

    def advice(self, rewards: Rewards) -> tuple[Warned, ...]:
        """What 000 advises where the log does otherwise."""
        return advise(
            rewards,
            self.counts,
            self.delays,
            names=self.names,
            is_loaded_at=self.is_loaded_at,
        )


def judge(
    con: duckdb.DuckDBPyConnection,
    decisions: Decisions,
    rewards: Rewards,
    *,
    as_of: dt.datetime,
    outputs: Outputs,
    received: Window | None = None,
    listing: Path | None = None,
) -> Judged:
    """Judges each decision, and writes what is asked for.

    as_of: an instant, with its zone.
    received: half-open; events received outside it are not looked at.
    listing: where to write all violating rows.
    Raises: LogError for files that do not fit, ViolationsError for rows that break
    rules and for rewards outside their range, UsageError for settings that do not fit
    the log. Then nothing is written.
    """
    if as_of.tzinfo is None:
        raise UsageError("as_of needs a time zone")
    con.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
    try:
        pieces = joining.view_decisions(
            con, decisions.table, decisions.files, rewards, as_of
        )
        found = _judged(con, pieces, decisions.window, received, listing)
        _write(con, pieces, outputs)
        return found
    finally:
        queries.run(con, "rewards/forgotten")
        con.execute(f"set memory_limit = '{queries.MEMORY_LIMIT}'")


def _judged(
    con: duckdb.DuckDBPyConnection,
    pieces: Pieces,
    decided: Window | None,
    received: Window | None,
    listing: Path | None,
) -> Judged:
    rewards = pieces.rewards
    events = open_events(con, rewards, pieces.known, received)
    with explained(con, events, rewards):
        found = _checked_events(con, pieces, events, decided, listing)
    names = _names(rewards, found)
    if rewards.activations:
        activations = open_activations(con, rewards, pieces.known, received)
        with explained(con, activations, rewards):
            _check_activations(con, activations, listing)
    with explained(con, events, rewards):
        joining.join_events(con, pieces, events, names, decided)
    told, delays = count_events(con, pieces.window)
    told |= {"events": found.events - told.pop("elsewhere"), "outside": found.outside}
    if rewards.activations:
        told |= joining.join_activations(con, pieces, decided)
    joining.judge_decisions(con, pieces, names)
    judged, outside = count_decisions(con)
    if outside and not rewards.clip:
        raise _out_of_range(con, judged["decisions"], listing)
    judged["clipped"] = outside
    counts = Counts(**told, **judged)
    ((digest,),) = queries.run(con, "rewards/digest")
    return Judged(digest, counts, delays, names, events.has(s.KNOWN_AT))


def _write(con: duckdb.DuckDBPyConnection, pieces: Pieces, outputs: Outputs) -> None:
    """Writes what is asked for of what was judged on the connection."""
    if outputs.out is not None:
        with replacing(outputs.out) as new:
            joining.write_judged(con, pieces, new)
    if (beside := outputs.beside) is not None:
        for place, (file, rows) in enumerate(
            zip(beside.files, beside.rows, strict=True)
        ):
            with replacing(file) as new:
                joining.write_beside(con, place, rows, beside.default, new)
    if outputs.set_aside is not None:
        with replacing(outputs.set_aside) as new:
            listed = queries.literal(str(new))
            queries.run(con, "rewards/set_aside", file=listed)


def _checked_events(
    con: duckdb.DuckDBPyConnection,
    pieces: Pieces,
    events: Events,
    decided: Window | None,
    listing: Path | None,
) -> rules.Found:
    rewards = pieces.rewards
    names = rewards.named_factors
    absent = ["known_at_is_present"] * (not events.has(s.KNOWN_AT))
    absent += ["reward_is_a_number"] * (not rewards.reads_rewards)
    absent += ["factor_is_declared"] * (not names)
    own = own_of(rewards, decided, f"epoch_us({s.REWARDED_AT})")
    values: dict[str, Any] = {
        "largest_reward": LARGEST * max(map(abs, rewards.reward_range)),
        "factors": list(names),
    }
    return rules.check(
        con,
        "reward_events",
        rules.load("events", absent),
        values,
        is_outside=f"{pieces.is_outside(c.REWARD)} and {own}",
        factor=s.FACTOR if rewards.reads_rewards else "null",
        listing=listing,
    )


def _check_activations(
    con: duckdb.DuckDBPyConnection, activations: Events, listing: Path | None
) -> None:
    absent = ["known_at_is_present"] * (not activations.has(s.KNOWN_AT))
    rules.check(
        con,
        "activation_events",
        rules.load("activations", absent),
        {},
        is_outside="false",
        factor="null",
        listing=listing,
    )


def _names(rewards: Rewards, found: rules.Found) -> tuple[str, ...]:
    """The factors that events name, where none is declared.

    Raises: UsageError when there are too many to be factors, or some events name none.
    """
    if rewards.factors:
        return ()
    names = sorted(name for name in found.factors if name is not None)
    if not names:
        return ()
    if len(names) > MOST_FACTORS:
        raise UsageError(
            f"rewards: events name {len(names):,} factors, such as {names[0]!r}; "
            f"at most {MOST_FACTORS} can be told apart. Is the column mapped right?"
        )
    if without := found.factors.get(None):
        raise UsageError(
            f"rewards: {counted(without, 'event')} without a factor, beside others "
            f"that name {names[0]!r}; name one on every event or on none"
        )
    return tuple(names)


def _out_of_range(
    con: duckdb.DuckDBPyConnection, total: int, listing: Path | None
) -> ViolationsError:
    rows = queries.frame(con, queries.text("rewards/outside"))
    return rules.violations([(IN_RANGE, rows)], total, listing)
