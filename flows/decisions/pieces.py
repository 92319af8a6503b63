"""Cuts a log into pieces that fit in memory several times over.

Several candidates are counted in one go over the same rows, for which the engine keeps
the rows they share. Over the whole log that would grow with it (11 GB at 40 million
decisions x 10 actions); over pieces of this size it stays below 1 GB. Counts add, so
pieces change no result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

PIECE_BYTES = 160 * 2**20


@dataclass(frozen=True, slots=True)
class Piece:
    """Some files of a log, or `rows` of one file from `offset` on."""

    files: tuple[str, ...]
    offset: int = 0
    rows: int | None = None


def pieces(files: Sequence[str]) -> Iterator[Piece]:
    """Pieces of about `PIECE_BYTES` that together hold each row of `files` once."""
    together: list[str] = []
    size = 0
    for file in files:
        bytes_ = Path(file).stat().st_size
        if together and size + bytes_ > PIECE_BYTES:
            yield Piece(tuple(together))
            together, size = [], 0
        if bytes_ > PIECE_BYTES * 1.5:
            yield from _slices(file, bytes_)
            continue
        together.append(file)
        size += bytes_
    if together:
        yield Piece(tuple(together))


def _slices(file: str, bytes_: int) -> Iterator[Piece]:
    total = pl.scan_parquet(file, glob=False).select(pl.len()).collect().item()
    step = -(-total // -(-bytes_ // PIECE_BYTES))
    for offset in range(0, total, step):
        yield Piece((file,), offset, min(step, total - offset))
