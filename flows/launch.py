"""Starts a night: reads the job files, brings up Prefect's server, runs the flows.

Job files are read before anything is started, so a typing error costs no server. The
server starts while Prefect is imported, lives in the first job's results folder and
dies with this process. Suggestions of a job are made before its night, whose report
shows them; one that fails does not keep the other, or another job, from running. The
worst outcome decides the exit code.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from flows.asked import Asked
from flows.errors import DONE, JobError, UntakenError, UsageError, worst
from flows.exports import tell
from flows.job import JobFile, read
from flows.server import starting
from flows.suggestions.asked import SuggestionJob
from flows.warehouse.settings import Job


class Runs:
    """What has run, how it ended, and what is thrown when all have run."""

    def __init__(self, wrong: Sequence[str]) -> None:
        self.code, self.faults = DONE, list[Exception]()
        for error in wrong:
            sys.stderr.write(f"untaken: {error}\n")
            self.code = worst(self.code, JobError.exit_code)

    def run(self, name: str, work: Callable[[], int]) -> None:
        """Runs one flow; an expected error is told, any other kept for the end."""
        try:
            self.code = worst(self.code, work())
        except UntakenError as error:
            sys.stderr.write(f"untaken: {name}: {error}\n")
            self.code = worst(self.code, error.exit_code)
        except Exception as error:  # noqa: BLE001 - raised when all have run
            self.faults.append(error)

    def ended(self) -> int:
        """The exit code. Raises: the first fault."""
        if self.faults:
            raise self.faults[0]
        return self.code


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
    asked = Asked(as_of=as_of, first=first, last=last)
    with _served(files) as (jobs, runs):
        for job in jobs:
            # A replay of an old night would show it what was asked since.
            if job.suggestions is not None and asked == Asked():
                runs.run(job.name, partial(_suggest, job.suggestions))
            if job.evaluation is not None:
                runs.run(job.name, partial(_evaluate, job.evaluation, asked))
        return runs.ended()


def check_only(file: Path) -> str:
    """Validates all that a job file reads; returns what was found, in words."""
    from flows import checking, suggesting

    job = read(file)
    told = [checking.check_only(job.evaluation)] if job.evaluation else []
    if job.suggestions is not None:
        told.append(suggesting.check_only(job.suggestions))
    return "\n".join(told)


def run_suggest(files: Sequence[Path], *, every_minutes: float | None) -> int:
    """Makes the suggestions of every job anew, and prints how each ended.

    every_minutes: again and again, so long after each start, until it is ended.
    Raises: as `run_nightly`; also for a named job file without `[suggestions]`.
    """
    if every_minutes is not None and not 0 < every_minutes < math.inf:
        raise UsageError(f"--every {every_minutes:g}: write minutes, more than 0")
    with _served(files) as (jobs, runs):
        asking = [job.suggestions for job in jobs if job.suggestions is not None]
        # Further jobs of the same night need not ask for any.
        named = {read(file).name for file in files}
        silent = [n.name for n in jobs if n.suggestions is None and n.name in named]
        if silent:
            raise JobError(f"without [suggestions]: {', '.join(silent)}")
        while True:
            due = time.monotonic() + 60.0 * (every_minutes or 0.0)
            for job in asking:
                runs.run(job.name, partial(_suggest, job))
            if every_minutes is None:
                return runs.ended()
            try:
                time.sleep(max(0.0, due - time.monotonic()))
            except KeyboardInterrupt:
                return runs.ended()


@contextmanager
def _served(files: Sequence[Path]) -> Iterator[tuple[list[JobFile], Runs]]:
    """The jobs of some files, while Prefect's server is up."""
    jobs, wrong = _with_also(files)
    if not jobs:
        raise JobError("\n".join(wrong))
    runs = Runs(wrong)
    with starting(jobs[0].results / "prefect") as server:
        import flows.nightly
        import flows.suggest  # noqa: F401 - both import Prefect, while it starts

        server.wait()
        yield jobs, runs


def _evaluate(job: Job, asked: Asked) -> int:
    from flows.nightly import nightly

    outcome = nightly(job, asked)
    sys.stdout.write(f"{job.name}: {outcome.sentence}\n")
    if outcome.report is not None:
        sys.stdout.write(f"  report     {outcome.report}\n")
    sys.stdout.write(f"  warehouse  {outcome.warehouse}\n")
    tell(job.name, outcome.exports)
    return outcome.exit_code


def _suggest(job: SuggestionJob) -> int:
    from flows.suggest import suggest

    made = suggest(job)
    for warning in made.warnings:
        sys.stderr.write(f"untaken: {job.name}: warning: {warning}\n")
    sys.stdout.write(f"{job.name}: {made.sentence}\n")
    sys.stdout.write(f"  review     {made.page}\n")
    return DONE


def _with_also(files: Sequence[Path]) -> tuple[list[JobFile], list[str]]:
    """The jobs, each followed by those it names under `also`, each once.

    Returns: those that can be read, and what is wrong with the others.
    Raises: UsageError when two would write to one folder.
    """
    jobs: dict[Path, JobFile] = {}
    wrong: list[str] = []
    seen: set[Path] = set()
    queue = list(files)
    while queue:
        file = queue.pop(0)
        if file.resolve() in seen:
            continue
        seen.add(file.resolve())
        try:
            job = read(file)
        except JobError as error:
            wrong.append(str(error))
            continue
        if jobs.setdefault(job.results.resolve(), job) is not job:
            raise UsageError(
                f"{file} and another job file both write to {job.results}; give each "
                "job a name of its own"
            )
        queue = [*job.also, *queue]
    return list(jobs.values()), wrong
