"""Names and types of the canonical tables (DESIGN section 4), in one place.

The decision log holds one row a decision: `decision_id` text, `decided_at` timestamp
with a zone, `action` text, `actions` list of text and, parallel to it,
`logging_probabilities` list of double (or, of the logged action alone, `propensity`
double), `reward` double (null: not arrived). A log may add `slot`, `sample_probability`
double (the probability with which the decision was kept in the log), `model_id` text
and context columns, which are declared. Where rewards come in a table of their own, it
has none, and may add `is_deferred` boolean (a decision that counts once activated).
"""

from __future__ import annotations

DECISION_ID = "decision_id"
DECIDED_AT = "decided_at"
ACTION = "action"
ACTIONS = "actions"
LOGGING_PROBABILITIES = "logging_probabilities"
PROPENSITY = "propensity"
REWARD = "reward"
SLOT = "slot"
SAMPLE_PROBABILITY = "sample_probability"
MODEL_ID = "model_id"
IS_DEFERRED = "is_deferred"
# Whether a reward is the default one: a column of ours alone.
IS_DEFAULT = "untaken_is_default"
# Of an imported log, why a reward is null: "default" when none was observed.
REWARD_STATUS = "reward_status"
DEFAULT = "default"

# Of which each layout has some (`flows.decisions.layout`).
DISTRIBUTION = (ACTIONS, LOGGING_PROBABILITIES)
OPTIONAL = (SLOT, SAMPLE_PROBABILITY)
CANONICAL = (
    DECISION_ID,
    DECIDED_AT,
    ACTION,
    *DISTRIBUTION,
    PROPENSITY,
    REWARD,
    *OPTIONAL,
    IS_DEFERRED,
    MODEL_ID,
)

# A distribution may miss one by this much (001; the original tool's tolerance).
SUM_TOLERANCE = 1e-6
# Beyond this a declared tolerance hides distributions that are wrong, not rounded.
LARGEST_SUM_TOLERANCE = 1e-3
# An action logged this close below the floor still has support (relative).
FLOOR_TOLERANCE = 1e-9
