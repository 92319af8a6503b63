"""Writes a commented job file for a log, from the names and types of its columns.

Columns are recognised by name where the name leaves no doubt, and left for the reader
to fill where it does not. The reward range and the floor stay blank: they are part of
how reward and logging policy were designed, and a job without them is refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from flows import columns as c
from flows.decisions.files import find, schemas
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
SHOWN_CONTEXT = 8

TEMPLATE = """\
# Everything one night does. Run it: untaken nightly {file}
# Written from the columns of {count} log files; look at every line that ends in "?".

[job]
name = "{name}"  # results go to results/{name}/ beside this file
timezone = "UTC"  # where a night ends

[decisions]
log = {log}  # relative to this file
{columns}{probabilities}{context}
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
uniform = "uniform"  # the same probability for every action
{candidates}
[outputs]
report = ["html", "markdown", "json"]
"""


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
    found = {ours: _match(ours, schema) for ours in ALSO_NAMED}
    text = TEMPLATE.format(
        file=out.name,
        count=len(files),
        name=_name(out),
        log=_relative(log, out),
        columns=_columns(found),
        probabilities=_probabilities(found, schema),
        context=_context(found, schema),
        candidates=_candidates(found, schema),
    )
    out.write_text(text, encoding="utf-8")
    unknown = [ours for ours, theirs in found.items() if theirs is None]
    lines = [f"wrote {out}. Fill in reward_range and propensity_floor, from design."]
    if unknown:
        lines.append(f"No column was recognised as: {', '.join(unknown)}.")
    lines.append(f"Then: untaken check {out}")
    return "\n".join(lines)


def _match(ours: str, schema: pl.Schema) -> str | None:
    """The log's column that is surely `ours`, if one is."""
    folded = {name.casefold(): name for name in schema.names()}
    for name in (ours, *ALSO_NAMED[ours]):
        if name in folded:
            return folded[name]
    return None


def _columns(found: Mapping[str, str | None]) -> str:
    differing = {o: t for o, t in found.items() if t is not None and t != o}
    absent = [ours for ours, theirs in found.items() if theirs is None]
    lines = ""
    if differing:
        pairs = ", ".join(f'{ours} = "{theirs}"' for ours, theirs in differing.items())
        lines += f"columns = {{ {pairs} }}  # ours = theirs?\n"
    for ours in absent:
        lines += f'# ? no column looks like {ours}: columns = {{ {ours} = "..." }}\n'
    return lines


def _probabilities(found: Mapping[str, str | None], schema: pl.Schema) -> str:
    theirs = found[c.LOGGING_PROBABILITIES]
    dtype = schema[theirs] if theirs else None
    form = "lists"
    if isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Struct):
        form = "structs"
    elif isinstance(dtype, pl.Struct) or type(dtype).__name__ == "Map":
        form = "map"
    return f'probabilities = "{form}"  # lists | structs | map | wide\n'


def _others(
    found: Mapping[str, str | None], schema: pl.Schema
) -> dict[str, pl.DataType]:
    taken = {theirs for theirs in found.values() if theirs}
    known = {*taken, c.SLOT, c.SAMPLE_PROBABILITY, "model_id"}
    return {name: dtype for name, dtype in schema.items() if name not in known}


def _context(found: Mapping[str, str | None], schema: pl.Schema) -> str:
    plain = [n for n, t in _others(found, schema).items() if not t.is_nested()]
    shown = ", ".join(f'"{name}"' for name in plain[:SHOWN_CONTEXT])
    more = len(plain) - SHOWN_CONTEXT
    rest = f" and {more} more" if more > 0 else ""
    return (
        "# What a candidate may see of a decision: what was known when it was made.\n"
        f"context = []  # further columns here: {shown or 'none'}{rest}\n"
    )


def _candidates(found: Mapping[str, str | None], schema: pl.Schema) -> str:
    lists = [
        name
        for name, dtype in _others(found, schema).items()
        if isinstance(dtype, pl.List | pl.Array)
        and isinstance(dtype.inner, pl.DataType)
        and dtype.inner.is_numeric()
    ]
    return "".join(f'"{name}" = "column:{name}"  # ?\n' for name in lists)


def _name(out: Path) -> str:
    return out.resolve().parent.name or "job" if out.stem == "untaken" else out.stem


def _relative(log: Sequence[str], out: Path) -> str:
    base = out.resolve().parent
    paths = [os.path.relpath(Path(pattern).absolute(), base) for pattern in log]
    shown = [f'"{path}"' for path in paths]
    return shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
