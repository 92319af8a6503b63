"""The commands that turn other tools' logs into a decision log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter, validators

from flows import options as o
from flows.errors import DONE, UsageError

if TYPE_CHECKING:
    from flows.importers import Imported

import_ = App(name="import", help="Logs of other tools, as a decision log.")

Paths = Annotated[tuple[str, ...], Parameter(help="Files, folders or quoted globs.")]
Out = Annotated[
    Path,
    Parameter(help="The folder to write: decisions/, rejects.parquet and a job file."),
]
LearningMode = Annotated[
    Literal["online", "apprentice", "logging-only"] | None,
    Parameter(
        help="How the service ran. In apprentice and logging-only mode it showed the "
        "baseline whatever its model chose.",
        show_default=False,
    ),
]
RewardPath = Annotated[
    str | None,
    Parameter(
        help="Where observed values that are objects hold the reward: names joined by "
        "dots.",
        show_default=False,
    ),
]
MaxRejectShare = Annotated[
    float,
    Parameter(
        help="Largest share of rejected lines, among those that could hold a decision.",
        validator=validators.Number(gte=0, lte=1),
    ),
]
Utc = Annotated[
    bool, Parameter(help="Times without a zone are UTC.", show_default=False)
]


@import_.command
def dsjson(
    path: Paths,
    /,
    *,
    out: Out,
    context: o.Context = (),
    learning_mode: LearningMode = None,
    reward_path: RewardPath = None,
    max_reject_share: MaxRejectShare = 0.05,
) -> int:
    """Decision-service logs, one JSON object a line (.json, .dsjson).

    Context is named as in c, nested names joined by dots.
    Example: untaken import dsjson logs --out imported
    """
    from flows import importers

    files = importers.find(path, endings=importers.DSJSON_ENDINGS)

    def work(advance: Callable[[], None]) -> Imported:
        return importers.dsjson(
            files,
            out,
            learning_mode=learning_mode,
            reward_path=reward_path,
            context=context,
            max_reject_share=max_reject_share,
            advance=advance,
        )

    return _shown(files, work)


@import_.command
def fb(path: Paths, /, *, out: Out, max_reject_share: MaxRejectShare = 0.05) -> int:
    """Binary decision-service logs, version 2 (.fb); their mode is in the files.

    Example: untaken import fb logs --out imported
    """
    from flows import importers

    files = importers.find(path, endings=importers.FB_ENDINGS)

    def work(advance: Callable[[], None]) -> Imported:
        return importers.fb(
            files, out, max_reject_share=max_reject_share, advance=advance
        )

    return _shown(files, work)


@import_.command
def jsonl(
    path: Paths,
    /,
    *,
    out: Out,
    context: o.Context = (),
    max_reject_share: MaxRejectShare = 0.05,
) -> int:
    """Case files: one JSON object a line with id, input and expected.

    Context is named as in input, nested names joined by dots.
    Example: untaken import jsonl cases.jsonl --out imported --context topic
    """
    from flows import importers

    files = importers.find(path, endings=importers.JSONL_ENDINGS)

    def work(advance: Callable[[], None]) -> Imported:
        return importers.jsonl(
            files,
            out,
            context=context,
            max_reject_share=max_reject_share,
            advance=advance,
        )

    return _shown(files, work)


@import_.command
def table(
    path: Paths,
    /,
    *,
    out: Out,
    column: o.Column = (),
    context: o.Context = (),
    utc: Utc = False,
    max_reject_share: MaxRejectShare = 0.05,
) -> int:
    """CSV or Parquet, a row a decision with the propensity of its action.

    Example, for the Open Bandit CSV: untaken import table men.csv --out imported
    --column decided_at=timestamp --column action=item_id --column reward=click
    --column propensity=propensity_score --context position
    """
    from flows import importers

    columns = dict(map(_pair, column))
    files = importers.find(path, endings=importers.TABLE_ENDINGS)

    def work(advance: Callable[[], None]) -> Imported:
        return importers.table(
            files,
            out,
            columns=columns,
            context=context,
            is_utc=utc,
            max_reject_share=max_reject_share,
            advance=advance,
        )

    return _shown(files, work)


def _pair(text: str) -> tuple[str, str]:
    ours, is_pair, theirs = text.partition("=")
    if not is_pair or not ours or not theirs:
        raise UsageError(f"--column {text!r} is not OURS=THEIRS")
    return ours, theirs


def _shown(
    files: Sequence[Path], work: Callable[[Callable[[], None]], Imported]
) -> int:
    """Does the work with a bar over the files, then prints what came of it."""
    from flows.progress import progress

    with progress() as shown, shown.step("importing", total=len(files)) as step:
        found = work(step.advance)
    sys.stdout.write(found.text() + "\n")
    return DONE
