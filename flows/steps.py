"""The steps of a night, as plain functions over a job's results folder.

    plan       which days the log holds, which nights are asked for
    check      every rule over every new day, before anything is scored
    judge      rewards that come apart, joined with the days they are about
    count      the evidence of one day for the candidates that lack it
    estimate   estimates of every candidate, window and segment of one night
    publish    the warehouse, built beside and swapped in
    report     HTML, Markdown and JSON of one night

A night is a date in the job's time zone. A day is read when the content of its files,
the settings its evidence depends on, or a candidate changed; nothing else is read
again. All nights up to the newest one asked for are estimated, so a scheduler that was
down catches up, and a night's report is the same whichever way it was reached. Later
days are left alone: what is wrong in them does not keep an older night from a replay,
and what was made of them stays.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows import reports
from flows.asked import Asked, nights, span
from flows.errors import LogError, UntakenError, UsageError
from flows.exports import Exported
from flows.facts import Kept
from flows.folder import Folder
from flows.job import load
from flows.offpolicy.estimate import exit_code_of
from flows.version import version
from flows.warehouse import (
    checked,
    estimates,
    evidence,
    frequencies,
    judging,
    models,
    plans,
)
from flows.warehouse.arrivals import Arrivals, arrivals
from flows.warehouse.days import Day, ends_at, find_days, newest_decision
from flows.warehouse.evidence import Keys
from flows.warehouse.history import History
from flows.warehouse.publish import publish as build_warehouse
from flows.warehouse.settings import Job

RUNS = "runs"
FORMATS = {"html": "html", "markdown": "md", "json": "json"}
WRITERS: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "html": reports.html,
    "markdown": reports.markdown,
    "json": reports.to_json,
}


class Plan:
    """What a run does.

    A plain class: Prefect looks into the fields of a dataclass at every task.

    log_days: every day of the log; days: those up to the newest night asked for.
    nights: those to report, oldest first.
    arrivals: of rewards that come apart, when they arrived.
    keys: of each of `days`, in every version of its rewards, what names its evidence;
        empty until rewards are judged.
    """

    def __init__(
        self,
        job: Job,
        *,
        log_days: tuple[Day, ...],
        nights: tuple[dt.date, ...],
        arrivals: Arrivals | None = None,
    ) -> None:
        self.job = job
        self.folder = Folder(job.results)
        self.started_at = dt.datetime.now(dt.UTC)
        self.run_id = run_id(self.started_at)
        self.log_days = log_days
        self.days = tuple(day for day in log_days if day.day <= nights[-1])
        self.nights = nights
        self.arrivals = arrivals
        self.keys: Mapping[Day, Keys] = {}
        if arrivals is None:
            self.take(self.days)

    def take(self, days: Sequence[Day]) -> None:
        """Says with which rewards days are counted. Raises: PolicyError."""
        self.keys = evidence.keys_of(self.folder, self.job, days)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: its exit code, the answer in words, where the results are."""

    exit_code: int
    sentence: str
    report: Path | None
    warehouse: Path
    exports: tuple[Exported, ...]


@contextmanager
def alone(job: Job) -> Iterator[None]:
    """Holds the job's results folder. Raises: UsageError when another run does."""
    with Folder(job.results).alone():
        yield


def plan(job: Job, asked: Asked, advance: Callable[[], None] = lambda: None) -> Plan:
    """Finds the log's days and decides which nights to run.

    advance: called after each file that has to be imported.
    Raises: LogError, UsageError when the nights asked for do not exist, PolicyError
    when a candidate's files do not.
    """
    folder = Folder(job.results)
    days = find_days(folder, job, advance)
    known = [day.day for day in days]
    if job.rewards is None:
        chosen = nights(asked, known, lambda night: ends_at(night, job.timezone))
        return Plan(job, log_days=days, nights=chosen)
    newest = newest_decision(job, days[-1])
    arrived = arrivals(folder, job, job.rewards, as_of=asked.instant, newest=newest)
    chosen = nights(asked, known, arrived.closes_at, arrived.as_of)
    return Plan(job, log_days=days, nights=chosen, arrivals=arrived)


def check(plan: Plan, advance: Callable[[], None] = lambda: None) -> None:
    """Checks all new days. Raises: ViolationsError with everything that is wrong."""
    checked.check_days(plan.folder, plan.job, plan.days, plan.log_days, advance)
    models.require(plan.folder, plan.job, plan.days)


def judge(plan: Plan, advance: Callable[[], None] = lambda: None) -> None:
    """Joins rewards that come apart with the days, as far as each night knew them.

    Raises: ViolationsError with everything that is wrong, LogError, UsageError.
    """
    if plan.arrivals is not None:
        plan.take(
            judging.judge_days(plan.folder, plan.job, plan.arrivals, plan.days, advance)
        )
        _require_judged(plan)
    checked.set_aside(plan.folder, plan.days, plan.log_days)


def _require_judged(plan: Plan) -> None:
    """Raises: LogError when no decision enters a night that is asked for."""
    night = plan.nights[0]
    known = judging.standing(judging.judgements(plan.folder), night)
    counts = [one.counts for one in known]
    if any(one.observed or one.default or one.missing for one in counts):
        return
    immature = sum(one.immature for one in counts)
    unactivated = sum(one.unactivated for one in counts)
    raise LogError(
        f"no decision up to {night} can be estimated: {immature:,} are immature and "
        f"{unactivated:,} were not activated"
    )


def uncounted(plan: Plan) -> tuple[Day, ...]:
    """The days that lack counts: of their actions, or evidence for some candidate."""
    return tuple(
        day
        for day, keys in plan.keys.items()
        if evidence.uncounted(plan.folder, plan.job, day, keys)
        or not frequencies.is_counted(plan.folder, plan.job, day)
    )


def count(plan: Plan, day: Day) -> None:
    """Counts the evidence of a day."""
    evidence.count_day(plan.folder, plan.job, day, plan.keys[day])


def estimate(plan: Plan, advance: Callable[[], None] = lambda: None) -> int:
    """Makes the estimates that are not there yet; returns for how many nights."""
    return estimates.estimate_nights(
        plan.folder, plan.job, History(plan.keys), plan.run_id, advance
    )


def publish(plan: Plan, *, days_read: int, nights_estimated: int) -> Path:
    """Records the run and builds the warehouse."""
    asked_for = {day.day for day in plan.days}
    kept = [day for day in checked.kept_days(plan.folder) if day.day in asked_for]
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
            "decision_count": sum(day.profile.decisions for day in kept),
            "exit_code": exit_code(plan),
        },
        RUNS,
        f"{plan.run_id}.json",
    )
    return build_warehouse(plan.folder, plan.job)


@contextmanager
def recorded(results: Path, digest: str) -> Iterator[None]:
    """Leaves a record of a run that is refused; that of any other `publish` writes.

    results: the folder of the job; digest: of its settings.
    The warehouse shows it from the next run on that is not: a refused run leaves the
    last good results as they are.
    """
    started_at = dt.datetime.now(dt.UTC)
    try:
        yield
    except UntakenError as error:
        name = run_id(started_at)
        record = {
            "run_id": name,
            "started_at": started_at.isoformat(),
            "finished_at": dt.datetime.now(dt.UTC).isoformat(),
            "untaken_version": version(),
            "job_digest": digest,
            "exit_code": error.exit_code,
            "message": str(error).partition("\n")[0],
        }
        Folder(results).write_json(record, RUNS, f"{name}.json")
        raise


def run_id(started_at: dt.datetime) -> str:
    """A name for a run, in the order of their starts."""
    return f"{started_at:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"


def exit_code(plan: Plan) -> int:
    """2 when a candidate is withheld on the newest night, 3 without any reward."""
    rows = estimates.headlines(plan.folder, [plan.nights[-1]])
    return exit_code_of(set(rows["state"]))


def report(
    plan: Plan, advance: Callable[[], None] = lambda: None
) -> tuple[str, dict[str, Path]]:
    """Writes the reports of all nights.

    Returns: of the newest one the answer, in words, and the files by format.
    """
    kept = Kept.of(plan.folder, plan.job)
    sentence, files = "", dict[str, Path]()
    for night in plan.nights:
        sentence, files = _report(kept, night)
        advance()
    return sentence, files


def report_again(file: Path, night: dt.date | None) -> str:
    """`untaken report`: writes a night's reports from the results that are there."""
    job = load(file)
    with alone(job):
        folder = Folder(job.results)
        made = {one.night: one for one in estimates.made_nights(folder)}
        if not made:
            raise UsageError(
                f"{folder.root} holds no night yet; run: untaken nightly {file}"
            )
        wanted = night or max(made)
        if wanted not in made:
            raise UsageError(f"no night {wanted}; {folder.root} holds {span(made)}")
        if made[wanted].settings != plans.settings_of(job):
            raise UsageError(
                f"{file} changed since the night {wanted} was made; run: untaken "
                f"nightly {file} --as-of {wanted}"
            )
        _, files = _report(Kept.of(folder, job), wanted)
    return "\n".join(str(path) for path in files.values())


def _report(kept: Kept, night: dt.date) -> tuple[str, dict[str, Path]]:
    document = reports.build(kept.facts(night))
    files = {
        name: kept.folder.write_text(
            WRITERS[name](document), "reports", f"{night}.{FORMATS[name]}"
        )
        for name in kept.job.reports
    }
    return document["answer"]["sentence"], files
