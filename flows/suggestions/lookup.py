"""Which suggestion a reviewer means: its id, or a beginning that no other id shares."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping

from flows.errors import counted

SHOWN = 5


class Refusal(Exception):
    """Why one decision cannot take effect."""


def meant(
    given: str, heads: Mapping[str, str | None], near: Collection[str] = ()
) -> str:
    """The id that is meant by `given`.

    heads: every id there is, with the head of its suggestion where it is kept. near:
    those of them that a typing error may mean.
    Raises: Refusal for none, and for several, which are listed.
    """
    if given in heads:
        return given
    found = sorted(name for name in heads if given and name.startswith(given))
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(_told(name, heads) for name in found[:SHOWN])
        more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
        raise Refusal(
            f"{given!r} begins the ids of {counted(len(found), 'suggestion')}: "
            f"{shown}{more}; write more of the one you mean"
        )
    close = difflib.get_close_matches(given, near, n=1)
    if not close:
        hint = "list the suggestions to see their ids"
    else:
        hint = f"the nearest is {_told(close[0], heads)}"
    raise Refusal(f"suggestion {given!r} is not known; {hint}")


def _told(name: str, heads: Mapping[str, str | None]) -> str:
    return name if heads[name] is None else f"{name} ({heads[name]!r})"
