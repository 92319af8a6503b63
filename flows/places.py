"""Where a job's results stand; quick to import."""

from __future__ import annotations

from pathlib import Path

# One DuckDB file with everything that the nights left.
WAREHOUSE = "warehouse.duckdb"


def results_of(base: Path, name: str) -> Path:
    """The folder that a job writes to. base: that of its job file."""
    return base / "results" / name
