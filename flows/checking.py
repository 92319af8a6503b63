"""`untaken check`: validates everything a job evaluates, and scores nothing."""

from __future__ import annotations

from flows import queries, steps
from flows.asked import Asked, span
from flows.warehouse import checked, evidence, judging
from flows.warehouse.settings import Job


def check_only(job: Job) -> str:
    """What there is to say of a log that passes.

    Raises: ViolationsError, PolicyError and whatever else keeps a night from running.
    """
    with steps.alone(job):
        planned = steps.plan(job, Asked())
        steps.check(planned)
        steps.judge(planned)
        unknown = _check_candidates(planned)
        days = checked.kept_days(planned.folder)
    decisions = sum(day.profile.decisions for day in days)
    rewards = sum(day.profile.rewards for day in days)
    # What is said of several days is said of the last one.
    warned = {w.rule: w.sentence for day in days for w in day.profile.warned}
    if job.rewards is not None:
        judged = judging.standing(
            judging.judgements(planned.folder), planned.nights[-1]
        )
        rewards = sum(day.counts.observed for day in judged)
        warned |= {w.rule: w.sentence for day in judged for w in day.warnings}
    held = span([day.day for day in days])
    first = f"{job.name}: {decisions:,} decisions, {rewards:,} with a reward; {held}"
    lines = [f"{first}; no violation"]
    lines += [
        f"warning: {rule}: {sentence}" for rule, sentence in sorted(warned.items())
    ]
    lines += [
        f"warning: candidate {name} takes actions that the log never lists: {actions}"
        for name, actions in unknown.items()
    ]
    return "\n".join(lines)


def _check_candidates(plan: steps.Plan) -> dict[str, str]:
    """Lays out every candidate on every day; returns who takes unlisted actions."""
    unknown: dict[str, set[str]] = {}
    for day in plan.keys:
        with queries.connection() as con, plan.folder.work() as work:
            prepared = evidence.prepare_day(
                con, plan.folder, plan.job, day, plan.job.candidates, work
            )
            prepared.scored(evidence.grid_of(plan.job).tolerated_floor)
        for name, actions in prepared.unknown.items():
            unknown.setdefault(name, set()).update(actions)
    return {name: ", ".join(sorted(actions)) for name, actions in unknown.items()}
