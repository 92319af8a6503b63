"""Which candidates are certainly worse than which.

Improvements over the logging policy hold together for all candidates, and the logging
policy's own is 0. So whoever's upper end lies below another's lower end is worse, for
all such pairs at once, at the confidence of the intervals; the places that remain open
to each follow. Differences counted for two candidates (`[[compare]]`) are a family of
their own: they are shown beside, not mixed in.

Source: simultaneous intervals permit any comparison (intervals.md, section 6;
validity.md 9 and 10).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rank:
    """What is certain about one candidate among all.

    best_place, worst_place: from 1; the places it may have.
    worse_than: the candidates that are certainly better, sorted.
    """

    candidate: str
    best_place: int
    worst_place: int
    worse_than: tuple[str, ...]


def ranking(
    improvements: Mapping[str, tuple[float | None, float | None]],
) -> tuple[Rank, ...]:
    """Ranks candidates by their improvements' ends; the best middle first.

    improvements: lower and upper end by name; the logging policy's are 0, 0. Whoever
        has none may have any place.
    """
    ends = {
        name: (lower, upper)
        for name, (lower, upper) in improvements.items()
        if lower is not None and upper is not None
    }
    ranks = []
    for name in improvements:
        lower, upper = ends.get(name, (-float("inf"), float("inf")))
        better = sorted(n for n, (low, _) in ends.items() if low > upper)
        worse = [n for n, (_, high) in ends.items() if high < lower]
        last = len(improvements) - len(worse)
        ranks.append(Rank(name, len(better) + 1, last, tuple(better)))
    middle = {name: -(lower + upper) for name, (lower, upper) in ends.items()}
    return tuple(
        sorted(
            ranks,
            key=lambda rank: (middle.get(rank.candidate, float("inf")), rank.candidate),
        )
    )
