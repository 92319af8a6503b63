"""Should we switch? One state, one candidate, one sentence.

The rule, read off the improvement since the start of every candidate that has one:

- *supported*: some candidate's lower end is above 0; of several, the one whose lower
  end is greatest is named. Intervals compare a candidate with the logging policy, never
  candidates with each other.
- *worse*: every candidate's upper end is below 0.
- *not enough evidence*: everything else. Of the candidates whose interval does not lie
  below 0, the one whose lower end is greatest is named; a candidate whose weights are
  all 1 acts as the logging policy does and is named only when there is no other.

Candidates without ends decide nothing. When none has ends the state is *withheld* (the
weights of at least one contradict the logged probabilities) or *all rewards missing*.
Nor do exploratory ones, which may have been shaped by the nights they are estimated on
(validity.md 10); when there is no other, the state is *exploratory*.

Where missing decisions leave the named candidate's improvement open, the sentence says
how far; where its interval leaves out nothing that rewards allow, that it does. Where a
switch is supported, it says which candidates are certainly worse than the one named.

A switch is supported since the first night of the unbroken run of nights, up to this
one, whose lower end was above 0 and not exploratory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.offpolicy.methods import EXPLORATORY
from flows.reports.limits import left_open
from flows.reports.numbers import Unit, difference, exact, percent, shown
from flows.reports.phrases import day_in_words, listed

Candidate = dict[str, Any]

LOGGING = "logging"  # the policy that ran, in a ranking

SUPPORTED = "supported"
WORSE = "worse"
UNDECIDED = "not enough evidence"
WITHHELD = "withheld"
NOTHING_MEASURED = "nothing_measured"
NO_REWARDS = "all rewards missing"
# The one method whose intervals each use the whole error, however many there are.
UNADJUSTED = "compat"

PAIR = 2
SAME_WEIGHT = 1e-6  # logged probabilities are rounded
MOST_NAMED = 3


def is_supported(improvement: dict[str, Any]) -> bool:
    """Whether the whole interval lies above 0 and may be decided on."""
    lower = improvement["lower"]
    return lower is not None and lower > 0 and not is_exploratory(improvement)


def is_worse(improvement: dict[str, Any]) -> bool:
    """Whether the whole interval lies below 0 and may be decided on."""
    upper = improvement["upper"]
    return upper is not None and upper < 0 and not is_exploratory(improvement)


def is_exploratory(estimate: dict[str, Any]) -> bool:
    """Whether nothing may be decided on the interval."""
    return bool(estimate["look"] == EXPLORATORY)


def has_ends(improvement: dict[str, Any]) -> bool:
    """Whether there is an interval to speak of."""
    return improvement["lower"] is not None and improvement["upper"] is not None


def acts_as_logged(candidate: Candidate) -> bool:
    """Whether every importance weight is 1: the candidate is the logging policy."""
    found = candidate["diagnostics"]
    mean, largest = found["mean_weight"], found["largest_weight"]
    if mean is None or largest is None:
        return False
    return bool(largest <= 1 + SAME_WEIGHT and mean >= 1 - SAME_WEIGHT)


def supported_since(nights: Sequence[dict[str, Any]], night: str) -> str | None:
    """First night of the unbroken supported run that ends with `night`.

    nights: entries with "night" (ISO date) and "improvement", oldest first.
    """
    if not nights or nights[-1]["night"] != night:
        return None
    first = None
    for entry in reversed(nights):
        if not is_supported(entry["improvement"]):
            break
        first = str(entry["night"])
    return first


def answer(
    candidates: Sequence[Candidate],
    ranking: Sequence[dict[str, Any]] | None,
    night: str,
    unit: Unit,
) -> dict[str, Any]:
    """The document's answer; candidates in the order of the job file."""
    known = [each for each in candidates if has_ends(each["improvement"])]
    judged = [each for each in known if not is_exploratory(each["improvement"])]
    named: Candidate | None = None
    if not known:
        state, sentence = _without_ends(candidates)
    elif not judged:
        state, sentence = EXPLORATORY, _exploratory(known)
    elif any(is_supported(each["improvement"]) for each in judged):
        state, named, sentence = _supported(judged, ranking or (), night, unit)
    elif all(is_worse(each["improvement"]) for each in judged):
        state, named, sentence = _worse(judged, unit)
    else:
        state, named, sentence = _undecided(judged, unit)
    if named is not None and (told := left_open(named, unit)):
        sentence += f" {told}"
    elif named is not None and _says_nothing(named, unit):
        sentence += " That is all that rewards allow: the log says nothing yet."
    if judged:
        sentence += _left_out(candidates)
    return {
        "state": state,
        "candidate": None if named is None else named["candidate"],
        "sentence": sentence,
        "supported_since": None if named is None else named["supported_since"],
    }


def leading(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate whose lower end is greatest, the earlier one of two equals."""
    return max(candidates, key=lambda each: float(each["improvement"]["lower"]))


def _beaten(named: Candidate, ranking: Sequence[dict[str, Any]]) -> str:
    """Who is certainly worse than the candidate named, beside the logging policy."""
    name = named["candidate"]
    below = [
        str(rank["candidate"])
        for rank in ranking
        if name in rank["worse_than"] and rank["candidate"] != LOGGING
    ]
    if not below:
        return ""
    is_best = len(below) == len(ranking) - 2 > 1  # all but itself and the logging one
    told = "every other candidate" if is_best else listed(below, MOST_NAMED)
    return f" It would earn more than {told}, too."


def _left_out(candidates: Sequence[Candidate]) -> str:
    """The candidates of which nothing is said, and why."""
    silent = [each for each in candidates if not has_ends(each["improvement"])]
    told = f" No interval is given for {_names(silent, 'and')}." if silent else ""
    left = [each for each in candidates if is_exploratory(each["improvement"])]
    left = [each for each in left if each not in silent]
    if left:
        told += f" Left out as exploratory: {_names(left, 'and')}."
    return told


def _exploratory(known: Sequence[Candidate]) -> str:
    if len(known) == 1:
        fixed = known[0]["fixed_at"]
        return (
            f"No answer: {known[0]['candidate']} may still have been changed on the "
            "nights it is judged by. What decides starts when it is fixed, on "
            f"{day_in_words(fixed)}."
        )
    first = min(each["fixed_at"] for each in known)
    return (
        f"No answer: {_names(known, 'and')} may still have been changed on the nights "
        "they are judged by. What decides starts when one of them is fixed, on "
        f"{day_in_words(first)} at the earliest."
    )


def _without_ends(candidates: Sequence[Candidate]) -> tuple[str, str]:
    if any(each["improvement"]["state"] == WITHHELD for each in candidates):
        sentence = (
            "No answer: the importance weights contradict the logged probabilities, "
            "so every interval is withheld. Check how logging_probabilities are logged "
            "and joined before anything is decided."
        )
        return WITHHELD, sentence
    if all(n["improvement"]["state"] == NOTHING_MEASURED for n in candidates):
        sentence = (
            "No answer: no decision has both a reward and support for what a "
            "candidate may do."
        )
        return NO_REWARDS, sentence
    sentence = (
        "No answer: no reward has arrived for any decision, so nothing is known yet "
        "about what a candidate would earn."
    )
    return NO_REWARDS, sentence


def _supported(
    judged: Sequence[Candidate],
    ranking: Sequence[dict[str, Any]],
    night: str,
    unit: Unit,
) -> tuple[str, Candidate, str]:
    supported = [each for each in judged if is_supported(each["improvement"])]
    best = leading(supported)
    since = best["supported_since"] or night
    sentence = (
        f"{best['candidate']} would earn {_improvement(best, unit)} than the logging "
        f"policy {_confidence(best)}; switching is supported since "
        f"{day_in_words(since, year=since[:4] != night[:4])}."
    )
    sentence += _beaten(best, ranking)
    others = sorted(
        (each for each in supported if each is not best),
        key=lambda each: -float(each["improvement"]["lower"]),
    )
    if others:
        sentence += f" Switching to {_names(others, 'or')} is supported too."
    return SUPPORTED, best, sentence


def _worse(judged: Sequence[Candidate], unit: Unit) -> tuple[str, Candidate, str]:
    best = leading(judged)
    said = f"would earn {_improvement(best, unit)} {_confidence(best)}."
    if len(judged) == 1:
        return WORSE, best, f"Keep the logging policy: {best['candidate']} {said}"
    which = "both" if len(judged) == PAIR else f"all {len(judged)}"
    sentence = (
        f"Keep the logging policy: {which} candidates would earn less. The nearest, "
        f"{best['candidate']}, {said}"
    )
    return WORSE, best, sentence


def _undecided(judged: Sequence[Candidate], unit: Unit) -> tuple[str, Candidate, str]:
    start = "Not enough evidence: the log cannot yet tell"
    open_ones = [
        each
        for each in judged
        if not is_worse(each["improvement"]) and not acts_as_logged(each)
    ]
    if not open_ones:
        best = next(each for each in judged if acts_as_logged(each))
        sentence = f"Nothing to switch to: {best['candidate']} acts as the logging "
        sentence += "policy does"
        if len(judged) > 1:
            sentence += ", and no other candidate would earn more"
        return UNDECIDED, best, f"{sentence}."
    best = leading(open_ones)
    name, said = best["candidate"], f"{_improvement(best, unit)} {_confidence(best)}."
    if len(judged) == 1:
        sentence = f"{start} {name} from the logging policy. It would earn {said}"
        return UNDECIDED, best, sentence
    beaten = sum(is_worse(each["improvement"]) for each in judged)
    if beaten:
        which = f"{len(judged) - beaten} of the {len(judged)} candidates from the "
        which += f"logging policy; the other{'s' * (beaten > 1)} would earn less."
    elif len(judged) == PAIR:
        which = "either candidate from the logging policy."
    else:
        which = f"any of the {len(judged)} candidates from the logging policy."
    sentence = f"{start} {which} The nearest to an answer, {name}, would earn {said}"
    return UNDECIDED, best, sentence


def _improvement(candidate: Candidate, unit: Unit) -> str:
    entry = candidate["improvement"]
    pair = shown(entry["lower"], entry["upper"], None, unit)
    return difference(pair, f"reward {unit.phrase}")


def _says_nothing(candidate: Candidate, unit: Unit) -> bool:
    """Whether the interval, as shown, leaves out nothing that is possible."""
    entry = candidate["improvement"]
    pair = shown(entry["lower"], entry["upper"], None, unit)
    whole = exact(unit.span, unit)
    return bool(pair.lower <= -whole and pair.upper >= whole)


def _confidence(candidate: Candidate) -> str:
    return f"({percent(candidate['improvement']['confidence'], places=2)})"


def _names(candidates: Sequence[Candidate], joint: str) -> str:
    return listed([str(each["candidate"]) for each in candidates], MOST_NAMED, joint)
