"""What an export adds to the knowledge-base file, and what it carries.

Accepting saves, exporting publishes: `additions` are the accepted texts that are not
questions of their pair yet. `open_suggestions` is all that the file then carries: what
it had and nobody decided since, under the heads it had; and the undecided texts of
every open suggestion. A text that joins a cluster of the file stands under the head it
has there; counts are the larger of the file's and ours. Without a signal and a review
this is what the file had.
Source: document 003, "Las sugerencias de aprendizaje activo se guardan en la base de
conocimiento exportada"; qna-suggestions 5.5.
"""

from __future__ import annotations

import polars as pl

from flows.suggestions.decided import still_open
from flows.suggestions.masking import masked
from flows.suggestions.pool import key_hash
from flows.suggestions.schema import PAIR_AND_KEY, QUERIES
from flows.suggestions.state import Snapshot, State
from flows.suggestions.texts import key

READ = ("questions", "baseline", "reviews", "suggestions", "members")
CARRIED = ["qna_id", "cluster_head", "question", "auto_count", "user_count"]
CLUSTER = ["qna_id", "cluster_head"]
ROW = "row"


def additions(state: State) -> pl.DataFrame:
    """Accepted questions to add: `qna_id`, `question`, in the order of the reviews."""
    now = state.load("reviews", "questions")
    pairs = now["questions"].select("qna_id")
    return (
        now["reviews"]
        .filter(verdict="accepted", source="review")
        .join(now["questions"], on=PAIR_AND_KEY, how="anti")
        .join(pairs, on="qna_id", how="semi")
        .sort("qna_id", "reviewed_at", "key")
        .select("qna_id", question="text")
    )


def open_suggestions(state: State) -> pl.DataFrame:
    """All suggestions the file is to carry: columns `CARRIED`, by pair."""
    return _carried(state.load(*READ)).select(CARRIED)


def exported(state: State) -> None:
    """Notes that a file with `open_suggestions` was written.

    What the next imported file lacks of it was dropped there.
    """
    with state.alone():
        rows = _carried(state.load(*READ)).select(PAIR_AND_KEY)
        state.commit({"exported": rows.unique().sort(PAIR_AND_KEY)})


def _carried(now: Snapshot) -> pl.DataFrame:
    """The rows that the file is to carry, with their keys."""
    from_file = _headed(_left(now["baseline"], now["reviews"]), now["reviews"])
    undecided = still_open(now["members"], now["reviews"], now["questions"])
    shown = now["suggestions"].filter(pl.col("qna_id").is_not_null(), status="open")
    ours = undecided.join(
        shown.select("suggestion", "size", shown_head="head_key"), on="suggestion"
    )
    joined = _joined(ours, from_file).join(from_file, on=PAIR_AND_KEY, how="anti")
    counted = _counted(from_file, now["members"])
    columns = [*CARRIED, "key"]
    ordered = joined.sort(
        *("size", "suggestion", QUERIES, "key"), descending=[True, False, True, False]
    )
    rows = pl.concat([counted.select(columns), ordered.select(columns)])
    return rows.sort("qna_id", maintain_order=True)


def _left(baseline: pl.DataFrame, reviews: pl.DataFrame) -> pl.DataFrame:
    """What the file had and nobody decided since, numbered in its order."""
    accepted = reviews.filter(verdict="accepted")
    rejected = reviews.filter(verdict="rejected")
    return (
        baseline.with_row_index(ROW)
        .with_columns(key_hash=key_hash())
        .join(accepted, on="key_hash", how="anti")
        .join(rejected, on=["qna_id", "key_hash"], how="anti")
    )


def _headed(rows: pl.DataFrame, reviews: pl.DataFrame) -> pl.DataFrame:
    """The rows; where a head was decided, its cluster goes by its largest text."""
    heads = masked(rows["cluster_head"])["text"].alias("head")
    keyed = rows.with_columns(heads).with_columns(head_key=key(pl.col("head")))
    keyed = keyed.with_columns(head_hash=key_hash("head_key"))
    decided = pl.concat(
        [
            keyed.join(
                reviews.filter(verdict="accepted"),
                left_on="head_hash",
                right_on="key_hash",
                how="semi",
            ),
            keyed.join(
                reviews.filter(verdict="rejected"),
                left_on=["qna_id", "head_hash"],
                right_on=["qna_id", "key_hash"],
                how="semi",
            ),
        ]
    )
    largest = (
        decided.sort(QUERIES, ROW, descending=[True, False])
        .unique(CLUSTER, keep="first", maintain_order=True)
        .select(*CLUSTER, new_head="question")
    )
    return rows.join(largest, on=CLUSTER, how="left").with_columns(
        cluster_head=pl.coalesce("new_head", "cluster_head")
    )


def _joined(ours: pl.DataFrame, from_file: pl.DataFrame) -> pl.DataFrame:
    """Our undecided texts with the head that each stands under."""
    own = (
        ours.with_columns(is_head=pl.col("key") == pl.col("shown_head"))
        .sort("is_head", QUERIES, "key", descending=[True, True, False])
        .unique("suggestion", keep="first", maintain_order=True)
        .select("suggestion", own_head="text")
    )
    theirs = (
        from_file.join(ours.select("suggestion", *PAIR_AND_KEY), on=PAIR_AND_KEY)
        .sort(QUERIES, ROW, descending=[True, False])
        .unique("suggestion", keep="first", maintain_order=True)
        .select("suggestion", file_head="cluster_head")
    )
    named = ours.join(own, on="suggestion").join(theirs, on="suggestion", how="left")
    return named.with_columns(
        cluster_head=pl.coalesce("file_head", "own_head"), question="text"
    )


def _counted(from_file: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """The file's rows; what we counted beyond them goes to each key's largest."""
    counts = ("auto_count", "user_count")
    # As the pool counts them: a question under two heads once.
    single = from_file.group_by(*PAIR_AND_KEY, "question").agg(pl.col(counts).max())
    summed = pl.col(counts).sum().name.suffix("_file")
    in_file = single.group_by(PAIR_AND_KEY).agg(summed)
    ours = members.select(*PAIR_AND_KEY, pl.col(counts).name.suffix("_ours"))
    largest = from_file.sort(QUERIES, ROW, descending=[True, False]).unique(
        PAIR_AND_KEY, keep="first", maintain_order=True
    )
    is_largest = pl.col(ROW).is_in(largest[ROW].implode())
    beyond = {
        name: pl.col(name)
        + pl.when(is_largest)
        .then((pl.col(f"{name}_ours") - pl.col(f"{name}_file")).clip(0))
        .fill_null(0)
        for name in counts
    }
    return (
        from_file.join(in_file, on=PAIR_AND_KEY, how="left")
        .join(ours, on=PAIR_AND_KEY, how="left")
        .with_columns(**beyond)
        .sort(ROW)
    )
