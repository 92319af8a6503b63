"""Where decisions are looked up, held against the state and each other, and collected.

A text that is decided already the same way is left alone. Refused are: a suggestion or
text that is not known or went elsewhere, the opposite of an earlier decision, a text
accepted for two pairs, and both verdicts for one text.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from flows.errors import REFUSED, UntakenError, counted
from flows.suggestions.decided import is_live, still_open
from flows.suggestions.lookup import Refusal, meant
from flows.suggestions.pool import key_hash
from flows.suggestions.schema import PAIR_AND_KEY
from flows.suggestions.state import Snapshot
from flows.suggestions.texts import key as key_of

Verdict = Literal["accepted", "rejected"]
Row = dict[str, Any]
READ = ("suggestions", "members", "reviews", "questions")
SHOWN_PROBLEMS = 20


class ReviewError(UntakenError):
    """Decisions that cannot take effect; none of them did.

    problems: all of them, in the order of the decisions.
    """

    exit_code = REFUSED

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        found = counted(len(self.problems), "problem")
        lines = [f"{found} with the decisions; none of them took effect."]
        lines += [f"  {problem}" for problem in self.problems[:SHOWN_PROBLEMS]]
        if len(self.problems) > SHOWN_PROBLEMS:
            lines.append(f"  and {len(self.problems) - SHOWN_PROBLEMS:,} more")
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision: about a text of a suggestion, or about all its undecided ones.

    suggestion: its id, or a beginning that no other id shares.
    question: the text, in any spelling of its key, which is how it is accepted; None:
    all. place: how messages call the decision, such as `row 3`.
    """

    suggestion: str
    verdict: Verdict
    question: str | None = None
    place: str = "the decision"


class Desk:
    """Takes decisions about one snapshot (tables `READ`)."""

    def __init__(
        self,
        state: Snapshot,
        decisions: Sequence[Decision | str],
        *,
        is_stale: bool = False,
    ) -> None:
        """decisions: in place of one that has no form, what is wrong with it.

        is_stale: whether the decisions were made on an older list.
        """
        self.is_stale = is_stale
        self.decisions = decisions
        made = [each for each in decisions if isinstance(each, Decision)]
        asked_about = pl.Series("q", [each.question for each in made], pl.String)
        keys = pl.DataFrame({"q": asked_about}).select("q", k=key_of(pl.col("q")))
        self.keys = dict(keys.drop_nulls().iter_rows())
        self.suggestions = _by(state["suggestions"], "suggestion")
        heads = state["suggestions"].select("suggestion", "head").iter_rows()
        self.heads: dict[str, str | None] = dict(heads)
        members = state["members"].filter(pl.col("suggestion").is_not_null())
        undecided = still_open(members, state["reviews"], state["questions"])
        self.undecided = set(undecided.select("suggestion", "key").iter_rows())
        self.members = _lists(members.with_columns(key_hash=key_hash()))
        self.reviews = _lists(state["reviews"].drop_nulls("suggestion"))
        self.decided = _by(state["reviews"], "qna_id", "key_hash")
        accepted = state["reviews"].filter(verdict="accepted")
        self.accepted_for = dict(accepted.select("key_hash", "qna_id").iter_rows())
        asked = state["questions"].join(members.select("key"), on="key", how="semi")
        self.pairs = set(state["questions"]["qna_id"])
        self.questions: dict[str, set[int]] = {}
        for qna_id, key in asked.select(PAIR_AND_KEY).iter_rows():
            self.questions.setdefault(key, set()).add(qna_id)
        self.taken: dict[tuple[int | None, int], tuple[Row, Decision]] = {}
        self.taken_for: dict[int, tuple[int | None, Decision]] = {}
        self.unchanged_count = 0

    def take(self) -> list[tuple[Row, Decision]]:
        """The texts that are decided now, of table `members` and with `key_hash`.

        Raises: ReviewError with every problem.
        """
        problems = []
        for decision in self.decisions:
            if isinstance(decision, str):
                problems.append(decision)
                continue
            try:
                name = meant(decision.suggestion, self.heads, self.members)
                named = replace(decision, suggestion=name)
                for row in self._rows(named):
                    self._decide(row, named)
            except Refusal as refusal:
                problems.append(f"{decision.place}: {refusal}")
        if problems:
            raise ReviewError(problems)
        return list(self.taken.values())

    def _rows(self, decision: Decision) -> list[Row]:
        """The texts that the decision is about."""
        name = decision.suggestion
        rows = self.members.get(name, [])
        if decision.question is not None:
            found = self._found(decision, rows)
        else:
            found = [row for row in rows if (name, row["key"]) in self.undecided]
            if found and self.is_stale:
                raise Refusal(
                    f"suggestion {name} may hold other texts than when the file was "
                    "saved; decide its questions one by one, or save the file anew"
                )
        if found:
            return found
        earlier = {row["verdict"] for row in self._earlier(decision)}
        if decision.verdict in earlier:
            self.unchanged_count += 1
            return []
        raise Refusal(self._stale(decision, earlier))

    def _found(self, decision: Decision, rows: list[Row]) -> list[Row]:
        """The row of the text that is decided."""
        wanted = self.keys[decision.question]
        found = [row for row in rows if row["key"] == wanted]
        if found and found[0]["is_masked"]:
            raise Refusal(
                f"{decision.question!r} holds personal data; it is shown as evidence "
                "and cannot be decided on"
            )
        return found

    def _earlier(self, decision: Decision) -> list[Row]:
        """Earlier reviews of the suggestion that are about the same."""
        return [
            row
            for row in self.reviews.get(decision.suggestion, [])
            if decision.question is None or row["key"] == self.keys[decision.question]
        ]

    def _decide(self, row: Row, decision: Decision) -> None:
        place = (row["qna_id"], row["key_hash"])
        known = self.decided.get(place)
        owners = self.questions.get(row["key"], set())
        is_accepted = decision.verdict == "accepted"
        if known is not None:
            if known["verdict"] != decision.verdict:
                raise Refusal(f"{row['text']!r} was {_told(known)}")
            self.unchanged_count += 1
        elif row["qna_id"] in owners:
            if not is_accepted:
                raise Refusal(
                    f"{row['text']!r} is a question of pair {row['qna_id']} by now; "
                    "take it out of the knowledge base itself"
                )
            self.unchanged_count += 1
        else:
            if is_accepted:
                self._check_free(row, owners)
            self._keep(place, row, decision)

    def _check_free(self, row: Row, owners: set[int]) -> None:
        """Refuses to accept a text that belongs to another pair, or to none."""
        text = repr(row["text"])
        if row["qna_id"] is None:
            raise Refusal(
                f"{text} fits no pair; add a pair to the knowledge base for it, or "
                "reject it"
            )
        if row["qna_id"] not in self.pairs:
            raise Refusal(
                f"{text} cannot be added: pair {row['qna_id']} is gone from the "
                "knowledge base"
            )
        other = self.accepted_for.get(row["key_hash"])
        if other is not None:
            raise Refusal(f"{text} was accepted for pair {other}")
        if owners:
            raise Refusal(f"{text} is a question of pair {min(owners)}")

    def _keep(
        self, place: tuple[int | None, int], row: Row, decision: Decision
    ) -> None:
        text = repr(row["text"])
        if place in self.taken:
            _, other = self.taken[place]
            if other.verdict != decision.verdict:
                raise Refusal(f"{text} is {other.verdict} by {other.place}")
            return
        if decision.verdict == "accepted":
            pair, other = self.taken_for.get(row["key_hash"], (None, decision))
            if other is not decision:
                raise Refusal(f"{text} is accepted for pair {pair} by {other.place}")
            self.taken_for[row["key_hash"]] = (row["qna_id"], decision)
        self.taken[place] = (row, decision)

    def _stale(self, decision: Decision, earlier: set[str]) -> str:
        """Why nothing of a known suggestion can be decided."""
        name = decision.suggestion
        suggestion = self.suggestions[name,]
        what = name if decision.question is None else repr(decision.question)
        if earlier:
            return f"{what} was {_told(self._earlier(decision)[0])}"
        if suggestion["absorbed_into"] is not None:
            return f"suggestion {name} went into {suggestion['absorbed_into']}"
        if suggestion["status"] == "orphaned":
            return f"pair {suggestion['qna_id']} is gone from the knowledge base"
        if decision.question is None or name not in self.members:
            return f"suggestion {name} has no undecided text any more"
        return f"suggestion {name} has no text {what}{self._near_text(decision)}"

    def _near_text(self, decision: Decision) -> str:
        own = [row["text"] for row in self.members[decision.suggestion]]
        near = difflib.get_close_matches(decision.question or "", own, n=1, cutoff=0)
        return f"; the nearest is {near[0]!r}" if near else ""


def reviewable(state: Snapshot) -> pl.DataFrame:
    """Undecided texts of open suggestions, with the size of their suggestion."""
    shown = state["suggestions"].filter(is_live(), status="open")
    undecided = still_open(state["members"], state["reviews"], state["questions"])
    return undecided.join(shown.select("suggestion", "size"), on="suggestion")


def _told(review: Row) -> str:
    by = f" by {review['reviewed_by']}" if review["reviewed_by"] else ""
    return f"{review['verdict']} on {review['reviewed_at']:%Y-%m-%d}{by}"


def _by(frame: pl.DataFrame, *names: str) -> dict[tuple[Any, ...], Row]:
    """The rows by the values of some columns."""
    rows = frame.iter_rows(named=True)
    return {tuple(row[name] for name in names): row for row in rows}


def _lists(frame: pl.DataFrame) -> dict[str, list[Row]]:
    """The rows by suggestion, in the order of the frame."""
    found: dict[str, list[Row]] = {}
    for row in frame.iter_rows(named=True):
        found.setdefault(row["suggestion"], []).append(row)
    return found
