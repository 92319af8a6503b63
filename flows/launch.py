"""Starts a night: reads the job files, brings up Prefect's server, runs the flow.

Job files are read before anything is started, so a typing error costs no server. The
server starts while Prefect is imported, lives in the first job's results folder and
dies with this process. One job that fails does not keep the others from running; the
worst outcome decides the exit code.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path

from flows.asked import Asked
from flows.errors import DONE, JobError, UntakenError, UsageError, worst
from flows.job import load
from flows.server import starting
from flows.warehouse.settings import Job


def run_nightly(
    files: Sequence[Path],
    *,
    as_of: str | None,
    first: dt.date | None,
    last: dt.date | None,
) -> int:
    """Runs the night of every job and prints how each ended.

    Raises: UsageError for the job files; at the end, what no job should end with.
    """
    jobs, wrong = _with_also(files)
    if not jobs:
        raise JobError("\n".join(wrong))
    asked = Asked(as_of=as_of, first=first, last=last)
    code, faults = DONE, list[Exception]()
    for error in wrong:
        sys.stderr.write(f"untaken: {error}\n")
        code = worst(code, JobError.exit_code)
    with starting(jobs[0].results / "prefect") as server:
        from flows.nightly import nightly

        server.wait()
        for job in jobs:
            try:
                outcome = nightly(job, asked)
            except UntakenError as error:
                sys.stderr.write(f"untaken: {job.name}: {error}\n")
                code = worst(code, error.exit_code)
            except Exception as error:  # noqa: BLE001 - raised when all have run
                faults.append(error)
            else:
                code = worst(code, outcome.exit_code)
                sys.stdout.write(f"{job.name}: {outcome.sentence}\n")
                if outcome.report is not None:
                    sys.stdout.write(f"  report     {outcome.report}\n")
                sys.stdout.write(f"  warehouse  {outcome.warehouse}\n")
    if faults:
        raise faults[0]
    return code


def _with_also(files: Sequence[Path]) -> tuple[list[Job], list[str]]:
    """The jobs, each followed by those it names under `also`, each once.

    Returns: those that can be read, and what is wrong with the others.
    Raises: UsageError when two would write to one folder.
    """
    jobs: dict[Path, Job] = {}
    wrong: list[str] = []
    seen: set[Path] = set()
    queue = list(files)
    while queue:
        file = queue.pop(0)
        if file.resolve() in seen:
            continue
        seen.add(file.resolve())
        try:
            job = load(file)
        except JobError as error:
            wrong.append(str(error))
            continue
        if jobs.setdefault(job.results.resolve(), job) is not job:
            raise UsageError(
                f"{file} and another job file both write to {job.results}; give each "
                "job a name of its own"
            )
        queue = [job.base / name for name in job.also] + queue
    return list(jobs.values()), wrong
