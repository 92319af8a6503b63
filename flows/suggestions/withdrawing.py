"""Takes decisions back: of a suggestion, of one text of it, or of the last command.

A decision that is taken back was never made: its text stands where it stood for its
pair, is counted among its suggestion again, and what accepting it closed elsewhere is
open. Before the next run the state is what it was before the decision, to the byte. A
run that came in between made the groups without the text: it joins what is left of its
suggestion, and the next run groups all anew. What that run held back because of it
(near copies of a rejected text, the same text of another pair) comes back with the
next run, too.

An exported file is only a file: the next export leaves the text out. Refused is what
became a question of the knowledge base by an import; that is taken out there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from flows.suggestions.decided import reopened, settled, still_open
from flows.suggestions.desk import ReviewError
from flows.suggestions.lookup import Refusal, meant
from flows.suggestions.pool import grouped, key_hash
from flows.suggestions.retention import recounted
from flows.suggestions.schema import PAIR_AND_KEY, TABLES, Rules, typed
from flows.suggestions.state import Snapshot, State
from flows.suggestions.texts import key as key_of

READ = ("suggestions", "members", "reviews", "questions", "baseline")
LAST = "last"  # no id: ids have hexadecimal digits alone
PLACE = ["qna_id", "key_hash"]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """How many decisions were taken back."""

    accepted_count: int
    rejected_count: int


def withdrawn(
    state: State, suggestion: str, *, question: str | None = None, rules: Rules
) -> Withdrawn:
    """Takes back what was decided about a suggestion.

    suggestion: its id or the beginning of it, or `last`: what was decided last,
    together. question: one text, in any spelling; None: all. rules: those of the last
    run.
    Raises: ReviewError when nothing of it was decided, or a text is a question by now.
    """
    with state.alone():
        old = state.load(*READ)
        try:
            back = _decided(old, suggestion, question)
            _check_not_published(back, old["questions"])
        except Refusal as refusal:
            raise ReviewError([str(refusal)]) from None
        reviews = old["reviews"].join(back, on=PLACE, how="anti", nulls_equal=True)
        members = _with_texts(old, back)
        waiting = still_open(members, reviews, old["questions"])
        again = Snapshot(
            old.facts,
            {
                "suggestions": reopened(old["suggestions"], waiting),
                "members": members,
            },
        )
        pool = grouped(state.scan("signals"), old["baseline"])
        suggestions, members = recounted(again, pool, rules)
        state.commit(
            {
                "reviews": reviews,
                "members": members,
                "suggestions": settled(suggestions, members, reviews, old["questions"]),
            }
        )
    accepted = back.filter(verdict="accepted").height
    return Withdrawn(accepted, back.height - accepted)


def _decided(old: Snapshot, suggestion: str, question: str | None) -> pl.DataFrame:
    """The reviews to take back: rows of table `reviews`."""
    made = old["reviews"].filter(source="review")
    if suggestion == LAST:
        name = "the last command"
        of_it = made.filter(pl.col("reviewed_at") == pl.col("reviewed_at").max())
    else:
        heads = dict(old["suggestions"].select("suggestion", "head").iter_rows())
        name = meant(suggestion, heads, heads)
        of_it = made.filter(suggestion=name)
    if question is None:
        if of_it.is_empty():
            raise Refusal(f"nothing of {name} was decided; there is nothing to undo")
        return of_it
    asked = pl.DataFrame({"text": [question]}).with_columns(key=key_of(pl.col("text")))
    found = of_it.join(asked.select(key_hash=key_hash()), on="key_hash", how="semi")
    if found.is_empty():
        texts = of_it["text"].drop_nulls().to_list()
        told = f"; decided are {', '.join(map(repr, texts))}" if texts else ""
        raise Refusal(f"{question!r} of {name} was not decided{told}")
    return found


def _check_not_published(back: pl.DataFrame, questions: pl.DataFrame) -> None:
    known = back.filter(verdict="accepted").join(questions, on=PAIR_AND_KEY, how="semi")
    for row in known.head(1).iter_rows(named=True):
        raise Refusal(
            f"{row['text']!r} is a question of pair {row['qna_id']} by now; take it "
            "out of the knowledge base itself"
        )


def _with_texts(old: Snapshot, back: pl.DataFrame) -> pl.DataFrame:
    """Table `members` with the texts as undecided ones.

    A text whose words were deleted has a hash alone and cannot come back.
    """
    pairs = pl.col("qna_id").is_null() | pl.col("qna_id").is_in(
        old["questions"]["qna_id"].implode()
    )
    texts = back.filter(pl.col("key").is_not_null(), pairs)
    backs = texts.select(*PAIR_AND_KEY, is_back=True)
    members = old["members"].join(
        backs, on=PAIR_AND_KEY, how="left", nulls_equal=True, maintain_order="left"
    )
    is_accepted = pl.col("is_accepted") & pl.col("is_back").is_null()
    members = typed(members.with_columns(is_accepted=is_accepted), "members")
    missing = texts.join(members, on=PAIR_AND_KEY, how="anti", nulls_equal=True)
    homes = _Homes(old["suggestions"], members)
    added = pl.DataFrame(
        [homes.row(review) for review in missing.iter_rows(named=True)],
        schema=TABLES["members"],
    )
    return pl.concat([members, added])


class _Homes:
    """Which group a text comes back to."""

    def __init__(self, suggestions: pl.DataFrame, members: pl.DataFrame) -> None:
        known = suggestions.select("suggestion", "absorbed_into", "head_key")
        self.known = {row["suggestion"]: row for row in known.iter_rows(named=True)}
        groups = members.select("qna_id", "head_key", "suggestion").unique()
        rows = groups.sort(groups.columns).rows()
        self.suggestion_of = {(pair, head): name for pair, head, name in rows}
        self.head_of = {name: head for _, head, name in rows if name is not None}

    def row(self, review: Row) -> Row:
        """The text of a review as a row of table `members`, its counts not yet made."""
        name = review["suggestion"]
        while self.known[name]["absorbed_into"] is not None:
            name = self.known[name]["absorbed_into"]
        head = self.head_of.get(name) or self.known[name]["head_key"] or review["key"]
        self.head_of[name] = head
        # Where another group has that head by now, the text is in that group.
        name = self.suggestion_of.setdefault((review["qna_id"], head), name)
        return {
            "qna_id": review["qna_id"],
            "head_key": head,
            "key": review["key"],
            "suggestion": name,
            "text": review["text"],
            "similarity": 1.0,
            "margin": review["margin"],
            "is_accepted": False,
            "is_masked": False,
        }
