"""TSV files of every generation: lines and cells, and how they are written again.

Columns are found by name, in any case and order: `Question` and `Answer` and, where the
generation has them, `Source`, `Metadata` (or `Keywords`), `SuggestedQuestions`,
`IsContextOnly`, `Prompts`, `QnaId`, `SourceDisplayName`. A row is one question; the
rows of a pair repeat everything else. Nothing is quoted and nothing escaped: a
quotation mark is a character, a line ends at a line feed and nowhere else, and the two
characters backslash and n in an answer stay two. Each line keeps its own end.

Pairs of a file without `QnaId` are numbered from 1 in the order in which their rows
first appear; rows belong to one pair when all their cells but the question and the
suggestions are equal. These numbers are never written.

An accepted question is a new row after the last row of its pair. A cell that did not
change is written as it was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from flows.knowledge.encodings import Encoding
from flows.knowledge.pairs import Changes, Pair
from flows.knowledge.suggested import Casing, for_cell

# Folded names.
QUESTION = "question"
ANSWER = "answer"
SOURCE = "source"
METADATA = "metadata"
SUGGESTED = "suggestedquestions"
CONTEXT_ONLY = "iscontextonly"
PROMPTS = "prompts"
QNA_ID = "qnaid"
COLUMNS = (
    *(QUESTION, ANSWER, SOURCE, METADATA, "keywords", SUGGESTED),
    *(CONTEXT_ONLY, PROMPTS, QNA_ID, "sourcedisplayname"),
)
# What a cell of IsContextOnly or of a setting may be, folded.
BOOLEANS = ("true", "false", "")


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its number from 1, its cells, and the line end, if it has one."""

    number: int
    cells: tuple[str, ...]
    end: str

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands in it, not even a tab."""
        return self.cells == ("",)

    def __str__(self) -> str:
        return "\t".join(self.cells) + self.end


@dataclass(frozen=True, slots=True)
class Sheet:
    """A TSV file that was read.

    columns: position of each column by its folded name.
    ids: of each line after the header, the pair; None for an empty line.
    casing: of the names in the file's JSON cells.
    """

    encoding: Encoding
    header: Line
    lines: tuple[Line, ...]
    columns: Mapping[str, int]
    ids: tuple[int | None, ...]
    pairs: Mapping[int, Pair]
    casing: Casing
    # The characters that no cell can hold.
    unwritable: ClassVar[str] = "\t\n\r\0"

    @property
    def questions(self) -> tuple[tuple[int, str], ...]:
        """The questions, each with the id of its pair, in the order of the file."""
        at = self.columns[QUESTION]
        return tuple(
            (qna_id, line.cells[at])
            for line, qna_id in zip(self.lines, self.ids, strict=True)
            if qna_id is not None
        )

    @property
    def has_ids(self) -> bool:
        """Whether the file numbers its pairs itself."""
        return QNA_ID in self.columns

    @property
    def has_suggestions(self) -> bool:
        """Whether the file has the column SuggestedQuestions."""
        return SUGGESTED in self.columns

    def written(self, changes: Changes) -> bytes:
        """The file with the changes, line by line and cell by cell."""
        last = {qna_id: number for number, qna_id in enumerate(self.ids)}
        lines = [self.header]
        for number, (line, qna_id) in enumerate(zip(self.lines, self.ids, strict=True)):
            if qna_id is None:
                lines.append(line)
                continue
            kept = self._with_suggestions(line, qna_id, changes)
            is_last = last[qna_id] == number
            added = changes.questions.get(qna_id, ()) if is_last else ()
            rows = [kept, *(self._with(kept, QUESTION, text) for text in added)]
            # Where the file ended without a line end, it ends without one again.
            inner = line.end or self.header.end
            lines += [replace(row, end=inner) for row in rows[:-1]]
            lines.append(replace(rows[-1], end=line.end))
        return self.encoding.encoded("".join(map(str, lines)))

    def _with_suggestions(self, line: Line, qna_id: int, changes: Changes) -> Line:
        if qna_id not in changes.suggestions:
            return line
        casing = changes.casing or self.casing
        cell = for_cell(changes.suggestions[qna_id], casing)
        return self._with(line, SUGGESTED, cell)

    def _with(self, line: Line, column: str, cell: str) -> Line:
        cells = list(line.cells)
        cells[self.columns[column]] = cell
        return replace(line, cells=tuple(cells))


def lines_of(text: str) -> list[Line]:
    """The lines of a text; one that ends with a line end has no empty last line."""
    *ended, rest = text.split("\n")
    lines = []
    for number, part in enumerate(ended, start=1):
        bare = part.removesuffix("\r")
        lines.append(Line(number, tuple(bare.split("\t")), part[len(bare) :] + "\n"))
    if rest:
        bare = rest.removesuffix("\r")
        lines.append(Line(len(lines) + 1, tuple(bare.split("\t")), rest[len(bare) :]))
    return lines
