"""How alike the texts of a group are when the log names the pairs.

Labelled questions are asked as often as Zipf's law says (exponent 1). Each is near two
pairs: the most similar wrong one and, for 80 %, the right one, else the second wrong
one. Nothing says which of the two is right, so about half of what is shown is; what the
threshold decides is whether one look at a group's head judges the whole group.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import suggestions_nights as nights

from flows.suggestions import lexical
from flows.suggestions.assign import middles
from flows.suggestions.texts import key
from flows.suggestions.vectors import lexical_vectors

THRESHOLDS = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5)
LOGS = (("BANKING77", 5_000), ("CLINC150", 20_000))
RIGHT = 0.8
HEAD = (
    "| set | queries | threshold | groups of five | texts of each | "
    "texts that the verdict on the head fits | recall |"
)
NONE = pl.DataFrame(schema={"qna_id": pl.Int64, "key": pl.String})


def near_pairs(name: str, queries: int, half: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pool, with the label of each text, and questions; labels of a half."""
    rng = np.random.default_rng(1)
    case = nights.case(name, half=half, each=None)
    asked = case.asked.drop_nulls("label")
    weights = 1 / rng.permutation(np.arange(1, asked.height + 1))
    drawn = rng.choice(asked.height, queries, p=weights / weights.sum())
    count = pl.Series(np.bincount(drawn, minlength=asked.height))
    asked = asked.with_columns(auto_count=count).filter(pl.col("auto_count") > 0)
    known = case.questions.select("qna_id", key=key(pl.col("question")))
    keys = sorted({*asked["key"], *known["key"]})
    place = {text: row for row, text in enumerate(keys)}
    rows = lexical_vectors(keys)
    of = known["qna_id"].to_numpy() - 1
    middle = middles(rows[[place[k] for k in known["key"]]], of, pairs=case.pairs)
    scores = (rows[[place[k] for k in asked["key"]]] @ middle.T).toarray()
    label = asked["label"].to_numpy()
    scores[np.arange(label.size), label - 1] = -1
    wrong = np.argsort(-scores, axis=1, kind="stable")[:, :2] + 1
    second = np.where(rng.random(label.size) < RIGHT, label, wrong[:, 1])
    parts = [
        asked.with_columns(qna_id=pl.Series(pair), kind=pl.lit("auto"))
        for pair in (wrong[:, 0], second)
    ]
    return pl.concat(parts), case.questions


def given_table(half: int) -> list[str]:
    """One row for each log and threshold."""
    lines = [HEAD, "|---" * 7 + "|"]
    right = pl.col("label") == pl.col("qna_id")
    for name, queries in LOGS:
        pool, questions = near_pairs(name, queries, half)
        for threshold in THRESHOLDS:
            settings = replace(lexical.DEFAULTS, given_threshold=threshold)
            made = lexical.engine(settings).cluster(pool, questions, NONE, NONE)
            shown = (
                made.join(pool, on=["qna_id", "key"])
                .group_by("qna_id", "head_key")
                .agg(
                    size=pl.col("auto_count").sum(),
                    texts=pl.len(),
                    right=right.sum(),
                    head=right.filter(pl.col("key") == pl.col("head_key")).first(),
                )
                .filter(pl.col("size") >= nights.SMALLEST)
            )
            fits = (
                pl.when("head")
                .then("right")
                .otherwise(pl.col("texts") - pl.col("right"))
            )
            cells = [
                name,
                f"{queries:,}",
                f"{threshold:.2f}",
                f"{shown.height:,}",
                f"{shown['texts'].mean():.1f}",
                f"{shown.select(fits).sum().item() / shown['texts'].sum():.2f}",
                f"{shown['right'].sum() / pool.select(right.sum()).item():.2f}",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return lines
