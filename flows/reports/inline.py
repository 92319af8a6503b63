"""A picture as an element of a page: named for those who hear it, and bare.

The SVG loses what the page gives it (size, fonts, name spaces) and what says nothing
(roles and classes of every mark, digits beyond a hundredth of a pixel).
"""

from __future__ import annotations

import re
from html import escape

NOISE = re.compile(
    r' (?:class|role|aria-[a-z]+|pointer-events|opacity|font-family)="[^"]*"'
)
LONG = re.compile(r"\d+\.\d{3,}")
EMPTY = re.compile(r'<path class="(?:background|foreground)"[^<>]*/>')


def accessible(svg: str, name: str, title: str, description: str) -> str:
    """The SVG as an element of a page: an image with a title and a description.

    name: prefix of its ids, unique in the page.
    """
    head, _, body = svg.partition(">")
    box = re.search(r'viewBox="(0 0 (\d+) \d+)"', head)
    if box is None:
        raise ValueError(f"The picture {name} has no view box: {head}")
    body = re.sub(r"<[^<>]*>", _quiet, EMPTY.sub("", body))
    return (
        f'<svg viewBox="{box[1]}" role="img" style="max-width:{box[2]}px" '
        f'aria-labelledby="{name}-t" aria-describedby="{name}-d">'
        f'<title id="{name}-t">{escape(title)}</title>'
        f'<desc id="{name}-d">{escape(description)}</desc>{body}'
    )


def _quiet(tag: re.Match[str]) -> str:
    kept = NOISE.sub("", tag.group())
    return LONG.sub(lambda digits: f"{float(digits.group()):.2f}", kept)
