"""Imports tables, a row a decision: CSV (.csv, .tsv, .txt) or Parquet.

`columns` maps ours to theirs. A row must tell the action and `propensity`, the logging
probability of that action; the log is read with probabilities = "propensity". (Parquet
with whole distributions needs no import: a job file maps its columns.) Context columns
keep their type; of a CSV file, a column becomes whole numbers or numbers where that
changes nothing of what it says, so that "007" stays text. A time needs its zone, unless
it is declared that times are UTC. An empty field is missing; true is the reward 1.

The layout of the Open Bandit CSV, as an example: decided_at = timestamp,
action = item_id, reward = click, propensity = propensity_score, context position and
user_feature_0 to user_feature_3 (Saito et al. 2021, "Open Bandit Dataset and
Pipeline", appendix on the data).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb

from flows import columns as c
from flows import queries
from flows.errors import LogError, UsageError
from flows.importers import run, stub
from flows.importers.lines import Form
from flows.importers.outcome import MAX_REJECT_SHARE, Imported, publish, writing

CSV = (".csv", ".tsv", ".txt")
ENDINGS = (*CSV, ".parquet")
NEEDED = (c.ACTION, c.PROPENSITY, c.REWARD)
OPTIONAL = (c.DECISION_ID, c.DECIDED_AT, c.SLOT, c.SAMPLE_PROBABILITY, c.MODEL_ID)
STUB = 'probabilities = "propensity"\n'


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which columns are read. columns: ours to theirs, where they differ."""

    columns: Mapping[str, str] = field(default_factory=dict)
    context: tuple[str, ...] = ()
    is_utc: bool = False


def table(
    files: Sequence[Path],
    out: Path,
    *,
    columns: Mapping[str, str] | None = None,
    context: Sequence[str] = (),
    is_utc: bool = False,
    max_reject_share: float = MAX_REJECT_SHARE,
    advance: Callable[[], None] = lambda: None,
) -> Imported:
    """Imports tables as the log `out`/decisions.

    context: columns that candidates may see, by their own names. is_utc: times without
    a zone are UTC. max_reject_share: in [0, 1]. advance: called after each file.
    Raises: UsageError for a column that is none of ours; LogError for one that a file
    has not or has with another type, and when too many rows are rejected.
    """
    wanted = Wanted(dict(columns or {}), tuple(dict.fromkeys(context)), is_utc)
    _require_ours(wanted)
    with writing(out, files) as work, queries.connection() as con:
        found = [_schema(con, file) for file in files]
        used = _used(wanted, files, found)
        _read(con, files, wanted, used, found[0], advance)
        return _written(con, files, out, work, wanted, used, max_reject_share)


def _require_ours(wanted: Wanted) -> None:
    for ours in wanted.columns:
        if ours not in (*NEEDED, *OPTIONAL):
            close = difflib.get_close_matches(ours, (*NEEDED, *OPTIONAL), n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise UsageError(
                f"--column {ours} is none of {', '.join((*NEEDED, *OPTIONAL))}{hint}"
            )
    for name in wanted.context:
        outcomes = (c.ACTION, c.PROPENSITY, c.REWARD)
        if name in {*outcomes, *(wanted.columns.get(o, o) for o in outcomes)}:
            raise UsageError(
                f"{name!r} cannot be context: it tells what the logging policy drew or "
                "what came of it"
            )


def _schema(con: duckdb.DuckDBPyConnection, file: Path) -> dict[str, str]:
    try:
        described = con.sql(f"select * from {_source(file)} limit 0")  # noqa: S608
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise LogError(f"{file} cannot be read as a table: {reason}") from None
    return dict(zip(described.columns, map(str, described.types), strict=True))


def _source(file: Path) -> str:
    """The rows of a file as a DuckDB table; those of CSV all text."""
    listed = queries.files([str(file)])
    if file.suffix not in CSV:
        return f"read_parquet({listed}, hive_partitioning = false)"
    return (
        f"read_csv({listed}, header = true, all_varchar = true, store_rejects = true, "
        "null_padding = false)"
    )


def _used(
    wanted: Wanted, files: Sequence[Path], found: Sequence[Mapping[str, str]]
) -> dict[str, str]:
    """Ours to theirs, of the columns that are read. Raises: LogError for all others."""
    first = found[0]
    used = {ours: wanted.columns.get(ours, ours) for ours in NEEDED}
    for ours in OPTIONAL:
        theirs = wanted.columns.get(ours, ours)
        # Mapped, it is meant to be there.
        if ours in wanted.columns or theirs in first:
            used[ours] = theirs
    problems = []
    for file, schema in zip(files, found, strict=True):
        for name in dict.fromkeys([*used.values(), *wanted.context]):
            if name not in schema:
                held = ", ".join(schema)
                problems.append(f"  {file} has no column {name!r}; it has {held}")
            elif name in first and schema[name] != first[name]:
                problems.append(
                    f"  {name!r} is {first[name]} in {files[0]}, {schema[name]} in "
                    f"{file}"
                )
    if problems:
        told = "\n".join(problems)
        raise LogError(
            f"the files cannot be read so; nothing was imported:\n{told}\n"
            "Map other names with --column OURS=THEIRS."
        )
    return used


def _read(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    wanted: Wanted,
    used: Mapping[str, str],
    schema: Mapping[str, str],
    advance: Callable[[], None],
) -> None:
    members = [(queries.identifier(n), schema[n]) for n in wanted.context]
    types = ", ".join(f"{name} {type_}" for name, type_ in members)
    kinds = {"context": f"struct({types})" if members else "varchar"}
    run.start(con, Form("table", pieces=kinds))
    packed = ", ".join(f"{name} := {name}" for name, _ in members)
    pieces = {
        ours.replace(c.DECISION_ID, "event_id"): queries.identifier(used[ours])
        if ours in used
        else "null"
        for ours in (*NEEDED, *OPTIONAL)
    }
    first = 0
    for number, file in enumerate(files):
        values = {"file": number, "is_utc": wanted.is_utc}
        queries.run(
            con,
            "importers/table/read_file",
            values,
            source=_source(file),
            packed=f"struct_pack({packed})" if members else "null",
            **pieces,
        )
        if file.suffix in CSV:
            queries.run(con, "importers/table/malformed", values)
            con.execute("drop table reject_errors; drop table reject_scans")
        ((total,),) = con.execute("select count(*) from lines").fetchall()
        first = run.add_files(con, {number: file}, {number: total - first}, first)
        advance()


def _written(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    out: Path,
    work: Path,
    wanted: Wanted,
    used: Mapping[str, str],
    max_reject_share: float,
) -> Imported:
    values = {
        "has_ids": c.DECISION_ID in used,
        "is_dated": c.DECIDED_AT in used,
        "is_sampled": c.SAMPLE_PROBABILITY in used,
    }
    queries.run(con, "importers/table/broken_lines", values)
    found = run.accepted(con, out, work, max_reject_share=max_reject_share)
    is_text = all(file.suffix in CSV for file in files)
    context = [_context(con, name, is_text=is_text) for name in wanted.context]
    optional = [name for name in OPTIONAL if name != c.DECIDED_AT]
    without = [name for name in optional if name not in used]
    without += [] if context else ["context"]
    rows = run.write_days(
        con,
        "table",
        found.days,
        work,
        without=without,
        context=", ".join(context or ["context"]),
    )
    made = replace(found, decisions=rows)
    stub.write(
        out,
        stub.Stub(
            candidates={"online": "logging"}, context=wanted.context, decisions=STUB
        ),
    )
    settings = {
        "columns": dict(wanted.columns),
        "context": list(wanted.context),
        "is_utc": wanted.is_utc,
    }
    publish(work, made, form="table", files=files, settings=settings)
    return made


def _context(con: duckdb.DuckDBPyConnection, name: str, *, is_text: bool) -> str:
    """A context column as a DuckDB expression; text becomes what it could be."""
    column, named = f"context[{queries.literal(name)}]", queries.identifier(name)
    if is_text:
        ((is_whole, is_number),) = queries.run(con, "importers/table/kind", told=column)
        if is_whole or is_number:
            column = f"{column}::{'bigint' if is_whole else 'double'}"
    return f"{column} as {named}"
