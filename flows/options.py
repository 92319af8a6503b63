"""The options of the commands: their types, help and grouping."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from flows.decisions import Layout

DATA = Group("The log", sort_key=1)
STATISTICS = Group("The estimate", sort_key=2)

Log = Annotated[
    tuple[str, ...],
    Parameter(help="Parquet files, folders or quoted globs.", group=DATA),
]
Candidates = Annotated[
    tuple[str, ...],
    Parameter(
        help="column:NAME, a candidate table (FILE, FILE@NAME), uniform, "
        "constant:ACTION, first, logging, module:function or row:module:function; "
        "give it once for each candidate."
    ),
]
RewardRange = Annotated[
    tuple[float, float],
    Parameter(help="Lowest and highest reward, by design.", group=STATISTICS),
]
Floor = Annotated[
    float,
    Parameter(
        help="Least logging probability of any action a candidate may take, by design.",
        group=STATISTICS,
    ),
]
Context = Annotated[
    tuple[str, ...],
    Parameter(
        help="A column candidates may see; repeat it.", group=DATA, show_default=False
    ),
]
By = Annotated[
    tuple[str, ...],
    Parameter(
        help="A column to tell apart; given twice, their combinations. The "
        "intervals of all segments hold together.",
        group=DATA,
        show_default=False,
    ),
]
Column = Annotated[
    tuple[str, ...],
    Parameter(
        help="OURS=THEIRS where the log names a column otherwise; repeat it.",
        group=DATA,
        show_default=False,
    ),
]
Probabilities = Annotated[
    Literal["lists", "structs", "map", "wide", "propensity"],
    Parameter(
        help="The form of the logging probabilities; wide, with --column "
        "logging_probabilities=p_*: one column an action; propensity: that of the "
        "logged action alone.",
        group=DATA,
    ),
]
FullSupport = Annotated[
    bool,
    Parameter(
        help="With propensities: the logging policy gave each action that a candidate "
        "may take at least the floor, by design. Narrower intervals rest on it.",
        group=DATA,
        show_default=False,
    ),
]
Actions = Annotated[
    tuple[str, ...],
    Parameter(
        name="--action",
        help="With propensities: an action that could be taken; name each. Candidates "
        "such as uniform need them.",
        group=DATA,
        show_default=False,
    ),
]
SumTolerance = Annotated[
    float, Parameter(help="How far a distribution may miss one.", group=DATA)
]
ProbabilitiesField = Annotated[
    str, Parameter(help="Where a row: function puts its probabilities.", group=DATA)
]
Method = Annotated[
    Literal["fixed", "mixture", "compat"] | None,
    Parameter(
        help="How intervals are made: fixed (the usual one; hash blocks, one look), "
        "mixture (constant bets, every look; the usual one without ids), compat "
        "(another tool's, digit for digit).",
        group=STATISTICS,
        show_default=False,
    ),
]
Logging = Annotated[
    Literal["fixed", "adaptive", "reacting"],
    Parameter(
        help="Whether the logging policy changed because of rewards: fixed (not), "
        "adaptive (from day to day), reacting (within days).",
        group=STATISTICS,
    ),
]
Drift = Annotated[
    bool,
    Parameter(
        help="The mean reward may change; the answer is the average over the window.",
        group=STATISTICS,
        show_default=False,
    ),
]
LeastSampleProbability = Annotated[
    float,
    Parameter(
        help="Least probability, by design, that a decision was kept in the log.",
        group=STATISTICS,
    ),
]
Compare = Annotated[
    bool,
    Parameter(
        help="Also the difference of each two candidates.",
        group=STATISTICS,
        show_default=False,
    ),
]
SecondLines = Annotated[
    bool,
    Parameter(
        help="Also approximate intervals, labelled so; nothing is decided on them.",
        group=STATISTICS,
        show_default=False,
    ),
]
Confidence = Annotated[
    float, Parameter(help="Of the intervals of all candidates.", group=STATISTICS)
]
Violations = Annotated[
    Path | None, Parameter(help="List all violating rows in this Parquet file.")
]
Jobs = Annotated[tuple[Path, ...], Parameter(help="Job files (untaken.toml).")]
Job = Annotated[Path, Parameter(help="A job file (untaken.toml).")]
ReviewedJob = Annotated[
    Path | None,
    Parameter(help="A job file with [suggestions].", show_default=False),
]
StateFolder = Annotated[
    Path | None,
    Parameter(
        name="--state", help="The folder of a state, without a job.", show_default=False
    ),
]

WINDOW = Group("The window", sort_key=3)

Candidate = Annotated[
    str, Parameter(help="A candidate of the job file, or logging: the policy that ran.")
]
Other = Annotated[
    str | None,
    Parameter(help="The difference to this candidate, declared in [[compare]]."),
]
Since = Annotated[
    dt.date | None,
    Parameter(help="The first night; the start when left out.", group=WINDOW),
]
Last = Annotated[
    str | None,
    Parameter(help="The last nights alone, such as 14d.", group=WINDOW),
]
Until = Annotated[
    dt.date | None,
    Parameter(help="The last night; the newest when left out.", group=WINDOW),
]
Where = Annotated[
    str | None,
    Parameter(
        help='A condition on the columns of declared segments, such as "position = 2".',
        group=WINDOW,
    ),
]
Above = Annotated[
    float | None,
    Parameter(help="The lower end is to pass above this.", group=STATISTICS),
]
Below = Annotated[
    float | None,
    Parameter(help="The upper end is to pass below this.", group=STATISTICS),
]
Estimand = Annotated[
    Literal["value", "improvement"],
    Parameter(help="Whose interval is projected.", group=STATISTICS),
]
Json = Annotated[
    bool, Parameter(help="Print a document for machines.", show_default=False)
]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Reading:
    """How the log is laid out."""

    column: Column = ()
    probabilities: Probabilities = "lists"
    full_support: FullSupport = False
    action: Actions = ()
    sum_tolerance: SumTolerance = 1e-6

    def layout(self) -> Layout:
        """The layout these options describe. Raises: UsageError for a column."""
        from flows.decisions import Layout

        return Layout(
            columns=dict(map(_pair, self.column)),
            probabilities=self.probabilities,
            full_support=self.full_support,
            actions=self.action,
            sum_tolerance=self.sum_tolerance,
        )


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Making:
    """How intervals are made."""

    method: Method = None
    confidence: Confidence = 0.95
    logging: Logging = "fixed"
    drift: Drift = False
    least_sample_probability: LeastSampleProbability = 1.0
    compare: Compare = False
    second_lines: SecondLines = False


USUAL_READING, USUAL_MAKING = Reading(), Making()


def _pair(text: str) -> tuple[str, str]:
    from flows.errors import UsageError

    ours, is_pair, theirs = text.partition("=")
    if not is_pair or not ours or not theirs:
        raise UsageError(f"--column {text!r} is not OURS=THEIRS")
    return ours, theirs
