"""A quick look: nearly every text holds nothing that any rule about secrets could begin with, and none of them need be asked.

Each rule needs one of the signs here, or a run of digits; a new rule adds its own.
"""

from hindwise.safety import credentials, named_values, spoken, vendor_keys, written
from hindwise.text.lazy_re import lazy_re

_SIGNS = (
    "-----begin",
    *vendor_keys.PLAIN_SIGNS,
    *("://", "bearer", "basic ", "basic\t", "basic:"),
    *credentials.SIGNS,
    *written.SIGNS,
    *spoken.SIGNS,
    *named_values.SIGNS,
    *("cvv", "cvc", "ssn", "social security", "otp", "pwd", "secret", "token", "credential", "key"),
    *(f"{what}{between}" for what in ("verification", "one-time", "authentication", "confirmation") for between in (" ", "-")),
    *(f"{what}{between}" for what in ("login", "security", "sms", "2fa") for between in (" ", "-")),
)
"""In small letters."""
_SIGNS_WITH = (("-", vendor_keys.DASHED_SIGNS), ("_", vendor_keys.SCORED_SIGNS), ("/", vendor_keys.SLASHED_SIGNS))
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
    ),
    *("助记词", *spoken.OTHER_SIGNS),
    *("\u0131", "\u0130", "\u017f", "\u212a"),  # letters that a rule without regard to case takes for i, s and k
)
_DIGIT_RUN = lazy_re(r"\d{4}[ ._-]{0,2}\d{4}")
_SHORTEST = 6
"""`cvv123`, 「密码：abc1」."""
_PIN = lazy_re(r"(?i:pin)(?:码|[ \t]{0,3}[是为：:=改设])")
PIN_SAID = lazy_re(
    r"(?i)(?<![A-Za-z0-9])(pins?(?: (?:code|number))?(?: (?!is\b|was\b)[a-z]{1,12}){0,5}(?:(?: is| was|[:=])[ \t]{1,3}))(\d{4,8})(?!\d)"
)
"""Said in words: "my pin for the demo account is 4821"."""
_PW = lazy_re(r"(?i)(?<![A-Za-z0-9])pws?[^A-Za-z0-9]")
_PASS = lazy_re(r"(?i)pass(?:[ _-]?(?:word|wd|code|phrase|wort)|[ \t]?[\\\"':=]| is |in pass)")


def may_hold_secret(text: str) -> bool:
    """Whether any rule about secrets may match. False is sure, True is not."""
    if len(text) < _SHORTEST:
        return False
    small = text.lower()
    if _any_in(small, _SIGNS):
        return True
    for mark, signs in _SIGNS_WITH:
        if mark in small and _any_in(small, signs):
            return True
    return _begins_otherwise(text, small)


def _any_in(small: str, signs: tuple[str, ...]) -> bool:
    for sign in signs:  # noqa: SIM110 - a generator would take longer than the search
        if sign in small:
            return True
    return False


def _begins_otherwise(text: str, small: str) -> bool:
    if ("pass" in small and _PASS.search(text)) or ("pw" in small and _PW.search(text)) or _DIGIT_RUN.search(text):
        return True
    if "code" in small and spoken.DOOR_CODE.search(text):
        return True
    if "pin" in small and (_PIN.search(text) or PIN_SAID.search(text)):
        return True
    return not text.isascii() and any(sign in text for sign in _OTHER_SIGNS)
