"""Imports binary decision-service logs (version 2, .fb).

Each event becomes the line that the service's converter would write of it
(`flows.importers.dsjson` says what is read of a line), with the reward joined from the
raw observations and without the learning reward, which apprentice mode would change.
The learning mode is that of the checkpoint; a file whose checkpoints differ is refused,
as are files of several modes. The number of a line is that of the event in its file; an
event that cannot be read counts as malformed.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flows import queries
from flows.errors import LogError
from flows.importers import messages, run
from flows.importers.dsjson import Reading, written
from flows.importers.flatbuffer import Table
from flows.importers.lines import read_lines
from flows.importers.messages import (
    Batch,
    Checkpoint,
    Event,
    LearningMode,
    Observation,
)
from flows.importers.outcome import MAX_REJECT_SHARE, Imported, writing

ENDINGS = (".fb",)


def fb(
    files: Sequence[Path],
    out: Path,
    *,
    max_reject_share: float = MAX_REJECT_SHARE,
    advance: Callable[[], None] = lambda: None,
) -> Imported:
    """Imports files as the log `out`/decisions; as `dsjson`, with the same errors.

    Raises: LogError besides for a file that is no binary log, is cut short or holds
    several learning modes.
    """
    with writing(out, files) as work, queries.connection() as con:
        form = Reading().lines
        run.start(con, form)
        modes: dict[LearningMode, Path] = {}
        first, lines = 0, work / "lines.json"
        for number, file in enumerate(files):
            try:
                modes |= dict.fromkeys(_converted(file, lines), file)
            except OSError as error:
                raise LogError(f"{file} cannot be read: {error.strerror}") from None
            counts = read_lines(con, form, {number: lines}, work / "copy")
            first = run.add_files(con, {number: file}, counts, first)
            advance()
        if len(modes) > 1:
            told = ", ".join(f"{mode} in {file}" for mode, file in modes.items())
            raise LogError(
                f"files of several learning modes: {told}; import them apart"
            )
        reading = Reading(next(iter(modes), "online"), form="fb")
        return written(con, files, out, work, reading, max_reject_share)


def _converted(file: Path, lines: Path) -> set[LearningMode]:
    """Writes a line for each event of a file, and returns the modes of its batches."""
    modes: set[LearningMode] = set()
    with lines.open("w", encoding="utf-8") as opened:
        for batch in messages.batches(file):
            modes.add(batch.checkpoint.learning_mode)
            for event in batch.events.values():
                opened.write(_line(event, batch) + "\n")
            opened.write("{\n" * batch.broken_count)
    return modes


def _line(event: Event, batch: Batch) -> str:
    """An event as the converter writes it; a brace alone when it cannot be read."""
    line: dict[str, Any] = {"EventId": event.name, "Timestamp": _time(event.at)}
    try:
        if event.decision is None:
            line |= {"RewardValue": batch.checkpoint.reward(event.observations)}
        elif event.kind == messages.SINGLE:
            line |= _single(event, event.decision, batch)
        elif event.kind == messages.SLOTS:
            line |= _slots(event, event.decision, batch)
        elif event.kind == messages.SLATES:
            line |= {"_label_cost": 0, "_outcomes": []}
        else:
            line |= {"_label_ca": {}}
        return json.dumps(line, ensure_ascii=False)
    except (ValueError, TypeError, IndexError, struct.error):
        return "{"


def _single(event: Event, told: Table, batch: Batch) -> dict[str, Any]:
    _require_mode(told.number(5, "B"), batch)
    actions = _numbers(told.array(1, "<u8"))
    return (
        _common(event, told.bytes(2), told.text(4), told.number(0, "?"), batch)
        | {
            "_labelIndex": actions[0] - 1,
            "a": actions,
            "p": _numbers(told.array(3, "<f4")),
        }
        | _rewarded(event.observations, batch.checkpoint, "")
    )


def _slots(event: Event, told: Table, batch: Batch) -> dict[str, Any]:
    _require_mode(told.number(5, "B"), batch)
    outcomes = []
    for number, slot in enumerate(told.tables(1)):
        name = slot.text(2)
        places = {number} if name is None else {number, name}
        seen = [one for one in event.observations if one[2] in places]
        actions, chances = slot.array(0, "<u4"), slot.array(1, "<f4")
        outcomes.append(
            {"_id": name, "_a": _numbers(actions), "_p": _numbers(chances)}
            | _rewarded(seen, batch.checkpoint, "_")
        )
    baselines = told.array(4, "<i4")
    return _common(event, told.bytes(0), told.text(2), told.number(3, "?"), batch) | {
        "_outcomes": outcomes,
        "_ba": None if baselines is None else baselines.tolist(),
    }


def _common(
    event: Event,
    context: memoryview | None,
    model: str | None,
    is_deferred: float,
    batch: Batch,
) -> dict[str, Any]:
    """What both kinds have. Observations activate what was deferred."""
    told = json.loads(bytes(context or b""))
    actions = [_looked_up(action, batch) for action in told.get("_multi", [])]
    is_activated = any(taken for *_, taken in event.observations)
    return {
        "c": {"_multi": actions},
        "VWState": {"m": model},
        "pdrop": 1 - event.kept_probability,
        "_skipLearn": bool(is_deferred) and not is_activated,
    }


def _looked_up(action: dict[str, Any], batch: Batch) -> dict[str, Any]:
    """The tag of an action, which may stand in the dictionary under its number."""
    if "__aid" in action:
        action = json.loads(batch.actions[action["__aid"]])
    return {"_tag": action["_tag"]} if "_tag" in action else {}


def _rewarded(
    seen: Sequence[Observation], checkpoint: Checkpoint, mark: str
) -> dict[str, Any]:
    cost = -_shortest(checkpoint.reward(seen))
    observed = [
        {"ActionTaken": taken} if value is None else {"v": value, "ActionTaken": taken}
        for _, value, _, taken in seen
    ]
    return {"_label_cost": cost, "_original_label_cost": cost, f"{mark}o": observed}


def _require_mode(mode: float, batch: Batch) -> None:
    """An event of another mode than its checkpoint's is one that cannot be used."""
    if messages.MODES[int(mode)] != batch.checkpoint.learning_mode:
        raise ValueError(mode)


def _numbers(array: NDArray[np.generic] | None) -> list[Any]:
    """The numbers of an array, 32-bit ones in their shortest text."""
    if array is None:
        raise ValueError(array)
    if array.dtype.kind == "f":
        return [_shortest(value) for value in array]
    return list(array.tolist())


def _shortest(value: float | np.generic) -> float:
    """The shortest number that is this one in 32 bits."""
    return float(str(np.float32(value)))


def _time(at: tuple[int, ...]) -> str:
    year, month, day, hour, minute, second, ticks = at
    date = f"{year:04}-{month:02}-{day:02}"
    return f"{date}T{hour:02}:{minute:02}:{second:02}.{ticks:07}Z"
