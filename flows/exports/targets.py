"""What a target is: a place that has tables, and takes the rows of some nights.

A target is open inside a `with` block of its own module. Where it has transactions,
everything in the block is one; where it has none, what is put in place at once is said
there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from flows.errors import REFUSED, UntakenError

if TYPE_CHECKING:
    from flows.exports.source import Column, Entries, Night, Table


class ExportError(UntakenError):
    """A target cannot be reached, or cannot take the tables as they are."""

    exit_code = REFUSED


class Target(Protocol):
    """A place that tables are exported to, for one job."""

    def columns(self, table: Table) -> Mapping[str, str] | None:
        """The kinds of the columns it has by name; None where it has no such table.

        A type that is none of our kinds keeps the target's own name.
        Raises: ExportError where something else stands in the table's place.
        """

    def create(self, table: Table) -> None:
        """Makes the table, empty."""

    def add(self, table: Table, columns: Sequence[Column]) -> None:
        """Adds columns, null in the rows that are there."""

    def describe(self, table: Table) -> None:
        """Says what the table and its columns mean, where the target keeps that."""

    def counts(self, table: Table) -> Mapping[Night, int]:
        """How many rows of the job it has, by night."""

    def replace(self, table: Table, nights: Sequence[Night]) -> None:
        """Puts the source's rows of some nights in the place of those it has."""

    def exported(self) -> Entries:
        """What it was told it holds of the job; the table is there."""


def install(extra: str, to: str) -> ExportError:
    """What to do where the packages of a target are not installed."""
    return ExportError(
        f'to = "{to}" needs further packages; install them with: '
        f"pip install 'untaken[{extra}]'"
    )
