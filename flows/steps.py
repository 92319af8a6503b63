"""The steps of a night, as plain functions over a job's results folder.

    plan       which days the log holds, which nights are asked for
    check      every rule over every new day, before anything is scored
    count      the evidence of one day for the candidates that lack it
    estimate   estimates of every candidate, window and segment of one night
    publish    the warehouse, built beside and swapped in
    report     HTML, Markdown and JSON of one night

A night is a date in the job's time zone. A day is read when the content of its files,
the settings its evidence depends on, or a candidate changed; nothing else is read
again. All nights up to the newest one asked for are estimated, so a scheduler that was
down catches up, and a night's report is the same whichever way it was reached.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from flows import reports
from flows.errors import (
    DONE,
    NOT_ENOUGH_EVIDENCE,
    REFUSED,
    LogError,
    UsageError,
    worst,
)
from flows.job import load
from flows.offpolicy.estimate import ALL_REWARDS_MISSING, WITHHELD
from flows.offpolicy.nights import HEADLINE
from flows.policies import nearest
from flows.warehouse import checked, estimates, evidence
from flows.warehouse.days import Day, border, find_days
from flows.warehouse.folder import Folder
from flows.warehouse.publish import publish as build_warehouse
from flows.warehouse.settings import Job

FORMATS = {"html": "html", "markdown": "md", "json": "json"}


@dataclass(frozen=True, slots=True)
class Asked:
    """Which nights to run: one replayed, a range, or (all None) the newest.

    as_of: a date, or an instant; of an instant the last night that had ended.
    """

    as_of: str | None = None
    first: dt.date | None = None
    last: dt.date | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does.

    days: every day up to the newest night that is asked for or was made before.
    nights: those to report, oldest first.
    """

    job: Job
    folder: Folder
    run_id: str
    started_at: dt.datetime
    days: tuple[Day, ...]
    nights: tuple[dt.date, ...]

    def up_to(self, night: dt.date) -> tuple[Day, ...]:
        """The days up to a night."""
        return tuple(day for day in self.days if day.day <= night)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: its exit code, the answer in words, and where the results are."""

    exit_code: int
    sentence: str
    report: Path | None
    warehouse: Path


@contextmanager
def alone(job: Job) -> Iterator[None]:
    """Holds the job's results folder. Raises: UsageError when another run does."""
    with Folder(job.results).alone():
        yield


def plan(job: Job, asked: Asked) -> Plan:
    """Finds the log's days and decides which nights to run.

    Raises: LogError, and UsageError when the nights asked for do not exist.
    """
    folder = Folder(job.results)
    days = find_days(folder, job)
    nights = _nights(job, asked, days)
    made = [dt.date.fromisoformat(f.stem) for f in folder.glob("estimates", "*.json")]
    newest = max([*nights, *made])
    now = dt.datetime.now(dt.UTC)
    return Plan(
        job=job,
        folder=folder,
        run_id=f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}",
        started_at=now,
        days=tuple(day for day in days if day.day <= newest),
        nights=nights,
    )


def check(plan: Plan, advance: Callable[[], None] = lambda: None) -> None:
    """Checks all new days. Raises: ViolationsError with everything that is wrong."""
    checked.check_days(plan.folder, plan.job, plan.days, advance)


def uncounted(plan: Plan) -> tuple[Day, ...]:
    """The days that lack evidence for some candidate."""
    return tuple(
        day for day in plan.days if evidence.uncounted(plan.folder, plan.job, day)
    )


def count(plan: Plan, day: Day) -> None:
    """Counts the evidence of a day."""
    evidence.count_day(plan.folder, plan.job, day)


def estimate(plan: Plan, advance: Callable[[], None] = lambda: None) -> int:
    """Makes the estimates that are not there yet; returns for how many nights."""
    folder, job = plan.folder, plan.job
    counts = (
        evidence.read(folder, job, plan.days),
        evidence.read_exact(folder, job, plan.days),
    )
    made = 0
    for night in (day.day for day in plan.days):
        days = plan.up_to(night)
        made += estimates.estimate(folder, job, days, night, counts, plan.run_id)
        advance()
    return made


def publish(plan: Plan, *, days_read: int, nights_estimated: int) -> Path:
    """Records the run and builds the warehouse."""
    plan.folder.write_json(
        {
            "run_id": plan.run_id,
            "night": plan.nights[-1].isoformat(),
            "started_at": plan.started_at.isoformat(),
            "finished_at": dt.datetime.now(dt.UTC).isoformat(),
            "untaken_version": version(),
            "job_digest": plan.job.digest,
            "days_read": days_read,
            "nights_estimated": nights_estimated,
            "decision_count": sum(row["decisions"] for row in _days(plan, plan.days)),
            "exit_code": exit_code(plan),
        },
        "runs",
        f"{plan.run_id}.json",
    )
    nights = [day.day for day in plan.days]
    return build_warehouse(plan.folder, plan.job, plan.days, nights)


def exit_code(plan: Plan) -> int:
    """2 when a candidate is withheld on the newest night, 3 without any reward."""
    rows = _headline(plan)
    states = set(rows["state"])
    return worst(
        REFUSED if WITHHELD in states else DONE,
        NOT_ENOUGH_EVIDENCE if ALL_REWARDS_MISSING in states else DONE,
    )


def report(plan: Plan, night: dt.date) -> dict[str, Path]:
    """Writes the reports of a night; returns the files by format."""
    document = reports.build(facts(plan, night))
    writers: Mapping[str, Callable[[dict[str, Any]], str]] = {
        "html": reports.html,
        "markdown": reports.markdown,
        "json": reports.to_json,
    }
    return {
        name: plan.folder.write_text(
            writers[name](document), "reports", f"{night}.{FORMATS[name]}"
        )
        for name in plan.job.reports
    }


def outcome(plan: Plan, warehouse: Path, files: Mapping[str, Path]) -> Outcome:
    """How the run ended, in a sentence."""
    document = reports.build(facts(plan, plan.nights[-1]))
    return Outcome(
        exit_code=exit_code(plan),
        sentence=document["answer"]["sentence"],
        report=next(iter(files.values()), None),
        warehouse=warehouse,
    )


def facts(plan: Plan, night: dt.date) -> reports.NightFacts:
    """All that the report of a night may say."""
    job, days = plan.job, plan.up_to(night)
    profiles = [checked.profile_of(plan.folder, job, day) for day in days]
    names = sorted({n for p in profiles if p is not None for n in p.action_names})
    unknown = evidence.unknown_actions(plan.folder, job, days)
    return reports.NightFacts(
        job=job.name,
        night=night,
        timezone=job.timezone,
        reward_range=job.reward_range,
        propensity_floor=job.propensity_floor,
        confidence=job.confidence,
        method=job.method,
        candidates=tuple((n.name, n.spec) for n in job.candidates),
        estimates=estimates.read(plan.folder, [day.day for day in days]),
        days=pl.DataFrame(_days(plan, days), schema=DAYS),
        warnings=_warnings(plan, days),
        unknown_actions={
            name: tuple({"action": a, "nearest": nearest(a, names)} for a in actions)
            for name, actions in unknown.items()
        },
        violations=_violations(plan, night),
    )


DAYS = {
    "day": pl.Date,
    "decisions": pl.Int64,
    "rewards": pl.Int64,
    "actions": pl.Int64,
    "revision": pl.Int64,
}


def version() -> str:
    """The version of untaken that runs."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("untaken")
    except PackageNotFoundError:
        return "uninstalled"


def check_only(file: Path) -> str:
    """`untaken check`: validates everything a job reads; scores nothing."""
    job = load(file)
    folder = Folder(job.results)
    with folder.alone():
        days = find_days(folder, job)
        checked.check_days(folder, job, days, lambda: None)
        rows = [p for day in days if (p := checked.profile_of(folder, job, day))]
    decisions = sum(profile.decisions for profile in rows)
    rewards = sum(profile.rewards for profile in rows)
    warned = sorted({(w.rule, w.sentence) for p in rows for w in p.warned})
    lines = [
        f"{job.name}: {decisions:,} decisions on {len(days)} days from "
        f"{days[0].day} to {days[-1].day}, {rewards:,} with a reward; no violation"
    ]
    lines += [f"warning: {rule}: {sentence}" for rule, sentence in warned]
    return "\n".join(lines)


def report_again(file: Path, night: dt.date | None) -> str:
    """`untaken report`: writes a night's reports from the results that are there."""
    job = load(file)
    folder = Folder(job.results)
    made = sorted(f.stem for f in folder.glob("estimates", "*.json"))
    if not made:
        raise UsageError(
            f"{folder.root} holds no night yet; run: untaken nightly {file}"
        )
    wanted = night.isoformat() if night else made[-1]
    if wanted not in made:
        raise UsageError(f"no night {wanted} in {folder.root}; it holds {_span(made)}")
    with folder.alone():
        planned = plan(job, Asked(as_of=wanted))
        files = report(planned, dt.date.fromisoformat(wanted))
    return "\n".join(str(path) for path in files.values())


def _nights(job: Job, asked: Asked, days: tuple[Day, ...]) -> tuple[dt.date, ...]:
    known = [day.day for day in days]
    if asked.as_of is not None:
        wanted = _night_of(asked.as_of, job, known)
        nights = tuple(day for day in known if day == wanted)
        what = f"night {wanted}"
    elif asked.first or asked.last:
        first, last = asked.first or known[0], asked.last or known[-1]
        nights = tuple(day for day in known if first <= day <= last)
        what = f"night from {first} to {last}"
    else:
        return (known[-1],)
    if not nights:
        span = _span([day.isoformat() for day in known])
        raise LogError(f"no decision in the {what}; the log holds {span}")
    return nights


def _night_of(as_of: str, job: Job, known: list[dt.date]) -> dt.date | None:
    zone = job.timezone
    try:
        return dt.date.fromisoformat(as_of)
    except ValueError:
        pass
    try:
        instant = dt.datetime.fromisoformat(as_of)
    except ValueError:
        raise UsageError(
            f"--as-of {as_of!r} is neither a date (2019-11-27) nor an instant "
            "(2019-11-27T12:00:00Z)"
        ) from None
    instant = instant if instant.tzinfo else instant.replace(tzinfo=dt.UTC)
    one = dt.timedelta(days=1)
    return max(
        (day for day in known if border(day + one, zone) <= instant), default=None
    )


def _span(nights: list[str]) -> str:
    return f"{len(nights)} nights from {nights[0]} to {nights[-1]}"


def _headline(plan: Plan) -> pl.DataFrame:
    rows = estimates.read(plan.folder, [plan.nights[-1]])
    return rows.filter(pl.col("window") == HEADLINE, pl.col("segment_by") == "")


def _days(plan: Plan, days: tuple[Day, ...]) -> list[dict[str, Any]]:
    rows = []
    for day in days:
        profile = checked.profile_of(plan.folder, plan.job, day)
        assert profile is not None
        rows.append(
            {
                "day": day.day,
                "decisions": profile.decisions,
                "rewards": profile.rewards,
                "actions": len(profile.action_names),
                "revision": checked.revision_of(plan.folder, day),
            }
        )
    return rows


def _warnings(plan: Plan, days: tuple[Day, ...]) -> tuple[dict[str, Any], ...]:
    counted: dict[str, dict[str, Any]] = {}
    for day in days:
        profile = checked.profile_of(plan.folder, plan.job, day)
        for one in profile.warned if profile else ():
            known = counted.setdefault(
                one.rule,
                {
                    "rule": one.rule,
                    "sentence": one.sentence,
                    "remedy": one.remedy,
                    "count": 0,
                },
            )
            known["count"] += one.count
    return tuple(counted[rule] for rule in sorted(counted))


def _violations(plan: Plan, night: dt.date) -> pl.DataFrame:
    schema = {"day": pl.Date, "rule": pl.String, "count": pl.Int64}
    frames = []
    for file in plan.folder.glob("violations", "*.parquet"):
        day = dt.date.fromisoformat(file.name[:10])
        if day <= night:
            rows = pl.read_parquet(file).group_by("rule").len("count")
            frames.append(
                rows.select(
                    pl.lit(day).alias("day"), "rule", pl.col("count").cast(pl.Int64)
                )
            )
    if not frames:
        return pl.DataFrame(schema=schema)
    return pl.concat(frames).group_by("day", "rule").sum().sort("day", "rule")
