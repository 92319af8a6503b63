"""The state folder: all at once or not at all, the same bytes whatever the order."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import polars as pl
import pytest

from flows.errors import UsageError
from flows.suggestions.schema import TABLES, empty
from flows.suggestions.state import State, StateError

RESET = {"text": "reset password", "qna_id": 1}


def test_a_state_without_a_knowledge_base_says_so(tmp_path):
    with pytest.raises(StateError, match="import its file first"):
        State(tmp_path / "new").load("members")


def test_the_imported_file_is_kept_as_it_is(bot):
    kept = bot.state.knowledge_file()
    assert kept.name == "kb.tsv"
    assert kept.read_bytes() == (bot.folder / "kb.tsv").read_bytes()


def test_only_what_holds_is_on_the_disk(bot):
    bot.asked(RESET | {"times": 5})
    bot.asked(RESET | {"times": 2, "batch": 1}, day=1)
    for name in TABLES:
        assert len(list(bot.state.root.glob(f"{name}-*.parquet"))) <= 1
    held = json.loads((bot.state.root / "state.json").read_text())["tables"]
    files = {path.name for path in bot.state.root.glob("*.parquet")}
    assert files == set(held.values())


def test_a_cycle_that_dies_changes_no_suggestion_and_can_run_again(bot, new_bot, ids):
    rows = [RESET | {"times": 6}, {"text": "help", "qna_id": 1, "times": 7}]
    whole = bot.asked(*rows)
    twin = new_bot("twin")
    twin.has(("help me", 1), ("open hours", 2), ("pay bill", 3))
    grouped = twin.engine.grouped

    def dying(*_frames, **_closed):
        raise KeyboardInterrupt

    twin.engine.grouped = dying
    with pytest.raises(KeyboardInterrupt):
        twin.asked(*rows)
    assert twin.table("suggestions").is_empty()
    twin.engine.grouped = grouped
    assert ids(twin.asked(*rows)) == ids(whole)
    assert twin.files() == bot.files()


def test_files_that_a_killed_run_left_are_ignored_and_swept(bot, ids):
    before = bot.files()
    (bot.state.root / ".members.new").write_bytes(b"half")
    (bot.state.root / "members-0123456789abcdef.parquet").write_bytes(b"unnamed")
    assert bot.table("members").is_empty()
    with bot.state.alone():
        assert bot.files() == before
    assert len(ids(bot.asked(RESET | {"times": 5}))) == 1


def test_a_second_run_is_refused_while_one_holds_the_folder(bot):
    with bot.state.alone(), pytest.raises(UsageError, match="another run is writing"):
        bot.asked(RESET)


def test_a_list_can_be_read_while_a_run_holds_the_folder(bot):
    with bot.state.alone():
        assert bot.table("questions").height == 3


def test_a_state_of_another_version_is_refused(bot):
    path = bot.state.root / "state.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 7'))
    with pytest.raises(StateError, match="version 7"):
        bot.table("members")


def test_an_unreadable_manifest_is_refused(bot):
    (bot.state.root / "state.json").write_text('{"version": 1')
    with pytest.raises(StateError, match=r"state\.json cannot be read \(Expecting"):
        bot.table("members")


def test_files_that_are_missing_are_told(bot):
    next(bot.state.root.glob("questions-*.parquet")).unlink()
    with pytest.raises(StateError, match="lacks files"):
        bot.table("questions")


def test_the_user_key_is_made_once_and_is_for_the_owner_alone(bot):
    key = bot.state.user_key()
    path = bot.state.root / ".user-key"
    assert len(key) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert State(bot.state.root).user_key() == key
    assert [p.name for p in bot.state.root.glob(".user-key*")] == [".user-key"]


def test_a_lost_user_key_is_told_once_hashes_depend_on_it(bot):
    bot.state.user_key()
    bot.asked(RESET | {"user": 7})
    (bot.state.root / ".user-key").unlink()
    with pytest.raises(StateError, match="is gone"):
        bot.state.user_key()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="Name a folder"):
        State(tmp_path / "file" / "state").user_key()


def test_tables_have_their_schema(bot):
    bot.asked(RESET | {"times": 5}, {"text": "hi <email>", "qna_id": 2})
    for name, schema in TABLES.items():
        assert bot.table(name).schema == schema
        assert empty(name).schema == schema


SHUFFLED = """
import sys
from pathlib import Path
import polars as pl
sys.path.insert(0, sys.argv[1])
from conftest import Bot
bot = Bot(Path(sys.argv[2]))
bot.has(("help me", 1), ("open hours", 2), ("pay bill", 3))
signals = pl.read_parquet(sys.argv[3])
seed, batch = int(sys.argv[4]), int(sys.argv[5])
signals = signals.sample(fraction=1, shuffle=True, seed=seed)
for start in range(0, signals.height, batch):
    bot.asked(signals[start : start + batch], day=9, read=1)
"""


@pytest.fixture(scope="module")
def many_signals(tmp_path_factory):
    """Queries with repeats, ties, several pairs and users."""
    words = ["reset", "help", "open", "pay", "code", "¿cómo", "❤"]
    mixed = pl.col("event").hash(1)
    has_pair = pl.col("kind").is_in(["auto", "user"])
    shout = pl.when(mixed % 2 == 0).then(pl.lit("!")).otherwise(pl.lit(""))

    def one_of(values, by):
        return pl.lit(values).list.get((mixed // by % len(values)).cast(pl.Int64))

    rows = (
        pl.DataFrame({"event": range(120_000)}, schema={"event": pl.UInt64})
        .with_columns(
            asked_at=pl.datetime(2026, 3, 2, time_zone="UTC")
            + pl.duration(seconds=mixed % 86_400),
            number=(mixed // 50 % 300).cast(pl.String),
            is_masked=mixed // 3 % 50 == 0,
            user=pl.when(mixed // 11 % 4 > 0).then(mixed // 13 % 5_000),
            kind=one_of(["auto", "user", "gap", "unassigned"], 17),
            pair=(mixed // 19 % 3 + 1).cast(pl.Int64),
        )
        .with_columns(key=pl.concat_str(one_of(words, 7), pl.lit(" "), "number"))
        .with_columns(
            text=pl.col("key") + shout,
            qna_id=pl.when(has_pair).then("pair"),
            bot_qna_id=pl.when(pl.col("kind") == "unassigned").then("pair"),
        )
    )
    path = tmp_path_factory.mktemp("signals") / "signals.parquet"
    rows.write_parquet(path)
    return path


@pytest.fixture
def state_of(many_signals, tmp_path, request):
    """The state after cycles over the signals, in a process of its own."""

    def run(*, seed, threads, batch=1_000_000):
        folder = tmp_path / f"{seed}-{threads}-{batch}"
        command = [sys.executable, "-c", SHUFFLED, request.path.parent, folder]
        subprocess.run(
            [*command, many_signals, str(seed), str(batch)],
            check=True,
            env=os.environ | {"POLARS_MAX_THREADS": str(threads)},
        )
        return State(folder / "state")

    return run


def test_q21_the_state_does_not_depend_on_the_order_of_rows_or_on_threads(state_of):
    runs = [state_of(seed=1, threads=1), *(state_of(seed=n, threads=2) for n in (2, 3))]
    first, *others = [
        {path.name: path.read_bytes() for path in run.root.glob("*-*.parquet")}
        for run in runs
    ]
    assert len(first) == len(TABLES)
    assert others == [first, first]


def test_what_was_asked_does_not_depend_on_how_it_was_cut_into_cycles(state_of):
    whole = state_of(seed=1, threads=2)
    cut = state_of(seed=4, threads=2, batch=50_000)
    for name in ("signals", "events", "withheld", "reasons"):
        assert cut.load(name)[name].equals(whole.load(name)[name])
    members, cut_members = (
        each.load("members")["members"].drop("suggestion") for each in (whole, cut)
    )
    assert cut_members.equals(members)
