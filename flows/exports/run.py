"""Each target of a job in its turn; one that fails keeps no other from being written.

Relative paths start from the job file's folder; the URL of a server stands in a
variable of the environment, so that no job file holds a password.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from flows import queries
from flows.errors import DONE, REFUSED, UntakenError, UsageError
from flows.exports import delta, duckdb_file, hive, iceberg, postgresql, statements
from flows.exports.source import Source
from flows.exports.targets import ExportError, Target
from flows.exports.writing import Written, write
from flows.folder import Folder
from flows.places import WAREHOUSE
from flows.warehouse.settings import Export, Job

Opener = Callable[[Source, Export, Path], AbstractContextManager[Target]]
# path: of the target, resolved; of no meaning for a server.
OPENERS: dict[str, Opener] = {
    "duckdb": duckdb_file.opened,
    "parquet": lambda source, _, path: hive.opened(source, path),
    "postgresql": lambda source, export, _: postgresql.opened(
        source, export, _url(export) or ""
    ),
    "delta": delta.opened,
    "iceberg": lambda source, export, path: iceberg.opened(
        source, export, path, _url(export)
    ),
}


@dataclass(frozen=True, slots=True)
class Exported:
    """How the export to one target ended: what was written, or why nothing was."""

    name: str
    told: str
    error: Exception | None = None


def export_all(
    exports: Sequence[Export], work: Callable[[Export], Written]
) -> list[Exported]:
    """Exports to each target, whatever became of the one before.

    work: exports to one, such as `export_to` of a job.
    """
    ended = []
    for export in exports:
        try:
            ended.append(Exported(export.name, work(export).told()))
        except Exception as error:  # noqa: BLE001 - told, or raised, when all have run
            ended.append(Exported(export.name, str(error), error))
    return ended


def export_to(job: Job, export: Export) -> Written:
    """Exports a job's published warehouse to one target.

    Raises: ExportError; UsageError when nothing was published.
    """
    warehouse = job.results / WAREHOUSE
    if not warehouse.exists():
        raise UsageError(
            f"{job.results} holds no warehouse yet; run untaken nightly first"
        )
    with queries.connection() as con:
        source = Source(con, job.name, warehouse)
        tables = source.tables(export.tables)
        path = job.base / (export.path or "")
        if export.to in statements.DIALECTS:
            return statements.write(source, export, tables, path)
        with OPENERS[export.to](source, export, path) as target:
            return write(source, target, tables)


def export_again(job: Job, name: str | None) -> list[Exported]:
    """`untaken export`: to every target of a job, or to the one of that name.

    Raises: UsageError for a job without targets, and for an unknown name.
    """
    if not job.exports:
        raise UsageError(
            f"the job {job.name} exports nothing; name targets in its job file: "
            '[outputs] export = [{ to = "parquet", path = "export" }]'
        )
    names = [export.name for export in job.exports]
    if name is not None and name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(names)}"
        raise UsageError(f"--to {name}: no target of {job.name}; {hint}")
    asked = [export for export in job.exports if name in (None, export.name)]
    with Folder(job.results).alone():
        return export_all(asked, lambda export: export_to(job, export))


def exit_code(ended: Sequence[Exported]) -> int:
    """2 where an export failed; a fault of ours is raised instead."""
    return REFUSED if any(one.error for one in ended) else DONE


def tell(job: str, ended: Sequence[Exported]) -> None:
    """Says how each export of a job ended. Raises: the first fault of ours."""
    for one in ended:
        if one.error is None:
            sys.stdout.write(f"  export     {one.name}: {one.told}\n")
        else:
            sys.stderr.write(f"untaken: {job}: export to {one.name}: {one.told}\n")
    for one in ended:
        if one.error is not None and not isinstance(one.error, UntakenError):
            raise one.error


def _url(export: Export) -> str | None:
    """The URL in the variable that is named. Raises: ExportError when unset."""
    if export.url_env is None:
        return None
    url = os.environ.get(export.url_env)
    if not url:
        raise ExportError(
            f"the environment has no {export.url_env}, where the URL of the server "
            "is to stand"
        )
    return url
