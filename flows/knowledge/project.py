"""The JSON project of the successor service, read and written in place.

`{"metadata": {"language", ...}, "assets": {"qnas": [{"id", "answer", "source",
"questions": [], "metadata": {}, "dialog", "activeLearningSuggestions": [{"clusterHead",
"suggestedQuestions": [{"question", "userSuggestedCount", "autoSuggestedCount"}]}]}]}}`,
names in any case; of a pair only `id` is required. An accepted question is a new entry
of `questions`. The text is written in pieces: each as it was found, except the values
that changed, so layout, escapes and everything this module does not know stay.

Rows are lines of the text, columns places in it such as `assets.qnas[3].id`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

from flows.knowledge import jsontext, pairs, suggested
from flows.knowledge.encodings import Encoding, decoded
from flows.knowledge.jsontext import Array, Node, Object, Scalar
from flows.knowledge.pairs import Changes, Pair, Settings
from flows.knowledge.remarks import Findings, Place
from flows.knowledge.suggested import Casing, cased

QUESTIONS = "questions"
SUGGESTIONS = "activeLearningSuggestions"
# The characters from one place up to another become a text.
Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Project:
    """A JSON project that was read.

    records: the object of each pair in the text, by the pair's id.
    casing: of the names in those objects.
    is_ascii: whether every character beyond ASCII is escaped.
    """

    encoding: Encoding
    text: str
    records: Mapping[int, Object]
    pairs: Mapping[int, Pair]
    questions: tuple[tuple[int, str], ...]
    casing: Casing
    is_ascii: bool
    settings: Settings
    has_ids: ClassVar[bool] = True
    has_suggestions: ClassVar[bool] = True
    # JSON can spell every character.
    unwritable: ClassVar[str] = ""

    def written(self, changes: Changes) -> bytes:
        """The text with the changed values put in their places."""
        pieces = []
        at = 0
        edits = sorted(self._edits(changes), key=lambda edit: edit[:2])
        for start, end, value in edits:
            pieces += [self.text[at:start], value]
            at = end
        return self.encoding.encoded("".join([*pieces, self.text[at:]]))

    def _edits(self, changes: Changes) -> Iterator[Edit]:
        for qna_id, questions in changes.questions.items():
            texts = [self._spelled(question) for question in questions]
            yield self._appended(self.records[qna_id], texts)
        for qna_id, suggestions in changes.suggestions.items():
            value = suggested.for_project(
                suggestions,
                changes.casing or self.casing,
                is_ascii=self.is_ascii,
            )
            yield self._set(self.records[qna_id], SUGGESTIONS, value)

    def _spelled(self, value: str) -> str:
        return suggested.spelled(value, is_ascii=self.is_ascii)

    def _appended(self, record: Object, texts: list[str]) -> Edit:
        """New entries at the end of the questions, laid out as the last one."""
        listed = record.get(QUESTIONS)
        if not isinstance(listed, Array) or not listed.items:
            return self._set(record, QUESTIONS, f"[{','.join(texts)}]")
        last = listed.items[-1]
        lead = jsontext.lead(self.text, last.start)
        return last.end, last.end, "".join(f",{lead}{text}" for text in texts)

    def _set(self, record: Object, name: str, value: str) -> Edit:
        """The value of a name; a name that is absent follows the last one."""
        for member in record.members:
            if member.name.casefold() == name.casefold():
                return member.node.start, member.node.end, value
        last = record.members[-1]
        lead = jsontext.lead(self.text, last.start)
        colon = self.text[last.end : last.node.start]
        spelled = self._spelled(cased(name, self.casing))
        return last.node.end, last.node.end, f",{lead}{spelled}{colon}{value}"


def read_project(content: bytes, findings: Findings) -> Project:
    """Reads the bytes of a JSON project.

    Raises: KnowledgeBaseError with every problem of the file.
    """
    text, encoding = decoded(content, findings)
    try:
        root = jsontext.parsed(text)
    except jsontext.NotJson as error:
        row = text.count("\n", 0, error.position) + 1
        findings.at(row).stop(
            f"not JSON: {error}", remedy="Export the project again as JSON."
        )
    reader = _Reader(text, findings)
    assets = root.get("assets") if isinstance(root, Object) else None
    listed = assets.get("qnas") if isinstance(assets, Object) else None
    if not isinstance(listed, Array):
        findings.at(column="assets.qnas").stop(
            "this is not a knowledge base: it has no list of pairs",
            remedy="Export the project of the question answering service as JSON.",
        )
    for number, node in enumerate(listed.items):
        reader.record(node, f"assets.qnas[{number}]")
    findings.stop_if_any()
    pairs.tell_crowded(reader.questions, findings)
    first = next(iter(reader.records.values()), None)
    return Project(
        encoding,
        text,
        reader.records,
        reader.pairs,
        tuple(reader.questions),
        suggested.found_casing(first.members[0].name if first else ""),
        text.isascii() and "\\u" in text,
        Settings(language=_language(root)),
    )


def _language(root: Node) -> str | None:
    metadata = root.get("metadata") if isinstance(root, Object) else None
    node = metadata.get("language") if isinstance(metadata, Object) else None
    value = node.value if isinstance(node, Scalar) else None
    return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads pair after pair; what it holds grows."""

    text: str
    findings: Findings
    records: dict[int, Object] = field(default_factory=dict)
    pairs: dict[int, Pair] = field(default_factory=dict)
    questions: list[tuple[int, str]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        lengths = (len(line) + 1 for line in self.text.split("\n"))
        self.starts.extend(accumulate(lengths, initial=0))

    def record(self, node: Node, path: str) -> None:
        """Reads the pair at `path`."""
        place = self._place(node, path)
        if not isinstance(node, Object):
            place.problem("the pair is not an object", remedy="Export it again.")
            return
        qna_id = self._id(node, path)
        if qna_id is not None and qna_id in self.records:
            place.problem(
                "two pairs have one id", remedy="Number one anew.", value=str(qna_id)
            )
        answer = self._text(node, "answer", path)
        pairs.tell_long("answer", answer, pairs.LONGEST_ANSWER, place)
        pair = Pair(
            answer,
            self._text(node, "source", path),
            tuple(self._metadata(node, path)),
            self._suggestions(node, path),
        )
        questions = list(self._questions(node, path))
        if qna_id is not None:
            self.questions.extend((qna_id, text) for text in questions)
            self.records[qna_id] = node
            self.pairs[qna_id] = pair

    def _place(self, node: Node, path: str) -> Place:
        return self.findings.at(bisect_right(self.starts, node.start), path)

    def _id(self, record: Object, path: str) -> int | None:
        node = record.get("id")
        value = node.value if isinstance(node, Scalar) else None
        if type(value) is int and 0 <= value <= pairs.LARGEST_ID:
            return value
        self._place(node or record, f"{path}.id").problem(
            "not a whole number from 0",
            remedy="Give the pair a number of its own.",
            value=None if value is None else str(value),
        )
        return None

    def _text(self, parent: Object, name: str, path: str) -> str:
        """The text called `name`, empty when it is absent."""
        node = parent.get(name)
        if node is None:
            return ""
        return self._value(node, f"{path}.{name}")

    def _value(self, node: Node, path: str) -> str:
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return node.value
        self._place(node, path).problem("not a text", remedy="Write it in quotes.")
        return ""

    def _questions(self, record: Object, path: str) -> Iterator[str]:
        listed = record.get(QUESTIONS)
        if listed is None:
            return
        if not isinstance(listed, Array):
            self._place(listed, f"{path}.{QUESTIONS}").problem(
                "the questions are not a list", remedy="Write a list of texts."
            )
            return
        for number, node in enumerate(listed.items):
            inside = f"{path}.{QUESTIONS}[{number}]"
            text = self._value(node, inside)
            place = self._place(node, inside)
            if not text.strip():
                place.problem("the question is empty", remedy="Fill it or delete it.")
            pairs.tell_long("question", text, pairs.LONGEST_QUESTION, place)
            yield text

    def _metadata(self, record: Object, path: str) -> Iterator[tuple[str, str]]:
        node = record.get("metadata")
        if isinstance(node, Object):
            for member in node.members:
                inside = f"{path}.metadata.{member.name}"
                yield member.name, self._value(member.node, inside)
        elif node is not None:
            self._place(node, f"{path}.metadata").problem(
                "the metadata is not an object", remedy='Write {"name": "value"}.'
            )

    def _suggestions(self, record: Object, path: str) -> suggested.Suggestions:
        node = record.get(SUGGESTIONS)
        if node is None:
            return {}
        return suggested.read(node, self._place(node, f"{path}.{SUGGESTIONS}"))
