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

from flows.errors import DONE, UntakenError, worst
from flows.job import load
from flows.server import starting
from flows.steps import Asked
from flows.warehouse.settings import Job


def run_nightly(
    files: Sequence[Path],
    *,
    as_of: str | None,
    first: dt.date | None,
    last: dt.date | None,
) -> int:
    """Runs the night of every job and prints how each ended."""
    jobs = _with_also(files)
    asked = Asked(as_of=as_of, first=first, last=last)
    code = DONE
    with starting(jobs[0].results / "prefect") as server:
        from flows.nightly import nightly

        server.wait()
        for job in jobs:
            try:
                outcome = nightly(job, asked)
            except UntakenError as error:
                print(f"untaken: {job.name}: {error}", file=sys.stderr)
                code = worst(code, error.exit_code)
                continue
            code = worst(code, outcome.exit_code)
            print(f"{job.name}: {outcome.sentence}")
            if outcome.report is not None:
                print(f"  report     {outcome.report}")
            print(f"  warehouse  {outcome.warehouse}")
    return code


def _with_also(files: Sequence[Path]) -> list[Job]:
    """The jobs, each followed by those it names under `also`, each once."""
    jobs: list[Job] = []
    seen: set[Path] = set()
    queue = list(files)
    while queue:
        file = queue.pop(0)
        if file.resolve() in seen:
            continue
        seen.add(file.resolve())
        job = load(file)
        jobs.append(job)
        queue = [job.base / name for name in job.also] + queue
    return jobs
