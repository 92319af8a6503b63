"""The table `rewards`: what became of the rewards of each day.

A row a version of a day (`flows.warehouse.judging`), with the night that is the first
to know it and the instant as of which it was judged. A job whose log holds its rewards
has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import groupby, zip_longest
from typing import Any

import polars as pl

from flows.folder import Folder
from flows.rewards import Counts, Delays
from flows.warehouse.judging import Judgement, judgements
from flows.warehouse.settings import Job

UTC = pl.Datetime("us", "UTC")
SCHEMA: Mapping[str, pl.DataType | type[pl.DataType]] = {
    "day": pl.Date,
    "known_from": pl.Date,
    "judged_as_of": UTC,
    "superseded_at": UTC,
    "is_open": pl.Boolean,
    **{field.name: pl.Int64 for field in fields(Counts)},
    **{field.name: pl.Float64 for field in fields(Delays)},
}


def settled(judgement: Judgement) -> Counts:
    """The counts of a day; on open ones what has no reward is missing, not default."""
    counts = judgement.counts
    if not judgement.is_open:
        return counts
    return replace(counts, default=0, missing=counts.missing + counts.default)


def table(folder: Folder, job: Job) -> pl.DataFrame:
    """A frame of `SCHEMA`, by day and version."""
    found = () if job.rewards is None else judgements(folder)
    rows = [
        row
        for _, versions in groupby(found, lambda one: one.day)
        for row in _rows(list(versions))
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _rows(
    versions: Sequence[Judgement],
) -> Iterator[dict[str, Any]]:
    for one, later in zip_longest(versions, versions[1:]):
        yield {
            "day": one.day,
            "known_from": one.night,
            "judged_as_of": one.as_of,
            "superseded_at": None if later is None else later.as_of,
            "is_open": one.is_open,
            **asdict(settled(one)),
            **(asdict(one.delays) if one.delays is not None else {}),
        }
