"""A run in words: how it ended, what may surprise, and what went nowhere."""

from __future__ import annotations

from flows.errors import counted
from flows.suggestions.asked import SuggestionJob
from flows.suggestions.baseline import Imported
from flows.suggestions.cycle import Outcome
from flows.suggestions.reasons import words
from flows.suggestions.signals import Counts


def sentence(found: Outcome) -> str:
    """What waits, or why nothing does."""
    if not found.is_learning:
        return "learning is switched off in the knowledge base; nothing was read"
    rows = found.listing.suggestions
    if rows.is_empty():
        overall = found.listing.reasons.filter(scope="all")
        why = [words(*row) for row in overall.select("reason", "count", "of").rows()]
        return f"nothing to review: {'; '.join(why) or 'all is decided'}"
    fitting = rows.drop_nulls("qna_id")
    waits = counted(fitting.height, "suggestion")
    pairs = counted(fitting["qna_id"].n_unique(), "pair")
    told = f"{waits} for {pairs}, {int(fitting['is_fresh'].sum())} of them new or grown"
    gaps = rows.height - fitting.height
    return f"{told}; {counted(gaps, 'content gap')}" if gaps else told


def left_out(job: SuggestionJob, counts: Counts) -> list[str]:
    """What of the logs went nowhere, and patterns that match nothing."""
    told = []
    for key, patterns in (("questions", job.questions), ("feedback", job.feedback)):
        told += [
            f"suggestions.{key}: no file matches {pattern} in {job.base.resolve()}"
            for pattern in patterns
            if not job.files(pattern)
        ]
    if counts.unknown_pairs:
        named = counted(counts.unknown_pairs, "answer or record")
        told.append(f"{named} named pairs that the knowledge base does not have")
    if counts.too_long:
        told.append(
            f"{counted(counts.too_long, 'text')} left out: longer than 1,000 characters"
        )
    return told


def warned(took: Imported) -> list[str]:
    """What may surprise of the knowledge base's file."""
    told = [str(remark) for remark in took.base.warnings]
    told += [
        f"suggestion {name} waits: its pair is gone from the knowledge base"
        for name in took.orphaned
    ]
    return told
