"""An evaluation as a document for machines: `untaken.evaluate/1`.

    schema            "untaken.evaluate/1"
    log               files, decisions, rewards, first_at, last_at, actions,
                      sum_deviation (largest distance of a probability sum from 1)
    reward_range, propensity_floor, least_sample_probability, method, confidence,
    logging (fixed | adaptive | reacting), drift
    logging_policy    value: the mean reward of the policy that ran
    candidates        one entry a candidate, in the order given:
        candidate, spec, decisions
        value, improvement
            estimate, lower, upper, identified_lower, identified_upper (in the unit of
            the reward; null when not known), method, confidence, look, assumes
            (constant_mean | running_average), state (estimated | all_rewards_missing |
            nothing_measured | withheld)
        second_lines  where asked for, of value and improvement: method, lower, upper,
                      label (none of them has a finite-sample guarantee)
        missing       reward, support, both (disjoint counts of decisions),
                      unsupported_probability (mean candidate mass without support)
        assumptions   four of assumption, status, finding
        diagnostics   mean_weight, expected_mean_weight (null where the log does not
                      tell support), effective_sample_size, largest_weight, top_share,
                      unknown_actions
    ranking           of the candidates and the logging policy: candidate, best_place,
                      worst_place, worse_than (who is certainly better)
    pairs             where asked for: candidate, other, difference (as value), missing
    by, segments      for a cut: each segment with its candidates
    frequencies       actions: how many were held against their logged probabilities;
                      deviating: action, logged, expected, standard_error, z, allowed
    warnings          rule, sentence, remedy, count

Numbers are finite or null; floats carry 12 significant digits, since the last bits of a
sum differ from machine to machine.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from flows.offpolicy import frequencies
from flows.offpolicy.estimate import Estimate
from flows.offpolicy.evaluation import Compared, Evaluated, Evaluation
from flows.policies import nearest

SCHEMA = "untaken.evaluate/1"
SIGNIFICANT_DIGITS = 12
# What lies below depends on the order in which a row's probabilities are added.
DEVIATION_DECIMALS = 12


def document(evaluation: Evaluation) -> dict[str, Any]:
    """The evaluation as plain dicts, lists, numbers and text."""
    profile, grid, design = evaluation.profile, evaluation.grid, evaluation.design
    names = profile.action_names
    made: dict[str, Any] = rounded(
        {
            "schema": SCHEMA,
            "log": {
                "files": len(evaluation.files),
                "decisions": profile.decisions,
                "rewards": profile.rewards,
                "first_at": profile.first_at,
                "last_at": profile.last_at,
                "actions": len(names),
                "sum_deviation": round(profile.sum_deviation, DEVIATION_DECIMALS),
            },
            "reward_range": [grid.lowest, grid.highest],
            "propensity_floor": grid.floor,
            "least_sample_probability": grid.least_sample_probability,
            "method": design.used,
            "confidence": design.confidence,
            "logging": design.logging,
            "drift": design.is_drifting,
            "logging_policy": {"value": estimate_entry(evaluation.logging.value)},
            "candidates": [entry(n, names) for n in evaluation.candidates],
            "ranking": [asdict(rank) for rank in evaluation.ranking],
            "pairs": [_pair(pair) for pair in evaluation.pairs],
            "by": list(evaluation.by),
            "segments": [
                {
                    "segment": segment,
                    "candidates": [entry(n, names) for n in candidates],
                }
                for segment, candidates in evaluation.segments.items()
            ],
            "frequencies": frequencies.told(evaluation.frequencies),
            "warnings": [asdict(warned) for warned in profile.warned],
        }
    )
    return made


def entry(evaluated: Evaluated, names: tuple[str, ...]) -> dict[str, Any]:
    """One candidate on one set of decisions."""
    finding = evaluated.finding
    return {
        "candidate": evaluated.candidate.name,
        "spec": evaluated.candidate.spec,
        "decisions": finding.decisions,
        "value": estimate_entry(evaluated.value),
        "improvement": estimate_entry(evaluated.improvement),
        "second_lines": {
            estimand: [asdict(line) for line in lines]
            for estimand, lines in evaluated.second_lines.items()
        },
        "missing": asdict(finding.missing),
        "assumptions": [asdict(one) for one in evaluated.assumptions],
        "diagnostics": {
            **asdict(finding.diagnostics),
            "unknown_actions": [
                {"action": action, "nearest": nearest(action, names)}
                for action in evaluated.unknown_actions
            ],
        },
    }


def _pair(pair: Compared) -> dict[str, Any]:
    return {
        "candidate": pair.candidate,
        "other": pair.other,
        "difference": estimate_entry(pair.difference),
        "missing": asdict(pair.finding.missing),
    }


def estimate_entry(estimate: Estimate) -> dict[str, Any]:
    """One estimate; which one it is, the key above it says."""
    fields = asdict(estimate)
    fields.pop("estimand")
    return fields


def rounded(value: Any) -> Any:  # noqa: ANN401 - a JSON value is of any type
    """The same value with floats at 12 significant digits, and without NaN."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return value


def to_json(value: dict[str, Any]) -> str:
    """The document as text: the order of its keys is fixed."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
