"""Which words are secrets? They are replaced before anything is stored or sent, and the mask says what stood there.

Every pattern is bounded and begins at a place that cannot begin twice (a look-behind over its own alphabet), so that 256 KiB of
hostile text take linear time. Telephone numbers and e-mail addresses are masked where the caller asks for it: see `contacts`. What else
is only personal (names, addresses) is no secret of this room: see `personal`.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from hindwise.safety import credentials
from hindwise.safety.contacts import NO_CONTACTS, Contacts, in_place_of_number, is_phone_number_under, mask_contacts, phone_under
from hindwise.safety.disguised import undisguised
from hindwise.safety.json_text import is_json, object_of, still_json
from hindwise.safety.named_values import mask_named_values
from hindwise.safety.other_numbers import number_of_something_else
from hindwise.safety.quick_look import PIN_SAID, may_hold_secret
from hindwise.safety.spoken import mask_said
from hindwise.safety.vendor_keys import FORMS
from hindwise.safety.written import mask_written
from hindwise.text.lazy_re import lazy_re


class Masked(NamedTuple):
    """A text without secrets. `found`: what was masked, one name per place, in order of the rules."""

    text: str
    found: tuple[str, ...]


_KEY_BEGIN = lazy_re(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = lazy_re(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")

_URL_PASSWORD = lazy_re(r"(://[^\s/:@\"']{0,64}:)([^\s/\"']{1,128})(@)")
_AUTH_HEADER = lazy_re(
    r"(?i)(?<![A-Za-z0-9_])((?:bearer|basic)[ \t:]{1,3}(?:token[ \t]{0,3}(?:is|:|=|是|为)?[ \t]{0,3})?"
    r"|令牌(?:是|为|：|:|=)[ \t]{0,3})([A-Za-z0-9+/=._~-]{8,})"
)
_CARD_CODE = lazy_re(
    r"(?i)(?<![A-Za-z0-9])((?:cvv2?|cvc2?|security code|安全码)[ \t]{0,3}(?:code)?[ \t]{0,3}(?:is|:|=|：|是|为)?[ \t]{0,3})(\d{3,4})(?!\d)"
)
_ONE_TIME_CODE = lazy_re(
    r"(?i)((?:(?:verification|one-time|authentication|confirmation|login|security|sms|2fa)[ -](?:code|password|pin)|otp|your code|验证码"
    r"|校验码|动态码|动态密码|动态口令|一次性密码)[ \t]{0,3}(?:is|was|[:=：是为]{1,2})[ \t]{0,3})(\d{4,8})(?!\d)"
)
_CODE_BESIDE = lazy_re(
    r"(?i)((?<![a-z0-9])(?:(?:verification|one-time|sms|2fa)[ -](?:code|password|pin)|otp)[ \t]{1,3}"
    r"|(?:验证码|校验码|动态码|动态密码|动态口令|一次性密码|(?<![a-z])pin码)[ \t]{0,3})(\d{4,8})(?!\d)"
)
"""Without a word between: `OTP 482913`, 「验证码482913」. Not "confirmation code 1234567", which names an order."""
_CODE_WORDS = ("code", "otp", "password", "pin", "cvv", "cvc", "is your")
"""One of these, or a Chinese letter, stands where a code is told."""
_DIGITS = lazy_re(r"\d{3}")
_CODE_FIRST = lazy_re(
    r"(?i)(?<![A-Za-z0-9_.-])(\d{4,8})(?= is your (?:[a-z0-9-]{1,16} ){0,3}(?:code|password|pin)\b"
    r"|[ \t]?(?:是|为)\S{0,8}(?:验证码|校验码|动态码|动态密码|动态口令|一次性密码)"
    r"|[（(]\S{0,6}(?:验证码|校验码|动态码|动态密码|动态口令|一次性密码))"
)
_CARD = lazy_re(r"(?<![A-Za-z0-9_.-])(?:\d{13,19}|\d{4}( {1,2}|[._-])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})(?![A-Za-z0-9_]|-\d)")
_CN_ID = lazy_re(r"(?<![A-Za-z0-9])[1-9]\d{16}[\dXx](?![A-Za-z0-9])")
_CN_ID_CUE = lazy_re(
    r"((?:身份证号码|身份证号|身份证|公民身份号码)[ \t]{0,3}(?:号码?)?(?:是|为|：|:|=)?[ \t]{0,3})"
    r"(\d{14,17}[\dXx]|\d{6}[ -]\d{8}[ -]\d{3}[\dXx])(?![A-Za-z0-9])"
)
_SSN = lazy_re(r"(?i)((?:ssn|social security(?: number| no\.?)?)[ \t]{0,3}(?:is|:|=|#)?[ \t]{0,3})(\d{3}[- ]?\d{2}[- ]?\d{4})(?!\d)")


def luhn_holds(digits: str) -> bool:
    """True when the digits have the check sum of a payment card."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if position % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def is_card(text: str) -> bool:
    """True when `text`, digits with blanks or hyphens, is a payment card's number: known prefix, fitting length, check sum."""
    digits = re.sub(r"[ ._-]", "", text)
    lengths = {"3": (14, 15), "4": (13, 16, 19), "5": (16,), "6": (16, 17, 18, 19), "2": (16,)}.get(digits[:1], ())
    return len(digits) in lengths and len(set(digits)) > 1 and luhn_holds(digits)


def is_chinese_id(text: str) -> bool:
    """True when `text` is an 18-character Chinese identity number: plausible birth date and right check character."""
    digits = text.upper()
    if not re.fullmatch(r"[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX]", digits):
        return False
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[sum(int(d) * w for d, w in zip(digits, weights, strict=False)) % 11] == digits[17]


def _mask_private_keys(text: str, found: list[str]) -> str:
    # Searched from end to end by position: a lazy pattern would run to the end of the text once per unclosed BEGIN.
    parts: list[str] = []
    position = 0
    while begin := _KEY_BEGIN.search(text, position):
        end = _KEY_END.search(text, begin.end())
        parts += [text[position : begin.start()], "[masked:private-key]"]
        found.append("private-key")
        position = end.end() if end else len(text)
    return "".join([*parts, text[position:]])


def _substitute(
    pattern: re.Pattern[str], what: str, text: str, found: list[str], *, value: int = 0, when: Callable[[str], bool] = lambda _: True
) -> str:
    """Replace group `value` of each match for which `when` holds by the mask, and note it."""

    def replace(match: re.Match[str]) -> str:
        if not when(match[value]):
            return match[0]
        found.append(what)
        start, end = match.start(value) - match.start(), match.end(value) - match.start()
        told = in_place_of_number(f"[masked:{what}]", match.string, match.start(value), match.end(value))
        return f"{match[0][:start]}{told}{match[0][end:]}"

    return pattern.sub(replace, text)


_NOT_IN_URL = lazy_re(r"\[masked|[${<]|\d{1,5}[?#]")
"""A mask, a variable, a port with what is asked of it."""


def _is_no_port_nor_mask(value: str) -> bool:
    return _NOT_IN_URL.match(value) is None


def _has_digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def mask(text: str, contacts: Contacts = NO_CONTACTS) -> Masked:
    """Return `text` with every secret replaced by `[masked:<what>]`, and with what `contacts` names.

    Idempotent: a mask is never masked again. Linear in the length of the text.
    What: private-key, jwt, api-key, token, password, secret, code, card, card-code, id-number, phone, email.
    """
    masked = _mask_written(text, contacts)
    if (plain := undisguised(text)) is not None and len((seen := _mask_written(plain, contacts)).found) > len(masked.found):
        masked = seen  # its odd letters go too: they hid something
    if not masked.found:
        return masked
    masked = masked._replace(text=still_json(masked.text))
    return _by_value(text, masked, contacts) if text.lstrip()[:1] in ("{", "[") else masked


def _by_value(text: str, masked: Masked, contacts: Contacts) -> Masked:
    """`masked`, or where a rule ate the marks behind a secret: the JSON masked string by string, if the rules find no more in that."""
    if is_json(masked.text) or not is_json(text):
        return masked
    try:
        meant = _meant(text, contacts)
    except RecursionError:  # one level less than can be read may be more than can be written
        return masked
    return Masked(meant, tuple(_MASK.findall(meant))) if is_json(meant) else masked


def _meant(text: str, contacts: Contacts) -> str:
    value = mask_json(json.loads(text, strict=False, object_pairs_hook=object_of), contacts)
    return still_json(_mask_text(json.dumps(value, ensure_ascii=False), contacts).text)


def _mask_written(text: str, contacts: Contacts) -> Masked:
    return _mask_within_json(text, contacts) if _is_escaped_json(text) else _mask_text(text, contacts)


def _mask_text(text: str, contacts: Contacts) -> Masked:
    masked = mask_by_all_rules(text) if may_hold_secret(text) else Masked(text, ())
    if contacts == NO_CONTACTS:
        return masked
    found: list[str] = []
    text = mask_contacts(masked.text, contacts, found)
    return Masked(text, (*masked.found, *found)) if found else masked


_MASK = lazy_re(r"\[masked:([a-z-]+)\]")
_TELLS_A_MASK = lazy_re(
    r"(?i).{0,200}(?:\b(?:is|are|was|were)(?: now)?|[是为叫])\s?[\"'“「]?\[masked:[a-z-]+\][\"'”」]?\s?[.。!！]?\s*", re.DOTALL
)


def tells_only_a_mask(sentence: str) -> bool:
    """Whether all that `sentence` would tell was masked: "my telephone number is [masked:phone]"."""
    return "[masked:" in sentence and _TELLS_A_MASK.fullmatch(sentence) is not None


def _is_escaped_json(text: str) -> bool:
    r"""JSON whose strings are written with `\"` or `\u5bc6`: the rules would not see the words in it."""
    return "\\" in text and text.lstrip()[:1] in ("{", "[", '"')


def _mask_within_json(text: str, contacts: Contacts) -> Masked:
    """Mask the words that the JSON stands for. It is written anew only where that finds more than its letters show."""
    letters = _mask_text(text, contacts)
    try:
        value = json.loads(text, strict=False, object_pairs_hook=object_of)
        meant = mask_json(value, contacts)
        if meant == value:  # what the letters of an escape look like is no secret
            return letters if not letters.found or _mask_text(json.dumps(value, ensure_ascii=False), contacts).found else Masked(text, ())
    except (ValueError, RecursionError):
        return letters  # not JSON after all, or too deep to be a tool's answer
    written = _mask_text(json.dumps(meant, ensure_ascii=False), contacts).text
    return Masked(written, tuple(_MASK.findall(written)))


def mask_by_all_rules(text: str) -> Masked:
    """What `mask` returns for secrets, without the quick look before: for texts in which that found a sign, and to be compared with."""
    found: list[str] = []
    text = _mask_private_keys(text, found)
    small = text.lower()
    for what, signs, pattern in FORMS:
        if any(sign in small for sign in signs):
            text = _substitute(pattern, what, text, found)
    text = _substitute(_URL_PASSWORD, "password", text, found, value=2, when=_is_no_port_nor_mask)
    text = _substitute(_AUTH_HEADER, "token", text, found, value=2, when=_has_digit)
    if _DIGITS.search(text) and (not text.isascii() or any(word in small for word in _CODE_WORDS)):
        for pattern, value in ((_ONE_TIME_CODE, 2), (_CODE_BESIDE, 2), (_CODE_FIRST, 0), (PIN_SAID, 2)):
            text = _substitute(pattern, "code", text, found, value=value)
        text = _substitute(_CARD_CODE, "card-code", text, found, value=2)
    text = mask_written(text, found)
    text = mask_said(text, found)
    text = mask_named_values(credentials.mask_named(text, found), found)
    if _DIGITS.search(text):
        text = _substitute(_CN_ID_CUE, "id-number", text, found, value=2)
        text = _substitute(_CN_ID, "id-number", text, found, when=is_chinese_id)
        text = _substitute(_SSN, "id-number", text, found, value=2)
        text = _substitute(_CARD, "card", text, found, when=is_card)
    return Masked(text, tuple(found))


def mask_json(value: Any, contacts: Contacts = NO_CONTACTS) -> Any:
    """Return a JSON value with every string in it masked, keys included; what stands under a secret's name is masked whole."""
    return _walk(value, "", "", 0, contacts)


MAX_DEPTH = 64
"""Below this, JSON is masked as text: nobody nests so deep in earnest, and recursion has an end."""


def _walk(value: Any, key: str, above: str, depth: int, contacts: Contacts) -> Any:
    """`key`: what `value` stands under; `above`: what the object around it stands under."""
    if depth > MAX_DEPTH:
        return _mask_text(json.dumps(value, ensure_ascii=False, default=str), contacts).text
    if isinstance(value, dict):
        label = credentials.label_of(value)
        return object_of(
            (mask(str(name), contacts).text, _walk(inner, label if label and name == "value" else str(name), key, depth + 1, contacts))
            for name, inner in value.items()
        )
    if isinstance(value, list | tuple):
        return [_walk(inner, credentials.key_in_list(value, place) or key, above, depth + 1, contacts) for place, inner in enumerate(value)]
    return _leaf(value, key, above, contacts)


def _leaf(value: Any, key: str, above: str, contacts: Contacts) -> Any:
    if what := credentials.secret_under(key, value) or credentials.secret_within(above, key, value):
        return value if isinstance(value, str) and value.startswith("[masked:") else f"[masked:{what}]"
    if contacts.phones and phone_under(key, value):
        return "[masked:phone]"
    if not isinstance(value, str):
        return _number(value, key, contacts) if isinstance(value, int) and not isinstance(value, bool) else value
    return mask(value, contacts._replace(phones=False) if number_of_something_else(key, value) else contacts).text


def _number(value: int, key: str, contacts: Contacts) -> int | str:
    if credentials.CARD_KEY.search(key) and is_card(str(value)):
        return "[masked:card]"
    return "[masked:phone]" if contacts.phones and value > 999_999 and is_phone_number_under(key, value) else value
