"""The results folder: one run at a time, nothing half-written, nothing left over."""

from __future__ import annotations

import pytest

from flows.errors import UsageError
from flows.folder import Folder, digest_of, digest_of_file, replacing


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "results")


def test_a_second_run_is_refused_while_the_first_goes_on(folder):
    with (
        folder.alone(),
        pytest.raises(UsageError, match=f"another run is writing to {folder.root}"),
        folder.alone(),
    ):
        pass
    with folder.alone():
        pass


def test_what_a_killed_run_left_is_swept_by_the_next(folder):
    folder.path(".work-x", "called.parquet").write_text("half")
    folder.path("evidence", "2024-05-01", ".k.parquet.new").write_text("half")
    kept = folder.path("evidence", "2024-05-01", "k.parquet")
    kept.write_text("whole")
    with folder.alone():
        found = {path for path in folder.root.rglob("*") if path.is_file()}
    assert found == {kept, folder.root / ".lock"}


def test_what_another_run_writes_in_a_folder_with_its_own_lock_is_left_alone(folder):
    mine = folder.path("days", ".1.json.new")
    theirs = folder.path("suggestions", ".review.html.new")
    for path in (mine, theirs, folder.path("suggestions", ".lock")):
        path.write_text("half")
    with folder.alone():
        assert theirs.exists()
        assert not mine.exists()


def test_a_file_that_is_not_finished_leaves_the_old_one(folder):
    path = folder.write_text("old", "days", "1.json")

    def fail():
        with replacing(path) as beside:
            beside.write_text("ne")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        fail()
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_an_equal_text_is_left_alone(folder):
    path = folder.write_text("same", "a.txt")
    before = path.stat().st_mtime_ns
    folder.write_text("same", "a.txt")
    assert path.stat().st_mtime_ns == before


def test_a_json_file_that_was_cut_short_counts_as_absent(folder):
    folder.path("days", "1.json").write_text('{"key": ')
    assert folder.read_json("days", "1.json") is None
    assert folder.read_json("days", "2.json") is None


def test_digests_follow_content(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"one")
    one = digest_of_file(file)
    file.write_bytes(b"two!")
    assert digest_of_file(file) != one
    assert digest_of("a", 1) == digest_of("a", 1) != digest_of("a", 2)
