"""A job in a folder of its own, small logs for it, and a night without Prefect."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from flows import steps
from flows.asked import Asked
from flows.folder import Folder
from flows.job import load

ACTIONS = ["a", "b", "c"]
START = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
JOB = """
[job]
name = "shop"
timezone = "{timezone}"

[decisions]
log = {log}
context = ["device"]

[evaluation]
reward_range = [0.0, 1.0]
propensity_floor = 0.1
method = "{method}"
segments = [["device"]]

[candidates]
{candidates}

[outputs]
report = {reports}
"""
CANDIDATES = 'new = "column:new"\ntable = "table.parquet"'
APART = """
[job]
name = "shop"
timezone = "{timezone}"

[decisions]
log = "log/**/*.parquet"
{decisions}

[rewards]
events = "rewards/*.parquet"
wait_seconds = 600
load_delay_seconds = 60
{rewards}

[evaluation]
reward_range = [0.0, 1.0]
propensity_floor = 0.1
method = "mixture"

[candidates]
{candidates}

[outputs]
report = ["json"]
"""
PROPENSITY = """
probabilities = "propensity"
actions = ["a", "b"]
full_support = true
"""


@dataclass(frozen=True)
class Night:
    """How a night without Prefect ended."""

    exit_code: int
    answer: str
    reports: dict[str, Path]
    days_read: int
    nights_estimated: int
    plan: steps.Plan


class Place:
    """The folder of a job."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / "job.toml"
        self.results = root / "results" / "shop"
        root.mkdir(parents=True, exist_ok=True)
        self.table()
        self.job()

    def copied(self, root: Path) -> Place:
        """The same place with all it holds, elsewhere."""
        shutil.copytree(self.root, root)
        return Place.at(root)

    @classmethod
    def at(cls, root: Path) -> Place:
        """A place that is there."""
        place = cls.__new__(cls)
        place.root, place.file = root, root / "job.toml"
        place.results = root / "results" / "shop"
        return place

    def job(
        self,
        candidates=CANDIDATES,
        method="mixture",
        timezone="UTC",
        log="log/**/*.parquet",
        reports=("json", "markdown"),
    ) -> None:
        text = JOB.format(
            timezone=timezone,
            log=json.dumps(log),
            method=method,
            candidates=candidates,
            reports=list(reports),
        )
        self.file.write_text(text)

    def apart(
        self,
        rewards="default = 0.0",
        decisions=PROPENSITY,
        candidates='uniform = "uniform"',
        timezone="UTC",
    ) -> None:
        """A job whose rewards come in a table of their own."""
        self.file.write_text(
            APART.format(
                timezone=timezone,
                decisions=decisions,
                rewards=rewards,
                candidates=candidates,
            )
        )

    def decide(self, rows, name="1.parquet", **columns) -> Path:
        """Writes decisions between a and b: ids, and seconds since 1 May."""
        ids, seconds = zip(*rows, strict=True)
        made = pl.DataFrame({"decision_id": ids, "decided_at": [*map(after, seconds)]})
        made = made.with_columns(
            action=pl.when(pl.int_range(pl.len()) % 3 == 0)
            .then(pl.lit("a"))
            .otherwise(pl.lit("b")),
            propensity=0.5,
            **{n: pl.Series(values) for n, values in columns.items()},
        )
        return self.write(made, name)

    def events(self, rows, name="1.parquet", room="rewards", **columns) -> Path:
        """Writes rewards: ids, seconds of receipt and of knowledge, values.

        Without seconds of knowledge nobody says when rewards became known.
        """
        ids, received, known, values = zip(*rows, strict=True) if rows else [()] * 4
        made = {"decision_id": ids, "rewarded_at": [*map(after, received)]}
        if None not in known:
            made["known_at"] = [*map(after, known)]
        schema = dict.fromkeys(("rewarded_at", "known_at"), pl.Datetime("us", "UTC"))
        frame = pl.DataFrame(
            made | {"reward": values} | columns,
            schema_overrides=schema | {"decision_id": pl.String, "reward": pl.Float64},
        )
        file = self.root / room / name
        file.parent.mkdir(exist_ok=True)
        frame.write_parquet(file)
        return file

    def judged(self, **asked) -> steps.Plan:
        """A night up to its evidence."""
        job = load(self.file)
        with steps.alone(job):
            plan = steps.plan(job, Asked(**asked))
            steps.check(plan)
            steps.judge(plan)
            for one in steps.uncounted(plan):
                steps.count(plan, one)
        return plan

    def table(self, probabilities=(0.2, 0.3, 0.5)) -> None:
        """The candidate `table`, a look-up by device."""
        pl.DataFrame(
            {
                "device": ["desk", "phone"],
                "actions": [ACTIONS] * 2,
                "probabilities": [list(probabilities)] * 2,
            }
        ).write_parquet(self.root / "table.parquet")

    def write(self, rows: pl.DataFrame, name: str, **options) -> Path:
        file = self.root / "log" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        rows.write_parquet(file, **options)
        return file

    def days(self, numbers, size=120) -> None:
        """A file for each day, counted from 1 May."""
        for number in numbers:
            self.write(day(number, size), name_of(number))

    def night(self, **asked) -> Night:
        job = load(self.file)
        with steps.alone(job):
            plan = steps.plan(job, Asked(**asked))
            steps.check(plan)
            steps.judge(plan)
            days = steps.uncounted(plan)
            for one in days:
                steps.count(plan, one)
            made = steps.estimate(plan)
            steps.publish(plan, days_read=len(days), nights_estimated=made)
            answer, reports = steps.report(plan)
        return Night(steps.exit_code(plan), answer, reports, len(days), made, plan)

    def folder(self) -> Folder:
        return Folder(self.results)

    def document(self, night="2024-05-07"):
        return json.loads((self.results / "reports" / f"{night}.json").read_text())

    def estimates(self, night) -> pl.DataFrame:
        rows = pl.read_parquet(
            self.results / "estimates" / f"{night}.parquet", glob=False
        )
        return rows.drop("run_id")

    def changes(self) -> dict[str, int]:
        """When each file of the results was written, but those of runs."""
        return {
            str(file.relative_to(self.results)): file.stat().st_mtime_ns
            for file in self.results.rglob("*.*")
            if file.is_file() and file.parts[-2] not in ("runs", "tables", "shop")
        }

    def state(self) -> dict[str, object]:
        """All results, without what tells one run from another."""
        found: dict[str, object] = {}
        for file in sorted(self.results.rglob("*.*")):
            name = str(file.relative_to(self.results))
            room = name.partition("/")[0]
            if room == "reports":
                found[name] = file.read_bytes()
            if room in ("evidence", "estimates", "tables") and name.endswith(
                ".parquet"
            ):
                frame = pl.read_parquet(file, hive_partitioning=False)
                rows = frame.drop("run_id", strict=False).rows()
                found[name] = [] if name == "tables/runs.parquet" else rows
        return found


def after(seconds: float) -> dt.datetime:
    """The instant so many seconds after the start of 1 May."""
    return START + dt.timedelta(seconds=seconds)


def name_of(number: int) -> str:
    return f"day={(START + dt.timedelta(days=number - 1)):%Y-%m-%d}/part-0.parquet"


def day(number: int, size: int = 120) -> pl.DataFrame:
    """A day's decisions, the same whenever they are made."""
    rng = np.random.default_rng(number)
    logged = rng.dirichlet(np.ones(3), size) * 0.7 + 0.1
    action = (logged.cumsum(1) < rng.random((size, 1))).sum(1).clip(0, 2)
    start = START + dt.timedelta(days=number - 1)
    return pl.DataFrame(
        {
            "decision_id": [f"{number}-{row}" for row in range(size)],
            "decided_at": [
                start + dt.timedelta(seconds=86400 * row // size) for row in range(size)
            ],
            "action": [ACTIONS[a] for a in action],
            "actions": [ACTIONS] * size,
            "logging_probabilities": logged.tolist(),
            "reward": (rng.random(size) < 0.2 + 0.4 * (action == 1)).astype(float),
            "device": rng.choice(["desk", "phone"], size),
            "new": rng.dirichlet(np.ones(3), size).tolist(),
        }
    )


@pytest.fixture(name="day")
def day_fixture():
    return day


@pytest.fixture
def place(tmp_path) -> Place:
    return Place(tmp_path / "place")


@pytest.fixture
def places(tmp_path):
    """Further places by name."""
    return lambda name: Place(tmp_path / name)


@pytest.fixture(scope="session")
def place_at():
    """A new place by its folder."""
    return Place


@pytest.fixture(scope="session")
def week(tmp_path_factory) -> Place:
    """Seven days and one plain run of the newest night: to look at, not to change."""
    place = Place(tmp_path_factory.mktemp("week") / "place")
    place.days(range(1, 8))
    place.night()
    return place
