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

DECISIONS = (500, 2_000, 20_000, 200_000)
# The factor of settings whose coverage comes near the level.
CLOSE = 3.0
REWARDS = {
    "rare": {"mean": 0.05},
    "half": {"mean": 0.5},
    "between": {"mean": 0.5, "is_continuous": True},
}
EXTREMES = {"very rare": {"mean": 0.005}, "frequent": {"mean": 0.95}}
NIGHTS, A_NIGHT = 100, 200


@dataclasses.dataclass(frozen=True, eq=False)
class Setting:
    """What is drawn and looked at, again and again.

    decisions: of one replication, all looks together.
    run: from a generator to what was found, by estimand.
    """

    name: str
    method: str
    decisions: int
    run: Callable
    factor: float = 1.0


def of_one_look():
    """One look at complete data, by `fixed`."""
    for reward, options in REWARDS.items():
        yield from looked_once(reward, 0.05, options, DECISIONS)
        for floor in (0.01, 0.1):
            yield from looked_once(reward, floor, options, (2_000, 20_000))
    for reward, options in EXTREMES.items():
        few = {**options, "contexts": 4}
        yield from looked_once(reward, 0.05, few, (2_000, 20_000))
    for decisions in (2_000, 20_000):
        yield Setting(
            f"near the logging policy, {decisions:,}",
            "fixed",
            decisions,
            one_look(laws.near(), decisions, estimands=ALL),
            CLOSE,
        )


def looked_once(reward, floor, options, sizes):
    """A law at several sizes."""
    law = laws.usual(floor=floor, **options)
    for decisions in sizes:
        yield Setting(
            f"{reward}, floor {floor:g}, {decisions:,}",
            "fixed",
            decisions,
            one_look(law, decisions, estimands=ALL),
            1.0 if law.is_continuous and decisions > 2_000 else CLOSE,
        )


def of_what_is_missing():
    """Lost rewards, mass without support, and decisions dropped from the log."""
    for name, law in (
        ("rewards lost by their value", laws.hidden()),
        ("floor broken", laws.gaps()),
        ("lost and broken", laws.hidden_gaps()),
        ("sampled by reward", laws.sampled()),
    ):
        for method in ("fixed", "mixture"):
            run = one_look(law, 2_000, method=method, estimands=ALL)
            yield Setting(name, method, 2_000, run, CLOSE if method == "fixed" else 1.0)


def of_nights():
    """A hundred nights with a look at each, the policy that logged held still."""
    for reward in ("rare", "half"):
        for horizon in (None, 28, NIGHTS):
            law = laws.usual(contexts=4, **REWARDS[reward])
            words = "open-ended" if horizon is None else f"horizon {horizon}"
            yield Setting(
                f"{reward}, {NIGHTS} nights, {words}",
                "anytime",
                NIGHTS * A_NIGHT,
                every_night(law, NIGHTS, A_NIGHT, horizon=horizon, estimands=ALL),
            )
    for world in MODES:
        yield Setting(
            f"{world}, {NIGHTS} nights",
            "mixture by night",
            NIGHTS * A_NIGHT,
            watched(world, NIGHTS, A_NIGHT, estimands=ALL),
            0.3,
        )
    for rule in ("mature", "open"):
        yield Setting(
            f"late rewards, {rule}",
            "anytime",
            28 * A_NIGHT,
            arriving(rule, 28, A_NIGHT),
            0.6,
        )


def of_many():
    """Candidates that are to hold together."""
    yield Setting("100 candidates", "fixed", 1_000, hundred(1_000), 0.3)
    yield Setting(
        "candidates made from the log", "anytime", 28 * A_NIGHT, appearing(28, A_NIGHT)
    )


def of_logs():
    """Parquet logs through `evaluate`."""
    for name, law in (
        ("complete", laws.usual(contexts=4)),
        ("rewards lost by their value", laws.hidden()),
        ("floor broken", laws.gaps()),
        ("sampled by reward", laws.sampled()),
    ):
        estimands = ALL if name == "complete" else OF_ONE
        run = on_disk(law, 1_000, estimands=estimands)
        yield Setting(f"log on disk, {name}", "fixed", 1_000, run, 0.6)


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
