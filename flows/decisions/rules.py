"""Reads the rules in `sql/checks/`: one predicate and the sentence it asserts a file.

A file starts with the sentence and a line `-- Do:`, and selects the predicate as
`holds` and what to show of a breaking row as `value`. Rules are applied in the order of
their numbers (presence, lengths, nulls, range, sum, logged action), and a row counts
for the first one it breaks: an empty list would otherwise break a dozen. A predicate
that is NULL or about NaN does not hold.

Rules in `checks/stop/` are about every log; in folders below are those of one layout,
numbered together with them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from flows import queries

SHAPE = re.compile(
    r"-- (?P<sentence>.+?)\n-- Do: (?P<remedy>.+?)\nselect\s+"
    r"(?P<holds>.+?) as holds,\s+(?P<value>.+) as value\s+from ",
    re.DOTALL,
)
COMMENT = re.compile(r"\s*\n-- ")
# A zero with a sign, alone or in a list: it is shown without.
SIGNED_ZERO = (r"(^|[\[ ])-0\.0([,\] ]|$)", r"\10.0\2")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `holds` and `value` are DuckDB expressions over measured_decisions."""

    name: str
    sentence: str
    remedy: str
    holds: str
    value: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Rules applied in order to one thing: the decisions, or one candidate."""

    column: str
    rules: tuple[Rule, ...]

    def first_broken(self) -> str:
        """A DuckDB expression: the number from 1 of the first broken rule, else 0."""
        whens = "\n".join(
            f"when ({rule.holds}) is not true then {number}"
            for number, rule in enumerate(self.rules, 1)
        )
        return f"case\n{whens}\nelse 0 end as {self.column}"

    def broken_rows(self) -> str:
        """A DuckDB query: the rows that break a rule, with its name and their value."""
        names = self._choice([queries.literal(rule.name) for rule in self.rules])
        signed, plain = map(queries.literal, SIGNED_ZERO)
        values = self._choice([f"({rule.value})::varchar" for rule in self.rules])
        values = f"regexp_replace({values}, {signed}, {plain}, 'g')"
        return (  # predicates and values are read from sql/checks
            f"select {names} as rule, {values} as value, file, row, decision_id\n"  # noqa: S608
            f"from (select *, {self.first_broken()} from measured_decisions)\n"
            f"where {self.column} > 0"
        )

    def _choice(self, options: list[str]) -> str:
        whens = " ".join(f"when {n} then {o}" for n, o in enumerate(options, 1))
        return f"case {self.column} {whens} end"


def load(*folders: str, about: str | None = None, **pieces: str) -> tuple[Rule, ...]:
    """The rules of folders below `checks/`, in the order of their numbers.

    about: named behind each rule, as in `candidate_is_listed (thompson)`.
    """
    files = [file for folder in folders for file in queries.names(f"checks/{folder}")]
    return tuple(rule_of(file, about, pieces) for file in sorted(files, key=_stem))


def _stem(file: str) -> str:
    return file.rsplit("/", 1)[1]


def rule_of(file: str, about: str | None, pieces: Mapping[str, str]) -> Rule:
    """The rule of a file of `sql/`. Raises: AssertionError for another shape."""
    match = SHAPE.match(queries.filled(file, pieces))
    if match is None:
        raise AssertionError(f"sql/{file}.sql does not have the shape of a rule")
    name = _stem(file).split("_", 1)[1]
    return Rule(
        name=f"{name} ({about})" if about else name,
        sentence=COMMENT.sub(" ", match["sentence"]),
        remedy=COMMENT.sub(" ", match["remedy"]),
        holds=match["holds"],
        value=match["value"],
    )
