"""The worked queries of sql/README.md, asked of the sample's results."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

import pytest

from flows import steps, suggesting
from flows.asked import Asked
from flows.errors import LogError
from flows.job import asking, load

ROOT = Path(__file__).parents[2]
README = (ROOT / "sql" / "README.md").read_text()
SECTION = re.compile(r"^### (.+?)\n(.*?)```sql\n(.*?)^```", re.DOTALL | re.MULTILINE)
WORKED = {title: query for title, _, query in SECTION.findall(README)}
OF = re.compile(r"^-- (data/\S+)$", re.MULTILINE)
USUAL = "data/sample/untaken.toml"


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The sample's folder after its nights, one that was refused before them."""
    root = tmp_path_factory.mktemp("sample")
    ignored = shutil.ignore_patterns("results")
    shutil.copytree(ROOT / "data" / "sample", root / "data" / "sample", ignore=ignored)
    suggesting.suggest(asking(root / USUAL))
    for name in ("untaken.toml", "women.toml"):
        job = load(root / "data" / "sample" / name)
        with steps.alone(job):
            with (
                contextlib.suppress(LogError),
                steps.recorded(job.results, job.digest),
            ):
                steps.plan(job, Asked(as_of="2001-01-01"))
            plan = steps.plan(job, Asked())
            steps.check(plan)
            steps.judge(plan)
            for day in steps.uncounted(plan):
                steps.count(plan, day)
            steps.estimate(plan)
            steps.publish(plan, days_read=7, nights_estimated=7)
    return root


@pytest.fixture
def ask(sample, untaken, monkeypatch):
    """The rows of a worked query, by the words of its title."""
    monkeypatch.chdir(sample)

    def rows(words):
        (query,) = (text for title, text in WORKED.items() if words in title)
        named = OF.search(query)
        made = untaken("query", named[1] if named else USUAL, query, "--format", "json")
        assert (made.code, made.err) == (0, "")
        return made.document

    return rows


def test_there_are_ten():
    assert len(WORKED) == 10


def test_a_candidate_whose_weights_are_small_closes_in_first(ask):
    rows = ask("closes in fastest")
    assert {row["candidate"] for row in rows} == {
        "thompson",
        "uniform",
        "house_pick",
        "by_position",
    }
    shares = [row["closed_in"] for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert 0 < shares[-1] <= shares[0] < 1


def test_segments_come_with_the_worst_first(ask):
    rows = ask("certainly worse")
    assert len(rows) == 10
    assert {row["segment"] for row in rows} == {"1", "2", "3"}
    assert rows == sorted(rows, key=lambda row: row["upper"])
    assert {row["is_certainly_worse"] for row in rows} == {False}


def test_nights_that_moved_are_told(ask):
    rows = ask("published nights move")
    assert {row["night"] for row in rows} == {"2019-11-29"}
    assert 0 < abs(rows[0]["moved"]) < rows[0]["width_before"]


def test_frequencies_come_with_the_strangest_first(ask):
    rows = ask("as often as their probabilities")
    deviations = [abs(row["z"]) for row in rows]
    assert len(rows) == 10
    assert deviations == sorted(deviations, reverse=True)


def test_rewards_are_counted_by_day(ask):
    rows = ask("default ones")
    assert [row["day"] for row in rows] == [f"2019-11-{day}" for day in (28, 29, 30)]
    assert all(row["observed"] + row["defaulted"] == row["decisions"] for row in rows)


def test_weeks_by_evidence_and_over_the_log_are_the_same(ask):
    by_evidence, over_log = ask("by week"), ask("over the raw log")
    assert sum(row["decisions"] for row in by_evidence) == 10_000
    assert {row["look"] for row in by_evidence} == {"exploratory"}
    for one, other in zip(by_evidence, over_log, strict=True):
        for key in ("week", "is_first", "decisions", "confidence", "look", "state"):
            assert one[key] == other[key]
        for key in ("estimate", "effective_sample_size"):
            assert one[key] == pytest.approx(other[key], rel=1e-7, abs=1e-9)
        assert 0 <= one["lower"] <= one["estimate"] < one["upper"] < 1


def test_a_few_cells_carry_the_value(ask):
    rows = ask("Which cells")
    shares = [row["share"] for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert 0.5 < sum(shares) <= 1


def test_refused_runs_are_told_with_their_reason(ask):
    (row,) = ask("runs were refused")
    assert row["exit_code"] == 2
    assert "2001-01-01" in row["message"]


def test_suggestions_that_wait_come_with_the_largest_first(ask):
    rows = ask("wait for review")
    sizes = [row["size"] for row in rows]
    assert len(rows) == 10
    assert sizes == sorted(sizes, reverse=True)
