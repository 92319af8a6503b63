"""What of a log cannot be used: told all at once, and then nothing is counted.

A file that cannot be opened and a column of a wrong type are told by file; a row that
breaks a rule by file, row and value. The rules are the files of
`sql/suggestions/checks/`: each starts with the sentence that it asserts and with what
to do, and selects `file`, `row` and `value` of every row that breaks it. The message
shows the first rows of each rule; all of them go into a Parquet file with the columns
`rule, file, row, value`. Values are masked: a message goes to a scheduler's log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from flows import queries
from flows.errors import REFUSED, UntakenError, counted
from flows.suggestions.masking import masked

SHOWN_ROWS = 5
SHOWN_FILES = 20
SHOWN_CHARACTERS = 80  # of a value


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule with all rows that break it: `file`, `row` (from 1) and `value`."""

    rule: str
    sentence: str
    remedy: str
    rows: pl.DataFrame

    def __str__(self) -> str:
        rows = counted(self.rows.height, "row")
        lines = [f"{self.rule} ({rows}): {self.sentence}"]
        lines += [
            f"  {file}, row {row:,}: {value}"
            for file, row, value in self.rows.head(SHOWN_ROWS).rows()
        ]
        if self.rows.height > SHOWN_ROWS:
            lines.append(f"  and {self.rows.height - SHOWN_ROWS:,} more")
        return "\n".join([*lines, f"  What to do: {self.remedy}"])


class SignalsError(UntakenError):
    """Logged questions or feedback records cannot be used as they are.

    problems: what is wrong with whole files. broken: every rule that rows break, with
        all of them. listing: the file that lists these rows, when there is one.
    """

    exit_code = REFUSED

    def __init__(
        self,
        problems: Sequence[str],
        broken: Sequence[Broken] = (),
        *,
        listing: Path | None = None,
    ) -> None:
        self.problems = tuple(problems)
        self.broken = tuple(broken)
        shown = list(problems[:SHOWN_FILES])
        if len(problems) > SHOWN_FILES:
            shown.append(f"and {len(problems) - SHOWN_FILES:,} more")
        facts = counted(len(problems) + sum(b.rows.height for b in broken), "problem")
        lines = [f"{facts} with the questions and feedback; nothing was counted."]
        told = [*lines, *shown, *map(str, broken)]
        if listing is not None:
            told.append(f"All rows: {listing}")
        super().__init__("\n".join(told))

    def rows(self) -> pl.DataFrame:
        """Every row that breaks a rule: rule, file, row, value."""
        parts = [
            each.rows.select(pl.lit(each.rule).alias("rule"), "file", "row", "value")
            for each in self.broken
        ]
        return pl.concat(parts)


def broken_rules(
    con: duckdb.DuckDBPyConnection, log: str, values: Mapping[str, Any]
) -> list[Broken]:
    """The rules of `log` (`queries` or `feedback`) that rows break, in order."""
    found = []
    for name in queries.names(f"suggestions/checks/{log}"):
        text = queries.text(name)
        bound = {key: value for key, value in values.items() if f"${key}" in text}
        rows = queries.frame(con, text, bound).sort("file", "row")
        values_shown = masked(rows["value"].cast(pl.String))["text"]
        rows = rows.with_columns(value=_shortened(values_shown))
        if rows.height:
            sentence, remedy, *_ = text.splitlines()
            broken = Broken(
                rule=name.rsplit("/", 1)[1].split("_", 1)[1],
                sentence=sentence.removeprefix("-- "),
                remedy=remedy.removeprefix("-- Do: "),
                rows=rows,
            )
            found.append(broken)
    return found


def _shortened(values: pl.Series) -> pl.Series:
    """The values, each cut after `SHOWN_CHARACTERS`."""
    value = pl.col(values.name)
    is_long = value.str.len_chars() > SHOWN_CHARACTERS
    cut = value.str.head(SHOWN_CHARACTERS) + " ..."
    return values.to_frame().select(pl.when(is_long).then(cut).otherwise(value))[
        values.name
    ]
