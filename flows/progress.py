"""What a run is doing, on standard error, while it does it.

In a terminal: a line a step, with a spinner, a bar where the number of pieces is
known, and the time taken; finished lines stay. Anywhere else (a file, a pipe, the
scheduler's log): nothing at all, so that a log holds results and errors only.

    with progress() as steps:
        with steps.step("Checks", total=len(days)) as step:
            for day in days:
                check(day)
                step.advance()

Steps may be opened and advanced from several threads at once, those of Prefect's
tasks included. rich is imported only where something is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Step:
    """One line of the display."""

    def __init__(self, shown: tuple[Progress, TaskID] | None) -> None:
        self._shown = shown

    def advance(self, pieces: int = 1) -> None:
        """Counts `pieces` more as done."""
        if self._shown is not None:
            display, line = self._shown
            display.advance(line, pieces)


class Steps:
    """The display, or its silent stand-in."""

    def __init__(self, display: Progress | None = None) -> None:
        self._display = display

    @contextmanager
    def step(self, title: str, total: int | None = None) -> Iterator[Step]:
        """A line that runs for the length of the block.

        total: number of pieces; None when it is not known.
        An error leaves the line where it stood.
        """
        if self._display is None:
            yield Step(None)
            return
        line = self._display.add_task(title, total=total)
        try:
            yield Step((self._display, line))
        except BaseException:
            self._display.stop_task(line)
            raise
        self._display.update(line, total=total or 1, completed=total or 1)


@contextmanager
def progress(enabled: bool | None = None) -> Iterator[Steps]:  # noqa: FBT001 - one flag
    """Shows the steps of a run for the length of the block.

    enabled: whether to show them; by default when standard error is a terminal.
    """
    if not (sys.stderr.isatty() if enabled is None else enabled):
        yield Steps()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    with Progress(
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        redirect_stdout=False,  # standard output may be a file that wants results only
    ) as display:
        yield Steps(display)
