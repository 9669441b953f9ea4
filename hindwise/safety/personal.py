"""What may not stand in a lesson that others read: names, addresses, numbers that lead to one person, one order, one account.

Names cannot be told from words by their look. They come from the episode itself: see `identities`.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from hindwise.safety.masking import is_card, is_chinese_id
from hindwise.text.lazy_re import lazy_re
from hindwise.text.remembered import remembered


class Span(NamedTuple):
    """One find: `kind` is email, phone, card, id-number, code, number, address or name; `start` and `end` are offsets into the text."""

    kind: str
    start: int
    end: int
    text: str


_LEFT = r"(?<![A-Za-z0-9_])"
_RIGHT = r"(?![A-Za-z0-9_])"
_EMAIL = lazy_re(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}")
_CODE_AFTER_ITS_NAME = lazy_re(
    r"(?:[Rr]eservations?|[Bb]ookings?|[Cc]onfirmations?|[Oo]rders?|[Tt]ickets?|PNR|[Ll]ocators?)"
    r"(?:,? (?:with|under|and|the|ID|IDs|id|ids"
    r"|code|codes|number|numbers|is|are)){0,4}:? ([A-Z0-9]{5,8})" + _RIGHT
)
_TITLED = lazy_re(
    r"(?<![A-Za-z])(?:Mr|Mrs|Ms|Mx|Dr|Prof)\.? [A-Z][a-z'’-]{1,20}(?: [A-Z][a-z'’-]{1,20})?(?![a-z])"
    r"|(?<![A-Za-z])(?:Miss|Professor|Aunt|Uncle) [A-Z][a-z'’-]{1,20}(?![a-z])"
)
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("email", _EMAIL),
    ("card", lazy_re(r"(?<![A-Za-z0-9_.-])\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7}" + _RIGHT)),
    ("card", lazy_re(r"(?i)(?:ending (?:in|with) |尾号(?:为|是)?\s?)\d{4}" + _RIGHT)),
    ("id-number", lazy_re(_LEFT + r"[1-9]\d{16}[\dXx]" + _RIGHT)),
    ("phone", lazy_re(r"(?<![A-Za-z0-9_.-])(?:\+?86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}" + _RIGHT)),
    ("phone", lazy_re(r"(?<![A-Za-z0-9_.-])(?:\+\d{1,3}[ .-]?)?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}" + _RIGHT)),
    ("phone", lazy_re(r"(?<![A-Za-z0-9_.])\+\d{1,3}(?:[ -]?\d{2,4}){2,4}" + _RIGHT)),
    ("phone", lazy_re(_LEFT + r"0\d{2,3}-\d{7,8}" + _RIGHT)),
    (
        "address",
        lazy_re(
            r"(?<![A-Za-z0-9])\d{1,5} (?:[A-Z][a-z]{1,20} ){1,3}"
            r"(?:Street|St|Avenue|Ave|Road|Rd|Drive|Dr|Lane|Ln|Boulevard|Blvd|Court|Place|Square)" + _RIGHT
        ),
    ),
    ("address", lazy_re(r"[\u4e00-\u9fff]{2,8}(?:路|街|大道|巷|弄|胡同)\d{1,5}号?")),
    ("code", lazy_re(_LEFT + r"(?=[a-z_]{0,40}\d)[a-z]{1,20}(?:_[a-z]{1,20}){0,4}_\d{3,12}" + _RIGHT)),
    ("code", lazy_re(_LEFT + r"(?=[A-Z0-9]{0,33}\d)(?=[0-9]{0,33}[A-Z])[A-Z0-9]{5,34}" + _RIGHT)),
    ("code", _CODE_AFTER_ITS_NAME),
    ("code", lazy_re(_LEFT + r"[A-Za-z]{1,8}[-#]\d{3,12}" + _RIGHT)),
    ("code", lazy_re(_LEFT + r"[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){3,7}(?: [A-Z0-9]{1,4})?" + _RIGHT)),  # an IBAN as it is printed
    ("name", _TITLED),
    ("number", lazy_re(r"(?<![A-Za-z0-9_.,])#?\d{6,20}(?![A-Za-z0-9_.]\d|\d)")),
)
_DIGIT = lazy_re(r"\d")
_WITHOUT_DIGIT = (("email", _EMAIL), ("code", _CODE_AFTER_ITS_NAME), ("name", _TITLED))
"""What can match a text that has no digit."""
_KNOWN_CODES = lazy_re(
    r"(?:HTTP|UTF|ISO|SHA|IPV|RFC|GPT|ERR|CVE|MD|E|OAUTH|BASE|UUID|INT|FLOAT|PYTHON|ORA)-?\d+|(?:gpt|claude|utf|sha|iso|rfc|cve|http|python|int|float)[-_]\d+"
)
"""Codes of standards, errors and versions: they name no person, and a lesson without them says nothing."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLAIN_IDS = _words(
    """user users customer customers agent test tester demo admin default client guest emp employee member account anonymous person
    staff service support sales bot     hr it ops dev prod id no api app web the and new"""
)

ALSO_WORDS = _words(
    """mark will may grace rose hope art bill sue rob frank grant drew jack page penny dawn joy faith summer autumn april
    june august iris lily daisy ivy ruby amber jade pearl king young long white black brown green gray grey wood stone
    field hill lake rivers banks price bell cook baker miller taylor mason carter parker hunter fisher potter weaver
    sky star love day moon sun son chase dean earl miles reed pat ray rich sandy skip stew tab ted victor walker wade
    ward west north church marsh moss nash park pope post rice short small sharp snow swift wise wolf worth book case
    law little major noble power read rule sale strong test trip user view way work"""
)
"""Names that are words too: they name a person only when capitalised."""


def _name_patterns(names: Collection[str]) -> Iterator[str]:
    """Regular expressions for each name: whole ids as they are, words of a name only when capitalised, Chinese names anywhere."""
    for name in names:
        if not name.isascii():
            yield from _foreign_patterns(name)
            continue
        parts = [p for p in re.split(r"[^A-Za-z]+", name) if p]
        if any(c.isdigit() for c in name) or "@" in name or (len(parts) > 1 and "_" in name) or name.isupper():
            yield _LEFT + re.escape(name) + _RIGHT
        if len(parts) > 1 and _is_person(name) and parts[0].lower() not in _PLAIN_IDS:
            yield _LEFT + "(?i:" + "[ ._-]".join(map(re.escape, parts)) + ")" + r"(?![A-Za-z])"
        for part in parts:
            # A two-letter part such as `Li` counts only in this exact form; parts of codes (`HAT069`) are no names.
            if len(part) >= 2 and part.lower() not in _PLAIN_IDS and not (part.isupper() and len(part) > 1) and _is_person(name):
                yield _LEFT + re.escape(part.capitalize()) + _RIGHT
                if len(part) >= 3 and part.lower() not in ALSO_WORDS and (name[:1].isupper() or name[-1:].isdigit()):
                    yield _LEFT + re.escape(part.lower()) + _RIGHT


class _Signs(NamedTuple):
    """What a text in small letters holds at least if it holds a name: the name as it is, or a word of it by itself."""

    whole: tuple[tuple[str, str], ...]
    words: dict[str, tuple[str, ...]]


def _foreign_patterns(name: str) -> Iterator[str]:
    """Chinese names anywhere; of names in other Latin letters the words, too."""
    yield re.escape(name)
    for part in _foreign_parts(name):
        yield _LEFT + re.escape(part[:1].upper() + part[1:]) + _RIGHT
        if part.lower() not in ALSO_WORDS:
            yield _LEFT + re.escape(part.lower()) + _RIGHT


def _foreign_parts(name: str) -> list[str]:
    return [part for part in re.split(r"[^A-Za-z\u00c0-\u024f'’]+", name) if len(part) >= 3]


@remembered(32)
def _name_signs(names: frozenset[str]) -> _Signs:
    words: dict[str, tuple[str, ...]] = {}
    for name in names:
        parts = _ASCII_WORD.findall(name.lower()) if name.isascii() else []
        for part in [part for part in parts if len(part) > 1] or parts:
            words[part] = (*words.get(part, ()), name)
    foreign = ((part.lower(), name) for name in names if not name.isascii() for part in _foreign_parts(name))
    return _Signs((*((name.lower(), name) for name in names), *foreign), words)


@remembered(64)
def _names_pattern(names: frozenset[str]) -> re.Pattern[str] | None:
    """One expression for some names; remembered, because an episode's texts hold the same ones again and again."""
    ordered = sorted(set(_name_patterns(names)), key=lambda p: (-len(p), p))
    joined = "|".join(_together(whole, list(group)) for whole, group in groupby(ordered, key=_is_whole))
    return re.compile(joined) if joined else None


def _is_whole(pattern: str) -> bool:
    return pattern.startswith(_LEFT) and pattern.endswith(_RIGHT)


def _together(whole: bool, patterns: Sequence[str]) -> str:
    """Neighbours that begin and end alike say so once: the same matches in the same order, compiled and searched sooner."""
    if not whole:
        return "|".join(patterns)
    return f"{_LEFT}(?:{'|'.join(pattern[len(_LEFT) : len(pattern) - len(_RIGHT)] for pattern in patterns)}){_RIGHT}"


def _find_names(text: str, names: frozenset[str]) -> Iterator[Span]:
    """Only names that the text may hold are compiled: an episode knows dozens, and compiling them costs more than all the searches."""
    small = text.lower()
    if not text.isascii() and any(c in text for c in _ODD_LETTERS):
        may = names
    else:
        signs = _name_signs(names)
        held = {name for word in signs.words.keys() & _ASCII_WORD.findall(small) for name in signs.words[word]}
        may = frozenset(held.union(name for whole, name in signs.whole if whole in small))
    if may and (named := _names_pattern(may)):
        yield from (Span("name", m.start(), m.end(), m[0]) for m in named.finditer(text))


_ASCII_WORD = lazy_re(r"[A-Za-z]+")
_ODD_LETTERS = "\u0130\u0131\u017f\u212a"
"""Letters that an expression without regard to case takes for i, s and k, though they are not their small forms."""


def _is_person(name: str) -> bool:
    """A name of words, or an id made of words and a number such as `mia_li_3668`; not a payment or flight code."""
    if re.match(r"(?:credit_card|gift_card|certificate|card|order|case|ticket|flight|res|pay)", name.lower()):
        return False
    return re.fullmatch(r"[A-Za-z'-]+(?:[ _.][A-Za-z'-]+){0,3}(?:[_.]?\d+)?", name) is not None and " Street" not in name


def find_personal(text: str, *, names: Collection[str] = ()) -> list[Span]:
    """Return every personal span of `text`, in order, without overlaps (the first rule that matches wins)."""
    if not text:
        return []
    told = frozenset(names)
    return list(_find_in_line(text, told)) if len(text) <= _LINE_CHARS else _find(text, told)


_LINE_CHARS = 500


@remembered(512)
def _find_in_line(text: str, names: frozenset[str]) -> tuple[Span, ...]:
    """Remembered: readers and validators of an episode look at the same sentences and lines."""
    return tuple(_find(text, names))


def _find(text: str, names: frozenset[str]) -> list[Span]:
    spans: list[Span] = []
    # To all rules but two belongs a digit, and few texts have one.
    for kind, pattern in _PATTERNS if _DIGIT.search(text) else _WITHOUT_DIGIT:
        if kind == "email" and "@" not in text:
            continue
        for match in pattern.finditer(text):
            group = match.lastindex or 0  # where a word in front tells what the code is, only the code is personal
            if _counts(kind, match[group]):
                spans.append(Span(kind, match.start(group), match.end(group), match[group]))
    if names:
        spans += _find_names(text, names)
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -(s.end - s.start))):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
        elif span.end > (end := kept[-1].end) and text[end : span.end].strip():
            kept.append(Span(span.kind, end, span.end, text[end : span.end]))  # its rest is no less personal
    return kept


def _counts(kind: str, match: str) -> bool:
    if kind == "card":
        return not match[0].isdigit() or is_card(match)
    if kind == "id-number":
        return is_chinese_id(match)
    return not (kind == "code" and _KNOWN_CODES.fullmatch(match))


def personal_data(text: str, *, names: Collection[str] = ()) -> list[str]:
    """Return the personal words of `text`, each once, in order; `names` as `identities` gives them. Empty: the text may be shared."""
    return list(dict.fromkeys(span.text for span in find_personal(text, names=names)))


def without_personal(text: str, *, names: Collection[str] = ()) -> str:
    """Return `text` with each personal span taken out."""
    for span in reversed(find_personal(text, names=names)):
        text = text[: span.start] + text[span.end :]
    return " ".join(text.split())


_STANDS_FOR = {
    "en": {
        "email": "an e-mail address",
        "phone": "a telephone number",
        "card": "a card",
        "id-number": "an id number",
        "address": "an address",
        "name": "the user",
    },
    "zh": {
        "email": "某邮箱",
        "phone": "某电话",
        "card": "某卡",
        "id-number": "某证件号",
        "address": "某地址",
        "name": "用户",
        "code": "某编号",
        "number": "某编号",
    },
}


def scrub(text: str, *, names: Collection[str] = (), language: str = "en") -> str:
    """Return `text` with each personal span replaced by what it is, in words of `language`."""
    words = _STANDS_FOR["zh" if language == "zh" else "en"]
    for span in reversed(find_personal(text, names=names)):
        text = text[: span.start] + words.get(span.kind, "an id") + text[span.end :]
    return text
