"""Parquet and the statements that load it, for Snowflake and BigQuery. Untested.

    PATH/shop/estimates.parquet   all rows of the job, one file a table
    PATH/shop/load.sql            to be run there, by whoever may

The statements are written after the two services' documentation and were never run by
us: neither can be had without an account. They make the tables where they are not
there, add columns that are new, load each file into a table beside, and replace nights
in one transaction, as other targets do. Each export writes everything, since what was
loaded is not known here. Snowflake takes the files from this machine (PUT, to the stage
of the user); BigQuery finds them where `uri` says, and somebody has to copy them there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from flows import queries
from flows.exports.source import EXPORTED, Entry, Kind, Night, Source, Table
from flows.exports.targets import ExportError
from flows.exports.writing import Written, entries_of
from flows.folder import replacing
from flows.warehouse.settings import Export

SCRIPT = "load.sql"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a service writes what the statements need.

    comment: of a column, and of a table; load: a file into a table beside.
    """

    title: str
    types: Mapping[Kind, str]
    quoted: Callable[[str], str]
    text: Callable[[str], str]
    comment: str
    table_comment: str
    load: str
    transaction: tuple[str, str]


def _backslashed(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


DIALECTS = {
    "snowflake": Dialect(
        title="Snowflake",
        types={
            "text": "varchar",
            "double": "double",
            "integer": "bigint",
            "boolean": "boolean",
            "date": "date",
            "instant": "timestamp_tz",
        },
        # In capitals, as a name without quotes is read there.
        quoted=lambda name: f'"{name.upper()}"',
        text=queries.literal,
        comment=" comment {}",
        table_comment=" comment = {}",
        load="""create or replace table {beside} like {place};
put 'file://{file}' '@~/untaken/{job}' overwrite = true auto_compress = false;
copy into {beside} from '@~/untaken/{job}/{name}.parquet'
    file_format = (type = parquet use_logical_type = true)
    match_by_column_name = case_insensitive;""",
        transaction=("begin", "commit"),
    ),
    "bigquery": Dialect(
        title="BigQuery",
        types={
            "text": "string",
            "double": "float64",
            "integer": "int64",
            "boolean": "bool",
            "date": "date",
            "instant": "timestamp",
        },
        quoted=lambda name: f"`{name}`",
        text=_backslashed,
        comment=" options (description = {})",
        table_comment=" options (description = {})",
        load="""load data overwrite {beside} (
    {columns}
)
from files (format = 'PARQUET', uris = ['{uri}/{job}/{name}.parquet']);""",
        transaction=("begin transaction", "commit transaction"),
    ),
}


def write(
    source: Source, export: Export, tables: Sequence[Table], root: Path
) -> Written:
    """Writes the files, then the statements. Raises: ExportError."""
    folder = root / source.job
    entries, rows = dict[tuple[str, Night], Entry](), 0
    for table in tables:
        slices = source.slices(table)
        entries |= entries_of(table, slices, slices)
        rows += sum(one.row_count for one in slices.values())
    source.note(entries)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table in (*tables, EXPORTED):
            _copy(source, table, folder / f"{table.name}.parquet")
        script = folder / SCRIPT
        with replacing(script) as beside:
            lines = _script(source, export, tables, folder)
            beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except (duckdb.Error, OSError) as error:
        raise ExportError(
            f"{folder}: {error}. Files written before stay as they are now"
        ) from None
    return Written(rows, tuple(table.name for table in tables), script)


def _copy(source: Source, table: Table, file: Path) -> None:
    rows = source.query(table, None)
    with replacing(file) as beside:
        target = queries.literal(str(beside))
        queries.execute(source.con, f"copy ({rows}) to {target} (format parquet)")


def _script(
    source: Source, export: Export, tables: Sequence[Table], folder: Path
) -> Iterator[str]:
    speech, every = DIALECTS[export.to], (*tables, EXPORTED)
    job = speech.text(source.job)
    yield f"-- Loads the tables of the job {source.job} into {speech.title}."
    yield "-- Untested: written after its documentation, never run by untaken's makers."
    yield "-- Not two at once: they share the tables incoming_*."
    yield f"create schema if not exists {speech.quoted(export.namespace)};"
    for table in every:
        yield from _made(speech, table, _place(speech, export, table.name))
    for table in every:
        yield speech.load.format(
            beside=_place(speech, export, f"incoming_{table.name}"),
            place=_place(speech, export, table.name),
            columns=",\n    ".join(_columns(speech, table)),
            file=(folder / f"{table.name}.parquet").resolve(),
            uri=(export.uri or "").rstrip("/"),
            job=source.job,
            name=table.name,
        )
    yield from _exchanged(speech, export, every, job)
    for table in every:
        yield f"drop table {_place(speech, export, f'incoming_{table.name}')};"


def _exchanged(
    speech: Dialect, export: Export, tables: Sequence[Table], job: str
) -> Iterator[str]:
    """Statements that put the incoming rows in the place of those of their nights."""
    begin, commit = speech.transaction
    quoted, known = speech.quoted, _place(speech, export, f"incoming_{EXPORTED.name}")
    yield f"{begin};"
    for table in tables:
        place = _place(speech, export, table.name)
        condition = f"{quoted('job')} = {job}"
        if table.night is not None:
            name = f"{quoted('table_name')} = {speech.text(table.name)}"
            nights = f"select {quoted('night')} from {known} where {name}"  # noqa: S608 - written, not run
            condition += f"\n    and {quoted(table.night)} in ({nights})"
        yield f"delete from {place}\nwhere {condition};"  # noqa: S608 - likewise
    for table in tables:
        names = ", ".join(quoted(column.name) for column in table.columns)
        beside = _place(speech, export, f"incoming_{table.name}")
        place = _place(speech, export, table.name)
        yield f"insert into {place} ({names})\nselect {names} from {beside};"
    yield f"{commit};"


def _made(speech: Dialect, table: Table, place: str) -> Iterator[str]:
    """Statements that make a table, and what a later version added to it."""
    columns = [
        column + speech.comment.format(speech.text(one.meaning))
        for column, one in zip(_columns(speech, table), table.columns, strict=True)
    ]
    comment = speech.table_comment.format(speech.text(table.meaning))
    listed = ",\n    ".join(columns)
    yield f"create table if not exists {place} (\n    {listed}\n){comment};"
    for column in columns:
        yield f"alter table {place} add column if not exists {column};"


def _columns(speech: Dialect, table: Table) -> list[str]:
    return [
        f"{speech.quoted(one.name)} {speech.types[one.kind]}" for one in table.columns
    ]


def _place(speech: Dialect, export: Export, name: str) -> str:
    return f"{speech.quoted(export.namespace)}.{speech.quoted(name)}"
