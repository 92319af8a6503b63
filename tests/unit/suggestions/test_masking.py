"""What is masked, what is left, and that masking twice is masking once."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.errors import UsageError
from flows.suggestions.masking import masked
from flows.suggestions.users import user_hash

KEY = bytes(range(16))
# Numbers made for tests: they carry the right check digits and belong to no one.
MASKED = [
    ("mail ana.perez+x@mail.example.com, thanks", "mail <email>, thanks"),
    ("maría@dominio.es", "<email>"),
    ("mailto:joe@x.io?", "<email>?"),
    ("joe%40example.com and joe\uff20example.com", "<email> and <email>"),
    ("joe@gmail", "<email>"),
    ("visa 4111 1111 1111 1111 exp 12/25", "visa <card> exp 12/25"),
    ("4111-1111-1111-1111 3782 822463 10005", "<card> <card>"),
    ("ES91 2100 0418 4502 0005 1332 es mio", "<iban> es mio"),
    ("es9121000418450200051332", "<iban>"),
    ("GB82 WEST 1234 5698 7654 32.", "<iban>."),
    ("PT50 0002 0123 1234 5678 9015 4", "<iban>"),
    ("BR1800360305000010009795493C1", "<iban>"),
    ("dni 12345678Z, 12.345.678-Z, 12345678 z", "dni <id>, <id>, <id>"),
    ("nie X1234567L x-1234567-l Y1234567X", "nie <id> <id> <id>"),
    ("nif 123456789, PT 123 456 789", "nif <id>, <id>"),
    ("cpf 529.982.247-25 ou 52998224725", "cpf <id> ou <id>"),
    ("cnpj 11.222.333/0001-81 11222333000181", "cnpj <id> <id>"),
    ("cnpj 12.ABC.345/01DE-35", "cnpj <id>"),
    ("ssn 123-45-6789", "ssn <id>"),
    ("tel 612 345 678 / 612345678", "tel <phone> / <phone>"),
    ("+34 612 34 56 78, 0034 612345678", "<phone>, <phone>"),
    ("612 34 56 78 o 91 234 56 78", "<phone> o <phone>"),
    ("(11) 91234-5678, 11 3232-1010", "<phone>, <phone>"),
    ("telefone 4567-8901", "telefone <phone>"),
    ("(555) 123-4567 or 555.123.4567", "<phone> or <phone>"),
    ("https://x.org/reset?a=1&token=abcDEF now", "<token> now"),
    ("https://user:word@host/path", "<token>"),
    ("x.org/cb#access_token=abc", "<token>"),
    ("password: hunter2 and password=abc", "password <token> and password <token>"),
    ("mi contraseña: s3creto", "mi contraseña <token>"),
    ("pin 1234 cvv: 123", "pin <token> cvv <token>"),
    ("AKIAIOSFODNN7EXAMPLE", "<token>"),
    ("key ghp_abcdefghijklmnopqrst0123456789", "key <token>"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-D_g", "<token>"),
    ("id 123e4567-e89b-12d3-a456-426614174000", "id <token>"),
    ("d41d8cd98f00b204e9800998ecf8427e", "<token>"),
    ("order 1234567", "order <number>"),
    ("order ORD-1234567", "order ORD-<number>"),
    ("\u0661\u0662\u0663\u0664\u0665\u0666\u0667", "<number>"),
]
# With a wrong check digit a number is not of the kind it looks like, but is masked.
WRONG_CHECK = [
    ("4111 1111 1111 1112", "<number>"),
    ("4111111111111112", "<number>"),
    ("ES92 2100 0418 4502 0005 1332", "ES92 <number>"),
    ("12345678A", "<number>A"),
    ("X1234567A", "X<number>A"),
    ("529.982.247-26", "<number>"),
    ("11.222.333/0001-82", "<number>"),
    ("123456780", "<number>"),
]
PLAIN = [
    "order 123456 of 2023",
    "it costs 1.250.000 €, 1,299.99 USD or 1 250 000",
    "how do i convert 100 000 000 won",
    "years 2019 2020 2021 2022 and 2019-2020",
    "from 12/05/2023 14:30 to 2023-05-12",
    "version 10.0.19045.3803 of python 3.11.2",
    "covid-19, wi-fi 6, 4K, 50%, a/b",
    "what time is it: 10:30?",
    "forgot my password: help me",
    "https://x.org/help/article-2023-how-to-reset?lang=es&page=2",
    "iphone-13-pro-max-64gb-azul-2024-oferta",
    "meet @ 5, follow @someone",
    "change the keyboard=qwerty",
]
PIECES = st.one_of(
    st.sampled_from([text for text, _ in MASKED + WRONG_CHECK] + PLAIN),
    st.text("0123456789 .-/()+:=@<>abXYZñ\u0663%?&", max_size=25),
)


def mask(*texts):
    return masked(pl.Series(texts, dtype=pl.String))


@pytest.mark.parametrize(("text", "expected"), MASKED + WRONG_CHECK)
def test_what_identifies_a_person_is_masked(text, expected):
    assert mask(text).row(0) == (expected, True)


@pytest.mark.parametrize("text", PLAIN)
def test_prices_years_dates_versions_and_short_counts_stay(text):
    assert mask(text).row(0) == (text, False)


def test_numbers_beside_each_other_are_all_masked():
    found = mask("call 2 612 345 678 or 612345679,612345670 now")["text"][0]
    assert found == "call 2 <phone> or <phone>,<phone> now"


def test_rows_keep_their_order_and_null_stays_null():
    found = mask("b 1234567", None, "a", "b 1234567", "<email> me")
    assert found.rows() == [
        ("b <number>", True),
        (None, False),
        ("a", False),
        ("b <number>", True),
        ("<email> me", True),
    ]


def test_no_text_at_all_is_no_problem():
    assert mask().height == 0
    assert mask(None).rows() == [(None, False)]


@given(st.lists(PIECES, min_size=1, max_size=4).map(" ".join))
def test_masking_twice_is_masking_once(text):
    once = mask(text)
    assert mask(once["text"][0]).equals(once)


@given(st.lists(PIECES, min_size=1, max_size=4).map(" ".join))
def test_no_long_run_of_digits_is_left(text):
    assert not mask(text)["text"].str.contains(r"\d{7}").any()


@pytest.mark.parametrize("place", range(8))
@pytest.mark.parametrize("letter", range(2))
def test_one_wrong_digit_is_no_spanish_id(place, letter):
    number = ("12345678Z", "87654321X")[letter]
    wrong = str((int(number[place]) + 1) % 10)
    text = number[:place] + wrong + number[place + 1 :]
    assert mask(number)["text"][0] == "<id>"
    assert mask(text)["text"][0] != "<id>"


def hashes(*ids, key=KEY):
    return pl.DataFrame({"id": ids}).select(user_hash(pl.col("id"), key))["id"]


def test_a_user_has_one_hash_under_one_key():
    found = hashes("ana@example.com", "bo", "ana@example.com")
    assert found.dtype == pl.UInt64
    assert found[0] == found[2] != found[1]
    assert hashes("bo", key=bytes(16))[0] != found[1]


def test_the_hash_is_the_head_of_a_keyed_digest():
    import hashlib
    import hmac

    digest = hmac.new(KEY.hex().encode(), b"bo", hashlib.sha256).digest()
    assert hashes("bo")[0] == int.from_bytes(digest[:8])


def test_an_unknown_user_has_no_hash():
    assert hashes(None, "").to_list() == [None, None]


def test_a_short_key_is_refused():
    with pytest.raises(UsageError, match="at least 16 random bytes"):
        user_hash(pl.col("id"), b"secret")
