"""Fits a reward model to what was seen (`flows.offpolicy.reward_model`).

The fit is penalised least squares: a penalty of `PENALTY` decisions pulls each effect
to 0. Effects of the context under an action are left out where there would be too many
effects. What was seen is added up by context and action, rewards in units of 2^-20, and
sorted; the solver is exact and uses one thread. So a fit depends neither on the order
of rows nor on threads. Of a day about `MOST_SEEN` decisions are kept at most, chosen by
a hash of their ids, which bounds the memory of a fit.

Source: validity.md 16; Hoerl and Kennard (1970), "Ridge regression: biased estimation
for nonorthogonal problems", section 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from flows import columns as c
from flows.errors import UsageError
from flows.offpolicy.blocks import identity
from flows.offpolicy.grid import UNIT, Grid
from flows.offpolicy.reward_model import (
    NULL,
    Column,
    Floats,
    Integers,
    RewardModel,
    normalised,
)
from flows.policies.scorable import POSITION, Lists

NOT_INSTALLED = (
    "doubly_robust fits a reward model, which needs scikit-learn. Install it with: "
    'pip install "untaken[models]"'
)
PENALTY = 20.0
# Values of a column and actions with effects of their own; effects at all.
MOST_LEVELS, MOST_ACTIONS, MOST_EFFECTS = 32, 1_000, 3_000
MOST_SEEN = 1 << 15
SEEN = {c.ACTION: pl.String, "decisions": pl.Int64, "reward_units": pl.Int64}

Entries = tuple[Integers, Integers, Floats]


def seen(
    log: Lists,
    *,
    actions: Sequence[str],
    context: Sequence[str],
    grid: Grid,
    decisions: int,
) -> pl.DataFrame:
    """What a day's decisions earned, by context and action, for later nights to learn.

    log: decisions that all list `actions`; context: usable columns.
    decisions: how many the day holds.
    Returns: the context as text, Int64 or Float64 and the columns of `SEEN`, sorted.
    """
    share = min(MOST_SEEN / max(decisions, 1), 1.0)
    is_kept = identity() % UNIT < pl.lit(round(share * UNIT), dtype=pl.UInt64)
    keys = [*context, POSITION]
    units = (grid.scaled(pl.col(c.REWARD)) * UNIT).round().cast(pl.Int64)
    plans = [
        frame.filter(pl.col(c.REWARD).is_not_null() & is_kept)
        .select(*keys, units.alias("reward_units"))
        .group_by(keys)
        .agg(pl.len().cast(pl.Int64).alias("decisions"), pl.col("reward_units").sum())
        for frame in log.frames
    ]
    found = pl.concat(pl.collect_all(plans, engine="streaming"))
    named = pl.Series(actions, dtype=pl.String).gather(found[POSITION])
    rows = normalised(found.select(context)).with_columns(
        named.alias(c.ACTION), *found.select("decisions", "reward_units")
    )
    keys = [*context, c.ACTION]
    return rows.group_by(keys).sum().sort(keys).select(*context, *SEEN)


def fit(rows: pl.DataFrame) -> RewardModel:
    """The model of what was seen; where nothing was, one that expects 0.

    rows: of `seen`, of any number of days.
    Raises: UsageError when scikit-learn is not installed.
    """
    context = [name for name in rows.columns if name not in SEEN]
    keys = [*context, c.ACTION]
    rows = rows.group_by(keys).sum().sort(keys)
    if rows.is_empty():
        return RewardModel(0.0, (), (), (), ())
    counts = rows["decisions"].to_numpy().astype(np.float64)
    totals = rows["reward_units"].to_numpy() / UNIT
    base = float(totals.sum() / counts.sum())
    found = [_column(rows.select(name), counts) for name in context]
    columns = tuple(column for column in found if column is not None)
    actions = _frequent(rows[c.ACTION], counts, MOST_ACTIONS)
    width = sum(column.width for column in columns)
    own = 1 + width if width + len(actions) * (1 + width) <= MOST_EFFECTS else 1
    design = _design(rows, columns, actions, own)
    effects = _least_squares(
        design, totals / counts - base, counts, width + len(actions) * own
    )
    return RewardModel(
        base=base,
        columns=columns,
        actions=actions,
        shared=tuple(effects[:width].tolist()),
        own=tuple(map(tuple, effects[width:].reshape(len(actions), own).tolist())),
    )


def _column(values: pl.DataFrame, counts: Floats) -> Column | None:
    """How a column becomes features; None where it is a number that never changes."""
    (series,) = values
    is_few = series.dtype == pl.Int64 and series.n_unique() <= MOST_LEVELS
    if series.dtype == pl.String or is_few:
        return Column(series.name, _frequent(series, counts, MOST_LEVELS))
    numbers = series.cast(pl.Float64).fill_null(np.nan).to_numpy()
    held = np.isfinite(numbers)
    if not held.any():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(np.average(numbers[held], weights=counts[held]))
        squares = np.average((numbers[held] - mean) ** 2, weights=counts[held])
        deviation = float(np.sqrt(squares))
    is_told = np.isfinite(deviation) and deviation > abs(mean) * 1e-12
    return Column(series.name, (), mean, deviation) if is_told else None


def _frequent(values: pl.Series, counts: Floats, most: int) -> tuple[str, ...]:
    """The values that stand for most decisions, sorted as text."""
    by_value = pl.DataFrame(
        {"value": values.cast(pl.String).fill_null(NULL), "count": counts}
    )
    ranked = by_value.group_by("value").sum().sort("count", "value", descending=True)
    return tuple(sorted(ranked["value"].head(most)))


def _design(
    rows: pl.DataFrame, columns: Sequence[Column], actions: Sequence[str], own: int
) -> Entries:
    """Row, effect and value of every entry of the design that is not 0.

    own: how many effects each action has.
    """
    width = sum(column.width for column in columns)
    action = Column(c.ACTION, tuple(actions)).positions(rows)
    row = np.flatnonzero(action < len(actions))
    parts = [(row, width + action[row] * own, np.ones(row.size))]
    for place, feature, value in _features(rows, columns):
        parts.append((place, feature, value))
        if own > 1:
            known = action[place] < len(actions)
            shift = width + action[place] * own + 1
            parts.append((place[known], (shift + feature)[known], value[known]))
    entries = zip(*parts, strict=True)
    place, effect, value = (np.concatenate(entry) for entry in entries)
    return place, effect, value


def _features(rows: pl.DataFrame, columns: Sequence[Column]) -> Iterator[Entries]:
    """Row, feature and value of each column's entries that are not 0."""
    start = 0
    for column in columns:
        if column.levels:
            position = column.positions(rows)
            row = np.flatnonzero(position < column.width)
            yield row, start + position[row], np.ones(row.size)
        else:
            row = np.arange(rows.height)
            yield row, np.full(rows.height, start), column.numbers(rows)
        start += column.width


def _least_squares(
    design: Entries, rewards: Floats, counts: Floats, effects: int
) -> Floats:
    """The penalised fit, by Cholesky on one thread: shape (effects,)."""
    try:
        from scipy import sparse
        from sklearn.linear_model import Ridge
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise UsageError(NOT_INSTALLED) from None
    row, effect, value = design
    matrix = sparse.csr_array((value, (row, effect)), shape=(rewards.size, effects))
    fitted = Ridge(PENALTY, fit_intercept=False, solver="cholesky")
    with threadpool_limits(1):
        fitted.fit(matrix, rewards, sample_weight=counts)
    found: Floats = np.asarray(fitted.coef_, dtype=np.float64)
    return found
