"""The suggestions that a file carries for a pair: read in any case, written in one.

Document 003, "Las sugerencias de aprendizaje activo se guardan en la base de
conocimiento exportada", shows the cell SuggestedQuestions of a TSV file: clusters with
`clusterHead`, `totalAutoSuggestedCount`, `totalUserSuggestedCount` and
`alternateQuestionList` of `question`, `autoSuggestedCount`, `userSuggestedCount`. The
service itself exports the same names in PascalCase. The successor's JSON project calls
the list `suggestedQuestions` and has no totals. Clusters smaller than those shown to a
reviewer are kept: that size gates the display, not the file.

The rows of a pair repeat its suggestions: clusters are united by head, and of two
counts of a text the larger holds. They are never added up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from flows.knowledge.jsontext import Array, Node, Object, Scalar
from flows.knowledge.remarks import Place

Casing = Literal["camelCase", "PascalCase"]
# Implicit (auto) and explicit (user) count.
Counts = tuple[int, int]
# Cluster head to the cluster's texts to their counts, in the order of the file.
Suggestions = dict[str, dict[str, Counts]]

LISTS = ("alternateQuestionList", "suggestedQuestions")
COUNTS = ("autoSuggestedCount", "userSuggestedCount")
TOTALS = ("totalAutoSuggestedCount", "totalUserSuggestedCount")
# Far beyond what a log can hold, and what 64 bits hold.
LARGEST_COUNT = 10**15
SHAPE = "Write the list of clusters as the service exports it, unquoted, or []."


def found_casing(name: str) -> Casing:
    """The casing of a name as it was found."""
    return "PascalCase" if name[:1].isupper() else "camelCase"


def cased(name: str, casing: Casing) -> str:
    """`name`, which is spelled in camelCase, in the casing."""
    return name[0].upper() + name[1:] if casing == "PascalCase" else name


def read(node: Node, place: Place) -> Suggestions:
    """The suggestions that a JSON value holds; what is wrong is told at `place`."""
    found: Suggestions = {}
    if not isinstance(node, Array):
        place.problem("the suggestions are not a list", remedy=SHAPE)
        return found
    for cluster in node.items:
        if not isinstance(cluster, Object):
            place.problem("a cluster is not an object", remedy=SHAPE)
            continue
        head = _text(cluster, "clusterHead", place)
        for text, counts in _texts(cluster, head, place):
            unite(found, {head: {text: counts}})
        _tell_unknown(cluster, ("clusterHead", *TOTALS, *LISTS), place)
    return found


def unite(into: Suggestions, more: Suggestions) -> None:
    """Adds clusters by head; of two counts of a text the larger holds."""
    for head, texts in more.items():
        united = into.setdefault(head, {})
        for text, (auto, user) in texts.items():
            known = united.get(text, (0, 0))
            united[text] = (max(auto, known[0]), max(user, known[1]))


def for_cell(suggestions: Suggestions, casing: Casing) -> str:
    """The cell SuggestedQuestions, as compact as the service exports it."""
    clusters = []
    for head, texts in suggestions.items():
        totals = [sum(counts[kind] for counts in texts.values()) for kind in (0, 1)]
        entries = [
            {"question": text, **dict(zip(COUNTS, counts, strict=True))}
            for text, counts in texts.items()
        ]
        named = dict(zip(TOTALS, totals, strict=True))
        clusters.append({"clusterHead": head, **named, LISTS[0]: entries})
    return spelled(_all_cased(clusters, casing))


def for_project(suggestions: Suggestions, casing: Casing, *, is_ascii: bool) -> str:
    """The value activeLearningSuggestions of a pair in a JSON project."""
    clusters = [
        {
            "clusterHead": head,
            LISTS[1]: [
                {"question": text, COUNTS[1]: user, COUNTS[0]: auto}
                for text, (auto, user) in texts.items()
            ],
        }
        for head, texts in suggestions.items()
    ]
    return spelled(_all_cased(clusters, casing), is_ascii=is_ascii)


def spelled(value: object, *, is_ascii: bool = False) -> str:
    """Compact JSON text; `is_ascii` escapes every other character."""
    return json.dumps(value, ensure_ascii=is_ascii, separators=(",", ":"))


def _all_cased(value: Any, casing: Casing) -> Any:  # noqa: ANN401 - a JSON value
    if isinstance(value, dict):
        return {cased(k, casing): _all_cased(v, casing) for k, v in value.items()}
    if isinstance(value, list):
        return [_all_cased(entry, casing) for entry in value]
    return value


def _texts(cluster: Object, head: str, place: Place) -> Iterator[tuple[str, Counts]]:
    """The texts of a cluster with their counts; odd totals and heads are told."""
    listed = cluster.get(LISTS[0]) or cluster.get(LISTS[1])
    if not isinstance(listed, Array):
        place.problem("a cluster has no list of questions", remedy=SHAPE, value=head)
        return
    sums = [0, 0]
    texts = set()
    for entry in listed.items:
        if not isinstance(entry, Object):
            place.problem("a question is not an object", remedy=SHAPE, value=head)
            continue
        text = _text(entry, "question", place)
        auto, user = (_count(entry, name, place) for name in COUNTS)
        _tell_unknown(entry, ("question", *COUNTS), place)
        texts.add(text)
        sums = [sums[0] + auto, sums[1] + user]
        yield text, (auto, user)
    for name, total in zip(TOTALS, sums, strict=True):
        if cluster.get(name) is not None and _count(cluster, name, place) != total:
            place.warning(
                f"{name} differs from the sum of its list, {total:,}",
                remedy="The counts of the list are used.",
                value=head,
            )
    if head not in texts:
        place.warning(
            "the cluster head is not in its list",
            remedy="It is kept as the head.",
            value=head,
        )


def _text(parent: Object, name: str, place: Place) -> str:
    node = parent.get(name)
    if isinstance(node, Scalar) and isinstance(node.value, str) and node.value:
        return node.value
    place.problem(f"{name} is not a text", remedy=SHAPE)
    return ""


def _count(parent: Object, name: str, place: Place) -> int:
    """The count called `name`; one that is absent is 0."""
    node = parent.get(name)
    if node is None:
        return 0
    value = node.value if isinstance(node, Scalar) else None
    if type(value) is int and 0 <= value <= LARGEST_COUNT:
        return value
    place.problem(
        f"{name} is not a count",
        remedy="Write a whole number from 0.",
        value=None if value is None else str(value),
    )
    return 0


def _tell_unknown(parent: Object, known: tuple[str, ...], place: Place) -> None:
    """Tells names that nobody reads: a misspelt one would lose its value silently."""
    folded = {name.casefold() for name in known}
    for member in parent.members:
        if member.name.casefold() not in folded:
            place.warning(
                "the name is not known and not used",
                remedy=f"Known ones: {', '.join(known)}.",
                value=member.name,
            )
