"""Errors, each named for the fact it states, and the exit code each one ends with.

    UntakenError                 5  a fault of ours
    |-- UsageError               2  the command line or the job file asks for something
    |   |                           that cannot be done
    |   `-- JobError             2  the job file
    |-- LogError                 2  the decision log cannot carry a conclusion
    |   `-- ViolationsError      2  rows of it break rules; the rows are listed
    |-- PolicyError              2  a candidate policy is not one
    |-- KnowledgeBaseError       2  a knowledge-base file cannot be read or written
    |-- SignalsError             2  logged questions or feedback break rules
    |-- ExportError              2  a target of exports cannot take the tables
    |-- StateError               2  the state of suggestions cannot be used
    `-- ReviewError              2  decisions about suggestions cannot take effect

The last five are defined in their rooms: `flows.knowledge`, `flows.suggestions`,
`flows.exports`.
A message says what is wrong, where (file, row, id), the value found, and what to do.
Exit codes, worst wins: 5 > 2 > 1 > 3 > 0 (DESIGN section 4).
"""

from __future__ import annotations

from dataclasses import dataclass

DONE = 0
GATE_FAILED = 1
REFUSED = 2
NOT_ENOUGH_EVIDENCE = 3
INTERNAL_FAULT = 5

SEVERITY = (DONE, NOT_ENOUGH_EVIDENCE, GATE_FAILED, REFUSED, INTERNAL_FAULT)


class UntakenError(Exception):
    """Base of everything untaken raises on purpose."""

    exit_code = INTERNAL_FAULT


class UsageError(UntakenError):
    """The request itself cannot be carried out."""

    exit_code = REFUSED


class JobError(UsageError):
    """The job file is unreadable, incomplete or contradicts itself."""


class LogError(UntakenError):
    """The decision log is absent, unreadable or of the wrong shape."""

    exit_code = REFUSED


class PolicyError(UntakenError):
    """A candidate policy cannot be read, raises, or returns no distribution."""

    exit_code = REFUSED


@dataclass(frozen=True, slots=True)
class ViolatingRow:
    """One row that breaks a rule; `row` counts from 1 within its file."""

    file: str
    row: int
    decision_id: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule, the sentence it asserts, how many rows break it and the first of them."""

    rule: str
    sentence: str
    remedy: str
    count: int
    rows: tuple[ViolatingRow, ...]


class ViolationsError(LogError):
    """Rows of the log break rules. Nothing was scored.

    broken: every broken rule, in the order in which rules are applied.
    decisions: how many rows were read.
    listing: where all violating rows were written, when they were.
    days: the days that cannot be used, as ISO dates, in a log that is read by days.
    advice: how to go on without them.
    """

    def __init__(
        self,
        broken: tuple[BrokenRule, ...],
        *,
        decisions: int,
        listing: str | None,
        days: tuple[str, ...] = (),
        advice: str | None = None,
    ) -> None:
        self.broken = broken
        self.decisions = decisions
        self.listing = listing
        self.days = days
        self.advice = advice
        super().__init__(self._message())

    def _message(self) -> str:
        total = sum(rule.count for rule in self.broken)
        among = counted(self.decisions, "row")
        lines = [f"{counted(total, 'violation')} among {among}; nothing was scored."]
        for rule in self.broken:
            lines.append(
                f"\n{rule.rule} ({counted(rule.count, 'row')}): {rule.sentence}"
            )
            lines += [
                f"  {row.file}, row {row.row}, decision {row.decision_id}: {row.value}"
                for row in rule.rows
            ]
            if rule.count > len(rule.rows):
                lines.append(f"  and {rule.count - len(rule.rows):,} more")
            lines.append(f"  What to do: {rule.remedy}")
        if self.listing is not None:
            lines.append(f"\nAll of them: {self.listing}")
        if self.advice is not None:
            lines.append(self.advice)
        return "\n".join(lines)


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it belongs."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def worst(*codes: int) -> int:
    """The exit code that wins when several outcomes meet."""
    return max(codes, key=SEVERITY.index, default=DONE)
