"""Secrets that are known by the name in front of them: `password is …`, `API_KEY=…`, 「密码是…」.

The name alone is not enough: "the password is wrong", `password: str` and `token = next_token()` must stay as they are.
"""

import re

_NAMED = re.compile(
    r"(?i)(?P<name>pass[ _-]?(?:word|wd|code|phrase)|pwd|secret|token|credentials?|(?:api|access|private|signing)[ _-]?key)"
    r"(?P<rest>[A-Za-z0-9_]{0,20})(?:[ \t]{1,2}(?:for|to|of)(?:[ \t][\w.-]{1,24}){1,4}?)?"
    r"(?P<link>(?:\\{0,3}[\"'])?[ \t]{0,3}(?:=>|:=|[:=：]|(?:is|was|are)(?=[ \t])|(?:changed|set)[ \t]to(?=[ \t]))[ \t]{0,3})"
    r"(?P<quote>(?:\\{0,3}[\"'`])?)(?P<value>(?:[^\s\"'`,;，。；、）)\]}<>&|\\]|\\(?!\\{0,2}[\"'`])){3,256})(?P<after>.?)"
)
_NAMED_ZH = re.compile(
    r"(?P<name>密码|口令|密钥|秘钥|令牌|私钥|访问码|(?i:pin)码?)"
    r"(?P<link>(?:\\{0,3}[\"'])?[ \t]{0,3}(?:是|为|：|:|=|改成了?|改为|设成|设为)[ \t]{0,3}(?P<quote>\\{0,3}[\"'])?)"
    r"(?P<value>(?(quote)[!#-&(-\[\]-~]{3,128}|[!-~]{4,128}))"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT_VALUES = _words(
    """str string int bytes none null nil true false undefined optional required text any secret secretstr password token hidden
    empty wrong incorrect invalid expired weak strong missing needed reset changed correct valid unknown stored hashed encrypted
    masked secure safe set unset the not now still also that what your his her their our being only never always too very really
    already asked stolen lost lengthy protected mandatory rejected accepted refused leaked compromised forgotten rotated case-sensitive
    read-only write-only self-explanatory"""
)
"""Words that follow "the password is" without being one, and types and literals of code."""
_CODE_LIKE = re.compile(r"[$%{<\[(]|.*[(\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+$|\*+$|x+$|\.+$")
"""A variable, a call, a dotted name, a placeholder."""

_KEYS = {
    "password": re.compile(r"(?i)(?:.*[_-])?(?:password|passwd|pwd|passphrase|passcode)$|密码|口令"),
    "card-code": re.compile(r"(?i)(?:cvv2?|cvc2?|card_code)$"),
    "secret": re.compile(
        r"(?i)(?:.*[_-])?(?:secret|secret_key|client_secret|api_?key|apikey|x-api-key|access_?key|private_?key|"
        r"(?:access|refresh|auth|id|bearer|session)_?token|authorization)$|密钥|令牌"
    ),
}


def named_secret(key: str) -> str:
    """Return what stands under the JSON key `key` if it is a secret by name (password, card-code, secret), else an empty text."""
    return next((what for what, pattern in _KEYS.items() if pattern.match(key)), "")


def _looks_secret(match: re.Match[str]) -> bool:
    name, value = match["name"].lower(), match["value"].rstrip(".!?")
    if len(value) < 3 or value.startswith("[masked") or value.lower() in _NOT_VALUES or _CODE_LIKE.match(value):
        return False
    if name.startswith("pass") or name == "pwd":
        return _is_password(match, value)
    has_digit = any(c.isdigit() for c in value)
    if match["quote"]:
        return (has_digit and not value.isdigit()) or len(value) >= 12
    return has_digit and not value.isdigit() and len(value) >= 8  # `tokens: 120` counts something


def _is_password(match: re.Match[str], value: str) -> bool:
    if match["quote"] or any(c.isdigit() or c in "!@#$%^&*+=?~" for c in value):
        return True
    link = match["link"].strip(" \t\\\"'")
    prose = link.isalpha() or " " in link
    # "the password is swordfish." ends there; "the password is really long" does not.
    return not prose or "-" in value or match["after"] in ("", ".", "!", "?", "\n") or match["value"] != value


def mask_named(text: str, found: list[str]) -> str:
    """Return `text` with the values after a secret's name masked; appends what was found to `found`."""

    def replace(match: re.Match[str]) -> str:
        if not _looks_secret(match):
            return match[0]
        what = "password" if match["name"].lower().startswith(("pass", "pwd")) else "secret"
        found.append(what)
        start, end = match.start("value") - match.start(), match.end("value") - match.start()
        tail = match["value"][len(match["value"].rstrip(".!?")) :]
        return f"{match[0][:start]}[masked:{what}]{tail}{match[0][end:]}"

    def replace_zh(match: re.Match[str]) -> str:
        if match["value"].startswith("[masked") or _CODE_LIKE.match(match["value"]):
            return match[0]
        what = "password" if match["name"] in ("密码", "口令") else "secret"
        found.append(what)
        return f"{match['name']}{match['link']}[masked:{what}]"

    return _NAMED_ZH.sub(replace_zh, _NAMED.sub(replace, text))
