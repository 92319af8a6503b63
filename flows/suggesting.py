"""The steps of suggestions, as plain functions over a job's state folder.

    suggest    the knowledge base, what was asked since, suggestions made anew
    reviewed   what reviewers decided, and the page they decide on, made anew

Results stand in the state folder: `suggestions.json` (`untaken.suggestions/1`) and
`review.html`; and while logs are refused `violations.parquet`, every row of them that
breaks a rule. A run without a new query gives the same bytes. Its instant is that of
the newest query it knows, never the clock's, so a run can be repeated; before the first
query with a time it is the start of 1970.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import polars as pl

from flows import knowledge
from flows.errors import UsageError, counted
from flows.folder import Folder, replacing
from flows.job import asking
from flows.offpolicy.document import to_json
from flows.reports import review
from flows.suggestions import embed, lexical
from flows.suggestions.asked import SuggestionJob
from flows.suggestions.baseline import imported
from flows.suggestions.broken import SignalsError
from flows.suggestions.cycle import cycle
from flows.suggestions.document import Document, document
from flows.suggestions.engine import Engine
from flows.suggestions.exporting import additions, exported, open_suggestions
from flows.suggestions.margins import START, margin_from_reviews
from flows.suggestions.retention import Forgotten, forget_user
from flows.suggestions.schema import Rules
from flows.suggestions.signals import Signals, signals
from flows.suggestions.state import State
from flows.suggestions.summary import left_out, sentence, warned
from flows.suggestions.users import SHORTEST_KEY, user_hash
from flows.suggestions.withdrawing import Withdrawn, withdrawn

UNDATED = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
Spelling = Literal["found", "camelCase", "PascalCase"]
PAGE, LIST, LISTING = "review.html", "suggestions.json", "violations.parquet"


@dataclass(frozen=True, slots=True)
class Suggested:
    """How a run ended: in words, and where the review page is.

    warnings: what may surprise of the knowledge base's file.
    """

    sentence: str
    page: Path
    warnings: tuple[str, ...]


def suggest(
    job: SuggestionJob, advance: Callable[[], None] = lambda: None
) -> Suggested:
    """Reads what was asked and makes the suggestions of a job anew.

    advance: called after each of three steps.
    Raises: KnowledgeBaseError, SignalsError, StateError, UsageError.
    """
    state, base = State(job.state), knowledge.read(job.knowledge_base)
    read = _signals(job, base, state.user_key())
    advance()
    as_of = _as_of(state, read)
    took = imported(state, job.knowledge_base, name=job.name, at=as_of)
    margin = _margin(job, state)
    found = cycle(
        state,
        read.frame.lazy(),
        engine=_engine(job, margin),
        rules=job.rules,
        as_of=as_of,
        margin=margin,
        read_count=read.counts.queries + read.counts.records,
        unknown_count=read.counts.unknown_pairs,
        is_learning=job.learns_anyway or base.settings.is_learning_enabled is not False,
    )
    _note(state, job, read, margin, as_of)
    advance()
    page = published(state, took.base)
    advance()
    return Suggested(
        sentence(found), page, (*warned(took), *left_out(job, read.counts))
    )


def check_only(job: SuggestionJob) -> str:
    """Validates the knowledge base and what was asked; keeps refused rows alone.

    Raises: KnowledgeBaseError, SignalsError.
    """
    base = knowledge.read(job.knowledge_base)
    read = _signals(job, base, bytes(SHORTEST_KEY))
    pairs = counted(base.pairs.height, "pair")
    told = (
        f"{job.name}: {pairs}; {read.counts.queries:,} logged questions and "
        f"{counted(read.counts.records, 'feedback record')}; no violation"
    )
    odd = [*map(str, base.warnings), *left_out(job, read.counts)]
    return "\n".join([told, *(f"warning: {each}" for each in odd)])


def state_of(job: Path | None, folder: Path | None) -> State:
    """The state of a job file or, without one, of a folder.

    Raises: UsageError, JobError.
    """
    if job is not None and folder is None:
        state = State(asking(job).state)
        if not state.facts():
            raise UsageError(f"nothing was read yet; run: untaken suggest {job}")
        return state
    if folder is None or job is not None:
        raise UsageError("name a job file or --state DIR, one of them")
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; make one with: untaken kb import")
    return State(folder)


def published(state: State, base: knowledge.KnowledgeBase | None = None) -> Path:
    """Writes the list and the review page of a state; returns the page's file.

    base: its knowledge base; read where it is not at hand.
    """
    # What another command decides meanwhile must not be overwritten by what was before.
    with state.alone(is_waiting=True):
        made = document_of(state, base)
        page = review.html(made)
        with state.writing():
            folder = Folder(state.root)
            folder.write_text(to_json(made), LIST)
            return folder.write_text(page, PAGE)


def document_of(state: State, base: knowledge.KnowledgeBase | None = None) -> Document:
    """The document of a state, whose knowledge base it holds."""
    return document(state, base or knowledge.read(state.knowledge_file()))


def export(
    state: State, out: Path, *, casing: Spelling = "found"
) -> tuple[list[str], int]:
    """Writes the knowledge-base file with what was accepted and what waits.

    Returns: the questions it adds, and how many texts it carries as suggestions.
    Raises: StateError, KnowledgeBaseError; UsageError for a place to write to.
    """
    # A device would be replaced by the file.
    if (out.exists() and not out.is_file()) or not out.resolve().parent.is_dir():
        raise UsageError(
            f"{out} cannot be written; name a file in a folder that exists"
        )
    base, added = knowledge.read(state.knowledge_file()), additions(state)
    carried = open_suggestions(state) if base.has_suggestions else None
    content = knowledge.written(base, added=added, suggested=carried, casing=casing)
    try:
        with replacing(out) as beside:
            beside.write_bytes(content)
    except OSError as error:
        raise UsageError(
            f"{out} cannot be written ({error.strerror}); name a file in a folder that "
            "can be written to"
        ) from None
    exported(state)
    return added["question"].to_list(), 0 if carried is None else carried.height


def undo(state: State, suggestion: str, question: str | None = None) -> Withdrawn:
    """Takes decisions back (`withdrawn`), and makes list and page anew."""
    back = withdrawn(state, suggestion, question=question, rules=_rules(state))
    published(state)
    return back


def forget(state: State, user_id: str) -> Forgotten:
    """Removes a user's queries, and makes list and page anew."""
    gone = forget_user(state, user_id, hashed=user_hash, rules=_rules(state))
    published(state)
    return gone


def _rules(state: State) -> Rules:
    """Those of the last run."""
    return Rules(**state.facts().get("rules", {}))


def _signals(
    job: SuggestionJob, base: knowledge.KnowledgeBase, user_key: bytes
) -> Signals:
    """What was asked. Rows that break a rule are listed beside the state."""
    try:
        read = signals(
            job.files(*job.questions),
            job.files(*job.feedback),
            score_unit=job.score_unit,
            user_key=user_key,
            known_pairs=base.questions["qna_id"].unique().to_list(),
        )
    except SignalsError as error:
        if not error.broken:
            raise
        state = State(job.state)
        with state.writing():
            file = Folder(state.root).write_parquet(error.rows(), LISTING)
        raise SignalsError(error.problems, error.broken, listing=file) from None
    (job.state / LISTING).unlink(missing_ok=True)
    return read


def _as_of(state: State, read: Signals) -> dt.datetime:
    newest = read.frame["asked_at"].max()
    before = state.facts().get("as_of")
    known = [dt.datetime.fromisoformat(before)] if before else []
    if isinstance(newest, dt.datetime):
        known.append(newest)
    return max(known, default=UNDATED)


def _margin(job: SuggestionJob, state: State) -> float | None:
    """The margin of this run; None where it is the engine's own."""
    if job.aims_at is None:
        return job.margin
    margins = _margins(state)
    in_force = margins[max(margins)] if margins else job.margin or START
    reviews = state.load("reviews")["reviews"].filter(source="review")
    return margin_from_reviews(
        reviews.with_columns(is_accepted=pl.col("verdict") == "accepted"),
        night=len(margins) + 1,
        in_force=in_force,
        aims_at=job.aims_at,
    )


def _margins(state: State) -> dict[str, float]:
    """The margin that was in force on each night (UTC) with a run."""
    return dict(state.facts().get("margins", {}))


def _engine(job: SuggestionJob, margin: float | None) -> Engine:
    if job.embedding is not None:
        return embed.engine(job.embedding)
    if margin is None:
        return lexical.engine()
    bot = max(margin, lexical.DEFAULTS.margin_with_bot)
    return lexical.engine(replace(lexical.DEFAULTS, margin=margin, margin_with_bot=bot))


def _note(
    state: State,
    job: SuggestionJob,
    read: Signals,
    margin: float | None,
    as_of: dt.datetime,
) -> None:
    """Keeps what the list tells beside the tables: counts, minimum, margins."""
    facts: dict[str, object] = {
        "counts": asdict(read.counts),
        "rules": asdict(job.rules),
    }
    if margin is not None and job.aims_at is not None:
        facts["margins"] = _margins(state) | {as_of.date().isoformat(): margin}
    with state.alone():
        state.commit({}, facts)
