"""How long `untaken interval` takes at three years of nights and 100 segments.

    python tests/bench/interval.py [--nights 1095] [--segments 100] [--decisions 5000]
        [--candidates 5] [--rounds 9] [--folder DIR]

Makes up a job's warehouse (evidence by the house's own grid and marts, no log), once a
folder, then asks it. Each question is asked in turn of a process that has imported
everything: median milliseconds of wall and of processor time. The whole command is
compared with starting up, interleaved: what it takes beyond is what a user waits for.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from flows import on_demand, queries
from flows.folder import Folder
from flows.job import load
from flows.offpolicy.evidence import SUMS
from flows.offpolicy.grid import UNIT, Grid
from flows.offpolicy.nights import IMPORTANCE_WEIGHTING, SCHEMA, WINDOWS
from flows.places import WAREHOUSE
from flows.warehouse.estimates import ESTIMATES
from flows.warehouse.plans import LOOKS, settings_of

START = dt.date(2023, 1, 1)
METHODS = ("mixture", "anytime")
ACTIONS, CONTEXTS, REWARD, FLOOR = 10, 400, 0.05, 0.05
JOB = """
[job]
name = "{method}"
[decisions]
log = "no log/*.parquet"
context = ["position"]
[evaluation]
reward_range = [0.0, 1.0]
propensity_floor = 0.05
method = "{method}"
segments = [["position"]]
[candidates]
{candidates}
[[compare]]
candidates = ["candidate_1", "candidate_2"]
"""
STARTING = "import flows.cli, flows.on_demand, flows.offpolicy.told"
ASKING = "import sys; from flows.cli import main; sys.argv[0] = 'untaken'; main()"


def decisions(options: argparse.Namespace, seed: int) -> pl.DataFrame:
    """Night, sub-block, segment, reward and weight of each decision."""
    rng = np.random.default_rng(seed)
    count = options.nights * options.decisions
    logging = FLOOR + 0.5 * rng.dirichlet(np.full(ACTIONS, 0.5), CONTEXTS)
    best = np.eye(ACTIONS)[rng.normal(size=logging.shape).argmax(axis=1)]
    weights = (0.9 * best + 0.1 / ACTIONS) / logging
    context = rng.integers(CONTEXTS, size=count)
    below = logging.cumsum(axis=1)[context] < rng.random((count, 1))
    action = below.sum(axis=1).clip(0, ACTIONS - 1)
    return pl.DataFrame(
        {
            "day": np.repeat(np.arange(options.nights), options.decisions),
            "block": rng.integers(8, size=count),
            "segment": rng.integers(options.segments, size=count).astype(str),
            "reward": (rng.random(count) < REWARD).astype(float),
            "weight": weights[context, action],
        }
    )


def evidence(rows: pl.DataFrame, candidate: str, other: str) -> pl.DataFrame:
    """The evidence of decisions, all together and by segment."""
    grid, weight, scaled = Grid(FLOOR, 0.0, 1.0), pl.col("weight"), pl.col("reward")
    cells = rows.with_columns(
        weight_cell=grid.weight_cell(weight), reward_cell=grid.reward_cell(scaled)
    ).with_columns(
        weight_part=grid.weight_part(weight, pl.col("weight_cell")),
        reward_part=grid.reward_part(scaled, pl.col("reward_cell")),
    )
    a, b = pl.col("weight_part"), pl.col("reward_part")
    keys = ["day", "segment_by", "segment", "block", "weight_cell", "reward_cell"]
    parts = [
        part.group_by(keys).agg(
            pl.len().cast(pl.Int64).alias("decisions"),
            a.sum(),
            b.sum(),
            (a * b // UNIT).sum().alias("product_part"),
            (a * a // UNIT).sum().alias("weight_square_part"),
            a.max().alias("largest_weight_part"),
        )
        for part in (
            cells.with_columns(segment_by=pl.lit(""), segment=pl.lit("")),
            cells.with_columns(segment_by=pl.lit("position")),
        )
    ]
    unseen = {name: 0 for name in SUMS if name.endswith("unsupported_part")}
    return pl.concat(parts).with_columns(
        day=pl.lit(START) + pl.duration(days=pl.col("day")),
        judged_as_of=pl.lit(dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
        revision=pl.lit(0, pl.Int64),
        candidate=pl.lit(candidate),
        other=pl.lit(other),
        kind=pl.lit(0, pl.Int64),
        sample_probability=pl.lit(1.0),
        **{name: pl.lit(zero, pl.Int64) for name, zero in unseen.items()},
    )


def estimates(options: argparse.Namespace, subjects: list[tuple[str, str]]):
    """As many rows as nights would have made, of numbers that mean nothing."""
    nights = [START + dt.timedelta(days=n) for n in range(options.nights)]
    parts = [("", ""), *(("position", str(n)) for n in range(options.segments))]
    asked = pl.DataFrame(
        [
            (window, *subject, *part, estimand)
            for window, subject, part, estimand in product(
                WINDOWS, subjects, parts, ("value", "improvement")
            )
        ],
        schema=["window", "candidate", "other", "segment_by", "segment", "estimand"],
        orient="row",
    )
    told = {"assumption": "a", "status": "checked", "finding": "made up"}
    filled = {
        "estimator": IMPORTANCE_WEIGHTING,
        "state": "estimated",
        "look": "every look",
        "assumptions": [told] * 4,
    }
    every = pl.DataFrame({"night": nights}).join(asked, how="cross")
    every = every.with_columns(window_start=pl.lit(START), window_end=pl.col("night"))
    rest = [name for name in SCHEMA if name not in every.columns]
    return every.with_columns(
        *(
            pl.lit(filled.get(name, 1 if SCHEMA[name].is_numeric() else "x"))
            .cast(SCHEMA[name])
            .alias(name)
            for name in rest
        ),
        run_id=pl.lit("made up"),
    )


def build(folder: Path, options: argparse.Namespace) -> None:
    """The results of both jobs, which share one warehouse."""
    names = [f"candidate_{n + 1}" for n in range(options.candidates)]
    subjects = [("logging", ""), *((n, "") for n in names), (names[0], names[1])]
    for method in METHODS:
        file = folder / f"{method}.toml"
        specs = "\n".join(f'{name} = "uniform"' for name in names)
        file.write_text(JOB.format(method=method, candidates=specs))
        job = load(file)
        results = Folder(job.results)
        night = START + dt.timedelta(days=options.nights - 1)
        places = [[*n, place] for place, n in enumerate(subjects[1:], 1)]
        record = {"settings": settings_of(job), "places": places, "largest": {}}
        results.write_json(record, ESTIMATES, f"{night}.json")
        results.write_json([["0001-01-01", None]], LOOKS)
    first, second = (folder / "results" / method / WAREHOUSE for method in METHODS)
    if first.exists():
        return
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        files = []
        for number, (one, other) in enumerate(subjects):
            rows = decisions(options, number)
            if other:
                weight = pl.col("weight")
                rows = rows.with_columns(weight - weight.shuffle(seed=number))
            files.append(f"{scratch}/{number}.parquet")
            evidence(rows, one, other).write_parquet(files[-1])
        estimates(options, subjects).write_parquet(f"{scratch}/estimates.parquet")
        beside = first.with_suffix(".new")
        with queries.connection(beside) as con:
            queries.run(con, "marts/evidence", files=queries.files(files))
            queries.run(con, "marts/known_segments")
            made = queries.files([f"{scratch}/estimates.parquet"])
            queries.run(con, "marts/estimates", files=made)
            queries.execute(con, "checkpoint")
        beside.rename(first)
    second.symlink_to(first)


def questions(options: argparse.Namespace) -> dict[str, dict[str, object]]:
    """What is asked, in the words of the command."""
    one, other = "candidate_1", "candidate_2"
    middle = START + dt.timedelta(days=options.nights // 2)
    return {
        "since the start": {"candidate": one},
        "since the start, a segment": {"candidate": one, "where": "position = 2"},
        "since the start, three segments": {
            "candidate": one,
            "where": "position in (2, 50, 99)",
        },
        "since the start, half the segments": {
            "candidate": one,
            "where": f"position < {options.segments // 2}",
        },
        "last 14 nights": {"candidate": one, "last": "14d"},
        "last 365 nights": {"candidate": one, "last": "365d"},
        "last 365 nights, a segment": {
            "candidate": one,
            "last": "365d",
            "where": "position = 2",
        },
        "since the middle": {"candidate": one, "since": middle},
        "all nights, as a chosen window": {"candidate": one, "since": START},
        "a difference, last 365 nights": {
            "candidate": one,
            "other": other,
            "last": "365d",
        },
    }


def ask(file: Path, options: argparse.Namespace) -> None:
    """Medians of each question, asked in turn."""
    asked = questions(options)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in asked}
    for _ in range(options.rounds + 1):
        for name, question in asked.items():
            wall, processor = time.perf_counter(), time.process_time()
            on_demand.interval(file, **question)
            taken[name].append(
                (time.perf_counter() - wall, time.process_time() - processor)
            )
    for name, times in taken.items():
        wall, processor = (
            1000 * statistics.median(one[at] for one in times[1:]) for at in (0, 1)
        )
        sys.stdout.write(f"  {name}: {wall:.0f} ms, processor {processor:.0f} ms\n")


def compare(file: Path, rounds: int) -> None:
    """The whole command against starting up."""
    command = ["interval", str(file), "--candidate", "candidate_1", "--last", "14d"]
    pairs = []
    for _ in range(rounds + 1):
        times = []
        for code, arguments in ((STARTING, []), (ASKING, command)):
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", code, *arguments],
                check=True,
                stdout=subprocess.DEVNULL,
                env=os.environ,
            )
            times.append(time.perf_counter() - start)
        pairs.append(times)
    started, whole = (statistics.median(p[at] for p in pairs[1:]) for at in (0, 1))
    beyond = statistics.median(1000 * (two - one) for one, two in pairs[1:])
    sys.stdout.write(
        f"  the command, last 14 nights: {whole:.2f} s, starting up {started:.2f} s, "
        f"beyond it {beyond:.0f} ms\n"
    )


def main() -> None:
    """Builds what is not there and asks."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (
        ("nights", 1095),
        ("segments", 100),
        ("decisions", 5000),
        ("candidates", 5),
        ("rounds", 9),
    ):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        build(folder, options)
        sys.stdout.write(json.dumps(vars(options), default=str) + "\n")
        for method in METHODS:
            sys.stdout.write(f"{method}\n")
            ask(folder / f"{method}.toml", options)
            compare(folder / f"{method}.toml", options.rounds)


if __name__ == "__main__":
    main()
