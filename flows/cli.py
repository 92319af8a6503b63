"""The command line: `untaken COMMAND`.

Exit codes: 0 done, 2 invalid data, job file or usage, 3 not enough evidence (all
rewards missing), 5 a fault of untaken's own. Results go to standard output, errors to
standard error and without a traceback; UNTAKEN_DEBUG=1 shows one for a fault of ours.
"""

from __future__ import annotations

import datetime as dt
import errno
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter

from flows import options as o
from flows.errors import DONE, INTERNAL_FAULT, REFUSED, UntakenError
from flows.export_commands import export
from flows.import_commands import import_
from flows.kb_commands import kb
from flows.query_commands import query
from flows.review_commands import suggest, suggestions
from flows.version import version

app = App(
    name="untaken",
    help="What would the policies you did not run have earned?",
    version=version,
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
for further in (query, export, suggest, suggestions, kb, import_):
    app.command(further)


@app.command
def nightly(
    jobs: o.Jobs,
    /,
    *,
    as_of: Annotated[
        str | None, Parameter(help="Replay this night: a date, or an instant in UTC.")
    ] = None,
    first: Annotated[
        dt.date | None, Parameter(name="--from", help="Backfill from this night ...")
    ] = None,
    last: Annotated[
        dt.date | None, Parameter(name="--to", help="... to this one (the newest).")
    ] = None,
) -> int:
    """Does everything a job file says, for its newest night.

    Example: untaken nightly data/sample/untaken.toml
    """
    from flows.launch import run_nightly

    return run_nightly(jobs, as_of=as_of, first=first, last=last)


@app.command
def check(job: o.Job, /) -> int:
    """Validates all that a job file reads; scores nothing.

    Example: untaken check data/sample/untaken.toml
    """
    from flows.launch import check_only

    with _working("checking"):
        told = check_only(job)
    _say(told)
    return DONE


@app.command
def report(
    job: o.Job,
    /,
    *,
    night: Annotated[
        dt.date | None, Parameter(help="The night; the newest when left out.")
    ] = None,
) -> int:
    """Writes the reports of a night again, from the results that are there.

    Example: untaken report data/sample/untaken.toml
    """
    from flows.steps import report_again

    with _working("reporting"):
        told = report_again(job, night)
    _say(told)
    return DONE


@app.command
def interval(
    job: o.Job,
    /,
    *,
    candidate: o.Candidate,
    other: o.Other = None,
    since: o.Since = None,
    last: o.Last = None,
    until: o.Until = None,
    where: o.Where = None,
    json: o.Json = False,
) -> int:
    """An estimate for any nights and declared segments, without reading the log.

    Example: untaken interval data/sample/untaken.toml --candidate thompson
    --where "position = 2"
    """
    from flows import on_demand
    from flows.offpolicy.document import to_json
    from flows.offpolicy.told import answer_document, answer_text

    found = on_demand.interval(
        job,
        candidate=candidate,
        other=other,
        since=since,
        last=last,
        until=until,
        where=where,
    )
    _say(to_json(answer_document(found)).rstrip() if json else answer_text(found))
    return found.exit_code


@app.command
def plan(
    job: o.Job,
    /,
    *,
    candidate: o.Candidate,
    estimand: o.Estimand = "improvement",
    above: o.Above = None,
    below: o.Below = None,
    json: o.Json = False,
) -> int:
    """Projects how many more decisions and nights an answer will take.

    Without --above or --below: until an improvement above 0 is certain.
    Example: untaken plan data/sample/untaken.toml --candidate thompson
    """
    from flows import on_demand
    from flows.offpolicy.document import to_json
    from flows.offpolicy.told import outlook_document, outlook_text

    with _working("projecting"):
        found = on_demand.plan(
            job, candidate=candidate, estimand=estimand, above=above, below=below
        )
    _say(to_json(outlook_document(found)).rstrip() if json else outlook_text(found))
    return found.exit_code


@app.command
def init(
    log: Annotated[tuple[str, ...], Parameter(help="Files, a folder or quoted globs.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="The job file to write.")] = Path(
        "untaken.toml"
    ),
) -> int:
    """Looks at a log's columns and writes a commented job file for it.

    Example: untaken init "decisions/day=*/*.parquet"
    """
    from flows.starter import write_job

    _say(write_job(log, out))
    return DONE


@app.command
def evaluate(  # noqa: PLR0913 - each is an option of the command
    log: o.Log,
    /,
    *,
    candidate: o.Candidates,
    reward_range: o.RewardRange,
    floor: o.Floor,
    context: o.Context = (),
    by: o.By = (),
    probabilities_field: o.ProbabilitiesField = "probabilities",
    reading: o.Reading = o.USUAL_READING,
    making: o.Making = o.USUAL_MAKING,
    violations: o.Violations = None,
    json: Annotated[
        bool, Parameter(help="Print a document for machines.", show_default=False)
    ] = False,
) -> int:
    """Value and improvement of candidates on a log: no job file, one look.

    Example: untaken evaluate "log/*.parquet" --candidate column:new
    --reward-range 0 1 --floor 0.02
    """
    from flows.offpolicy import evaluate as evaluated
    from flows.offpolicy.document import document, to_json
    from flows.offpolicy.text import summary
    from flows.policies import parse

    with _working("evaluating"):
        found = evaluated(
            log,
            candidates=[
                parse(n, probabilities_field=probabilities_field) for n in candidate
            ],
            reward_range=reward_range,
            floor=floor,
            context=context,
            by=by,
            layout=reading.layout(),
            listing=violations,
            **asdict(making),
        )
    _say((to_json(document(found)) if json else summary(found)).rstrip())
    return found.exit_code


@contextmanager
def _working(title: str) -> Iterator[None]:
    """Shows in a terminal that something is being done, and for how long."""
    from flows.progress import progress

    with progress() as shown, shown.step(title):
        yield


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def main() -> None:
    """Runs the command of this process and ends it with its exit code.

    A polite end (SIGTERM, as a scheduler sends it) is one that cleans up, like Ctrl-C.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What is imported from here on stays; looking for garbage in it costs a tenth of a
    # small evaluation.
    gc.set_threshold(100_000)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs the command and returns its exit code."""
    try:
        code = app(
            arguments,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except BrokenPipeError:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        return DONE
    except (Exception, KeyboardInterrupt) as error:
        message, failed = _told(error)
        if failed == INTERNAL_FAULT and os.environ.get("UNTAKEN_DEBUG"):
            raise
        sys.stdout.flush()
        sys.stderr.write(f"untaken: {message}\n")
        return failed
    return code if isinstance(code, int) else DONE


def _told(error: BaseException) -> tuple[str, int]:
    """What a user is told about an error, and the exit code."""
    if isinstance(error, UntakenError):
        return str(error), error.exit_code
    if isinstance(error, CycloptsError):
        return f"{error} See: untaken --help", REFUSED
    untouched = "No result was changed."
    if isinstance(error, KeyboardInterrupt):
        return f"interrupted. {untouched}", REFUSED
    if _is_disk(error):
        return f"{error}\n{untouched}", REFUSED
    fault = f"a fault of ours: {type(error).__name__}: {error}"
    return f"{fault}\n{untouched} UNTAKEN_DEBUG=1 shows where.", INTERNAL_FAULT


def _is_disk(error: BaseException) -> bool:
    """Whether the disk or the file system is at fault, in whatever engine's words."""
    said = str(error).lower()
    return isinstance(error, OSError) or any(
        os.strerror(code).lower() in said
        for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    )
