"""vw-estimators: one `add_example` a decision, then `get`; the value only.

INTERVAL is gaussian, clopper-pearson, cressieread or cs (a confidence sequence); each
is told the true range of weights and rewards where it can be told. It checks nothing;
reading the file and looking up the two probabilities of the action are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import clock
import polars as pl
from estimators.bandits import clopper_pearson, cressieread, cs, gaussian

READ = 100_000
LOW, HIGH = clock.REWARD_RANGE
MAKERS: dict[str, Callable[[float], object]] = {
    "gaussian": lambda _: gaussian.Interval(),
    "clopper-pearson": lambda _: clopper_pearson.Interval(rmin=LOW, rmax=HIGH),
    "cressieread": lambda floor: cressieread.Interval(
        wmin=0, wmax=1 / floor, rmin=LOW, rmax=HIGH
    ),
    "cs": lambda _: cs.Interval(rmin=LOW, rmax=HIGH),
}


def decisions_of(log: str) -> Iterator[list[tuple[float, float, float]]]:
    """Logged probability of the action, reward, the candidate's probability of it."""
    scan = pl.scan_parquet(log)
    total = scan.select(pl.len()).collect().item()
    # The law lists the same actions in every decision.
    listed = scan.select("actions").head(1).collect().item(0, 0).to_list()
    place = pl.col("action").replace_strict(listed, list(range(len(listed))))
    chosen = scan.select(
        logged=pl.col("logging_probabilities").list.get(place),
        reward="reward",
        candidate=pl.col("candidate").list.get(place),
    )
    for offset in range(0, total, READ):
        yield chosen.slice(offset, READ).collect().rows()


def run(interval: str, log: str, floor: float, timed: clock.Clock) -> clock.Run:
    """One of its intervals."""
    estimator = MAKERS[interval](floor)
    add, decisions = estimator.add_example, 0
    for part in decisions_of(log):
        with timed.step(interval):
            for logged, reward, candidate in part:
                add(logged, reward, candidate)
        decisions += len(part)
    with timed.step(interval):
        lower, upper = estimator.get(1 - clock.CONFIDENCE)
    return clock.Run(decisions, interval, {"value": (lower, upper)})


if __name__ == "__main__":
    clock.drive(run)
