"""Ten million decisions joined with nine million rewards, beside scanning both files.

    python tests/bench/rewards.py [--rounds 3] [--decisions 10000000]

A day of decisions between ten actions, each with its own probabilities, ids of 20
characters. 80 % of them have one reward, 5 % two; a seventh of the rewards is late.
Three parts, each in a process of its own, in turn, A B C A B C:

    scan    DuckDB reads every column of both files and does nothing else but a checksum
    judge   joins, counts and writes the judged file
    apart   the same, and lists the events that entered no reward

Processor seconds of the process without imports, all threads; wall seconds; the largest
memory of the process. The ratio is taken in each round. Wanted of `judge`: at most 3
scans, below 2 GiB. Writes results/rewards.json beside this file; about three minutes on
two cores.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import polars as pl

from flows import queries
from flows.rewards import Beside, Decisions, Outputs, Rewards, judge

RESULTS = Path(__file__).parent / "results"
FILES = 4  # of decisions, and of rewards
ACTIONS = 10
DAY = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
PARTS = ("scan", "judge", "apart")
RATIO, MEMORY = 3, 2048
MIB = 1024  # kibibytes
PARQUET = (
    "(format parquet, compression zstd, compression_level 1, row_group_size 131072)"
)
NUMBERS = "[" + ", ".join(map(str, range(1, ACTIONS + 1))) + "]"
DECISIONS = """
select
    substr(md5(i::varchar), 1, 20) as decision_id,
    $day + to_microseconds(i * $step) as decided_at,
    'a' || (1 + hash(i) % 10) as action,
    [f'a{p}' for p in $numbers] as actions,
    [(p + (hash(i, p) % 100) / 50) / total for p in $numbers] as logging_probabilities
from (
    select i, list_sum([p + (hash(i, p) % 100) / 50 for p in $numbers]) as total
    from range($first, $last) as t(i)
)
"""
REWARDS = """
select
    substr(md5(i::varchar), 1, 20) as decision_id,
    (hash(i, 2) % 2)::double as reward,
    $day + to_microseconds((i * $step + hash(i, k, 3) % 700000000)::bigint)
        as rewarded_at,
    substr(md5(i::varchar || k), 1, 20) as reward_id
from range($first, $last) as t(i), range(2) as u(k)
where hash(i, 9) % 100 < 85 and (k = 0 or hash(i, 9) % 100 < 5)
order by rewarded_at
"""


def write(folder: Path, decisions: int) -> None:
    """Writes the two tables."""
    with queries.connection() as con:
        for name, law in (("decisions", DECISIONS), ("rewards", REWARDS)):
            (folder / name).mkdir()
            for number in range(FILES):
                pieces = {
                    "day": f"timestamptz '{DAY.isoformat()}'",
                    "step": str(86_400_000_000 // decisions),
                    "numbers": NUMBERS,
                    "first": str(decisions * number // FILES),
                    "last": str(decisions * (number + 1) // FILES),
                }
                query = law.replace("f'a{p}'", "'a' || p")
                for key, value in pieces.items():
                    query = query.replace(f"${key}", value)
                file = folder / name / f"{number}.parquet"
                con.execute(f"copy ({query}) to '{file}' {PARQUET}")


def scan(folder: Path) -> dict[str, int]:
    """Reads every column of both tables."""
    read = {}
    with queries.connection() as con:
        for name in ("decisions", "rewards"):
            table = f"read_parquet('{folder}/{name}/*.parquet')"
            query = f"select count(*), sum(hash(columns(*))) from {table}"  # noqa: S608
            read[name] = con.execute(query).fetchall()[0][0]
    return read


def judged(folder: Path, *, is_apart: bool = False) -> dict[str, int]:
    """Joins the two tables."""
    files = tuple(map(str, sorted((folder / "decisions").glob("*.parquet"))))
    rewards = Rewards(
        (str(folder / "rewards"),), wait_seconds=600, reward_range=(0, 1), default=0
    )
    written = tuple(folder / f"judged_{n}.parquet" for n in range(len(files)))
    rows = tuple(pl.scan_parquet(f).select(pl.len()).collect().item() for f in files)
    with queries.connection() as con:
        con.read_parquet(list(files), file_row_number=True, filename=True).select(
            "*, filename as file, file_row_number + 1 as row"
        ).create_view("decisions")
        found = judge(
            con,
            Decisions("decisions", files),
            rewards,
            as_of=DAY + dt.timedelta(days=2),
            outputs=Outputs(
                beside=Beside(written, rows, rewards.default),
                set_aside=folder / "set_aside.parquet" if is_apart else None,
            ),
        )
    counts = found.counts
    return {"observed": counts.observed, "default": counts.default, "late": counts.late}


def child(part: str, folder: Path) -> dict[str, float]:
    """Runs one part in this process."""
    begin, wall = time.process_time(), time.perf_counter()
    parts = {"scan": scan, "judge": judged, "apart": partial(judged, is_apart=True)}
    told = parts[part](folder)
    return {
        "seconds": time.process_time() - begin,
        "wall_seconds": time.perf_counter() - wall,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB,
        **told,
    }


def measured(part: str, folder: str) -> dict[str, float]:
    """Runs one part in a process of its own."""
    command = [sys.executable, __file__, "--child", part, "--folder", folder]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--decisions", type=int, default=10_000_000)
    parser.add_argument("--child")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.child:
        sys.stdout.write(json.dumps(child(options.child, options.folder)))
        return
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), options.decisions)
        rounds = [
            {part: measured(part, folder) for part in PARTS}
            for _ in range(options.rounds)
        ]
    ratios = {
        (part, unit): statistics.median(
            one[part][unit] / one["scan"][unit] for one in rounds
        )
        for part in PARTS[1:]
        for unit in ("seconds", "wall_seconds")
    }
    found = {
        "decisions": options.decisions,
        "python": platform.python_version(),
        "ratio": ratios["judge", "seconds"],
        "wall_ratio": ratios["judge", "wall_seconds"],
        "apart_ratio": ratios["apart", "seconds"],
        "wanted_ratio": RATIO,
        "mib": max(one[part]["mib"] for one in rounds for part in PARTS),
        "wanted_mib": MEMORY,
        "rounds": rounds,
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(found, indent=1)
    (RESULTS / "rewards.json").write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
