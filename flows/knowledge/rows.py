"""Reads the rows of a TSV file into pairs, telling everything that is wrong at once.

Stops: no columns Question and Answer; a row with another number of cells; an empty
question; a `QnaId` that is no whole number; an `IsContextOnly` that is neither true nor
false (a tab too many shifts the cells); suggestions that are not what document 003
shows. Warns: an empty line; a row that repeats the header; rows of one pair that
differ; metadata without a colon; columns that nobody knows; the limits of the service.

Metadata is `name:value`, divided at the first colon (a value may hold further ones);
several are joined by a bar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from flows.errors import counted
from flows.knowledge import jsontext, pairs, suggested, tsv
from flows.knowledge.encodings import decoded
from flows.knowledge.pairs import Pair
from flows.knowledge.remarks import Findings, Place
from flows.knowledge.suggested import Casing
from flows.knowledge.tsv import Line, Sheet

# Up to 18 digits are sure to fit 64 bits.
_WHOLE_NUMBER = re.compile("[0-9]{1,18}")
_FIRST_NAME = re.compile(r'\{\s*"(\w+)"')
SHARED = (tsv.ANSWER, tsv.SOURCE, tsv.METADATA, tsv.CONTEXT_ONLY, tsv.PROMPTS)


def read_sheet(content: bytes, findings: Findings) -> Sheet:
    """Reads the bytes of a TSV file.

    Raises: KnowledgeBaseError with every problem of the file.
    """
    text, encoding = decoded(content, findings)
    header, *lines = tsv.lines_of(text) or [Line(1, ("",), "")]
    columns = _columns(header, findings)
    if len(content) > pairs.LARGEST_TSV_BYTES:
        findings.at().warning(
            f"the file has {len(content):,} bytes, "
            f"{pairs.LARGEST_TSV_BYTES:,} are allowed",
            remedy=pairs.OVER_LIMIT,
        )
    reader = _Reader(header, columns, findings)
    ids = tuple(reader.row(line) for line in lines)
    findings.stop_if_any()
    casing = _casing(lines, columns)
    sheet = Sheet(encoding, header, tuple(lines), columns, ids, reader.pairs, casing)
    pairs.tell_crowded(sheet.questions, findings)
    return sheet


def _columns(header: Line, findings: Findings) -> dict[str, int]:
    """The position of each column by its folded name."""
    place = findings.at(row=header.number)
    columns: dict[str, int] = {}
    for position, spelled in enumerate(header.cells):
        name = spelled.strip().casefold()
        if name in columns:
            place.problem(
                "two columns have one name", remedy="Rename one.", value=spelled
            )
        elif name not in tsv.COLUMNS:
            place.warning(
                "the column is not known", remedy="It is kept as it is.", value=spelled
            )
        columns[name] = position
    if not {tsv.QUESTION, tsv.ANSWER} <= columns.keys():
        place.stop(
            "this is not a knowledge base by its columns",
            value=", ".join(header.cells),
            remedy="A knowledge base has columns Question and Answer, divided by tabs.",
        )
    return columns


def _casing(lines: Sequence[Line], columns: Mapping[str, int]) -> Casing:
    """The casing of the first name in a JSON cell; suggestions before prompts."""
    for column in (tsv.SUGGESTED, tsv.PROMPTS):
        if column not in columns:
            continue
        for line in lines:
            if not line.is_empty:
                match = _FIRST_NAME.search(line.cells[columns[column]])
                if match is not None:
                    return suggested.found_casing(match[1])
    return "camelCase"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads row after row; `pairs` grows.

    numbers: without ids in the file, the number of each pair by what its rows share.
    first: the first row of each pair.
    seen: cells of suggestions already read of each pair: they repeat on every row.
    """

    header: Line
    columns: Mapping[str, int]
    findings: Findings
    pairs: dict[int, Pair] = field(default_factory=dict)
    numbers: dict[tuple[str, ...], int] = field(default_factory=dict)
    first: dict[int, Line] = field(default_factory=dict)
    seen: dict[int, set[str]] = field(default_factory=dict)

    def row(self, line: Line) -> int | None:
        """Reads a row: the pair it belongs to, None for an empty or unreadable one."""
        place = self.findings.at(row=line.number)
        if line.is_empty:
            place.warning("the line is empty", remedy="It is kept.")
            return None
        if len(line.cells) != len(self.header.cells):
            place.problem(
                f"{counted(len(line.cells), 'cell')}, the header has "
                f"{len(self.header.cells)}",
                remedy="Look for a tab or a line feed inside a cell.",
                value=line.cells[0],
            )
            return None
        self._check(line)
        qna_id = self._id(line)
        if qna_id is not None:
            self._pair(line, qna_id)
        return qna_id

    def _cell(self, line: Line, column: str) -> str:
        return line.cells[self.columns[column]] if column in self.columns else ""

    def _place(self, line: Line, column: str) -> Place:
        spelled = self.header.cells[self.columns[column]].strip()
        return self.findings.at(line.number, spelled)

    def _check(self, line: Line) -> None:
        """Tells what is wrong or odd in a row by itself."""
        question = self._cell(line, tsv.QUESTION)
        place = self._place(line, tsv.QUESTION)
        if not question.strip():
            place.problem("the question is empty", remedy="Fill it or delete the row.")
        pairs.tell_long("question", question, pairs.LONGEST_QUESTION, place)
        named = (question.casefold(), self._cell(line, tsv.ANSWER).casefold())
        if named == (tsv.QUESTION, tsv.ANSWER):
            place.warning("the row repeats the header", remedy="It is kept as a pair.")
        if self._cell(line, tsv.CONTEXT_ONLY).strip().casefold() not in tsv.BOOLEANS:
            self._place(line, tsv.CONTEXT_ONLY).problem(
                "neither true nor false",
                remedy="Look for a tab too many in the row.",
                value=self._cell(line, tsv.CONTEXT_ONLY),
            )

    def _id(self, line: Line) -> int | None:
        if tsv.QNA_ID not in self.columns:
            apart = (self.columns[tsv.QUESTION], self.columns.get(tsv.SUGGESTED))
            shared = (c for at, c in enumerate(line.cells) if at not in apart)
            return self.numbers.setdefault(tuple(shared), len(self.numbers) + 1)
        cell = self._cell(line, tsv.QNA_ID)
        if _WHOLE_NUMBER.fullmatch(cell.strip(" ")):
            return int(cell)
        self._place(line, tsv.QNA_ID).problem(
            "not a whole number",
            remedy="Give the row the number of its pair, or delete the row.",
            value=cell,
        )
        return None

    def _pair(self, line: Line, qna_id: int) -> None:
        """Reads what the rows of a pair share, from the first of them."""
        first = self.first.setdefault(qna_id, line)
        if first is line:
            answer = self._cell(line, tsv.ANSWER)
            place = self._place(line, tsv.ANSWER)
            pairs.tell_long("answer", answer, pairs.LONGEST_ANSWER, place)
            self.pairs[qna_id] = Pair(
                answer, self._cell(line, tsv.SOURCE), tuple(self._metadata(line))
            )
        else:
            self._compare(line, first)
        self._suggestions(line, qna_id)

    def _metadata(self, line: Line) -> Iterator[tuple[str, str]]:
        for entry in self._cell(line, tsv.METADATA).split("|"):
            name, colon, value = entry.partition(":")
            if colon:
                yield name.strip(), value.strip()
            elif entry.strip():
                self._place(line, tsv.METADATA).warning(
                    "metadata without a colon",
                    remedy="Write name:value, joined by |.",
                    value=entry,
                )

    def _compare(self, line: Line, first: Line) -> None:
        for column in SHARED:
            if self._cell(line, column) != self._cell(first, column):
                self._place(line, column).warning(
                    f"differs from row {first.number:,} of the same pair",
                    remedy="Both are kept; the first one counts.",
                    value=self._cell(line, column),
                )

    def _suggestions(self, line: Line, qna_id: int) -> None:
        """Unites the row's suggestions with those of earlier rows of its pair."""
        cell = self._cell(line, tsv.SUGGESTED).strip()
        seen = self.seen.setdefault(qna_id, set())
        if cell in seen or tsv.SUGGESTED not in self.columns:
            return
        place = self._place(line, tsv.SUGGESTED)
        known = self.pairs[qna_id].suggestions
        read: suggested.Suggestions = {}
        if cell:
            try:
                read = suggested.read(jsontext.parsed(cell), place)
            except jsontext.NotJson as error:
                place.problem(f"not JSON: {error}", remedy=suggested.SHAPE, value=cell)
        if seen and read != known:
            place.warning(
                "the suggestions differ from those of an earlier row of the pair",
                remedy="They are united by cluster head; the larger count holds.",
            )
        seen.add(cell)
        suggested.unite(known, read)
