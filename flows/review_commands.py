"""The commands about suggestions.

    untaken suggest      anew, once or again and again
    untaken suggestions  list | accept | reject | accept-all | reject-all | apply
                         | undo | forget

Each is about one state: that of a job file, or the folder named by `--state`.
"""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from flows import options as o
from flows.errors import DONE, UsageError, counted

if TYPE_CHECKING:
    from flows.suggestions.desk import Verdict
    from flows.suggestions.reviews import Reviewed
    from flows.suggestions.state import State

suggestions = App(
    name="suggestions", help="What users asked: list it, accept it, reject it."
)

By = Annotated[
    str | None, Parameter(help="Who decides, to be kept.", show_default=False)
]
Pair = Annotated[
    int | None, Parameter(help="Of this pair (qna_id) only.", show_default=False)
]
MinimumSize = Annotated[
    int, Parameter(help="Of suggestions with so many queries or more.")
]
Id = Annotated[
    str, Parameter(help="Of a suggestion, or the first digits that tell it apart.")
]
Question = Annotated[
    str | None,
    Parameter(help="One text of it; all when left out.", show_default=False),
]


def suggest(
    jobs: o.Jobs,
    /,
    *,
    every: Annotated[
        float | None,
        Parameter(help="Again and again, so many minutes after each start, until ^C."),
    ] = None,
) -> int:
    """Turns what users asked into alternate questions to review.

    Example: untaken suggest data/sample/untaken.toml
    """
    from flows.launch import run_suggest

    return run_suggest(jobs, every_minutes=every)


@suggestions.command(name="list")
def list_(
    job: o.ReviewedJob = None,
    /,
    *,
    state: o.StateFolder = None,
    json: Annotated[
        bool, Parameter(help="Print a document for machines.", show_default=False)
    ] = False,
) -> int:
    """What can be reviewed now, largest first; or why there is nothing.

    New: shown for the first time by the last run. Grown: shown before, and
    now half as large again or under another head.

    Example: untaken suggestions list data/sample/untaken.toml
    """
    from flows import suggesting
    from flows.offpolicy.document import to_json
    from flows.suggestions.document import text

    made = suggesting.document_of(_state(job, state))
    return _say(to_json(made).rstrip() if json else text(made))


@suggestions.command
def accept(
    id: Id,  # noqa: A002 - its name
    job: o.ReviewedJob = None,
    /,
    *,
    question: Question = None,
    by: By = None,
    state: o.StateFolder = None,
) -> int:
    """Accepts a suggestion, or one text of it, as alternate question of its pair.

    Example: untaken suggestions accept d3d10ba25aa1 data/sample/untaken.toml
    """
    return _one(_state(job, state), "accepted", id, question, by)


@suggestions.command
def reject(
    id: Id,  # noqa: A002 - its name
    job: o.ReviewedJob = None,
    /,
    *,
    question: Question = None,
    by: By = None,
    state: o.StateFolder = None,
) -> int:
    """Rejects a suggestion, or one text of it, for its pair, until it is undone.

    Example: untaken suggestions reject d3d10ba25aa1 data/sample/untaken.toml
    """
    return _one(_state(job, state), "rejected", id, question, by)


@suggestions.command
def accept_all(
    job: o.ReviewedJob = None,
    /,
    *,
    pair: Pair = None,
    minimum_size: MinimumSize = 1,
    by: By = None,
    state: o.StateFolder = None,
) -> int:
    """Accepts all that is open; texts offered to several pairs only where one is named.

    Example: untaken suggestions accept-all data/sample/untaken.toml --pair 4
    """
    return _all(_state(job, state), "accepted", by, pair, minimum_size)


@suggestions.command
def reject_all(
    job: o.ReviewedJob = None,
    /,
    *,
    pair: Pair = None,
    minimum_size: MinimumSize = 1,
    by: By = None,
    state: o.StateFolder = None,
) -> int:
    """Rejects all that is open, until it is undone.

    Example: untaken suggestions reject-all data/sample/untaken.toml --pair 4
    """
    return _all(_state(job, state), "rejected", by, pair, minimum_size)


@suggestions.command
def apply(
    file: Annotated[Path, Parameter(help="What the review page saved.")],
    job: o.ReviewedJob = None,
    /,
    *,
    by: By = None,
    state: o.StateFolder = None,
) -> int:
    """Takes the decisions that the review page saved, all or none.

    Example: untaken suggestions apply decisions-sample.json data/sample/untaken.toml
    """
    from flows.suggestions.reviews import applied

    at = _state(job, state)
    return _reviewed(at, applied(at, file, at=_now(), by=by))


@suggestions.command
def undo(
    id: Annotated[  # noqa: A002 - its name
        str,
        Parameter(
            help="Of a suggestion, or the first digits that tell it apart; or last: "
            "what the last command decided."
        ),
    ],
    job: o.ReviewedJob = None,
    /,
    *,
    question: Question = None,
    state: o.StateFolder = None,
) -> int:
    """Takes back what was accepted or rejected, as if it had never been decided.

    A file that was exported stays as it is; the next export leaves the texts out.

    Example: untaken suggestions undo last data/sample/untaken.toml
    """
    from flows import suggesting

    back = suggesting.undo(_state(job, state), id, question)
    return _say(
        f"taken back: {back.accepted_count} accepted, {back.rejected_count} rejected"
    )


@suggestions.command
def forget(
    user: Annotated[str, Parameter(help="The user's id, as the logs have it.")],
    job: o.ReviewedJob = None,
    /,
    *,
    state: o.StateFolder = None,
) -> int:
    """Removes a user's queries from the state, and texts that nobody else asked.

    Example: untaken suggestions forget ana@example.com data/sample/untaken.toml
    """
    from flows import suggesting

    gone = suggesting.forget(_state(job, state), user)
    if not gone.query_count:
        return _say("no event of this user is known; the id is that of the logs")
    return _say(
        f"{counted(gone.query_count, 'event')} removed, "
        f"{counted(gone.text_count, 'text')} that nobody else asked"
    )


def _state(job: Path | None, folder: Path | None) -> State:
    from flows import suggesting

    return suggesting.state_of(job, folder)


def _one(
    state: State, verdict: Verdict, id_: str, question: str | None, by: str | None
) -> int:
    from flows.suggestions.desk import Decision
    from flows.suggestions.reviews import reviewed

    decision = Decision(id_, verdict, question)
    return _reviewed(state, reviewed(state, [decision], at=_now(), by=by))


def _all(
    state: State, verdict: Verdict, by: str | None, pair: int | None, size: int
) -> int:
    from flows.suggestions.reviews import reviewed_all

    if pair is not None and pair not in state.load("questions")["questions"]["qna_id"]:
        raise UsageError(f"--pair {pair} is no pair of the knowledge base")
    if size < 1:
        raise UsageError(f"--minimum-size {size} must be 1 or more")
    made = reviewed_all(
        state, verdict, at=_now(), by=by, qna_id=pair, minimum_size=size
    )
    return _reviewed(state, made)


def _reviewed(state: State, made: Reviewed) -> int:
    from flows import suggesting

    suggesting.published(state)
    also = ""
    if left := made.left.height:
        also = f"; {counted(left, 'text')} left: name the pair of each with --pair"
    return _say(
        f"{made.accepted_count} accepted, {made.rejected_count} rejected, "
        f"{made.unchanged_count} decided so before{also}"
    )


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _say(told: str) -> int:
    sys.stdout.write(told + "\n")
    return DONE
