"""The tables of a job's warehouse, written to where others keep theirs.

source      what is exported: tables, nights, columns and what they mean; read only
writing     brings a target up to date: what changed, in the order that is safe
targets     what a target is; `duckdb_file`, `postgresql`, `hive`, `delta`, `iceberg`
statements  Parquet and a load statement, for warehouses that are loaded by hand
run         each target of a job in its turn

Every row has the name of its job first, so that several jobs share a target. A table
is replaced night by night, or whole:

    by night   estimates, revisions
    by day     missing, rewards, evidence (where asked for): the night is the day
    whole      runs, settings, candidates, known_segments, frequencies, violations,
               suggestions, suggestion_reviews

A night that is written again loses all rows it had of its job and gets those of now; a
night that the log no longer holds stays in the target as it was last exported, since a
warehouse outlives the retention of a log. The table `exported`, written last, says
which night of which table was written when, and a digest of its rows: a night whose
digest and number of rows are those of now is not written again. A target that was away
for some nights gets them all the next time.

    target       in one step                        columns that are new
    duckdb       the whole export, a transaction    alter table
    postgresql   the whole export, a transaction    alter table
    parquet      each night, a file renamed         in the files written from then on
    delta        each table, commits                added to the schema
    iceberg      each table, commits                added to the schema

Where a target has a column that we have not, or another type, nothing is written.
"""

from __future__ import annotations

from flows.exports.run import (
    Exported,
    exit_code,
    export_again,
    export_all,
    export_to,
    tell,
)
from flows.exports.source import TABLES, USUAL
from flows.exports.targets import ExportError
from flows.exports.writing import Written

__all__ = [
    "TABLES",
    "USUAL",
    "ExportError",
    "Exported",
    "Written",
    "exit_code",
    "export_again",
    "export_all",
    "export_to",
    "tell",
]
