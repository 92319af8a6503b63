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
down catches up, and a night's report is the same whichever way it was reached. Later
days are left alone: what is wrong in them does not keep an older night from a replay,
and what was made of them stays.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows import queries, reports
from flows.asked import Asked, nights, span
from flows.errors import UntakenError, UsageError
from flows.facts import Kept
from flows.folder import Folder
from flows.job import load
from flows.offpolicy.estimate import exit_code_of
from flows.version import version
from flows.warehouse import checked, estimates, evidence, frequencies, models, plans
from flows.warehouse.days import Day, find_days
from flows.warehouse.evidence import Keys
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
    keys: of each of `days` what names its evidence.
    nights: those to report, oldest first.
    """

    def __init__(
        self,
        job: Job,
        *,
        log_days: tuple[Day, ...],
        nights: tuple[dt.date, ...],
    ) -> None:
        self.job = job
        self.folder = Folder(job.results)
        self.started_at = dt.datetime.now(dt.UTC)
        self.run_id = run_id(self.started_at)
        self.log_days = log_days
        self.days = tuple(day for day in log_days if day.day <= nights[-1])
        self.keys: Mapping[dt.date, Keys] = evidence.keys_of(
            self.folder, job, self.days
        )
        self.nights = nights


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: its exit code, the answer in words, where the results are."""

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

    Raises: LogError, UsageError when the nights asked for do not exist, PolicyError
    when a candidate's files do not.
    """
    days = find_days(Folder(job.results), job)
    return Plan(
        job,
        log_days=days,
        nights=nights(asked, [day.day for day in days], job.timezone),
    )


def check(plan: Plan, advance: Callable[[], None] = lambda: None) -> None:
    """Checks all new days. Raises: ViolationsError with everything that is wrong."""
    checked.check_days(plan.folder, plan.job, plan.days, plan.log_days, advance)
    models.require(plan.folder, plan.job, plan.days)


def uncounted(plan: Plan) -> tuple[Day, ...]:
    """The days that lack counts: of their actions, or evidence for some candidate."""
    return tuple(
        day
        for day in plan.days
        if evidence.uncounted(plan.folder, plan.job, day, plan.keys[day.day])
        or not frequencies.is_counted(plan.folder, plan.job, day)
    )


def count(plan: Plan, day: Day) -> None:
    """Counts the evidence of a day."""
    evidence.count_day(plan.folder, plan.job, day, plan.keys[day.day])


def estimate(plan: Plan, advance: Callable[[], None] = lambda: None) -> int:
    """Makes the estimates that are not there yet; returns for how many nights."""
    return estimates.estimate_nights(
        plan.folder, plan.job, plan.keys, plan.run_id, advance
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


def check_only(job: Job) -> str:
    """`untaken check`: validates all that a job evaluates; scores nothing."""
    with alone(job):
        planned = plan(job, Asked())
        check(planned)
        unknown = _check_candidates(planned)
        days = checked.kept_days(planned.folder)
    decisions = sum(day.profile.decisions for day in days)
    rewards = sum(day.profile.rewards for day in days)
    held = span([day.day for day in days])
    first = f"{job.name}: {decisions:,} decisions, {rewards:,} with a reward; {held}"
    lines = [f"{first}; no violation"]
    warned = {(w.rule, w.sentence) for day in days for w in day.profile.warned}
    lines += [f"warning: {rule}: {sentence}" for rule, sentence in sorted(warned)]
    lines += [
        f"warning: candidate {name} takes actions that the log never lists: {actions}"
        for name, actions in unknown.items()
    ]
    return "\n".join(lines)


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


def _check_candidates(plan: Plan) -> dict[str, str]:
    """Lays out every candidate on every day; returns who takes unlisted actions."""
    unknown: dict[str, set[str]] = {}
    for day in plan.days:
        with queries.connection() as con, plan.folder.work() as work:
            prepared = evidence.prepare_day(
                con, plan.folder, plan.job, day, plan.job.candidates, work
            )
            prepared.scored(evidence.grid_of(plan.job).tolerated_floor)
        for name, actions in prepared.unknown.items():
            unknown.setdefault(name, set()).update(actions)
    return {name: ", ".join(sorted(actions)) for name, actions in unknown.items()}
