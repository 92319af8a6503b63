"""What 000 advises about rewards, said where a log does otherwise; nothing stops.

Source: 000, "Procedimientos recomendados para el tiempo de espera de la recompensa"
(short, but at least twice the time that a reward needs), "Procedimientos recomendados
para calcular la puntuación de recompensa" (what people should achieve, not what they
click; partial rewards for smaller steps) and "Uso de Reward API" (from 0 to 1, below 0
only knowingly).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flows.decisions.profile import Warned
from flows.rewards import composing
from flows.rewards import settings as s
from flows.rewards.counts import Counts, Delays
from flows.rewards.settings import Rewards

NEEDED = 2  # 99th percentiles that a wait has at least
FAR_LONGER = 20  # and those beyond which it only delays the results
NEARLY_ALL = 0.99
QUANTILE = 0.99  # of `Delays.percentile_99_seconds`
LEAST_REWARDS = 100  # below which shares and percentiles say nothing
CLICKS = re.compile(r"cli(ck|c)s?(?![a-z])|clicked", re.IGNORECASE)


def advise(
    rewards: Rewards,
    counts: Counts,
    delays: Delays | None,
    *,
    names: Sequence[str] = (),
    is_loaded_at: bool = True,
) -> tuple[Warned, ...]:
    """The advice that applies.

    names: the factors that events name, where none is declared.
    is_loaded_at: events say when they were loaded.
    """
    arrived = counts.timely + counts.late + counts.late_after_closing
    enough = arrived >= LEAST_REWARDS
    warned = [
        *(_about_wait(rewards, counts, delays) if delays and enough else ()),
        *_about_values(rewards, counts),
        *_about_design(rewards, counts, names),
    ]
    if enough and counts.wrong_item >= NEARLY_ALL * counts.timely:
        warned.append(
            Warned(
                "rewards_name_the_chosen_action",
                "Rewards name the action that was chosen, or none: nearly all name "
                "another, and count as 0.",
                "if action is what users did and not an item, map another column or "
                "leave it out.",
                counts.wrong_item,
            )
        )
    if not arrived and counts.decisions >= LEAST_REWARDS:
        warned.append(
            Warned(
                "rewards_arrived",
                "Rewards arrived: none is there for any decision.",
                "see whether they were loaded; without any, each decision counts as "
                "if it had earned none.",
                counts.decisions,
            )
        )
    if not is_loaded_at:
        warned.append(
            Warned(
                "rewards_say_when_they_were_loaded",
                "Rewards have known_at, the time they were loaded.",
                "add it: without, the receipt stands for it, and a past night that is "
                "run again may know rewards that were loaded later.",
                counts.events,
            )
        )
    return tuple(warned)


def _about_wait(rewards: Rewards, counts: Counts, delays: Delays) -> list[Warned]:
    wait, slow = rewards.wait_seconds, delays.percentile_99_seconds
    said = f"{_span(wait)}; 99 % of rewards take at most {_span(slow)}"
    later = counts.late_after_closing
    if later > (1.0 - QUANTILE) * (counts.timely + counts.late + later):
        slow = max(slow, wait)
        said = f"{_span(wait)}; more than 1 % of rewards take longer"
    if wait < NEEDED * slow:
        return [
            Warned(
                "wait_is_twice_the_delay",
                f"The wait is at least twice the delay of 99 % of rewards: it is {said}"
                ", late ones included.",
                f"wait about {_span(NEEDED * slow)}: a wait that is too short turns "
                "rewards that were still to come into none.",
                counts.late + later,
            )
        ]
    if wait > FAR_LONGER * slow and wait > min(s.USUAL_WAITS):
        return [
            Warned(
                "wait_is_no_longer_than_needed",
                f"The wait is as short as users allow: it is {said}.",
                f"{_span(max(NEEDED * slow, min(s.USUAL_WAITS)))} would do; every "
                "result comes later by the wait.",
                counts.decisions,
            )
        ]
    return []


def _about_values(rewards: Rewards, counts: Counts) -> list[Warned]:
    judged = counts.observed + (counts.default if rewards.default is not None else 0)
    if judged < LEAST_REWARDS:
        return []
    warned = []
    for value, seen in ((0, counts.zeros), (1, counts.ones)):
        same = seen + (counts.default if rewards.default == value else 0)
        if same >= NEARLY_ALL * judged:
            warned.append(
                Warned(
                    f"rewards_are_not_nearly_all_{value}",
                    f"Rewards differ: {same / judged * 100:.1f} % of them are {value}.",
                    "reward the smaller steps on the way too, by factors: what hardly "
                    "ever differs needs many decisions to tell candidates apart.",
                    same,
                )
            )
    return warned


def _about_design(
    rewards: Rewards, counts: Counts, names: Sequence[str]
) -> list[Warned]:
    warned = []
    if rewards.wait_seconds not in s.USUAL_WAITS:
        warned.append(
            Warned(
                "wait_is_a_usual_one",
                "The wait is 10 minutes, or 4, 12 or 24 hours: it is "
                f"{_span(rewards.wait_seconds)}.",
                "keep it, if users take that long; the four are what others chose.",
                counts.decisions,
            )
        )
    if (clicked := _only_clicks(rewards, names)) is not None:
        warned.append(
            Warned(
                "clicks_are_not_the_only_factor",
                f"Something else than clicks is rewarded: {clicked!r} is all there is.",
                "reward what people should achieve, not only what they do: rewarding "
                "clicks alone selects what is clicked most.",
                counts.observed,
            )
        )
    lowest, highest = rewards.reward_range
    if lowest < 0 and not rewards.negative_is_intended:
        warned.append(
            Warned(
                "negative_rewards_are_intended",
                f"Rewards lie between 0 and 1: reward_range starts at {lowest:g}.",
                "declare negative_is_intended = true, if something is worse than "
                "nothing; otherwise start the range at 0.",
                counts.observed,
            )
        )
    most = composing.highest(rewards)
    if most is not None and most > highest:
        warned.append(
            Warned(
                "factors_fit_the_range",
                f"All factors together stay in the range: they reach {most:g}, it ends "
                f"at {highest:g}.",
                "lower the weights, put factors that exclude each other into one "
                "group, or declare the range they have.",
                counts.observed,
            )
        )
    return warned


def _only_clicks(rewards: Rewards, names: Sequence[str]) -> str | None:
    """The name of the only factor, where it is about clicks."""
    if rewards.factors:
        (first, *others) = rewards.factors
        said = f"{first.name} {first.condition or ''}"
        return first.name if not others and CLICKS.search(said) else None
    only = names[0] if len(names) == 1 else rewards.theirs("reward")
    return only if len(names) < 2 and CLICKS.search(only) else None  # noqa: PLR2004


def _span(seconds: float) -> str:
    """A duration in its largest fitting unit."""
    for name, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds:.3g} seconds"
