"""Widths and times of the block-betting intervals against the normal ones.

    python tests/bench/block_kernel.py [--logs 40] [--decisions 500 2000 20000 200000]
        [--years]

Ten actions, logging at or above .05, a candidate that takes the action it likes best in
nine cases of ten, compared with one that takes the second best; weights on 65 grid
points (a difference: on 129), rewards rare (.05), even (.5) or in nine levels. For each
law, size and estimand it prints the mean width over that of the plain normal interval
and over that of the normal interval with the best control, the share of logs whose
interval holds the truth, and the median milliseconds of processor time an interval
takes. Decisions come in one data set, in a window of 1, 7 or 28 nights, or in 28 nights
looked at after nights 7, 14 and 28, horizon declared or open. `--years`: as many a 28
nights for 1,095 nights instead, looked at after 28, 112, 400 and all of them.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import statistics
import sys
import time

import numpy as np

from flows.intervals import ESTIMANDS, Estimand, Interval, Points
from flows.intervals.block_plan import (
    FIXED_CUTS,
    POSITIONS,
    SUB_BLOCKS,
    Plan,
    fixed_plan,
    nightly_plan,
    window_plan,
)
from flows.intervals.block_points import BlockPoints
from flows.intervals.blocks import anytime, fixed

FLOOR, ACTIONS, CONTEXTS = 0.05, 10, 400
BOUND, BINS, ALPHA = 1 / FLOOR, 64, 0.05
NORMAL = 2 * 1.959963984540054
LAWS = ("rare", "even", "levels")
NIGHTS, WINDOWS, LOOKS = 28, (1, 7, 28), (7, 14, 28)
YEARS, YEAR_LOOKS = 1_095, (28, 112, 400, 1_095)


@dataclasses.dataclass(frozen=True)
class Law:
    """Cells, their probabilities, the truth, deviations without and with control."""

    estimand: Estimand
    cells: Points
    probability: np.ndarray
    truth: float
    plain: float
    controlled: float

    def draw(self, random: np.random.Generator, sizes: np.ndarray) -> np.ndarray:
        """Counts of rows of these sizes."""
        return random.multinomial(sizes, self.probability) * 1.0


def make_law(name: str, estimand: Estimand) -> Law:
    """Mass of random contexts, split over neighbouring weights so that means stay."""
    random = np.random.default_rng(20_261_201)
    logging = FLOOR + (1 - ACTIONS * FLOOR) * random.dirichlet(
        np.full(ACTIONS, 0.5), CONTEXTS
    )
    quality = random.normal(size=(CONTEXTS, ACTIONS))
    ranking = np.argsort(-quality, axis=1)
    first, second = (
        0.9 * np.eye(ACTIONS)[ranking[:, place]] + 0.1 / ACTIONS for place in (0, 1)
    )
    compared = first - second if estimand.is_signed else first
    mean = {"rare": 0.05, "even": 0.5, "levels": 0.6}[name]
    pays = np.clip(mean * (1 + 0.25 * quality), 0.001, 0.999)
    levels = np.linspace(0, 1, 9) if name == "levels" else np.array([0.0, 1.0])
    chance = pays[..., None] ** (levels * (levels.size - 1))
    chance = chance * (1 - pays[..., None]) ** ((1 - levels) * (levels.size - 1))
    if name == "levels":
        chance = chance * np.array([1, 8, 28, 56, 70, 56, 28, 8, 1])
    grid = BOUND * (np.arange(BINS + 1) / BINS) ** 2
    if estimand.is_signed:
        grid = np.concatenate([-grid[:0:-1], grid])
    weight = compared / logging
    low = np.clip(np.searchsorted(grid, weight, side="right") - 1, 0, grid.size - 2)
    part = (weight - grid[low]) / (grid[low + 1] - grid[low])
    mass = np.zeros((grid.size, levels.size))
    share = (logging / CONTEXTS)[..., None] * chance
    np.add.at(mass, low, (1 - part)[..., None] * share)
    np.add.at(mass, low + 1, part[..., None] * share)
    held = mass.ravel() > 0
    w, z = (axis.ravel()[held] for axis in np.meshgrid(grid, levels, indexing="ij"))
    yes = np.ones(w.size, dtype=bool)
    probability = mass.ravel()[held] / mass.sum()
    return with_moments(
        estimand, Points(w, z, ~yes, yes, np.zeros(w.size)), probability
    )


def with_moments(estimand: Estimand, cells: Points, p: np.ndarray) -> Law:
    """The law with its truth, and standard deviations without and with control."""
    scores = estimand.scores(cells, 0.0)
    slope = estimand.scores(cells, 1.0) - scores
    truth = float(p @ scores)
    centred = scores - truth
    control = float(p @ (centred * slope)) / float(p @ slope**2)
    plain = float(np.sqrt(p @ centred**2))
    controlled = float(np.sqrt(p @ (centred - control * slope) ** 2))
    return Law(estimand, cells, p, truth, plain, controlled)


def measure(law: Law, label: str, plan: Plan, logs: list[np.ndarray], n: float) -> None:
    """Prints one line: n decisions are expected in each log."""
    method = fixed if len(plan.checkpoints) == 1 else anytime
    found: list[Interval] = []
    seconds = []
    for counts in logs:
        data = BlockPoints(law.cells, counts)
        start = time.process_time()
        found.append(
            method(data, law.estimand, plan=plan, max_weight=BOUND, alpha=ALPHA)
        )
        seconds.append(time.process_time() - start)
    width = statistics.mean(interval.width for interval in found)
    held = statistics.mean(i.lower <= law.truth <= i.upper for i in found)
    scale = NORMAL / np.sqrt(n)
    sys.stdout.write(
        f"{label:<34}{law.estimand.name:<13}"
        f"{width / (scale * law.plain):6.2f}{width / (scale * law.controlled):6.2f}"
        f"{held:7.3f}{1e3 * statistics.median(seconds):8.1f}\n"
    )


def in_rows(units: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Counts of nights' sub-blocks, added up in the rows of a plan."""
    place = row.ravel()[: len(units)]
    counts = np.zeros((place.max() + 1, units.shape[1]))
    np.add.at(counts, place, units)
    return counts


def by_night(
    law: Law, label: str, logs: list[np.ndarray], looks: tuple[int, ...], a_night: float
) -> None:
    """Every look, with a declared horizon where there are 28 nights, and without."""
    for horizon in (NIGHTS, None) if looks[-1] == NIGHTS else (None,):
        plan, row = nightly_plan(a_night, horizon_nights=horizon)
        kind = "open" if horizon is None else "declared"
        for look in looks:
            part = [in_rows(log[: SUB_BLOCKS * look], row) for log in logs]
            measure(law, f"{label} {kind}, night {look}", plan, part, a_night * look)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=40)
    parser.add_argument(
        "--decisions", type=int, nargs="+", default=[500, 2_000, 20_000, 200_000]
    )
    parser.add_argument("--years", action="store_true")
    options = parser.parse_args()
    nights = YEARS if options.years else NIGHTS
    sys.stdout.write(f"{'':<47} plain   cv   held      ms\n")
    for name, estimand, n in itertools.product(
        LAWS, ESTIMANDS.values(), options.decisions
    ):
        law, random = make_law(name, estimand), np.random.default_rng(n)
        label, a_night = f"{name} {n:,}", n / NIGHTS
        expected = np.full(nights * SUB_BLOCKS, a_night / SUB_BLOCKS)
        logs = [law.draw(random, random.poisson(expected)) for _ in range(options.logs)]
        if options.years:
            by_night(law, label, logs, YEAR_LOOKS, a_night)
            continue
        shares = np.diff(FIXED_CUTS) / POSITIONS
        sizes = random.multinomial(n, shares, options.logs)
        hashed = [law.draw(random, size) for size in sizes]
        measure(law, f"{label} fixed", fixed_plan(n), hashed, n)
        for window in WINDOWS:
            plan, row = window_plan(a_night * window, nights=window)
            part = [in_rows(log[: SUB_BLOCKS * window], row) for log in logs]
            measure(law, f"{label} window of {window}", plan, part, a_night * window)
        by_night(law, label, logs, LOOKS, a_night)


if __name__ == "__main__":
    main()
