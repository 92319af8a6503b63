"""Checks a log as every command does, without scoring it."""

from __future__ import annotations

import pytest

from flows import queries
from flows.decisions import Layout, open_log
from flows.policies import Request, check_log, column_candidates, parse


@pytest.fixture
def checked(tmp_path, write_log):
    """Writes rows, checks them against their layout; returns what the log holds."""

    def check_rows(rows, *specs, reward_range=(0.0, 1.0), files=(), **layout):
        candidates = tuple(parse(spec) for spec in specs)
        read = [str(file) for file in files] or [str(write_log(rows))]
        log = open_log(
            read,
            Layout(**layout),
            dated=None,
            with_ids=None,
            extra=column_candidates(candidates),
        )
        request = Request(log, candidates, reward_range, tmp_path)
        with queries.connection() as con:
            return check_log(con, request)

    return check_rows
