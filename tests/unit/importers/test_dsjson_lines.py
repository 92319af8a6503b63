"""Which lines are decisions: kinds, marks, repeats, files that are hard to read."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

from flows.errors import LogError, UsageError
from flows.importers import DSJSON_ENDINGS, dsjson, find

DATA = Path(__file__).parents[2] / "golden" / "data" / "dsjson"
LINES = [
    line + b"\n"
    for file in sorted(DATA.glob("*.dsjson"))
    for line in file.read_bytes().splitlines()
]


def slots(event="e1", **changed):
    """A decision of two slots out of three actions."""
    return {
        "Timestamp": "2021-07-19T10:48:09.7800000Z",
        "EventId": event,
        "c": {"_multi": [{"_tag": tag} for tag in "xyz"], "_slots": [{}, {}]},
        "_outcomes": [
            {"_label_cost": -1.0, "_id": "s0", "_a": [1, 0, 2], "_p": [0.5, 0.3, 0.2]}
            | {"_o": [{"v": 1.0}]},
            {"_label_cost": 0.0, "_id": "s1", "_a": [2, 0], "_p": [0.6, 0.4], "_o": []},
        ],
        "_ba": [0, 1],
    } | changed


def test_each_slot_is_a_decision_among_what_was_left(import_lines):
    _, log, _ = import_lines(slots())
    first, second = log.rows(named=True)
    assert (first["slot"], first["action"], first["reward"]) == (0, "y", 1.0)
    assert first["actions"] == ["x", "y", "z"]
    assert first["logging_probabilities"] == [0.3, 0.5, 0.2]
    assert first["baseline"] == [1.0, 0.0, 0.0]
    assert first["random"] == [1 / 3] * 3
    # y, the baseline of the second slot, was taken by the first.
    assert (second["slot"], second["action"], second["reward"]) == (1, "z", None)
    assert second["actions"] == ["x", "y", "z"]
    assert second["logging_probabilities"] == [0.4, 0.0, 0.6]
    assert second["baseline"] == [0.0, 1.0, 0.0]
    assert second["random"] == [0.5, 0.0, 0.5]


def test_apprentice_slots_show_their_baseline(import_lines):
    line = slots()
    line["_outcomes"][0] |= {"_label_cost": 0.0, "_original_label_cost": -0.5}
    _, log, _ = import_lines(line, learning_mode="apprentice")
    assert log["action"].to_list() == ["x", "y"]
    assert log["reward"].to_list() == [0.5, None]
    found, _, _ = import_lines(slots(_ba=None), slots("e2"), learning_mode="apprentice")
    assert found.count("no baseline action (_ba)") == 1


def test_one_bad_slot_sets_the_whole_event_aside(import_lines):
    line = slots()
    line["_outcomes"][1]["_p"] = [0.6, 0.3]
    found, log, rejects = import_lines(line, slots("e2"))
    assert (found.kept, found.rejected) == (1, 1)
    assert set(log["decision_id"]) == {"e2"}
    assert rejects["value"].to_list() == ["sum 0.8999999999999999"]


def test_slots_without_an_event_id_are_named_by_their_own(import_lines):
    _, log, _ = import_lines(slots(EventId=None))
    assert log["decision_id"].to_list() == ["s0", "s1"]


def test_a_decision_without_any_id_is_named_by_file_and_line(import_lines, single):
    _, log, _ = import_lines("", single(EventId=None))
    assert log["decision_id"][0].endswith("log.json:2")


@pytest.mark.parametrize(
    ("line", "reason", "outcome"),
    [
        ("", "blank line", "skipped"),
        ("  \t", "blank line", "skipped"),
        ("[checkpoint]", "marker", "skipped"),
        ('{"RewardValue": 1.0, "EventId": "x"}', "dangling observation", "skipped"),
        ('{"EnqueuedTimeUtc": "2021-02-04"}', "dangling observation", "skipped"),
        ('{"_label_ca": {"action": 1.5, "pdf_value": 2}}', "unsupported", "rejected"),
        ('{"_label_cost": -1, "_outcomes": [{"_a": [0]}]}', "unsupported", "rejected"),
        ('{"_outcomes": []}', "no slot", "rejected"),
        ('{"hello": 1}', "no decision", "rejected"),
        ("{", "malformed", "rejected"),
        ('{"a": 1}{"a": 2}', "malformed", "rejected"),
    ],
)
def test_lines_that_are_no_decision_have_a_reason(
    import_lines, single, line, reason, outcome
):
    found, _, rejects = import_lines(single(), line)
    assert found.kept == 1
    (row,) = rejects.rows(named=True)
    assert row["reason"].startswith(reason)
    assert (row["outcome"], row["line"]) == (outcome, 2)


@pytest.mark.parametrize(
    "mark", [{"_skipLearn": True}, {"_deferred": True}, {"DeferredAction": True}]
)
def test_what_was_never_activated_was_never_shown(import_lines, single, mark):
    found, log, _ = import_lines(single(**mark), single("e2"))
    assert found.count("never activated") == 1
    assert log["decision_id"].to_list() == ["e2"]


@pytest.mark.parametrize(
    "observation", [{"ActionTaken": True}, {"DeferredAction": False}]
)
def test_an_activation_undoes_the_older_marks(import_lines, single, observation):
    _, log, _ = import_lines(single(_deferred=True, o=[{"v": 1.0}, observation]))
    assert log.height == 1


def test_an_activation_alone_is_no_reward(import_lines, single):
    _, log, _ = import_lines(single(reward=0.0, o=[{"ActionTaken": True}]))
    assert log.select("reward", "reward_status").rows() == [(None, "default")]


def test_a_file_that_counts_from_zero_is_read_so(import_lines, single):
    zero = {"a": [0, 1], "_label_Action": 2, "_labelIndex": 1}
    _, log, _ = import_lines(single(**zero))
    (row,) = log.rows(named=True)
    # Such files do not put the chosen action first.
    assert (row["action"], row["logging_probabilities"]) == ("blue", [0.8, 0.2])
    with pytest.raises(LogError, match=r"1 from 0, 1 from 1"):
        import_lines(single(**zero), single("e2"))


def test_names_after_label_count_in_any_case(import_lines, single):
    line = json.dumps(single()).replace('"_label_cost"', '"_label_Cost"')
    _, log, _ = import_lines(line)
    assert log["reward"].to_list() == [1.0]


def test_repeated_tags_are_labels_and_positions_are_names(import_lines, single):
    multi = {"_multi": [{"_tag": "red"}, {"_tag": "red"}]}
    _, log, _ = import_lines(single(c=multi), single("e2", c={"_multi": [{}, {}]}))
    assert log["action"].to_list() == ["1", "1"]
    assert log["actions"].to_list() == [["0", "1"]] * 2
    assert log["action_labels"].to_list() == [["red", "red"], [None, None]]


def test_equal_lines_count_once_and_differing_ones_not_at_all(import_lines, single):
    found, log, rejects = import_lines(
        single("same"), single("same"), single("other"), single("other", reward=0.5)
    )
    assert log["decision_id"].to_list() == ["same"]
    assert found.count("the id stands on lines that differ") == 2
    assert rejects.select("line", "outcome").rows() == [
        (2, "skipped"),
        (3, "rejected"),
        (4, "rejected"),
    ]


def test_the_newest_configuration_folder_wins(tmp_path, single):
    files = []
    for configured, reward in (("20210101000000", 0.0), ("20210203000000", 1.0)):
        file = tmp_path / configured / "data/2021/02/04_0000000000.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(single(reward=reward)) + "\n")
        files.append(file)
    skipped = tmp_path / "20210203000000/skipped-data/x.json"
    skipped.parent.mkdir(parents=True)
    skipped.write_text("{}\n")
    assert find([str(tmp_path)], endings=DSJSON_ENDINGS) == tuple(files)
    found = dsjson(files, tmp_path / "out")
    assert found.count("replayed in a newer configuration folder") == 1
    log = pl.read_parquet(tmp_path / "out/decisions/*/*.parquet")
    assert log["reward"].to_list() == [1.0]


@pytest.mark.parametrize(
    "break_",
    [b"\r\n", b"\n\r\n", b"\n\xff\xfe\n", b"\n{\x01}\n", b"\n\x00\n", b"\n\n\n"],
)
def test_odd_bytes_cost_no_line(import_lines, single, break_):
    lines = [json.dumps(single(event)).encode() for event in ("e1", "e2", "e3")]
    text = break_.join(lines)
    found, log, rejects = import_lines(text)
    assert log["decision_id"].to_list() == ["e1", "e2", "e3"]
    assert found.lines == text.count(b"\n") + 1
    numbers = [text[: text.index(line)].count(b"\n") + 1 for line in lines]
    assert log["source_line"].to_list() == numbers
    assert rejects.height == found.lines - 3
    assert found.count("malformed") == (2 if b"\xff" in break_ or b"{" in break_ else 0)


def test_a_line_with_two_faults_is_rejected_once(import_lines, single):
    found, _, rejects = import_lines(single(pdrop=1, p=[0.5, 0.3]), single("e2"))
    assert (found.kept, found.rejected, rejects.height) == (1, 1, 1)
    assert found.count("pdrop lies outside [0, 1)") == 1


@pytest.mark.parametrize("break_", [b"\n", b"\r\n"])
def test_a_mark_of_utf_8_hides_no_line(import_lines, single, break_):
    lines = [json.dumps(single(event)).encode() for event in ("e1", "e2")]
    _, log, _ = import_lines(b"\xef\xbb\xbf" + break_.join(lines))
    assert log["decision_id"].to_list() == ["e1", "e2"]


def test_a_very_long_line_is_read(import_lines, single):
    line = single(c={"_multi": [{}, {}], "text": "x" * 5_000_000})
    _, log, _ = import_lines(line, single("e2"))
    assert log.height == 2


def test_an_import_is_the_same_again_and_replaces_no_other(tmp_path):
    rng = random.Random(1)  # noqa: S311
    file, other = tmp_path / "a.json", tmp_path / "b.json"
    for name in (file, other):
        name.write_bytes(b"".join(rng.sample(LINES, 60)))
    out = tmp_path / "out"
    options = {"learning_mode": "online", "max_reject_share": 1.0}
    dsjson([file], out, **options)
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    dsjson([file], out, **options)
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before
    with pytest.raises(UsageError, match=r"holds an import of 1 file .*a\.json"):
        dsjson([other], out, **options)
    assert dsjson([file, other], out, **options).lines == 120
    (out / "import.json").unlink()
    with pytest.raises(UsageError, match="no import wrote it"):
        dsjson([file], out, **options)


def test_many_files_are_read_as_one_log(tmp_path, single):
    texts = [b"", b"\n", *(json.dumps(single(f"e{i}")).encode() for i in range(4))]
    # One of them has to be copied before it is read.
    texts[3] += b"\r\n{"
    files = [tmp_path / f"{i}?[1].json" for i in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_bytes(text)
    counts = []
    found = dsjson(
        files,
        tmp_path / "out",
        max_reject_share=1.0,
        advance=lambda: counts.append(1),
    )
    assert (found.lines, found.kept, len(counts)) == (6, 4, 6)
    log = pl.read_parquet(tmp_path / "out/decisions/*/*.parquet")
    assert log["decision_id"].to_list() == ["e0", "e1", "e2", "e3"]
    assert log["source_file"].to_list() == [str(file) for file in files[2:]]
    rejects = pl.read_parquet(tmp_path / "out/rejects.parquet")
    assert rejects.select("file", "line", "reason").rows() == [
        (str(files[1]), 1, "blank line"),
        (str(files[3]), 2, "malformed"),
    ]


def test_a_folder_of_ones_own_is_replaced_and_begins_no_job(tmp_path, single):
    old, new, out = tmp_path / "old.json", tmp_path / "new.json", tmp_path / "out"
    (out / "decisions/day=2020-01-01").mkdir(parents=True)
    for file in (old, new):
        file.write_text(json.dumps(single(file.stem)))
        dsjson([file], out, is_own=True)
    log = pl.read_parquet(out / "decisions/*/*.parquet")
    assert log["decision_id"].to_list() == ["new"]
    assert sorted(path.name for path in out.iterdir()) == [
        "decisions",
        "import.json",
        "rejects.parquet",
    ]


def test_no_line_is_lost_whatever_is_done_to_it(tmp_path):
    rng = random.Random(7)  # noqa: S311
    for round_ in range(10):
        lines = [mangled(rng, rng.choice(LINES)) for _ in range(60)]
        text = b"".join(lines)
        file = tmp_path / f"{round_}.json"
        file.write_bytes(text)
        expected = text.count(b"\n") + (not text.endswith(b"\n"))
        options = {"learning_mode": "online", "max_reject_share": 1.0}
        out = tmp_path / f"out{round_}"
        try:
            found = dsjson([file], out, **options)
        except LogError:  # a line was made to count from 0
            continue
        rejects = pl.read_parquet(out / "rejects.parquet")
        log = pl.read_parquet(out / "decisions/*/*.parquet")
        assert found.lines == expected
        assert found.kept + found.skipped + found.rejected == expected
        assert rejects.height == found.skipped + found.rejected
        kept, set_aside = set(log["source_line"]), set(rejects["line"])
        assert kept | set_aside == set(range(1, expected + 1))
        assert not kept & set_aside


def mangled(rng, line):
    """A line with some bytes taken out, put in or doubled; every third one as it is."""
    way = rng.randrange(6)
    at, length = rng.randrange(len(line)), rng.randrange(1, 12)
    if way == 0:
        return line[:at] + line[at + length :]
    if way == 1:
        return line[:at] + rng.randbytes(length) + line[at:]
    if way == 2:
        numbers = [b"null", b'"x"', b"-1", b"1e400", b"[]", b"{}", b"true"]
        return line.replace(rng.choice([b"0.5", b"1", b"-0.0"]), rng.choice(numbers), 2)
    if way == 3:
        return line[:at] + line[at : at + length] + line[at:]
    return line
