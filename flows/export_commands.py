"""The command that exports a job's warehouse again, without running its night."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from flows import options as o


def export(
    job: o.Job,
    /,
    *,
    to: Annotated[
        str | None,
        Parameter(help="The target, by its name; all of them when left out."),
    ] = None,
) -> int:
    """Exports the tables that the last night published, as [outputs] export says.

    Only nights that a target lacks, or has otherwise, are written.
    Example: untaken export untaken.toml --to postgresql
    """
    from flows import exports
    from flows.job import load
    from flows.progress import progress

    read = load(job)
    with progress() as shown, shown.step("exporting"):
        ended = exports.export_again(read, to)
    exports.tell(read.name, ended)
    return exports.exit_code(ended)
