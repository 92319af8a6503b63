"""The job file: everything one night does, read into frozen settings.

A section left out is a step left out: `[decisions]`, `[evaluation]` and `[candidates]`
belong together, `[suggestions]` stands alone. Relative paths and `module:function`
start from the file's own folder; results go to `results/<name>/` beside it. Unknown
keys are refused with the nearest known one, and all problems are told at once.

`reward_range` and `propensity_floor` have no default: they come from how the reward
and the logging policy were designed. Read off a log, they would describe what happened
to be seen, and the interval built on them would hold for nothing.
"""

from __future__ import annotations

import difflib
import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from flows.columns import SUM_TOLERANCE
from flows.decisions import Layout
from flows.errors import JobError
from flows.export_section import exports
from flows.importers.dsjson import SUM_TOLERANCE as ROUNDED
from flows.importers.outcome import MAX_REJECT_SHARE
from flows.offpolicy.methods import Design
from flows.places import results_of
from flows.policies import parse
from flows.sections import Decisions, Settings, WithoutLog
from flows.suggestions.asked import SuggestionJob
from flows.suggestions.embed import Settings as Embedding
from flows.suggestions.schema import Rules
from flows.suggestions_section import SuggestionsSection
from flows.warehouse.settings import Job, ServiceLog

BY_DESIGN = {
    "reward_range": "the lowest and the highest reward a decision can have",
    "propensity_floor": "the least probability the logging policy gives any action a "
    "candidate may take, such as its exploration rate divided by the number of actions",
}


# What belongs to the evaluation of candidates.
EVALUATING = ("decisions", "rewards", "evaluation", "candidates", "compare")


@dataclass(frozen=True, slots=True)
class JobFile:
    """What a job file asks for; a part it leaves out is None.

    also: further job files of the same night.
    results: the folder that the job writes to.
    """

    name: str
    results: Path
    also: tuple[Path, ...]
    evaluation: Job | None
    suggestions: SuggestionJob | None


def load(file: Path) -> Job:
    """Reads what a job file evaluates. Raises: JobError, also where that is nothing."""
    job = read(file).evaluation
    if job is None:
        raise JobError(f"{file} evaluates nothing: it has no [decisions]")
    return job


def asking(file: Path) -> SuggestionJob:
    """Reads what a job file asks of suggestions. Raises: JobError, also for nothing."""
    job = read(file).suggestions
    if job is None:
        raise JobError(f"{file} asks for no suggestions: it has no [suggestions]")
    return job


def read(file: Path) -> JobFile:
    """Reads a job file. Raises: JobError with everything that is wrong in it."""
    raw = _raw(file)
    is_evaluating = "suggestions" not in raw or any(key in raw for key in EVALUATING)
    model = Settings if is_evaluating else WithoutLog
    try:
        settings = model.model_validate(raw)
    except ValidationError as error:
        lines = [_line(problem, model) for problem in error.errors()]
        raise JobError(f"{file}:\n" + "\n".join(f"  {n}" for n in lines)) from None
    base, name = file.parent, settings.job.name
    return JobFile(
        name=name,
        results=results_of(base, name),
        also=tuple(base / other for other in settings.job.also),
        evaluation=_job(file, settings) if isinstance(settings, Settings) else None,
        suggestions=_suggestions(base, name, settings.suggestions),
    )


def _raw(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise JobError(
            f"{file} does not exist. Write one with: untaken init LOG"
        ) from None
    except IsADirectoryError:
        raise JobError(f"{file} is a folder; name the job file inside") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise JobError(f"{file} cannot be read as TOML: {error}") from None


def _suggestions(
    base: Path, name: str, section: SuggestionsSection | None
) -> SuggestionJob | None:
    if section is None:
        return None
    return SuggestionJob(
        name=name,
        base=base,
        knowledge_base=base / section.knowledge_base,
        questions=tuple(section.questions),
        feedback=tuple(section.feedback),
        score_unit=section.score_unit,
        rules=Rules(
            minimum=section.minimum,
            minimum_users=section.minimum_users,
            is_strict=section.strict,
            offers=section.offers,
            retention_days=section.retention_days,
        ),
        margin=section.margin,
        aims_at=section.aims_at,
        learns_anyway=section.learns_anyway,
        embedding=None
        if section.embedding is None
        else Embedding(
            base=base,
            vectors=results_of(base, name) / "suggestions" / "vectors.parquet",
            **section.embedding.model_dump(),
        ),
    )


def _job(file: Path, settings: Settings) -> Job:
    decisions, evaluation = settings.decisions, settings.evaluation
    lowest, highest = evaluation.reward_range
    text = settings.model_dump_json()
    is_service = _service(decisions) is not None
    return Job(
        name=settings.job.name,
        base=file.parent,
        timezone=settings.job.timezone,
        log=tuple(decisions.log),
        layout=Layout(
            columns=decisions.columns,
            probabilities=decisions.probabilities,
            context=tuple(decisions.context),
            full_support=decisions.full_support,
            actions=tuple(decisions.actions),
            sum_tolerance=decisions.sum_tolerance
            or (ROUNDED if is_service else SUM_TOLERANCE),
            has_rewards=settings.rewards is None,
            default_reward=decisions.default_reward,
        ),
        service=_service(decisions),
        rewards=None
        if settings.rewards is None
        else settings.rewards.settings((lowest, highest), file.parent),
        candidates=tuple(
            parse(
                candidate.spec,
                name=name,
                base=file.parent,
                largest_probability=candidate.largest_probability,
            )
            for name, candidate in settings.candidates.items()
        ),
        reward_range=(lowest, highest),
        propensity_floor=evaluation.propensity_floor,
        design=Design(
            method=evaluation.method,
            confidence=evaluation.confidence,
            # A service that learns changes its probabilities (validity.md 12).
            logging=evaluation.logging or ("adaptive" if is_service else "fixed"),
            is_drifting=evaluation.drift,
            horizon_nights=evaluation.horizon_nights,
        ),
        least_sample_probability=evaluation.least_sample_probability,
        cuts=tuple(tuple(cut) for cut in evaluation.segments),
        pairs=settings.pairs,
        fixed_at={
            name: candidate.fixed_at
            for name, candidate in settings.candidates.items()
            if candidate.fixed_at
        },
        reports=tuple(settings.outputs.report),
        also=tuple(settings.job.also),
        digest=hashlib.sha256(text.encode()).hexdigest()[:16],
        doubly_robust=evaluation.doubly_robust,
        has_suggestions=settings.suggestions is not None,
        exports=exports(settings.outputs.export),
    )


def _service(decisions: Decisions) -> ServiceLog | None:
    if decisions.format != "dsjson":
        return None
    share = decisions.max_reject_share
    return ServiceLog(
        learning_mode=decisions.learning_mode,
        reward_path=decisions.reward_path,
        max_reject_share=MAX_REJECT_SHARE if share is None else share,
    )


def _line(problem: Any, model: type[BaseModel]) -> str:  # noqa: ANN401 - pydantic's
    """One problem in words: where it is, what was found, what to do."""
    *parents, key = [str(part) for part in problem["loc"]] or [""]
    if key == "spec":  # as a rule a candidate is its SPEC alone
        *parents, key = parents
    where = ".".join([*parents, key])
    if problem["type"] == "missing":
        why = BY_DESIGN.get(key)
        return f"{where} is missing" + (
            f": {why}. It comes from design, never from the log." if why else ""
        )
    if problem["type"] == "extra_forbidden":
        known = list(_fields(parents, model))
        close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
        return f"{where} is not a key of a job file; {hint}"
    text: str = problem["msg"].removeprefix("Value error, ")
    if where and problem["loc"]:
        return f"{where} = {problem['input']!r}: {text}"
    return text


def _fields(parents: list[str], model: type[BaseModel]) -> dict[str, Any]:
    """The known keys of a section, by the path to it."""
    section: Any = model
    for name in parents:
        if get_origin(section) in (dict, list):  # the name or number of an entry
            section = get_args(section)[-1]
        else:
            section = section.model_fields[name].annotation
        while get_origin(section) in (Annotated, Union, UnionType):
            section = get_args(section)[0]
    fields: dict[str, Any] = section.model_fields
    return fields
