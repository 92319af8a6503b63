"""Replica archives: settings, and members that stay as they are."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from flows.knowledge import written

DATA = Path(__file__).parents[2] / "golden" / "data" / "qna"
SETTINGS = "Key\tValue\nLanguage\tSpanish\nEnableActiveLearning\tFalse\n"


@pytest.fixture
def replica():
    """An archive of a public export with settings, synonyms and a text."""

    def archive(settings=SETTINGS, name="QnAs.tsv", **more):
        members = {
            "Settings.tsv": settings.encode(),
            name: (DATA / "SampleQnAs.tsv").read_bytes(),
            "Synonyms.tsv": (DATA / "SampleSynonyms.tsv").read_bytes(),
            "unstructured/manual é.txt": b"Plain text.\r\n" * 50,
            **more,
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as opened:
            opened.comment = b"exported"
            for number, (member, content) in enumerate(members.items()):
                entry = zipfile.ZipInfo(member, (2022, 3, 31, 12, number, 0))
                entry.compress_type = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)[
                    number % 2
                ]
                entry.external_attr = 0o640 << 16
                opened.writestr(entry, content)
        return buffer.getvalue()

    return archive


def told(content):
    """Name, time, attributes, compression and content of each member."""
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert opened.testzip() is None
        return opened.comment, {
            entry.filename: (
                *(entry.date_time, entry.external_attr, entry.compress_type),
                opened.read(entry),
            )
            for entry in opened.infolist()
        }


def test_an_untouched_replica_is_written_as_it_was_read(kb, replica, added):
    content = replica()
    knowledge_base = kb(content, "replica.zip")
    assert knowledge_base.questions.height == 11
    assert written(knowledge_base, added=added()) == content


def test_only_the_questions_of_a_replica_change(kb, replica, added):
    content = replica()
    changed = written(kb(content), added=added((1, "¿por qué?")))
    comment, members = told(changed)
    old_comment, old = told(content)
    assert comment == old_comment
    assert list(members) == list(old)
    *described, sheet = members.pop("QnAs.tsv")
    *had, old_sheet = old.pop("QnAs.tsv")
    assert (described, members) == (had, old)
    assert len(sheet.split(b"\n")) == len(old_sheet.split(b"\n")) + 1
    assert (1, "¿por qué?") in kb(changed).questions.rows()
    assert written(kb(content), added=added((1, "¿por qué?"))) == changed


@pytest.mark.parametrize(
    ("value", "is_enabled"), [("True", True), ("false", False), ("", None)]
)
def test_settings_say_whether_the_service_learns(kb, replica, value, is_enabled):
    settings = kb(replica(SETTINGS.replace("False", value))).settings
    assert settings.is_learning_enabled is is_enabled
    assert settings.language == "Spanish"


def test_settings_may_stand_in_columns(kb, replica):
    text = "\ufeffDefaultAnswer\tEnableActiveLearning\tLanguage\r\nnone\tFalse\ten\r\n"
    settings = kb(replica(text)).settings
    assert (settings.is_learning_enabled, settings.language) == (False, "en")


def test_a_replica_without_settings_says_nothing(kb, replica):
    settings = kb(replica("Key\tValue\n")).settings
    assert (settings.is_learning_enabled, settings.language) == (None, None)


def test_the_questions_may_be_named_after_the_project(kb, replica):
    assert kb(replica(name="support-bot.tsv")).questions.height == 11


def test_problems_of_all_files_inside_are_told(refused, replica):
    settings = SETTINGS.replace("False", "maybe")
    bad = replica(settings, **{"QnAs.tsv": b"Question\tAnswer\nq\n"})
    assert refused(bad) == [
        (None, "EnableActiveLearning", "neither True nor False", "maybe"),
        (2, None, "1 cell, the header has 2", "q"),
    ]


def test_a_table_beside_the_questions_is_carried_along(kb, replica, added):
    content = replica(**{"other.tsv": b"anything"})
    assert kb(content).questions.height == 11
    changed = written(kb(content), added=added((1, "new")))
    assert told(changed)[1]["other.tsv"] == told(content)[1]["other.tsv"]


@pytest.mark.parametrize("names", [("a.tsv", "b.tsv"), ("QnAs.tsv", "deep/QnAs.tsv")])
def test_questions_must_stand_in_one_file(refused, replica, names):
    (problem,) = refused(replica(name=names[0], **{names[1]: b"Question\tAnswer\n"}))
    assert (
        problem[2]
        == "this is not a replica, with one TSV file of questions, by its files"
    )
    assert all(name in problem[3] for name in names)


def test_a_spreadsheet_is_refused(refused):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as opened:
        opened.writestr("[Content_Types].xml", "<Types/>")
    (problem,) = refused(buffer.getvalue(), "kb.xlsx")
    assert problem[3] == "[Content_Types].xml"


def test_an_archive_cut_short_is_refused(refused, replica):
    (problem,) = refused(replica()[:-40])
    assert problem[2].startswith("the archive cannot be read")
