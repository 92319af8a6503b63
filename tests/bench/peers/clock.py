"""What a runner measures in its own process, and how it says so; standard library only.

A runner is started as `PYTHON run_TOOL.py INTERVAL FLOOR WARM_UP LOG...`. It imports
its tool, computes one interval on the log WARM_UP, so that nothing is imported later,
and then on each LOG, printing one JSON line a log:

    log, decisions        the file's stem, its rows
    seconds               of the tool's own work alone, by step
    processor_seconds     of the same, all threads added
    start_mib, peak_mib   largest resident memory after the warm-up and after this log
    interval              as the tool names it
    found                 by estimand (value, improvement): lower and upper, or null

Reading the log is part of a step only where the tool reads it itself.
"""

from __future__ import annotations

import dataclasses
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

REWARD_RANGE = (0.0, 1.0)
CONFIDENCE = 0.95
Found = dict[str, tuple[float | None, float | None]]


@dataclasses.dataclass
class Clock:
    """Adds up the time of named steps; a step may be entered again."""

    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    processor_seconds: float = 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Times what is done inside."""
        processor, wall = time.process_time(), time.perf_counter()
        yield
        passed = time.perf_counter() - wall
        self.seconds[name] = self.seconds.get(name, 0.0) + passed
        self.processor_seconds += time.process_time() - processor


@dataclasses.dataclass(frozen=True)
class Run:
    """One interval (or a pair, for value and improvement) on one log."""

    decisions: int
    interval: str
    found: Found


def peak_mib() -> float:
    """Largest resident memory of this process so far (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def drive(run: Callable[[str, str, float, Clock], Run]) -> None:
    """Runs `run(interval, log, floor, clock)` on every log the command line names."""
    interval, floor, warm_up, *logs = sys.argv[1:]
    run(interval, warm_up, float(floor), Clock())
    start = peak_mib()
    for log in logs:
        clock = Clock()
        made = run(interval, log, float(floor), clock)
        line = {
            "log": Path(log).stem,
            **dataclasses.asdict(made),
            "seconds": clock.seconds,
            "processor_seconds": clock.processor_seconds,
            "start_mib": start,
            "peak_mib": peak_mib(),
        }
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
