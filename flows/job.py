"""The job file: everything one night does, read into frozen settings.

A section left out is a step left out. Relative paths and `module:function` start from
the file's own folder; results go to `results/<name>/` beside it. Unknown keys are
refused with the nearest known one, and all problems are told at once.

`reward_range` and `propensity_floor` have no default: they come from how the reward
and the logging policy were designed. Read off a log, they would describe what happened
to be seen, and the interval built on them would hold for nothing.
"""

from __future__ import annotations

import difflib
import hashlib
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flows.decisions import Layout
from flows.errors import JobError
from flows.offpolicy.methods import Design
from flows.policies import parse
from flows.sections import Settings
from flows.warehouse.settings import Job

BY_DESIGN = {
    "reward_range": "the lowest and the highest reward a decision can have",
    "propensity_floor": "the least probability the logging policy gives any action a "
    "candidate may take, such as its exploration rate divided by the number of actions",
}


def load(file: Path) -> Job:
    """Reads a job file. Raises: JobError with everything that is wrong in it."""
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise JobError(
            f"{file} does not exist. Write one with: untaken init LOG"
        ) from None
    except IsADirectoryError:
        raise JobError(f"{file} is a folder; name the job file inside") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise JobError(f"{file} cannot be read as TOML: {error}") from None
    try:
        return _job(file, Settings.model_validate(raw))
    except ValidationError as error:
        lines = [_line(problem) for problem in error.errors()]
        raise JobError(f"{file}:\n" + "\n".join(f"  {n}" for n in lines)) from None


def _job(file: Path, settings: Settings) -> Job:
    decisions, evaluation = settings.decisions, settings.evaluation
    lowest, highest = evaluation.reward_range
    text = settings.model_dump_json()
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
            sum_tolerance=decisions.sum_tolerance,
        ),
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
            logging=evaluation.logging,
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
    )


def _line(problem: Any) -> str:  # noqa: ANN401 - pydantic's own
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
        known = list(_fields(parents))
        close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
        return f"{where} is not a key of a job file; {hint}"
    text: str = problem["msg"].removeprefix("Value error, ")
    if where and problem["loc"]:
        return f"{where} = {problem['input']!r}: {text}"
    return text


def _fields(parents: list[str]) -> dict[str, Any]:
    """The known keys of a section, by the path to it."""
    model: Any = Settings
    for name in parents:
        model = model.model_fields[name].annotation
    fields: dict[str, Any] = model.model_fields
    return fields
