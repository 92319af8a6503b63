"""The command line: `untaken COMMAND`.

Exit codes: 0 done, 2 invalid data, job file or usage, 3 not enough evidence (all
rewards missing), 5 a fault of untaken's own. Results go to standard output, errors to
standard error and without a traceback; UNTAKEN_DEBUG=1 shows one for a fault of ours.
"""

from __future__ import annotations

import datetime as dt
import errno
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Group, Parameter

from flows.errors import (
    DONE,
    INTERNAL_FAULT,
    REFUSED,
    UntakenError,
)

app = App(
    name="untaken",
    help="What would the policies you did not run have earned?",
    default_parameter=Parameter(negative=()),
)
DATA = Group("The log", sort_key=1)
STATISTICS = Group("The estimate", sort_key=2)

Jobs = Annotated[tuple[Path, ...], Parameter(help="Job files (untaken.toml).")]
Job = Annotated[Path, Parameter(help="A job file (untaken.toml).")]


@app.command
def nightly(
    jobs: Jobs,
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
def check(job: Job, /) -> int:
    """Validates the log and the candidates of a job file; scores nothing.

    Example: untaken check data/sample/untaken.toml
    """
    from flows.steps import check_only

    print(check_only(job))
    return DONE


@app.command
def report(
    job: Job,
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

    print(report_again(job, night))
    return DONE


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

    print(write_job(log, out))
    return DONE


@app.command
def evaluate(  # noqa: PLR0913 - each is an option of the command
    log: Annotated[
        tuple[str, ...],
        Parameter(help="Parquet files, folders or quoted globs.", group=DATA),
    ],
    /,
    *,
    candidate: Annotated[
        tuple[str, ...],
        Parameter(
            help="column:NAME, a candidate table (FILE, FILE@NAME), uniform, "
            "constant:ACTION, first, logging, module:function or row:module:function; "
            "give it once for each candidate."
        ),
    ],
    reward_range: Annotated[
        tuple[float, float],
        Parameter(help="Lowest and highest reward, by design.", group=STATISTICS),
    ],
    floor: Annotated[
        float,
        Parameter(
            help="Least logging probability of any action a candidate may take, by "
            "design.",
            group=STATISTICS,
        ),
    ],
    method: Annotated[
        Literal["mixture", "compat"], Parameter(group=STATISTICS)
    ] = "mixture",
    confidence: Annotated[float, Parameter(group=STATISTICS)] = 0.95,
    context: Annotated[
        tuple[str, ...],
        Parameter(help="A column candidates may see; repeat it.", group=DATA),
    ] = (),
    by: Annotated[
        tuple[str, ...],
        Parameter(help="A column to tell apart; repeat it.", group=DATA),
    ] = (),
    column: Annotated[
        tuple[str, ...],
        Parameter(
            help="OURS=THEIRS where the log names a column otherwise.", group=DATA
        ),
    ] = (),
    probabilities: Annotated[
        Literal["lists", "structs", "map", "wide"],
        Parameter(help="The form of the logging probabilities.", group=DATA),
    ] = "lists",
    sum_tolerance: Annotated[
        float,
        Parameter(help="How far a distribution may miss one.", group=DATA),
    ] = 1e-6,
    probabilities_field: Annotated[
        str, Parameter(help="Where a row: function puts its probabilities.", group=DATA)
    ] = "probabilities",
    violations: Annotated[
        Path | None, Parameter(help="Write all violating rows to this Parquet file.")
    ] = None,
    json: Annotated[bool, Parameter(help="Print a document for machines.")] = False,
) -> int:
    """Value and improvement of candidates on a log: no job file, one look.

    Example: untaken evaluate "log/*.parquet" --candidate column:new
    --reward-range 0 1 --floor 0.02
    """
    from flows.decisions import Layout
    from flows.offpolicy import evaluate as evaluated
    from flows.offpolicy.document import document, to_json
    from flows.offpolicy.text import summary
    from flows.policies import parse

    columns = dict(_pair(text) for text in column)
    found = evaluated(
        log,
        candidates=[
            parse(n, probabilities_field=probabilities_field) for n in candidate
        ],
        reward_range=reward_range,
        floor=floor,
        method=method,
        confidence=confidence,
        context=context,
        by=by,
        layout=Layout(
            columns=columns, probabilities=probabilities, sum_tolerance=sum_tolerance
        ),
        listing=violations,
    )
    sys.stdout.write(to_json(document(found)) if json else summary(found) + "\n")
    return found.exit_code


def _pair(text: str) -> tuple[str, str]:
    from flows.errors import UsageError

    ours, is_pair, theirs = text.partition("=")
    if not is_pair or not ours or not theirs:
        raise UsageError(f"--column {text!r} is not OURS=THEIRS")
    return ours, theirs


def main() -> None:
    """Runs the command of this process and ends it with its exit code."""
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
    except UntakenError as error:
        return _fail(str(error), error.exit_code)
    except CycloptsError as error:
        return _fail(f"{error} See: untaken --help", REFUSED)
    except KeyboardInterrupt:
        return _fail("interrupted; the last good results are untouched", REFUSED)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return DONE
    except Exception as error:
        if _is_disk(error):
            return _fail(f"{error}\nThe last good results are untouched.", REFUSED)
        if os.environ.get("UNTAKEN_DEBUG"):
            raise
        return _fail(
            f"a fault of ours: {type(error).__name__}: {error}\n"
            "The last good results are untouched. UNTAKEN_DEBUG=1 shows where.",
            INTERNAL_FAULT,
        )
    return code if isinstance(code, int) else DONE


def _is_disk(error: Exception) -> bool:
    """Whether the disk or the file system is at fault, in whatever engine's words."""
    full = os.strerror(errno.ENOSPC)
    return isinstance(error, OSError) or full.lower() in str(error).lower()


def _fail(message: str, code: int) -> int:
    sys.stdout.flush()
    print(f"untaken: {message}", file=sys.stderr)
    return code
