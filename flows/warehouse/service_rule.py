"""By the rule of the retired service, would it have exchanged its policy: every night.

The service showed of each policy its average reward by importance weighting with a
normal 95 % interval, made for that policy alone, and compared two of them
(`flows.importers.switch_rule`). With w the weight, r the reward in units of the log, s
the sampling weight, n decisions:

    value   sum of s w r / sum of s
    error   root of (n / (n - 1) * sum of (s (w r - value))^2) / sum of s
    ends    value -+ 1.96 error, not cut to what is possible

Both are sums over decisions, so each day is summed once from its evidence and serves
every night: no estimate is touched. A reward that is missing counts as 0, the service's
usual default, and a weight on an action logged below the floor is 0 (the evidence keeps
no other). The same interval stands among the second lines (`intervals.approximate`)
where a log is long enough to mean it; this one is made for any, as the service did.
Spreads over cells of the evidence, which keep means, widen it by less than 1 %.

Source: personalizer.md, section 2; the service's published sums (numerator, sum of
squares, one half-width); Owen (2013), "Monte Carlo theory, methods and examples", 9.1.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
import polars as pl
from numpy.typing import NDArray

from flows.folder import Folder
from flows.importers.switch_rule import would_switch
from flows.offpolicy.cells import Cells
from flows.offpolicy.corners import points
from flows.offpolicy.evidence import NO_OTHER, NO_SEGMENT
from flows.offpolicy.grid import Grid
from flows.warehouse import evidence
from flows.warehouse.estimates import Made
from flows.warehouse.evidence import EVIDENCE
from flows.warehouse.settings import BASELINE, Job

Floats = NDArray[np.float64]
# Of each policy and day: decisions, and sums of s, s x, s^2, s^2 x, s^2 x^2; x = w r.
Sums = Mapping[str, Mapping[dt.date, Floats]]

CONFIDENCE = 0.95
SCHEMA: Mapping[str, type[pl.DataType]] = {
    "candidate": pl.String,
    "value": pl.Float64,
    "lower": pl.Float64,
    "upper": pl.Float64,
    "online_value": pl.Float64,
    "online_lower": pl.Float64,
    "online_upper": pl.Float64,
    "would_switch": pl.Boolean,
}


def read(folder: Folder, job: Job, made: Sequence[Made]) -> Sums:
    """The sums of the logging policy and of every candidate, day by day.

    made: nights whose rewards came with the log, so that a day has one version.
    """
    keys = {day: of_day for one in made for day, of_day in one.evidence.items()}
    grid, found = evidence.grid_of(job), {}
    for one in evidence.candidates_of(job):
        own = {day: of_day for day, of_day in keys.items() if one.name in of_day}
        if own:
            rows = evidence.read(folder, own, EVIDENCE, (one.name, NO_OTHER))
            whole = rows.filter(pl.col("segment_by") == NO_SEGMENT)
            by_day = whole.partition_by("day", as_dict=True)
            found[one.name] = {
                day: _sums(part, grid) for (day,), part in by_day.items()
            }
    return found


def told(sums: Sums, starts: Mapping[str, dt.date], night: dt.date) -> pl.DataFrame:
    """What the rule says of each candidate since its start, as a frame of `SCHEMA`.

    starts: of each candidate the day from which on it is looked at; the online policy
        is compared over the same days. A candidate without a second decision has no
        row.
    """
    rows = []
    for name, start in starts.items():
        own, online = (
            _normal(sums.get(each, {}), start, night) for each in (name, BASELINE)
        )
        if own is not None and online is not None:
            switch = would_switch(
                candidate_value=own[0],
                candidate_lower=own[1],
                online_value=online[0],
                online_lower=online[1],
            )
            rows.append((name, *own, *online, switch))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _sums(rows: pl.DataFrame, grid: Grid) -> Floats:
    """Of one policy and day: shape (6,)."""
    found = points(Cells.of(rows, grid))
    reward = np.where(
        found.is_reward_missing, 0.0, grid.lowest + grid.span * found.reward
    )
    x, s = found.weight * reward, found.sampling_weight
    each = np.stack([np.ones_like(s), s, s * x, s * s, s * s * x, (s * x) ** 2])
    return np.asarray((each * found.count).sum(axis=1))


def _normal(
    days: Mapping[dt.date, Floats], start: dt.date, night: dt.date
) -> tuple[float, float, float] | None:
    """Value, lower and upper end; None without a second decision."""
    chosen = [of_day for day, of_day in sorted(days.items()) if start <= day <= night]
    if not chosen:
        return None
    n, s, sx, ss, ssx, ssxx = (float(one) for one in np.sum(chosen, axis=0))
    if n <= 1.0:
        return None
    value = sx / s
    squares = max(0.0, ssxx - 2.0 * value * ssx + value * value * ss)
    error = math.sqrt(squares * n / (n - 1.0)) / s
    half = NormalDist().inv_cdf(0.5 + 0.5 * CONFIDENCE) * error
    return value, value - half, value + half
