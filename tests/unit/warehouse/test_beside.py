"""Rewards beside a log are the same as rewards in it, however the log is laid out."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from flows.decisions import pieces
from flows.offpolicy.evidence import NO_OTHER
from flows.warehouse import evidence
from flows.warehouse.history import History

ACTIONS = ["a", "b", "c"]
RULE = {"desk": [0.2, 0.3, 0.5], "phone": [0.7, 0.2, 0.1]}
START = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
DAY, SIZE = 86_400, 24
MODULE = """
RULE = {rule!r}

def answers(frame):
    rows = frame.select("device", "actions").iter_rows()
    return [[RULE[device]["abc".index(a)] for a in actions] for device, actions in rows]
"""
CANDIDATES = """
column = "column:{column}"
decision = "by_decision.parquet"
context = "by_context.parquet"
function = "{module}:answers"
"""
REWARDS = 'activations = "activations.parquet"\ndefault = 0.25'
PROPENSITY = 'actions = ["a", "b", "c"]\nfull_support = true'
NAMES = ("column", "decision", "context", "function", "logging")


def decisions():
    """Two days; every fifth one waits for an activation, and half of those get it."""
    rng = np.random.default_rng(1)
    rows = []
    for number in range(2 * SIZE):
        shares = rng.dirichlet(np.ones(3)) * 0.4 + 0.2
        device = ("desk", "phone")[number % 2]
        second = number // SIZE * DAY + 3000 * (number % SIZE)
        rows.append(
            {
                "decision_id": f"d{number}",
                "decided_at": START + dt.timedelta(seconds=second),
                "device": device,
                "action": str(rng.choice(ACTIONS, p=shares)),
                "actions": ACTIONS,
                "logging_probabilities": shares.tolist(),
                "new": RULE[device],
                "is_deferred": number % 5 == 0,
                "is_unactivated": number % 10 == 0,
                "reward": (0.0, 1.0, 0.5, None)[number % 4],
            }
        )
    return pl.DataFrame(rows)


def as_lists(rows):
    return rows, "", "new"


def as_other_lists(rows):
    """Every third decision lists its actions in another order."""
    is_turned = pl.int_range(pl.len()) % 3 == 0
    names = ("actions", "logging_probabilities", "new")
    turned = [
        pl.when(is_turned).then(pl.col(n).list.reverse()).otherwise(n) for n in names
    ]
    return rows.with_columns(turned), "", "new"


def as_structs(rows):
    return rows.with_columns(paired(rows, "action", "probability")), "", "new"


def as_maps(rows):
    return rows.with_columns(paired(rows, "key", "value")), "", "new"


def paired(rows, key, value):
    return [
        pl.Series(
            name,
            [
                [{key: a, value: p} for a, p in zip(ACTIONS, shares, strict=True)]
                for shares in rows[name]
            ],
        )
        for name in ("logging_probabilities", "new")
    ]


def as_columns(rows):
    wide = [
        pl.col(name).list.get(place).alias(f"{letter}_{action}")
        for name, letter in (("logging_probabilities", "p"), ("new", "q"))
        for place, action in enumerate(ACTIONS)
    ]
    return (
        rows.with_columns(wide).drop("logging_probabilities", "new"),
        'columns = { logging_probabilities = "p_*" }',
        "q_*",
    )


def as_propensities(rows):
    place = pl.col("action").replace_strict(ACTIONS, [0, 1, 2], return_dtype=pl.Int64)
    alone = [
        pl.col("logging_probabilities").list.get(place).alias("propensity"),
        pl.col("new").list.get(place).alias("own"),
    ]
    return rows.with_columns(alone).drop("actions"), PROPENSITY, "own"


FORMS = {
    "lists": as_lists,
    "lists in another order": as_other_lists,
    "structs": as_structs,
    "map": as_maps,
    "wide": as_columns,
    "propensity": as_propensities,
}


def write(place, rows, form, *, apart, names=NAMES):
    """A job over the decisions, its rewards in the log or apart."""
    log, said, column = FORMS[form](rows)
    module = f"answers_{place.root.name}"
    (place.root / f"{module}.py").write_text(MODULE.format(rule=RULE))
    table = rows.select("decision_id", "actions", probabilities="new")
    table.write_parquet(place.root / "by_decision.parquet")
    rule = pl.DataFrame({"device": [*RULE], "probabilities": [*RULE.values()]})
    rule = rule.with_columns(actions=pl.lit(ACTIONS, dtype=pl.List(pl.String)))
    rule.write_parquet(place.root / "by_context.parquet")
    spec = CANDIDATES.format(column=column, module=module).splitlines()
    kept = [line for line in spec if line.partition(" ")[0] in names]
    word = form.partition(" ")[0]
    place.apart(
        REWARDS,
        decisions=f'probabilities = "{word}"\n{said}\ncontext = ["device"]',
        candidates="\n".join(kept),
    )
    if not apart:
        text = place.file.read_text()
        start, end = text.index("[rewards]"), text.index("[evaluation]")
        place.file.write_text(text[:start] + text[end:])
        place.write(log, "1.parquet")
        return
    log = log.drop("reward", "is_unactivated")
    # One file holds parts of both days.
    place.write(log[:10], "1.parquet")
    place.write(log[10:30], "2.parquet")
    place.write(log[30:], "3.parquet")
    at = pl.col("decided_at") + pl.duration(seconds=9)
    rewarded = rows.filter(pl.col("reward").is_not_null())
    events = rewarded.select("decision_id", "reward", rewarded_at=at, known_at=at)
    end = START + dt.timedelta(seconds=2 * DAY + 660)
    last = pl.DataFrame({"decision_id": ["ghost"], "reward": [0.0]}).with_columns(
        rewarded_at=pl.lit(end).dt.cast_time_unit("us"),
        known_at=pl.lit(end).dt.cast_time_unit("us"),
    )
    (place.root / "rewards").mkdir()
    pl.concat([events, last]).write_parquet(place.root / "rewards" / "1.parquet")
    active = rows.filter(pl.col("is_deferred") & ~pl.col("is_unactivated"))
    active.select("decision_id", activated_at=at).write_parquet(
        place.root / "activations.parquet"
    )


def in_the_log(rows):
    """The decisions that enter, with the rewards that they end up with."""
    return rows.filter(~pl.col("is_unactivated")).with_columns(
        pl.col("reward").fill_null(0.25)
    )


def counted(place, names=NAMES):
    """The evidence of each candidate; a default reward is one like others."""
    plan = place.judged()
    history = History(plan.keys)
    keys = history.at(history.nights[-1])
    return {
        name: evidence.read(plan.folder, keys, "evidence", (name, NO_OTHER))
        .drop("judged_as_of", "revision", "candidate")
        .with_columns(pl.col("kind") % 4)
        .sort(pl.all())
        .rows()
        for name in names
    }


@pytest.fixture(scope="module")
def wanted(place_at, tmp_path_factory):
    place = place_at(tmp_path_factory.mktemp("inside") / "inside")
    write(place, in_the_log(decisions()), "lists", apart=False)
    found = counted(place)
    assert found["column"] == found["decision"] == found["context"]
    return found


@pytest.mark.parametrize("form", FORMS)
def test_evidence_is_that_of_the_log_with_its_rewards_in_it(place, wanted, form):
    write(place, decisions(), form, apart=True)
    assert counted(place) == wanted


def test_a_log_that_is_read_where_it_lies_gives_the_same_in_pieces(
    place, wanted, monkeypatch
):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 500)
    names = ("column", "context", "logging")
    write(place, decisions(), "lists", apart=True, names=names)
    found = counted(place, names)
    assert found == {name: wanted[name] for name in names}


@pytest.mark.parametrize(
    ("form", "way"),
    [
        ("lists in another order", 'method = "compat"'),
        ("propensity", 'method = "fixed"'),
        ("lists", 'method = "mixture"\ndoubly_robust = true'),
    ],
)
def test_every_method_gives_the_estimates_of_the_log_with_its_rewards(
    places, form, way
):
    found = []
    for name, rows in (("apart", decisions()), ("inside", in_the_log(decisions()))):
        one = places(name)
        names = ("column", "decision")
        write(one, rows, form, apart=name == "apart", names=names)
        text = one.file.read_text()
        one.file.write_text(text.replace('method = "mixture"', way))
        one.night()
        made = pl.concat(one.estimates(f"2024-05-0{night}") for night in (1, 2))
        is_said = pl.col("estimator") != "without default reward"
        found.append(made.filter(is_said).sort(pl.all()).rows())
    assert found[0] == found[1]
    assert len(found[0]) > 10
