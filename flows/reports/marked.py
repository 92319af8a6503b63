"""Pieces of Markdown: inert text, rows and lists of tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flows.reports.tables import Table
from flows.reports.words import Cell

SPECIAL = re.compile(
    r"""
    [\\`*_{}\[\]<>#|~&@$!]  # marks of the language
    | ^[-+=]                # what opens a list or a heading
    | (?<=^\d)[.)]          # what makes a number open a list
    | :(?=/)                # what makes an address a link
    | (?<=www)\.
    """,
    re.VERBOSE,
)
MOST_LISTED = 5


def escape(text: object) -> str:
    """Text of users as inert Markdown on one line."""
    return SPECIAL.sub(r"\\\g<0>", " ".join(str(text).split()))


def row(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def written(cell: Cell) -> str:
    """A number, its interval behind it."""
    number = f"{cell.number}{escape(cell.mark)}"
    return f"{number} ({cell.interval})" if cell.interval else number


def listing(table: Table | None, form: str) -> list[str]:
    """The first rows of a table as entries of a list: head, note and cells by form."""
    rows = table.rows if table is not None else []
    told = [
        "- " + form.format(escape(head), escape(note), *map(written, cells))
        for head, note, cells in rows[:MOST_LISTED]
    ]
    left = len(rows) - MOST_LISTED
    return [*told, f"- {left} more in the JSON report"] if left > 0 else told


def block(table: Table, heads: Sequence[str]) -> str:
    """A table, the note of each row behind its head; heads: as the rows are marked."""
    told = [row(*table.columns), row(*heads)]
    for head, note, cells in table.rows:
        about = f"{escape(head)}: {escape(note)}" if note else escape(head)
        told.append(row(about, *map(written, cells)))
    return "\n".join(told)
