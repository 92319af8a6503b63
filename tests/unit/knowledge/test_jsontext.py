"""JSON that could not be kept whole is refused with its place."""

from __future__ import annotations

import pytest

from flows.knowledge import jsontext


@pytest.mark.parametrize(
    ("text", "fact", "position"),
    [
        ("", "Expecting value", 0),
        ("[1,]", "Expecting value", 3),
        ("[1 2]", "a comma or ] is missing", 3),
        ("[1", "a comma or ] is missing", 2),
        ("[] []", "text follows the value", 3),
        ("{a: 1}", "a name in quotes is missing", 1),
        ('{"a" 1}', "a colon is missing", 5),
        ('{"a": 1, "A": 2}', "the name A stands twice", 9),
        ("[NaN]", "NaN is not a JSON value", 1),
        ('["\\ud83d"]', "half of a surrogate pair", 1),
        ('["a\tb"]', "Invalid control character at", 3),
        ("[" * 100, "values are nested deeper than 64", 65),
    ],
)
def test_text_that_is_not_json_is_refused_with_its_place(text, fact, position):
    with pytest.raises(jsontext.NotJson) as refused:
        jsontext.parsed(text)
    assert (refused.value.fact, refused.value.position) == (fact, position)


def test_every_value_knows_where_it_stands():
    text = ' {"Key" : [ 1.50, "\\u00e9" ] } '
    root = jsontext.parsed(text)
    listed = root.get("key")
    assert text[root.start : root.end] == text.strip()
    assert text[listed.start : listed.end] == '[ 1.50, "\\u00e9" ]'
    assert [item.value for item in listed.items] == [1.5, "é"]
    assert jsontext.lead(text, listed.items[1].start) == " "


def test_null_and_absent_names_are_alike():
    root = jsontext.parsed('{"a": null}')
    assert root.get("a") is None
    assert root.get("b") is None
