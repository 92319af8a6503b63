"""Knowledge-base files of the question answering service and its successor (003).

`read` takes TSV files of every generation, replica archives and JSON projects;
`written` gives the bytes of such a file with accepted questions and open suggestions.
What was not changed is written as it was found: an untouched knowledge base gives the
bytes that were read.

    base        the knowledge base, read      writing    written again
    tsv, rows   lines and cells; rows to pairs
    project     JSON project                  jsontext   JSON and where its values stand
    replica     ZIP archive                   encodings  bytes to text and back
    suggested   suggestions inside a file     pairs      pairs, limits of the service
    remarks     problems and warnings
"""

from __future__ import annotations

from flows.knowledge.base import KnowledgeBase, read
from flows.knowledge.pairs import Settings
from flows.knowledge.remarks import KnowledgeBaseError, Remark
from flows.knowledge.writing import written

__all__ = [
    "KnowledgeBase",
    "KnowledgeBaseError",
    "Remark",
    "Settings",
    "read",
    "written",
]
