from __future__ import annotations

import pytest

from flows.reports import build
from flows.reports.answer import answer, supported_since
from flows.reports.numbers import Unit

NIGHT = "2019-11-30"
HUNDRED = Unit(100, "per 100 decisions")


def candidate(
    name,
    lower,
    upper,
    *,
    since=None,
    state="estimated",
    weight=9.0,
    look="every look",
    fixed_at=None,
):
    return {
        "fixed_at": fixed_at,
        "decisions": 6000,
        "missing": dict.fromkeys(("reward", "support", "both"), 0)
        | {"unsupported_probability": 0.0},
        "diagnostics": {
            "mean_weight": 1.0,
            "expected_mean_weight": 1.0,
            "largest_weight": weight,
        },
        "candidate": name,
        "supported_since": since,
        "improvement": {
            "lower": lower,
            "upper": upper,
            "identified_lower": None,
            "identified_upper": None,
            "confidence": 0.95,
            "look": look,
            "state": state,
        },
    }


def lacking(told, low, high, **missing):
    told["missing"] |= missing
    told["improvement"] |= {"identified_lower": low, "identified_upper": high}
    return told


def ask(*candidates, ranking=None, unit=HUNDRED):
    return answer(candidates, ranking, NIGHT, unit)


def nights(*lowers, last=30):
    first = last - len(lowers) + 1
    return [
        {
            "night": f"2019-11-{first + i:02}",
            "improvement": {"lower": lower, "look": "every look"},
        }
        for i, lower in enumerate(lowers)
    ]


@pytest.mark.parametrize(
    ("lowers", "since"),
    [
        ([], None),
        ([-0.1, -0.1], None),
        ([0.1, 0.1, 0.1], "2019-11-28"),
        ([-0.1, 0.1, 0.1], "2019-11-29"),
        ([0.1, -0.1, 0.1], "2019-11-30"),
        ([0.1, None, 0.1], "2019-11-30"),
        ([0.1, 0.1, -0.1], None),
        ([0.1, 0.0], None),
    ],
)
def test_a_switch_is_supported_since_the_first_night_of_the_unbroken_run(lowers, since):
    assert supported_since(nights(*lowers), NIGHT) == since


def test_a_run_that_ended_before_this_night_supports_nothing():
    assert supported_since(nights(0.1, 0.1, last=29), NIGHT) is None


def test_one_supported_candidate_is_the_answer():
    found = ask(
        candidate("uniform", -0.002, 0.001),
        candidate("thompson", 0.001, 0.004, since="2019-11-27"),
    )
    assert found == {
        "state": "supported",
        "candidate": "thompson",
        "sentence": (
            "thompson would earn 0.10 to 0.40 more reward per 100 decisions than the "
            "logging policy (95 %); switching is supported since 27 November."
        ),
        "supported_since": "2019-11-27",
    }


def test_of_several_supported_the_greatest_lower_end_is_named():
    found = ask(
        candidate("wide", 0.001, 0.9, since=NIGHT),
        candidate("sure", 0.002, 0.004, since="2018-12-31"),
        candidate("third", 0.0001, 0.1, since=NIGHT),
    )
    assert found["candidate"] == "sure"
    assert "since 31 December 2018." in found["sentence"]
    assert found["sentence"].endswith("Switching to wide or third is supported too.")


def test_all_below_zero_is_worse():
    one = ask(candidate("first", -0.004, -0.001))
    assert one["state"] == "worse"
    assert one["sentence"] == (
        "Keep the logging policy: first would earn 0.10 to 0.40 less reward per 100 "
        "decisions (95 %)."
    )
    several = ask(candidate("first", -0.004, -0.001), candidate("x", -0.002, -0.0005))
    assert several["candidate"] == "x"
    assert "both candidates would earn less. The nearest, x," in several["sentence"]


def test_an_interval_across_zero_is_not_enough_evidence():
    found = ask(candidate("thompson", -0.009, 0.013))
    assert found["state"] == "not enough evidence"
    assert found["sentence"] == (
        "Not enough evidence: the log cannot yet tell thompson from the logging "
        "policy. It would earn between 0.9 less and 1.3 more reward per 100 decisions "
        "(95 %)."
    )


def test_candidates_that_earn_less_are_set_aside():
    found = ask(
        candidate("low", -0.004, -0.001),
        candidate("first", -0.02, 0.013),
        candidate("open", -0.009, 0.013),
    )
    assert found["candidate"] == "open"
    assert "tell 2 of the 3 candidates" in found["sentence"]
    assert "the other would earn less" in found["sentence"]


def test_a_candidate_that_acts_as_the_logging_policy_is_not_the_nearest_to_an_answer():
    same = candidate("uniform", -0.0015, 0.0022, weight=1.0)
    assert ask(same, candidate("open", -0.009, 0.013))["candidate"] == "open"


def test_a_candidate_that_acts_as_the_logging_policy_is_nothing_to_switch_to():
    same = candidate("uniform", -0.0015, 0.0022, weight=1.0)
    alone = ask(same)
    assert alone["state"] == "not enough evidence"
    assert alone["sentence"] == (
        "Nothing to switch to: uniform acts as the logging policy does."
    )
    beside = ask(candidate("low", -0.004, -0.001), same)
    assert beside["sentence"].endswith(", and no other candidate would earn more.")


@pytest.mark.parametrize("state", ["withheld", "all_rewards_missing"])
def test_without_any_interval_there_is_no_answer(state):
    found = ask(candidate("thompson", None, None, state=state))
    assert found["state"] == state.replace("_", " ")
    assert found["candidate"] is None
    assert found["sentence"].startswith("No answer: ")


def test_a_withheld_candidate_is_named_beside_the_answer_of_the_others():
    found = ask(
        candidate("thompson", -0.009, 0.013),
        candidate("ranker", None, None, state="withheld"),
    )
    assert found["state"] == "not enough evidence"
    assert found["sentence"].endswith("No interval is given for ranker.")


def test_other_reward_ranges_are_told_per_decision():
    found = ask(candidate("x", -1.0, 2.5), unit=Unit(1, "per decision"))
    assert "between 1.0 less and 2.5 more reward per decision" in found["sentence"]


def test_the_last_of_several_is_named_and_not_counted():
    names = ["a", "b", "c", "d", "e", "f"]
    lowers = [0.006, 0.005, 0.004, 0.003, 0.002, 0.001]
    every = [
        candidate(name, lower, 0.4, since=NIGHT)
        for name, lower in zip(names, lowers, strict=True)
    ]
    assert ask(*every[:5])["sentence"].endswith("to b, c, d or e is supported too.")
    assert ask(*every)["sentence"].endswith("to b, c, d or 2 more is supported too.")


def test_one_candidate_that_earns_less_is_not_several():
    found = ask(candidate("low", -0.004, -0.001), candidate("open", -0.009, 0.013))
    assert "tell 1 of the 2 candidates" in found["sentence"]
    assert "; the other would earn less." in found["sentence"]


def test_missing_rewards_are_told_beside_the_answer():
    found = ask(lacking(candidate("x", -0.09, 0.13), -0.05, 0.08, reward=620))
    assert found["sentence"].endswith(
        " 620 of 6,000 rewards are missing, which by itself leaves open between 5 "
        "less and 8 more."
    )
    both = lacking(candidate("x", 0.01, 0.13), 0.02, 0.08, support=1, both=2)
    assert ask(both)["sentence"].endswith(
        " 2 of 6,000 rewards are missing and 3 of 6,000 decisions lack support, which "
        "by itself leaves open 2.0 to 8.0 more."
    )


def test_a_candidate_without_any_support_is_told_to_have_no_number():
    nothing = {"support": 6000, "unsupported_probability": 1.0}
    found = ask(lacking(candidate("x", -0.3, 0.7), -0.3, 0.7, **nothing))
    assert found["sentence"].endswith(
        " No number can be given for x: the logging policy takes none of its actions "
        "often enough."
    )


def test_rounding_residue_is_no_missing_decision():
    point = lacking(candidate("x", -0.1, 0.1), 0.02, 0.02 + 1e-12, reward=1)
    assert ask(point)["sentence"].endswith("reward per 100 decisions (95 %).")


def test_exploratory_candidates_are_left_out_of_the_answer():
    early = candidate("early", 0.1, 0.2, look="exploratory", fixed_at="2019-12-03")
    found = ask(early, candidate("thompson", -0.009, 0.013))
    assert found["state"] == "not enough evidence"
    assert found["candidate"] == "thompson"
    assert found["sentence"].endswith(" Left out as exploratory: early.")


def test_exploratory_candidates_alone_give_no_answer():
    early = candidate("early", 0.1, 0.2, look="exploratory", fixed_at="2019-12-03")
    later = candidate("later", 0.1, 0.2, look="exploratory", fixed_at="2019-12-09")
    alone = ask(early)
    assert (alone["state"], alone["candidate"]) == ("exploratory", None)
    assert alone["sentence"].endswith("starts when it is fixed, on 3 December 2019.")
    assert ask(later, early)["sentence"].endswith("on 3 December 2019 at the earliest.")


def test_exploratory_nights_support_nothing():
    run = nights(0.1, 0.1, 0.1)
    run[0]["improvement"]["look"] = "exploratory"
    assert supported_since(run, NIGHT) == "2019-11-29"
    run[2]["improvement"]["look"] = "exploratory"
    assert supported_since(run, NIGHT) is None


def rank(name, *better):
    return {"candidate": name, "worse_than": list(better)}


def test_a_supported_candidate_is_compared_with_those_it_certainly_beats():
    best = candidate("best", 0.01, 0.02, since=NIGHT)
    others = [candidate("b", -0.01, 0.005), candidate("c", -0.01, 0.015)]
    ranking = [rank("best"), rank("c"), rank("logging", "best"), rank("b", "best")]
    told = ask(best, *others, ranking=ranking)["sentence"]
    assert told.endswith("since 30 November. It would earn more than b, too.")
    ranking[1] = rank("c", "best")
    told = ask(best, *others, ranking=ranking)["sentence"]
    assert told.endswith(" It would earn more than every other candidate, too.")
    assert "too." not in ask(best, *others)["sentence"]


def test_an_interval_that_leaves_out_nothing_says_that_it_says_nothing(make, acts):
    facts = make(acts("new", spread=9.0), count=1, decisions=23).facts()
    told = build(facts)["answer"]["sentence"]
    assert told.endswith("That is all that rewards allow: the log says nothing yet.")
    facts = make(acts("new", spread=3.0), count=1, decisions=23).facts()
    assert "says nothing" not in build(facts)["answer"]["sentence"]
