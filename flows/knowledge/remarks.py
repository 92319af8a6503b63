"""What is told about a knowledge-base file: problems, which stop, and warnings.

Reading is all or nothing: every problem of a file is collected before one error tells
them all, each with its file, row, column, the value found and what to do. A warning
changes nothing; what it speaks of is kept as it was found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from flows.errors import REFUSED, UntakenError, counted

# How much of a value, and how many problems, a message shows.
SHOWN_CHARACTERS = 60
SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing told about a file.

    row: line of the file as an editor counts it, from 1; None: the whole file.
    column: the column's name, or in JSON the place, such as `assets.qnas[3].id`.
    """

    file: str
    row: int | None
    column: str | None
    fact: str
    value: str | None
    remedy: str

    def __str__(self) -> str:
        row = None if self.row is None else f"row {self.row:,}"
        column = None if self.column is None else f"column {self.column}"
        place = ", ".join(part for part in (self.file, row, column) if part is not None)
        found = "" if self.value is None else f": {shown(self.value)}"
        return f"{place}: {self.fact}{found}. {self.remedy}"


class KnowledgeBaseError(UntakenError):
    """A knowledge base cannot be read, or what is asked cannot be written to it.

    problems: all of them, in the order of the file.
    outcome: what was therefore not done, `read` or `written`.
    """

    exit_code = REFUSED

    def __init__(self, problems: Iterable[Remark], *, outcome: str) -> None:
        self.problems = tuple(problems)
        found = counted(len(self.problems), "problem")
        lines = [f"{found} with the knowledge base; nothing was {outcome}."]
        lines += [f"  {problem}" for problem in self.problems[:SHOWN_PROBLEMS]]
        if len(self.problems) > SHOWN_PROBLEMS:
            lines.append(f"  and {len(self.problems) - SHOWN_PROBLEMS:,} more")
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Findings:
    """Collects the problems and warnings of one file, or of a file inside it."""

    file: str
    problems: list[Remark] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)

    def at(self, row: int | None = None, column: str | None = None) -> Place:
        """A place of the file; without row and column, the whole of it."""
        return Place(self, row, column)

    def inside(self, member: str) -> Findings:
        """The findings of a file inside this one, told together with its own."""
        return Findings(f"{self.file}/{member}", self.problems, self.warnings)

    def stop_if_any(self, *, outcome: str = "read") -> None:
        """Raises: KnowledgeBaseError when there is a problem."""
        if self.problems:
            raise KnowledgeBaseError(self.problems, outcome=outcome)


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a file, about which something may be told."""

    findings: Findings
    row: int | None
    column: str | None

    def problem(self, fact: str, *, remedy: str, value: str | None = None) -> None:
        """Tells what is wrong here and must be mended before the file is read."""
        self.findings.problems.append(self._remark(fact, value, remedy))

    def warning(self, fact: str, *, remedy: str, value: str | None = None) -> None:
        """Tells what may surprise; it is kept as it was found."""
        self.findings.warnings.append(self._remark(fact, value, remedy))

    def stop(self, fact: str, *, remedy: str, value: str | None = None) -> NoReturn:
        """Tells what makes the rest of the file unreadable.

        Raises: KnowledgeBaseError with all that was found so far.
        """
        self.problem(fact, remedy=remedy, value=value)
        raise KnowledgeBaseError(self.findings.problems, outcome="read")

    def _remark(self, fact: str, value: str | None, remedy: str) -> Remark:
        return Remark(self.findings.file, self.row, self.column, fact, value, remedy)


def shown(value: str) -> str:
    """`value` in quotes on one line, with unseen characters spelled, cut when long."""
    if len(value) > SHOWN_CHARACTERS:
        return f"{value[:SHOWN_CHARACTERS]!r}..."
    return repr(value)
