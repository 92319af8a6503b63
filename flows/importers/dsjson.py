"""Imports decision-service logs in the dsjson form: one JSON object a line.

Which lines are decisions. `_label_cost`, `a`, `p`, `c._multi`: one action was chosen
(CB). `_outcomes[]` with `_label_cost`, `_a`, `_p` each: one action a slot (CCB), a row
a slot. Outcomes without costs (slates) and `_label_ca` (a continuous action has a
density) are not supported. `RewardValue` or `EnqueuedTimeUtc` without a decision: an
observation that dangles. A line that is no JSON object: a marker.

What is read of them.
    reward        0 - `_original_label_cost`, else 0 - `_label_cost`.
    reward_status "observed"; "default", with a null reward, when no observation
                  carries a value and the reward is the one that the file counts then
                  (a default is applied later, by declaration); "unknown", when it is
                  another one, or nothing in the file tells observed from default.
                  Observed values that are objects need `reward_path`.
    actions       by `_tag` where tags tell the actions of an event apart, else by
                  position in `c._multi` from 0, the tags beside as `action_labels`.
                  `p` is parallel to `a`, not to the actions. `a` counts from 1, in a
                  file in which it holds a 0 from 0; `_a` and `_ba` from 0.
    sample_probability   1 - `pdrop`, which must lie in [0, 1).
    decided_at    `Timestamp`, UTC with or without a Z, cut to microseconds.
    decision_id   `EventId`; without one the slot's `_id`, else file and line.
    baseline, random     candidates, parallel to the actions: the first action (of a
                  slot `_ba`), and all available ones alike.
    context       declared features of `c`, names joined by dots. A list of objects, as
                  the service wrote namespaces, stands for one that holds them all.

In apprentice and logging-only mode the service showed the baseline whatever its model
chose: the action is the baseline, with probability 1, and nothing else is identified.
Apprentice mode shows in `_label_cost`, which then tells imitation, not reward: costs
that differ without a declared mode stop the import.

Source: the joiner's and the trainer's public code (microsoft/learning-loop,
VowpalWabbit/reinforcement_learning, external_parser), and VowpalWabbit's parser.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from flows import queries
from flows.errors import LogError, UsageError, counted
from flows.importers import context as names
from flows.importers import run, stub
from flows.importers.lines import Form
from flows.importers.messages import LearningMode
from flows.importers.outcome import (
    DECISIONS,
    MAX_REJECT_SHARE,
    Imported,
    publish,
    writing,
)

ENDINGS = (".json", ".dsjson")
# Probabilities are float32 written as text; hand-rounded ones miss one by 1e-6.
SUM_TOLERANCE = 1e-4
# Columns that these logs have beside those of every log.
COLUMNS = (
    "action_labels",
    "baseline",
    "random",
    "reward_status",
    "source_file",
    "source_line",
)
# What of `c` tells of actions.
ACTIONS = ("_multi", "_slots")
# What sets lines aside, in this order; then what the rest says of its rewards.
STEPS = (
    "broken_lines",
    "layouts",
    "broken_slots",
    "repeated",
    "unactivated",
    "kept",
    "costs",
    "default_rewards",
    "arrangements",
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a log is read; see the command's help. form: of the files."""

    learning_mode: LearningMode | None = None
    reward_path: str | None = None
    context: tuple[str, ...] = ()
    form: str = "dsjson"
    is_own: bool = False

    @property
    def is_baseline_shown(self) -> bool:
        """Whether the service showed the baseline, whatever its model chose."""
        return self.learning_mode in {"apprentice", "logging-only"}

    @property
    def namespaces(self) -> list[str]:
        """The fields of `c` that hold the declared features."""
        return list(dict.fromkeys(name.split(".")[0] for name in self.context))

    @property
    def lines(self) -> Form:
        """How lines are read, which does not depend on the mode."""
        keys = [json.dumps(name, ensure_ascii=False) for name in self.namespaces]
        parts = [f"event['c'][{queries.literal(name)}]" for name in self.namespaces]
        return Form(
            "dsjson",
            ("events", "read_file"),
            {
                "sum_tolerance": SUM_TOLERANCE,
                "reward_path": json_path(self.reward_path),
            },
            {
                "context": "".join(f', {key}: "JSON"' for key in keys).replace(
                    "'", "''"
                ),
                "namespaces": f"[{', '.join(parts)}]" if parts else "null",
            },
        )

    def feature(self, name: str) -> str:
        """A declared feature as an expression over what was read."""
        top, *nested = name.split(".")
        value = f"features[{self.namespaces.index(top) + 1}]"
        for part in nested:
            paths = [queries.literal(f'{start}."{part}"') for start in ("$", "$[*]")]
            value = f"feature_of({value}, {', '.join(paths)})"
        return value


def dsjson(
    files: Sequence[Path],
    out: Path,
    *,
    learning_mode: LearningMode | None = None,
    reward_path: str | None = None,
    context: Sequence[str] = (),
    max_reject_share: float = MAX_REJECT_SHARE,
    is_own: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> Imported:
    """Imports files as the log `out`/decisions.

    All files of a log are imported together: a repeated line, a default reward or a
    count from 0 shows only beside the others. The same files give the same bytes.

    reward_path: names joined by dots, in observed values that are objects.
    context: features that candidates may see. max_reject_share: in [0, 1].
    is_own: whatever `out` held is replaced, and no job file is begun there.
    advance: called after each file.
    Raises: LogError when the files contradict themselves, when too many lines are
    rejected or none is a decision, or none has a declared feature; UsageError when
    `out` cannot be used. Nothing in `out` changes then, but for the list of rejected
    lines.
    """
    names.require(context, taken=COLUMNS)
    for name in context:
        if name.split(".")[0] in ACTIONS:
            raise UsageError(f"--context {name} tells of actions, not of the context")
    reading = Reading(
        learning_mode, reward_path, tuple(dict.fromkeys(context)), is_own=is_own
    )
    with writing(out, files, is_own=is_own) as work, queries.connection() as con:
        run.read(con, reading.lines, files, work, advance)
        return written(con, files, out, work, reading, max_reject_share)


def written(
    con: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    out: Path,
    work: Path,
    reading: Reading,
    max_reject_share: float,
) -> Imported:
    """Judges the lines, writes the log in `work` and moves it into `out`."""
    queries.run(con, "importers/dsjson/numbered")
    _require_one_base(con)
    values = {
        "is_baseline_shown": reading.is_baseline_shown,
        "is_dated": run.is_dated(con),
    }
    for step in STEPS:
        queries.run(con, f"importers/dsjson/{step}", values)
    if reading.learning_mode is None:
        _require_one_cost(con)
    found = run.accepted(con, out, work, max_reject_share=max_reject_share)
    columns = [_column(con, reading, name) for name in reading.context]
    rows = run.write_days(
        con,
        "dsjson",
        found.days,
        work,
        values,
        without=["slot_row"] + ["features"] * (not columns),
        context=", ".join(columns or ["features"]),
    )
    profile = stub.profile(con, work / DECISIONS)
    notes = (*_imitation(con, reading), *profile.notes(_defaults(con)))
    made = replace(found, decisions=rows, notes=notes)
    if not reading.is_own:
        is_adaptive = not reading.is_baseline_shown
        start = profile.stub(is_adaptive=is_adaptive, context=reading.context)
        stub.write(out, start)
    settings = {
        "learning_mode": reading.learning_mode,
        "reward_path": reading.reward_path,
        "context": list(reading.context),
    }
    publish(work, made, form=reading.form, files=files, settings=settings)
    return made


def json_path(path: str | None) -> str | None:
    """Names joined by dots as a JSON path. Raises: UsageError for an empty name."""
    if path is None:
        return None
    if not all(path.split(".")) or '"' in path:
        raise UsageError(f"--reward-path {path!r} is not names joined by dots")
    return names.path(path)


def _column(con: duckdb.DuckDBPyConnection, reading: Reading, name: str) -> str:
    column = names.column(con, name, reading.feature(name))
    if column is None:
        raise LogError(f"no event has {name!r} in its context, c; nothing was imported")
    return column


def _require_one_base(con: duckdb.DuckDBPyConnection) -> None:
    queries.run(con, "importers/dsjson/facts")
    mixed = queries.run(con, "importers/dsjson/mixed_files")
    if mixed:
        listed = "\n".join(
            f"  {path}: {zero:,} from 0, {one:,} from 1" for path, zero, one in mixed
        )
        raise LogError(
            "a counts actions from 0 in some lines and from 1 in others; nothing was "
            f"imported:\n{listed}\nImport files of one writer at a time."
        )


def _require_one_cost(con: duckdb.DuckDBPyConnection) -> None:
    ((differing, total),) = queries.run(con, "importers/dsjson/differing")
    if differing:
        raise LogError(
            f"{differing:,} of {counted(total, 'row')} have two different costs, "
            "_label_cost and _original_label_cost; nothing was imported. Apprentice "
            "mode writes so: what the model chose was not shown, and _label_cost "
            "tells imitation. If the service ran in it, declare --learning-mode "
            "apprentice; else --learning-mode online, which reads "
            "_original_label_cost."
        )


def _defaults(con: duckdb.DuckDBPyConnection) -> tuple[float, ...]:
    """What the service counted where nothing was observed, each number once."""
    rows = con.execute("select distinct default_reward from default_rewards").fetchall()
    return tuple(sorted(reward for (reward,) in rows))


def _imitation(con: duckdb.DuckDBPyConnection, reading: Reading) -> list[str]:
    """How often the model agreed, in a mode that showed the baseline anyway."""
    if not reading.is_baseline_shown:
        return []
    ((imitated, total),) = queries.run(con, "importers/dsjson/imitated")
    told = (
        f"The model chose the baseline's action in {imitated:,} of {total:,} decisions "
        f"({imitated / total:.1%}). The baseline was shown in all: only its value is "
        "identified, every other candidate gets bounds."
    )
    return [told]
