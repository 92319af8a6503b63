"""What a log of questions says, whatever its form and order; each row once."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.errors import UsageError
from flows.suggestions import events
from flows.suggestions.schema import SIGNALS
from flows.suggestions.signals import signals

KEY = bytes(16)
NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
SCHEMA = {
    "question": pl.String,
    "asked_at": pl.Datetime("us", "UTC"),
    "answers": pl.List(pl.Struct({"qna_id": pl.Int64, "score": pl.Float64})),
    "event_id": pl.String,
    "user_id": pl.String,
    "is_test": pl.Boolean,
}
NEAR = [(607, 74.21), (599, 74.15), (600, 69.99)]


def row(question, scores=NEAR, **other):
    answers = None if scores is None else [{"qna_id": q, "score": s} for q, s in scores]
    plain = {"event_id": None, "user_id": None, "is_test": False}
    return {"question": question, "asked_at": NOON, "answers": answers} | plain | other


def log_of(rows):
    return pl.DataFrame(rows, schema=SCHEMA)


@pytest.fixture
def read(tmp_path):
    """Writes frames, one a file, and reads them as logs of questions."""

    def write_and_read(*frames, unit=100, known=None, feedback=()):
        files = []
        for number, frame in enumerate(frames):
            file = tmp_path / f"queries-{number}.parquet"
            (frame if isinstance(frame, pl.DataFrame) else log_of(frame)).write_parquet(
                file
            )
            files.append(file)
        return signals(
            files, feedback, score_unit=unit, user_key=KEY, known_pairs=known
        )

    return write_and_read


def said(found):
    columns = ("text", "kind", "qna_id", "bot_qna_id")
    return found.frame.select(columns).sort(columns, nulls_last=True).rows()


def account_for_every_row(counts):
    left_out = counts.tests + counts.empty + counts.too_long + counts.repeated
    made = counts.near + counts.unassigned + counts.gap + counts.explicit
    return counts.queries + counts.records == left_out + counts.clear + made


def test_a_near_group_is_one_signal_for_each_pair(read):
    found = read([row("wi-fi")])
    assert said(found) == [("wi-fi", "auto", q, None) for q in (599, 600, 607)]
    assert found.frame.schema == SIGNALS
    assert found.frame["event"].n_unique() == 1
    assert found.counts.near == 1


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([(7, 96.0), (8, 95.9)], []),
        ([(7, 60.0), (8, 30.0)], []),
        ([(7, 60.0)], []),
        ([(7, 20.0), (8, 19.9)], [("q", "gap", None, None)]),
        ([(7, 3.0)], [("q", "gap", None, None)]),
        ([(-1, 0.0)], [("q", "gap", None, None)]),
        ([], [("q", "gap", None, None)]),
        ([(7, None), (8, None)], [("q", "unassigned", None, 7)]),
        (None, [("q", "unassigned", None, None)]),
    ],
)
def test_other_answers_are_clear_a_gap_or_left_to_be_assigned(read, scores, expected):
    found = read([row("q", scores), row("wi-fi")])
    assert [signal for signal in said(found) if signal[0] == "q"] == expected
    assert account_for_every_row(found.counts)
    assert found.counts.clear == (not expected)


def test_scores_may_run_from_0_to_1(read):
    found = read([row("wi-fi", [(q, s / 100) for q, s in NEAR])], unit=1)
    assert found.counts.near == 1


def test_without_answers_every_query_is_left_to_be_assigned(read):
    found = read(log_of([row("a"), row("b")]).drop("answers"), unit=None)
    assert {kind for _, kind, *_ in said(found)} == {"unassigned"}
    assert found.counts.unassigned == 2


def test_tests_empty_and_long_texts_are_left_out_and_counted(read):
    found = read(
        [
            row("test", is_test=True),
            row(" \u200f\n"),
            row(""),
            row("x" * 1_000),
            row("y" * 1_001),
            row("é" * 1_000, is_test=None),
        ]
    )
    counts = found.counts
    assert (counts.tests, counts.empty, counts.too_long, counts.near) == (1, 2, 1, 2)
    assert account_for_every_row(counts)


def test_texts_are_masked_and_on_one_line(read):
    found = read([row(" My mail\nis\tana@example.com ", user_id="ana@example.com")])
    first = found.frame.row(0, named=True)
    assert first["text"] == "My mail is <email>"
    assert (first["key"], first["is_masked"]) == ("my mail is <email>", True)
    shown = found.frame.cast(pl.String).to_dict(as_series=False)
    assert "ana@" not in json.dumps(shown)


def test_an_event_counts_once_over_files_and_blocks(read, monkeypatch):
    monkeypatch.setattr(events, "BLOCK", 2)
    asked = [row(f"q{n}", event_id=f"e{n}") for n in range(5)]
    found = read(asked, [asked[3], *asked[:1], row("q6", event_id="e6")])
    assert found.frame["text"].n_unique() == 6
    assert (found.counts.near, found.counts.repeated) == (6, 2)
    assert account_for_every_row(found.counts)


def test_without_ids_a_row_is_its_place_in_its_file(read):
    twice = read([row("a"), row("a")])
    assert (twice.counts.near, twice.counts.repeated) == (2, 0)
    copied = read([row("a"), row("a")], [row("a"), row("a")])
    assert (copied.counts.near, copied.counts.repeated) == (2, 2)
    assert copied.frame.equals(twice.frame)


def test_a_query_and_a_record_may_share_an_id(read, tmp_path):
    file = tmp_path / "feedback.jsonl"
    file.write_text('{"userQuestion": "a", "qnaId": 607, "eventId": "e1"}')
    found = read([row("a", event_id="e1")], feedback=[file])
    assert (found.counts.near, found.counts.explicit) == (1, 1)
    assert found.frame["event"].n_unique() == 2


def test_pairs_that_there_are_not_are_left_out(read):
    found = read(
        [row("a"), row("b", [(599, None)]), row("c", [(8, None)])], known={600, 599}
    )
    assert said(found) == [
        ("a", "auto", 599, None),
        ("a", "auto", 600, None),
        ("b", "unassigned", None, 599),
        ("c", "unassigned", None, None),
    ]
    assert (found.counts.near, found.counts.unknown_pairs) == (1, 1)


FIELDS = [
    {"id": 607, "score": 74.21, "answer": "...", "metadata": []},
    {"qnaId": 599, "confidenceScore": 74.15},
    {"QnaID": "600", "Score": "69.99", "questions": ["Turn Wi-Fi On"]},
]


def test_json_lines_say_the_same_as_parquet(tmp_path, read):
    file = tmp_path / "log.jsonl"
    line = {
        "question": "wi-fi",
        "askedAt": "2026-03-01T13:00:00+01:00",
        "answers": FIELDS,
        "eventId": "e1",
        "userId": 7,
        "isTest": False,
    }
    file.write_text(f"{json.dumps(line)}\n\n{json.dumps({**line, 'isTest': True})}\n")
    with pytest.raises(Exception, match="event_says_one_thing"):
        signals([file], [], score_unit=100, user_key=KEY)
    file.write_text(json.dumps(line))
    found = signals([file], [], score_unit=100, user_key=KEY)
    assert found.frame.equals(read([row("wi-fi", event_id="e1", user_id="7")]).frame)


def test_every_file_is_read_by_its_own_types(read):
    typed = log_of([row("a"), row("b", is_test=True)])
    pairs = pl.element().struct.field("qna_id")
    scores = pl.element().struct.field("score")
    other = log_of([row("c")]).select(
        pl.col("question").cast(pl.Categorical),
        pl.col("asked_at")
        .dt.convert_time_zone("Europe/Lisbon")
        .dt.cast_time_unit("ns"),
        answers=pl.col("answers").list.eval(
            pl.struct(confidenceScore=scores.cast(pl.Float32), Id=pairs.cast(pl.UInt16))
        ),
        eventId=pl.lit(9),
    )
    bare = log_of([row("d")]).select(
        "question", "asked_at", pl.lit([], pl.List(pl.Null)).alias("answers")
    )
    found = read(typed, other, bare)
    assert said(found)[3:] == [
        *(("c", "auto", q, None) for q in (599, 600, 607)),
        ("d", "gap", None, None),
    ]


ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from(["Wi-Fi?", "wi fi", "¿?", "❤", "my dni 12345678Z", "", "é"]),
        st.none()
        | st.lists(
            st.tuples(
                st.integers(-1, 4), st.floats(1.5, 100).map(lambda s: round(s, 1))
            ),
            max_size=4,
        ),
        user_id=st.sampled_from([None, "a", "b"]),
        is_test=st.sampled_from([None, False, False, True]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=25)
@given(ROWS, st.randoms(use_true_random=False), st.sampled_from([1, 3, 100]))
def test_the_order_of_rows_and_files_does_not_matter(
    tmp_path_factory, rows, random, block
):
    folder = tmp_path_factory.mktemp("logs")
    for number, asked in enumerate(rows):
        asked["event_id"] = f"e{number}"
    mixed = [*rows, *random.sample(rows, len(rows) // 2)]
    random.shuffle(mixed)
    parts = {"one": [rows], "two": [mixed[::2], mixed[1::2]]}
    found = []
    for name, logs in parts.items():
        files = [folder / f"{name}-{n}.parquet" for n in range(len(logs))]
        for file, log in zip(files, logs, strict=True):
            log_of(log).write_parquet(file)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(events, "BLOCK", block)
            read = signals(files, [], score_unit=100, user_key=KEY, known_pairs={1, 2})
        assert account_for_every_row(read.counts)
        found.append(read)
    assert found[0].frame.equals(found[1].frame)
    one, two = (dataclasses.asdict(read.counts) for read in found)
    same = ("clear", "near", "unassigned", "gap", "unknown_pairs")
    assert [one[name] for name in same] == [two[name] for name in same]


def test_a_unit_that_there_is_not_is_refused(read):
    with pytest.raises(UsageError, match="score_unit = 10 is neither 1 nor 100"):
        read([row("a")], unit=10)
