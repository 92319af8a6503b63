"""Opens the files of rewards and of activations, and names their columns as ours.

Every footer is read first: unreadable files, columns that are missing or differ in
type, and times without a zone are told before a row is read. Where events do not say
when they were loaded (`known_at`), their receipt stands for it.

The arrival sequence decides between rewards of one instant: the column
`arrival_sequence` where there is one, else the order of the files' paths and of the
rows in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import duckdb
import polars as pl
from polars._typing import PolarsDataType

from flows import columns as c
from flows import queries
from flows.decisions import Window, find
from flows.decisions import files as f
from flows.errors import LogError, UsageError
from flows.rewards import conditions
from flows.rewards import settings as s
from flows.rewards.settings import Rewards

ZONED = (
    "must be a timestamp with a time zone. A naive one is read with naive_is_utc = "
    "true, where its times are known to be UTC"
)


@dataclass(frozen=True, slots=True)
class Events:
    """Files of one table; `types` of the columns that are read."""

    files: tuple[str, ...]
    types: Mapping[str, pl.DataType]
    columns: Mapping[str, str]

    def has(self, ours: str) -> bool:
        """Whether the table has our column."""
        return self.theirs(ours) in self.types

    def theirs(self, ours: str) -> str:
        """The table's own name of our column."""
        return self.columns.get(ours, ours)

    def source(self) -> str:
        """The files as a DuckDB table with `untaken_file` and `file_row_number`."""
        return (
            f"read_parquet({queries.files(self.files)}, filename = 'untaken_file', "
            "file_row_number = true, union_by_name = true, hive_partitioning = false)"
        )

    def place(self) -> str:
        """The DuckDB expression of a row's place among all rows of all files."""
        names = ", ".join(map(queries.literal, self.files))
        file = f"list_position([{names}], untaken_file)::bigint"
        return f"({file} << 40) + file_row_number as place"

    def text(self, ours: str) -> str:
        """The DuckDB expression of a column of text; null where there is none."""
        if not self.has(ours):
            return f"null::varchar as {ours}"
        return f"{queries.identifier(self.theirs(ours))}::varchar as {ours}"

    def instant(self, ours: str, instead: str | None = None) -> str:
        """The DuckDB expression of an instant; `instead` where there is none."""
        name = ours if instead is None or self.has(ours) else instead
        theirs = self.theirs(name)
        column = queries.identifier(theirs)
        dtype = self.types[theirs]
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
            column = f"timezone('UTC', {column}::timestamp)"
        return f"{column}::timestamptz as {ours}"


@contextmanager
def explained(
    con: duckdb.DuckDBPyConnection, events: Events, rewards: Rewards
) -> Iterator[None]:
    """Says what of `events` cannot be read, where statements fail on it.

    Raises: LogError naming the files whose pages cannot be read, UsageError for a
    condition that cannot be computed for some event.
    """
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        f.require_readable(events.files, lambda files: _read(con, events, files))
        if not rewards.factors:
            raise
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"rewards: a condition cannot be computed for some event: {reason}. "
            "Conditions may use try_cast, and nullif for what they divide by"
        ) from None


def _read(
    con: duckdb.DuckDBPyConnection, events: Events, files: tuple[str, ...]
) -> None:
    """Reads every value that is used."""
    names = ", ".join(map(queries.identifier, events.types))
    source = replace(events, files=files).source()
    query = f"select count(*) from {source} where hash({names}) is null"  # noqa: S608
    queries.execute(con, query)


def open_events(
    con: duckdb.DuckDBPyConnection,
    rewards: Rewards,
    as_of: str,
    received: Window | None,
) -> Events:
    """Makes the view `reward_events` of what is known at `as_of`.

    as_of: a DuckDB expression of an instant.
    received: half-open; events received outside it are not looked at.
    Raises: LogError for files that do not fit, UsageError for a condition that is none.
    """
    required = [c.DECISION_ID, s.REWARDED_AT]
    required += [c.REWARD] * rewards.reads_rewards
    required += [s.FACTOR] * bool(rewards.named_factors)
    files = find(rewards.events, base=rewards.base)
    events = _opened(files, rewards.columns, required, s.OF_EVENTS, rewards)
    reward = queries.identifier(events.theirs(c.REWARD))
    shown = [
        events.text(c.DECISION_ID),
        f"{reward}::double + 0.0 as reward"
        if rewards.reads_rewards
        else "null::double as reward",
        events.instant(s.REWARDED_AT),
        events.instant(s.KNOWN_AT, s.REWARDED_AT),
        *map(events.text, (c.SLOT, c.ACTION, s.REWARD_ID, s.FACTOR)),
        events.place(),
        *conditions.select_list(con, events.source(), events.types, rewards),
    ]
    arrival = "place"
    if events.has(s.ARRIVAL):
        shown.append(f"{queries.identifier(events.theirs(s.ARRIVAL))} as declared")
        arrival = "row_number() over (order by declared, place)"
    queries.run(
        con,
        "rewards/events",
        columns=",\n        ".join(shown),
        source=events.source(),
        sequence=arrival,
        as_of=as_of,
        received=_within(s.REWARDED_AT, received),
    )
    return events


def open_activations(
    con: duckdb.DuckDBPyConnection,
    rewards: Rewards,
    as_of: str,
    received: Window | None,
) -> Events:
    """Makes the view `activation_events` of what is known at `as_of`."""
    files = find(rewards.activations, base=rewards.base)
    required = [c.DECISION_ID, s.ACTIVATED_AT]
    columns = rewards.activation_columns
    events = _opened(files, columns, required, s.OF_ACTIVATIONS, rewards)
    shown = [
        events.place(),
        events.text(c.DECISION_ID),
        events.instant(s.ACTIVATED_AT),
        events.instant(s.KNOWN_AT, s.ACTIVATED_AT),
    ]
    queries.run(
        con,
        "rewards/activations",
        columns=",\n        ".join(shown),
        source=events.source(),
        as_of=as_of,
        received=_within(s.ACTIVATED_AT, received),
    )
    return events


def _within(column: str, window: Window | None) -> str:
    """A DuckDB predicate; so plain that parts of files are left out by it."""
    if window is None:
        return "true"
    start, end = (queries.literal(t.isoformat()) + "::timestamptz" for t in window)
    return f"{column} >= {start} and {column} < {end}"


def _opened(
    files: Sequence[str],
    columns: Mapping[str, str],
    required: Sequence[str],
    known: Sequence[str],
    rewards: Rewards,
) -> Events:
    read = f.schemas(files)
    found = dict.fromkeys(n for schema in read.values() for n in schema.names())
    wanted = [
        columns.get(ours, ours)
        for ours in known
        if ours in required or ours in columns or ours in found
    ]
    is_event = known == s.OF_EVENTS
    wanted += conditions.columns(list(found), rewards) if is_event else []
    types = f.common_types(read, list(dict.fromkeys(wanted)))
    events = Events(tuple(files), types, columns)
    problems = [
        f"  {theirs!r} is {types[theirs]}; {ours} {remedy}"
        for ours in known
        if (theirs := events.theirs(ours)) in types
        for remedy in _remedies(ours, types[theirs], rewards)
    ]
    if problems:
        raise LogError(
            f"{files[0]} and its like have columns of the wrong type:\n"
            + "\n".join(problems)
        )
    return events


def _remedies(ours: str, dtype: PolarsDataType, rewards: Rewards) -> list[str]:
    """What is wrong with the type of a column, if anything is."""
    if ours in (s.REWARDED_AT, s.KNOWN_AT, s.ACTIVATED_AT):
        if isinstance(dtype, pl.Datetime):
            is_zoned = dtype.time_zone is not None
            return [] if is_zoned or rewards.naive_is_utc else [ZONED]
        return [ZONED]
    if ours == c.REWARD:
        is_number = dtype.is_numeric() or dtype == pl.Boolean
        return [] if is_number or not rewards.reads_rewards else ["must be a number"]
    if ours == s.ARRIVAL:
        return [] if dtype.is_integer() else ["must be a whole number"]
    is_name = dtype in (pl.String, pl.Categorical, pl.Enum) or dtype.is_integer()
    return [] if is_name or dtype == pl.Null else ["must be text"]
