"""Secrets that are known by the name in front of them: `password is …`, `API_KEY=…`, 「密码是…」.

The name alone is not enough: "the password is wrong", `password: str` and `token = next_token()` must stay as they are.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from hindwise.safety.contacts import in_place_of_number
from hindwise.safety.messages import is_working_directory, only_tells, says_where, stands_in, told_from
from hindwise.text.lazy_re import lazy_re

SIGNS = (
    *("cookie", "sshpass", "curl", "mysql", "mariadb", "kennwort", "contrase", "access code", " phrase", "mnemonic"),
    *("your code", " is your "),
)
"""In small letters: what a text holds at least where one of the rules of this room begins."""

_NAMED = lazy_re(
    r"(?i)(?P<name>pass[ _-]?(?:word|wd|code|phrase)|pwd|secret|token|credentials?|(?:api|access|private|signing)[ _-]?key)"
    r"(?P<rest>[A-Za-z0-9_]{0,20})(?:[ \t]{1,2}(?:for|to|of)(?:[ \t][\w.@-]{1,32}){1,4}?)?"
    r"(?P<link>(?:\\{0,3}[\"'])?[ \t]{0,3}(?:=>|:=|[:=：]|(?:is|was|are)(?=[ \t])|(?:changed|set)[ \t]to(?=[ \t]))[ \t]{0,3})"
    r"(?P<quote>(?:\\{0,3}[\"'`])?)(?P<value>(?:[^\s\"'`,;，。；、）)\]}<>&|\\]|\\(?!\\{0,2}[\"'`])){3,256})(?P<after>.?)"
)
_NAMED_ZH = lazy_re(
    r"(?P<name>密码|口令|密钥|秘钥|令牌|私钥|访问码|授权码|激活码|(?i:pin)码?)"
    r"(?P<link>(?:\\{0,3}[\"'])?[ \t]{0,3}(?:(?:就|应该|用的)?是|设置?[为成]|为|：|:|=|改成了?|改为)"
    r"[ \t：:]{0,3}(?P<quote>\\{0,3}[\"'“「『])?)"
    r"(?P<value>(?(quote)[!#-&(-\[\]-~]{3,128}|[!-~]{4,128}))"
)


_APART = lazy_re(
    r"(?i)(?<![A-Za-z0-9])(?P<name>pass[ _-]?(?:word|wd|code|phrase)|pwd?|passwort|kennwort|contraseña"
    r"|access code|(?:api|access|signing)[ _-]?key"
    r"|token|(?<![A-Za-z] )pass(?=\\{0,3}[\"']|[ \t]?[:=])|(?<=my )pass(?= is ))s?"
    r"(?P<link>(?:\\{0,3}[\"'],[ \t]{0,3}\\{0,3}[\"']value)?(?:\\{0,3}[\"'])?\*{0,2}"
    r"(?:(?: (?:for|of) [\w.@-]{1,40})? to(?= )|'s|’s|[ \t]{0,2}(?:[–—|>:=：]|->|is:?(?=[ \t]))\*{0,2}|%3[AD](?:%20)?)?"
    r"(?:[ \t]{0,3}\r?\n){0,2}[ \t]{0,3})"
    r"(?P<quote>\\{0,3}[\"'`]?)(?P<value>[^\s\"'`,;，。；、（）()<>|\[\]{}\\]{4,128})"
)
_APART_ZH = lazy_re(
    r"(?P<name>密码|口令|密钥|秘钥|令牌|授权码|激活码)(?P<link>[ \t]{0,3})(?P<value>[A-Za-z0-9!#$%&*+./=?@^_~-]{6,128})(?![A-Za-z0-9])"
)
"""Nothing between that says so, or only what stands in tables and headings too: then the value must look like one."""
_COMMANDS = lazy_re(
    r"(?i)(?<![A-Za-z])(?:sshpass[ \t]{1,3}-p[ \t]{0,3}|curl(?:[ \t][^\n]{0,200}?)?[ \t](?:-u|--user)[ \t]{1,3}[\"']?[^\s:\"']{1,64}:"
    r"|(?:mysql|mysqldump|mysqladmin|mariadb)(?:[ \t][^\n]{0,120}?)?[ \t]-p)(?P<quote>[\"']?)(?P<value>[^\s\"'$<]{4,128})"
)
_SEED = lazy_re(
    r"(?i)(?:(?:seed|recovery|backup) phrase|mnemonic|助记词)[^\n]{0,16}?(?<![A-Za-z])"
    r"(?P<value>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![A-Za-z])"
)
_COOKIE = lazy_re(r"(?i)(?<![A-Za-z])(?:set-)?cookie[ \t]{0,3}:[ \t]{0,3}(?P<value>[A-Za-z0-9_.-]{1,64}=[^\r\n\"']{8,4000})")
_APART_SIGNS = ("pass", "pw", "kennwort", "contrase", "access", "api", "signing", "token")
_ELSEWHERE = (
    ("password", ("sshpass", "curl", "mysql", "mariadb"), _COMMANDS),
    ("secret", ("phrase", "mnemonic", "助记词"), _SEED),
    ("token", ("cookie",), _COOKIE),
)
"""Searched for only where a sign is: each rule reads the whole text."""


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
_CODE_LIKE = lazy_re(r"[$%{<\[(]|(?i:your[_-])|.*[(\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+$|\*+$|x+$|\.+$")
"""A variable, a call, a dotted name, a placeholder."""

_NOT_OF_IT = r"(?!的?(?:规则|提示|策略|强度|长度|要求|说明|格式|类型|名称|数量|有效期|错误|必填|状态|过期|哈希|算法|复杂度|是否|已|未))"
_KEYS = {
    "password": lazy_re(
        r"(?i)(?:.*[_-])?(?:[a-z]{2,12})?(?:password|passwd|passphrase|passcode|passwort|kennwort)(?:[_-]?(?:confirm(?:ation)?|repeat|[0-9]))?$"
        r"|(?:.*[_-])?(?:pwd|pw)$|(?:db|user|admin|root|smtp|mail|ftp|ssh|wifi|login|proxy)[_-]?pass$"
        rf"|(?:密码|口令){_NOT_OF_IT}|[\u4e00-\u9fff]{{1,8}}(?:密码|口令)$"
    ),
    "card-code": lazy_re(r"(?i)(?:cvv2?|cvc2?|card_code)$|安全码$"),
    "secret": lazy_re(
        r"(?i)(?:.*[_-])?(?:secret|secret_?key|client_?secret|api[ _-]?key|apikey|x-api-key|(?:secret_?)?access_?key|private_?key|"
        r"(?:access|refresh|auth|id|bearer|session)[_-]?token|authorization|(?:set-)?cookie|jwt|mnemonic|(?:seed|recovery)[_-]?phrase)$"
        rf"|(?:密钥|令牌){_NOT_OF_IT}|[\u4e00-\u9fff]{{0,8}}(?:密钥|秘钥|令牌|私钥|授权码)$"
    ),
}
_CODE_KEY = lazy_re(
    r"(?i)(?:pin|pin_?code|otp|(?:verification|one_?time|sms|2fa|security)_?code)$|[\u4e00-\u9fff]{0,4}(?:验证码|校验码|动态码)$"
)
_ID_KEY = lazy_re(r"(?i)(?:ssn|social_security(?:_number)?)$|身份证号?码?$|公民身份号码$")
_FORMS = {"code": (_CODE_KEY, lazy_re(r"\d{4,8}")), "id-number": (_ID_KEY, lazy_re(r"\d{3}-?\d{2}-?\d{4}|\d{14,17}[\dXx]"))}
CARD_KEY = lazy_re(r"(?i)card|\bpan$|number$|卡")
"""A number under such a name may be a card's."""


def named_secret(key: str) -> str:
    """Return what stands under the JSON key `key` if it is a secret by name (password, card-code, secret), else an empty text."""
    return next((what for what, pattern in _KEYS.items() if pattern.match(key)), "")


def secret_under(key: str, value: Any) -> str:
    """Return what the JSON value under `key` is if the key says that it is a secret, else an empty text.

    Numbers count; flags do not, nor messages about the secret, nor what only stands in its place, nor the path under `pwd`.
    """
    if not isinstance(value, str | int | float) or isinstance(value, bool) or value in ("", 0):
        return ""
    if isinstance(value, str) and (only_tells(value) or stands_in(value) or is_working_directory(key, value)):
        return ""
    if what := named_secret(key):
        return what
    text = str(value)
    if key.lower() == "pass":
        return "password" if _is_mixed(text) and len(text) >= 6 else ""
    return next((what for what, (name, form) in _FORMS.items() if name.match(key) and form.fullmatch(text)), "")


_VALUE_KEY = lazy_re(r"(?i)(?:value|val|v|current|new|old|plain|plaintext|text|raw|secret|content|data|值|内容)$")


def secret_within(above: str, key: str, value: Any) -> str:
    """Return what a value is where the object around it stands under a secret's name: `{"password": {"value": …}}`, else an empty text."""
    return secret_under(above, value) if above and _VALUE_KEY.match(key) and isinstance(value, str | int) else ""


def label_of(value: dict[Any, Any]) -> str:
    """Return the name of what stands under `value` in an object such as {"name": "password", "value": "…"}, or an empty text."""
    if "value" not in value:
        return ""
    return next((name for key in ("name", "key", "field") if isinstance(name := value.get(key), str)), "")


def key_in_list(items: Sequence[Any], place: int) -> str:
    """Return the name that the item before gives to the item at `place` (`--password`, or a pair), or an empty text."""
    before, item = items[place - 1] if place else None, items[place]
    if not isinstance(before, str) or not isinstance(item, str) or not named_secret(before.lstrip("-")):
        return ""
    says = before.startswith("--") and not item.startswith("-")
    return before.lstrip("-") if says or (len(items) == 2 and any(c.isdigit() for c in item)) else ""


def _is_mixed(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _looks_apart(match: re.Match[str]) -> bool:
    """Whether a value that stands apart from its name, or without a word between, is one: letters and digits mixed, and long enough."""
    name, link, value = match["name"].lower(), match["link"].strip(" \t"), match["value"].rstrip(".!?:")
    if not match["link"] or "masked:" in value or _CODE_LIKE.match(value) or _OF_CODE.search(value):
        return False
    of_its_own = link in ("'s", "’s") and _ALGORITHM.match(value)
    if of_its_own or says_where(match) or told_from(match.string, match.start("value"), match["quote"]):
        return False
    if name == "token" and _OF_A_LIST.search(match.string, max(0, match.start() - 16), match.start()):
        return False
    if name in ("passcode", "pass code", "access code") and value.isdigit():
        return len(value) <= 8
    if not name.startswith(("pass", "pw", "kenn", "contra")):
        return _is_mixed(value) and len(value) >= 16
    return _is_mixed(value) and (len(value) >= 6 or (bool(link) and name != "token"))


_OF_CODE = lazy_re(r"[/_=:].*[/_=:]|^\d+[A-Za-z]{1,12}$|^\d+-|^[A-Za-z]+[/:]|^v\d")
"""A path, an assignment, `8chars`, `12-character`."""


_ALGORITHM = lazy_re(
    r"(?i)(?:hash|salt|sha|md|bcrypt|s?crypt|argon|pbkdf|hmac|crc|base|utf|ntlm|aes|rsa|blake)-?\d{0,4}[a-z]?(?![A-Za-z0-9])"
)
"""The password's: how it is kept."""


def _looks_secret(match: re.Match[str]) -> bool:
    name, value = match["name"].lower(), match["value"].rstrip(".!?")
    if len(value) < 3 or value.startswith("[masked") or value.lower() in _NOT_VALUES or _CODE_LIKE.match(value):
        return False
    if (
        _is_of_another_word(name, match["rest"], value)
        or says_where(match)
        or told_from(match.string, match.start("value"), match["quote"])
    ):
        return False
    if name.startswith("pass") or name == "pwd":
        return _is_password(match, value)
    if name == "token" and _OF_A_LIST.search(match.string, max(0, match.start() - 16), match.start()):
        return False
    has_digit = any(c.isdigit() for c in value)
    if match["quote"]:
        return (has_digit and not value.isdigit()) or len(value) >= 12
    return has_digit and not value.isdigit() and len(value) >= 8  # `tokens: 120` counts something


_OTHER_REST = lazy_re(
    r"(?i)(?:_?[a-z]{1,10})?_(?:hint|help|policy|rules?|required|enabled|label|placeholder|title|description|message|strength|requirements?)$"
    r"|(?:Hint|Help|Policy|Rules?|Required|Enabled|Label|Placeholder|Title|Description|Message|Strength|Requirements?)$"
    r"|_?(?:addr(?:ess)?|type|count|limit|length|name)$"
)
_COUNTED = lazy_re(r"(?i)(?:[a-z]{0,3}s|_[a-z_]{2,16}s)$")
_OTHER_WORD = {"secret": ("ary", "ari", "ion", "ive"), "token": ("iz", "is")}


def _is_of_another_word(name: str, rest: str, value: str) -> bool:
    """Whether the name goes on to be another: `Secretary`, `token_address`; or names several, of which a number counts how many."""
    if _OTHER_REST.match(rest) or rest.lower().startswith(_OTHER_WORD.get(name, ("-",))):
        return True
    return value.isdigit() and len(value) <= 6 and _COUNTED.match(rest) is not None


_OF_A_LIST = lazy_re(r"(?i)(?:next|prev(?:ious)?|page|cursor|continuation|sync|start)[ _-]?$")
"""A token that names the next page."""


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
        told = in_place_of_number(f"[masked:{what}]", match.string, match.start("value"), match.end("value"))
        return f"{match[0][:start]}{told}{tail}{match[0][end:]}"

    def replace_zh(match: re.Match[str]) -> str:
        told = told_from(match.string, match.start("value"), match["quote"])
        if told or match["value"].startswith("[masked") or _CODE_LIKE.match(match["value"]):
            return match[0]
        what = "password" if match["name"] in ("密码", "口令") else "secret"
        found.append(what)
        return f"{match['name']}{match['link']}[masked:{what}]"

    def replace_apart(match: re.Match[str]) -> str:
        if not _looks_apart(match):
            return match[0]
        what = "secret" if match["name"].lower().endswith(("key", "token")) else "password"
        return _masked(match, what, found)

    def replace_apart_zh(match: re.Match[str]) -> str:
        value = match["value"]
        if _CODE_LIKE.match(value) or _OF_CODE.search(value) or not any(c.isdigit() for c in value):
            return match[0]
        return _masked(match, "password" if match["name"] in ("密码", "口令") else "secret", found)

    text = _NAMED_ZH.sub(replace_zh, _NAMED.sub(replace, text))
    small = text.lower()
    if any(sign in small for sign in _APART_SIGNS):
        text = _APART.sub(replace_apart, text)
    text = _APART_ZH.sub(replace_apart_zh, text)
    for what, signs, pattern in _ELSEWHERE:
        if any(sign in small for sign in signs):
            text = pattern.sub(partial(_masked, what=what, found=found), text)
    return text


def _masked(match: re.Match[str], what: str, found: list[str]) -> str:
    if match["value"].startswith("[masked"):
        return match[0]
    found.append(what)
    start, end = match.start("value") - match.start(), match.end("value") - match.start()
    told = in_place_of_number(f"[masked:{what}]", match.string, match.start("value"), match.end("value"))
    return f"{match[0][:start]}{told}{match[0][end:]}"
