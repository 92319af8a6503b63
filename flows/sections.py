"""The sections of a job file: their keys, what each may hold, what fits together."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    model_validator,
)

from flows.columns import LARGEST_SUM_TOLERANCE
from flows.decisions import Form
from flows.errors import UsageError
from flows.export_section import ExportSection, exports
from flows.importers import LearningMode
from flows.offpolicy.evaluate import NO_COMPAT
from flows.offpolicy.methods import Logging, Method
from flows.policies import parse
from flows.rewards_section import RewardsSection
from flows.section import Patterns, Section
from flows.suggestions_section import SuggestionsSection
from flows.warehouse.settings import BASELINE

# Results go to a folder of this name, which three engines have to open.
NAME = re.compile(r"\w[\w .-]*")


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


def _spec(spec: str) -> str:
    try:
        parse(spec)
    except UsageError as error:
        raise ValueError(str(error)) from None
    return spec


def _with_spec(candidate: Any) -> Any:  # noqa: ANN401 - what stands in the file
    return {"spec": candidate} if isinstance(candidate, str) else candidate


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

    log: Annotated[Patterns, Field(min_length=1)]
    format: Literal["parquet", "dsjson"] = "parquet"
    learning_mode: LearningMode | None = None
    reward_path: str | None = None
    default_reward: Annotated[float, Field(allow_inf_nan=False)] | None = None
    max_reject_share: Annotated[float, Field(ge=0, le=1)] | None = None
    columns: dict[str, str] = {}
    probabilities: Form = "lists"
    context: list[str] = []
    full_support: bool = False
    actions: list[str] = []
    sum_tolerance: Annotated[float, Field(gt=0, le=LARGEST_SUM_TOLERANCE)] | None = None

    @model_validator(mode="after")
    def _fits_format(self) -> Decisions:
        if self.format == "dsjson":
            if self.columns or self.probabilities != "lists":
                raise ValueError(
                    'format = "dsjson" says which columns there are: leave out columns '
                    "and probabilities"
                )
            return self
        for key in ("learning_mode", "reward_path", "max_reject_share"):
            if getattr(self, key) is not None:
                raise ValueError(f'{key} belongs to format = "dsjson"')
        return self


class EvaluationSection(Section):
    """`[evaluation]`: what is known by design, and how intervals are made."""

    reward_range: Annotated[
        list[Annotated[float, Field(allow_inf_nan=False)]],
        Field(min_length=2, max_length=2),
        AfterValidator(_ascending),
    ]
    propensity_floor: Annotated[float, Field(ge=1e-9, le=1)]
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    method: Method = "anytime"
    horizon_nights: Annotated[int, Field(ge=1)] | None = None
    logging: Logging | None = None
    drift: bool = False
    least_sample_probability: Annotated[float, Field(ge=1e-9, le=1)] = 1.0
    segments: list[Annotated[list[str], Field(min_length=1)]] = []
    doubly_robust: bool = False


class CandidateSection(Section):
    """A candidate with more than a SPEC.

    fixed_at: the night from which on it was left as it is; largest_probability: that it
    gives any action, by design.
    """

    spec: Annotated[str, AfterValidator(_spec)]
    fixed_at: dt.date | None = None
    largest_probability: Annotated[float, Field(gt=0, le=1)] | None = None


class Compare(Section):
    """`[[compare]]`: candidates whose differences are estimated, each two of them."""

    candidates: Annotated[list[str], Field(min_length=2)]


Report = Literal["html", "markdown", "json"]


def _apart(sections: list[ExportSection]) -> list[ExportSection]:
    exports(sections)
    return sections


class Outputs(Section):
    """`[outputs]`: which reports are written, and where the tables go too."""

    report: list[Report] = list(get_args(Report))
    export: Annotated[list[ExportSection], AfterValidator(_apart)] = []


class WithoutLog(Section):
    """The sections of a job file that evaluates nothing."""

    job: JobSection
    suggestions: SuggestionsSection
    outputs: Outputs = Outputs()

    @model_validator(mode="after")
    def _exports_nothing(self) -> WithoutLog:
        if self.outputs.export:
            raise ValueError(
                "outputs.export needs [decisions], [evaluation] and [candidates]: "
                "without them there is no warehouse to export"
            )
        return self


class Settings(Section):
    """The sections of a job file that evaluates candidates."""

    job: JobSection
    decisions: Decisions
    rewards: RewardsSection | None = None
    evaluation: EvaluationSection
    candidates: Annotated[
        dict[str, Annotated[CandidateSection, BeforeValidator(_with_spec)]],
        Field(min_length=1),
    ]
    compare: list[Compare] = []
    suggestions: SuggestionsSection | None = None
    outputs: Outputs = Outputs()

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        if BASELINE in self.candidates:
            raise ValueError(
                f"a candidate cannot be named {BASELINE!r}: that is the policy that ran"
            )
        self._check_pairs()
        self._check_design()
        self._check_rewards()
        used = {name for cut in self.evaluation.segments for name in cut}
        undeclared = sorted(used - set(self.decisions.context))
        if undeclared:
            raise ValueError(
                f"segments name {', '.join(undeclared)}, which [decisions] context "
                "does not declare"
            )
        return self

    def _check_rewards(self) -> None:
        lowest, highest = self.evaluation.reward_range
        default = self.decisions.default_reward
        if default is not None and not lowest <= default <= highest:
            raise ValueError(
                f"decisions.default_reward = {default} lies outside reward_range"
            )
        if self.rewards is None:
            return
        if self.decisions.format == "dsjson":
            raise ValueError(
                'a log with format = "dsjson" has its rewards joined: leave out '
                "[rewards]"
            )
        if self.decisions.default_reward is not None:
            raise ValueError(
                "decisions.default_reward is of rewards that the log holds; those of a "
                "table have [rewards] default"
            )
        try:
            self.rewards.settings((lowest, highest), Path())
        except UsageError as error:
            raise ValueError(str(error)) from None

    def _check_pairs(self) -> None:
        compared = {name for one in self.compare for name in one.candidates}
        if unknown := sorted(compared - set(self.candidates)):
            raise ValueError(
                f"compare names {', '.join(unknown)}, which [candidates] does not hold"
            )
        if self.compare and self.evaluation.method == "compat":
            raise ValueError("compare needs another method than compat")

    def _check_design(self) -> None:
        evaluation, decisions = self.evaluation, self.decisions
        is_open = decisions.probabilities == "propensity" and not decisions.full_support
        if is_open and evaluation.method == "compat":
            raise ValueError(NO_COMPAT)
        if evaluation.horizon_nights is not None and evaluation.method != "anytime":
            raise ValueError(
                'evaluation.horizon_nights belongs to method = "anytime": other '
                "methods have no checkpoints"
            )
        if evaluation.doubly_robust:
            self._check_doubly_robust()

    def _check_doubly_robust(self) -> None:
        if self.decisions.probabilities == "propensity":
            raise ValueError(
                "evaluation.doubly_robust needs the probability of every action that "
                "could be taken; a log of propensities has that of the logged one"
            )
        if self.evaluation.method in ("fixed", "compat"):
            raise ValueError(
                'evaluation.doubly_robust needs method = "anytime" or "mixture": a '
                "reward model learns from earlier nights, and only these two take "
                "nights in their order"
            )

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Each two candidates that are compared, once."""
        pairs: dict[frozenset[str], tuple[str, str]] = {}
        for one in self.compare:
            for pair in itertools.combinations(dict.fromkeys(one.candidates), 2):
                pairs.setdefault(frozenset(pair), pair)
        return tuple(pairs.values())
