"""Holds a declared full support against the log.

`full_support` says that each action a candidate may take had at least the floor. On it
stand control variates (validity.md 1 and 2), which are too high where a decision lacks
support unnoticed. So one logged action below the floor that a candidate may take
refuses the declaration; it is never dropped from the decisions that contradict it,
which would select on the draw.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from flows import columns as c
from flows.errors import LogError, counted
from flows.policies.scorable import Propensities, Scorable, Scored


def require_full_support(
    log: Scorable, candidates: Iterable[Scored], floor: float
) -> None:
    """Raises: LogError when a candidate may take an action logged below `floor`."""
    if not isinstance(log, Propensities) or not log.full_support:
        return
    plans = [
        frame.filter((log.logged() < floor) & (candidate.probability > 0)).select(
            pl.lit(candidate.name).alias("candidate"),
            pl.len().cast(pl.Int64).alias("decisions"),
            pl.col(c.ACTION, c.PROPENSITY).sort_by(c.PROPENSITY, c.ACTION).first(),
        )
        for candidate in candidates
        if candidate.needs_support
        for frame in log.frames
    ]
    found = pl.collect_all(plans, engine="streaming")
    contradicting = [part for part in found if part["decisions"].item()]
    if not contradicting:
        return
    broken = pl.concat(contradicting)
    name, _, action, least = broken.sort(c.PROPENSITY, "candidate").row(0)
    number = broken.filter(pl.col("candidate") == name)["decisions"].to_list()
    raise LogError(
        f"full_support is declared, but {counted(sum(number), 'decision')} took an "
        f"action that candidate {name!r} may take and that was logged with less than "
        f"the floor, {floor:g}: action {action} with {least:g}. Declare full_support = "
        "false, or the floor that the logging policy keeps"
    )
