"""Which types a column may have, and the words for it."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from polars._typing import PolarsDataType

from flows import columns as c
from flows.decisions.layout import Form
from flows.decisions.log import Log
from flows.errors import LogError

Fits = Callable[[PolarsDataType], bool]
NAMES = (pl.String, pl.Categorical, pl.Enum)
NAIVE = (
    "decided_at must be a timestamp with a time zone (UTC). A naive one does not say "
    "which night it belongs to: write it with its zone"
)


def check_types(log: Log, distributions: tuple[str, ...]) -> None:
    """Refuses columns whose type cannot be what they are declared to be.

    distributions: the columns that hold probabilities.
    Raises: LogError naming all of them.
    """
    theirs, form = log.layout.theirs, log.layout.probabilities
    fits, wanted = DISTRIBUTIONS[form]
    expected: list[tuple[str, Fits, str]] = [
        (theirs(c.ACTION), _is_name, "action must be text"),
    ]
    if log.layout.has_rewards:
        known = (theirs(c.REWARD), _is_reward, "reward must be a number or null")
        expected.append(known)
    if c.IS_DEFERRED in log.optional:
        deferred = theirs(c.IS_DEFERRED)
        expected.append((deferred, _is_boolean, "is_deferred must be true or false"))
    if form == "propensity":
        logged, *candidates = distributions
        expected.append((logged, fits, wanted))
        fits, wanted = _candidate_type(log)
        expected += [(name, fits, wanted) for name in candidates]
    else:
        expected += [(name, fits, wanted) for name in distributions]
    if log.is_sampled:
        kept = theirs(c.SAMPLE_PROBABILITY)
        expected.append((kept, _is_number, "sample_probability must be a number"))
    if log.is_dated:
        expected.append((theirs(c.DECIDED_AT), _is_zoned, NAIVE))
    if log.has_ids:
        expected.append((theirs(c.DECISION_ID), _is_name, "decision_id must be text"))
    if form == "lists":
        expected.append((theirs(c.ACTIONS), _is_names, "actions must be lists of text"))
    problems = [
        f"  {name!r} is {log.types[name]}; {wanted}"
        for name, is_fitting, wanted in expected
        if not is_fitting(log.types[name])
    ]
    if problems:
        raise LogError("the log has columns of the wrong type:\n" + "\n".join(problems))


def _is_name(dtype: PolarsDataType) -> bool:
    return dtype in NAMES or dtype.is_integer()


def _is_number(dtype: PolarsDataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Null


def _is_reward(dtype: PolarsDataType) -> bool:
    return _is_number(dtype) or dtype == pl.Boolean


def _is_boolean(dtype: PolarsDataType) -> bool:
    return dtype in (pl.Boolean, pl.Null)


def _is_zoned(dtype: PolarsDataType) -> bool:
    return isinstance(dtype, pl.Datetime) and dtype.time_zone is not None


def _is_names(dtype: PolarsDataType) -> bool:
    return isinstance(dtype, pl.List | pl.Array) and _is_name(dtype.inner)


def _is_numbers(dtype: PolarsDataType) -> bool:
    return isinstance(dtype, pl.List | pl.Array) and _is_number(dtype.inner)


def _are_pairs(dtype: PolarsDataType, name: str, probability: str) -> bool:
    if not isinstance(dtype, pl.List) or not isinstance(dtype.inner, pl.Struct):
        return False
    members = {member.name: member.dtype for member in dtype.inner.fields}
    return (
        {name, probability} <= set(members)
        and _is_name(members[name])
        and _is_number(members[probability])
    )


def _is_structs(dtype: PolarsDataType) -> bool:
    return _are_pairs(dtype, "action", "probability")


def _is_map(dtype: PolarsDataType) -> bool:
    if isinstance(dtype, pl.Struct):
        return all(_is_number(member.dtype) for member in dtype.fields)
    if isinstance(dtype, pl.Map):
        return _is_name(dtype.key) and _is_number(dtype.value)
    return _are_pairs(dtype, "key", "value")


def _candidate_type(log: Log) -> tuple[Fits, str]:
    """What a candidate's column may be beside a propensity.

    Whole numbers may be names of actions or probabilities of 0 and 1; nobody can say.
    """

    def fits(dtype: PolarsDataType) -> bool:
        if log.layout.actions and _is_numbers(dtype):
            return True
        return dtype in NAMES or dtype.is_float() or isinstance(dtype, pl.Decimal)

    wanted = (
        "a candidate beside a propensity must be a float, its probability of the "
        "logged action, or text, the action it takes"
    )
    listed = "; or a list of probabilities, parallel to the declared actions"
    return fits, wanted + (listed if log.layout.actions else "")


DISTRIBUTIONS: dict[Form, tuple[Fits, str]] = {
    "lists": (_is_numbers, "probabilities must be lists of numbers"),
    "structs": (_is_structs, "probabilities must be lists of {action, probability}"),
    "map": (_is_map, "probabilities must be a map of text to number, or a struct"),
    "wide": (_is_number, "a probability must be a number"),
    "propensity": (_is_number, "the propensity must be a number"),
}
