"""Lines of decision-service logs, imported into the test's folder."""

from __future__ import annotations

import json

import polars as pl
import pytest

from flows.importers import dsjson


@pytest.fixture
def import_lines(tmp_path):
    """Imports lines (dicts, text or bytes); returns what came of them, log, rejects."""

    def run(*lines, max_reject_share=1.0, **options):
        file = tmp_path / "logs" / "log.json"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"\n".join(map(as_bytes, lines)) + b"\n")
        out = tmp_path / "imported"
        found = dsjson([file], out, max_reject_share=max_reject_share, **options)
        log = pl.read_parquet(out / "decisions/*/*.parquet")
        return found, log, pl.read_parquet(out / "rejects.parquet")

    return run


def as_bytes(line):
    if isinstance(line, bytes):
        return line
    return (line if isinstance(line, str) else json.dumps(line)).encode()


@pytest.fixture
def single():
    """A decision of one action, of two, as the service writes it; keys replaced."""

    def make(event="e1", *, chosen=2, reward=1.0, **changed):
        first = chosen
        second = 3 - chosen
        line = {
            "_label_cost": -reward,
            "_label_probability": 0.8,
            "_label_Action": chosen,
            "_labelIndex": chosen - 1,
            "o": [{"v": reward, "EventId": event, "ActionTaken": False}],
            "Timestamp": "2021-02-04T16:31:29.2460000Z",
            "Version": "1",
            "EventId": event,
            "a": [first, second],
            "c": {"_multi": [{"_tag": "red"}, {"_tag": "blue"}]},
            "p": [0.8, 0.2],
            "VWState": {"m": "model-1"},
            "_original_label_cost": -reward,
        }
        line |= changed
        return {key: value for key, value in line.items() if value is not None}

    return make
