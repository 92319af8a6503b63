"""The engine `embed` with a real embedding: latent semantic analysis, fitted here."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from flows.errors import UsageError
from flows.suggestions import embed
from flows.suggestions.clusters import MEMBERS

MODULE = """
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

TEXTS = {texts!r}
calls = []
model = make_pipeline(
    TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)),
    TruncatedSVD(6, random_state=0),
).fit(TEXTS)


def embed(texts):
    calls.append(texts)
    return model.transform(texts)


def one_number(texts):
    return np.ones(len(texts))


def not_finite(texts):
    return np.full((len(texts), 6), np.nan)


def too_few(texts):
    return np.ones((len(texts) - 1, 6))


def short(texts):
    return np.ones((len(texts), 3))
"""
QUESTIONS = [(1, "How do I change my PIN?"), (2, "Where is my card?")]
ASKED = ["change the pin", "i want to change my pin", "where is the card", "card where"]
TEXTS = ["how do i change my pin", "where is my card", *ASKED, "a last one", "weather"]


@pytest.fixture
def settings(tmp_path):
    name = f"lsa_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MODULE.format(texts=TEXTS))
    yield embed.Settings(
        function=f"{name}:embed",
        base=tmp_path,
        vectors=tmp_path / "vectors.parquet",
        margin=0.2,
        margin_with_bot=0.2,
        bot_bonus=0.2,
        rejected_weight=0.4,
        own_threshold=0.3,
        given_threshold=0.6,
        near_copy=0.95,
    )
    sys.modules.pop(name, None)


def calls(settings):
    return sys.modules[settings.function.partition(":")[0]].calls


def frames(texts):
    pool = pl.DataFrame({"key": texts}, schema={"key": pl.String}).with_columns(
        qna_id=pl.lit(None, pl.Int64),
        bot_qna_id=pl.lit(None, pl.Int64),
        kind=pl.lit("unassigned"),
        is_masked=False,
        auto_count=1,
        user_count=0,
    )
    questions = pl.DataFrame(
        QUESTIONS, schema={"qna_id": pl.Int64, "question": pl.String}, orient="row"
    )
    none = pl.DataFrame(schema={"qna_id": pl.Int64, "key": pl.String})
    return pool, questions, none, none


def test_texts_go_to_the_pair_that_the_model_finds_nearest(settings):
    made = embed.engine(settings).cluster(*frames(ASKED))
    assert made.schema == MEMBERS
    found = dict(made.select("key", "qna_id").iter_rows())
    assert found == dict(zip(ASKED, [1, 1, 2, 2], strict=True))
    assert made["margin"].min() >= 0.2


def test_the_model_is_asked_once_for_each_key(settings):
    engine = embed.engine(settings)
    first = engine.cluster(*frames(ASKED))
    assert len(calls(settings)) == 1
    assert engine.cluster(*frames(ASKED)).equals(first)
    assert len(calls(settings)) == 1
    engine.cluster(*frames([*ASKED, "weather"]))
    assert calls(settings)[1:] == [["weather"]]
    kept = pl.read_parquet(settings.vectors)
    assert kept["key"].to_list() == sorted(kept["key"])
    assert kept["vector"].dtype == pl.Array(pl.Float32, 6)


def test_rows_follow_the_keys_and_have_length_one(settings):
    keys = ["weather", "change the pin"]
    rows = embed.embedded(keys, settings).toarray()
    turned = embed.embedded(keys[::-1], settings).toarray()
    assert np.array_equal(rows, turned[::-1])
    assert (rows**2).sum(axis=1) == pytest.approx(1, abs=1e-6)


def test_without_texts_the_model_is_not_imported(settings):
    empty = [frame.clear() for frame in frames([])]
    assert embed.engine(settings).cluster(*empty).is_empty()
    assert settings.function.partition(":")[0] not in sys.modules
    assert not settings.vectors.exists()


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("one_number", r"array of shape \(2,\)"),
        ("not_finite", "finite numbers"),
        ("too_few", "given 2 texts"),
        ("absent", "has no attribute"),
    ],
)
def test_a_function_that_gives_no_vectors_is_refused(function, said, settings):
    module = settings.function.partition(":")[0]
    broken = replace(settings, function=f"{module}:{function}")
    with pytest.raises(UsageError, match=said) as caught:
        embed.embedded(["weather", "a last one"], broken)
    assert function in str(caught.value)
    assert not settings.vectors.exists()


def test_an_absent_module_is_refused(settings):
    with pytest.raises(UsageError, match="No module named 'no_such_module'"):
        embed.embedded(["x"], replace(settings, function="no_such_module:embed"))


def test_vectors_of_another_length_are_refused_and_the_file_stays(settings):
    embed.embedded(["weather"], settings)
    before = settings.vectors.read_bytes()
    module = settings.function.partition(":")[0]
    other = replace(settings, function=f"{module}:short")
    with pytest.raises(UsageError, match="Delete that file"):
        embed.embedded(["weather", "a last one"], other)
    assert settings.vectors.read_bytes() == before
