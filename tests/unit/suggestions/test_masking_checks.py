"""Check digits, against their definitions one number at a time."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from flows.suggestions import checksums

LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def digits(least, most=None):
    return st.text("0123456789", min_size=least, max_size=most or least)


def column(numbers):
    return pl.Series(numbers, dtype=pl.String)


def luhn(number):
    total = 0
    for place, digit in enumerate(map(int, reversed(number))):
        doubled = digit * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)
    return total % 10 == 0


def control(number, weights):
    rest = sum(int(d) * w for d, w in zip(number, weights, strict=True)) % 11
    return "0" if rest < 2 else str(11 - rest)


@given(st.lists(digits(12, 18), min_size=1))
def test_exactly_one_last_digit_makes_a_card_number(numbers):
    every = [number + str(last) for number in numbers for last in range(10)]
    found = checksums.card(column(every))
    assert found.tolist() == [luhn(number) for number in every]
    assert found.sum() == len(numbers)


@given(st.lists(st.text("0123456789ABCXYZ", min_size=11, max_size=30), min_size=1))
def test_an_account_number_turned_leaves_one_modulo_97(accounts):
    every = []
    for account in accounts:
        written = "".join(str(int(c, 36)) for c in f"{account}ES00")
        every.append(f"ES{98 - int(written) % 97:02d}{account}")
    wrong = [number[:-1] + ("1" if number[-1] == "0" else "0") for number in every]
    assert checksums.iban(column(every)).all()
    assert not checksums.iban(column(wrong)).any()
    spaced = column(every).str.replace_all("(.{4})", "$1 ").str.to_lowercase()
    assert checksums.iban(spaced).all()


@given(st.lists(digits(8), min_size=1))
def test_one_letter_makes_a_spanish_id(numbers):
    every = [number + letter for number in numbers for letter in LETTERS]
    found = checksums.spanish(column(every))
    assert found.tolist() == [LETTERS[int(n[:8]) % 23] == n[8] for n in every]


@given(st.lists(st.tuples(st.sampled_from("XYZ"), digits(7)), min_size=1))
def test_a_foreigner_s_letter_stands_for_a_digit(numbers):
    as_number = [int(str("XYZ".index(first)) + rest) for first, rest in numbers]
    every = [
        f"{first}-{rest}-{LETTERS[number % 23]}".lower()
        for (first, rest), number in zip(numbers, as_number, strict=True)
    ]
    assert checksums.spanish(column(every)).all()


@given(st.lists(digits(8), min_size=1))
def test_one_control_makes_a_portuguese_number(numbers):
    every = [number + str(last) for number in numbers for last in range(10)]
    found = checksums.portuguese(column(every))
    right = [control(n[:8], range(9, 1, -1)) == n[8] for n in every]
    assert found.tolist() == right


@given(st.lists(digits(9), min_size=1))
def test_two_controls_make_a_brazilian_person(numbers):
    right = []
    for number in numbers:
        first = number + control(number, range(10, 1, -1))
        right.append(first + control(first, range(11, 1, -1)))
    assert checksums.brazilian_person(column(right)).all()
    wrong = [n[:-1] + str((int(n[-1]) + 1) % 10) for n in right]
    assert not checksums.brazilian_person(column(wrong)).any()


@given(st.lists(digits(12), min_size=1))
def test_two_controls_make_a_brazilian_company(numbers):
    weights = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]
    right = []
    for number in numbers:
        first = number + control(number, weights)
        right.append(first + control(first, [6, *weights]))
    assert checksums.brazilian_company(column(right)).all()


def test_a_brazilian_company_may_have_letters():
    numbers = column(["12.ABC.345/01DE-35", "12ABC34501DE35", "12.ABC.345/01DE-36"])
    assert checksums.brazilian_company(numbers).tolist() == [True, True, False]
