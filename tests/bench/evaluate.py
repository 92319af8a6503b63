"""How long `untaken evaluate` takes against a plain scan of the same file.

    python tests/bench/evaluate.py [--rows 4000000] [--rounds 5] [--folder DIR]

Writes a log of 10 actions with a candidate as a column (1 million rows a file), then
runs in turn, each in a process of its own: a streaming polars scan that sums every
column; `untaken evaluate`; importing polars and duckdb; `untaken evaluate` on the
10,000-row sample. Prints for each the median seconds and peak memory, and the ratio of
each round's pair. A ratio holds where a time does not: machines are shared.
"""

from __future__ import annotations

import argparse
import datetime as dt
import multiprocessing
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

ACTIONS = [f"item-{number}" for number in range(10)]
FLOOR = 0.02
FILE_ROWS = 1_000_000
UNTAKEN = Path(sysconfig.get_path("scripts")) / "untaken"
SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "decisions"

SCAN = """
import polars as pl
log = pl.scan_parquet({files!r})
lists = ["actions"]
numbers = ["logging_probabilities", "candidate"]
print(log.select(
    pl.len(),
    pl.col("decision_id", "action").str.len_bytes().sum(),
    pl.col("decided_at").max(),
    pl.col(lists).list.len().sum(),
    pl.col(numbers).list.sum().sum(),
    pl.col("reward", "device").sum(),
).collect(engine="streaming"))
"""


def write_log(folder: Path, rows: int) -> str:
    """A log of `rows` decisions below `folder`; returns the glob of its files."""
    for number in range(-(-rows // FILE_ROWS)):
        file = folder / f"part-{number:04d}.parquet"
        if not file.exists():
            size = min(FILE_ROWS, rows - number * FILE_ROWS)
            write_file(file, number, size)
    return str(folder / "part-*.parquet")


def write_file(file: Path, number: int, rows: int) -> None:
    """One file: Dirichlet logging above the floor, rare rewards, 1 % missing."""
    random = np.random.default_rng(number)
    width = len(ACTIONS)
    logged = random.dirichlet(np.full(width, 2.0), rows) * (1 - width * FLOOR) + FLOOR
    candidate = random.dirichlet(np.ones(width), rows)
    taken = (logged.cumsum(1) < random.random((rows, 1))).sum(1).clip(0, width - 1)
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=number)
    reward = pl.Series((random.random(rows) < 0.1).astype(float))
    is_missing = pl.Series(random.random(rows) < 0.01)
    pl.DataFrame(
        {
            "decision_id": [f"d{number:04d}-{row:09d}" for row in range(rows)],
            "decided_at": pl.select(
                start + pl.duration(microseconds=pl.int_range(rows) * 80_000)
            ).to_series(),
            "action": pl.Series(ACTIONS).gather(taken),
            "actions": pl.Series([ACTIONS]).new_from_index(0, rows),
            "logging_probabilities": pl.Series(logged).arr.to_list(),
            "candidate": pl.Series(candidate).arr.to_list(),
            "reward": reward.set(is_missing, None),
            "device": random.integers(0, 20, rows),
        }
    ).write_parquet(
        file, compression="zstd", compression_level=1, row_group_size=122_880
    )


def measured(command: list[str]) -> tuple[float, float]:
    """Seconds and peak MiB of one process."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        start = os.times().elapsed
        _, status, usage = os.wait4(process.pid, 0)
        seconds = os.times().elapsed - start
        if os.waitstatus_to_exitcode(status) != 0:
            out.seek(0)
            sys.exit(out.read().decode())
    return seconds, usage.ru_maxrss / 1024


def compare(name: str, ours: list[str], theirs: list[str], rounds: int) -> None:
    """Prints medians of both and of the ratio of each round's pair."""
    pairs = [(measured(theirs), measured(ours)) for _ in range(rounds + 1)][1:]
    ratios = sorted(mine[0] / other[0] for other, mine in pairs)
    seconds = statistics.median(mine[0] for _, mine in pairs)
    reference = statistics.median(other[0] for other, _ in pairs)
    memory = max(mine[1] for _, mine in pairs)
    sys.stdout.write(
        f"{name}: {seconds:.2f} s against {reference:.2f} s, ratio "
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), "
        f"peak {memory:.0f} MiB, {rounds} rounds\n"
    )


def main() -> None:
    """Runs both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        # In a process of its own: a child's peak starts at its parent's.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            files = pool.apply(write_log, (folder, options.rows))
        design = ["--reward-range", "0", "1", "--floor"]
        large = ["evaluate", files, "--candidate", "column:candidate", *design, "0.02"]
        scan = [sys.executable, "-c", SCAN.format(files=files)]
        compare(
            f"evaluate {options.rows:,} x 10 against a scan",
            [str(UNTAKEN), *large],
            scan,
            options.rounds,
        )
    small = ["evaluate", str(SAMPLE), "--candidate", "uniform", *design, "0.029"]
    imports = [sys.executable, "-c", "import polars, duckdb"]
    compare(
        "evaluate the sample against importing polars and duckdb",
        [str(UNTAKEN), *small],
        imports,
        options.rounds,
    )


if __name__ == "__main__":
    main()
