"""Tables of what became of decisions and rewards, as `tables` makes them.

What did not occur has no row. A reward that was looked at for two days that meet
belongs to the decision it names, and counts there.
"""

from __future__ import annotations

from flows.reports import looks, words
from flows.reports.answer import LOGGING
from flows.reports.entries import Document
from flows.reports.numbers import lone, percent
from flows.reports.phrases import about, counted, day_in_words, duration
from flows.reports.tables import Table
from flows.reports.words import Cell, cell

MOST_DAYS = 60
STATUSES = {
    "observed": ("With a reward", "it was received in time"),
    "default": ("By default", "none was received in time; each earns the default"),
    "missing": ("Missing", "none is there; intervals allow for any in the range"),
    "unactivated": ("Not activated", "not activated in time, and left out"),
    "immature": ("Too young", "the wait is not over; left out, even with a reward"),
}
# What a count of events means; {} is filled by `_meanings`.
EVENTS = {
    "timely": ("In time", "received {window}"),
    "before_the_decision": (
        "Before the decision",
        "of those in time: received before it, as clocks differ",
    ),
    "wrong_item": (
        "For another action",
        "of those in time: not for the action taken, so worth 0",
    ),
    "late": ("Late", "received when the wait was over; they count for nothing"),
    "at_the_boundary": (
        "Exactly at the end",
        "of the late ones: received just when the wait ended",
    ),
    "late_after_closing": (
        "Late by days",
        "received when the night of their decision had closed; they count for nothing",
    ),
    "too_early": ("Too early", "received more than {backward} before the decision"),
    "waiting": ("Not looked at yet", "their decisions are too young"),
    "duplicates": ("Repeated", "the same reward_id again; the first one counts"),
    "contradicting": ("Contradicting", "of the repeated: not what the first one says"),
    "ties": (
        "Ties",
        "decisions whose first rewards came at one instant and differ{first}",
    ),
    "dangling": ("Without a decision", "no decision has their id"),
    "no_such_slot": (
        "Without a slot",
        "their decision does not have the slot they name",
    ),
    "outside": (
        "Beyond the reward range",
        "by itself; only what a decision earns in all has to lie in it",
    ),
    "clipped": (
        "Cut to the reward range",
        "decisions that earned more or less in all",
    ),
    "activations": ("Activations", "all that the night knows"),
    "dangling_activations": (
        "Activations without a decision",
        "no decision of a day has their id; it may be of the day beside",
    ),
    "late_activations": ("Late activations", "received when the wait was over"),
}
# Of a day, what is not usual.
ODD = {
    "unactivated": "not activated",
    "immature": "too young",
    "before_the_decision": "before the decision",
    "wrong_item": "for another action",
    "late": "late",
    "late_after_closing": "late by days",
    "at_the_boundary": "exactly at the end",
    "too_early": "too early",
    "duplicates": "repeated",
    "contradicting": "contradicting",
    "ties": "tied",
    "dangling": "without a decision",
    "no_such_slot": "without a slot",
    "outside": "beyond the reward range",
    "clipped": "cut to the reward range",
    "dangling_activations": "activations without a decision",
    "late_activations": "late activations",
}


def factors(document: Document) -> Table | None:
    """The declared factors of a reward; None where there are none."""
    rows = [
        (
            factor["name"],
            _condition(factor),
            [Cell(lone(factor["weight"]), "")],
        )
        for factor in document["rewards"]["declared"]["factors"]
    ]
    if not rows:
        return None
    return Table("Factors", "What a reward is composed of.", ("Factor", "Weight"), rows)


def _condition(factor: Document) -> str:
    told = factor["condition"] or "times the rewards that name it"
    if factor["condition"]:
        told = f"when {told}"
    group = factor["group"]
    return f"{told}; of group {group} only the highest" if group else told


def decisions(document: Document) -> Table:
    """What became of decisions."""
    counts, days = document["rewards"]["counts"], document["rewards"]["days"]
    rows = []
    rewarded = counts["rewarded_unactivated"]
    for name, (label, meaning) in STATUSES.items():
        if count := counts[name]:
            also = ""
            if name == "unactivated" and rewarded:
                also = f", though {rewarded:,} of them have a reward"
            share = percent(count / counts["decisions"])
            rows.append((label, f"{meaning}{also}", [Cell(f"{count:,}", share)]))
    return Table(
        "Decisions",
        f"What became of the {counted(counts['decisions'], 'decision')} of "
        f"{counted(len(days), 'day')}.",
        ("Decisions", "Count"),
        rows,
    )


def events(document: Document) -> Table | None:
    """What became of rewards and activations; None where there were none."""
    found, said = document["rewards"], document["rewards"]["declared"]
    backward, early = "an instant", ""
    if said["backward_seconds"]:
        backward = duration(said["backward_seconds"])
        early = f", or up to {backward} before"
    first = "; the first row counts" if said["aggregation"] == "earliest" else ""
    window = f"less than {duration(said['wait_seconds'])} after the decision{early}"
    rows = [
        (
            label,
            meaning.format(window=window, backward=backward, first=first),
            [Cell(f"{found['counts'][name]:,}", "")],
        )
        for name, (label, meaning) in EVENTS.items()
        if found["counts"][name]
    ]
    if not rows:
        return None
    return Table(
        "Rewards",
        "What became of the rewards that the night knows.",
        ("Rewards", "Count"),
        rows,
    )


def days(document: Document) -> Table:
    """The same day by day, the last ones first."""
    every = document["rewards"]["days"]
    rows = [
        (day_in_words(day["day"]), _about(day), _of_day(day["counts"]))
        for day in reversed(every[-MOST_DAYS:])
    ]
    left = len(every) - len(rows)
    more = f" The last {len(rows)} of {len(every)}." if left else ""
    return Table(
        f"{counted(len(rows), 'day')}, one by one",
        "What became of each day's decisions, and how long its rewards took, late ones "
        f"included.{more}",
        ("Day", "With a reward", "Without"),
        rows,
    )


def _about(day: Document) -> str:
    """What is special about a day, and how long its rewards took."""
    told = ["open"] if day["is_open"] else []
    if day["known_from"] > day["day"]:
        told.append(f"with rewards known since {day_in_words(day['known_from'])}")
    if took := day["delays"]:
        half, most = took["median_seconds"], took["percentile_99_seconds"]
        told.append(
            f"half of its rewards within {about(half)}, 99 % within {about(most)}"
        )
    counts = day["counts"]
    told += [f"{counts[name]:,} {odd}" for name, odd in ODD.items() if counts[name]]
    return "; ".join(told)


def _of_day(counts: Document) -> list[Cell]:
    kind = next((k for k in ("default", "missing") if counts[k]), "")
    return [
        Cell(
            f"{counts['observed']:,}",
            percent(counts["observed"] / counts["decisions"]),
        ),
        Cell(f"{counts['default'] + counts['missing']:,}", kind),
    ]


def without_default(document: Document) -> Table | None:
    """Values and improvements with the default reward and without; None if none is."""
    if (declared := document["default_reward"]) is None or not declared["without"]:
        return None
    found = {each["candidate"]: each for each in declared["without"]}
    low, high = document["evaluation"]["reward_range"]
    default = declared["reward"]
    every = [document["logging_policy"] | {"candidate": LOGGING}]
    every += words.ranked(document["candidates"])
    rows = []
    for each in every:
        if other := found.get(name := each["candidate"]):
            who = "logging policy" if name == LOGGING else name
            with_it, without = (
                f"the default, {lone(default)}",
                f"anything from {lone(low)} to {lone(high)}",
            )
            rows.append((who, with_it, _estimates(document, each)))
            rows.append((who, without, _estimates(document, other)))
    made = looks.made(document, [each["value"] for each in found.values()])
    phrase = words.unit(document).phrase
    return Table(
        "With the default reward and without it",
        f"Reward {phrase} since the start; {made}. First with the default reward, as "
        "the job declares it: the answer rests on that. Beneath it, what holds "
        "whatever decisions without a reward would have earned.",
        ("Candidate", "Improvement", "Value"),
        rows,
    )


def _estimates(document: Document, entry: Document) -> list[Cell]:
    """Improvement, which the logging policy has none of, and value."""
    unit = words.unit(document)
    gained = entry.get("improvement")
    return [
        Cell("", "") if gained is None else cell(gained, unit, sign=True),
        cell(entry["value"], unit, sign=False),
    ]
