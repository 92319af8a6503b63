"""The commands about a knowledge-base file: into a state, and out of it."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from flows import options as o
from flows.errors import DONE, counted

kb = App(name="kb", help="A knowledge-base file: into a state, and out of it.")

# What a spreadsheet takes for the start of a formula.
FORMULAS = ("=", "+", "-", "@")
Casing = Literal["found", "camelCase", "PascalCase"]


@kb.command(name="import")
def import_(
    file: Annotated[Path, Parameter(help="TSV, replica ZIP or JSON project.")],
    /,
    *,
    state: Annotated[Path, Parameter(help="The folder of the state.")],
    name: Annotated[
        str | None,
        Parameter(help="Of the knowledge base; the file's when left out."),
    ] = None,
) -> int:
    """Takes a knowledge-base file into a state, all or nothing.

    Example: untaken kb import data/sample/kb.tsv --state kb-state
    """
    from flows.suggestions.baseline import imported
    from flows.suggestions.state import State

    at = State(state)
    known = at.facts().get("name")
    took = imported(
        at, file, name=name or known or file.stem, at=dt.datetime.now(dt.UTC)
    )
    for remark in took.base.warnings:
        sys.stderr.write(f"untaken: warning: {remark}\n")
    for clash in took.clashes.iter_rows(named=True):
        pairs = ", ".join(map(str, clash["pairs"]))
        sys.stderr.write(
            f"untaken: warning: {clash['questions'][0]!r} is a question of pairs "
            f"{pairs}\n"
        )
    questions = counted(took.base.questions.height, "question")
    told = f"{counted(took.base.pairs.height, 'pair')}, {questions}"
    if took.is_unchanged:
        return _say(f"{told}; nothing changed since the last import")
    return _say(
        f"{told}; {took.added_count} added, {took.removed_count} removed, "
        f"{took.accepted_count} accepted by the file"
    )


@kb.command
def export(
    job: o.ReviewedJob = None,
    /,
    *,
    out: Annotated[Path, Parameter(help="The file to write.")],
    state: o.StateFolder = None,
    casing: Annotated[
        Casing, Parameter(help="Of the keys of suggestions: as found, or one way.")
    ] = "found",
) -> int:
    """Writes the knowledge-base file with what was accepted and what waits.

    Example: untaken kb export --state kb-state --out kb.tsv
    """
    from flows import suggesting

    state_ = suggesting.state_of(job, state)
    added, waiting = suggesting.export(state_, out, casing=casing)
    for text in added:
        if text.startswith(FORMULAS):
            sys.stderr.write(
                f"untaken: warning: {text!r} is a formula where a spreadsheet opens "
                f"{out}\n"
            )
    return _say(
        f"{out}: {counted(len(added), 'accepted question')} added, "
        f"{counted(waiting, 'text')} left as suggestions"
    )


def _say(told: str) -> int:
    sys.stdout.write(told + "\n")
    return DONE
