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
import polars as pl

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
from flows.rewards.counts import Counts, Delays
from flows.rewards.events import Events, explained, open_activations, open_events
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
    """

    table: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What `judge` wrote, and what there is to say of it.

    file: `decision_id`, `slot` (where the log has slots), `reward`, `status`, a row a
        decision in the order of the log.
    set_aside: the events that entered no reward, with the reason.
    delays: None without any reward.
    """

    file: Path
    set_aside: Path | None
    counts: Counts
    delays: Delays | None
    warnings: tuple[Warned, ...]


def judge(
    con: duckdb.DuckDBPyConnection,
    decisions: Decisions,
    rewards: Rewards,
    *,
    as_of: dt.datetime,
    out: Path,
    decided: Window | None = None,
    set_aside: Path | None = None,
    listing: Path | None = None,
) -> Judged:
    """Writes the reward and the status of each decision to `out`.

    as_of: an instant, with its zone.
    decided: when the table holds all decisions of a half-open span and no others, that
        span: events without decision that may belong to another are not dangling.
    set_aside: where to write events that entered no reward.
    listing: where to write all violating rows.
    Raises: LogError for files that do not fit, ViolationsError for rows that break
    rules and for rewards outside their range, UsageError for settings that do not fit
    the log. Then nothing is written.
    """
    if as_of.tzinfo is None:
        raise UsageError("as_of needs a time zone")
    con.execute(f"set memory_limit = '{MEMORY_LIMIT}'")
    try:
        return _judged(con, decisions, rewards, as_of, out, decided, set_aside, listing)
    finally:
        queries.run(con, "rewards/forgotten")
        con.execute(f"set memory_limit = '{queries.MEMORY_LIMIT}'")


def reward_with(default: float | None) -> pl.Expr:
    """The reward of a judged file, with the default where a decision has that status.

    default: None leaves such rewards missing, as they are on days still open
        (validity.md 7).
    """
    is_default = pl.col("status") == "default"
    given = pl.lit(default, pl.Float64)
    return pl.when(is_default).then(given).otherwise(c.REWARD).alias(c.REWARD)


def _judged(
    con: duckdb.DuckDBPyConnection,
    decisions: Decisions,
    rewards: Rewards,
    as_of: dt.datetime,
    out: Path,
    decided: Window | None,
    set_aside: Path | None,
    listing: Path | None,
) -> Judged:
    pieces = joining.view_decisions(
        con, decisions.table, decisions.files, rewards, as_of
    )
    events = open_events(con, rewards, pieces.known)
    with explained(con, events, rewards):
        found = _checked_events(con, pieces, events, listing)
    names = _names(rewards, found)
    if rewards.activations:
        activations = open_activations(con, rewards, pieces.known)
        with explained(con, activations, rewards):
            _check_activations(con, activations, listing)
    with explained(con, events, rewards):
        joining.join_events(con, pieces, events, names, decided)
    told, delays = joining.count_events(con, pieces)
    told |= {"events": found.events, "outside": found.outside}
    if rewards.activations:
        told |= joining.join_activations(con, pieces)
    joining.judge_decisions(con, pieces, names)
    judged, outside = joining.count_decisions(con)
    if outside and not rewards.clip:
        raise _out_of_range(con, judged["decisions"], listing)
    judged["clipped"] = outside
    with replacing(out) as beside:
        joining.write_judged(con, pieces, beside)
    if set_aside is not None:
        with replacing(set_aside) as beside:
            file = queries.literal(str(beside))
            queries.run(con, "rewards/set_aside", file=file)
    counts = Counts(**told, **judged)
    warnings = advise(
        rewards, counts, delays, names=names, is_loaded_at=events.has(s.KNOWN_AT)
    )
    return Judged(out, set_aside, counts, delays, warnings)


def _checked_events(
    con: duckdb.DuckDBPyConnection,
    pieces: Pieces,
    events: Events,
    listing: Path | None,
) -> rules.Found:
    rewards = pieces.rewards
    names = rewards.named_factors
    absent = ["known_at_is_present"] * (not events.has(s.KNOWN_AT))
    absent += ["reward_is_a_number"] * (not rewards.reads_rewards)
    absent += ["factor_is_declared"] * (not names)
    values: dict[str, Any] = {
        "largest_reward": LARGEST * max(map(abs, rewards.reward_range)),
        "factors": list(names),
    }
    return rules.check(
        con,
        "reward_events",
        rules.load("events", absent),
        values,
        is_outside=pieces.is_outside(c.REWARD),
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
