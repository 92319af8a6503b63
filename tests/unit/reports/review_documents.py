"""Documents of suggestions that the tests of the review page share."""

from __future__ import annotations

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>&\"'<!--"
ARABIC = "كم عدد الزيارات المسموح بها في الشهر؟"
ENDLESS = "a" * 400 + " " + "why does my card not work at all " * 18


def text(question, auto=1, user=0, also_in=()):
    return {
        "question": question,
        "auto_count": auto,
        "user_count": user,
        "also_in": list(also_in),
    }


def suggestion(name, pair, texts, **changed):
    """A suggestion for a pair (id, question, answer) with its totals."""
    auto = sum(each["auto_count"] for each in texts)
    user = sum(each["user_count"] for each in texts)
    found = {
        "id": name,
        "qna_id": pair[0],
        "pair": pair[1],
        "answer": pair[2],
        "head": texts[0]["question"],
        "size": auto + user,
        "auto_count": auto,
        "user_count": user,
        "users": max(1, auto + user - 2),
        "is_one_user": False,
        "is_own_assignment": False,
        "margin": None,
        "state": "new",
        "first_shown": "2019-11-30",
        "texts": texts,
    }
    return found | changed


def document(suggestions=(), **changed):
    counts = {"queries": 0, "tests": 0, "near": 0, "explicit": 0, "unassigned": 0}
    found = {
        "schema": "untaken.suggestions/1",
        "knowledge_base": "bank help",
        "state": "9f2c41d07ab3e655",
        "as_of": "2019-11-30T02:00:00+00:00",
        "minimum": 5,
        "counts": counts | {"gap": 0, "clear": 0, "known": 0, "masked": 0},
        "suggestions": list(suggestions),
        "gaps": [],
        "masked": [],
        "held_back": [],
        "conflicts": [],
        "orphans": [],
        "reviewed": [],
        "reasons": [],
    }
    return found | changed


PIN = (
    12,
    "How do I change my PIN?",
    (
        "You can change the PIN of your card at any cash machine of ours.\\n\\n"
        "1. Insert the card and choose **PIN services**.\\n"
        "2. Enter the old PIN, then the new one twice.\\n\\nA new PIN is valid at "
        "once. After three wrong attempts the card is blocked until midnight."
    ),
)
ARRIVAL = (7, "When will my new card arrive?", "Within five working days.")
VISITS = (
    31,
    "¿Cuántas visitas incluye mi cuenta?",
    "Diez visitas al mes. Después, 1 €.",
)
LOST = (
    40,
    "My card was lost or stolen",
    "Block it in the app under Cards, then Block.",
)
USUAL = [
    suggestion(
        "a41f",
        ARRIVAL,
        [
            text("where is my new card", 9, 3),
            text("my card still has not arrived", 6),
            text("card delivery how long", 4, 1),
            text("is there a tracking number for the card you sent me", 2),
            text("new card??? 😀", 1, 1),
        ],
    ),
    suggestion(
        "b07c",
        PIN,
        [
            text("i forgot my pin", 7, 2, ["d93e"]),
            text("change pin code", 4),
            text("can i choose my own pin in the app or only at the machine", 2, 1),
        ],
        state="grown",
        first_shown="2019-11-24",
    ),
    suggestion(
        "c5d2",
        VISITS,
        [
            text("cuántas visitas puedo hacer", 3),
            text(ARABIC, 2, 1),
            text("visitas?", 2),
        ],
        is_own_assignment=True,
        margin=0.1234,
    ),
    suggestion(
        "d93e",
        LOST,
        [
            text("i lost my card", 4),
            text("I forgot my PIN!", 1, 0, ["b07c"]),
            text("tarjeta robada", 1),
        ],
        is_one_user=True,
        users=1,
    ),
    suggestion("e1aa", ARRIVAL, [text("card by courier", 5)], state="shown"),
]
FOUND = {
    "counts": {
        "queries": 1840,
        "tests": 12,
        "near": 310,
        "explicit": 44,
        "unassigned": 25,
        "gap": 31,
        "clear": 1380,
        "known": 38,
        "masked": 4,
    },
    "gaps": [
        {
            "head": "can i pay with my watch",
            "size": 9,
            "texts": [
                {"question": "can i pay with my watch", "count": 6},
                {"question": "apple watch payment", "count": 3},
            ],
        },
        {"head": ARABIC, "size": 5, "texts": [{"question": ARABIC, "count": 5}]},
    ],
    "masked": [
        {"qna_id": 7, "question": "send the card to <email> please", "count": 3},
        {"qna_id": 99, "question": "my number is <phone>", "count": 1},
    ],
    "held_back": [
        {
            "qna_id": 12,
            "question": "pin pls",
            "count": 4,
        }
    ],
    "conflicts": [{"question": "hello", "qna_ids": [3, 12]}],
    "orphans": [{"qna_id": 55, "id": "0b1d", "head": "how do i top up by cheque"}],
    "reviewed": [
        {"night": "2019-11-28", "accepted": 14, "rejected": 4},
        {"night": "2019-11-29", "accepted": 0, "rejected": 0},
    ],
    "reasons": [
        {
            "qna_id": 3,
            "reason": "below_minimum",
            "sentence": "The largest group of similar texts has 4 of 5.",
        },
        {
            "qna_id": None,
            "reason": "known",
            "sentence": "38 queries are questions of a pair already.",
        },
    ],
}
HOSTILE = [
    suggestion(
        'x" onclick=alert(1)',
        (-1, EVIL, EVIL),
        [text(EVIL), text("line\r\nend\rtab\tnull\0end"), text("\u202eevil\u2066")],
    ),
    suggestion("y", (2, ENDLESS, ENDLESS * 9), [text(ENDLESS), text(" two  blanks ")]),
]


def many(suggestions=2000, texts=5):
    """A document as large as a page must bear, in 500 pairs."""
    return document(
        [
            suggestion(
                f"{number:016x}",
                (
                    number % 500,
                    f"How do I change setting {number % 500} of my account?",
                    f"Open the app, choose setting {number % 500} and confirm. " * 6,
                ),
                [
                    text(f"please how can i change setting {number} variant {each}", 9)
                    for each in range(texts)
                ],
            )
            for number in range(suggestions)
        ]
    )


def gallery():
    """Documents by name, for the tests here and those in a browser."""
    empty = document(
        reasons=[
            {
                "qna_id": None,
                "reason": "below_minimum",
                "sentence": "the largest group holds 4 of 5 similar queries",
            },
            {
                "qna_id": None,
                "reason": "known",
                "sentence": "already known: 9 queries",
            },
            {"qna_id": 12, "reason": "known", "sentence": "All 9 are known already."},
        ]
    )
    return {
        "usual": document(USUAL, **FOUND),
        "empty": empty,
        "nothing": document(as_of=None),
        "hostile": document(HOSTILE, knowledge_base=f"../{EVIL}"),
        "many": many(),
    }
