"""The peer benchmark: the arithmetic of its table, and a run where no peer is there."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).parents[1] / "bench" / "peers"


@pytest.fixture(scope="module")
def table():
    spec = importlib.util.spec_from_file_location("peer_table", PEERS / "table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def engine(tool, turn, seconds, **other):
    made = {"kind": "engine", "tool": tool, "asked": "fixed", "interval": "fixed"}
    made |= {"round": turn, "decisions": 1_000_000, "file": "peers"}
    made |= {"seconds": {"scores": seconds, "value": 0.0}, "processor_seconds": 1.0}
    return {**made, **other}


def log(lower, upper, estimand="value"):
    return {"found": {estimand: [lower, upper]}}


def test_a_ratio_pairs_the_two_runs_of_one_round(table):
    records = [
        *(engine("untaken", turn, t) for turn, t in enumerate((1.0, 4.0, 1.0))),
        *(engine("oloproof", turn, t) for turn, t in enumerate((100.0, 100.0, 20.0))),
        engine("untaken", 3, 1.0),
    ]
    (told,) = table.targets(records)
    assert "4.00% of the time (1.00% to 5.00% in 3 rounds)" in told
    assert told.endswith("at most 5% wanted: reached")


def test_a_command_that_failed_or_was_stopped_is_in_no_ratio(table):
    records = [
        engine("untaken", 0, 1.0),
        engine("oloproof", 0, 10.0, exit_code=-9, is_stopped=True),
    ]
    assert table.targets(records) == []
    assert table.seconds(records[1:]) == "over the limit of 10"


def test_a_signal_from_outside_is_not_told_as_a_failure_of_the_tool(table):
    ended = engine("oloproof", 0, 10.0, exit_code=-15, is_stopped=False)
    failed = engine("oloproof", 1, 3.0, exit_code=1, is_stopped=False)
    assert table.seconds([ended]) == "ended from outside (signal 15) after 10"
    assert table.seconds([failed]) == "failed (exit 1) after 3"


def test_coverage_counts_given_intervals_and_widths_are_cut_to_the_possible(table):
    logs = [log(-0.5, 0.5), log(0.2, 1.2), log(0.4, 0.6), log(None, None)]
    covered, width, possible = table.coverage(logs, "value", 0.45)
    assert covered == "1.000 of 3, 1 without"
    assert float(width) == pytest.approx((1.0 + 1.0 + 0.2) / 3, abs=1e-4)
    assert float(possible) == pytest.approx((0.5 + 0.8 + 0.2) / 3, abs=1e-4)


def test_an_improvement_may_be_negative(table):
    _, width, possible = table.coverage(
        [log(-0.4, 3.0, "improvement")], "improvement", 0
    )
    assert (width, possible) == ("3.4000", "1.4000")


def test_the_bench_runs_without_the_peers_and_names_them(tmp_path):
    out = tmp_path / "peers.jsonl"
    asked = ["--python", "no-such-interpreter", "--rounds", "1", "--decisions", "300"]
    asked += ["--replications", "--commands", "--out", str(out)]
    made = subprocess.run(
        [sys.executable, str(PEERS), *asked], capture_output=True, text=True, check=True
    )
    assert "oloproof 0.1.0a20 is not there: left out" in made.stderr
    assert "vw-estimators 0.2.2 is not there: left out" in made.stderr
    assert "- absent: oloproof, vw-estimators" in made.stdout
    assert (tmp_path / "peers.md").read_text() == made.stdout
    assert str(tmp_path) not in out.read_text()
