"""What the large bed consists of, and how often each setting is repeated.

`factor`: replications in units of those asked for. Where coverage comes near its level,
some thousands are needed to tell .953 from .935.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from bed import laws
from bed.arriving import arriving
from bed.logs import on_disk
from bed.looks import ALL, OF_ONE, every_night, one_look
from bed.many import appearing, hundred
from bed.worlds import MODES, watched

DECISIONS, MIDDLING = (500, 2_000, 20_000, 200_000), (2_000, 20_000)
# The factor of settings whose coverage comes near the level.
CLOSE = 3.0
REWARDS = {
    "rare": {"mean": 0.05},
    "half": {"mean": 0.5},
    "between": {"mean": 0.5, "is_continuous": True},
}
EXTREMES = {"very rare": {"mean": 0.005}, "frequent": {"mean": 0.95}}
MISSING = {
    "rewards lost by their value": laws.hidden,
    "floor broken": laws.gaps,
    "lost and broken": laws.hidden_gaps,
    "sampled by reward": laws.sampled,
}
NIGHTS, A_NIGHT = 100, 200


@dataclasses.dataclass(frozen=True, eq=False)
class Setting:
    """What is drawn and looked at, again and again.

    decisions: of one replication, all looks together.
    run: from a generator to what was found, by estimand.
    is_compared: whether widths are held against those of peers.
    """

    name: str
    method: str
    decisions: int
    run: Callable
    factor: float = 1.0
    is_compared: bool = True


def of_one_look():
    """One look at complete data, by `fixed`."""
    for reward, options in REWARDS.items():
        yield from looked_once(reward, 0.05, options, DECISIONS)
        for floor in (0.01, 0.1):
            yield from looked_once(reward, floor, options, MIDDLING)
    for reward, options in EXTREMES.items():
        few = {**options, "contexts": 4}
        yield from looked_once(reward, 0.05, few, MIDDLING, 2.0)
    for decisions in MIDDLING:
        run = one_look(laws.near(), decisions, estimands=ALL)
        name = f"near the logging policy, {decisions:,}"
        yield Setting(name, "fixed", decisions, run, CLOSE)


def looked_once(reward, floor, options, sizes, factor=CLOSE):
    """A law at several sizes."""
    law = laws.usual(floor=floor, **options)
    for decisions in sizes:
        name = f"{reward}, floor {floor:g}, {decisions:,}"
        is_usual = floor == 0.05 and decisions in MIDDLING
        run = one_look(law, decisions, estimands=ALL if is_usual else OF_ONE)
        times = 1.0 if law.is_continuous and decisions > 20_000 else factor
        yield Setting(name, "fixed", decisions, run, times)


def of_what_is_missing():
    """Lost rewards, mass without support, and decisions dropped from the log."""
    for name, law in MISSING.items():
        for method, factor in (("fixed", CLOSE), ("mixture", 1.0)):
            run = one_look(law(), 2_000, method=method, estimands=ALL)
            yield Setting(name, method, 2_000, run, factor)


def of_nights():
    """A hundred nights with a look at each; nights whose last decisions are young."""
    for reward in ("rare", "half"):
        for horizon in (None, 28, NIGHTS):
            law = laws.usual(contexts=4, **REWARDS[reward])
            words = "open-ended" if horizon is None else f"horizon {horizon}"
            run = every_night(law, NIGHTS, A_NIGHT, horizon=horizon, estimands=ALL)
            # Long after its last checkpoint an interval is as wide as it was there.
            yield Setting(
                f"{reward}, {NIGHTS} nights, {words}",
                "anytime",
                NIGHTS * A_NIGHT,
                run,
                is_compared=horizon in (None, NIGHTS),
            )
    for world in MODES:
        run = watched(world, NIGHTS, A_NIGHT, estimands=ALL)
        name = f"{world}, {NIGHTS} nights"
        yield Setting(name, "mixture by night", NIGHTS * A_NIGHT, run, 0.25)
    for rule in ("mature", "open"):
        run = arriving(rule, 14, A_NIGHT)
        name = f"late rewards, {rule}, 14 nights"
        yield Setting(name, "anytime", 14 * A_NIGHT, run, 0.6)


def of_many():
    """Candidates that are to hold together."""
    yield Setting("100 candidates", "fixed", 1_000, hundred(1_000), 0.2)
    run = appearing(28, A_NIGHT)
    name = "6 candidates, 5 made from the log"
    yield Setting(name, "anytime", 28 * A_NIGHT, run, 0.5)


def of_logs():
    """Parquet logs through `evaluate`."""
    complete = on_disk(laws.usual(contexts=4), 1_000, estimands=ALL)
    yield Setting("log on disk, complete", "fixed", 1_000, complete, 0.4)
    for name, law in MISSING.items():
        run = on_disk(law(), 1_000)
        yield Setting(f"log on disk, {name}", "fixed", 1_000, run, 0.4)


def everything():
    """All settings by name and method."""
    found = [
        *of_one_look(),
        *of_what_is_missing(),
        *of_nights(),
        *of_many(),
        *of_logs(),
    ]
    return {f"{one.name}, {one.method}": one for one in found}
