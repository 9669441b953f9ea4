"""Which words are secrets? They are replaced before anything is stored or sent, and the mask says what stood there.

Every pattern is bounded and begins at a place that cannot begin twice (a look-behind over its own alphabet), so that 256 KiB of
hostile text take linear time. What is only personal (names, mail, telephone) is no secret of this room: see `personal`.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from hindwise.safety import credentials
from hindwise.safety.disguised import undisguised


class Masked(NamedTuple):
    """A text without secrets. `found`: what was masked, one name per place, in order of the rules."""

    text: str
    found: tuple[str, ...]


_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")

_BEFORE = r"(?<![A-Za-z0-9_.-])"
"""A token starts here. Not `\\b`: to Python a Chinese character is a word character too."""

_TOKENS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("jwt", re.compile(_BEFORE + r"eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{4,}+")),
    ("api-key", re.compile(_BEFORE + r"sk-(?=[A-Za-z_-]{0,120}\d)[A-Za-z0-9_-]{8,}+")),
    ("api-key", re.compile(_BEFORE + r"sk-(?=[A-Za-z]{0,60}[A-Z])[A-Za-z]{24,}+(?![A-Za-z0-9_-])")),  # one in many has no digit
    ("api-key", re.compile(_BEFORE + r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{8,}+")),
    ("api-key", re.compile(_BEFORE + r"(?:gh[pousr]_[A-Za-z0-9]{16,}+|github_pat_[A-Za-z0-9_]{16,}+|glpat-[A-Za-z0-9_-]{16,}+)")),
    ("api-key", re.compile(_BEFORE + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])")),
    ("api-key", re.compile(_BEFORE + r"LTAI[A-Za-z0-9]{12,30}(?![A-Za-z0-9])")),
    ("api-key", re.compile(_BEFORE + r"AIza[A-Za-z0-9_-]{30,}+")),
    ("api-key", re.compile(_BEFORE + r"xox[abeoprs]-[A-Za-z0-9-]{8,}+")),
    ("api-key", re.compile(_BEFORE + r"(?:hf_|npm_|whsec_|dop_v1_)[A-Za-z0-9]{20,}+")),
    ("api-key", re.compile(_BEFORE + r"hw_(?=[A-Za-z_-]{0,42}\d)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])")),  # our own
    ("api-key", re.compile(f"{_BEFORE}(?:{credentials.VENDOR_FORM})")),
    ("api-key", re.compile(_BEFORE + r"(?:app|dataset)-[A-Za-z0-9]{24}(?![A-Za-z0-9-])")),
)

_URL_PASSWORD = re.compile(r"(://[^\s/:@\"']{0,64}:)([^\s/@\"']{1,128})(@)")
_AUTH_HEADER = re.compile(
    r"(?i)(?<![A-Za-z0-9_])((?:bearer|basic)[ \t:]{1,3}(?:token[ \t]{0,3}(?:is|:|=|是|为)?[ \t]{0,3})?"
    r"|令牌(?:是|为|：|:|=)[ \t]{0,3})([A-Za-z0-9+/=._~-]{8,})"
)
_CARD_CODE = re.compile(
    r"(?i)(?<![A-Za-z0-9])((?:cvv2?|cvc2?|security code|安全码)[ \t]{0,3}(?:code)?[ \t]{0,3}(?:is|:|=|：|是|为)?[ \t]{0,3})(\d{3,4})(?!\d)"
)
_ONE_TIME_CODE = re.compile(
    r"(?i)((?:(?:verification|one-time|authentication|confirmation|login|security|sms|2fa)[ -](?:code|password|pin)|otp|your code|验证码"
    r"|校验码|动态码)[ \t]{0,3}(?:is|was|:|=|：|是|为)[ \t]{0,3})(\d{4,8})(?!\d)"
)
_CODE_BESIDE = re.compile(
    r"(?i)((?<![a-z0-9])(?:(?:verification|one-time|sms|2fa)[ -](?:code|password|pin)|otp)[ \t]{1,3}"
    r"|(?:验证码|校验码|动态码|(?<![a-z])pin码)[ \t]{0,3})(\d{4,8})(?!\d)"
)
"""Without a word between: `OTP 482913`, 「验证码482913」. Not "confirmation code 1234567", which names an order."""
_CODE_WORD = re.compile(r"(?i)code|otp|one-time|2fa|sms|verification|is your")
_CODE_FIRST = re.compile(
    r"(?i)(?<![A-Za-z0-9_.-])(\d{4,8})(?= is your (?:[a-z0-9-]{1,16} ){0,3}(?:code|password|pin)\b"
    r"|[ \t]?(?:是|为)\S{0,8}(?:验证码|校验码|动态码)"
    r"|[（(]\S{0,6}(?:验证码|校验码|动态码))"
)
_PIN_SAID = re.compile(
    r"(?i)(?<![A-Za-z0-9])(pins?(?: (?:code|number))?(?: (?!is\b|was\b)[a-z]{1,12}){0,5}(?:(?: is| was|[:=])[ \t]{1,3}))(\d{4,8})(?!\d)"
)
"""Said in words: "my pin for the demo account is 4821"."""
_CARD = re.compile(
    r"(?<![A-Za-z0-9_.-])(?:\d{13,19}|\d{4}( {1,2}|[._-])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})(?![A-Za-z0-9_]|-\d)"
)
_CN_ID = re.compile(r"(?<![A-Za-z0-9])[1-9]\d{16}[\dXx](?![A-Za-z0-9])")
_CN_ID_CUE = re.compile(
    r"((?:身份证号码|身份证号|身份证|公民身份号码)[ \t]{0,3}(?:号码?)?(?:是|为|：|:|=)?[ \t]{0,3})"
    r"(\d{14,17}[\dXx]|\d{6}[ -]\d{8}[ -]\d{3}[\dXx])(?![A-Za-z0-9])"
)
_SSN = re.compile(r"(?i)((?:ssn|social security(?: number| no\.?)?)[ \t]{0,3}(?:is|:|=|#)?[ \t]{0,3})(\d{3}[- ]?\d{2}[- ]?\d{4})(?!\d)")


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
        return f"{match[0][:start]}[masked:{what}]{match[0][end:]}"

    return pattern.sub(replace, text)


def _has_digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


# --- a quick look: nearly every text holds nothing that any rule could begin with ------------------------------------------------------

_SIGNS = (
    *("-----begin", "eyj", "sk-", "k_live_", "k_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "akia", "asia"),
    *(
        "ltai",
        "aiza",
        "xox",
        "hf_",
        "npm_",
        "whsec_",
        "dop_v1_",
        "app-",
        "dataset-",
        "hw_",
        "://",
        "bearer",
        "basic ",
        "basic\t",
        "basic:",
    ),
    *credentials.SIGNS,
    *("cvv", "cvc", "ssn", "social security", "otp", "pwd", "secret", "token", "credential", "key"),
    *(f"{what}{between}" for what in ("verification", "one-time", "authentication", "confirmation") for between in (" ", "-")),
    *(f"{what}{between}" for what in ("login", "security", "sms", "2fa") for between in (" ", "-")),
)
"""In small letters. Each rule needs one of these, one of the other signs, or a run of digits; a new rule adds its own here."""
_OTHER_SIGNS = (
    *(
        "令牌",
        "安全码",
        "验证码",
        "校验码",
        "动态码",
        "身份证",
        "公民身份",
        "密码",
        "口令",
        "密钥",
        "秘钥",
        "私钥",
        "访问码",
        "授权码",
        "激活码",
        "助记词",
    ),
    *("\u0131", "\u0130", "\u017f", "\u212a"),  # letters that a rule without regard to case takes for i, s and k
)
_DIGIT_RUN = re.compile(r"\d{4}[ ._-]{0,2}\d{4}")
_SHORTEST = 6
"""`cvv123`, 「密码：abc1」."""
_PIN = re.compile(r"(?i:pin)(?:码|[ \t]{0,3}[是为：:=改设])")
_PW = re.compile(r"(?i)(?<![A-Za-z0-9])pws?[^A-Za-z0-9]")
_PASS = re.compile(r"(?i)pass(?:[ _-]?(?:word|wd|code|phrase|wort)|[ \t]?[\\\"':=]| is )")


def _may_hold_secret(text: str) -> bool:
    if len(text) < _SHORTEST:
        return False
    small = text.lower()
    for sign in _SIGNS:  # a plain loop: a generator would take longer than the search
        if sign in small:
            return True
    if ("pass" in small and _PASS.search(text)) or ("pw" in small and _PW.search(text)) or _DIGIT_RUN.search(text):
        return True
    if "pin" in small and (_PIN.search(text) or _PIN_SAID.search(text)):
        return True
    return not text.isascii() and any(sign in text for sign in _OTHER_SIGNS)


def mask(text: str) -> Masked:
    """Return `text` with every secret replaced by `[masked:<what>]`.

    Idempotent: a mask is never masked again. Linear in the length of the text.
    What: private-key, jwt, api-key, token, password, secret, code, card, card-code, id-number.
    """
    masked = _mask_written(text)
    if (plain := undisguised(text)) is not None and len((seen := _mask_written(plain)).found) > len(masked.found):
        return seen  # its odd letters go too: they hid something
    return masked


def _mask_written(text: str) -> Masked:
    return _mask_within_json(text) if _is_escaped_json(text) else _mask_text(text)


def _mask_text(text: str) -> Masked:
    return mask_by_all_rules(text) if _may_hold_secret(text) else Masked(text, ())


_MASK = re.compile(r"\[masked:([a-z-]+)\]")


def _is_escaped_json(text: str) -> bool:
    r"""JSON whose strings are written with `\"` or `\u5bc6`: the rules would not see the words in it."""
    return "\\" in text and text.lstrip()[:1] in ("{", "[", '"')


def _mask_within_json(text: str) -> Masked:
    """Mask the words that the JSON stands for. It is written anew only where that finds more than its letters show."""
    letters = _mask_text(text)
    try:
        value = json.loads(text, strict=False)
        meant = mask_json(value)
    except (ValueError, RecursionError):
        return letters  # not JSON after all, or too deep to be a tool's answer
    if meant == value:
        return letters
    written = _mask_text(json.dumps(meant, ensure_ascii=False)).text
    return Masked(written, tuple(_MASK.findall(written)))


def mask_by_all_rules(text: str) -> Masked:
    """What `mask` returns, without the quick look before: for texts in which that found a sign, and to be compared with."""
    found: list[str] = []
    text = _mask_private_keys(text, found)
    for what, pattern in _TOKENS:
        text = _substitute(pattern, what, text, found)
    text = _substitute(_URL_PASSWORD, "password", text, found, value=2, when=lambda v: not v.startswith(("[masked", "$", "{", "<")))
    text = _substitute(_AUTH_HEADER, "token", text, found, value=2, when=_has_digit)
    text = _substitute(_ONE_TIME_CODE, "code", text, found, value=2)
    if "码" in text or _CODE_WORD.search(text):
        text = _substitute(_CODE_BESIDE, "code", text, found, value=2)
        text = _substitute(_CODE_FIRST, "code", text, found)
    text = _substitute(_PIN_SAID, "code", text, found, value=2)
    text = _substitute(_CARD_CODE, "card-code", text, found, value=2)
    text = credentials.mask_named(text, found)
    text = _substitute(_CN_ID_CUE, "id-number", text, found, value=2)
    text = _substitute(_CN_ID, "id-number", text, found, when=is_chinese_id)
    text = _substitute(_SSN, "id-number", text, found, value=2)
    text = _substitute(_CARD, "card", text, found, when=is_card)
    return Masked(text, tuple(found))


def mask_json(value: Any) -> Any:
    """Return a JSON value with every string in it masked, keys included; what stands under a secret's name is masked whole."""
    return _walk(value, "", 0)


MAX_DEPTH = 64
"""Below this, JSON is masked as text: nobody nests so deep in earnest, and recursion has an end."""


def _walk(value: Any, key: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return _mask_text(json.dumps(value, ensure_ascii=False, default=str)).text
    if isinstance(value, dict):
        label = credentials.label_of(value)
        return {
            mask(str(name)).text: _walk(inner, label if label and name == "value" else str(name), depth + 1)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_walk(inner, credentials.key_in_list(value, place) or key, depth + 1) for place, inner in enumerate(value)]
    if what := credentials.secret_under(key, value):
        return value if isinstance(value, str) and value.startswith("[masked:") else f"[masked:{what}]"
    if isinstance(value, int) and credentials.CARD_KEY.search(key) and is_card(str(value)):
        return "[masked:card]"
    return mask(value).text if isinstance(value, str) else value
