"""Binary logs say the same as their JSON twins, and what is broken is counted."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
import zstandard

from flows.errors import LogError
from flows.importers import dsjson, fb
from flows.importers.messages import Checkpoint

DATA = Path(__file__).parents[2] / "golden" / "data" / "dsjson"
APPRENTICE = DATA / "fb" / "rl_cb_apprentice_deferred_10.fb"
SAMPLED = DATA / "fb" / "rl_cb_pdrop_05.fb"
COMMON = ["decision_id", "action", "actions", "logging_probabilities", "reward"]


def log_of(out):
    return pl.read_parquet(out / "decisions/*/*.parquet")


def test_a_binary_log_agrees_with_its_twin(tmp_path):
    found = fb([APPRENTICE], tmp_path / "fb")
    assert (found.lines, found.kept, found.rejected) == (10, 7, 0)
    assert found.count("never activated") == 3
    twin = DATA / "rl_cb_apprentice_deferred_7.dsjson"
    dsjson([twin], tmp_path / "json", learning_mode="apprentice")
    columns = [*COMMON, "reward_status", "baseline", "random", "model_id"]
    ours, theirs = (
        log_of(tmp_path / name).select(columns).sort("decision_id")
        for name in ("fb", "json")
    )
    assert ours.equals(theirs)
    assert ours["reward"].sum() == 19


def test_the_probability_of_passing_is_the_sample_probability(tmp_path):
    fb([SAMPLED], tmp_path / "out")
    (row,) = log_of(tmp_path / "out").rows(named=True)
    assert row["sample_probability"] == 0.5
    assert row["actions"] == ["0", "1"]
    assert row["logging_probabilities"] == [0.5, 0.5]
    assert row["reward"] == 1.0


def test_files_of_several_modes_are_imported_apart(tmp_path):
    with pytest.raises(LogError, match="several learning modes: apprentice in"):
        fb([APPRENTICE, SAMPLED], tmp_path / "out")


AT = (2021, 7, 23, 13, 35, 30)


@pytest.mark.parametrize(
    ("function", "reward"),
    [(0, 0.5), (1, 0.0), (2, -0.5), (3, 0.0), (4, -0.5), (5, 0.5)],
)
def test_each_reward_function_is_the_services(function, reward):
    seen = [
        ((*AT, 9), 0.5, None, False),
        ((*AT, 1), -0.5, None, False),  # within a second, arrival decides
        ((*AT, 2), -0.5, None, False),
        ((2020, *AT[1:], 0), None, None, True),  # an activation is no reward
        ((*AT, 3), 0.5, None, False),
    ]
    counted = seen[:-1] if function == 2 else seen
    assert Checkpoint(function, 0.25).reward(counted) == pytest.approx(reward)
    assert Checkpoint(function, 0.25).reward(seen[3:4]) == 0.25
    negative = [((*AT, 0), -1.0, None, False), ((*AT, 0), -0.5, None, False)]
    assert Checkpoint(5, 0.25).reward(negative) == -0.5


@pytest.mark.parametrize("length", [0, 3, 11, 100, 900, 2000, 11_000])
def test_a_file_cut_short_is_refused(tmp_path, length):
    file = tmp_path / "cut.fb"
    file.write_bytes(APPRENTICE.read_bytes()[:length])
    with pytest.raises(LogError):
        fb([file], tmp_path / "out")


def test_broken_bytes_cost_no_event_silently(tmp_path):
    text = APPRENTICE.read_bytes()
    for place in range(230, len(text), 397):
        broken = bytearray(text)
        broken[place : place + 8] = b"\xff" * 8
        file = tmp_path / f"{place}.fb"
        file.write_bytes(broken)
        try:
            found = fb([file], tmp_path / f"out{place}", max_reject_share=1.0)
        except LogError:
            continue
        assert found.kept + found.skipped + found.rejected == found.lines


def built(fields):
    """FlatBuffers bytes of a table: {field: value}; no padding, which no reader needs.

    Values: (struct format, number...), text or bytes, Numbers for a vector of them, a
    dict for a table, a list for a vector of tables or strings.
    """
    buffer = bytearray(4)
    struct.pack_into("<I", buffer, 0, add(buffer, fields))
    return bytes(buffer)


def add(buffer, fields):
    inline = {k: v for k, v in fields.items() if isinstance(v, tuple)}
    sizes = {
        k: struct.calcsize("<" + inline[k][0]) if k in inline else 4 for k in fields
    }
    offsets, end = {}, 4
    for key in fields:
        offsets[key], end = end, end + sizes[key]
    count = max(fields) + 1
    vtable = len(buffer)
    entries = [offsets.get(k, 0) for k in range(count)]
    buffer += struct.pack(f"<HH{count}H", 4 + 2 * count, end, *entries)
    place = len(buffer)
    buffer += struct.pack("<i", place - vtable) + bytes(end - 4)
    for key, value in fields.items():
        at = place + offsets[key]
        if key in inline:
            struct.pack_into("<" + value[0], buffer, at, *value[1:])
        else:
            struct.pack_into("<I", buffer, at, child(buffer, value) - at)
    return place


def child(buffer, value):
    if isinstance(value, dict):
        return add(buffer, value)
    if isinstance(value, list):
        place = len(buffer)
        buffer += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for number, table in enumerate(value):
            at = place + 4 + 4 * number
            struct.pack_into("<I", buffer, at, child(buffer, table) - at)
        return place
    if isinstance(value, Numbers):
        text = struct.pack(f"<{len(value.values)}{value.form}", *value.values)
        count = len(value.values)
    else:
        text = value.encode() if isinstance(value, str) else value
        count = len(text)
    place = len(buffer)
    buffer += struct.pack("<I", count) + text + b"\0"
    return place


@dataclass
class Numbers:
    form: str
    values: list


def event(name, kind, payload, *, encoding=0):
    meta = {0: name, 3: ("B", kind), 4: ("f", 1.0), 5: ("B", encoding)}
    stamp = ("HBBBBBxI", 2021, 7, 23, 13, 35, 30, 1_234_567)
    return {0: built({0: meta, 1: payload}), 1: stamp}


def slot_log(tmp_path, *, encoding=0, pack=bytes):
    """A dictionary, a decision of two slots and what was observed of it."""
    dictionary = {
        0: Numbers("Q", [11, 12]),
        1: ['{"_tag":"red"}', '{"_tag":"blue"}'],
    }
    slots = [
        {0: Numbers("I", [1, 0]), 1: Numbers("f", [0.8, 0.2]), 2: "hero"},
        {0: Numbers("I", [0]), 1: Numbers("f", [1.0])},
    ]
    decision = {
        0: '{"_multi":[{"__aid":11},{"__aid":12}],"_slots":[{},{}]}',
        1: slots,
        2: "model",
        4: Numbers("i", [0, 1]),
    }
    rewards = [
        {0: ("B", 1), 1: {0: ("f", 0.1)}, 2: ("B", 2), 3: "hero"},
        {0: ("B", 1), 1: {0: ("f", 0.2)}, 2: ("B", 1), 3: {0: ("i", 0)}},
        {0: ("B", 1), 1: {0: ("f", 9.0)}, 2: ("B", 2), 3: "nobody"},
    ]
    body = pack(built(decision))
    joined = [event("d", 5, built(dictionary)), event("e1", 1, body, encoding=encoding)]
    joined += [event("e1", 3, built(reward)) for reward in rewards]
    joined += [event("ghost", 3, built(rewards[0]))]
    checkpoint = built({0: ("B", 3), 1: ("f", 0.0), 2: ("B", 0), 3: ("B", 2)})
    file = tmp_path / "slots.fb"
    text = b"VWFB\x01\0\0\0"
    for kind, payload in ((0x11111111, checkpoint), (0xFFFFFFFF, built({0: joined}))):
        text += struct.pack("<II", kind, len(payload)) + payload
        text += bytes(-len(payload) % 8)
    file.write_bytes(text + struct.pack("<II", 0xAAAAAAAA, 0))
    return file


def test_slots_are_joined_by_index_and_by_name_and_summed(tmp_path):
    found = fb([slot_log(tmp_path)], tmp_path / "out")
    assert (found.decisions, found.count("dangling observation")) == (2, 1)
    first, second = log_of(tmp_path / "out").rows(named=True)
    assert (first["action"], first["actions"]) == ("blue", ["red", "blue"])
    assert first["logging_probabilities"] == [0.2, 0.8]
    assert first["reward"] == pytest.approx(0.3, abs=1e-7)
    assert (second["reward"], second["reward_status"]) == (None, "default")
    assert (first["model_id"], first["baseline"]) == ("model", [1.0, 0.0])
    assert first["decided_at"].microsecond == 123456


def test_compressed_payloads_are_read(tmp_path):
    packed = zstandard.ZstdCompressor().compress
    fb([slot_log(tmp_path, encoding=1, pack=packed)], tmp_path / "out")
    assert log_of(tmp_path / "out")["action"].to_list() == ["blue", "red"]
