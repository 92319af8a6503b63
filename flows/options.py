"""The options of the commands: their types, help and grouping."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

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
    Literal["lists", "structs", "map", "wide"],
    Parameter(
        help="The form of the logging probabilities; wide, with --column "
        "logging_probabilities=p_*: one column an action.",
        group=DATA,
    ),
]
SumTolerance = Annotated[
    float, Parameter(help="How far a distribution may miss one.", group=DATA)
]
ProbabilitiesField = Annotated[
    str, Parameter(help="Where a row: function puts its probabilities.", group=DATA)
]
Method = Annotated[
    Literal["mixture", "compat"],
    Parameter(
        help="How intervals are made: compat is another tool's, digit for digit.",
        group=STATISTICS,
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
