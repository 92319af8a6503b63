"""JSON text read together with the places of its values (RFC 8259).

A value that is not changed is written back as it was spelled, so a reader that forgets
spelling (spaces, escapes, numbers, the case of names) will not do. Names are looked up
in any case: exports write `ClusterHead`, the documents `clusterHead`. A name that
stands twice in one object, in whatever case, is refused: one of the two would be lost.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

DEEPEST = 64
_SPACE = re.compile(r"[ \t\n\r]*")
# JSON can spell half a character, which no text can hold.
_HALF = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """The text is not JSON that can be kept; `position` counts characters from 0."""

    def __init__(self, fact: str, position: int) -> None:
        self.fact = fact
        self.position = position
        super().__init__(f"{fact} at character {position:,}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value, spelled by the characters from `start` up to `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scalar(Node):
    """A text, number, boolean or null."""

    value: str | float | bool | None


@dataclass(frozen=True, slots=True)
class Array(Node):
    """A list of values."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A name, spelled from `start` up to `end`, and its value."""

    start: int
    end: int
    name: str
    node: Node


@dataclass(frozen=True, slots=True)
class Object(Node):
    """Named values."""

    members: tuple[Member, ...]

    def get(self, name: str) -> Node | None:
        """The value called `name`, in any case; None when it is absent or null."""
        for member in self.members:
            if member.name.casefold() == name.casefold():
                node = member.node
                is_null = isinstance(node, Scalar) and node.value is None
                return None if is_null else node
        return None


def parsed(text: str) -> Node:
    """The value that `text` spells. Raises: NotJson."""
    node = _value(text, _after_space(text, 0), 0)
    end = _after_space(text, node.end)
    if end != len(text):
        raise NotJson("text follows the value", end)
    return node


def lead(text: str, position: int) -> str:
    """The white space that stands before `position`."""
    start = position
    while start and text[start - 1] in " \t\n\r":
        start -= 1
    return text[start:position]


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise NotJson(f"values are nested deeper than {DEEPEST}", at)
    if text.startswith("[", at):
        return _array(text, at, depth)
    if text.startswith("{", at):
        return _object(text, at, depth)
    return _scalar(text, at)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_constant)


def _scalar(text: str, at: int) -> Scalar:
    value: Any
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise NotJson(error.msg, error.pos) from None
    except ValueError as error:
        raise NotJson(str(error), at) from None
    if isinstance(value, str) and _HALF.search(value):
        raise NotJson("half of a surrogate pair", at)
    return Scalar(at, end, value)


def _array(text: str, start: int, depth: int) -> Array:
    items: list[Node] = []
    at = _after_space(text, start + 1)
    if text.startswith("]", at):
        return Array(start, at + 1, ())
    while True:
        items.append(_value(text, at, depth + 1))
        at, is_last = _delimited(text, items[-1].end, "]")
        if is_last:
            return Array(start, at, tuple(items))


def _object(text: str, start: int, depth: int) -> Object:
    members: dict[str, Member] = {}
    at = _after_space(text, start + 1)
    if text.startswith("}", at):
        return Object(start, at + 1, ())
    while True:
        if not text.startswith('"', at):
            raise NotJson("a name in quotes is missing", at)
        name = _scalar(text, at)
        spelled = str(name.value)
        if spelled.casefold() in members:
            raise NotJson(f"the name {spelled} stands twice", at)
        at = _after_space(text, name.end)
        if not text.startswith(":", at):
            raise NotJson("a colon is missing", at)
        node = _value(text, _after_space(text, at + 1), depth + 1)
        member = Member(name.start, name.end, spelled, node)
        members[spelled.casefold()] = member
        at, is_last = _delimited(text, node.end, "}")
        if is_last:
            return Object(start, at, tuple(members.values()))


def _delimited(text: str, at: int, closing: str) -> tuple[int, bool]:
    """Where the next entry is, or the end past `closing`; and whether it is the end."""
    at = _after_space(text, at)
    if text.startswith(closing, at):
        return at + 1, True
    if not text.startswith(",", at):
        raise NotJson(f"a comma or {closing} is missing", at)
    return _after_space(text, at + 1), False
