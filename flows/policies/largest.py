"""The largest probability a candidate gives any action, as far as its design tells.

No weight of the candidate exceeds it divided by the floor, and intervals get narrower
the smaller the largest weight can be: a uniform choice among 34 items logged uniformly
has weights of 1 at most, not of 34. It has to be known without looking at decisions:
from the job file, from a table keyed by context (which is all there is to the
candidate), or from the number of actions of a uniform choice. Otherwise it is 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from flows import columns as c
from flows.policies.spec import Candidate, Kind
from flows.policies.tables import LISTS, ROWS, files_of


def largest_probability(
    candidate: Candidate, actions: Sequence[str] | None = None
) -> float:
    """An upper bound, in (0, 1], of any probability the candidate gives an action.

    actions: all actions of every decision, where design tells.
    Raises: PolicyError when a table has no file.
    """
    if candidate.largest_probability is not None:
        return candidate.largest_probability
    if candidate.kind is Kind.UNIFORM and actions:
        return 1.0 / len(actions)
    if candidate.kind is Kind.TABLE:
        return _of_table(candidate)
    return 1.0


def _of_table(candidate: Candidate) -> float:
    files, picked = files_of(candidate)
    table = pl.scan_parquet(list(files), glob=False, hive_partitioning=False)
    names = table.collect_schema().names()
    # Tables by decision or by day are as the log is: no design tells what comes.
    if c.DECISION_ID in names or any("/day=" in file for file in files):
        return 1.0
    if picked and "candidate" in names:
        table = table.filter(pl.col("candidate").cast(pl.String) == picked)
    if ROWS[1] in names:
        largest = pl.col(ROWS[1]).max()
    else:
        largest = pl.col(LISTS[1]).list.max().max()
    found = table.select(largest.cast(pl.Float64)).collect().item()
    return min(1.0, float(found)) if found else 1.0
