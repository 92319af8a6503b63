"""The nightly flow: Prefect around the plain functions of `flows.steps`.

One flow run a job and night asked for; tasks for what is slow or touches the disk. A
task gets paths and dates, never frames, and nothing is cached by Prefect: whether a
step is done already, the results folder knows. Only reading files is tried again.
"""

from __future__ import annotations

import re
from pathlib import Path

from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from flows import exports, steps
from flows.asked import Asked
from flows.errors import worst
from flows.exports import Exported, Written
from flows.progress import Steps, progress
from flows.retries import AGAIN
from flows.steps import Outcome, Plan
from flows.warehouse.days import Day
from flows.warehouse.settings import Export, Job


@task(cache_policy=NO_CACHE, **AGAIN)
def find_days(job: Job, asked: Asked, shown: Steps) -> Plan:
    """Which days there are and which nights are asked for."""
    with shown.step("finding days") as step:
        return steps.plan(job, asked, step.advance)


@task(cache_policy=NO_CACHE, **AGAIN)
def check_days(plan: Plan, shown: Steps) -> None:
    """Every rule over every new day."""
    with shown.step("checking", total=len(plan.days)) as step:
        steps.check(plan, step.advance)


@task(cache_policy=NO_CACHE, **AGAIN)
def judge_days(plan: Plan, shown: Steps) -> None:
    """Rewards that come apart, joined with every day."""
    with shown.step("joining rewards", total=len(plan.days)) as step:
        steps.judge(plan, step.advance)


@task(cache_policy=NO_CACHE, task_run_name="count {day.day}", **AGAIN)
def count_day(plan: Plan, day: Day) -> None:
    """The evidence of one day."""
    steps.count(plan, day)


@task(cache_policy=NO_CACHE)
def estimate_nights(plan: Plan, shown: Steps) -> int:
    """Estimates of every night that lacks them."""
    with shown.step("estimating", total=len(plan.days)) as step:
        return steps.estimate(plan, step.advance)


@task(cache_policy=NO_CACHE)
def publish(plan: Plan, days_read: int, nights_estimated: int) -> Path:
    """The warehouse."""
    return steps.publish(plan, days_read=days_read, nights_estimated=nights_estimated)


@task(cache_policy=NO_CACHE)
def report(plan: Plan, shown: Steps) -> tuple[str, dict[str, Path]]:
    """The reports of the nights asked for; returns the newest one's answer, files."""
    with shown.step("reporting", total=len(plan.nights)) as step:
        return steps.report(plan, step.advance)


@task(cache_policy=NO_CACHE, task_run_name="export to {export.name}")
def export_to(job: Job, export: Export) -> Written:
    """The warehouse's tables, written to one target."""
    return exports.export_to(job, export)


def _exported(job: Job, shown: Steps) -> list[Exported]:
    """Each target in its turn; one that fails is told, and fails its task alone."""

    def work(export: Export) -> Written:
        written = export_to(job, export)
        step.advance()
        return written

    if not job.exports:
        return []
    with shown.step("exporting", total=len(job.exports)) as step:
        return exports.export_all(job.exports, work)


@flow(name="nightly", validate_parameters=False, flow_run_name="{job.name}")
def nightly(job: Job, asked: Asked) -> Outcome:
    """Everything a job file says, for the nights asked for."""
    refused = steps.recorded(job.results, job.digest)
    with steps.alone(job), refused, progress() as shown:
        plan = find_days(job, asked, shown)
        check_days(plan, shown)
        judge_days(plan, shown)
        days = steps.uncounted(plan)
        with shown.step("counting", total=len(days)) as step:
            for day in days:
                count_day(plan, day)
                step.advance()
        made = estimate_nights(plan, shown)
        warehouse = publish(plan, len(days), made)
        sentence, files = report(plan, shown)
        exported = _exported(job, shown)
    if markdown := files.get("markdown"):
        key = re.sub(r"[^a-z0-9]+", "-", f"untaken {job.name}".lower()).strip("-")
        create_markdown_artifact(markdown.read_text(encoding="utf-8"), key=key)
    return Outcome(
        exit_code=worst(steps.exit_code(plan), exports.exit_code(exported)),
        sentence=sentence,
        report=next(iter(files.values()), None),
        warehouse=warehouse,
        exports=tuple(exported),
    )
