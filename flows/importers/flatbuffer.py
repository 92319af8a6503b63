"""Reads tables out of FlatBuffers bytes, by field number.

A table starts with the distance back to its vtable, which holds for each field the
distance of its value from the table's start, 0 where the field is left out. Strings,
vectors and tables are reached by a distance from where it stands.

Source: FlatBuffers internals (flatbuffers.dev, "FlatBuffers internals"), 2014-2024.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Table:
    """A table at `place` in `data`. Each reader raises struct.error past the end."""

    data: memoryview
    place: int

    def number(self, field: int, form: str, default: float = 0) -> float:
        """A scalar of the struct format `form`; `default` where it is left out."""
        at = self._field(field)
        if not at:
            return default
        return float(struct.unpack_from(f"<{form}", self.data, at)[0])

    def values(self, field: int, form: str) -> tuple[int, ...]:
        """A struct's members; empty where it is left out."""
        at = self._field(field)
        return struct.unpack_from(f"<{form}", self.data, at) if at else ()

    def bytes(self, field: int) -> memoryview | None:
        """A vector of bytes, or a string's, None where it is left out."""
        at = self._field(field)
        return None if not at else self._vector(self._follow(at), 1)

    def text(self, field: int) -> str | None:
        """A string, None where it is left out."""
        found = self.bytes(field)
        return None if found is None else bytes(found).decode()

    def array(self, field: int, dtype: str) -> NDArray[np.generic] | None:
        """A vector of scalars of the numpy type, None where it is left out."""
        at = self._field(field)
        if not at:
            return None
        width = np.dtype(dtype).itemsize
        return np.frombuffer(self._vector(self._follow(at), width), dtype)

    def table(self, field: int) -> Table | None:
        """A table, None where it is left out."""
        at = self._field(field)
        return None if not at else Table(self.data, self._follow(at))

    def tables(self, field: int) -> Iterator[Table]:
        """The tables of a vector; none where it is left out."""
        at = self._field(field)
        if not at:
            return
        start = self._follow(at)
        (count,) = struct.unpack_from("<I", self.data, start)
        for place in range(start + 4, start + 4 + 4 * count, 4):
            yield Table(self.data, self._follow(place))

    def texts(self, field: int) -> Iterator[str]:
        """The strings of a vector; none where it is left out."""
        for found in self.tables(field):
            yield bytes(self._vector(found.place, 1)).decode()

    def _field(self, field: int) -> int:
        (back,) = struct.unpack_from("<i", self.data, self.place)
        vtable = self.place - back
        (size,) = struct.unpack_from("<H", self.data, vtable)
        entry = 4 + 2 * field
        if entry >= size:
            return 0
        (offset,) = struct.unpack_from("<H", self.data, vtable + entry)
        return self.place + offset if offset else 0

    def _follow(self, at: int) -> int:
        (distance,) = struct.unpack_from("<I", self.data, at)
        return int(at + distance)

    def _vector(self, start: int, width: int) -> memoryview:
        (count,) = struct.unpack_from("<I", self.data, start)
        end = start + 4 + count * width
        if end > len(self.data):
            raise struct.error("a vector reaches past the end")
        return self.data[start + 4 : end]


def root(data: memoryview) -> Table:
    """The table that a buffer holds."""
    (distance,) = struct.unpack_from("<I", data, 0)
    return Table(data, distance)
