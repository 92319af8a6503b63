"""Writes a commented job file for a log, from the names and types of its columns.

What `flows.decisions.recognition` finds is written down, and what it does not find is
left for the reader to fill in. The reward range and the floor stay blank: they are part
of how reward and logging policy were designed, and a job without them is refused.

Two things are looked up in the rows: the models that made decisions, since a policy
that learned between nights is declared so; and, of a log with the probability of the
logged action alone, the actions that were taken, which are a start of those that could
be.

Every name and path is written as a TOML basic string (TOML 1.0, section String), so
whatever a folder or a column is called, the file can be read.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from flows import columns as c
from flows.decisions import looks_like_a_cost
from flows.decisions.files import find, schemas
from flows.decisions.recognition import Found, recognised
from flows.errors import LogError, UsageError

TAKEN = ("uniform", "logging")  # names that a further candidate cannot have
SHOWN_CONTEXT = 8
SHOWN_MODELS = 3
# So many actions are written down; more are for the reader to declare.
MOST_ACTIONS = 200

TEMPLATE = """\
# Everything one night does. Run it: untaken nightly {file}
# Written from the columns of {count}; look at every line that ends in "?".

[job]
name = {name}  # results go to a folder of this name in results/ beside this file
timezone = "UTC"  # where a night ends

[decisions]
log = {log}  # relative to this file
{columns}probabilities = "{form}"  # lists | structs | map | wide | propensity
{propensity}{context}
[evaluation]
# Fill in the next two; the job does not run without them.
# The lowest and the highest reward a decision can have, by design. Not what the log
# happens to hold: an interval is only as true as this range.
# reward_range = [lowest, highest]
# The least probability the logging policy gives any action a candidate may take, by
# design: its exploration rate divided by the number of actions, or a minimum share.
# propensity_floor = least
{evaluation}confidence = 0.95
method = "anytime"  # holds at every nightly look
segments = []  # such as [["device"], ["device", "country"]], out of the context

[candidates]
# name = SPEC, as in: untaken evaluate --help
# Their order matters: the first get the narrowest intervals.
{candidates}uniform = "uniform"  # the same probability for every action

[outputs]
report = ["html", "markdown", "json"]
"""
PROPENSITY = """\
# The log holds the probability of the logged action alone, so nothing is known of the
# others. true: by design, the logging policy gave each action that a candidate may take
# at least propensity_floor. Intervals are narrower then; a log that contradicts it is
# refused.
full_support = false
# Every action that could be taken, whether or not it was; uniform gives each an equal
# share.{seen}
actions = [{actions}]  # ?
"""
SAMPLED = """\
# The least probability with which a decision was kept in the log, by design; 1 where
# none is dropped.
# least_sample_probability = least
"""
MODELS = """\
# {count} models made these decisions: {named}. If rewards changed the policy from night
# to night, it is "adaptive"; within a night, "reacting".
logging = "fixed"  # ?
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
    found = recognised(schema)
    rows = pl.scan_parquet(list(files), glob=False, hive_partitioning=False)
    text = TEMPLATE.format(
        file=shlex.quote(out.name) if out.name.isprintable() else "FILE",
        count=f"{len(files)} log file{'s' * (len(files) != 1)}",
        name=quoted(job_name(out)),
        log=_relative(log, out),
        columns=_columns(found, schema),
        form=found.form,
        propensity=_propensity(found, rows),
        context=_context(found.context),
        evaluation=_evaluation(schema, rows),
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


def _columns(found: Found, schema: pl.Schema) -> str:
    differing = {o: t for o, t in found.columns.items() if t is not None and t != o}
    absent = [ours for ours, theirs in found.columns.items() if theirs is None]
    lines = ""
    if differing:
        pairs = [f"{ours} = {quoted(theirs)}" for ours, theirs in differing.items()]
        lines += f"columns = {{ {', '.join(pairs)} }}  # ours = theirs?\n"
    for ours in absent:
        lines += f'# ? no column looks like {ours}: columns = {{ {ours} = "..." }}\n'
    costs = [name for name in schema.names() if looks_like_a_cost(name)]
    if c.REWARD in absent and costs:
        cost = quoted(costs[0])
        lines += f"# {cost} looks like a cost: write a column reward = 0 - cost.\n"
    return lines


def _propensity(found: Found, rows: pl.LazyFrame) -> str:
    """What is declared of a log with the probability of the logged action alone."""
    if found.form != "propensity":
        return ""
    theirs = found.columns[c.ACTION]
    names = _distinct(rows, theirs)
    if all(name.isdecimal() for name in names):
        names.sort(key=int)
    shown = names if len(names) <= MOST_ACTIONS else []
    seen = f" These are the {len(names):,} that were." if shown else ""
    return PROPENSITY.format(seen=seen, actions=", ".join(map(quoted, shown)))


def _evaluation(schema: pl.Schema, rows: pl.LazyFrame) -> str:
    """What a log that was sampled, or made by several models, is to be declared as."""
    lines = SAMPLED if c.SAMPLE_PROBABILITY in schema else ""
    models = _distinct(rows, c.MODEL_ID)
    if len(models) > 1:
        named = ", ".join(map(quoted, models[:SHOWN_MODELS]))
        rest = len(models) - SHOWN_MODELS
        more = f" and {rest:,} more" if rest > 0 else ""
        lines += MODELS.format(count=f"{len(models):,}", named=named + more)
    return lines


def _distinct(rows: pl.LazyFrame, column: str | None) -> list[str]:
    """The values of a plain column, as text, in order; without nulls."""
    dtype = rows.collect_schema().get(column or "")
    if column is None or dtype is None or dtype.is_nested():
        return []
    values = rows.select(pl.col(column).cast(pl.String)).unique().drop_nulls()
    return values.collect(engine="streaming")[column].sort().to_list()


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
