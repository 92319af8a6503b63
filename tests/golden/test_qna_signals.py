"""Cases of user questions that the reading of logs answers; each test has its id."""

from __future__ import annotations

import json

import polars as pl
import pytest

from flows.suggestions.broken import SignalsError
from flows.suggestions.signals import signals
from flows.suggestions.texts import key

KEY = bytes(16)
WIFI = {
    "question": "wi-fi",
    "asked_at": "2026-03-01T12:00:00Z",
    "answers": [
        {"questions": ["Wi-Fi Direct Status Indicator"], "score": 74.21, "id": 607},
        {"questions": ["Wi-Fi - Connections"], "score": 74.15, "id": 599},
        {"questions": ["Turn Wi-Fi On or Off"], "score": 69.99, "id": 600},
    ],
}


@pytest.fixture
def heard(tmp_path):
    """Writes queries and feedback as JSON and returns what they say."""

    def read(queries=(), feedback=(), unit=100):
        files = []
        for name, lines in (("queries", queries), ("feedback", feedback)):
            files.append(tmp_path / f"{name}.jsonl")
            files[-1].write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        return signals(files[:1], files[1:], score_unit=unit, user_key=KEY)

    return read


def keys(*texts):
    return pl.DataFrame({"text": texts}).select(key(pl.col("text")))["text"].to_list()


def asked(text, times=1, **other):
    return [{**WIFI, "question": text, "answers": None, **other}] * times


def test_document_003_names_all_three_pairs(heard):
    found = heard([WIFI])
    assert found.frame["qna_id"].to_list() == [599, 600, 607]
    assert set(found.frame["kind"]) == {"auto"}


def test_document_003_batch_of_feedback_records(heard):
    records = [
        {"userId": "1", "userQuestion": "How do I ...", "qnaId": 1},
        {"userId": "2", "userQuestion": "Where is ...", "qnaId": 40},
        {"userId": "3", "userQuestion": "When do I ...", "qnaId": 33},
    ]
    found = heard(feedback=[{"feedbackRecords": records}])
    assert found.frame.sort("text")["qna_id"].to_list() == [1, 33, 40]
    assert set(found.frame["kind"]) == {"user"}
    assert found.frame["user"].n_unique() == 3


def test_q07_scores_that_contradict_the_declared_unit_are_refused(heard):
    with pytest.raises(SignalsError, match=r"column answers is 74\.21") as told:
        heard([WIFI], unit=1)
    assert told.value.exit_code == 2
    assert "declare score_unit = 100" in str(told.value)
    assert heard([WIFI], unit=100).counts.near == 1


def test_q08_a_query_and_both_questions_have_one_key():
    assert keys("hello", "hello ", "Hello!") == ["hello"] * 3
    assert keys("Do you sweat?", "Do you sweat? ") == ["do you sweat"] * 2


def test_q09_a_query_has_the_key_of_the_question_it_repeats(heard):
    found = heard(asked("como cambio mi clave", times=9))
    assert set(found.frame["key"]) == set(keys("¿Cómo cambio mi clave?"))
    assert found.frame.height == 9


def test_q13_emoji_that_leave_no_word_have_keys_of_their_own(heard):
    texts = ["❤"] * 3 + ["😀"] * 3 + ["¿?"] * 3
    found = heard([query for text in texts for query in asked(text)])
    counts = dict(found.frame["key"].value_counts().rows())
    assert counts == {"❤": 3, "😀": 3, "¿?": 3}
    assert set(found.frame["text"]) == set(texts)


def test_q16_arabic_with_and_without_marks_has_one_key(heard):
    plain = "كم عدد الزيارات؟"
    marked = "كَمْ عَدَدُ الزِّيَارَاتِ؟"
    texts = [plain, marked, f"\u200f{plain}", f"{plain}\u200f", marked]
    found = heard([query for text in texts for query in asked(text)])
    assert found.frame["key"].unique().to_list() == ["كم عدد الزيارات"]
    assert sorted(found.frame["text"]) == sorted(texts)


@pytest.mark.parametrize("none", [None, "none", -1])
def test_q24_none_of_the_above_is_a_gap_of_no_pair(heard, none):
    record = {"userQuestion": "can I pay with shells", "qnaId": none}
    found = heard(feedback=[{"feedbackRecords": [record] * 6}])
    assert found.counts.gap == 6
    assert (
        found.frame.select("kind", "qna_id", "key").rows()
        == [("gap", None, "can i pay with shells")] * 6
    )
