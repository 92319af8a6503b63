"""Decisions and events by the handful, joined."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace

import polars as pl
import pytest

from flows import queries
from flows.rewards import Decisions, Outputs, Rewards, judge

DECIDED_AT = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


@pytest.fixture
def at():
    """The instant so many seconds after the decisions were made."""
    return lambda seconds: DECIDED_AT + dt.timedelta(seconds=seconds)


@pytest.fixture
def events(tmp_path, at):
    """Writes events, given as (decision_id, seconds, reward) or whole, to a file."""

    def write(rows, name="rewards.parquet", **schema):
        made = [
            row
            if isinstance(row, dict)
            else {"decision_id": row[0], "rewarded_at": at(row[1]), "reward": row[2]}
            for row in rows
        ]
        frame = pl.DataFrame(made, schema_overrides=schema)
        frame.write_parquet(tmp_path / name)
        return str(tmp_path / name)

    return write


@pytest.fixture
def join(tmp_path, at):
    """Joins the events of `rewards*.parquet` with the decisions `ids`."""

    def run(
        ids,
        *,
        as_of=100_000,
        files=("log",),
        window=None,
        set_aside=None,
        call=None,
        **declared,
    ):
        settings = {"wait_seconds": 600, "reward_range": (0.0, 1.0)} | declared
        settings.setdefault("events", ("rewards*.parquet",))
        log = pl.DataFrame({"decision_id": list(ids)}).with_columns(
            decided_at=pl.lit(DECIDED_AT, pl.Datetime("us", "UTC")),
            action=pl.lit("x"),
            file=pl.lit("log"),
            row=pl.int_range(1, pl.len() + 1),
        )
        log.write_parquet(tmp_path / "decisions.parquet")
        outputs = Outputs(tmp_path / "judged.parquet", set_aside=set_aside)
        with queries.connection() as con:
            con.read_parquet(str(tmp_path / "decisions.parquet")).create_view("log")
            rewards = Rewards(base=tmp_path, **settings)
            found = judge(
                con,
                Decisions("log", files, window),
                rewards,
                as_of=as_of if isinstance(as_of, dt.datetime) else at(as_of),
                outputs=outputs,
                **call or {},
            )
        told = {name: getattr(found, name) for name in found.__slots__}
        return SimpleNamespace(file=outputs.out, warnings=found.advice(rewards), **told)

    return run
