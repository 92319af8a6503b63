"""Alternate questions for a knowledge base, from the questions that users asked.

`texts` the key of a text · `masking` what identifies a person is masked, `users` become
keyed hashes · `questions` and `feedback` read logs · `near` which answers lay close
together · `signals` one frame of all of it.
"""
