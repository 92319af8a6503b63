"""Reads the rules in `sql/checks/`: one predicate and the sentence it asserts a file.

A file starts with the sentence and a line `-- Do:`, and selects the predicate as
`holds` and what to show of a breaking row as `value`. Rules are applied in the order of
their numbers (presence, lengths, nulls, range, sum, logged action), and a row counts
for the first one it breaks: an empty list would otherwise break a dozen. A predicate
that is NULL or about NaN does not hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from flows import queries

SHAPE = re.compile(
    r"-- (?P<sentence>.+?)\n-- Do: (?P<remedy>.+?)\nselect\s+"
    r"(?P<holds>.+?) as holds,\s+(?P<value>.+) as value\s+from ",
    re.DOTALL,
)
COMMENT = re.compile(r"\s*\n-- ")


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
        values = self._choice([f"({rule.value})::varchar" for rule in self.rules])
        return (  # predicates and values are read from sql/checks
            f"select {names} as rule, {values} as value, file, row, decision_id\n"  # noqa: S608
            f"from (select *, {self.first_broken()} from measured_decisions)\n"
            f"where {self.column} > 0"
        )

    def _choice(self, options: list[str]) -> str:
        whens = " ".join(f"when {n} then {o}" for n, o in enumerate(options, 1))
        return f"case {self.column} {whens} end"


def load(folder: str, *, about: str | None = None, **pieces: str) -> tuple[Rule, ...]:
    """The rules of a folder below `checks/`, in order.

    about: named behind each rule, as in `candidate_is_listed (thompson)`.
    """
    rules = []
    for file in queries.names(f"checks/{folder}"):
        match = SHAPE.match(queries.filled(file, pieces))
        if match is None:
            raise AssertionError(f"sql/{file}.sql does not have the shape of a rule")
        name = file.rsplit("/", 1)[1].split("_", 1)[1]
        rules.append(
            Rule(
                name=f"{name} ({about})" if about else name,
                sentence=COMMENT.sub(" ", match["sentence"]),
                remedy=COMMENT.sub(" ", match["remedy"]),
                holds=match["holds"],
                value=match["value"],
            )
        )
    return tuple(rules)
