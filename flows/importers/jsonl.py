"""Imports case files: one JSON object a line, each a logged decision.

    {"id": "t001", "input": {"topic": "technical", "user": {"age": 40}},
     "expected": {"action": "small", "reward": 1,
                  "logging_probabilities": {"small": 0.7, "large": 0.3}}}

`input` is flattened into declared context columns: `topic`, and `user.age` for what is
nested (`flows.importers.context`). A reward may be absent; true is 1. Other types are
refused before anything is cast. Whether the probabilities are a distribution is checked
where a log is read, for every log alike. `decided_at`, where cases have it, is a time
with its zone; without any the log is one window. Without any `id` the log has none.

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
from flows.errors import LogError
from flows.importers import context as names
from flows.importers import run, stub
from flows.importers.lines import Form
from flows.importers.outcome import MAX_REJECT_SHARE, Imported, publish, writing

ENDINGS = (".jsonl", ".ndjson", ".json")


def jsonl(
    files: Sequence[Path],
    out: Path,
    *,
    context: Sequence[str] = (),
    max_reject_share: float = MAX_REJECT_SHARE,
    is_own: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> Imported:
    """Imports case files as the log `out`/decisions.

    context: fields of `input` that candidates may see; names joined by dots.
    max_reject_share: in [0, 1]. advance: called after each file.
    is_own: whatever `out` held is replaced, and no job file is begun there.
    Raises: LogError when too many lines are rejected, none is a case, or no input has
    a declared field; UsageError for a field that cannot be a column, or when `out`
    cannot be used.
    """
    names.require(context)
    with writing(out, files, is_own=is_own) as work, queries.connection() as con:
        run.read(con, Form("jsonl"), files, work, advance)
        ((has_ids,),) = con.execute("select count(event_id) > 0 from lines").fetchall()
        values = {"has_ids": has_ids, "is_dated": run.is_dated(con)}
        queries.run(con, "importers/jsonl/broken_lines", values)
        queries.run(con, "importers/jsonl/kept")
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
        if not is_own:
            start = stub.Stub(candidates={"uniform": "uniform"}, context=context)
            stub.write(out, start)
        settings = {"context": list(context)}
        publish(work, made, form="jsonl", files=files, settings=settings)
        return made


def _column(con: duckdb.DuckDBPyConnection, name: str) -> str:
    value = f"json_extract(input, {queries.literal(names.path(name))})"
    column = names.column(con, name, value)
    if column is None:
        raise LogError(_unknown(con, name))
    return column


def _unknown(con: duckdb.DuckDBPyConnection, name: str) -> str:
    fields = [field for (field,) in queries.run(con, "importers/jsonl/fields")]
    close = difflib.get_close_matches(name, fields, n=1)
    hint = f"did you mean {close[0]}?" if close else f"fields: {', '.join(fields)}"
    return f"no case has {name!r} in its input; {hint}"
