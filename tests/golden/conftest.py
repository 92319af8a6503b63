"""Logs of oloproof as tables of ours, in each of the forms a candidate can have."""

from __future__ import annotations

import pytest

from flows import queries
from flows.decisions import Layout, open_log
from flows.offpolicy import evidence
from flows.offpolicy.grid import Grid
from flows.policies import Request, parse, prepare


def as_column(rows):
    """The candidate as a list column, parallel to the actions of log and candidate."""
    made = []
    for row in rows:
        logging, candidate = distributions(row)
        actions = [*logging, *(name for name in candidate if name not in logging)]
        made.append(
            decision(row)
            | {
                "actions": actions,
                "logging_probabilities": [logging.get(a, 0.0) for a in actions],
                "candidate": [candidate.get(a, 0.0) for a in actions],
            }
        )
    return made


def as_table(rows):
    """The candidate as a table keyed by decision, beside a log that names its own."""
    log, table = [], []
    for row in rows:
        logging, candidate = distributions(row)
        log.append(
            decision(row)
            | {
                "actions": list(logging),
                "logging_probabilities": list(logging.values()),
            }
        )
        table.append(
            {
                "decision_id": row["id"],
                "actions": list(candidate),
                "probabilities": list(candidate.values()),
            }
        )
    return log, table


def decision(row):
    expected = row["expected"]
    action = expected.get("action")
    return {
        "decision_id": row["id"],
        "action": None if action is None else str(action),
        "reward": expected.get("reward"),
    }


def distributions(row):
    return row["expected"].get("logging_probabilities", {}), row["input"]["target"]


@pytest.fixture(params=["column", "table"])
def laid_out(request, write_log):
    """Writes rows of oloproof and returns the log and the candidate's SPEC."""
    types = {"schema_overrides": {}, "strict": False}

    def write(rows, **overrides):
        options = types | {"schema_overrides": overrides}
        if request.param == "column":
            made = as_column(rows)
            return write_log(made, **options), "column:candidate"
        log, table = as_table(rows)
        file = write_log(table, "candidate.parquet")
        return write_log(log, **options), str(file)

    return write


@pytest.fixture
def evidence_of(tmp_path):
    """Counts the evidence of a log for the candidate in its column `new`."""

    def count(log):
        opened = open_log(
            [str(log)], Layout(), dated=None, with_ids=None, extra=["new"]
        )
        grid = Grid(floor=0.05, lowest=0.0, highest=1.0)
        request = Request(
            log=opened,
            candidates=(parse("column:new"),),
            reward_range=(0.0, 1.0),
            work=tmp_path,
        )
        with queries.connection() as con:
            prepared = prepare(con, request)
        return evidence.count(
            prepared.scorable,
            prepared.scored(grid.tolerated_floor),
            grid=grid,
            blocks="sub_blocks",
        )

    return count
