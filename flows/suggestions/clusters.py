"""Groups the open texts of every pair, whatever vectors they have.

    known     a text that is a question of any pair, or accepted for one, is left out
    given     the log names the pair (near scores, feedback): texts are grouped within
              it from `given_threshold` on
    own       the log names none: a text goes to the pair that it resembles most, if by
              its margin, and is grouped within it from `own_threshold` on
    gaps      no pair answers: such texts are grouped among themselves, as given ones

Accepted texts of the pair are grouped along, for they count towards a group's size; a
group without an open text is left out. Rejected texts never meet their pair again, nor
does a text nearly the same (`near_copy`). Small groups are returned too: how many texts
a showing needs is for the state to say.

A group's head is its most frequent open text; ties go to the highest summed similarity
to the group (6 places), then to the shorter, then to the lesser by code points. A text
with a mask heads no group that has another. Sources: qna-next 8, qna-suggestions 5.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from flows.errors import UsageError
from flows.suggestions.assign import Assigned, Pairs, assigned, middles
from flows.suggestions.heads import with_heads
from flows.suggestions.leader import first_similar, leaders
from flows.suggestions.texts import key as key_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MEMBERS = {
    "qna_id": pl.Int64,
    "head_key": pl.String,
    "key": pl.String,
    "similarity": pl.Float64,
    "margin": pl.Float64,
    "is_accepted": pl.Boolean,
}
PAIR_AND_KEY = ["qna_id", "key"]
ORDER = ["way", "qna_id", "row"]

Vectors: TypeAlias = "Callable[[list[str]], csr_array]"
Frames: TypeAlias = tuple[
    pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame | None
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What decides about groups; similarities and scores are cosines.

    margin: least margin of a text that the engine assigns; `margin_with_bot` where the
    log holds the bot's answer, whose accuracy is not known. bot_bonus: added to the
    score of the bot's answer. rejected_weight: how much a resemblance to a rejected
    text counts against its pair. own_threshold, given_threshold: least similarity of a
    member to its group's leader, for texts assigned here and by the log. near_copy:
    from which similarity on a text falls with the rejected one.
    """

    margin: float
    margin_with_bot: float
    bot_bonus: float
    rejected_weight: float
    own_threshold: float
    given_threshold: float
    near_copy: float

    def __post_init__(self) -> None:
        for name in Thresholds.__slots__:
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(
                    f"{name} is {getattr(self, name)}; choose a cosine from 0 to 1"
                )


class Space:
    """The texts of the frames as vectors, in the order of their keys."""

    def __init__(
        self, frames: Frames, vectors: Vectors, thresholds: Thresholds
    ) -> None:
        pool, questions, accepted, rejected, closed = frames
        self.thresholds = thresholds
        self.questions = questions.select(
            "qna_id", key=key_of(pl.col("question"))
        ).unique()
        self.accepted = accepted.select(PAIR_AND_KEY).unique()
        self.rejected = rejected.select(PAIR_AND_KEY).unique()
        self.barred = self.rejected
        if closed is not None:
            self.barred = pl.concat([self.barred, closed.select(PAIR_AND_KEY)]).unique()
        self.pool = pool.select(
            *PAIR_AND_KEY,
            "is_masked",
            "bot_qna_id",
            way=_way(),
            count=pl.col("auto_count") + pl.col("user_count"),
        )
        texts = (self.questions, self.accepted, self.rejected, self.pool)
        keys = pl.concat([frame.select("key") for frame in texts]).unique().sort("key")
        self.keys = keys.with_row_index("row")
        self.rows = vectors(keys["key"].to_list())

    def grouped(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The groups, columns of `MEMBERS`; and what is held back: qna_id, key.

        Held back are open texts nearly the same as a rejected one. Both are sorted.
        """
        placed = self._placed()
        copies = self._copies(placed)
        placed = placed.join(copies, on=PAIR_AND_KEY, how="anti")
        ways = placed.filter(pl.col("qna_id").is_not_null()).select("way", "qna_id")
        along = ways.unique().join(self._accepted(), on="qna_id")
        entries = pl.concat([placed, along], how="diagonal").sort(*ORDER)
        led = entries.with_columns(leader=self._leaders(entries))
        members = with_heads(led, self.rows).select(*MEMBERS).sort(*MEMBERS)
        return members, copies.sort(PAIR_AND_KEY)

    def _placed(self) -> pl.DataFrame:
        """Open texts with the pair that the log or the engine gives them."""
        known = pl.concat(
            [
                self.questions.select("key"),
                self.accepted.select("key"),
                self.barred.filter(pl.col("qna_id").is_null()).select("key"),
            ]
        )
        free = self.pool.join(known, on="key", how="anti").join(self.keys, on="key")
        by_log = free.filter(way="given").join(self.barred, on=PAIR_AND_KEY, how="anti")
        own = self._own(free.filter(way="own"))
        placed = [by_log, own.join(by_log, on=PAIR_AND_KEY, how="anti")]
        return pl.concat(
            [*placed, free.filter(way="gap")], how="diagonal"
        ).with_columns(is_accepted=False)

    def _own(self, texts: pl.DataFrame) -> pl.DataFrame:
        """Texts that a pair takes with a sufficient margin."""
        pairs = self.questions.select("qna_id").unique().sort("qna_id")
        pairs = pairs.with_row_index("pair")
        if texts.is_empty() or pairs.is_empty():
            return texts.clear().with_columns(margin=pl.lit(0.0))
        answered = pairs.rename({"qna_id": "bot_qna_id"})
        numbered = texts.join(answered, on="bot_qna_id", how="left").sort("row")
        numbered = numbered.with_row_index("text")
        barred = numbered.select("text", "key").join(self.barred, on="key")
        barred = barred.join(pairs, on="qna_id").sort("text", "pair")
        found = assigned(
            self.rows,
            numbered["row"].to_numpy(),
            self._pairs(pairs),
            bot=numbered["pair"].cast(pl.Int64).fill_null(-1).to_numpy(),
            closed=(barred["text"].to_numpy(), barred["pair"].to_numpy()),
            rejected_weight=self.thresholds.rejected_weight,
            bot_bonus=self.thresholds.bot_bonus,
        )
        return self._sure(numbered, found, pairs)

    def _sure(
        self, numbered: pl.DataFrame, found: Assigned, pairs: pl.DataFrame
    ) -> pl.DataFrame:
        """Texts whose margin suffices, with the pair they were assigned to."""
        least = pl.when(pl.col("pair").is_null()).then(self.thresholds.margin)
        return (
            numbered.with_columns(
                best=pl.Series(found.pair), margin=pl.Series(found.margin)
            )
            .filter(
                pl.col("margin") >= least.otherwise(self.thresholds.margin_with_bot)
            )
            .drop("qna_id", "pair", "text")
            .join(pairs.cast({"pair": pl.Int64}), left_on="best", right_on="pair")
            .drop("best")
        )

    def _pairs(self, pairs: pl.DataFrame) -> Pairs:
        """Middles and rejected texts of the pairs, in their order."""
        own = (
            pl.concat([self.questions, self.accepted]).unique().join(pairs, on="qna_id")
        )
        own = own.join(self.keys, on="key").sort("pair", "row")
        rejected = self.rejected.join(pairs, on="qna_id").join(self.keys, on="key")
        rejected = rejected.sort("pair", "row")
        return Pairs(
            middles(
                self.rows[own["row"].to_numpy()],
                own["pair"].to_numpy(),
                pairs=pairs.height,
            ),
            self.rows[rejected["row"].to_numpy()],
            rejected["pair"].to_numpy(),
        )

    def _accepted(self) -> pl.DataFrame:
        """Accepted texts as entries; one that the pool does not hold counts once."""
        asked = self.pool.group_by("key").agg(pl.col("count").max())
        return (
            self.accepted.join(self.keys, on="key")
            .join(asked, on="key", how="left")
            .with_columns(pl.col("count").fill_null(1), is_accepted=True)
        )

    def _leaders(self, entries: pl.DataFrame) -> pl.Series:
        """For each entry the entry that leads its group, by its place."""
        least = {"own": self.thresholds.own_threshold}
        led = np.arange(entries.height)
        for (how, _), start, end in _runs(entries, "way", "qna_id"):
            threshold = least.get(how, self.thresholds.given_threshold)
            part = entries[start:end]
            led[start:end] = start + leaders(
                self.rows,
                part["row"].to_numpy(),
                part["count"].to_numpy(),
                threshold=threshold,
            )
        return pl.Series(led)

    def _copies(self, placed: pl.DataFrame) -> pl.DataFrame:
        """Placed texts that are nearly a rejected text of their pair."""
        rejected = self.rejected.join(self.keys, on="key")
        near = placed.join(rejected, on="qna_id", how="semi").sort("qna_id", "row")
        held = np.zeros(near.height, dtype=bool)
        for (pair,), start, end in _runs(near, "qna_id"):
            against = rejected.filter(qna_id=pair)["row"].sort().to_numpy()
            first = first_similar(
                self.rows,
                near["row"][start:end].to_numpy(),
                against,
                threshold=self.thresholds.near_copy,
            )
            held[start:end] = first < against.size
        return near.filter(pl.Series(held)).select(PAIR_AND_KEY)


def _way() -> pl.Expr:
    """How a text of the pool gets its pair: `given`, `own` or `gap`."""
    return (
        pl.when(pl.col("qna_id").is_not_null())
        .then(pl.lit("given"))
        .when(pl.col("kind") == "gap")
        .then(pl.lit("gap"))
        .otherwise(pl.lit("own"))
    )


def _runs(frame: pl.DataFrame, *columns: str) -> Iterator[tuple[Any, int, int]]:
    """Equal values in consecutive rows: the values, first row, row after the last."""
    lengths = frame.select(pl.struct(*columns).rle().alias("run")).unnest("run")
    end = 0
    for length, values in lengths.iter_rows():
        start, end = end, end + length
        yield tuple(values.values()), start, end
