"""Alternate questions for a knowledge base, from the questions that users asked.

Logs in: `logs`, `events` files, and each event once · `questions`, `feedback` the two
logs · `near` which answers lay close together · `personal`, `masking`, `users` what
tells who asked is masked or hashed · `texts` the key of a text · `signals` one frame of
all of it · `broken` what is refused.

Groups: `pool` the open texts · `vectors`, `embed` texts as vectors · `assign` which
pair a text may belong to · `leader`, `clusters`, `heads` groups within a pair ·
`lexical` the engine.

Suggestions: `cycle` one run · `state` what stays between runs · `reviews`, `lookup`
what people decide · `withdrawing` what they take back · `exporting` what returns to the
knowledge base · `summary` a run in words.
"""
