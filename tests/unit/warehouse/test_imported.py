"""A log of the retired decision service, read every night."""

from __future__ import annotations

import json

import pytest

from flows.errors import LogError

JOB = """
[job]
name = "shop"
[decisions]
log = "service"
format = "dsjson"
default_reward = 0.0
[evaluation]
reward_range = [0.0, 1.0]
propensity_floor = 0.1
[candidates]
baseline = "first"
[outputs]
report = ["json"]
"""


def line(number, day, reward=1.0):
    shown = number % 2
    return {
        "_label_cost": -reward,
        "_label_probability": 0.5,
        "_label_Action": shown + 1,
        "_labelIndex": shown,
        "o": [{"EventId": f"e{number}", "v": reward}] if reward else [],
        "Timestamp": f"2021-02-0{day}T12:00:{number:02}.0Z",
        "EventId": f"e{number}",
        "a": [1 + shown, 2 - shown],
        "c": {"_multi": [{"_tag": "a"}, {"_tag": "b"}]},
        "p": [0.5, 0.5],
    }


def write(place, name, lines):
    file = place.root / "service" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))


@pytest.fixture
def service(place):
    place.file.write_text(JOB)
    write(place, "1.json", [line(n, 1, float(n % 4 == 0)) for n in range(20)])
    return place


def test_only_new_days_of_a_service_s_log_are_read(service):
    first = service.night()
    assert first.days_read == 1
    assert service.night().days_read == 0
    write(service, "2.json", [line(n, 2) for n in range(20, 30)])
    again = service.night()
    assert (again.days_read, again.nights_estimated) == (1, 1)
    assert str(again.plan.nights[0]) == "2021-02-02"


def test_a_reward_that_was_never_observed_is_the_declared_default(service):
    night = service.night()
    rows = service.estimates(night.plan.nights[0])
    (value,) = rows.filter(
        candidate="logging", window="since_start", estimator="importance weighting"
    )["estimate"]
    assert value == pytest.approx(5 / 20)
    bounds = rows.filter(candidate="logging", estimator="without default reward")
    assert bounds["identified_lower"].item() == pytest.approx(0.25)
    assert bounds["identified_upper"].item() == pytest.approx(1.0)


def test_a_log_that_cannot_be_imported_leaves_the_last_one(service):
    service.night()
    before = service.changes()
    write(service, "2.json", [{"no": "decision"}] * 20)
    with pytest.raises(LogError):
        service.night()
    after = service.changes()
    assert {name: after.get(name) for name in before} == before
