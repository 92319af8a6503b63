"""`untaken query`: an analyst's SQL over what a job's nights left.

It starts at once: of the job file only the name is read, which says where the results
are. Where a file says none, or none are there, all of it is read to tell why.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from flows import options as o
from flows.errors import DONE, UsageError
from flows.places import WAREHOUSE, results_of

if TYPE_CHECKING:
    from flows.warehouse.querying import Form

# Of an answer's file.
ENDINGS: dict[str, Form] = {".csv": "csv", ".json": "json", ".parquet": "parquet"}


def query(
    job: o.Job,
    sql: Annotated[  # which may begin with a comment
        str, Parameter(help="One query that reads.", allow_leading_hyphen=True)
    ],
    /,
    *,
    format: Annotated[  # noqa: A002 - its name
        Literal["table", "csv", "json", "parquet"] | None,
        Parameter(
            help="How it is answered: by the ending of --out, else as a table, which "
            "shows the first and last rows of a long answer.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, Parameter(help="Write the answer here.", show_default=False)
    ] = None,
) -> int:
    """Answers SQL over the job's warehouse: tables, views, macros, and your files.

    Worked queries: sql/README.md. Reading waits for no night, and none waits for it.
    Example: untaken query data/sample/untaken.toml "from answers"
    """
    from flows.warehouse.querying import answer

    form = format or (ENDINGS.get(out.suffix) if out else None) or "table"
    answer(_warehouse(job), sql, form=form, out=out)
    return DONE


def _warehouse(file: Path) -> Path:
    """The warehouse of a job file. Raises: JobError, UsageError where there is none."""
    results = _results(file)
    if results is None or not (results / WAREHOUSE).is_file():
        from flows.job import load

        results = load(file).results
        if not (results / WAREHOUSE).is_file():
            raise UsageError(
                f"{results} holds no night yet; run: untaken nightly {file}"
            )
    return results / WAREHOUSE


def _results(file: Path) -> Path | None:
    """Where a job's results are, as far as its name alone tells."""
    try:
        name = tomllib.loads(file.read_text(encoding="utf-8"))["job"]["name"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return results_of(file.parent, name) if isinstance(name, str) else None
