"""Check digits of numbers that identify a card, an account or a person.

Each function takes written numbers (text, spaces, dots, dashes and slashes between
their groups, letters in either case) whose length a pattern already made sure of, and
says which carry the right check digit. A number without one is not of that kind: the
check is what tells a card from an order number.

Sources: ISO/IEC 7812-1 (Luhn), ISO 13616-1 (IBAN, modulo 97); the tables of control
letters and weights that the Spanish (DNI, NIE), Portuguese (NIF) and Brazilian (CPF,
CNPJ, with letters from 2026) authorities publish.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

CARD = 19  # digits at most
IBAN = 34  # characters at most
CONTROL_LETTERS = np.frombuffer(b"TRWAGMYFPDXBNJZSQVHLCKE", np.uint8)
NIF_WEIGHTS = (9, 8, 7, 6, 5, 4, 3, 2)
CPF_WEIGHTS = (11, 10, 9, 8, 7, 6, 5, 4, 3, 2)
CNPJ_WEIGHTS = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
ZERO, NINE, LETTER_A, BLANK = b"09A "


def card(numbers: pl.Series) -> Booleans:
    """Which card numbers of at most 19 digits pass Luhn's check."""
    digits = _bytes(_compact(numbers).str.pad_start(CARD, "0")) - ZERO
    doubled = digits[:, -2::-2] * 2
    total = digits[:, -1::-2].sum(axis=1) + (doubled // 10 + doubled % 10).sum(axis=1)
    return np.asarray(total % 10 == 0)


def iban(numbers: pl.Series) -> Booleans:
    """Which account numbers of at most 34 characters leave 1 when divided by 97."""
    compact = _compact(numbers)
    turned = compact.str.slice(4) + compact.str.slice(0, 4)
    remainder = np.zeros(len(numbers), dtype=np.int64)
    for column in _bytes(turned.str.pad_end(IBAN)).T:
        is_digit = column <= NINE
        value = np.where(is_digit, column - ZERO, column - LETTER_A + 10)
        longer = (remainder * np.where(is_digit, 10, 100) + value) % 97
        remainder = np.where(column == BLANK, remainder, longer)
    return np.asarray(remainder == 1)


def spanish(numbers: pl.Series) -> Booleans:
    """Which DNI (eight digits, letter) and NIE (X, Y or Z, seven digits, letter)."""
    plain = _compact(numbers).str.replace_many(["X", "Y", "Z"], ["0", "1", "2"])
    letter = _bytes(_compact(numbers).str.slice(-1))[:, 0]
    number = plain.str.head(8).cast(pl.Int64).to_numpy()
    return np.asarray(CONTROL_LETTERS[number % len(CONTROL_LETTERS)] == letter)


def portuguese(numbers: pl.Series) -> Booleans:
    """Which NIF of nine digits, with or without the country's letters."""
    digits = _bytes(_compact(numbers).str.tail(9)) - ZERO
    return np.asarray(_control(digits[:, :8], NIF_WEIGHTS) == digits[:, 8])


def brazilian_person(numbers: pl.Series) -> Booleans:
    """Which CPF of eleven digits."""
    return _two_controls(_bytes(_compact(numbers)) - ZERO, CPF_WEIGHTS)


def brazilian_company(numbers: pl.Series) -> Booleans:
    """Which CNPJ of twelve digits or letters and two digits."""
    return _two_controls(_bytes(_compact(numbers)) - ZERO, CNPJ_WEIGHTS)


def _two_controls(values: Integers, weights: tuple[int, ...]) -> Booleans:
    """Whether the last two values are the controls of all that stands before each."""
    first = _control(values[:, :-2], weights[1:]) == values[:, -2]
    return np.asarray(first & (_control(values[:, :-1], weights) == values[:, -1]))


def _control(values: Integers, weights: tuple[int, ...]) -> Integers:
    """Eleven less the weighted sum modulo 11, and 0 where that has two digits."""
    control = 11 - values @ np.array(weights) % 11
    return np.asarray(np.where(control > NINE - ZERO, 0, control))


def _compact(numbers: pl.Series) -> pl.Series:
    """Letters and digits alone, letters in upper case."""
    return numbers.str.replace_all(r"[^0-9A-Za-z]", "").str.to_uppercase()


def _bytes(texts: pl.Series) -> Integers:
    """Code points of ASCII texts of one length, shape (texts, length)."""
    joined = "".join(texts).encode()
    return np.frombuffer(joined, np.uint8).astype(np.int64).reshape(len(texts), -1)
