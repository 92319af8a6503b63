"""Candidate tables: Parquet files that give a candidate's distribution by key.

A table has `actions` and `probabilities` as parallel lists, or `action` and
`probability` with one action a row, and optionally `candidate` to hold several.
Whatever stands beside them is the key: `decision_id` joins decision by decision,
declared context columns make a look-up. Keys are joined by value, never by position;
a decision without an entry is refused, counting both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb
import polars as pl

from flows import columns as c
from flows import queries
from flows.decisions import Log, find
from flows.decisions.files import common_types, schemas
from flows.errors import LogError, PolicyError
from flows.policies.spec import Candidate

LISTS = ("actions", "probabilities")
ROWS = ("action", "probability")
NAMES = (pl.String, pl.Categorical, pl.Enum)
SHOWN_ENTRIES = 5


@dataclass(frozen=True, slots=True)
class Table:
    """A candidate table loaded into DuckDB, as `name` with `keys` and a map `pairs`."""

    name: str
    keys: tuple[str, ...]
    action_names: tuple[str, ...]

    @property
    def join(self) -> str:
        """The join that lays the table beside measured_decisions."""
        keys = ", ".join(queries.identifier(key) for key in self.keys)
        return f"left join {self.name} using ({keys})"

    def probability(self, action: str) -> str:
        """A DuckDB expression: the probability of the expression `action`."""
        return f"coalesce({self.name}.pairs[{action}], 0.0)"

    def column(self) -> str:
        """A DuckDB expression: a list parallel to `actions`."""
        inner = self.probability("a")
        return f"list_transform(measured_decisions.actions, lambda a: {inner})"

    def unlisted(self) -> str:
        """A DuckDB expression: the mass on actions that the decision does not list."""
        return (
            "coalesce(list_sum(list_transform(list_filter("
            f"map_entries({self.name}.pairs), "
            "lambda e: not list_contains(measured_decisions.actions, e.key)), "
            "lambda e: e.value)), 0.0)"
        )


def files_of(candidate: Candidate) -> tuple[tuple[str, ...], str | None]:
    """The files of a table candidate and the `candidate` picked from them, if any."""
    argument, base = candidate.argument, candidate.base
    pattern, at, chosen = argument.rpartition("@")
    if not at or (base / argument).exists():
        pattern, chosen = argument, ""
    try:
        files = find([pattern], base=base)
    except LogError as error:
        raise PolicyError(f"candidate {candidate.name!r}: {error}") from None
    if candidate.day and all("/day=" in file for file in files):
        files = tuple(file for file in files if f"/day={candidate.day}/" in file)
    if not files:
        raise PolicyError(
            f"candidate {candidate.name!r}: no file of {candidate.spec} is for day "
            f"{candidate.day}; give the candidate's probabilities for every day"
        )
    return files, chosen or None


def load(
    con: duckdb.DuckDBPyConnection, candidate: Candidate, log: Log, *, number: int
) -> Table:
    """Loads and validates a candidate table. Raises: PolicyError with its entries."""
    files, picked = files_of(candidate)
    try:
        found = schemas(files)
        names = next(iter(found.values())).names()
        types = common_types(found, names)
    except LogError as error:
        raise PolicyError(f"candidate {candidate.name!r}: {error}") from None
    shape = _shape(candidate, names)
    keys = tuple(n for n in names if n not in (*shape, "candidate"))
    known = {*log.layout.context, *([c.DECISION_ID] if log.has_ids else [])}
    if not keys:
        raise PolicyError(
            f"candidate {candidate.name!r}: {files[0]} has no key column; add "
            "decision_id, or a declared context column for a look-up"
        )
    if not set(keys) <= known:
        odd = ", ".join(k for k in keys if k not in known)
        raise PolicyError(
            f"candidate {candidate.name!r}: the key columns of {files[0]} must be "
            f"decision_id or declared context columns ({', '.join(sorted(known))}); "
            f"found besides: {odd}. Declare them as context or drop them."
        )
    _require_types(candidate, {key: types[key] for key in keys}, log)
    listed = queries.files(files)
    source = f"read_parquet({listed}, union_by_name = true, hive_partitioning = false)"
    chosen = "true"
    if picked and "candidate" not in names:
        raise PolicyError(
            f"candidate {candidate.name!r}: {files[0]} has no column `candidate` to "
            f"pick {picked!r} from; leave @{picked} out"
        )
    if "candidate" in names:
        value = _chosen(con, candidate, source, picked)
        chosen = f"candidate = {queries.literal(value)}"
    table = f"candidate_table_{number}"
    quoted = [queries.identifier(key) for key in keys]
    try:
        queries.run(
            con,
            f"staging/candidate_{'table' if shape == LISTS else 'rows'}",
            table=table,
            keys=", ".join(_key(key, types[key]) for key in keys),
            actions=shape[0],
            probabilities=shape[1],
            source=source,
            chosen=chosen,
        )
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise PolicyError(
            f"candidate {candidate.name!r}: {files[0]} holds a distribution that "
            f"cannot be read ({reason}). List each action once, with one probability."
        ) from None
    _validate(con, candidate, table, quoted, log.layout.sum_tolerance)
    actions = queries.run(con, "staging/candidate_actions", table=table)
    return Table(table, keys, tuple(name for (name,) in actions))


def require_match(
    con: duckdb.DuckDBPyConnection, candidate: Candidate, table: Table
) -> None:
    """Refuses a table without an entry for every decision, counting both sides."""
    keys = ", ".join(queries.identifier(key) for key in table.keys)
    ((decisions, entries, all_entries),) = queries.run(
        con, "checks/unmatched_decisions", table=table.name, keys=keys
    )
    if decisions:
        raise PolicyError(
            f"candidate {candidate.name!r} ({candidate.spec}): {decisions:,} decisions "
            f"have no entry for their {keys}, and {entries:,} of {all_entries:,} "
            "entries belong to no decision. Give the candidate's probabilities for "
            "every decision of the log."
        )


def _key(name: str, dtype: pl.DataType) -> str:
    """A key as the log has it: ids are text there, and -0.0 equals 0.0."""
    quoted = queries.identifier(name)
    if name == c.DECISION_ID:
        return f"{quoted}::varchar as {quoted}"
    return f"{quoted} + 0.0 as {quoted}" if dtype.is_float() else quoted


def _require_types(
    candidate: Candidate, keys: Mapping[str, pl.DataType], log: Log
) -> None:
    """Refuses keys that cannot equal the log's, or that equal several of them."""
    for key, dtype in keys.items():
        theirs = log.layout.theirs(key) if key == c.DECISION_ID else key
        wanted = log.types[theirs]
        are_names = key == c.DECISION_ID and (dtype in NAMES or dtype.is_integer())
        are_text = dtype in NAMES and wanted in NAMES
        are_integers = dtype.is_integer() and wanted.is_integer()
        are_floats = dtype.is_float() and wanted.is_float()
        alike = are_names or are_text or are_integers or are_floats
        if not (dtype == wanted or alike):
            raise PolicyError(
                f"candidate {candidate.name!r}: the key {key!r} is {dtype} in "
                f"{candidate.spec} and {wanted} in the log; write it alike"
            )


def _shape(candidate: Candidate, names: Sequence[str]) -> tuple[str, str]:
    for shape in (LISTS, ROWS):
        if set(shape) <= set(names):
            return shape
    raise PolicyError(
        f"candidate {candidate.name!r}: a table needs the columns actions and "
        "probabilities (lists) or action and probability (one action a row); found: "
        + ", ".join(names)
    )


def _chosen(
    con: duckdb.DuckDBPyConnection,
    candidate: Candidate,
    source: str,
    picked: str | None,
) -> str:
    rows = queries.execute(con, f"select distinct candidate from {source} order by 1")  # noqa: S608
    values = [str(value) for (value,) in rows]
    wanted = picked or (values[0] if len(values) == 1 else candidate.name)
    if wanted not in values:
        raise PolicyError(
            f"candidate {candidate.name!r}: the table holds {', '.join(values)}; write "
            "FILE@NAME to pick one"
        )
    return wanted


def _validate(
    con: duckdb.DuckDBPyConnection,
    candidate: Candidate,
    table: str,
    keys: Sequence[str],
    tolerance: float,
) -> None:
    text = " || ', ' || ".join(f"{key}::varchar" for key in keys)
    problems = queries.run(
        con,
        "checks/candidate_table",
        {"sum_tolerance": tolerance},
        table=table,
        keys=", ".join(keys),
        keys_text=text,
    )
    if problems:
        shown = "\n".join(f"  {key}: {what}" for key, what in problems[:SHOWN_ENTRIES])
        more = len(problems) - SHOWN_ENTRIES
        raise PolicyError(
            f"candidate {candidate.name!r} ({candidate.spec}): {len(problems):,} "
            f"entries are not distributions (key {', '.join(keys)}):\n{shown}"
            + (f"\n  and {more:,} more" if more > 0 else "")
        )
