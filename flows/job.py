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
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from flows.columns import LARGEST_SUM_TOLERANCE, SUM_TOLERANCE
from flows.decisions import Form, Layout
from flows.errors import JobError, UsageError
from flows.policies import parse
from flows.warehouse.settings import BASELINE, Job

BY_DESIGN = {
    "reward_range": "the lowest and the highest reward a decision can have",
    "propensity_floor": "the least probability the logging policy gives any action a "
    "candidate may take, such as its exploration rate divided by the number of actions",
}


# Results go to a folder of this name, which three engines have to open.
NAME = re.compile(r"\w[\w .-]*")


class Section(BaseModel):
    """A section: frozen, and without keys nobody asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"{name!r} is not a time zone") from error
    return name


def _ascending(ends: list[float]) -> list[float]:
    lowest, highest = ends
    if not lowest < highest:
        raise ValueError("the range must ascend")
    return ends


def _listed(patterns: Any) -> Any:  # noqa: ANN401 - what stands in the file
    return [patterns] if isinstance(patterns, str) else patterns


def _spec(spec: str) -> str:
    try:
        parse(spec)
    except UsageError as error:
        raise ValueError(str(error)) from None
    return spec


def _plain(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError(
            "a name of letters, digits, spaces, dots, _ and - is needed, that starts "
            "with none of the marks"
        )
    return name


class JobSection(Section):
    """`[job]`: name of the results folder, time zone of the night's border."""

    name: Annotated[str, AfterValidator(_plain)]
    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    also: list[str] = []


class Decisions(Section):
    """`[decisions]`: where the log is and what its columns mean."""

    log: Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]
    format: Literal["parquet"] = "parquet"
    columns: dict[str, str] = {}
    probabilities: Form = "lists"
    context: list[str] = []
    sum_tolerance: Annotated[float, Field(gt=0, le=LARGEST_SUM_TOLERANCE)] = (
        SUM_TOLERANCE
    )


class EvaluationSection(Section):
    """`[evaluation]`: what is known by design, and how intervals are made."""

    reward_range: Annotated[
        list[Annotated[float, Field(allow_inf_nan=False)]],
        Field(min_length=2, max_length=2),
        AfterValidator(_ascending),
    ]
    propensity_floor: Annotated[float, Field(ge=1e-9, le=1)]
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    method: Literal["mixture", "compat"] = "mixture"
    logging: Literal["fixed"] = "fixed"
    segments: list[Annotated[list[str], Field(min_length=1)]] = []


Report = Literal["html", "markdown", "json"]


class Outputs(Section):
    """`[outputs]`: which reports are written."""

    report: list[Report] = list(get_args(Report))


class Settings(Section):
    """The sections of a job file."""

    job: JobSection
    decisions: Decisions
    evaluation: EvaluationSection
    candidates: Annotated[
        dict[str, Annotated[str, AfterValidator(_spec)]], Field(min_length=1)
    ]
    outputs: Outputs = Outputs()

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        if BASELINE in self.candidates:
            raise ValueError(
                f"a candidate cannot be named {BASELINE!r}: that is the policy that ran"
            )
        used = {name for cut in self.evaluation.segments for name in cut}
        undeclared = sorted(used - set(self.decisions.context))
        if undeclared:
            raise ValueError(
                f"segments name {', '.join(undeclared)}, which [decisions] context "
                "does not declare"
            )
        return self


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
            sum_tolerance=decisions.sum_tolerance,
        ),
        candidates=tuple(
            parse(spec, name=name, base=file.parent)
            for name, spec in settings.candidates.items()
        ),
        reward_range=(lowest, highest),
        propensity_floor=evaluation.propensity_floor,
        confidence=evaluation.confidence,
        method=evaluation.method,
        cuts=tuple(tuple(cut) for cut in evaluation.segments),
        reports=tuple(settings.outputs.report),
        also=tuple(settings.job.also),
        digest=hashlib.sha256(text.encode()).hexdigest()[:16],
    )


def _line(problem: Any) -> str:  # noqa: ANN401 - pydantic's own
    """One problem in words: where it is, what was found, what to do."""
    *parents, key = [str(part) for part in problem["loc"]] or [""]
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
