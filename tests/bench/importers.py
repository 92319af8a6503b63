"""Importing decision-service logs, beside parsing them with the standard json module.

    python tests/bench/importers.py [--lines 60000] [--rounds 5]

The lines are those of the public logs in tests/golden/data/dsjson, over and over, each
time and in each file with ids of their own (about 43 MB; the apprentice log is left
out, which has to be imported by itself). The parts run in one process, in turn, A B C
A B C; ratios to the standard module are taken in each round, of wall times and, as
other work on the machine changes them less, of processor times. Beside the import
stands what DuckDB takes to read the same fields of all lines and to do nothing with
them. What is wanted of the import: at most 0.40. Writes results/importers.json beside
this file.
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
from functools import partial
from pathlib import Path

from flows import queries
from flows.importers import dsjson, lines, run
from flows.importers.dsjson import Reading

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


def read(file: Path) -> None:
    """Reads the fields of every line that an import reads, and counts them."""
    form = Reading().lines
    with queries.connection() as con:
        run.start(con, form)
        source = lines.as_csv({0: file})
        queries.run(
            con, "importers/dsjson/events", form.values, **form.pieces, source=source
        )
        con.execute("select count(event_id), count(slots) from events").fetchall()


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds of the work."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def ratio(rounds: list[list[tuple[float, float]]], part: int, clock: int) -> float:
    """The median over rounds of a part's time by one clock to that of parsing."""
    found = [times[part][clock] / times[0][clock] for times in rounds]
    return round(statistics.median(found), 3)


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
            parts = (parse, read, lambda log: dsjson([log], out))
            rounds.append([timed(partial(part, file)) for part in parts])
    told = {
        "lines": asked.lines,
        "megabytes": round(size / 1e6, 1),
        "parse_seconds": [round(parsed[0], 3) for parsed, _, _ in rounds],
        "import_seconds": [round(imported[0], 3) for _, _, imported in rounds],
        "median_ratio": ratio(rounds, 2, 0),
        "processor_ratio": ratio(rounds, 2, 1),
        "median_read_ratio": ratio(rounds, 1, 0),
        "processor_read_ratio": ratio(rounds, 1, 1),
        "wanted_ratio": WANTED,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }
    sys.stdout.write(json.dumps(told, indent=1) + "\n")
    (HERE / "results" / "importers.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
