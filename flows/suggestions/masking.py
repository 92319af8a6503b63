"""Masks what `flows.suggestions.personal` looks for, before anything sees the texts.

A text without digit, `@`, `=` or `:` is not looked at, and each distinct text once.
Masking a masked text changes nothing: no mask holds what is looked for, and the rules
are applied until they find nothing more. A text is masked when a mask stands in it,
whoever put it there. The result is not anonymous: names and postal addresses stay, and
so does everything that no rule knows.

Source: qna-suggestions section 5.6.
"""

from __future__ import annotations

import polars as pl

from flows.suggestions.personal import AT, GROUPS, MASKS, Group, Rule

SCREEN = rf"[{AT}=:\d]|%40"


def masked(texts: pl.Series) -> pl.DataFrame:
    """Each text with its masks.

    texts: null stays null. Returns: `text` and `is_masked`, one row a text, in order.
    """
    frame = pl.DataFrame({"raw": texts})
    suspects = frame.filter(pl.col("raw").str.contains(SCREEN))["raw"].unique()
    found = pl.DataFrame({"raw": suspects, "masked": _settled(suspects)})
    changed = found.filter(pl.col("masked") != pl.col("raw"))
    looked_up = frame.join(changed, on="raw", how="left", maintain_order="left")
    text = pl.coalesce("masked", "raw")
    is_masked = text.str.contains_any(list(MASKS)).fill_null(value=False)
    return looked_up.select(text=text, is_masked=is_masked)


def _settled(texts: pl.Series) -> pl.Series:
    """The texts after as many rounds of all rules as change something."""
    once = texts
    for group in GROUPS:
        once = _where(once, group.needed, group)
    is_changed = once != texts
    if not is_changed.any():
        return texts
    return once.clone().scatter(
        is_changed.arg_true(), _settled(once.filter(is_changed))
    )


def _where(texts: pl.Series, needed: str, group: Group) -> pl.Series:
    """The texts, those of them changed in which `needed` is found."""
    at = texts.str.contains(needed).arg_true()
    found = texts.gather(at)
    for rule in group.rules:
        found = _replaced(found, rule)
    return texts.clone().scatter(at, found)


def _replaced(texts: pl.Series, rule: Rule) -> pl.Series:
    """The texts with what the rule matches replaced, where it passes its check."""
    if rule.check is None:
        return texts.str.replace_all(rule.pattern, rule.replacement)
    at = texts.str.contains(rule.pattern).arg_true()
    if at.is_empty():
        return texts
    having = texts.gather(at)
    matches = having.str.extract_all(rule.pattern)
    candidates = matches.explode().unique()
    passing = candidates.filter(pl.Series(rule.check(candidates), dtype=pl.Boolean))
    # A text is one part longer than it has matches: nothing follows its last part.
    parts = pl.select(
        at=at,
        part=pl.lit(having).str.split(rule.pattern, literal=False),
        match=pl.lit(matches).list.concat(pl.lit([""])),
    ).explode("part", "match")
    match = pl.col("match").replace(passing, rule.replacement)
    rejoined = (
        parts.with_columns(whole=pl.col("part") + match)
        .group_by("at", maintain_order=True)
        .agg(pl.col("whole").str.join())
    )
    return texts.clone().scatter(rejoined["at"], rejoined["whole"])
