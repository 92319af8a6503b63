"""What the columns of a log are taken for, from their names and types alone.

A column is recognised where its name leaves no doubt, and left to the reader where it
does not. The form of the probabilities follows from the type of their column; where no
column bears their name, from several columns of floats that share a prefix such as
`p_`; where there are none either, from one float named like a propensity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from flows import columns as c
from flows.decisions.layout import Form
from flows.decisions.types import DISTRIBUTIONS

# Other names under which a column is often found.
ALSO_NAMED = {
    c.DECISION_ID: ("event_id", "eventid", "request_id", "impression_id", "id"),
    c.DECIDED_AT: ("timestamp", "ts", "event_time", "created_at", "time"),
    c.ACTION: ("chosen_action", "action_id", "item_id", "arm"),
    c.ACTIONS: ("available_actions", "action_ids", "arms", "candidates"),
    c.LOGGING_PROBABILITIES: ("probabilities", "action_probabilities", "pscores"),
    c.PROPENSITY: (
        "propensity_score",
        "pscore",
        "action_probability",
        "action_prob",
        "logging_probability",
        "probability",
        "prob",
    ),
    c.REWARD: ("click", "clicked", "outcome", "payoff"),
}
# What the columns of one distribution start with when each action has its own.
WIDE = re.compile(
    r"(p|probs?|probability|probabilities|propensity|propensities|pscores?"
    r"|logging_probability|logging_probabilities)[_.:-]",
    re.IGNORECASE,
)
MARK = re.compile(r"[_.:-]")  # between prefix and action
LEAST_WIDE = 2


@dataclass(frozen=True, slots=True)
class Found:
    """What was recognised in a log.

    columns: ours to theirs, None where none is recognised; only those that a log of
        this form needs.
    form: of the probabilities.
    candidates: columns (patterns, in the wide form) of further distributions.
    context: plain columns that are nothing else.
    """

    columns: Mapping[str, str | None]
    form: Form
    candidates: tuple[str, ...]
    context: tuple[str, ...]


def recognised(schema: pl.Schema) -> Found:
    """What each column of a log is taken for."""
    columns = {ours: _match(ours, schema) for ours in ALSO_NAMED}
    theirs, alone = columns[c.LOGGING_PROBABILITIES], columns.pop(c.PROPENSITY)
    groups = {} if theirs else _groups(schema, columns)
    pattern = next((name for name in groups if WIDE.fullmatch(name[:-1])), None)
    form = _form(schema, theirs, alone, pattern)
    taken = {name for name in columns.values() if name}
    if form != "lists":
        taken.discard(columns.pop(c.ACTIONS) or "")
    candidates: list[str] = []
    if form == "propensity":
        del columns[c.LOGGING_PROBABILITIES]
        columns[c.PROPENSITY] = alone
    elif pattern:
        columns[c.LOGGING_PROBABILITIES] = pattern
        actions = groups[pattern]
        same = [name for name, members in groups.items() if members == actions]
        taken |= {name[:-1] + action for name in same for action in actions}
        candidates = [name for name in same if name != pattern]
    else:
        fits = DISTRIBUTIONS[form][0]
        others = [name for name in schema.names() if name not in taken]
        candidates = [n for n in others if schema[n].is_nested() and fits(schema[n])]
    known = {*taken, alone, *c.OPTIONAL, c.MODEL_ID}
    return Found(
        columns=columns,
        form=form,
        candidates=tuple(candidates),
        context=tuple(
            name
            for name, dtype in schema.items()
            if name not in known and not dtype.is_nested()
        ),
    )


def _match(ours: str, schema: pl.Schema) -> str | None:
    """The log's column that is surely `ours`, if one is."""
    folded = {name.casefold(): name for name in schema.names()}
    for name in (ours, *ALSO_NAMED[ours]):
        theirs = folded.get(name)
        if theirs and (ours != c.PROPENSITY or schema[theirs].is_float()):
            return theirs
    return None


def _form(
    schema: pl.Schema, theirs: str | None, alone: str | None, pattern: str | None
) -> Form:
    """The form of the probabilities.

    theirs: the column of the distribution; alone: that of one probability; pattern: the
    columns that are a distribution together.
    """
    if pattern:
        return "wide"
    if theirs is None:
        return "propensity" if alone else "lists"
    fitting: tuple[Form, ...] = ("structs", "map")
    return next((n for n in fitting if DISTRIBUTIONS[n][0](schema[theirs])), "lists")


def _groups(
    schema: pl.Schema, columns: Mapping[str, str | None]
) -> dict[str, frozenset[str]]:
    """Pattern to the actions of columns that may be one distribution.

    All columns that a pattern matches are floats and nothing else, at least two.
    """
    heads = dict.fromkeys(
        name[: at.end()]
        for name in schema.names()
        for at in MARK.finditer(name, 1, len(name) - 1)
        if not {*name[: at.end()]} & {*"*?["}  # a pattern would read them otherwise
    )
    groups = {}
    for head in heads:
        members = [name for name in schema.names() if name.startswith(head)]
        if (
            len(members) >= LEAST_WIDE
            and all(schema[name].is_float() for name in members)
            and not {*members} & {*columns.values()}
        ):
            groups[f"{head}*"] = frozenset(name[len(head) :] for name in members)
    return groups
