"""The job file: what is read from it, and how it is refused."""

from __future__ import annotations

import datetime as dt

import pytest

from flows.errors import JobError
from flows.job import load
from flows.job import read as read_file
from flows.offpolicy.methods import Design
from flows.suggestions.schema import Rules

GOOD = """
[job]
name = "shop"
[decisions]
log = "log/*.parquet"
context = ["device"]
[evaluation]
reward_range = [0, 1]
propensity_floor = 0.05
segments = [["device"]]
[candidates]
new = "column:new"
"""


@pytest.fixture
def read(tmp_path):
    """Reads a text as a job file."""

    def read(text, name="job.toml"):
        file = tmp_path / name
        file.write_text(text)
        return load(file)

    return read


@pytest.fixture
def refused(read):
    """The message by which a text is refused."""

    def refused(text):
        with pytest.raises(JobError) as caught:
            read(text)
        assert caught.value.exit_code == 2
        return str(caught.value)

    return refused


def test_what_is_left_out_has_its_default(read, tmp_path):
    job = read(GOOD)
    assert (job.name, job.base, job.results) == (
        "shop",
        tmp_path,
        tmp_path / "results" / "shop",
    )
    assert job.timezone == "UTC"
    assert job.design == Design("anytime", 0.95, "fixed")
    assert (job.pairs, job.fixed_at, job.least_sample_probability) == ((), {}, 1.0)
    assert job.log == ("log/*.parquet",)
    assert job.reward_range == (0.0, 1.0)
    assert job.cuts == (("device",),)
    assert job.reports == ("html", "markdown", "json")
    assert [(one.name, one.spec, one.base) for one in job.candidates] == [
        ("new", "column:new", tmp_path)
    ]


def test_what_is_declared_of_looks_and_logging_is_read(read):
    declared = (
        'method = "anytime"\nhorizon_nights = 28\nlogging = "adaptive"\n'
        "drift = true\nleast_sample_probability = 0.25\nsegments"
    )
    job = read(GOOD.replace("segments", declared))
    assert job.design == Design(
        "anytime", 0.95, "adaptive", is_drifting=True, horizon_nights=28
    )
    assert job.design.used == "mixture"
    assert job.least_sample_probability == 0.25


def test_a_horizon_belongs_to_anytime(refused):
    declared = 'method = "mixture"\nhorizon_nights = 28\nsegments'
    assert "horizon_nights belongs to" in refused(GOOD.replace("segments", declared))


def test_each_two_of_compared_candidates_are_a_pair_once(read, refused):
    more = 'uniform = "uniform"\nfirst = "first"\n'
    compared = (
        '[[compare]]\ncandidates = ["new", "uniform", "first"]\n'
        '[[compare]]\ncandidates = ["uniform", "new"]\n'
    )
    job = read(GOOD + more + compared)
    assert job.pairs == (("new", "uniform"), ("new", "first"), ("uniform", "first"))
    unknown = '[[compare]]\ncandidates = ["new", "nwe"]\n'
    assert "compare names nwe" in refused(GOOD + unknown)
    by_compat = GOOD.replace("segments", 'method = "compat"\nsegments')
    assert "another method than compat" in refused(by_compat + more + compared)


def test_a_candidate_may_say_since_when_it_was_left_alone(read):
    job = read(GOOD + 'old = { spec = "uniform", fixed_at = 2024-05-03 }\n')
    assert job.fixed_at == {"old": dt.date(2024, 5, 3)}
    assert [one.spec for one in job.candidates] == ["column:new", "uniform"]


def test_settings_cannot_be_changed_once_read(read):
    with pytest.raises(AttributeError):
        read(GOOD).name = "other"


def test_a_digest_tells_settings_apart(read):
    assert read(GOOD).digest == read(GOOD + "\n# a remark\n").digest
    assert read(GOOD).digest != read(GOOD.replace("0.05", "0.06")).digest


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "shop"', 'name = "shop"\ntimezon = "UTC"', "did you mean timezone?"),
        ("[candidates]", "[candidate]", "did you mean candidates?"),
        ("context", "contxt", "did you mean context?"),
        ("reward_range", "rewards_range", "did you mean reward_range?"),
        ("log =", "zzz = 1\nlog =", "known: log, format, learning_mode"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_one(refused, old, new, told):
    assert told in refused(GOOD.replace(old, new))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "reward_range = [0, 1]",
            "reward_range is missing: the lowest and the highest",
        ),
        (
            "propensity_floor = 0.05",
            "propensity_floor is missing: the least probability",
        ),
    ],
)
def test_what_comes_from_design_has_no_default_and_is_explained(refused, line, told):
    message = refused(GOOD.replace(line, ""))
    assert told in message
    assert "It comes from design, never from the log." in message


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[0, 1]", "[1, 0]", "must ascend"),
        ("[0, 1]", "[0.0, inf]", "finite"),
        ("[0, 1]", "[nan, 1.0]", "finite"),
        ("[0, 1]", "[0]", "at least 2 items"),
        ("= 0.05", "= 0", "greater than or equal to"),
        ("= 0.05", "= 1.5", "less than or equal to 1"),
        ('"log/*.parquet"', "5", "decisions.log = 5: Input should be a valid list"),
        ("= 0.05", '= "0.05"', "valid number"),
        ("= 0.05", "= 0.05\nconfidence = 1", "less than 1"),
        ("= 0.05", '= 0.05\nmethod = "magic"', "'mixture' or 'compat'"),
        ('[["device"]]', '[["country"]]', "segments name country"),
        ('[["device"]]', "[[]]", "at least 1 item"),
        ('"shop"', '"a/b"', "a name of letters, digits"),
        ('"shop"', '"shop"\ntimezone = "Mars/Base"', "'Mars/Base' is not a time zone"),
        ('"log/*.parquet"', "[]", "at least 1 item"),
        ('new = "column:new"', "", "at least 1 item"),
        ('"column:new"', '"colum new"', "candidates.new = 'colum new'"),
        ("new =", "logging =", "cannot be named 'logging'"),
        ("[job]", "[job", "cannot be read as TOML"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_and_shown(refused, old, new, told):
    assert told in refused(GOOD.replace(old, new))


def test_all_that_is_wrong_is_told_at_once(refused):
    text = GOOD.replace("= 0.05", "= 2").replace("context", "contxt")
    message = refused(text.replace('"column:new"', '"what"'))
    for told in ("propensity_floor = 2", "decisions.contxt", "candidates.new = 'what'"):
        assert told in message


def test_a_job_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(JobError, match=r"no\.toml does not exist.*untaken init"):
        load(tmp_path / "no.toml")


SUGGESTIONS = """
[suggestions]
knowledge_base = "kb.tsv"
questions = "questions/*.parquet"
"""


def test_suggestions_stand_beside_an_evaluation_or_alone(tmp_path):
    file = tmp_path / "job.toml"
    file.write_text(GOOD + SUGGESTIONS)
    both = read_file(file)
    assert both.evaluation.name == both.suggestions.name == "shop"
    assert both.suggestions.rules == Rules(minimum=5, offers=2)
    file.write_text('[job]\nname = "kb"\n' + SUGGESTIONS)
    alone = read_file(file)
    assert alone.evaluation is None
    assert alone.suggestions.knowledge_base == tmp_path / "kb.tsv"
    assert alone.suggestions.state == tmp_path / "results" / "kb" / "suggestions"
    with pytest.raises(JobError, match=r"job\.toml evaluates nothing"):
        load(file)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("minimm = 4", "suggestions.minimm is not a key of a job file; did you mean"),
        ("minimum = 0", "suggestions.minimum = 0"),
        ("score_unit = 10", "suggestions.score_unit = 10"),
    ],
)
def test_a_section_of_suggestions_is_checked_key_by_key(tmp_path, key, told):
    file = tmp_path / "job.toml"
    for head in ('[job]\nname = "kb"\n', GOOD):
        file.write_text(head + SUGGESTIONS + key)
        with pytest.raises(JobError) as caught:
            read_file(file)
        assert told in str(caught.value)


def test_a_key_of_a_candidate_that_is_not_known_is_told(refused):
    told = refused(GOOD.replace('"column:new"', '{spec = "uniform", fixd_at = 1}'))
    assert "candidates.new.fixd_at is not a key of a job file" in told
    assert "did you mean fixed_at?" in told


def test_a_log_of_the_service_is_read_as_it_is(read):
    job = read(GOOD.replace("log =", 'format = "dsjson"\nlog =', 1))
    assert job.service is not None
    assert job.design.logging == "adaptive"
    assert job.layout.sum_tolerance == 1e-4


@pytest.mark.parametrize(
    ("line", "section", "told"),
    [
        ('probabilities = "map"', "", "says which columns there are"),
        ("default_reward = 2.0", "", "default_reward = 2.0 lies outside reward_range"),
        ("", '[rewards]\nevents = "r"\nwait_seconds = 1', "leave out [rewards]"),
    ],
)
def test_what_a_log_of_the_service_cannot_have_is_refused(refused, line, section, told):
    text = GOOD.replace("log =", f'format = "dsjson"\n{line}\nlog =', 1)
    assert told in refused(text + section)


def test_what_belongs_to_a_log_of_the_service_is_refused_elsewhere(refused):
    text = GOOD.replace("log =", "max_reject_share = 0.5\nlog =", 1)
    assert "max_reject_share belongs to format" in refused(text)


def test_rewards_that_come_apart_are_declared(read, refused):
    section = """
[rewards]
events = "rewards/*.parquet"
wait_seconds = 600
default = 0
[rewards.factors]
opened = { weight = 0.3, condition = "seconds >= 0" }
"""
    job = read(GOOD + section)
    assert job.rewards is not None
    assert (job.rewards.wait_seconds, job.rewards.default) == (600, 0)
    assert [one.name for one in job.rewards.factors] == ["opened"]
    assert not job.layout.has_rewards
    wrong = section.replace("default = 0", "default = 7").replace("600", "0")
    told = refused(GOOD + wrong)
    assert "wait_seconds 0" in told
    assert "default 7" in told
    named = GOOD.replace("log =", 'columns = { reward = "clicks" }\nlog =', 1)
    assert read(named + section).layout.columns == {"reward": "clicks"}
