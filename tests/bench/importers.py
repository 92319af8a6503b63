"""Importing decision-service logs, beside parsing them with the standard json module.

    python tests/bench/importers.py [--lines 60000] [--rounds 5]

The lines are those of the public logs in tests/golden/data/dsjson, over and over, each
time and in each file with ids of their own (about 43 MB; the apprentice log is left
out, which has to be imported by itself). Both parts run in one process, in turn, A B A
B; the ratio of their wall times is taken in each round. What is wanted: at most 0.40.
Writes results/importers.json beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from flows.importers import dsjson

HERE = Path(__file__).parent
DATA = HERE.parent / "golden" / "data" / "dsjson"
APART = "rl_cb_apprentice_deferred_7.dsjson"
WANTED = 0.40


def write(file: Path, count: int) -> int:
    """Writes `count` lines and returns their bytes."""
    sources = [f for f in sorted(DATA.glob("*.dsjson")) if f.name != APART]
    pool = [
        (number, line)
        for number, source in enumerate(sources)
        for line in source.read_text(encoding="utf-8").splitlines()
    ]
    with file.open("w", encoding="utf-8") as opened:
        for place in range(count):
            number, line = pool[place % len(pool)]
            mark = f"{place // len(pool)}-{number}-"
            for key in ("EventId", "_id"):
                line = line.replace(f'"{key}":"', f'"{key}":"{mark}')
            opened.write(line + "\n")
    return file.stat().st_size


def parse(file: Path) -> None:
    """Parses every line; those that are malformed are passed over."""
    with file.open("rb") as opened:
        for line in opened:
            try:
                json.loads(line)
            except ValueError:
                continue


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds of the work."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    """Measures, prints and writes the result."""
    options = argparse.ArgumentParser()
    options.add_argument("--lines", type=int, default=60_000)
    options.add_argument("--rounds", type=int, default=5)
    asked = options.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "log.json", Path(folder) / "out"
        size = write(file, asked.lines)
        found = dsjson([file], out)
        sys.stdout.write(f"{size / 1e6:.0f} MB\n{found.text()}\n")
        for _ in range(asked.rounds):
            parsed = timed(lambda: parse(file))
            imported = timed(lambda: dsjson([file], out))
            rounds.append((parsed, imported))
    wall = [ours[0] / theirs[0] for theirs, ours in rounds]
    told = {
        "lines": asked.lines,
        "megabytes": round(size / 1e6, 1),
        "parse_seconds": [round(theirs[0], 3) for theirs, _ in rounds],
        "import_seconds": [round(ours[0], 3) for _, ours in rounds],
        "ratios": [round(ratio, 3) for ratio in wall],
        "median_ratio": round(statistics.median(wall), 3),
        "processor_ratio": round(
            statistics.median(ours[1] / theirs[1] for theirs, ours in rounds), 3
        ),
        "wanted_ratio": WANTED,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }
    sys.stdout.write(json.dumps(told, indent=1) + "\n")
    (HERE / "results" / "importers.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
