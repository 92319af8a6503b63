"""Suggestions from the job file to the exported knowledge base, without Prefect."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from flows import suggesting
from flows.errors import JobError
from flows.job import asking
from flows.suggestions.broken import SignalsError
from flows.suggestions.state import State, StateError
from flows.warehouse import suggested

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
JOB = """
[job]
name = "bank"
[suggestions]
knowledge_base = "kb.tsv"
questions = "questions/day=*/*.parquet"
feedback = "feedback/*.json"
"""


@pytest.fixture
def job(tmp_path):
    """The sample's knowledge base and questions, as a job of their own."""
    for name in ("questions", "feedback"):
        shutil.copytree(SAMPLE / name, tmp_path / name)
    shutil.copy(SAMPLE / "kb.tsv", tmp_path)
    file = tmp_path / "job.toml"
    file.write_text(JOB)
    return file


def listed(job):
    made = asking(job).state / "suggestions.json"
    return json.loads(made.read_text())


def files(job):
    return {
        file.relative_to(job.parent): file.read_bytes()
        for file in sorted(asking(job).state.rglob("*"))
        if file.is_file() and file.name not in (".user-key", ".lock")
    }


def test_what_users_asked_becomes_suggestions_and_a_page(job):
    made = suggesting.suggest(asking(job))
    document = listed(job)
    assert document["counts"]["queries"] == 840
    assert document["counts"]["tests"] == 14
    assert made.sentence.startswith(f"{len(document['suggestions'])} suggestions for")
    assert all(one["size"] >= 5 for one in document["suggestions"])
    assert {one["state"] for one in document["suggestions"]} == {"new"}
    assert made.page.read_text().startswith("<!doctype html>")
    texts = [n["question"] for one in document["suggestions"] for n in one["texts"]]
    assert not [text for text in texts if "@" in text or "<email>" in text]
    assert document["masked"]


def test_running_again_changes_no_byte(job):
    suggesting.suggest(asking(job))
    first = files(job)
    suggesting.suggest(asking(job))
    assert files(job) == first


def test_accepted_texts_go_into_the_exported_file_and_are_not_offered_again(
    job, untaken
):
    suggesting.suggest(asking(job))
    one = listed(job)["suggestions"][0]
    ran = untaken("suggestions", "accept", one["id"], job, "--by", "ana")
    assert (ran.code, ran.out) == (
        0,
        f"{len(one['texts'])} accepted, 0 rejected, 0 decided so before\n",
    )
    out = job.parent / "out.tsv"
    assert untaken("kb", "export", job, "--out", out).code == 0
    before, after = (file.read_text() for file in (job.parent / "kb.tsv", out))
    rows = [row.split("\t") for row in after.splitlines()]
    added = [row[0] for row in rows if row[0] not in before]
    assert sorted(added) == sorted(text["question"] for text in one["texts"])
    assert {row[7] for row in rows if row[0] in added} == {str(one["qna_id"])}
    suggesting.suggest(asking(job))
    assert one["id"] not in [n["id"] for n in listed(job)["suggestions"]]
    assert listed(job)["reviewed"][0]["accepted"] == len(one["texts"])


def test_rejecting_all_leaves_nothing_and_says_why(job, untaken):
    suggesting.suggest(asking(job))
    assert untaken("suggestions", "reject-all", job).code == 0
    suggesting.suggest(asking(job))
    ran = untaken("suggestions", "list", job)
    assert ran.out.startswith("nothing to review: ")
    assert "rejected before" in ran.out


def test_a_page_s_decisions_are_applied_all_or_none(job, untaken):
    suggesting.suggest(asking(job))
    document = listed(job)
    one = document["suggestions"][0]
    decision = {
        "id": one["id"],
        "question": one["head"],
        "verdict": "accepted",
    }
    saved = job.parent / "decisions.json"
    wrong = {**decision, "id": "nobody"}
    content = {"schema": "untaken.decisions/1", "state": document["state"]}
    saved.write_text(json.dumps({**content, "decisions": [decision, wrong]}))
    assert "row 2" in untaken("suggestions", "apply", saved, job).refusal()
    assert listed(job)["reviewed"] == []
    saved.write_text(json.dumps({**content, "decisions": [decision]}))
    ran = untaken("suggestions", "apply", saved, job)
    assert ran.out == "1 accepted, 0 rejected, 0 decided so before\n"


def test_a_bad_question_stops_the_run_and_leaves_the_last_list(job):
    suggesting.suggest(asking(job))
    first = files(job)
    pl.DataFrame(
        {"question": [None], "asked_at": [None]},
        schema={"question": pl.String, "asked_at": pl.Datetime("us", "UTC")},
    ).write_parquet(job.parent / "questions" / "day=2019-11-24" / "bad.parquet")
    with pytest.raises(SignalsError, match=r"bad\.parquet"):
        suggesting.suggest(asking(job))
    listing = asking(job).state / "violations.parquet"
    assert set(files(job)) - set(first) == {listing.relative_to(job.parent)}
    listing.unlink()
    assert files(job) == first


def test_every_refused_row_is_listed_until_the_log_is_mended(job, untaken):
    bad = job.parent / "feedback" / "bad.json"
    records = [{"userQuestion": "a", "qnaId": f"n{n}"} for n in range(9)]
    bad.write_text(json.dumps({"feedbackRecords": records}))
    listing = asking(job).state / "violations.parquet"
    assert f"All rows: {listing}" in untaken("check", job).refusal()
    listing.unlink()
    with pytest.raises(SignalsError, match="and 4 more"):
        suggesting.suggest(asking(job))
    rows = pl.read_parquet(listing)
    assert rows["row"].to_list() == list(range(1, 10))
    assert set(rows["rule"]) == {"record_can_be_read"}
    records = [{"userQuestion": "a", "qnaId": 99}]
    bad.write_text(json.dumps({"feedbackRecords": records}))
    for file in (*job.parent.glob("feedback/20*"), *job.parent.glob("questions/*/*")):
        file.unlink()
    told = suggesting.suggest(asking(job)).sentence
    assert "of pairs that the knowledge base does not have: 1" in told
    assert not listing.exists()


def test_check_reads_all_and_keeps_nothing(job, untaken):
    ran = untaken("check", job)
    told = (
        "bank: 10 pairs; 840 logged questions and 87 feedback records; no violation\n"
    )
    assert (ran.code, ran.out) == (0, told)
    assert not asking(job).state.exists()
    absent = untaken("suggestions", "list", job)
    assert f"nothing was read yet; run: untaken suggest {job}" in absent.refusal()


def test_a_pattern_without_a_file_is_told(job):
    job.write_text(JOB.replace("feedback/", "nothing/"))
    made = suggesting.suggest(asking(job))
    (warning,) = made.warnings
    assert warning.startswith("suggestions.feedback: no file matches nothing/*.json in")
    assert listed(job)["counts"]["records"] == 0


def test_a_suggestion_whose_pair_is_gone_cannot_be_accepted(job, untaken):
    suggesting.suggest(asking(job))
    one = next(n for n in listed(job)["suggestions"] if n["qna_id"] == 4)
    base = job.parent / "kb.tsv"
    rows = base.read_text().splitlines(keepends=True)
    base.write_text("".join(row for row in rows if row.split("\t")[7] != "4"))
    made = suggesting.suggest(asking(job))
    assert f"suggestion {one['id']} waits: its pair is gone" in " ".join(made.warnings)
    told = untaken("suggestions", "accept", one["id"], job, "--question", one["head"])
    assert "pair 4 is gone from the knowledge base" in told.refusal()


def test_what_cannot_be_is_refused(job, untaken):
    suggesting.suggest(asking(job))
    told = untaken("suggestions", "accept-all", job, "--pair", 99).refusal()
    assert "--pair 99 is no pair of the knowledge base" in told
    told = untaken("suggestions", "reject-all", job, "--minimum-size", 0).refusal()
    assert "--minimum-size 0 must be 1 or more" in told
    told = untaken("kb", "export", job, "--out", job.parent / "no" / "kb.tsv").refusal()
    assert "name a file in a folder that exists" in told
    assert "no event of this user" in untaken("suggestions", "forget", "x", job).out


def test_a_state_without_a_question_can_be_reviewed_and_a_bad_file_makes_none(
    tmp_path, untaken
):
    state = tmp_path / "state"
    untaken("kb", "import", SAMPLE, "--state", state).refusal()
    assert not state.exists()
    untaken("kb", "import", SAMPLE / "kb.tsv", "--state", state)
    assert untaken("suggestions", "reject-all", "--state", state).out.startswith("0 ")
    assert "Nothing to review" in (state / "review.html").read_text()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    out = untaken("kb", "export", "--state", state, "--out", pipe)
    assert "name a file" in out.refusal()


def as_folder(path):
    path.unlink()
    path.mkdir()


def emptied(path):
    path.write_bytes(b"")


def test_what_cannot_be_opened_is_told_by_name(job, tmp_path, untaken):
    suggesting.suggest(asking(job))
    untaken("suggestions", "reject-all", job, "--pair", 4)
    for name in ("decisions.json", "out.tsv"):
        (job.parent / name).write_text("{}")
    whole = shutil.copytree(job.parent, tmp_path.with_name("whole"))
    apply = ("suggestions", "apply", job.parent / "decisions.json", job)
    export = ("kb", "export", job, "--out", job.parent / "out.tsv")
    accept = ("suggestions", "accept-all", job)
    cases = {
        "kb.tsv": ("check", job),
        "questions/day=2019-11-24/*": ("check", job),
        "results/*/*/state.json": ("suggestions", "list", job),
        "results/*/*/members-*": ("suggestions", "list", job),
        "results/*/*/signals-*": ("suggestions", "undo", "last", job),
        "results/*/*/knowledge/*/kb.tsv": export,
        "results/*/*/.user-key": None,
        "decisions.json": apply,
    }
    folders = {
        "feedback/2019-11-24.json": ("check", job),
        "out.tsv": export,
        "results/*/*/review.html": accept,
        "results/*/*/.lock": accept,
    }
    each = [(emptied, cases), (as_folder, cases), (as_folder, folders)]
    for spoilt, commands in each:
        for pattern, command in commands.items():
            (path,) = job.parent.glob(pattern)
            spoilt(path)
            if command is None:
                with pytest.raises(StateError, match=r"\.user-key cannot be read"):
                    suggesting.suggest(asking(job))
            else:
                told = untaken(*command).refusal()
                assert path.name in told or str(path.parent) in told
                assert "Errno" not in told
            shutil.rmtree(job.parent)
            shutil.copytree(whole, job.parent)


def test_a_page_waits_for_the_run_that_writes_and_shows_what_it_left(tmp_path, untaken):
    untaken("kb", "import", SAMPLE / "kb.tsv", "--state", tmp_path)
    state = State(tmp_path)
    with ThreadPoolExecutor() as pool:
        with state.alone():
            page = pool.submit(suggesting.published, state)
            with pytest.raises(TimeoutError):
                page.result(timeout=0.2)
            state.commit({}, {"counts": {"queries": 7}})
        page.result()
    counts = json.loads((tmp_path / "suggestions.json").read_text())["counts"]
    assert (counts["queries"], counts["records"]) == (7, 0)


def test_a_user_is_forgotten(job, untaken):
    suggesting.suggest(asking(job))
    before = listed(job)
    ran = untaken("suggestions", "forget", "u001", job)
    assert ran.code == 0
    assert int(re.match(r"(\d+) events", ran.out)[1]) > 50
    users = sum(one["users"] for one in listed(job)["suggestions"])
    assert users < sum(one["users"] for one in before["suggestions"])


def test_an_untouched_import_exports_the_same_bytes(tmp_path, untaken):
    state, out = tmp_path / "state", tmp_path / "out.tsv"
    ran = untaken("kb", "import", SAMPLE / "kb.tsv", "--state", state)
    assert ran.out.startswith("10 pairs, 40 questions; 40 added")
    again = untaken("kb", "import", SAMPLE / "kb.tsv", "--state", state)
    assert "nothing changed since the last import" in again.out
    assert untaken("kb", "export", "--state", state, "--out", out).code == 0
    assert out.read_bytes() == (SAMPLE / "kb.tsv").read_bytes()
    assert (
        "no question was read yet"
        in untaken("suggestions", "list", "--state", state).out
    )


def test_a_state_is_named_one_way(job, tmp_path, untaken):
    assert "name a job file or --state DIR" in untaken("suggestions", "list").refusal()
    both = untaken("suggestions", "list", job, "--state", tmp_path)
    assert "one of them" in both.refusal()
    absent = untaken("suggestions", "list", "--state", tmp_path / "absent")
    assert "is no folder" in absent.refusal()
    job.write_text('[job]\nname = "b"\n[decisions]\nlog = "x"\n')
    with pytest.raises(JobError):
        asking(job)


def test_learning_that_is_switched_off_is_respected_unless_overridden(job):
    with zipfile.ZipFile(job.parent / "kb.zip", "w") as replica:
        replica.write(job.parent / "kb.tsv", "QnAs.tsv")
        replica.writestr("Settings.tsv", "EnableActiveLearning\tFalse\n")
    text = JOB.replace("kb.tsv", "kb.zip")
    job.write_text(text)
    sentence = suggesting.suggest(asking(job)).sentence
    assert sentence.startswith("learning is switched off")
    assert listed(job)["suggestions"] == []
    assert "switched off" in listed(job)["reasons"][0]["sentence"]
    job.write_text(text + "learns_anyway = true\n")
    assert "suggestions for 10 pairs" in suggesting.suggest(asking(job)).sentence


def test_the_warehouse_has_what_waits_and_what_became_of_the_rest(job, untaken):
    suggesting.suggest(asking(job))
    untaken("suggestions", "accept-all", job, "--pair", 4)
    document = listed(job)
    frames = suggested.tables(document)
    assert frames["suggestions"].height == len(document["suggestions"])
    (row,) = frames["suggestion_reviews"].iter_rows(named=True)
    assert row["accepted"] == document["reviewed"][0]["accepted"] > 0


EMBEDDING = """
[suggestions.embedding]
function = "house_embedding:embedded"
margin = 0.05
margin_with_bot = 0.1
bot_bonus = 0.2
rejected_weight = 0.4
own_threshold = 0.3
given_threshold = 0.6
near_copy = 0.95
"""
MODULE = """
from sklearn.feature_extraction.text import HashingVectorizer

def embedded(texts):
    made = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 3), n_features=256)
    return made.transform(texts).toarray()
"""


def test_an_embedding_takes_the_place_of_words(job):
    (job.parent / "house_embedding.py").write_text(MODULE)
    job.write_text(JOB + EMBEDDING)
    sentence = suggesting.suggest(asking(job)).sentence
    assert re.match(r"\d\d suggestions for 10 pairs", sentence)
    vectors = pl.read_parquet(asking(job).state / "vectors.parquet")
    assert vectors.schema["vector"] == pl.Array(pl.Float32, 256)
    job.write_text(JOB + EMBEDDING.replace("near_copy = 0.95", ""))
    with pytest.raises(JobError, match=r"suggestions\.embedding\.near_copy is missing"):
        asking(job)
