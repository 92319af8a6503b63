"""Coverage of the whole way from a Parquet log to an interval, and beds that can fail.

One Parquet log holds several hundred small logs, told apart by a column. It is opened,
checked, laid out and counted as any log, with that column as a cut; each small log's
evidence then gives its interval, alone with the whole error. A further test holds such
an interval against what `evaluate` says of the small log in a file of its own.

The nights run through `estimate_subject`: on its own night a reward is known only where
it is not 0, and every look must hold. The rule is validity.md 18: the one-sided 99 %
lower bound of coverage is at least 93.5 %, pooled 95 %, and estimators broken on
purpose fall below.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools

import numpy as np
import polars as pl
import pytest

from flows import queries
from flows.decisions import Layout, open_log
from flows.offpolicy import evaluate, evidence
from flows.offpolicy.cells import Cells
from flows.offpolicy.estimate import WITHHELD, Evidence, contradiction, find
from flows.offpolicy.grid import Grid
from flows.offpolicy.methods import Design, Window
from flows.offpolicy.nights import contradictions, estimate_subject
from flows.offpolicy.plan import Looks, Plan
from flows.policies import Request, parse, prepare

GRID = Grid(floor=0.1, lowest=0.0, highest=1.0)
CANDIDATE = parse("column:new", name="new")
LOGS, DECISIONS = 240, 1_000
NIGHTLY_LOGS = 110
# Nights looked at of 28, about evenly spread over the logarithm of time.
LOOKS = (1, 2, 4, 8, 15, 28)
LEAST_COVERAGE, LEAST_POOLED_COVERAGE = 0.935, 0.95
SETTINGS = ("plain", "lost", "gaps")
ESTIMANDS = ("value", "improvement")


@dataclasses.dataclass(frozen=True)
class Law:
    """Two contexts, equally likely, by three actions, of which the second lacks one.

    lost: with a last axis, the probability that a reward of 0 or of 1 never arrives.
    """

    logging: np.ndarray
    candidate: np.ndarray
    pays: np.ndarray
    lost: np.ndarray

    @property
    def value(self):
        return float((self.candidate * self.pays).sum() / 2)

    @property
    def improvement(self):
        return self.value - float((self.logging * self.pays).sum() / 2)


def make_law(setting):
    """`plain`: complete. `lost`: what the candidate does less often loses rewards of 1,
    what it does more often loses rewards of 0. `gaps`: in the first context most of the
    candidate's mass lies below the floor, where nothing is paid.
    """
    logging = np.array([[0.2, 0.3, 0.5], [0.35, 0.65, 0.0]])
    candidate = np.array([[0.6, 0.3, 0.1], [0.8, 0.2, 0.0]])
    pays = np.array([[0.3, 0.1, 0.5], [0.4, 0.6, 0.0]])
    lost = np.zeros((2, 3, 2))
    if setting == "lost":
        lost[:] = np.where((candidate > logging)[..., None], [0.6, 0.0], [0.0, 0.6])
    if setting == "gaps":
        logging[0], candidate[0] = [0.05, 0.35, 0.6], [0.8, 0.1, 0.1]
        pays[0] = [0.0, 0.9, 0.8]
    return Law(logging, candidate, pays, lost)


def draw(law, seed, logs=LOGS, decisions=DECISIONS):
    """A log of logs: the decisions of log k hold k in the column `log`."""
    rng = np.random.default_rng(seed)
    size = logs * decisions
    context = rng.integers(0, 2, size)
    edges = law.logging.cumsum(axis=1)[context]
    action = (rng.random(size)[:, None] >= edges[:, :2]).sum(axis=1)
    paid = (rng.random(size) < law.pays[context, action]).astype(int)
    lost = rng.random(size) < law.lost[context, action, paid]
    listed = pl.Series([["a", "b", "c"], ["a", "b"]])

    def lists(table):
        return pl.Series([table[0].tolist(), table[1, :2].tolist()])[context]

    return pl.DataFrame(
        {
            "decision_id": [f"{seed}-{row}" for row in range(logs * decisions)],
            "log": np.repeat(np.arange(logs), decisions),
            "action": np.array(["a", "b", "c"])[action],
            "actions": listed[context],
            "logging_probabilities": lists(law.logging),
            "new": lists(law.candidate),
            "reward": pl.Series(np.where(lost, np.nan, paid)).fill_nan(None),
        }
    )


def counted(frame, folder, blocks="one"):
    """The evidence of each small log, through file, checks, layout and counting."""
    file = folder / "log.parquet"
    frame.write_parquet(file, mkdir=True)
    layout = Layout(beside=("log",))
    log = open_log([str(file)], layout, dated=None, with_ids=None, extra=("new",))
    request = Request(log, (CANDIDATE,), (0.0, 1.0), folder, keep=("log",))
    with queries.connection() as con:
        prepared = prepare(con, request)
        cells = evidence.count(
            prepared.scorable,
            prepared.scored(GRID.tolerated_floor),
            grid=GRID,
            segments=[("log",)],
            blocks=blocks,
        )
    return cells.filter(pl.col("segment_by") == "log")


def each_log(cells):
    """The evidence of one small log after the other, as that of a whole log."""
    for _, of_log in sorted(cells.group_by("segment"), key=lambda pair: pair[0]):
        yield of_log.with_columns(segment_by=pl.lit(""), segment=pl.lit(""))


def found(evidence, method="mixture"):
    """What is found on the evidence of one log."""
    cells = Cells.of(evidence, GRID)
    return find(
        Evidence(cells, None, Window(0, 1, is_from_start=True)),
        design=Design(method, 0.95),
        share=1.0,
        is_withheld=contradiction(cells, "new") is not None,
    )


def covered_logs(law, cells):
    """By estimand, in how many of the small logs the interval holds the truth."""
    covered = dict.fromkeys(ESTIMANDS, 0)
    for of_log in each_log(cells):
        finding = found(of_log)
        for estimand in ESTIMANDS:
            covered[estimand] += holds(finding.of(estimand), getattr(law, estimand))
    return covered


def holds(estimate, truth):
    """Withheld ends cover nothing: a false alarm is an error, too."""
    return estimate.state != WITHHELD and estimate.lower <= truth <= estimate.upper


@pytest.fixture(scope="module")
def covered(tmp_path_factory):
    """A function of the setting: by estimand, how many of its logs are covered."""

    @functools.cache
    def count(setting):
        law, seed = make_law(setting), SETTINGS.index(setting)
        folder = tmp_path_factory.mktemp(setting)
        return covered_logs(law, counted(draw(law, seed), folder))

    return count


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_log_on_disk_gives_intervals_that_cover_the_truth(
    setting, covered, least_coverage
):
    assert least_coverage(min(covered(setting).values()), LOGS) >= LEAST_COVERAGE


def test_pooled_over_settings_coverage_is_at_its_level(covered, least_coverage):
    counts = [held for setting in SETTINGS for held in covered(setting).values()]

    assert least_coverage(sum(counts), LOGS * len(counts)) >= LEAST_POOLED_COVERAGE


@pytest.mark.parametrize(
    ("method", "blocks"), [("mixture", "one"), ("fixed", "hash_blocks")]
)
@pytest.mark.parametrize("setting", SETTINGS)
def test_evaluate_says_the_same_of_a_small_log_by_itself(
    setting, method, blocks, tmp_path
):
    both = draw(make_law(setting), 5, logs=2)
    cells = counted(both, tmp_path / "both", blocks)
    finding = found(next(each_log(cells)), method)
    both.filter(pl.col("log") == 0).write_parquet(tmp_path / "alone.parquet")

    file = tmp_path / "alone.parquet"
    alone = evaluate(
        file, candidates=[CANDIDATE], reward_range=(0, 1), floor=0.1, method=method
    )

    assert alone.candidates[0].finding == finding


def test_dropping_decisions_without_a_reward_fails_the_bed(tmp_path, least_coverage):
    law = make_law("lost")
    rewarded = draw(law, 7).filter(pl.col("reward").is_not_null())

    covered = covered_logs(law, counted(rewarded, tmp_path))

    assert least_coverage(max(covered.values()), LOGS) < LEAST_COVERAGE


def test_controls_where_mass_is_unsupported_fail_the_bed(tmp_path, least_coverage):
    law = make_law("gaps")
    cells = counted(draw(law, 8), tmp_path)
    all_supported = cells.with_columns(kind=pl.col("kind") % evidence.SUPPORT_MISSING)

    covered = covered_logs(law, all_supported)

    assert least_coverage(max(covered.values()), LOGS) < LEAST_COVERAGE


def test_unsupported_mass_and_lost_rewards_raise_no_false_alarm(tmp_path):
    gaps, lost = make_law("gaps"), make_law("lost")
    law = dataclasses.replace(gaps, lost=lost.lost)
    cells = counted(draw(law, 9), tmp_path)

    states = [found(of_log).of("value").state for of_log in each_log(cells)]

    # At most one in a thousand may raise an alarm.
    assert states.count(WITHHELD) <= LOGS // 100


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_weights_off_by_a_quarter_are_found_out(factor, tmp_path):
    law = make_law("plain")
    drawn = law.logging.copy()
    # What the candidate likes best is drawn more, or less, often than logged.
    drawn[:, 0] *= factor**2
    drawn[:, 1] += law.logging[:, 0] - drawn[:, 0]
    frame = draw(dataclasses.replace(law, logging=drawn), 10, logs=20, decisions=8_000)
    said = [law.logging[0].tolist(), law.logging[1, :2].tolist()]
    is_first = pl.col("actions").list.len() == len(said[0])
    logged = pl.when(is_first).then(pl.lit(said[0])).otherwise(pl.lit(said[1]))

    cells = counted(frame.with_columns(logging_probabilities=logged), tmp_path)

    states = [found(of_log).of("value").state for of_log in each_log(cells)]
    assert states == [WITHHELD] * 20


def nights_covered(folder, looks, decisions, *, is_early=False):
    """By estimand, in how many logs every look since the start holds the truth.

    A reward other than 0 is known on its own night, 0 from the next one on.
    decisions: of one log on one night.
    is_early: decisions without a known reward are left out, instead of being missing.
    """
    law, start = make_law("plain"), dt.date(2024, 1, 1)
    looks_from = Looks(start, None)
    subject = ("new", "")
    plan = Plan(
        GRID,
        Design("mixture", 0.95),
        (looks_from,),
        {subject: 1},
        frozenset(),
        "logging",
    )
    kept = {estimand: np.ones(NIGHTLY_LOGS, dtype=bool) for estimand in ESTIMANDS}
    closed = []
    for number in range(max(looks)):
        night = start + dt.timedelta(days=number)
        dated = functools.partial(pl.DataFrame.with_columns, day=pl.lit(night))
        drawn = draw(law, 100 + number, NIGHTLY_LOGS, decisions)
        if number + 1 in looks:
            known = drawn.with_columns(reward=pl.col("reward").replace(0.0, None))
            if is_early:
                known = known.drop_nulls("reward")
            cells = pl.concat(
                [*closed, dated(counted(known, folder / "open", "sub_blocks"))]
            )
            for place, of_log in enumerate(each_log(cells)):
                against = contradictions(subject, of_log, [night], plan)
                rows = estimate_subject(subject, of_log, None, [night], plan, against)
                for row in rows:
                    if row["window"] != "since_start":
                        continue
                    truth = getattr(law, row["estimand"])
                    kept[row["estimand"]][place] &= row["state"] != WITHHELD and (
                        row["lower"] <= truth <= row["upper"]
                    )
        closed.append(dated(counted(drawn, folder / "closed", "sub_blocks")))
    return {estimand: int(held.sum()) for estimand, held in kept.items()}


def test_peeking_night_after_night_keeps_coverage(tmp_path, least_coverage):
    covered = nights_covered(tmp_path, LOOKS, decisions=200)

    assert least_coverage(min(covered.values()), NIGHTLY_LOGS) >= LEAST_COVERAGE


def test_letting_rewarded_decisions_in_early_fails_the_bed(tmp_path, least_coverage):
    covered = nights_covered(tmp_path, (1,), decisions=4_000, is_early=True)

    assert least_coverage(max(covered.values()), NIGHTLY_LOGS) < LEAST_COVERAGE
