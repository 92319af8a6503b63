"""Cases of knowledge bases and suggestions that groups of texts answer."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from flows.suggestions import lexical
from flows.suggestions.texts import key

DATA = Path(__file__).parent / "data" / "questions" / "banking77.parquet"
NONE = pl.DataFrame(schema={"qna_id": pl.Int64, "key": pl.String, "text": pl.String})
QUESTIONS = pl.DataFrame({"qna_id": [1], "question": ["How do I change my PIN?"]})
ON_THREADS = """
import sys
import polars as pl
from flows.suggestions import lexical
folder, out = sys.argv[1:]
frames = [pl.read_parquet(f"{folder}/{n}.parquet") for n in ("pool", "questions")]
none = pl.DataFrame(schema={"qna_id": pl.Int64, "key": pl.String})
lexical.engine().cluster(*frames, none, none).write_ipc(out)
"""


def pooled(texts, **same):
    """Queries as the pool holds them: one row for each key, its first spelling."""
    frame = pl.DataFrame({"text": texts}).with_columns(key=key(pl.col("text")))
    plain = {"qna_id": None, "bot_qna_id": None, "kind": "unassigned"} | same
    return (
        frame.group_by("key", maintain_order=True)
        .agg(pl.col("text").first(), auto_count=pl.len().cast(pl.Int64))
        .with_columns(
            *(pl.lit(value).alias(name) for name, value in plain.items()),
            user_count=pl.lit(0, pl.Int64),
            is_masked=False,
        )
        .cast({"qna_id": pl.Int64, "bot_qna_id": pl.Int64})
    )


def sizes(pool):
    """Queries of each group, by pair and head, largest first."""
    members = lexical.engine().cluster(pool, QUESTIONS, NONE, NONE)
    joined = members.join(pool.drop("qna_id").unique("key"), on="key")
    total = joined.group_by("qna_id", "head_key").agg(pl.col("auto_count").sum())
    return total.sort("auto_count", descending=True).rows()


def test_q13_emoji_that_leave_no_word_stay_apart():
    texts = ["❤"] * 3 + ["😀"] * 3 + ["¿?"] * 3
    made = sizes(pooled(texts, qna_id=1, kind="auto"))
    assert sorted(size for *_, size in made) == [3, 3, 3]
    assert {head for _, head, _ in made} == {"❤", "😀", "¿?"}


def test_q16_arabic_with_and_without_marks_is_one_key_and_one_group_of_five():
    marked = "كَمْ عَدَدُ الزِّيَارَاتِ؟"
    plain = "كم عدد الزيارات؟"
    texts = [plain, marked, f"\u200f{plain}", f"{plain}\u200f", marked]
    pool = pooled(texts, qna_id=1, kind="auto")
    assert pool.height == 1
    assert sizes(pool) == [(1, "كم عدد الزيارات", 5)]


@pytest.fixture(scope="module")
def fifty():
    """50 queries about two pairs, some with a pair of the log, some without any."""
    rows = pl.read_parquet(DATA).filter(
        pl.col("intent").is_in(["card_arrival", "change_pin"])
    )
    first = pl.int_range(pl.len()).over("intent")
    questions = rows.filter(first < 3).select(
        qna_id=pl.when(intent="change_pin").then(1).otherwise(2), question="text"
    )
    asked = rows.filter(first.is_between(3, 27))
    pool = pooled(asked["text"].to_list()).with_columns(
        qna_id=pl.when(pl.int_range(pl.len()) % 5 == 0).then(pl.lit(2)),
        bot_qna_id=pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.lit(1)),
        kind=pl.when(pl.int_range(pl.len()) % 7 == 0)
        .then(pl.lit("gap"))
        .otherwise(pl.lit("unassigned")),
    )
    assert pool.height == 50
    return pool.cast({"qna_id": pl.Int64, "bot_qna_id": pl.Int64}), questions.cast(
        {"qna_id": pl.Int64}
    )


def bits(members):
    return members.write_ipc(None).getvalue()


def test_q21_any_order_of_queries_gives_the_same_bits(fifty):
    pool, questions = fifty
    engine = lexical.engine()
    expected = bits(engine.cluster(pool, questions, NONE, NONE))
    for seed in range(20):
        order = random.Random(seed).sample(range(50), 50)  # noqa: S311 - an order
        turned = questions[::-1] if seed % 2 else questions
        assert bits(engine.cluster(pool[order], turned, NONE, NONE)) == expected


def test_q21_one_thread_and_two_give_the_same_bits(fifty, tmp_path):
    for name, frame in zip(("pool", "questions"), fifty, strict=True):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    made = []
    for threads in ("1", "2"):
        out = tmp_path / f"{threads}.arrow"
        names = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        subprocess.run(
            [sys.executable, "-P", "-c", ON_THREADS, str(tmp_path), str(out)],
            check=True,
            env=os.environ | dict.fromkeys(names, threads),
        )
        made.append(out.read_bytes())
    assert made[0] == made[1]


def test_q23_the_fifth_similar_query_makes_the_group_large_enough():
    texts = ["change my pin", "how to change pin", "change pin", "pin change how"]
    assert sizes(pooled(texts)) == [(1, "change pin", 4)]
    fifth = [*texts, "change pin"]
    assert sizes(pooled(fifth)) == [(1, "change pin", 5)]


def test_q24_none_of_the_above_is_a_gap_of_six_and_no_pair_gets_it():
    pool = pooled(["how do i change my pin at sea"] * 6, kind="gap")
    assert sizes(pool) == [(None, "how do i change my pin at sea", 6)]
