r"""What identifies a person or opens a door, as patterns; each kind has its mask.

    <token>   secrets: addresses with a token or password, `password=...`, keys of known
              services, runs of 20 or more letters and digits mixed, `pin 1234`
    <email>   e-mail addresses
    <iban>    account numbers that pass modulo 97
    <card>    card numbers that pass Luhn's check
    <id>      national ids with their check: DNI and NIE (Spain), NIF (Portugal), CPF
              and CNPJ (Brazil); what is written as a US social security number
    <phone>   numbers written as a phone number, or after a word for one
    <number>  other runs of 7 digits or more, and groups like a card's or a CPF's

in this order, each kind looking at what the one before left. The mask says what a
number looked like; where two kinds look alike (nine digits may be a Portuguese NIF or a
phone) it may name the wrong one, but the digits are gone. Left as they are: prices with
separators, years, dates with separators, versions, counts below 7 digits; and names and
postal addresses, which no pattern finds.

A group of rules is only tried on texts that hold what each of them needs.
Source: qna-suggestions section 5.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from flows.suggestions import checksums
from flows.suggestions.checksums import Booleans

MASKS = ("<email>", "<phone>", "<card>", "<iban>", "<id>", "<token>", "<number>")


@dataclass(frozen=True, slots=True)
class Rule:
    """Replaces matches of `pattern`; with `check`, those alone that pass it."""

    replacement: str
    pattern: str
    check: Callable[[pl.Series], Booleans] | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that can only match a text in which `needed` is found."""

    needed: str
    rules: tuple[Rule, ...]


AT = r"@\uff20"  # and the wide one of East Asian keyboards
# ASCII borders of words: Unicode ones make the engine slow on accents.
EDGE = r"(?-u:\b)"
OPENING_WORD = (
    r"(?:pass(?:word|wd|code)?|pwd|contrase[nñ]a|clave|senha|(?:client[ _-]?)?secret|"
    r"(?:api|access)[ _-]?key|token|authorization)"
)
OPENING_PARAMETER = (
    r"(?:[\w.%-]*(?:token|secret|password|passwd|pwd|api_?key|signature|session)[\w.%-]*|"
    r"(?:[\w%-]*[._-])?(?:key|sig|auth|code|sid|jwt|otp|ticket|nonce|pass)(?:[._-]\w*)?)"
)
SERVICE_KEYS = (
    r"eyJ[\w-]{8,}(?:\.[\w-]+)+",
    r"(?:sk|pk|rk)[_-][\w-]{16,}",
    r"gh[a-z]_\w{20,}",
    r"github_pat_\w{20,}",
    r"glpat-[\w-]{16,}",
    r"xox[a-z]-[\w-]{10,}",
    r"A[KS]IA[0-9A-Z]{16}",
    r"AIza[\w-]{30,}",
    r"(?i:bearer|basic) +[\w.~+/-]{16,}=*",
    r"(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})",
)
DOMAIN = (
    r"(?:(?:[\p{L}\p{N}-]+\.)+[\p{L}\p{N}-]*\p{L}[\p{L}\p{N}-]*|\p{L}[\p{L}\p{N}-]+|"
    r"\d{1,3}(?:\.\d{1,3}){3})"
)
PHONE_WORD = (
    r"(?:tel[eé]fonos?|telefones?|telem[oó]vel|tel|tfno|tlfn?o?|phones?|m[oó]vil|celular|"
    r"cel|fone|whatsapp)"
)
# A number that ends in thousands is a price.
NOT_THOUSANDS = r"(?:\d\d[1-9]|\d[1-9]\d|[1-9]\d\d)"
PHONES = (
    r"(?:[+\uff0b]|(?-u:\b)00) ?\(?\d(?:[ .()/-]{0,2}\d){7,14}",  # +34 612345678
    rf"{EDGE}[2-9]\d\d[ .-]\d{{3}}[ .-]{NOT_THOUSANDS}{EDGE}",  # 612 345 678
    rf"{EDGE}[2-9]\d\d(?:[ .-]\d\d){{3}}{EDGE}",  # 612 34 56 78
    rf"{EDGE}[2-9]\d[ .-]\d{{3}}[ .-]\d\d[ .-]?\d\d{EDGE}",  # 91 234 56 78
    rf"{EDGE}0\d(?:[ .-]\d\d){{4}}{EDGE}",  # 06 12 34 56 78
    rf"\(\d{{2,3}}\)[ .-]?9?\d{{3,4}}[ .-]?\d{{4}}{EDGE}",  # (11) 91234-5678
    rf"{EDGE}[2-9]\d\d[ .-]\d{{3}}[ .-]\d{{4}}{EDGE}",  # 555-123-4567
    rf"{EDGE}[1-9]\d[ .-](?:9\d{{4}}[ .-]?|[3-5]\d{{3}}-)\d{{4}}{EDGE}",  # 11 3232-1010
    rf"{EDGE}9\d{{4}}[ -]\d{{4}}{EDGE}",  # 91234-5678
    rf"{EDGE}(?:[6-9]\d{{8}}|[1-9]\d9\d{{8}}){EDGE}",  # mobiles without separators
)


YEARS = r"^(?:(?:19|20)\d\d[ .-]?)+$"
LEAST_CHANGES = 3


def is_mixed(runs: pl.Series) -> Booleans:
    """Which runs change between letters and digits three times or more."""
    changes = runs.str.count_matches("[A-Za-z][0-9]")
    changes += runs.str.count_matches("[0-9][A-Za-z]")
    return np.asarray(changes >= LEAST_CHANGES)


def is_card(groups: pl.Series) -> Booleans:
    """Which numbers pass Luhn's check, four years in a row excepted."""
    return checksums.card(groups) & are_no_years(groups)


def are_no_years(groups: pl.Series) -> Booleans:
    """Which groups of four digits are not all years, as in `2019 2020 2021 2022`."""
    return np.asarray(~groups.str.contains(YEARS))


SECRETS = Group(
    r"[=:\d]",
    (
        Rule("<token>", rf"(?i)[^\s<>]*[?&#;]{OPENING_PARAMETER}=[^\s<>]+"),
        Rule("<token>", r"(?i)[a-z][a-z0-9+.-]*://[^\s/@<>]*:[^\s/@<>]*@[^\s<>]*"),
        Rule("<token>", rf"{EDGE}(?:{'|'.join(SERVICE_KEYS)})"),
        Rule(
            "${1} <token>",
            rf"(?i)({EDGE}{OPENING_WORD}) *(?:= *[^\s<>,;]+|: *[^\s<>,;]*\d[^\s<>,;]*)",
        ),
        Rule(
            "${1} <token>", rf"(?i)({EDGE}(?:pin|cvv|cvc|otp)) *[:=]? *\d{{3,8}}{EDGE}"
        ),
    ),
)
EMAILS = Group(
    f"[{AT}]|%40",
    (
        Rule(
            "<email>",
            rf"(?i)(?:mailto:)?[\p{{L}}\p{{N}}._%+'\u2019-]+(?:[{AT}]|%40){DOMAIN}",
        ),
    ),
)
ACCOUNTS = Group(
    "[A-Za-z]{2}[0-9]{2}[ -]?[A-Za-z0-9]{4}",
    (
        Rule(
            "<iban>",
            rf"{EDGE}(?:[A-Z]{{2}}[0-9]{{2}}(?:[ -]?[A-Z0-9]{{4}}){{2,7}}"
            rf"(?:[ -]?[A-Z0-9]{{1,2}})?"
            rf"|[A-Za-z]{{2}}[0-9]{{2}}[A-Za-z0-9]{{11,30}}){EDGE}",
            checksums.iban,
        ),
    ),
)
COMPANIES = Group(
    "[0-9A-Za-z]/[0-9A-Za-z]{4}-[0-9]{2}",
    (
        Rule(
            "<id>",
            rf"{EDGE}[0-9A-Za-z]{{2}}\.[0-9A-Za-z]{{3}}\.[0-9A-Za-z]{{3}}/[0-9A-Za-z]{{4}}"
            rf"-[0-9]{{2}}{EDGE}",
            checksums.brazilian_company,
        ),
    ),
)
TOKENS = Group(
    "[A-Za-z0-9_+-]{20}",
    (Rule("<token>", "[A-Za-z0-9_+-]{20,}={0,2}", is_mixed),),
)
NUMBERS = Group(
    r"\d(?:\D{0,3}\d){6}",  # at least seven digits, close together
    (
        Rule(
            "<card>",
            rf"{EDGE}(?:[2-6][0-9]{{3}}(?:[ ._-]?[0-9]{{4}}){{3}}"
            rf"(?:[ ._-]?[0-9]{{1,3}})?"
            rf"|3[0-9]{{3}}[ ._-]?[0-9]{{6}}[ ._-]?[0-9]{{4,5}}"
            rf"|[2-6][0-9]{{12,18}}){EDGE}",
            is_card,
        ),
        Rule(
            "<id>",
            rf"{EDGE}(?:[0-9]{{8}}[ -]?|[0-9]{{2}}\.[0-9]{{3}}\.[0-9]{{3}}-?"
            rf"|[XYZxyz][ -]?[0-9]\.?[0-9]{{3}}\.?[0-9]{{3}}[ -]?)[A-Za-z]{EDGE}",
            checksums.spanish,
        ),
        Rule(
            "<id>",
            rf"{EDGE}[0-9]{{3}}\.?[0-9]{{3}}\.?[0-9]{{3}}[-/ ]?[0-9]{{2}}{EDGE}",
            checksums.brazilian_person,
        ),
        Rule("<id>", rf"{EDGE}[0-9]{{14}}{EDGE}", checksums.brazilian_company),
        Rule(
            "<id>",
            rf"{EDGE}(?:PT ?)?(?:[1235][0-9]{{2}}|45[0-9])(?: ?[0-9]{{3}}){{2}}{EDGE}",
            checksums.portuguese,
        ),
        Rule("<id>", rf"{EDGE}\d{{3}}-\d\d-\d{{4}}{EDGE}"),
        Rule("<number>", r"\d{2,3}\.\d{3}\.\d{3}(?:/\d{4})?-\d\d"),
        Rule(
            "${1} <phone>",
            rf"(?i)({EDGE}{PHONE_WORD})[ .:nº°]*\(?\d(?:[ .()/-]{{0,2}}\d){{6,14}}",
        ),
        Rule("<phone>", "|".join(PHONES)),
        Rule(
            "<number>",
            rf"{EDGE}\d{{4}}(?:[ .-]\d{{4}}){{3,}}(?:[ .-]\d{{1,4}})?{EDGE}",
            are_no_years,
        ),
        Rule("<number>", r"\d{7,}"),
    ),
)
GROUPS = (SECRETS, EMAILS, ACCOUNTS, COMPANIES, TOKENS, NUMBERS)
