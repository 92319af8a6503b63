"""User ids as keyed hashes: who asked is counted, not kept.

    user = first 64 bits of HMAC-SHA256(key, id)        (RFC 2104)

What this protects: whoever reads the state or a report, but not the key, can neither
read an id back nor find out whether a known e-mail address is among them, as a hash
without a key would allow by trying addresses. What it does not: whoever holds the key
can try ids; one user's questions stay linked under one key, and so can be deleted
together, but for the same reason are pseudonymous, not anonymous; and what users write
about themselves is in the texts. A new key starts new users. Two of a million users
share a hash with probability 3e-8.
"""

from __future__ import annotations

import polars as pl
import polars_hash as plh

from flows.errors import UsageError

SHORTEST_KEY = 16  # bytes: no one tries 2^128 keys
HEXADECIMALS = 16  # of 64 bits


def user_hash(column: pl.Expr, key: bytes) -> pl.Expr:
    """The keyed hash of each user id.

    column: ids as text; null and the empty text are unknown users.
    key: at least 16 random bytes, kept by the caller apart from what is hashed; HMAC is
    keyed with their hexadecimal text.
    Returns: UInt64, null for unknown users. Raises: UsageError for a short key.
    """
    if len(key) < SHORTEST_KEY:
        raise UsageError(
            f"the key of user ids has {len(key)} bytes; make one of at least "
            f"{SHORTEST_KEY} random bytes and keep it apart from the results"
        )
    known = plh.concat_str(column.replace({"": None}))
    digest = known.chash.hmac_sha256(key=key.hex())
    return digest.str.head(HEXADECIMALS).str.to_integer(base=16, dtype=pl.UInt64)
