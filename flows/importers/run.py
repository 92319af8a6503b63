"""What every importer does: reads lines, sets some aside, writes days, moves them.

The SQL files of a form stand in `sql/importers/FORM/`. Its steps add the lines of files
to a table; the table `lines` then has a row for every line, with `file`, `event_id`,
`is_dated` and `decided_at` in every form. Rules of the form fill `set_aside (line_id,
outcome, reason, value)`, and `decisions` makes a table of the rest, of which a file is
written for each UTC day.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb

from flows import columns as c
from flows import queries
from flows.errors import LogError
from flows.importers.files import configured_at
from flows.importers.lines import Form, batches, read_lines
from flows.importers.outcome import DECISIONS, REFUSED, REJECTS, Imported, Reason

DAYS_AT_ONCE = 4


def start(con: duckdb.DuckDBPyConnection, form: Form) -> None:
    """Makes the tables of files and of lines, empty."""
    queries.run(con, "importers/files")
    for step in queries.names(f"importers/{form.name}/start"):
        queries.run(con, step, None, **form.pieces)


def add_files(
    con: duckdb.DuckDBPyConnection,
    files: Mapping[int, Path],
    counts: Mapping[int, int],
    first_line: int,
) -> int:
    """Adds files to their table, by number, and returns the next file's first line.

    counts: of their lines. first_line: of the first file, among all lines.
    """
    first_lines = list(accumulate(counts.values(), initial=first_line))
    values = {
        "numbers": list(files),
        "paths": [str(file) for file in files.values()],
        "configured_at": [configured_at(file) for file in files.values()],
        "first_lines": first_lines[:-1],
    }
    queries.run(con, "importers/add_files", values)
    return first_lines[-1]


def read(
    con: duckdb.DuckDBPyConnection,
    form: Form,
    files: Sequence[Path],
    work: Path,
    advance: Callable[[], None],
) -> None:
    """Reads every line of every file into the table of the form."""
    start(con, form)
    first_line = 0
    for batch in batches(files):
        counts = read_lines(con, form, batch, work / "copy")
        first_line = add_files(con, batch, counts, first_line)
        for _ in batch:
            advance()


def is_dated(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether any line tells a time; the others are then rejected."""
    ((found,),) = con.execute("select bool_or(is_dated) from lines").fetchall()
    return bool(found)


def accepted(
    con: duckdb.DuckDBPyConnection, out: Path, work: Path, *, max_reject_share: float
) -> Imported:
    """Writes the list of what was set aside, and says what is kept.

    Raises: LogError past the limit or without a decision; the list then stands in
    `out`, and nothing else of it is changed.
    """
    listing = queries.literal(str(work / REJECTS))
    queries.run(con, "importers/rejects", file=listing)
    ((lines,),) = con.execute("select count(*) from lines").fetchall()
    reasons = queries.run(con, "importers/counts")
    days = queries.run(con, "importers/days", {"is_dated": is_dated(con)})
    found = Imported(
        out=out,
        lines=lines,
        decisions=0,
        reasons=tuple(Reason(*reason) for reason in reasons),
        days=tuple(str(day) for (day,) in days if day is not None),
    )
    try:
        found.require(max_reject_share=max_reject_share)
    except LogError:
        (work / REJECTS).replace(out / REFUSED)
        raise
    return found


def write_days(
    con: duckdb.DuckDBPyConnection,
    form: str,
    days: Sequence[str],
    work: Path,
    values: Mapping[str, Any] | None = None,
    without: Sequence[str] = (),
    **pieces: str,
) -> int:
    """Writes the log, a file a day, or one without times; returns its rows.

    without: columns that the log does not have.
    """
    queries.run(con, f"importers/{form}/decisions", values, **pieces)
    undated = () if days else (c.DECIDED_AT,)
    left_out = ", ".join([*without, *undated])
    columns = f"* exclude ({left_out})" if left_out else "*"

    def write(day: str | None) -> int:
        folder = work / DECISIONS / f"day={day or 'undated'}"
        folder.mkdir(parents=True)
        start = f"{queries.literal(f'{day} 00:00:00+00')}::timestamptz"
        within = f"decided_at >= {start} and decided_at < {start} + interval 1 day"
        # The tables of a day are too small for DuckDB to share among its threads.
        with con.cursor() as cursor:
            ((count,),) = queries.run(
                cursor,
                f"importers/{form}/day",
                day=within if day else "true",
                columns=columns,
                file=queries.literal(str(folder / "part-0.parquet")),
            )
        return int(count)

    with ThreadPoolExecutor(DAYS_AT_ONCE) as pool:
        return sum(pool.map(write, days or (None,)))
