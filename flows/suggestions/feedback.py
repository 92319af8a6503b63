"""Feedback records: what users chose among the answers they were shown.

A JSON body is what the service's train call takes, in one file or one on each line:

    {"feedbackRecords": [{"userId": "1", "userQuestion": "...", "qnaId": 1}]}

names in any case (`FeedbackRecords`, `qnaID`), `records` for `feedbackRecords` as the
service's successor has it; or a single record. `userQuestion` is needed. `userId`,
`eventId` and `askedAt` (with its zone) may be absent. In Parquet the columns are
`question, qna_id, [user_id], [asked_at], [event_id]`; the names of JSON do as well.

No pair was chosen, which makes the question a content gap, when `qnaId` is absent or
null, says `none`, `none of the above` or nothing, or is not positive: -1 is what the
service answers with when it has no answer, and 0 what a client sends that never set it.
A pair of the knowledge base that really has such an id is chosen by it. Any other
`qnaId` that is no whole number is refused, with the file and the record's position.

Source: document 003; DESIGN section 4; qna-suggestions section 1.1; case Q24.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from flows import queries
from flows.suggestions.logs import IDENTITY, INSTANT, TEXT, Columns, Kind, LogFile, add

PAIR = Kind(
    "varchar",
    lambda t: TEXT.is_fitting(t) or t.is_numeric(),
    "write the number of a pair, or null",
)


def load(
    con: duckdb.DuckDBPyConnection, files: Sequence[LogFile], problems: list[str]
) -> None:
    """Makes the table `feedback_records` of all files."""
    queries.run(con, "suggestions/feedback")
    for file in files:
        if file.schema is None:
            add(con, file, "json_feedback", problems)
            continue
        columns = Columns(file.path, file.schema, [])
        pieces = {
            "their_question": columns.value(
                TEXT, "question", "user_question", is_required=True
            ),
            "their_qna_id": columns.value(PAIR, "qna_id", is_required=True),
            "their_asked_at": columns.value(INSTANT, "asked_at"),
            "their_event_id": columns.value(IDENTITY, "event_id"),
            "their_user_id": columns.value(IDENTITY, "user_id"),
        }
        problems += columns.problems
        if not columns.problems:
            add(con, file, "parquet_feedback", problems, **pieces)
