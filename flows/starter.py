"""Writes a commented job file for a log, from the names and types of its columns.

Columns are recognised by name where the name leaves no doubt, and left for the reader
to fill where it does not. The reward range and the floor stay blank: they are part of
how reward and logging policy were designed, and a job without them is refused.

The form of the probabilities follows from the type of their column; where no column
bears their name, from several columns of floats that share a prefix such as `p_`.

Every name and path is written as a TOML basic string (TOML 1.0, section String), so
whatever a folder or a column is called, the file can be read.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from flows import columns as c
from flows.decisions import Form
from flows.decisions.files import find, schemas
from flows.decisions.types import DISTRIBUTIONS
from flows.errors import LogError, UsageError

# Other names under which a column is often found.
ALSO_NAMED = {
    c.DECISION_ID: ("event_id", "eventid", "request_id", "impression_id", "id"),
    c.DECIDED_AT: ("timestamp", "ts", "event_time", "created_at", "time"),
    c.ACTION: ("chosen_action", "action_id", "item_id", "arm"),
    c.ACTIONS: ("available_actions", "action_ids", "arms", "candidates"),
    c.LOGGING_PROBABILITIES: ("probabilities", "action_probabilities", "pscores"),
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
TAKEN = ("uniform", "logging")  # names that a further candidate cannot have
SHOWN_CONTEXT = 8

TEMPLATE = """\
# Everything one night does. Run it: untaken nightly {file}
# Written from the columns of {count}; look at every line that ends in "?".

[job]
name = {name}  # results go to a folder of this name in results/ beside this file
timezone = "UTC"  # where a night ends

[decisions]
log = {log}  # relative to this file
{columns}probabilities = "{form}"  # lists | structs | map | wide
{context}
[evaluation]
# Fill in the next two; the job does not run without them.
# The lowest and the highest reward a decision can have, by design. Not what the log
# happens to hold: an interval is only as true as this range.
# reward_range = [lowest, highest]
# The least probability the logging policy gives any action a candidate may take, by
# design: its exploration rate divided by the number of actions, or a minimum share.
# propensity_floor = least
confidence = 0.95
method = "mixture"
segments = []  # such as [["device"], ["device", "country"]], out of the context

[candidates]
# name = SPEC, as in: untaken evaluate --help
# Their order matters: the first get the narrowest intervals.
{candidates}uniform = "uniform"  # the same probability for every action

[outputs]
report = ["html", "markdown", "json"]
"""


@dataclass(frozen=True, slots=True)
class Found:
    """What was recognised in a log.

    columns: ours to theirs, None where none is recognised; without `actions` in a form
        that needs none.
    form: of the probabilities.
    candidates: columns (patterns, in the wide form) of further distributions.
    context: plain columns that are nothing else.
    """

    columns: Mapping[str, str | None]
    form: Form
    candidates: tuple[str, ...]
    context: tuple[str, ...]


def write_job(log: Sequence[str], out: Path) -> str:
    """Writes a job file for `log` to `out` and says what is left to fill in.

    Raises: UsageError when `out` exists, LogError when the log cannot be read.
    """
    if out.exists():
        raise UsageError(f"{out} exists; name another file with --out")
    files = find(log)
    read = schemas(files)
    schema = next(iter(read.values()))
    if any(other.names() != schema.names() for other in read.values()):
        raise LogError("the files have different columns; name those of one log")
    found = recognised(schema)
    text = TEMPLATE.format(
        file=shlex.quote(out.name) if out.name.isprintable() else "FILE",
        count=f"{len(files)} log file{'s' * (len(files) != 1)}",
        name=quoted(job_name(out)),
        log=_relative(log, out),
        columns=_columns(found.columns),
        form=found.form,
        context=_context(found.context),
        candidates=_candidates(found.candidates),
    )
    out.write_text(text, encoding="utf-8")
    unknown = [ours for ours, theirs in found.columns.items() if theirs is None]
    lines = [f"wrote {out}. Fill in reward_range and propensity_floor, from design."]
    if unknown:
        lines.append(f"No column was recognised as: {', '.join(unknown)}.")
    lines.append(f"Then: untaken check {shlex.quote(str(out))}")
    return "\n".join(lines)


def quoted(text: str) -> str:
    """The text as a TOML basic string.

    JSON escapes the same characters, except U+007F, which TOML wants escaped too.
    Raises: UsageError when it is no Unicode text, as a name in another encoding.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{text!r} is not UTF-8; rename it first") from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def job_name(out: Path) -> str:
    """A name for the job that a folder can have: after the file, or after its folder.

    Letters, digits, spaces, dots, _ and - stay, accents go, all else becomes _.
    """
    given = out.resolve().parent.name if out.stem == "untaken" else out.stem
    bare = unicodedata.normalize("NFKD", given).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9 ._-]+", "_", bare).strip(" ._-") or "job"


def recognised(schema: pl.Schema) -> Found:
    """What each column of a log is taken for."""
    columns = {ours: _match(ours, schema) for ours in ALSO_NAMED}
    theirs = columns[c.LOGGING_PROBABILITIES]
    groups = {} if theirs else _groups(schema, columns)
    pattern = next((name for name in groups if WIDE.fullmatch(name[:-1])), None)
    form: Form = "wide" if pattern else _form(schema[theirs] if theirs else None)
    taken = {name for name in columns.values() if name}
    if form != "lists":
        taken.discard(columns.pop(c.ACTIONS) or "")
    if pattern:
        columns[c.LOGGING_PROBABILITIES] = pattern
        actions = groups[pattern]
        same = [name for name, members in groups.items() if members == actions]
        taken |= {name[:-1] + action for name in same for action in actions}
        candidates = [name for name in same if name != pattern]
    else:
        fits = DISTRIBUTIONS[form][0]
        others = [name for name in schema.names() if name not in taken]
        candidates = [n for n in others if schema[n].is_nested() and fits(schema[n])]
    known = {*taken, c.SLOT, c.SAMPLE_PROBABILITY, "model_id"}
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
        if name in folded:
            return folded[name]
    return None


def _form(dtype: pl.DataType | None) -> Form:
    for form in ("structs", "map"):
        if dtype is not None and DISTRIBUTIONS[form][0](dtype):
            return form
    return "lists"


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


def _columns(found: Mapping[str, str | None]) -> str:
    differing = {o: t for o, t in found.items() if t is not None and t != o}
    absent = [ours for ours, theirs in found.items() if theirs is None]
    lines = ""
    if differing:
        pairs = [f"{ours} = {quoted(theirs)}" for ours, theirs in differing.items()]
        lines += f"columns = {{ {', '.join(pairs)} }}  # ours = theirs?\n"
    for ours in absent:
        lines += f'# ? no column looks like {ours}: columns = {{ {ours} = "..." }}\n'
    return lines


def _context(plain: Sequence[str]) -> str:
    shown = ", ".join(quoted(name) for name in plain[:SHOWN_CONTEXT])
    more = len(plain) - SHOWN_CONTEXT
    rest = f" and {more} more" if more > 0 else ""
    return (
        "# What a candidate may see of a decision: what was known when it was made.\n"
        f"context = []  # further columns here: {shown or 'none'}{rest}\n"
    )


def _candidates(found: Sequence[str]) -> str:
    """A line for each column (or pattern), under a name of its own."""
    lines: dict[str, str] = {}
    for column in found:
        name = re.sub(r"[_.:-]\*$", "", column)
        while name in (*TAKEN, *lines):
            name += "_column"
        lines[name] = f"{quoted(name)} = {quoted(f'column:{column}')}  # ?\n"
    return "".join(lines.values())


def _relative(log: Sequence[str], out: Path) -> str:
    base = out.resolve().parent
    paths = [os.path.relpath(Path(pattern).absolute(), base) for pattern in log]
    shown = [quoted(path) for path in paths]
    return shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
