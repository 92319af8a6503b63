"""The key of a text: what does not change it, what does, and that it is its own key."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.suggestions.personal import MASKS
from flows.suggestions.texts import key

HELLO = "\u0645\u0631\u062d\u0628\u0627"
WORDS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("éÉñçãßςİΣ¿?!'\u2019\u00b4\u200f\u200d\u064b\u0640❤ <>"),
    ),
    max_size=30,
)


def keys(*texts):
    return pl.DataFrame({"text": texts}).select(key(pl.col("text"))).to_series()


def same(*texts):
    return keys(*texts).n_unique() == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("¿Cómo cambio mi CLAVE?!", "como cambio mi clave"),
        ("Onde está a minha encomenda…", "onde esta a minha encomenda"),
        ("CORAÇÃO, ação e pão", "coracao acao e pao"),
        ("What's new? 😀", "whats new"),
        ("wi-fi  \u00a0 direct\t(new)", "wi fi direct new"),
        ("Straße ΟΔΟΣ οδος", "strasse οδοσ οδοσ"),
        ("\uff37\uff29\uff26\uff29 \ufb01x \u00bd", "wifi fix 1 2"),
        (f"{HELLO}\u061f \u060c", HELLO),
        ("x² + y", "x2 y"),
        ("3,50 €", "3 50"),
        ("", ""),
        (" \u00a0 ", ""),
    ],
)
def test_a_key_holds_words_alone(text, expected):
    assert keys(text)[0] == expected


def test_accents_case_and_punctuation_do_not_tell_texts_apart():
    assert same("¿Dónde está?", "donde esta", "DÓNDE ESTÁ!!", "Do\u0301nde esta\u0301")
    assert same("Não há pão", "nao ha pao", "NÃO, HÁ PÃO.")
    assert same(*(f"what{mark}s new" for mark in "'`\u2019\u2018\u02bc\u00b4\uff07"))


def test_direction_marks_and_joiners_do_not_tell_texts_apart():
    assert same(HELLO, f"\u200f{HELLO}", f"{HELLO}\u061f", f"\u202b{HELLO}\u202c")
    assert same("soft\u00adhyphen", "soft\u200bhyphen", "\ufeffsofthyphen")


def test_arabic_diacritics_and_stretch_do_not_tell_texts_apart():
    assert same(HELLO, "\u0645\u064e\u0631\u0652\u062d\u064e\u0628\u0627")
    assert same(HELLO, "\u0645\u0631\u062d\u0640\u0640\u0628\u0627")


def test_vowel_signs_and_voicing_tell_words_apart():
    assert keys("\u0915\u093f", "\u0915\u0941", "\u0915").n_unique() == 3
    assert keys("\u304b", "\u304c").n_unique() == 2
    assert keys("\u0e01\u0e34", "\u0e01\u0e38").n_unique() == 2


def test_a_text_without_words_is_its_own_key():
    assert keys(" ❤ ", "😀", "¿?", "<3").to_list() == ["❤", "😀", "¿?", "3"]


def test_a_mask_is_a_word_of_its_own():
    assert keys("my number")[0] == "my number"
    assert keys("My <number>!")[0] == "my <number>"
    assert keys("at<EMAIL>now")[0] == "at <email> now"
    assert keys(*MASKS).to_list() == list(MASKS)
    assert keys("\ue000")[0] == "\ue000"


def test_null_has_no_key():
    assert keys(None, "a").to_list() == [None, "a"]


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_a_key_is_its_own_key(texts):
    once = keys(*texts)
    assert keys(*once).to_list() == once.to_list()


@given(WORDS)
def test_normal_forms_have_one_key_where_words_are_left(text):
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    found = keys(*forms)
    # A text without words is kept as it is written.
    if found[0] != forms[0].strip():
        assert found[0] == found[1]


def test_every_character_alone_has_a_key_of_its_own_key():
    every = [chr(n) for n in range(0x110000) if not 0xD800 <= n <= 0xDFFF]
    once = keys(*every, *(f"a{character}b" for character in every))
    assert keys(*once).equals(once)
