"""Opens a log: every footer is read, and what cannot be read as declared is refused.

Nothing is guessed and no row is looked at. A column that some files have and others
lack is as wrong as one of two types.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Sequence

import polars as pl

from flows import columns as c
from flows.decisions import files as f
from flows.decisions.layout import Layout, Log
from flows.errors import LogError, UsageError

TEXT_LIKE = (pl.String, pl.Categorical, pl.Enum)
# What the logging policy drew and what came of it: no candidate sees it, and a cut by
# it would select on the draw.
OUTCOMES = (c.ACTION, c.LOGGING_PROBABILITIES, c.REWARD)


def open_log(
    files: Sequence[str],
    layout: Layout,
    *,
    dated: bool | None,
    with_ids: bool | None,
    extra: Sequence[str] = (),
) -> Log:
    """Reads every footer and decides how the log is read.

    dated, with_ids: True when the column is required, None when it is used if present.
    extra: names (in `wide` form patterns) of columns that candidates stand in.
    Raises: LogError with everything that does not fit, before a row is read; UsageError
    for a layout that no log can have.
    """
    _require_sense(layout)
    read = f.schemas(files)
    found = list(dict.fromkeys(n for schema in read.values() for n in schema.names()))

    def present(name: str, *, wanted: bool | None) -> bool:
        return layout.theirs(name) in found if wanted is None else wanted

    is_dated = present(c.DECIDED_AT, wanted=dated)
    has_ids = present(c.DECISION_ID, wanted=with_ids)
    optional = tuple(n for n in c.OPTIONAL if layout.theirs(n) in found)
    ours = [c.ACTION, c.REWARD, *optional]
    ours += [c.DECISION_ID] * has_ids + [c.DECIDED_AT] * is_dated
    used = [layout.theirs(name) for name in ours]
    wide: tuple[str, ...] = ()
    distributions = [layout.theirs(c.LOGGING_PROBABILITIES), *extra]
    if layout.probabilities == "wide":
        wide = tuple(n for pattern in distributions for n in _matching(pattern, found))
        used += wide
    else:
        used += [layout.theirs(c.ACTIONS)] * (layout.probabilities == "lists")
        used += distributions
    used += layout.other_columns
    log = Log(
        files=tuple(files),
        layout=layout,
        types=f.common_types(read, list(dict.fromkeys(used))),
        is_dated=is_dated,
        has_ids=has_ids,
        optional=optional,
        extra=tuple(n for n in dict.fromkeys(extra) if n != c.LOGGING_PROBABILITIES),
        wide=wide,
    )
    _check_types(log, distributions)
    return log


def _require_sense(layout: Layout) -> None:
    """Refuses mappings of columns we do not have, and outcomes as context or cut."""
    for ours in layout.columns:
        if ours not in c.CANONICAL:
            close = difflib.get_close_matches(ours, c.CANONICAL, n=1)
            hint = f"did you mean {close[0]}?" if close else ""
            raise UsageError(
                f"columns maps {ours!r}, which is none of {', '.join(c.CANONICAL)}. "
                + hint
            )
    outcomes = {*OUTCOMES, *(layout.theirs(name) for name in OUTCOMES)}
    for name in layout.other_columns:
        if name in outcomes:
            raise UsageError(
                f"{name!r} cannot be context or a cut: it tells what the logging "
                "policy drew or what came of it, which a candidate never sees and "
                "which would select on the draw"
            )


def _matching(pattern: str, found: Sequence[str]) -> list[str]:
    if pattern.count("*") != 1:
        raise LogError(
            f"probabilities = 'wide' needs one `*` in {pattern!r}, such as columns = "
            '{ logging_probabilities = "p_*" } or a candidate column:q_*'
        )
    matching = fnmatch.filter(found, pattern)
    if not matching:
        raise LogError(f"no column matches {pattern!r}; found: {', '.join(found)}")
    return matching


def _check_types(log: Log, distributions: Sequence[str]) -> None:
    """Refuses columns whose type cannot be what they are declared to be."""
    layout = log.layout
    expected: list[tuple[str, Callable[[pl.DataType], bool], str]] = [
        (layout.theirs(c.ACTION), _is_name, "action must be text"),
        (layout.theirs(c.REWARD), _is_reward, "reward must be a number, null where none "
         "arrived"),
    ]
    if log.is_dated:
        expected.append((layout.theirs(c.DECIDED_AT), _is_zoned, "decided_at must be a "
          "timestamp with a time zone (UTC). A naive one does not say which night it "
          "belongs to: write it with its zone"))
    if log.has_ids:
        expected.append((layout.theirs(c.DECISION_ID), _is_name, "decision_id must be "
          "text"))
    if layout.probabilities == "lists":
        expected.append((layout.theirs(c.ACTIONS), _is_names, "actions must be a list "
        "of text"))
    fits, wanted = DISTRIBUTIONS[layout.probabilities]
    held = log.wide if layout.probabilities == "wide" else distributions
    expected += [(name, fits, wanted) for name in held]
    problems = [
        f"  {name!r} is {log.types[name]}; {wanted}"
        for name, is_fitting, wanted in expected
        if not is_fitting(log.types[name])
    ]
    if problems:
        raise LogError("the log has columns of the wrong type:\n" + "\n".join(problems))


def _is_name(dtype: pl.DataType) -> bool:
    return isinstance(dtype, TEXT_LIKE) or dtype.is_integer()


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Null


def _is_reward(dtype: pl.DataType) -> bool:
    return _is_number(dtype) or dtype == pl.Boolean


def _is_zoned(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.Datetime) and dtype.time_zone is not None


def _is_list(dtype: pl.DataType, fits: Callable[[pl.DataType], bool]) -> bool:
    inner = getattr(dtype, "inner", None)
    return (
        isinstance(dtype, pl.List | pl.Array)
        and isinstance(inner, pl.DataType)
        and fits(inner)
    )


def _is_names(dtype: pl.DataType) -> bool:
    return _is_list(dtype, _is_name)


def _is_numbers(dtype: pl.DataType) -> bool:
    return _is_list(dtype, _is_number)


def _has(dtype: pl.DataType, name: str, probability: str) -> bool:
    fields = {f.name: f.dtype for f in getattr(dtype, "fields", ())}
    return (
        {name, probability} <= set(fields)
        and _is_name(_instance(fields[name]))
        and _is_number(_instance(fields[probability]))
    )


def _is_structs(dtype: pl.DataType) -> bool:
    return _is_list(dtype, lambda inner: _has(inner, "action", "probability"))


def _is_map(dtype: pl.DataType) -> bool:
    if isinstance(dtype, pl.Struct):
        return all(_is_number(_instance(field.dtype)) for field in dtype.fields)
    return _is_list(dtype, lambda inner: _has(inner, "key", "value"))
