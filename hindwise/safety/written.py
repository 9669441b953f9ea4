"""Secrets as machines have them: headers, options of commands, variables of a shell, parameters of an address, keys behind their names."""

import re
from collections.abc import Callable

from hindwise.safety.messages import told_from
from hindwise.text.lazy_re import lazy_re

SIGNS = ("authorization", "-auth", "sig=", "signature=", "--pass", "redis-cli", "htpasswd", "ldap", "identified by", "session", "auth=")
"""As for the other rules; many of these stand behind `key`, `token`, `secret`, `pass` or `://`, which are signs already."""

_PLACEHOLDER = lazy_re(
    r"(?i)\[masked|[$%{<(*]|(?:your|my|the|some|new|example|dummy|fake|test|insert|replace|change)[ _-]?\w{0,12}[_-]?"
    r"(?:key|token|secret|pass\w*|here|me|value)?$"
    r"|x{3,}|\.{2,}|(?:true|false|none|null|nil|undefined|required|optional|string|str|secret|token|password|key|bearer|basic|digest)$"
)
_HEADER_WORDS = lazy_re(
    r"(?i)(?:authentication|authorization|auth|token|tokens|scheme|header|headers|format|challenge|realm|required|needed|none|missing|invalid"
    r"|see|the|is|with|and|or|not|credentials?|optional|string|expired|error|failed)(?![A-Za-z0-9])"
)
_AUTHORIZATION = lazy_re(
    r"(?i)(?<![A-Za-z])authorization(?:\\{0,3}[\"'])?[ \t]?[:=：][ \t]?(?:\\{0,3}[\"'])?"
    r"(?P<scheme>(?:bearer|basic|token|digest|apikey|api-key|key|negotiate|hmac|aws4-hmac-sha256|qq-?bot|bot)[ \t]{1,3})?"
    r"(?P<value>[^\s\"'\\,;]{6,4096})"
)
_KEY_HEADER = lazy_re(
    r"(?i)(?<![A-Za-z])(?:x-[a-z-]{0,24}(?:api-?key|auth(?:-token)?|token|secret|access-key)|private-token|apikey)"
    r"[ \t]?:[ \t]?(?P<value>[^\s\"'\\,;]{6,512})"
)
_OPTION = lazy_re(
    r"(?i)(?<![\w-])--?(?:[a-z]{1,16}-){0,3}(?:password|passwd|passphrase|pass|pwd|token|api-?key|secret(?:-key)?|access-key|client-secret)"
    r"(?:[ \t]{1,3}|=)(?P<quote>[\"']?)(?P<value>[^\s\"'`,;)\]\u2e80-\uffef]{4,256})"
)
_OPTION_WORDS = lazy_re(
    r"(?i)(?:to|is|and|or|was|for|in|on|the|with|when|if|as|from|file|flag|option|options|argument|parameter|switch|must|should|can|may|will"
    r"|instead|there|here|value|variable|required|needs?|takes?|stdin|only|after|before|which|that|then|without|because|deprecated|at|into|per)$|-"
)
_COMMAND = lazy_re(
    r"(?i)(?<![A-Za-z])(?:(?:docker|podman|helm registry|az|oc|cf|nerdctl|skopeo)[ \t](?:[^\n]{0,40}?[ \t])?login"
    r"(?:[ \t][^\n]{0,120}?)?[ \t]-p[ \t]{1,2}"
    r"|redis-cli(?:[ \t][^\n]{0,120}?)?[ \t]-a[ \t]{1,2}|htpasswd[ \t]-[a-z]*b[a-z]*[ \t]\S{1,80}[ \t]\S{1,40}[ \t]"
    r"|ldap(?:search|modify|add)(?:[ \t][^\n]{0,160}?)?[ \t]-w[ \t]{1,2}"
    r"|pass(?:in|out)[ \t]pass:|identified by[ \t]{1,2}(?=[\"']))(?P<quote>[\"']?)(?P<value>[^\s\"'$<`;]{4,128})"
)
_OPTION_SIGNS = ("-pass", "-pwd", "-token", "-api", "-secret", "-access", "-client")
_VARIABLE_SIGNS = ("PASS", "PWD", "TOKEN", "SECRET", "KEY", "AUTH")
_COMMAND_SIGNS = (" -p ", "redis-cli", "htpasswd", "ldap", "identified by", "pass:")
_VARIABLE = lazy_re(
    r"(?<![A-Za-z0-9_])(?:[A-Z][A-Z0-9]{0,24}_){0,5}(?P<name>PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|TOKEN|SECRET|(?:API|ACCESS|AUTH|MASTER|ENCRYPTION"
    r"|SIGNING|PRIVATE|SECRET|ACCOUNT|STORAGE|LICENSE|SERVICE|SESSION|JWT|HMAC|SHARED)_?KEY|PGPASSWORD|MYSQL_PWD|REDISCLI_AUTH)(?P<rest>_BASE|_[0-9])?"
    r"(?:=|:[ \t]{1,3})(?P<quote>[\"']?)(?P<value>[^\s\"'`,;&|)}\]]{6,512})"
)
_VARIABLE_PLAIN = lazy_re(
    r"(?:/|\./|~/|[A-Za-z]:\\|https?:|\d{1,5}$|[A-Za-z_]+(?:\.[A-Za-z_]+|\[|\()|vault:|arn:|projects/|op://|file:|env:)"
)
_PARAMETER = lazy_re(
    r"(?i)(?<=[?&;])(?:access_token|refresh_token|id_token|auth_token|token|api_?key|apikey|client_secret|secret|password|passwd|pwd|auth"
    r"|session(?:_?id|_token)?|sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature|key)=(?P<value>[A-Za-z0-9%._~+/=-]{6,2048})"
)
_LONG_PARAMETER = lazy_re(r"(?i)(?:sig|signature|key|auth|token|x-amz-signature|x-goog-signature|session\w{0,6})=")
_NAMED_KEY = lazy_re(
    r"(?i)(?:key|secret|token|credential)s?(?: (?:for|to|of)(?: [\w.@-]{1,32}){1,4}?)?"
    r"(?:\\{0,3}[\"'])?(?:[ \t]{0,3}(?:=>|:=|[:=：是为])[ \t]{0,3}|[ \t](?:is|was)[ \t]|[ \t]{1,2})(?:\\{0,3}[\"'`“「])?"
    r"(?P<value>(?:0x)?[A-Za-z0-9+/_=-]{20,600}+)(?![.@:]?[A-Za-z0-9+/_=-])"
)
_NAMED_KEY_ZH = lazy_re(
    r"(?:密钥|秘钥|私钥|密匙|令牌)(?:就?是|为|：|:|=)?[ \t“「\"']{0,3}(?P<value>(?:0x)?[A-Za-z0-9+/_=-]{20,600}+)(?![.@:]?[A-Za-z0-9+/_=-])"
)
_NO_SECRET_KEY = lazy_re(
    r"(?i)(?:public|primary|foreign|cache|partition|sort|idempotency|idem|object|s3|hash|dedup|row|routing|lookup|index|issue|unique|composite"
    r"|surrogate|natural|shard|bucket|map|dict|translation|i18n|message|event|sha256|sha1|md5|digest|etag|page|next|cursor|continuation"
    r"|fingerprint|host)[ _-]?$"
)
_NESTED = lazy_re(
    r"(?i)(?:pass(?:word|wd|phrase|code)|pwd|secret|token|api[ _-]?key|密码|口令|密钥|令牌)(?:\\{0,7}[\"'])?[ \t]{0,3}[:=][ \t]{0,3}"
    r"(?:\{[^{}]{0,200}?(?<![A-Za-z_])|\r?\n[ \t]{1,12})(?:value|val|current|new|old|plain|plaintext|text|raw|content|data|值|内容)"
    r"(?:\\{0,7}[\"'])?"
    r"[ \t]{0,3}[:=][ \t]{0,3}(?:\\{0,7}[\"'])?(?P<value>[^\s\"'\\,{}\[\]#]{3,256})"
)
_ELEMENT = lazy_re(
    r"(?i)<(?:[\w-]{1,24}[:_-])?(?P<name>password|passwd|passphrase|secret|token|api-?key|access-?key|client-?secret)>[ \t\r\n]{0,8}"
    r"(?P<value>[^<>\s][^<>\n]{2,255}?)[ \t\r\n]{0,8}</"
)
_NAMES = ("pass", "pwd", "secret", "token", "api", "密码", "口令", "密钥", "令牌")
_BLOCK = lazy_re(
    r"(?i)(?:pass(?:word|wd|phrase|code)|secret|token|api[ _-]?key|密码|口令|密钥|令牌)[ \t]{0,3}:[ \t]{0,3}[|>][-+]?[ \t]{0,3}\r?\n"
    r"[ \t]{1,12}(?P<value>[^\n]{3,512})"
)
"""YAML's long form."""
_ADDRESS_TOKEN = lazy_re(r"(?<=://)(?P<value>(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{16,255})(?=@)")


def mask_written(text: str, found: list[str]) -> str:
    """Return `text` with secrets in the forms of machines masked; notes each in `found`."""
    small = text.lower()
    if "authorization" in small:
        text = _masked(_AUTHORIZATION, text, "token", found, _in_header)
    if "key:" in small or "token:" in small or "auth:" in small or "secret:" in small:
        text = _masked(_KEY_HEADER, text, "token", found, lambda match: not _PLACEHOLDER.match(match["value"]))
    if any(sign in small for sign in _OPTION_SIGNS):
        text = _masked(_OPTION, text, "password", found, _in_option)
    if any(sign in small for sign in _COMMAND_SIGNS):
        text = _masked(_COMMAND, text, "password", found, lambda match: not _PLACEHOLDER.match(match["value"]))
    if "</" in text:
        text = _masked(_ELEMENT, text, "password", found, lambda match: not _PLACEHOLDER.match(match["value"]))
    if ("{" in text or "\n" in text) and any(sign in small for sign in _NAMES):
        text = _masked(_NESTED, text, "password", found, _in_nested)
        text = _masked(_BLOCK, text, "password", found, lambda match: not _PLACEHOLDER.match(match["value"]))
    if any(sign in text for sign in _VARIABLE_SIGNS):
        text = _masked(_VARIABLE, text, "password", found, _in_variable)
    if "=" in text and any(sign in text for sign in "?&;"):
        text = _masked(_PARAMETER, text, "token", found, _in_parameter)
    if "://" in text:
        text = _masked(_ADDRESS_TOKEN, text, "token", found, lambda _: True)
    if "key" in small or "secret" in small or "token" in small or "credential" in small:
        text = _masked(_NAMED_KEY, text, "secret", found, _is_named_key)
    if "钥" in text or "匙" in text or "令牌" in text:
        text = _masked(_NAMED_KEY_ZH, text, "secret", found, lambda match: is_key_like(match["value"]))
    return text


def is_key_like(value: str) -> bool:
    """Whether a long value may be a key: base64 of small and capital letters and digits, or 32 hexadecimal digits; no UUID, no path."""
    core = value.removeprefix("0x").rstrip("=")
    if (
        re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", core.lower())
        or "/" in core[:1]
        or core.count("/") > len(core) / 12 + 1
    ):
        return False
    digits = sum(c.isdigit() for c in core)
    if re.fullmatch(r"[0-9a-fA-F]{32,}", core):
        return 0 < digits < len(core)
    words = re.split(r"[-_/+]", core)
    has_all = digits > 0 and any(c.islower() for c in core) and any(c.isupper() for c in core)
    return has_all and max(map(len, words)) >= 16


_NAME_SAYS = lazy_re(r"(?i)(?:token|secret|key)[\w-]{0,8}[ \t=:\"']{1,4}$")
"""What is no password after all."""


def _masked(pattern: re.Pattern[str], text: str, what: str, found: list[str], counts: Callable[[re.Match[str]], bool]) -> str:
    def replace(match: re.Match[str]) -> str:
        if match["value"].startswith("[masked") or not counts(match):
            return match[0]
        said = _NAME_SAYS.search(match[0][: match.start("value") - match.start()]) if what == "password" else None
        named = "secret" if said else what
        found.append(named)
        start, end = match.start("value") - match.start(), match.end("value") - match.start()
        return f"{match[0][:start]}[masked:{named}]{match[0][end:]}"

    return pattern.sub(replace, text)


def _in_header(match: re.Match[str]) -> bool:
    value = match["value"]
    if _PLACEHOLDER.match(value) or _HEADER_WORDS.match(value):
        return False
    return bool(match["scheme"]) or len(value) >= 20 or any(c.isdigit() for c in value)


def _in_nested(match: re.Match[str]) -> bool:
    return not _PLACEHOLDER.match(match["value"]) and not told_from(match.string, match.start("value"), "")


def _in_option(match: re.Match[str]) -> bool:
    value = match["value"].rstrip(".!?:")
    return bool(match["quote"]) or not (len(value) < 4 or _PLACEHOLDER.match(value) or _OPTION_WORDS.match(value))


def _in_variable(match: re.Match[str]) -> bool:
    value = match["value"]
    return not (_PLACEHOLDER.match(value) or _VARIABLE_PLAIN.match(value))


def _in_parameter(match: re.Match[str]) -> bool:
    value = match["value"]
    if _PLACEHOLDER.match(value):
        return False
    return not _LONG_PARAMETER.match(match[0]) or (len(value) >= 16 and any(c.isdigit() for c in value)) or len(value) >= 32


def _is_named_key(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 24) : match.start()]
    return not _NO_SECRET_KEY.search(before) and is_key_like(match["value"])
