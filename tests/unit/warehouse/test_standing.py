"""What evidence alone says of a window is what a night would have said of it."""

from __future__ import annotations

import datetime as dt
import runpy
import shutil
from pathlib import Path

import polars as pl
import pytest

from flows.errors import UsageError
from flows.job import load
from flows.offpolicy.estimate import Evidence, find
from flows.offpolicy.methods import EVERY_LOOK, EXPLORATORY, SINGLE_LOOK
from flows.offpolicy.plan import series_share
from flows.warehouse.segments import WHOLE, Chosen
from flows.warehouse.standing import standing, window

MADE = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
CANDIDATES = 'new = "column:new"\nodd = "constant:z"'
COMPARE = '[[compare]]\ncandidates = ["new", "odd"]\n[outputs]'
DESK, PHONE = Chosen("device", ("desk",)), Chosen("device", ("phone",))
BOTH = Chosen("device", ("desk", "phone"))
FIRST, LAST = dt.date(2024, 5, 1), dt.date(2024, 5, 9)
NUMBERS = ("estimate", "lower", "upper", "identified_lower", "identified_upper")
WAYS = {
    "mixture": 'method = "mixture"',
    "drift": 'method = "mixture"\ndrift = true',
    "anytime": 'method = "anytime"\nhorizon_nights = 4',
    "fixed": 'method = "fixed"',
    "compat": 'method = "compat"',
}


def nine_days(place, way):
    """Nine nights, some without a reward, a third one without decisions."""
    place.job(candidates=CANDIDATES)
    text = place.file.read_text().replace('method = "mixture"', WAYS[way])
    pair = "[outputs]" if way == "compat" else COMPARE
    place.file.write_text(text.replace("[outputs]", pair))
    for number in (1, 2, *range(4, 10)):
        is_late = pl.int_range(pl.len()) % 11 == number
        rows = MADE["day"](number, 60)
        rows = rows.with_columns(reward=pl.when(~is_late).then("reward"))
        place.write(rows, f"{number}.parquet")
    place.night()
    return place


@pytest.fixture(scope="module", params=WAYS)
def nights(request, tmp_path_factory):
    place = MADE["Place"](tmp_path_factory.mktemp(request.param) / "place")
    return nine_days(place, request.param)


def asked(place, candidate="new", other="", until=None):
    job = load(place.file)
    return standing(job, (candidate, other), until=until, again="again")


def subjects(place):
    pairs = [] if "compat" in place.file.read_text() else [("new", "odd")]
    return [("new", ""), ("odd", ""), ("logging", ""), *pairs]


def numbers(finding):
    return {
        made.estimand: {name: getattr(made, name) for name in (*NUMBERS, "state")}
        for made in finding.estimates
    }


def from_evidence(at, part, first):
    """The night's look made again; not that of `compat`, which needs exact scores."""
    if at.design.used == "compat":
        return None
    nights = window(first, at.night, is_from_start=True)
    rows = at.read(part, nights, at.design)
    return find(
        Evidence(at.plan.cells(rows, at.subject), None, nights),
        design=at.design,
        share=at.share(part),
        is_withheld=False,
    )


def stored(place, subject, night, part, length):
    rows = place.estimates(night).filter(
        (pl.col("window") == length)
        & (pl.col("candidate") == subject[0])
        & (pl.col("other") == subject[1])
        & (pl.col("segment_by") == part.cut)
        & (pl.col("segment") == part.segments[0])
    )
    return {
        row["estimand"]: {name: row[name] for name in (*NUMBERS, "state")}
        for row in rows.to_dicts()
    }


@pytest.mark.parametrize("part", [WHOLE, PHONE])
def test_since_the_start_is_the_night_s_own_look(nights, part):
    for subject in subjects(nights):
        for night in (LAST, dt.date(2024, 5, 6)):
            with asked(nights, *subject, until=night) as at:
                look = at.since_start(part)
                again = from_evidence(at, part, look.first)
            wanted = stored(nights, subject, night, part, "since_start")
            assert numbers(look.finding) == wanted
            if again is not None:
                made = {name: numbers(again)[name] for name in wanted}
                assert made == approximately(wanted)
                assert look.finding.decisions == again.decisions
                assert look.finding.estimates[0].look == again.estimates[0].look


def approximately(wanted):
    return {
        estimand: {
            name: value if isinstance(value, str) else pytest.approx(value, abs=1e-12)
            for name, value in numbers.items()
        }
        for estimand, numbers in wanted.items()
    }


def test_the_last_nights_are_those_of_the_night(nights):
    part = WHOLE
    for subject in subjects(nights):
        with asked(nights, *subject) as at:
            look = at.window(part, LAST - dt.timedelta(days=6), LAST)
        wanted = stored(nights, subject, LAST, part, "last_7")
        assert numbers(look.finding) == approximately(wanted)
        assert {n.look for n in look.finding.estimates} == {SINGLE_LOOK}


def test_adding_counts_in_the_query_changes_no_interval(nights):
    """Both segments together are all decisions, so raw evidence of those must agree."""
    with asked(nights) as at:
        if at.design.used == "compat":
            return
        look = at.window(BOTH, FIRST, LAST)
        raw = raw_evidence(nights)
        plain = find(
            Evidence(at.plan.cells(raw, at.subject), None, window(FIRST, LAST)),
            design=at.design,
            share=at.share(WHOLE),
            is_withheld=False,
        )
    ends = {n.estimand: (n.lower, n.upper) for n in plain.estimates}
    assert {n.estimand: (n.lower, n.upper) for n in look.finding.estimates} == ends


def raw_evidence(place):
    files = sorted(place.results.glob("evidence/*/*.parquet"))
    rows = pl.concat(pl.read_parquet(file, hive_partitioning=False) for file in files)
    return rows.filter(candidate="new", other="", segment_by="")


def test_labels_say_what_a_question_may_claim(nights):
    with asked(nights) as at:
        own = SINGLE_LOOK if at.design.used == "fixed" else EVERY_LOOK
        chosen = dt.date(2024, 5, 4)
        looks = {
            "own": at.since_start(WHOLE),
            "segment": at.since_start(DESK),
            "chosen": at.window(DESK, chosen, LAST),
            "undeclared": at.since_start(BOTH),
        }
    found = {name: look.finding.estimates[0].look for name, look in looks.items()}
    assert found == {
        "own": own,
        "segment": own,
        "chosen": SINGLE_LOOK,
        "undeclared": EXPLORATORY,
    }


def test_shares_of_the_error_are_those_of_the_night(nights):
    with asked(nights) as at:
        whole, desk = at.share(WHOLE), at.share(DESK)
        assert at.share(BOTH) == whole == series_share(1)
        assert desk == whole * series_share(1) / 2
    with asked(nights, "logging") as at:
        assert at.share(WHOLE) == 1.0


@pytest.fixture
def place(places):
    found = places("place")
    found.days([1, 2, 3], size=40)
    found.night()
    return found


def test_neither_the_log_nor_a_candidate_s_file_is_needed(place):
    shutil.rmtree(place.root / "log")
    (place.root / "table.parquet").unlink()
    with asked(place, "table") as at:
        assert at.since_start(WHOLE).finding.decisions == 120


def test_a_candidate_that_was_turned_back_keeps_the_share_its_evidence_was_made_by(
    place,
):
    """Its file is that of the first version again, its evidence that of the second."""
    before = (place.root / "table.parquet").read_bytes()
    place.table(probabilities=(0.6, 0.2, 0.2))
    place.night()
    (place.root / "table.parquet").write_bytes(before)
    with asked(place, "table") as at:
        assert at.share(WHOLE) == series_share(3)


def test_nights_that_may_have_shaped_a_candidate_are_exploratory(place):
    fixed = 'new = { spec = "column:new", fixed_at = 2024-05-02 }'
    place.job(candidates=fixed)
    place.night()
    with asked(place) as at:
        own, earlier = at.since_start(WHOLE), at.window(WHOLE, FIRST, at.newest)
    assert (own.first, own.finding.decisions) == (dt.date(2024, 5, 2), 80)
    assert own.finding.estimates[0].look == EVERY_LOOK
    assert earlier.finding.estimates[0].look == EXPLORATORY


def test_weights_that_contradict_the_log_are_withheld_in_any_window(place, day):
    tenfold = pl.col("logging_probabilities").list.eval(pl.element() * 0 + 1 / 3)
    rows = day(4, 4000).with_columns(
        logging_probabilities=tenfold,
        new=pl.lit([0.0, 0.05, 0.95]),
        action=pl.lit("c"),
    )
    place.write(rows, "4.parquet")
    place.night()
    with asked(place) as at:
        look = at.window(WHOLE, FIRST, dt.date(2024, 5, 4))
    assert {n.state for n in look.finding.estimates} == {"withheld"}
    assert "too large" in look.assumptions[0].finding


@pytest.mark.parametrize(
    ("candidate", "other", "told"),
    [
        ("New", "", "no candidate New; did you mean new?"),
        ("nobody", "", "There are: logging, new, table"),
        ("new", "tabel", "did you mean table?"),
        ("new", "table", r"new minus table is not declared in \[\[compare\]\]"),
    ],
)
def test_who_is_not_there_is_refused_with_who_is(place, candidate, other, told):
    with pytest.raises(UsageError, match=told), asked(place, candidate, other):
        pass


def test_results_that_are_not_there_yet_or_of_another_job_file_are_refused(
    place, places
):
    with (
        pytest.raises(UsageError, match="holds no night yet; again"),
        asked(places("empty")),
    ):
        pass
    place.job(candidates='new = "column:new"\nlate = "uniform"')
    with (
        pytest.raises(UsageError, match="nothing about late yet; again"),
        asked(place, "late"),
    ):
        pass
    with (
        pytest.raises(UsageError, match="2024-05-03 was made under other settings"),
        asked(place),
    ):
        pass


def test_before_the_first_night_there_is_none(place):
    with (
        pytest.raises(UsageError, match="no night up to 2024-04-30; the first one is"),
        asked(place, until=dt.date(2024, 4, 30)),
    ):
        pass


def test_a_window_without_a_decision_says_which_nights_there_are(places):
    place = places("gap")
    for number in (1, 5):
        place.days([number], size=40)
    place.night()
    with (
        asked(place) as at,
        pytest.raises(UsageError, match="nights from 2024-05-01 to 2024-05-05"),
    ):
        at.window(WHOLE, dt.date(2024, 5, 2), dt.date(2024, 5, 4))
