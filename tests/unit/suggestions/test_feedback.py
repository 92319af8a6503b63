"""Feedback records in every form that clients send, and what is refused."""

from __future__ import annotations

import datetime as dt
import json

import polars as pl
import pytest

from flows.suggestions.broken import SignalsError
from flows.suggestions.signals import signals

KEY = bytes(16)
NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


@pytest.fixture
def read(tmp_path):
    """Writes one file (text, JSON value, or frame) and reads it as feedback."""

    def write_and_read(*contents, known=None, ending="json"):
        files = []
        for number, content in enumerate(contents):
            file = tmp_path / f"feedback-{number}.{ending}"
            if isinstance(content, pl.DataFrame):
                file = file.with_suffix(".parquet")
                content.write_parquet(file)
            else:
                text = content if isinstance(content, str) else json.dumps(content)
                file.write_text(text, encoding="utf-8")
            files.append(file)
        return signals([], files, score_unit=None, user_key=KEY, known_pairs=known)

    return write_and_read


def said(found):
    return sorted(found.frame.select("text", "kind", "qna_id").rows())


def body(*records, name="feedbackRecords"):
    return {name: [{"userQuestion": text, "qnaId": pair} for text, pair in records]}


def test_a_body_holds_a_batch_of_records(read):
    found = read(body(("How do I ...", 1), ("Where is ...", 40), ("When do I ...", 33)))
    assert said(found) == [
        ("How do I ...", "user", 1),
        ("When do I ...", "user", 33),
        ("Where is ...", "user", 40),
    ]
    assert (found.counts.records, found.counts.explicit) == (3, 3)


@pytest.mark.parametrize(
    "content",
    [
        {"feedbackRecords": [{"userId": "1", "userQuestion": "help", "qnaId": 1}]},
        {"feedbackRecords": [{"userId": "1", "userQuestion": "help", "qnaID": 1}]},
        {"FeedbackRecords": [{"UserId": "1", "UserQuestion": "help", "QnaId": 1}]},
        {"records": [{"userId": "1", "userQuestion": "help", "qnaId": 1}]},
        [{"feedbackRecords": [{"userId": 1, "userQuestion": "help", "qnaId": "1"}]}],
        {"user_id": "1", "user_question": "help", "qna_id": 1.0},
        {"userId": "1", "question": "help", "qnaId": 1},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_names_are_taken_in_every_spelling(read, content, indent):
    found = read(json.dumps(content, indent=indent))
    assert said(found) == [("help", "user", 1)]
    assert found.frame["user"].null_count() == 0
    expected = read({"feedbackRecords": [{"userId": "1", "userQuestion": "help"}]})
    assert found.frame["user"][0] == expected.frame["user"][0]


def test_a_file_may_hold_one_body_a_line(read):
    lines = [json.dumps(body(("a", 1))), "", json.dumps(body(("b", 2), ("c", 3)))]
    for end in ("\n", "\r\n"):
        found = read(end.join(lines) + end, ending="jsonl")
        assert said(found) == [("a", "user", 1), ("b", "user", 2), ("c", "user", 3)]


def test_a_mark_of_byte_order_is_no_part_of_a_body(read):
    assert said(read("\ufeff" + json.dumps(body(("a", 1))))) == [("a", "user", 1)]


@pytest.mark.parametrize("pair", ["none", "None of the above", "", "null", 0, -1, "-2"])
def test_no_pair_is_a_gap(read, pair):
    assert said(read(body(("a", pair)))) == [("a", "gap", None)]


def test_a_record_without_a_pair_is_a_gap(read):
    found = read(body(("a", None)), {"feedbackRecords": [{"userQuestion": "b"}]})
    assert said(found) == [("a", "gap", None), ("b", "gap", None)]
    assert found.counts.gap == 2


def test_a_pair_that_really_has_the_number_0_is_chosen_by_it(read):
    assert said(read(body(("a", 0), ("b", -1)), known={0, 1})) == [
        ("a", "user", 0),
        ("b", "gap", None),
    ]


def test_a_pair_that_there_is_not_is_left_out_and_counted(read):
    found = read(body(("a", 1), ("b", 2)), known={1})
    assert said(found) == [("a", "user", 1)]
    assert (found.counts.explicit, found.counts.unknown_pairs) == (2, 1)


@pytest.mark.parametrize("pair_type", [pl.Int32, pl.Float64, pl.String, pl.UInt64])
def test_parquet_holds_the_same(read, pair_type):
    frame = pl.DataFrame(
        {
            "question": ["a", "b"],
            "qna_id": pl.Series([1, None]).cast(pair_type),
            "asked_at": [NOON, None],
            "user_id": [7, None],
        },
        schema_overrides={"asked_at": pl.Datetime("ns", "Europe/Madrid")},
    )
    found = read(frame)
    assert said(found) == [("a", "user", 1), ("b", "gap", None)]
    assert found.frame.sort("text")["asked_at"].to_list() == [NOON, None]
    assert found.frame.sort("text")["user"].is_null().to_list() == [False, True]


def test_pandas_writes_a_missing_id_as_nan(read):
    frame = pl.DataFrame({"question": ["a", "b"], "qna_id": [1.0, float("nan")]})
    assert said(read(frame)) == [("a", "user", 1), ("b", "gap", None)]


def test_one_event_id_counts_once_over_files(read):
    record = {"userQuestion": "a", "qnaId": 1, "eventId": "e1"}
    bodies = [{"feedbackRecords": [record]}, {"feedbackRecords": [record, record]}]
    found = read(*bodies)
    assert said(found) == [("a", "user", 1)]
    assert found.counts.repeated == 2


def test_without_ids_a_copy_of_a_file_counts_once(read):
    twice = body(("a", 1), ("a", 1))
    found = read(twice, twice)
    # Two records of one file are two events, the copy holds the same two.
    assert said(found) == [("a", "user", 1), ("a", "user", 1)]
    assert found.counts.repeated == 2
    again = read(twice)
    assert again.frame.equals(found.frame)


def test_all_refused_records_are_told_with_file_and_position(read):
    with pytest.raises(SignalsError) as told:
        read(
            body(("a", 1), ("b", "seven"), ("c", 1.5)),
            {"feedbackRecords": [{"qnaId": 1}, 5, {"userQuestion": 3, "qnaId": 1}]},
            '{"feedbackRecords": [',
            {"feedbackRecords": {"userQuestion": "a"}},
            {"feedback": []},
            {"feedbackRecords": [{"userQuestion": "a", "qna": 1}]},
            {"userQuestion": "a", "UserQuestion": "b"},
            '{"feedbackRecords": []}\n{"feedbackRecords": [',
            '{\n"feedbackRecords": [\n{"userQuestion": "a" "qnaId": 1}]}',
        )
    message = str(told.value)
    assert told.value.exit_code == 2
    for place in (
        "feedback-0.json, row 2: qnaId seven",
        "feedback-0.json, row 3: qnaId 1.5",
        "feedback-1.json, row 1: null",
        "feedback-1.json, row 2: 5 in place of an object",
        "feedback-1.json, row 3: userQuestion 3",
        "feedback-2.json: is not JSON: Expecting value: line 1 column 22",
        "feedback-8.json: is not JSON: Expecting ',' delimiter: line 3 column 22",
        "and 4 more",
    ):
        assert place in message, message
    (rule, _) = told.value.broken
    assert rule.rows["value"].to_list()[4:] == [
        'feedbackRecords are {"userQuestion":"a"}',
        'no feedbackRecords: {"feedback": []}',
        "no qnaId, but qna",
        "body 1: names that stand twice: userQuestion, UserQuestion",
        "body 2: no JSON",
    ]


def test_a_time_without_a_zone_is_refused(read):
    naive = {"userQuestion": "a", "qnaId": 1, "askedAt": "2026-03-01T12:00:00"}
    with pytest.raises(SignalsError, match="askedAt 2026-03-01T12:00:00"):
        read({"feedbackRecords": [naive]})
    frame = pl.DataFrame(
        {"question": ["a"], "qna_id": [1], "asked_at": [NOON.replace(tzinfo=None)]}
    )
    with pytest.raises(SignalsError, match=r"'asked_at' is Datetime.*with their zone"):
        read(frame)


def test_an_event_with_two_contents_is_refused(read):
    records = [{"userQuestion": "a", "qnaId": pair, "eventId": "e1"} for pair in (1, 2)]
    with pytest.raises(SignalsError) as told:
        read({"feedbackRecords": records})
    assert "event_says_one_thing (2 rows)" in str(told.value)


def test_files_that_cannot_be_read_are_all_told(tmp_path):
    (tmp_path / "a.csv").write_text("x")
    (tmp_path / "b.parquet").write_text("x")
    (tmp_path / "c.json").write_bytes(b'{"userQuestion": "\xe9"}')
    files = [tmp_path / name for name in ("a.csv", "b.parquet", "c.json", "d.json")]
    with pytest.raises(SignalsError) as told:
        signals([], files, score_unit=None, user_key=KEY)
    assert all(str(file) in str(told.value) for file in files)
