"""Telephone numbers and e-mail addresses: no secrets, and still nothing that has to be kept. Which of them are masked is a setting.

Numbers of orders, flights, amounts and times look much like telephone numbers: a number counts as one by its form (a Chinese mobile or
landline number, `+` and a country, `(209) 372-0200`) or by the word in front of it, and never behind a word that names something else.
Hotlines of services reach no person: see `hotlines`.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hindwise.safety.hotlines import is_anybodys, is_anybodys_under
from hindwise.safety.other_numbers import (
    AFTER_BARE,
    PHONE_KEY,
    SomethingElse,
    apart_from_lists,
    calls_something_else,
    is_date,
    is_no_number_to_call,
)
from hindwise.text.lazy_re import lazy_re


class Contacts(NamedTuple):
    """Which ways to reach somebody are masked."""

    phones: bool = False
    emails: bool = False


NO_CONTACTS = Contacts()

_LOOKS_LIKE_PHONE = lazy_re(r"[+\d](?:\d{6}|(?<=\+)[1-9（(]|\d{2,3}[ .)）-]{1,2}\d{3,4}[ .-]?\d)")
"""The quick look: few texts hold that, and all rules below need it."""
_LOOKS_LIKE = (
    lazy_re(r"1[3-9]\d(?:\d{8}|[ -]\d{4}[ -])"),
    lazy_re(r"0\d{2,3}[ )）-]{1,2}\d"),
    lazy_re(r"\+[1-9]"),
    lazy_re(r"\d{3}(?:\) ?|[.-])\d{3}[.-]\d"),
)
"""The same for the four forms of numbers alone."""
_CUES = ("phone", "tel", "mobile", "cell", "fax", "whatsapp", "手机", "电话", "座机", "联系方式", "传真")

_EMAIL = lazy_re(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2,24}(?![A-Za-z0-9-])")
_LEFT = r"(?<![A-Za-z0-9_.+-])(?<![A-Za-z0-9]/)"
_RIGHT = (
    r"(?![A-Za-z0-9_]|[.,:/-]\d|[ ]?(?:元|块|円|美元|个|次|条|行|件|人|字节|毫秒|秒)"
    r"|[ ](?i:bytes?|[kmgt]i?b|ms|ns|milliseconds?|seconds?|times|rows|lines|visits|views|points|dollars|usd|eur|euros)(?![A-Za-z]))"
)

_MOBILE = lazy_re(
    _LEFT + r"(?:[（(]?(?:\+|00)?86[）)]?[ -]{0,2})?1(?:3\d|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8\d|9\d)(?:\d{8}|([ -])\d{4}\1\d{4})" + _RIGHT
)
_LANDLINE = lazy_re(
    _LEFT + r"(?:(?:\+|00)86[ -]?)?[（(]?(?:0(?:10|2[0-57-9]|[3-9]\d{2})[）)-]{1,2} ?|0(?:10|2[0-57-9]|[3-9]\d{2}) )"
    r"[2-8]\d{2,3}[ -]?\d{4}(?:[ -]?(?:转|ext\.?|x) ?\d{1,6})?" + _RIGHT
)
_AMERICAN = lazy_re(_LEFT + r"(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[.-])[2-9]\d{2}[.-]\d{4}" + _RIGHT)
# Digit by digit: a run of digits that can be cut in several ways is tried in all of them.
_INTERNATIONAL = lazy_re(r"(?<![A-Za-z0-9_.+-])\+[1-9](?:[ .()-]{0,2}\d){6,17}(?!%|°)" + _RIGHT)
_CUED = lazy_re(
    r"(?i)(?:(?<![a-z])(?:phone|telephone|tel|mobile|cell[ -]?phone|(?<=my )cell|cell(?=[ _-]num)|fax|whatsapp)"
    r"(?:[ _.-]?(?:number|num|no|nr))?|手机(?:号码?)?|电话(?:号码?)?|座机(?:号码?)?|联系方式|联系电话|传真(?:号码?)?)"
    r"(?:\\{0,3}[\"'])?\s?(?:(?:is|was|are)(?=[ :])|是|为|[:：=.#])\s?(?:\\{0,3}[\"'])?"
    r"(?P<number>(?:\+|00)?[(（]?\d(?:[ ()（）./-]{0,2}\d){6,14})" + _RIGHT
)
_PHONE_VALUE = lazy_re(r"(?:\+|00)?[(（]?\d(?:[ ()（）./-]{0,2}\d){6,14}")


def mask_contacts(text: str, contacts: Contacts, found: list[str]) -> str:
    """Return `text` with telephone numbers and e-mail addresses masked, as far as `contacts` says; notes each in `found`."""
    if contacts.emails and "@" in text:
        text = _EMAIL.sub(partial(_email, found=found), text)
    if contacts.phones and _LOOKS_LIKE_PHONE.search(text):
        text = "".join(piece if others else _mask_phones(piece, found) for piece, others in apart_from_lists(text))
    return text


def _mask_phones(text: str, found: list[str]) -> str:
    small = text.lower()
    if any(cue in small for cue in _CUES):
        text = _CUED.sub(partial(_cued, found=found), text)
    for look, (pattern, counts) in zip(_LOOKS_LIKE, _BY_FORM, strict=True):
        if look.search(text):
            text = pattern.sub(partial(_phone, counts=partial(counts, SomethingElse()), found=found), text)
    return text


def phone_under(key: str, value: object) -> bool:
    """Whether the JSON value under `key` is a telephone number because the key says so."""
    if not isinstance(value, str | int) or isinstance(value, bool) or not PHONE_KEY.search(key):
        return False
    number = str(value).strip()
    if is_no_number_to_call(key, number):
        return False
    return _PHONE_VALUE.fullmatch(number) is not None and not is_anybodys_under(key, number)


def is_phone_number_under(key: str, number: int) -> bool:
    """Whether a number that stands bare in JSON under `key` would be masked in its text."""
    text = f'"{key[-40:]}": {number}'
    return not calls_something_else(key) and not mask_contacts(text, Contacts(phones=True), []).endswith(str(number))


def _email(match: re.Match[str], *, found: list[str]) -> str:
    if match[0].startswith("git@") and match.string[match.end() : match.end() + 1] == ":":
        return match[0]  # the address of a repository
    found.append("email")
    return "[masked:email]"


def _cued(match: re.Match[str], *, found: list[str]) -> str:
    number = match["number"]
    if is_anybodys(number, match.string, match.start("number")) or is_no_number_to_call(match[0][: -len(number)], number):
        return match[0]
    found.append("phone")
    before, after = match[0][: match.start("number") - match.start()], match[0][match.end("number") - match.start() :]
    return f"{before}{in_place_of_number('[masked:phone]', match.string, match.start('number'), match.end('number'))}{after}"


def _phone(match: re.Match[str], *, counts: Callable[[re.Match[str]], bool], found: list[str]) -> str:
    if not counts(match) or is_anybodys(match[0], match.string, match.start()):
        return match[0]
    found.append("phone")
    return in_place_of_number("[masked:phone]", match.string, match.start(), match.end())


_BARE_IN_JSON = lazy_re(r"\"\s{0,4}:\s{0,4}$")


def in_place_of_number(mask: str, text: str, start: int, end: int) -> str:
    """Return `mask`, in quotation marks where the number at that place is a bare one of JSON: what was JSON stays JSON."""
    if text[end : end + 1] not in AFTER_BARE or not _BARE_IN_JSON.search(text, max(0, start - 10), start):
        return mask
    return f'"{mask}"'


def _names_nothing_else(others: SomethingElse, match: re.Match[str]) -> bool:
    return not others.named(match)


def _is_landline(others: SomethingElse, match: re.Match[str]) -> bool:
    """Not `010-20260101`: a day behind a number of three digits."""
    return not others.named(match) and not is_date(re.sub(r"\D", "", match[0])[-8:])


def _is_international(_: SomethingElse, match: re.Match[str]) -> bool:
    """A country and as many digits as its numbers have; not `+20 000 000`, a difference of eight digits, or a decimal fraction."""
    groups = re.findall(r"\d+", match[0])
    if len(groups) == 2 and match[0] == f"+{groups[0]}.{groups[1]}":
        return False
    digits = "".join(groups)
    if not 8 <= len(digits) <= 15 or (len(groups) == 1 and len(digits) < 10):
        return False
    if digits[0] == "1":
        return len(digits) == 11 and digits[1] in "23456789" and digits[4] in "23456789"
    thousands = all(len(group) == 3 for group in groups[1:]) and (len(digits) <= 9 or groups[-1] == "000")
    return not thousands and not digits.endswith("000000")


_BY_FORM: tuple[tuple[re.Pattern[str], Callable[[SomethingElse, re.Match[str]], bool]], ...] = (
    (_MOBILE, _names_nothing_else),
    (_LANDLINE, _is_landline),
    (_INTERNATIONAL, _is_international),
    (_AMERICAN, _names_nothing_else),
)
