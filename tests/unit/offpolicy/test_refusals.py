"""Requests that make no sense, logs without an answer, disks without room."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

COMMAND = ("--candidate", "column:new", "--reward-range", 0, 1, "--floor", 0.1)


def decisions(count=3):
    return [
        {
            "decision_id": f"d{number}",
            "action": "a",
            "actions": ["a", "b"],
            "logging_probabilities": [0.5, 0.5],
            "reward": 1.0,
            "new": [0.25, 0.75],
        }
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--floor", 0), "propensity_floor 0.0 must lie in (0, 1]"),
        (("--floor", 1.5), "propensity_floor 1.5 must lie in (0, 1]"),
        (("--floor", "nan"), "propensity_floor nan must lie in (0, 1]"),
        (("--reward-range", 1, 0), "reward_range 1.0 0.0 must ascend"),
        (("--reward-range", 0, "inf"), "reward_range 0.0 inf must ascend"),
        (("--confidence", 1), "confidence 1.0 must lie in (0, 1)"),
        (("--method", "snips"), "snips"),
        (("--candidate", "newest"), "candidate 'newest' is none of: column:NAME"),
        (("--candidate", "column:"), "names nothing after the colon"),
        (("--candidate", "column:new"), "candidates given twice: column:new"),
        (("--column", "action"), "'action' is not OURS=THEIRS"),
        (("--column", "acton=arm"), "'acton', which is none of"),
        (("--column", "acton=arm"), "did you mean action?"),
        (("--context", "reward"), "'reward' cannot be context or a cut"),
        (("--by", "action"), "'action' cannot be context or a cut"),
        (("--by", "place"), "column 'place' is missing"),
        (("--sum-tolerance", "x"), "sum-tolerance"),
        (("--unheard-of", 1), "unheard-of"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(untaken, write_log, options, said):
    fixed = {"--floor": 0.1, "--reward-range": (0, 1)}
    fixed.pop(options[0], None)
    given = []
    for name, value in fixed.items():
        given += [name, *(value if isinstance(value, tuple) else (value,))]
    log = write_log(decisions())
    message = untaken("evaluate", log, *COMMAND[:2], *given, *options).refusal()
    assert said in message


@pytest.mark.parametrize("left_out", ["--candidate", "--reward-range", "--floor"])
def test_what_comes_from_design_has_no_default(untaken, write_log, left_out):
    given = {
        "--candidate": ["column:new"],
        "--reward-range": [0, 1],
        "--floor": [0.1],
    }
    given.pop(left_out)
    options = [word for name, values in given.items() for word in (name, *values)]
    message = untaken("evaluate", write_log(decisions()), *options).refusal()
    assert left_out in message


def test_a_log_without_any_reward_ends_with_3(untaken, write_log):
    rows = [row | {"reward": None} for row in decisions()]
    for options in ((), ("--method", "compat")):
        ran = untaken("evaluate", write_log(rows), *COMMAND, *options, "--json")
        assert ran.code == 3
        value = ran.candidates[0]["value"]
        assert value["state"] == "all_rewards_missing"
        assert (value["estimate"], value["lower"], value["upper"]) == (None,) * 3


def test_weights_that_contradict_the_log_are_withheld(untaken, write_log):
    rng = np.random.default_rng(5)
    is_a = rng.random(4000) < 0.9
    rows = [
        {
            "action": "a" if a else "b",
            "actions": ["a", "b"],
            "logging_probabilities": [0.1, 0.9],
            "reward": 1.0,
            "new": [1.0, 0.0],
        }
        for a in is_a
    ]
    ran = untaken("evaluate", write_log(rows), *COMMAND, "--json")
    assert ran.code == 2
    value = ran.candidates[0]["value"]
    assert value["state"] == "withheld"
    assert (value["estimate"], value["lower"], value["upper"]) == (None,) * 3
    assert "weights too large" in ran.candidates[0]["assumptions"][0]["finding"]


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
from flows.cli import main
main()
"""


@pytest.mark.parametrize("candidate", ["mine:uniform", "table.parquet"])
def test_a_full_disk_is_told_without_a_traceback(tmp_path, write_log, candidate):
    """Files cannot grow past 1,000 bytes: what is written on the way does not fit."""
    log = write_log(
        [row | {"decision_id": f"{n}"} for n, row in enumerate(decisions(2000))]
    )
    (tmp_path / "mine.py").write_text(
        "def uniform(frame):\n    return [[0.5, 0.5]] * frame.height\n"
    )
    pl.read_parquet(log).select(
        "decision_id", "actions", probabilities="new"
    ).write_parquet(tmp_path / "table.parquet")
    arguments = [log, "--candidate", candidate, *COMMAND[2:]]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "evaluate", *map(str, arguments)],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
