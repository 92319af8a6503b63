"""What policies that did not run would have earned, from the log of one that did.

    from flows.offpolicy import evaluate
    evaluate("log/*.parquet", candidates=["column:new"], reward_range=(0, 1), floor=0.1)

`evaluate` checks the log, counts evidence and returns value and improvement with their
intervals. `OffPolicyValue` and `OffPolicyImprovement` are the same under the names that
users of evaluation suites know (001).
"""

from __future__ import annotations

from flows.offpolicy.criteria import OffPolicyImprovement, OffPolicyValue
from flows.offpolicy.document import document
from flows.offpolicy.evaluate import evaluate
from flows.offpolicy.evaluation import Evaluated, Evaluation

__all__ = [
    "Evaluated",
    "Evaluation",
    "OffPolicyImprovement",
    "OffPolicyValue",
    "document",
    "evaluate",
]
