"""The large coverage bed: thousands of replications, a table and a picture.

    python tests/coverage/large.py [--replications 1000] [--draws 100] [--jobs 2]
        [--results FOLDER]

Writes coverage.md, coverage.json and coverage.svg. A run that was killed goes on where
it was: coverage.json holds the counts of every finished chunk, unless the code that
makes an interval has changed since. More replications begin with those there are.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import hashlib
import json
import multiprocessing
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from bed import bars, report, settings
from bed.picture import picture
from bed.tally import CHUNK, SEED, Tally, tallied, together

import flows

HERE = Path(__file__).parent
# What makes an interval.
MODULES = (
    "intervals/*.py",
    "offpolicy/blocks.py",
    "offpolicy/cells.py",
    "offpolicy/corners.py",
    "offpolicy/estimate.py",
    "offpolicy/evidence.py",
    "offpolicy/grid.py",
    "offpolicy/methods.py",
)
SAVED_EVERY_SECONDS = 20
# The fewest replications of what a look at few would miss: rewards between 0 and 1 have
# many cells, and coverage is near its level.
CLOSELY, FEWEST = "between, floor 0.05, 20,000, fixed", 1_000


@functools.cache
def beds():
    """Both parts: settings by name, for coverage and for widths."""
    return {"coverage": settings.everything(), "widths": bars.settings()}


@functools.cache
def digest():
    """Of the code that makes an interval and of the bed; comments do not count."""
    package = Path(flows.__file__).parent
    files = [file for pattern in MODULES for file in package.glob(pattern)]
    found = hashlib.sha256()
    for file in sorted([*files, *(HERE / "bed").glob("*.py")]):
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(body, list):
                node.body = [part for part in body if not is_text(part)]
        found.update(f"{file.name} {ast.dump(tree)}".encode())
    return found.hexdigest()[:16]


def is_text(statement):
    """Whether it is a docstring."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def chunks(replications, draws):
    """What is to be done, by key: part, name, first replication and the one after the
    last. All settings advance together.
    """
    found = []
    for part, asked in (("coverage", replications), ("widths", draws)):
        for name, setting in beds()[part].items():
            times = max(1, round(asked * setting.factor))
            if (part, name) == ("coverage", CLOSELY) and asked >= CHUNK:
                times = max(times, FEWEST)
            found += [
                (part, name, first, min(first + CHUNK, times))
                for first in range(0, times, CHUNK)
            ]
    return {json.dumps(one): one for one in sorted(found, key=lambda one: one[2])}


def work(part, name, first, last):
    """One chunk, as it is written."""
    tallies = tallied(beds()[part][name], first, last)
    return {e: dataclasses.asdict(tally) for e, tally in tallies.items()}


def read(file):
    """The chunks that are done."""
    if file.exists():
        held = json.loads(file.read_text())
        if (held["code"], held["seed"]) == (digest(), SEED):
            return held["chunks"]
        print("the code has changed since: starting anew")  # noqa: T201
    return {}


def write(file, text):
    """Written beside, renamed last."""
    beside = file.with_suffix(file.suffix + ".part")
    beside.write_text(text)
    beside.rename(file)


def save(file, done):
    """All chunks in one order, whoever did them first."""
    held = {
        "code": digest(),
        "seed": SEED,
        "chunks": {key: done[key] for key in sorted(done, key=place)},
    }
    write(file, json.dumps(held, separators=(",", ":")).replace('},"', '},\n"') + "\n")


def place(key):
    """Where a chunk stands: by part, setting and first replication."""
    part, name, first, last = json.loads(key)
    return part, name, first, last


def tallies_of(part, done):
    """Tallies by setting and estimand; of chunks that overlap the longest."""
    longest = {}
    for key in sorted(done, key=place):
        of, name, first, _ = json.loads(key)
        if of == part:
            longest.setdefault(name, {})[first] = {
                estimand: Tally(**numbers) for estimand, numbers in done[key].items()
            }
    return {name: together(of.values()) for name, of in longest.items()}


def end_with(parent):
    """Ends a worker whose parent was killed, instead of leaving it waiting."""

    def watch():
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def finish(done, asked, jobs, file):
    """Does the chunks that are left, and saves them now and then."""
    left = {key: one for key, one in asked.items() if key not in done}
    print(f"{len(left):,} of {len(asked):,} chunks to do")  # noqa: T201
    # Workers are many enough; a fork would break the threads of polars.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    spawn, saved = multiprocessing.get_context("spawn"), time.monotonic()
    with ProcessPoolExecutor(jobs, spawn, end_with, (os.getpid(),)) as pool:
        futures = {pool.submit(work, *one): key for key, one in left.items()}
        for future in as_completed(futures):
            done[futures[future]] = future.result()
            if time.monotonic() - saved > SAVED_EVERY_SECONDS:
                save(file, done)
                saved = time.monotonic()
    save(file, done)


def main():
    """Does what is left, then writes the page and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=100, help="of widths")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=HERE / "results")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / "coverage.json"
    done = read(file)
    asked = chunks(options.replications, options.draws)
    finish(done, asked, options.jobs, file)
    found = {part: tallies_of(part, done) for part in beds()}
    page = report.markdown(
        beds()["coverage"], found["coverage"], beds()["widths"], found["widths"]
    )
    write(options.results / "coverage.md", page)
    drawn = picture(beds()["coverage"], found["coverage"])
    write(options.results / "coverage.svg", drawn)


if __name__ == "__main__":
    main()
