"""Laws of `evaluate` over made-up logs: what must not matter changes no bit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.offpolicy import document, evaluate
from flows.offpolicy.document import to_json

FLOOR = 0.1
FEW = settings(max_examples=5)
METHODS = ("mixture", "compat")
BY_BOTH = """
import sys
from flows.cli import run
for method in ("mixture", "compat"):
    assert run([*sys.argv[1:], "--method", method, "--json"]) == 0
"""
SEEDS = st.integers(0, 2**32 - 1)


def a_log(seed, *, count=40, complete=False):
    """Decisions between 2 to 4 actions; some lack a reward, some support."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    names = [f"a{number}" for number in range(size)]
    rows = []
    for number in range(count):
        kept = names if rng.random() < 0.7 else names[: int(rng.integers(1, size + 1))]
        floor = FLOOR if complete or rng.random() < 0.8 else 0.01
        logging = rng.dirichlet(np.ones(len(kept))) * (1 - floor * len(kept)) + floor
        logging[-1] = 1.0 - logging[:-1].sum()
        action = rng.choice(len(kept), p=logging)
        has_reward = complete or rng.random() < 0.9
        rows.append(
            {
                "decision_id": f"d{number}",
                "action": kept[action],
                "actions": kept,
                "logging_probabilities": logging.tolist(),
                "reward": float(rng.random()) if has_reward else None,
                "new": rng.dirichlet(np.ones(len(kept))).tolist(),
                "place": str(rng.choice(["north", "south"])),
            }
        )
    return pl.DataFrame(rows, schema_overrides={"reward": pl.Float64})


def evaluated(*frames, method="mixture", reward_range=(0.0, 1.0), candidate="new"):
    """Evaluates a log written as one file a frame."""
    with tempfile.TemporaryDirectory() as folder:
        for number, frame in enumerate(frames):
            frame.write_parquet(Path(folder, f"{number}.parquet"))
        return evaluate(
            folder,
            candidates=[f"column:{candidate}", "uniform", "first"],
            reward_range=reward_range,
            floor=FLOOR,
            method=method,
            by=["place"],
        )


def told(*frames, **options):
    """The document without the count of files."""
    made = document(evaluated(*frames, **options))
    made["log"].pop("files")
    return to_json(made)


@FEW
@given(SEEDS, st.sampled_from(METHODS))
def test_a_candidate_that_is_the_logging_policy_improves_nothing(seed, method):
    frame = a_log(seed, complete=True)
    same = frame.with_columns(same=pl.col("logging_probabilities"))
    found = evaluated(same, method=method, candidate="same")
    column = found.candidates[0]
    assert column.value.estimate == pytest.approx(frame["reward"].mean(), abs=1e-6)
    assert column.improvement.estimate == pytest.approx(0.0, abs=1e-6)
    assert column.improvement.lower <= 0 <= column.improvement.upper
    assert column.finding.missing.unsupported_probability == 0
    if method == "compat":
        assert column.improvement.estimate == 0


@FEW
@given(SEEDS, st.sampled_from(METHODS), st.sampled_from([-2.0, 0.5, 3.0]))
def test_shifting_rewards_and_range_shifts_the_value_alone(seed, method, shift):
    frame = a_log(seed)
    moved = frame.with_columns(pl.col("reward") + shift)
    before = evaluated(frame, method=method)
    after = evaluated(moved, method=method, reward_range=(shift, 1 + shift))
    for old, new in zip(before.candidates, after.candidates, strict=True):
        for end in ("estimate", "lower", "upper"):
            was, now = getattr(old.value, end), getattr(new.value, end)
            assert now == pytest.approx(was + shift, abs=1e-6)
            was, now = getattr(old.improvement, end), getattr(new.improvement, end)
            assert now == pytest.approx(was, abs=1e-6)
        assert old.finding.missing == new.finding.missing


@FEW
@given(SEEDS, st.sampled_from(METHODS))
def test_the_order_of_rows_and_their_files_change_no_bit(seed, method):
    frame = a_log(seed)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=seed % 1000)
    expected = told(frame, method=method)
    assert told(shuffled, method=method) == expected
    assert told(frame[:7], frame[7:31], frame[31:], method=method) == expected
    assert told(shuffled[20:], shuffled[:20], method=method) == expected


@FEW
@given(SEEDS, st.sampled_from(METHODS))
def test_the_names_of_actions_and_of_decisions_change_no_bit(seed, method):
    frame = a_log(seed)
    names = {"a0": "zebra", "a1": "10", "a2": "a0", "a3": "Ünïcode, quoted' \""}
    renamed = frame.with_columns(
        pl.col("action").replace(names),
        pl.col("actions").list.eval(pl.element().replace(names)),
        decision_id=pl.concat_str(pl.lit("x"), pl.col("decision_id")),
    )
    assert told(renamed, method=method) == told(frame, method=method)


@FEW
@given(SEEDS)
def test_intervals_hold_estimates_and_stay_within_what_is_possible(seed):
    found = evaluated(a_log(seed))
    segments = [n for inside in found.segments.values() for n in inside]
    for candidate in (found.logging, *found.candidates, *segments):
        for estimate, low in ((candidate.value, 0), (candidate.improvement, -1)):
            if estimate.state != "estimated":
                continue
            assert low <= estimate.lower <= estimate.upper <= 1
            assert estimate.identified_lower <= estimate.estimate
            assert estimate.estimate <= estimate.identified_upper
    assert found.profile.decisions == sum(n.finding.decisions for n in segments) / 3


def test_threads_and_shuffles_give_the_same_bytes(tmp_path):
    frame = pl.concat(
        [a_log(5), *(a_log(seed, count=400) for seed in range(10))]
    ).with_columns(decision_id=pl.int_range(pl.len()).cast(pl.String))
    outputs = set()
    for threads in (1, 2, 4):
        rows = frame.sample(fraction=1.0, shuffle=True, seed=threads)
        folder = tmp_path / str(threads)
        folder.mkdir()
        for number, part in enumerate(rows.iter_slices(-(-rows.height // 3))):
            part.write_parquet(folder / f"{number}.parquet", row_group_size=500)
        done = subprocess.run(
            [
                *(sys.executable, "-c", BY_BOTH, "evaluate", folder),
                *("--candidate", "column:new"),
                *("--candidate", "uniform", "--reward-range", "0", "1"),
                *("--floor", str(FLOOR), "--by", "place"),
            ],
            env=os.environ | {"POLARS_MAX_THREADS": str(threads)},
            check=True,
            capture_output=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
