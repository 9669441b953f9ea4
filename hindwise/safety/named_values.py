"""JSON that stands in a text: under a name that says so the whole string is a secret, also one of plain words ("correct horse battery").

The other rules know what looks like a secret. Here nothing needs to: a name in quotation marks, a colon and a string are no prose. JSON
within JSON is read too, where quotation marks have backslashes before them.
"""

from hindwise.safety.credentials import secret_under
from hindwise.text.lazy_re import lazy_re

SIGNS = ("jwt", "_phrase", "-phrase", "seedphrase", "recoveryphrase")
"""As for the other rules; the rest of the names are signs already."""

MAX_CHARS = 2_000
"""Of one string: what is longer is a document, and each place is read in bounded time."""

_BEGINS = lazy_re(r"(?P<mark>\\{0,7}[\"'])(?P<key>[^\"'\\\r\n]{2,64})(?P=mark)\s{0,4}:\s{0,4}(?P<quote>(?P<slashes>\\{0,7})[\"'])")
_NAME = lazy_re(r"(?i)pass|pwd?$|kennwort|secret|key|token|authorization|cookie|jwt|mnemonic|phrase|密码|口令|[密秘私]钥|令牌|授权码")
"""A quick look: all names of secrets hold one of these."""
_MOST_SLASHES = 64
_MASK = lazy_re(r"\[masked:([a-z-]+)\]")


def mask_named_values(text: str, found: list[str]) -> str:
    """Return `text` with the strings of several words, or of Chinese ones, masked that stand in JSON under a secret's name.

    One word is left to the rules that know what words tell. Notes each in `found`, but for one that a rule before has noted in part.
    """
    parts: list[str] = []
    position = 0
    for match in _BEGINS.finditer(text):
        if match.start() < position or not _NAME.search(match["key"]):
            continue
        end = _end_of(text, match.end(), match["quote"][-1], len(match["slashes"]))
        value = text[match.end() : end]
        if what := _what(match["key"], value):
            if not _MASK.search(value):
                found.append(what)
            parts += [text[position : match.end()], f"[masked:{what}]"]
            position = end
    return "".join([*parts, text[position:]]) if parts else text


def _what(key: str, value: str) -> str:
    masks = _MASK.findall(value)
    if value.isascii() and len(value.split()) < 2:
        return ""
    what = secret_under(key, value)
    if masks:  # of "[masked:password] staple" the rest is a part of it, of "Bearer [masked:token]" it is none
        whole = (what == "password" or value.startswith("[masked:")) and _MASK.fullmatch(value) is None
        return masks[0] if what and whole else ""
    return what if what in ("password", "secret") else ""


def _end_of(text: str, start: int, quote: str, slashes: int) -> int:
    """Where the string ends that begins at `start`, its quotation marks written with as many backslashes; `start` where it has no end.

    One that is cut ends with the text, if that is its last line.
    """
    place = start
    while (place := text.find(quote, place, start + MAX_CHARS)) >= 0:
        before = text[max(start, place - _MOST_SLASHES) : place]
        if (len(before) - len(before.rstrip("\\"))) % (2 * slashes + 2) == slashes:
            return place - slashes
        place += 1
    rest = text[start : start + MAX_CHARS + 1]
    return len(text) if len(rest) <= MAX_CHARS and "\n" not in rest else start
