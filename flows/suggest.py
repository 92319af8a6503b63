"""The flow of suggestions: Prefect around the plain functions of `flows.suggesting`.

It runs by itself every half hour (document 003) and at the beginning of a night. Its
one task takes the job and gives paths and words; what was done already, the state
folder knows.
"""

from __future__ import annotations

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from flows import suggesting
from flows.progress import Steps, progress
from flows.retries import AGAIN
from flows.steps import recorded
from flows.suggesting import Suggested
from flows.suggestions.asked import SuggestionJob

STEPS = 3


@task(cache_policy=NO_CACHE, **AGAIN)
def make_suggestions(job: SuggestionJob, shown: Steps) -> Suggested:
    """The suggestions of a job, made anew."""
    with shown.step("suggesting", total=STEPS) as step:
        return suggesting.suggest(job, step.advance)


@flow(name="suggest", validate_parameters=False, flow_run_name="{job.name}")
def suggest(job: SuggestionJob) -> Suggested:
    """Everything the section `[suggestions]` of a job file says."""
    with recorded(job.results, job.digest), progress() as shown:
        return make_suggestions(job, shown)
