"""What groups texts: the way to make vectors of keys, and thresholds."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from flows.suggestions.clusters import Space, Thresholds, Vectors


@dataclass(frozen=True, slots=True)
class Engine:
    """Groups texts by the vectors of their keys (`flows.suggestions.clusters`).

    Both methods take the same frames. pool: columns of `flows.suggestions.pool.POOL`,
    one row for each pair, kind of no pair, and key. questions: qna_id and question.
    accepted, rejected: qna_id and key. closed: qna_id and key of what must not meet;
    without qna_id, of no pair at all. What they return is the same to the bit for any
    order of rows and number of threads.
    """

    vectors: Vectors
    thresholds: Thresholds

    def cluster(
        self,
        pool: pl.DataFrame,
        questions: pl.DataFrame,
        accepted: pl.DataFrame,
        rejected: pl.DataFrame,
        *,
        closed: pl.DataFrame | None = None,
    ) -> pl.DataFrame:
        """Groups of open texts, small ones too: columns of `MEMBERS`, sorted."""
        return self.grouped(pool, questions, accepted, rejected, closed=closed)[0]

    def grouped(
        self,
        pool: pl.DataFrame,
        questions: pl.DataFrame,
        accepted: pl.DataFrame,
        rejected: pl.DataFrame,
        *,
        closed: pl.DataFrame | None = None,
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The groups; and what they leave out as near copies of rejected texts.

        Of the latter qna_id and key. The vectors are made once for both.
        """
        frames = (pool, questions, accepted, rejected, closed)
        return Space(frames, self.vectors, self.thresholds).grouped()
