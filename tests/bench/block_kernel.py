"""Widths and times of the block-betting intervals against the normal ones.

    python tests/bench/block_kernel.py [--logs 40] [--decisions 500 2000 20000 200000]

Ten actions, logging at or above .05, a candidate that takes the action it likes best in
nine cases of ten; weights on 65 grid points, rewards rare (.05), even (.5) or in nine
levels. For each law, size and estimand it prints the mean width over that of the plain
normal interval and over that of the normal interval with the best control, the share of
logs whose interval holds the truth, and the median milliseconds of an interval. Nights:
28 with 8 sub-blocks, looked at after nights 7, 14 and 28, horizon declared or open.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
import time

import numpy as np

from flows.intervals import Points
from flows.intervals.block_plan import (
    FIXED_CUTS,
    POSITIONS,
    SUB_BLOCKS,
    Plan,
    fixed_plan,
    nightly_plan,
)
from flows.intervals.block_points import BlockPoints
from flows.intervals.blocks import anytime, fixed

FLOOR, ACTIONS, CONTEXTS = 0.05, 10, 400
BOUND, BINS, ALPHA = 1 / FLOOR, 64, 0.05
NORMAL = 2 * 1.959963984540054
LAWS = ("rare", "even", "levels")
ESTIMANDS = ("value", "improvement")
NIGHTS, LOOKS = 28, (7, 14, 28)


@dataclasses.dataclass(frozen=True)
class Law:
    """Cells, the probability of each, and for each estimand truth and deviations."""

    cells: Points
    probability: np.ndarray
    truth: dict[str, float]
    plain: dict[str, float]
    controlled: dict[str, float]


def make_law(name: str) -> Law:
    """Mass of random contexts, split over neighbouring weights so that E[w] stays 1."""
    random = np.random.default_rng(20_261_201)
    logging = FLOOR + (1 - ACTIONS * FLOOR) * random.dirichlet(
        np.full(ACTIONS, 0.5), CONTEXTS
    )
    quality = random.normal(size=(CONTEXTS, ACTIONS))
    best = np.eye(ACTIONS)[quality.argmax(axis=1)]
    weight = (0.9 * best + 0.1 / ACTIONS) / logging
    mean = {"rare": 0.05, "even": 0.5, "levels": 0.6}[name]
    pays = np.clip(mean * (1 + 0.25 * quality), 0.001, 0.999)
    levels = np.linspace(0, 1, 9) if name == "levels" else np.array([0.0, 1.0])
    chance = pays[..., None] ** (levels * (levels.size - 1))
    chance = chance * (1 - pays[..., None]) ** ((1 - levels) * (levels.size - 1))
    if name == "levels":
        chance = chance * np.array([1, 8, 28, 56, 70, 56, 28, 8, 1])
    grid = BOUND * (np.arange(BINS + 1) / BINS) ** 2
    low = np.clip(np.searchsorted(grid, weight, side="right") - 1, 0, BINS - 1)
    part = (weight - grid[low]) / (grid[low + 1] - grid[low])
    mass = np.zeros((grid.size, levels.size))
    share = (logging / CONTEXTS)[..., None] * chance
    np.add.at(mass, low, (1 - part)[..., None] * share)
    np.add.at(mass, low + 1, part[..., None] * share)
    held = mass.ravel() > 0
    w, z = (axis.ravel()[held] for axis in np.meshgrid(grid, levels, indexing="ij"))
    yes = np.ones(w.size, dtype=bool)
    probability = mass.ravel()[held] / mass.sum()
    return with_moments(Points(w, z, ~yes, yes, np.zeros(w.size)), probability)


def with_moments(cells: Points, p: np.ndarray) -> Law:
    """The law with its truths, and standard deviations without and with control."""
    w, z = cells.weight, cells.reward
    truth, plain, controlled = {}, {}, {}
    for estimand, scores in (("value", w * z), ("improvement", (w - 1) * z)):
        truth[estimand] = float(p @ scores)
        centred = scores - truth[estimand]
        slope = (p @ (centred * (w - 1))) / (p @ (w - 1) ** 2)
        plain[estimand] = float(np.sqrt(p @ centred**2))
        controlled[estimand] = float(np.sqrt(p @ (centred - slope * (w - 1)) ** 2))
    return Law(cells, p, truth, plain, controlled)


def draw(law: Law, random: np.random.Generator, sizes: np.ndarray) -> BlockPoints:
    """Counts of blocks with these expected shares of the decisions."""
    return BlockPoints(law.cells, random.multinomial(sizes, law.probability) * 1.0)


def measure(law: Law, label: str, logs: list[BlockPoints], plan: Plan, n: int) -> None:
    """Prints one line an estimand."""
    method = fixed if len(plan.checkpoints) == 1 else anytime
    for estimand in ESTIMANDS:
        found, seconds = [], []
        for log in logs:
            start = time.perf_counter()
            found.append(
                method(log, estimand, plan=plan, max_weight=BOUND, alpha=ALPHA)
            )
            seconds.append(time.perf_counter() - start)
        width = statistics.mean(interval.width for interval in found)
        truth = law.truth[estimand]
        held = statistics.mean(i.lower <= truth <= i.upper for i in found)
        scale = NORMAL / np.sqrt(n)
        sys.stdout.write(
            f"{label:<34}{estimand:<13}"
            f"{width / (scale * law.plain[estimand]):6.2f}"
            f"{width / (scale * law.controlled[estimand]):6.2f}"
            f"{held:7.3f}{1e3 * statistics.median(seconds):8.1f}\n"
        )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=40)
    parser.add_argument(
        "--decisions", type=int, nargs="+", default=[500, 2_000, 20_000, 200_000]
    )
    options = parser.parse_args()
    sys.stdout.write(f"{'':<47} plain   cv   held      ms\n")
    for name in LAWS:
        law = make_law(name)
        for n in options.decisions:
            random = np.random.default_rng(n)
            label = f"{name} {n:,}"
            shares = np.diff(FIXED_CUTS) / POSITIONS
            sizes = random.multinomial(n, shares, options.logs)
            logs = [draw(law, random, size) for size in sizes]
            measure(law, f"{label} fixed", logs, fixed_plan(n), n)
            blocks = NIGHTS * SUB_BLOCKS
            sizes = random.poisson(n / blocks, (options.logs, blocks))
            logs = [draw(law, random, size) for size in sizes]
            for horizon in (NIGHTS, None):
                plan = nightly_plan(n / NIGHTS, horizon_nights=horizon)
                kind = "open" if horizon is None else "declared"
                for look in LOOKS:
                    counts = [log.counts[: SUB_BLOCKS * look] for log in logs]
                    part = [BlockPoints(law.cells, count) for count in counts]
                    seen = n * look // NIGHTS
                    measure(law, f"{label} {kind}, night {look}", part, plan, seen)


if __name__ == "__main__":
    main()
