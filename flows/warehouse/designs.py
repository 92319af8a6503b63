"""The tables `settings` and `candidates`: what a job declares by design.

They hold what the macros of `sql/macros/` read evidence back with: the reward range,
the floor, the largest weight of each candidate (`flows.offpolicy.grid`), and whether
the job's rewards or logging policy break what a simple interval assumes. Whoever opens
the warehouse needs no job file.
"""

from __future__ import annotations

import polars as pl

from flows.policies import largest_probability
from flows.warehouse import evidence
from flows.warehouse.settings import Job

SETTINGS = {
    "job": pl.String,
    "reward_lowest": pl.Float64,
    "reward_highest": pl.Float64,
    "propensity_floor": pl.Float64,
    "largest_weight": pl.Float64,
    "least_sample_probability": pl.Float64,
    "rounding": pl.Float64,
    "is_support_known": pl.Boolean,
    "confidence": pl.Float64,
    "method": pl.String,
    "logging": pl.String,
    "assumes": pl.String,
}
CANDIDATES = {
    "candidate": pl.String,
    "is_logging": pl.Boolean,
    "largest_weight": pl.Float64,
    "fixed_at": pl.Date,
}


def settings(job: Job) -> pl.DataFrame:
    """A frame of `SETTINGS`: one row."""
    grid, design = evidence.grid_of(job), job.design
    row = {
        "job": job.name,
        "reward_lowest": grid.lowest,
        "reward_highest": grid.highest,
        "propensity_floor": grid.floor,
        "largest_weight": grid.largest_weight,
        "least_sample_probability": grid.least_sample_probability,
        "rounding": grid.slack,
        "is_support_known": job.layout.knows_support,
        "confidence": design.confidence,
        "method": design.used,
        "logging": design.logging,
        "assumes": design.assumes,
    }
    return pl.DataFrame([row], schema=SETTINGS)


def candidates(job: Job) -> pl.DataFrame:
    """A frame of `CANDIDATES`, the logging policy among them.

    Raises: PolicyError when a candidate's table has no file.
    """
    grid, actions = evidence.grid_of(job), job.layout.actions
    logging = evidence.logging_names(job)
    rows = [
        {
            "candidate": one.name,
            "is_logging": one.name in logging,
            "largest_weight": 1.0
            if one.name in logging
            else grid.bound(largest_probability(one, actions)),
            "fixed_at": job.fixed_at.get(one.name),
        }
        for one in evidence.candidates_of(job)
    ]
    return pl.DataFrame(rows, schema=CANDIDATES)
