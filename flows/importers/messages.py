"""The messages of a binary log (version 2), as events with their observations.

A file is the magic "VWFB", a version, and messages: type and length in four bytes each,
the payload, and padding to a multiple of eight. A checkpoint holds the configuration; a
regular message a batch of events, raw observations among them, which are joined to
their decision by id within the batch. A payload may be compressed; actions that repeat
may stand in a dictionary event, with their number in the context.

The reward of an event is made here as the service's joiner makes it, by the function of
the checkpoint over the observations that carry a value, in the order of their whole
seconds and, within one, of arrival.

Source: VowpalWabbit/reinforcement_learning, rlclientlib/schema/v2/*.fbs and
external_parser/joiners/example_joiner.cc.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any, BinaryIO, Literal

from flows.errors import LogError
from flows.importers.flatbuffer import Table, root

MAGIC = b"VWFB"
HEADER, CHECKPOINT, REGULAR, END = 0x55555555, 0x11111111, 0xFFFFFFFF, 0xAAAAAAAA
SINGLE, SLOTS, SLATES, OUTCOME, CONTINUOUS, DICTIONARY = range(6)
LearningMode = Literal["online", "apprentice", "logging-only"]
MODES: tuple[LearningMode, ...] = ("online", "apprentice", "logging-only")
TIME = "HBBBBBxI"
Observation = tuple[tuple[int, ...], float | str | None, int | str | None, bool]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The configuration that a loop ran with."""

    reward_function: int = 0
    default_reward: float = 0.0
    learning_mode: LearningMode = "online"
    uses_client_time: bool = False

    def reward(self, observations: Sequence[Observation]) -> float:
        """The reward of one decision; the default where none carries a value.

        Whole seconds decide which is the earliest.
        """
        told = [(at[:6], v) for at, v, _, _ in observations if isinstance(v, float)]
        if not told:
            return self.default_reward
        earliest = min(told, key=lambda one: one[0])[1]
        ways: tuple[Callable[[list[float]], float], ...] = (
            lambda _: earliest,
            fmean,
            median,
            sum,
            min,
            max,
        )
        return ways[self.reward_function]([value for _, value in told])


@dataclass(slots=True)
class Event:
    """A decision with what was observed of it; either may be absent.

    decision: None for observations that dangle. at: year to 100 ns, UTC.
    """

    name: str
    at: tuple[int, ...]
    kind: int = OUTCOME
    kept_probability: float = 1.0
    decision: Table | None = None
    observations: list[Observation] = field(default_factory=list)


@dataclass(slots=True)
class Batch:
    """The events of a message, in the order of their first appearance."""

    checkpoint: Checkpoint
    actions: dict[int, str]
    events: dict[str, Event] = field(default_factory=dict)
    broken_count: int = 0

    def add(self, joined: Table) -> None:
        """Adds an event or observation of the message. Counts what cannot be read."""
        try:
            told = joined.bytes(0)
            event = root(told) if told is not None else None
            meta = event.table(0) if event is not None else None
            name = meta.text(0) if meta is not None else None
            payload = event.bytes(1) if event is not None else None
            if meta is None or name is None or payload is None:
                self.broken_count += 1
                return
            is_packed = meta.number(5, "B") == 1
            body = root(_unpacked(payload) if is_packed else payload)
            at = joined.values(1, TIME)
            if self.checkpoint.uses_client_time:
                client = meta.values(1, TIME)
                at = client if any(client) else at
            self._take(name, int(meta.number(3, "B")), meta, body, at)
        except (struct.error, UnicodeDecodeError, ValueError):
            self.broken_count += 1

    def _take(
        self, name: str, kind: int, meta: Table, body: Table, at: tuple[int, ...]
    ) -> None:
        if kind == DICTIONARY:
            numbers = body.array(0, "<u8")
            texts = list(body.texts(1))
            known = [] if numbers is None else numbers.tolist()
            self.actions.update(zip(known, texts, strict=True))
            return
        event = self.events.setdefault(name, Event(name, at))
        if kind == OUTCOME:
            event.observations.append(_observation(at, body))
        elif event.decision is None:
            # A second decision of the same id is not looked at by the joiner either.
            event.decision, event.kind, event.at = body, kind, at
            event.kept_probability = meta.number(4, "f", 0.0)


def batches(path: Path) -> Iterator[Batch]:
    """The batches of a file, each with the configuration that holds for it.

    Raises: LogError when the file is no binary log or ends within a message.
    """
    checkpoint, actions = Checkpoint(), dict[int, str]()
    with path.open("rb") as opened:
        if opened.read(4) != MAGIC or opened.read(4) != b"\x01\0\0\0":
            raise LogError(f"{path} is no binary log of version 1 (VWFB)")
        for kind, payload in _messages(path, opened):
            try:
                if kind == CHECKPOINT:
                    checkpoint = _checkpoint(root(payload))
                elif kind == REGULAR:
                    batch = Batch(checkpoint, actions)
                    for joined in root(payload).tables(0):
                        batch.add(joined)
                    yield batch
            except (struct.error, IndexError):
                raise LogError(
                    f"{path}: the message before byte {opened.tell():,} cannot be read"
                ) from None


def _messages(path: Path, opened: BinaryIO) -> Iterator[tuple[int, memoryview]]:
    while head := opened.read(8):
        if len(head) < 8:  # noqa: PLR2004 - type and length
            raise LogError(f"{path} ends within a message; copy it again")
        kind, length = struct.unpack("<II", head)
        if kind == END:
            return
        if kind not in (HEADER, CHECKPOINT, REGULAR):
            raise LogError(
                f"{path}: a message of unknown type {kind:#x} at byte "
                f"{opened.tell() - 8:,}"
            )
        payload = opened.read(length)
        if len(payload) < length:
            raise LogError(f"{path} ends within a message; copy it again")
        opened.read(-length % 8)
        yield kind, memoryview(payload)


def _checkpoint(told: Table) -> Checkpoint:
    return Checkpoint(
        reward_function=int(told.number(0, "B")),
        default_reward=told.number(1, "f"),
        learning_mode=MODES[int(told.number(2, "B"))],
        uses_client_time=bool(told.number(4, "?")),
    )


def _observation(at: tuple[int, ...], body: Table) -> Observation:
    return (at, _either(body, 0, "f"), _either(body, 2, "i"), bool(body.number(4, "?")))


def _either(body: Table, field_: int, form: str) -> Any:  # noqa: ANN401 - two types
    """A union of a table with one number (1) and a string (2)."""
    kind = body.number(field_, "B")
    if kind == 1:
        inner = body.table(field_ + 1)
        value = 0.0 if inner is None else inner.number(0, form)
        return value if form == "f" else int(value)
    return body.text(field_ + 1) if kind else None


def _unpacked(payload: memoryview) -> memoryview:
    """The bytes of a zstd frame. Raises: LogError without the library that reads it."""
    try:
        import zstandard
    except ImportError:
        raise LogError(
            "the events are compressed; what is needed to read them: "
            'pip install "untaken[fb]"'
        ) from None
    return memoryview(zstandard.ZstdDecompressor().stream_reader(payload).read())
