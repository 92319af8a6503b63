"""The page on which content owners decide about suggested alternate questions.

One HTML file that needs nothing else. The suggestions are plain HTML, so they are read,
found and printed without the script; the script adds what decides, searches and saves.
The order is the document's. Texts of users are data: escaped here, handled by the
script as text only, and the page's policy lets no other script, style or host in.

Decisions are saved as `untaken.decisions/1`, with each question as it stands in the
document to the last character: a carriage return, which HTML would read as a line feed,
is written as a reference, and a text with a null, which HTML cannot hold, is carried as
JSON beside it. Nothing here changes a knowledge base: `untaken suggestions apply` does.

Long answers stand once a pair, all of them within 800,000 characters. Lists below the
suggestions end after 200 entries; the JSON has all.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.reports.entries import Document
from flows.reports.numbers import percent
from flows.reports.phrases import counted, day_in_words
from flows.reports.templates import template

if TYPE_CHECKING:
    import jinja2
    import markupsafe

TEMPLATE = Path(__file__).with_name("review.html.j2")
DECISIONS = "untaken.decisions/1"
SHORT = 180  # characters of a question or an answer that are shown unasked
NAME = 60  # characters of a question that names its pair
MOST_OF_ANSWER = 2_000
MOST_OF_ALL_ANSWERS = 800_000
MOST_LISTED = 200
BREAK = re.compile(r"(?:\\n){2,}|\\n(?![a-z])")  # written-out \n, but not C:\new
STATES = {"new": "New", "grown": "Grown", "shown": "Shown before"}
COUNTS = {
    "near": "Answers with near scores",
    "explicit": "Feedback records",
    "unassigned": "No scores in the log: assigned here",
    "gap": "Without a pair",
    "clear": "Answered clearly",
    "known": "A question of a pair already",
    "masked": "Masked: evidence only",
    "tests": "Tests, left out",
}

Pairs = Mapping[int, Document]  # one suggestion of each pair, by its id


def html(document: Document) -> str:
    """The document `untaken.suggestions/1` as a self-contained HTML page."""
    suggestions = document["suggestions"]
    pairs = {each["qna_id"]: each for each in suggestions}
    waiting = Counter(each["qna_id"] for each in suggestions)
    file = f"decisions-{_file_name(document['knowledge_base'])}.json"
    state = {"schema": DECISIONS, "state": document["state"], "file": file}
    return _template().render(
        document=document,
        when=_when(document["as_of"]),
        badge=_badge(len(suggestions), len(pairs)),
        sentence=_sentence(document),
        facts=_facts(document),
        read=_read(document["counts"]),
        cards=_cards(suggestions),
        choices=[
            (qna_id, shortened(pairs[qna_id]["pair"], NAME), waiting[qna_id])
            for qna_id in sorted(pairs, key=lambda it: (_fold(pairs[it]["pair"]), it))
        ],
        why=[
            (_told(each), each["qna_id"])
            for each in document["reasons"]
            if suggestions or _is_of_pair(each)
        ],
        known={qna_id: shortened(each["pair"], NAME) for qna_id, each in pairs.items()},
        reviews=[(day_in_words(each["night"]), each) for each in document["reviewed"]],
        share=_share,
        counted=counted,
        most=MOST_LISTED,
        file=file,
        embedded=json.dumps(state | {"whole": _whole(pairs)}, ensure_ascii=False),
    )


def shortened(text: str, most: int) -> str:
    """The text, cut at a space and with an ellipsis where it is longer than `most`."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return f"{cut[: max(cut.rfind(' '), most // 2)].rstrip()}…"


def _badge(suggestions: int, pairs: int) -> str:
    if not suggestions:
        return "Nothing to review"
    verb = "waits" if suggestions == 1 else "wait"
    return f"{counted(suggestions, 'suggestion')} {verb}, in {counted(pairs, 'pair')}"


def _sentence(document: Document) -> str:
    texts = sum(len(each["texts"]) for each in document["suggestions"])
    if texts:
        asked = f"Users asked {counted(texts, 'question')} in words that no pair holds."
        return f"{asked} Accept what the pair answers; reject the rest."
    told = [_told(each) for each in document["reasons"] if not _is_of_pair(each)]
    return " ".join(told) or "No suggestion waits for a decision."


def _told(reason: Document) -> str:
    """A reason as a sentence, from its capital to its full stop."""
    words = str(reason["sentence"])
    return f"{words[:1].upper()}{words[1:].removesuffix('.')}."


def _is_of_pair(reason: Document) -> bool:
    return reason["qna_id"] is not None


def _facts(document: Document) -> list[tuple[str, str]]:
    """Lines of the header: name and words."""
    queries = counted(document["counts"]["queries"], "query", "queries")
    least = document["minimum"]
    told = [("Log", f"{queries}; {least:,} similar ones make a first suggestion")]
    accepted = sum(night["accepted"] for night in document["reviewed"])
    rejected = sum(night["rejected"] for night in document["reviewed"])
    if accepted + rejected:
        texts = counted(accepted + rejected, "reviewed text")
        share = _share(accepted, rejected)
        told.append(("So far", f"{accepted:,} of {texts} accepted ({share})"))
    return told


def _read(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """What became of the queries, in words; counts without words keep their names."""
    others = [key for key in counts if key not in COUNTS and key != "queries"]
    names = COUNTS | {key: key.replace("_", " ").capitalize() for key in others}
    return [(names[key], counts[key]) for key in names if key in counts]


def _share(accepted: int, rejected: int) -> str:
    decided = accepted + rejected
    return percent(accepted / decided) if decided else "none decided"


def _cards(suggestions: Sequence[Document]) -> list[dict[str, Any]]:
    """What the page shows of each suggestion, in the order of the document."""
    places = {each["id"]: place for place, each in enumerate(suggestions, 1)}
    pairs = {each["id"]: shortened(each["pair"], NAME) for each in suggestions}
    return [
        {
            "id": each["id"],
            "qna_id": each["qna_id"],
            "marks": _marks(each),
            "asked": _asked(each),
            "pair": shortened(each["pair"], SHORT),
            "answer": shortened(_broken(each["answer"]), SHORT),
            "texts": [
                {
                    "question": text["question"],
                    "counts": _counts(text),
                    "also": [(places.get(it), pairs.get(it)) for it in text["also_in"]],
                }
                for text in each["texts"]
            ],
        }
        for each in suggestions
    ]


def _marks(suggestion: Document) -> list[str]:
    marks = [STATES[suggestion["state"]]]
    if suggestion["is_own_assignment"]:
        margin = suggestion["margin"]
        beyond = "" if margin is None else f", margin {margin:.2f}"
        marks.append(f"Own assignment{beyond}")
    if suggestion["is_one_user"]:
        marks.append("One user only")
    return marks


def _asked(suggestion: Document) -> str:
    times = counted(suggestion["size"], "time")
    users = counted(suggestion["users"], "user")
    told = f"Asked {times} by {users}: {_counts(suggestion)}"
    if suggestion["state"] == "new":
        return told
    return f"{told}. First shown {day_in_words(suggestion['first_shown'])}"


def _counts(entry: Document) -> str:
    """Both counts in words; one that is 0 is left out beside one that is not."""
    both = [(entry[f"{kind}_count"], kind) for kind in ("auto", "user")]
    told = [f"{number:,} {kind}" for number, kind in both if number]
    return ", ".join(told) or "0 auto"


def _whole(pairs: Pairs) -> dict[int, list[str]]:
    """Question and answer of the pairs that are shown shortened, for unfolding."""
    most = min(MOST_OF_ANSWER, max(SHORT, MOST_OF_ALL_ANSWERS // max(1, len(pairs))))
    found = {}
    for qna_id, each in pairs.items():
        question, answer = each["pair"], _broken(each["answer"])
        if max(len(question), len(answer)) > SHORT:
            rest = len(answer) - most
            if rest > 0:
                answer = f"{answer[:most]}… ({counted(rest, 'more character')})"
            found[qna_id] = [question, answer]
    return found


def _broken(answer: str) -> str:
    """The answer with the line breaks that its file writes out as two characters."""
    return BREAK.sub("\n", answer)


def _fold(text: str) -> str:
    return text.casefold().lstrip("¿¡ ")


def _when(text: str | None) -> str:
    """An ISO instant as "as of 30 November 2019, 02:00 UTC"; None: nothing ran yet."""
    if text is None:
        return "before the first run"
    moment = dt.datetime.fromisoformat(text).astimezone(dt.UTC)
    return f"as of {day_in_words(moment.date().isoformat())}, {moment:%H:%M} UTC"


def _file_name(name: str) -> str:
    """The name with a hyphen for whatever a file name or a shell may not take."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "knowledge-base"


@lru_cache(maxsize=1)
def _template() -> jinja2.Template:
    from markupsafe import Markup

    filters = {
        "exact": _exact,
        "hashed": _hashed,
        # JSON, and nothing in it can open or close an element.
        "in_script": lambda text: Markup(text.replace("<", r"\u003c")),  # noqa: S704
    }
    return template(TEMPLATE, filters)


def _exact(text: str) -> markupsafe.Markup:
    """The text escaped so that a browser reads it back to the last character."""
    from markupsafe import Markup, escape

    shown = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return Markup(str(escape(shown)).replace("\r", "&#13;"))  # noqa: S704 - escaped


def _hashed(text: str) -> str:
    """The source of an inline style or script for the policy of the page."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
