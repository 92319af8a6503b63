"""Imports case files: one JSON object a line, each a logged decision.

    {"id": "t001", "input": {"topic": "technical", "user": {"age": 40}},
     "expected": {"action": "small", "reward": 1,
                  "logging_probabilities": {"small": 0.7, "large": 0.3}}}

`input` is flattened into declared context columns: `topic`, and `user.age` for what is
nested. A column is whole numbers, numbers, booleans or text where all its values are
that; else the JSON text of each value, so that 1 and "1" stay apart. A reward may be
absent; true is 1. Other types are refused before anything is cast. Whether the
probabilities are a distribution is checked where a log is read, for every log alike.
`decided_at`, where cases have it, is a time with its zone; without any the log is one
window. Without any `id` the log has none.

Source: source document 001, "Avaliação off-policy" (the format of a case).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from flows import columns as c
from flows import queries
from flows.errors import LogError, UsageError
from flows.importers import run, stub
from flows.importers.outcome import MAX_REJECT_SHARE, Imported, publish, writing

ENDINGS = (".jsonl", ".ndjson", ".json")
WHOLE = {"BIGINT", "UBIGINT"}
TYPES = ((WHOLE, "bigint"), (WHOLE | {"DOUBLE", "HUGEINT"}, "double"))


def jsonl(
    files: Sequence[Path],
    out: Path,
    *,
    context: Sequence[str] = (),
    max_reject_share: float = MAX_REJECT_SHARE,
    advance: Callable[[], None] = lambda: None,
) -> Imported:
    """Imports case files as the log `out`/decisions.

    context: fields of `input` that candidates may see; names joined by dots.
    max_reject_share: in [0, 1]. advance: called after each file.
    Raises: LogError when too many lines are rejected, none is a case, or no input has
    a declared field; UsageError for a field that cannot be a column, or when `out`
    cannot be used.
    """
    for name in context:
        _require_column(name)
    with writing(out, files) as work, queries.connection() as con:
        run.read(con, "jsonl", files, work, advance)
        ((has_ids,),) = con.execute("select count(event_id) > 0 from lines").fetchall()
        values = {"has_ids": has_ids, "is_dated": run.is_dated(con)}
        queries.run(con, "importers/jsonl/broken_lines", values)
        found = run.accepted(con, out, work, max_reject_share=max_reject_share)
        columns = [_column(con, name) for name in dict.fromkeys(context)]
        without = [c.DECISION_ID] * (not has_ids) + ["input"] * (not columns)
        rows = run.write_days(
            con,
            "jsonl",
            found.days,
            work,
            without=without,
            context=", ".join(columns or ["input"]),
        )
        made = replace(found, decisions=rows)
        stub.write(out, stub.Stub(candidates={"uniform": "uniform"}, context=context))
        settings = {"context": list(context)}
        publish(work, made, form="jsonl", files=files, settings=settings)
        return made


def _require_column(name: str) -> None:
    if name in c.CANONICAL:
        raise UsageError(
            f"{name!r} is a column of every log; context holds what a candidate may see"
        )
    if not all(name.split(".")) or '"' in name:
        raise UsageError(f"--context {name!r} is not names joined by dots")


def _column(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """A context column as a DuckDB expression, by the types of its values."""
    path = "$" + "".join(f'."{part}"' for part in name.split("."))
    rows = queries.run(con, "importers/jsonl/kinds", {"path": path})
    kinds = {kind for (kind,) in rows} - {"NULL"}
    if not kinds and not rows:
        raise LogError(_unknown(con, name))
    at = queries.literal(path)
    for allowed, type_ in TYPES:
        if kinds <= allowed:
            return f"(input ->> {at})::{type_} as {queries.identifier(name)}"
    if kinds == {"BOOLEAN"}:
        return f"(input ->> {at})::boolean as {queries.identifier(name)}"
    arrow = "->>" if kinds == {"VARCHAR"} else "->"
    return f"(input {arrow} {at})::varchar as {queries.identifier(name)}"


def _unknown(con: duckdb.DuckDBPyConnection, name: str) -> str:
    fields = [field for (field,) in queries.run(con, "importers/jsonl/fields")]
    close = difflib.get_close_matches(name, fields, n=1)
    hint = f"did you mean {close[0]}?" if close else f"fields: {', '.join(fields)}"
    return f"no case has {name!r} in its input; {hint}"
