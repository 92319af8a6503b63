"""A log as oloproof's command takes it: JSONL, the policy as a function, the criteria.

    python tests/bench/peers/project.py LOG FOLDER FLOOR

The candidate's probabilities stand in the input of each case and the function hands
them back, which is the least a policy can do. Nothing here is timed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl

POLICY = """\
from oloproof import system


@system(name="candidate", version="1")
def policy(case):
    return {"probabilities": case["candidate"]}
"""

PROJECT = """\
version: 1
project: bench
dataset: decisions.jsonl
system: {name: candidate, version: "1", callable: "candidate:policy"}
evaluators:
"""
CRITERION = "  - {{type: {}, reward_range: [0, 1], propensity_floor: {}}}\n"
CRITERIA = {"value": "off_policy_value", "improvement": "off_policy_improvement"}


def main() -> None:
    """Writes the three files."""
    log, folder, floor = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True)
    frame = pl.read_parquet(log)
    names = frame["actions"][0].to_list()

    def mapping(column: str) -> pl.Expr:
        return pl.col(column).list.to_struct(fields=names)

    frame.select(
        id="decision_id",
        input=pl.struct(candidate=mapping("candidate")),
        expected=pl.struct(
            action="action",
            logging_probabilities=mapping("logging_probabilities"),
            reward="reward",
        ),
    ).write_ndjson(folder / "decisions.jsonl")
    (folder / "candidate.py").write_text(POLICY)
    criteria = [CRITERION.format(name, floor) for name in CRITERIA.values()]
    (folder / "oloproof.yaml").write_text(PROJECT + "".join(criteria))
    sys.stdout.write(json.dumps({"decisions": frame.height}) + "\n")


if __name__ == "__main__":
    main()
