"""Names and types of the canonical tables (DESIGN section 4), in one place.

The decision log holds one row a decision: `decision_id` text, `decided_at` timestamp
with a zone, `action` text, `actions` list of text and, parallel to it,
`logging_probabilities` list of double, `reward` double (null: not arrived). A log may
add `slot`, `sample_probability`, `model_id` and context columns, which are declared.
"""

from __future__ import annotations

DECISION_ID = "decision_id"
DECIDED_AT = "decided_at"
ACTION = "action"
ACTIONS = "actions"
LOGGING_PROBABILITIES = "logging_probabilities"
REWARD = "reward"
SLOT = "slot"
SAMPLE_PROBABILITY = "sample_probability"

REQUIRED = (ACTION, ACTIONS, LOGGING_PROBABILITIES, REWARD)
OPTIONAL = (SLOT, SAMPLE_PROBABILITY)
CANONICAL = (DECISION_ID, DECIDED_AT, *REQUIRED, *OPTIONAL)

# A distribution may miss one by this much (001; the original tool's tolerance).
SUM_TOLERANCE = 1e-6
# Beyond this a declared tolerance hides distributions that are wrong, not rounded.
LARGEST_SUM_TOLERANCE = 1e-3
# An action logged this close below the floor still has support (relative).
FLOOR_TOLERANCE = 1e-9
