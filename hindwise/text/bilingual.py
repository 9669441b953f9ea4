"""Do an English and a Chinese text say the same? By a small lexicon, without a model. What is unsure says something else.

A text becomes the concepts that it names, in no order, with its numbers and how often it denies. Every word counts: one that the lexicon
does not know is a concept of its own, which no word of the other language has. What a bag of words cannot tell (who did it to whom,
from where to where, this rather than that, one clause denied and another not) is never the same. Embeddings do not do it: in
`bench/reflection/bilingual_pairs.txt` opposites are as near (cosine 0.80 to 0.87) as what agrees (0.80 to 0.92).
"""

import re
from typing import NamedTuple

from hindwise.text.bilingual_grammar import (
    BE,
    DONE,
    HAVE,
    ILL,
    LASTS,
    NOT,
    NOT_EN,
    NOT_ZH,
    OWN_EN,
    PHRASES_EN,
    PHRASES_ZH,
    SKIP,
    SKIPPED_EN,
    SKIPPED_ZH,
    UNSURE,
    UNSURE_EN,
    UNSURE_ZH,
    stems,
    words,
)
from hindwise.text.bilingual_words import ENTRIES, PERSONS, PLACES, WHOLE_VALUES
from hindwise.text.language import CJK
from hindwise.text.lazy_re import lazy_re
from hindwise.text.particulars import MONTHS
from hindwise.text.remembered import remembered
from hindwise.text.values import normalise_value

MAX_CHARS = 80
"""Longer texts say more than a bag of words tells."""


_NONE: frozenset[str] = frozenset()


class Gist(NamedTuple):
    """What a text says, in no language. `aside`: what stands before or after it in time ("ask before you delete")."""

    concepts: frozenset[str]
    numbers: tuple[str, ...]
    denials: int
    aside: tuple[str, "Gist"] | None = None


def same_in_both(one: str, other: str, leaving: frozenset[str] = _NONE) -> bool:
    """Whether a text in one language says the same as one in the other; False for two of one language, and where unsure.

    leaving: concepts that do not count.
    """
    if is_chinese(one) == is_chinese(other):
        return False
    if WHOLE_VALUES.get(one.strip(), one.strip().lower()) == WHOLE_VALUES.get(other.strip(), other.strip().lower()):
        return True
    said, again = gist_of(one), gist_of(other)
    if said is None or again is None or said._replace(concepts=_NONE) != again._replace(concepts=_NONE):
        return False
    return bool(said.concepts - leaving) and said.concepts - leaving == again.concepts - leaving


def concept_key(text: str, leaving: frozenset[str] = _NONE) -> str:
    """A short text as a key that is the same in both languages where the lexicon knows every word, else the text as it is."""
    said = gist_of(text) if text else None
    if said and said.concepts - leaving != {HAVE}:
        leaving |= {HAVE}  # "have dog" and "dog" name one thing
    return (_key(said, leaving) if said else "") or text


def _key(said: Gist, leaving: frozenset[str]) -> str:
    """Empty where a word is not known, or none is left."""
    concepts = said.concepts - leaving
    if not concepts or any(concept.startswith("=") for concept in concepts):
        return ""
    told = " ".join([*sorted(concepts), *said.numbers, *["not"] * said.denials])
    if said.aside is None:
        return told
    aside = _key(said.aside[1], leaving)
    return aside and f"{told} {said.aside[0]} {aside}"


def lexicon() -> str:
    """All words and patterns on which a key depends, as one text: another text, other keys."""
    patterns = (_HAZARD, _FRAME, _AND, _PIECE, *(pattern for _, pattern in _ASIDE), *_DAYS)
    lists = (sorted(names) for names in (SKIPPED_EN, OWN_EN, NOT_EN, PERSONS, PLACES, _DENYING, _AS_LISTED, BE, LASTS, ILL))
    return repr((sorted(_EN.items()), sorted(_ZH.items()), *lists, *(pattern.pattern for pattern in patterns)))


def is_chinese(text: str) -> bool:
    """Whether any of its characters is."""
    return _CJK.search(text) is not None


@remembered(2_048)  # a slot's head is compared with every draft that comes
def gist_of(text: str) -> Gist | None:
    """What a text says; None where a bag of words cannot tell."""
    if len(text) > MAX_CHARS:
        return None
    value = _dated(normalise_value(text.replace("’", "'")))
    for short, full in (("can't", "can not"), ("cannot", "can not"), ("won't", "will not"), ("n't", " not"), ("'s", "")):
        value = value.replace(short, full)
    value = _FRAME.sub("", value)
    for word, pattern in _ASIDE:
        if match := pattern.fullmatch(value):
            said, aside = (
                _plain(match["said"] or match["said2"] or match["said3"]),
                _plain(match["aside"] or match["aside2"] or match["aside3"]),
            )
            return said._replace(aside=(word, aside)) if said and aside else None
    return _plain(value)


@remembered(512)  # each turn of a session is compared with those around it
def concepts_in(text: str) -> frozenset[str]:
    """The concepts that a text of any length names, as far as the lexicon knows them, and its names in Latin letters and numbers."""
    value = normalise_value(text[:2_000].replace("’", "'"))
    named = _chinese(value) if is_chinese(value) else _english(value)
    return frozenset(name for name in named if name not in _LITTLE and not (name.startswith("=") and not _NAME.match(name)))


def _plain(value: str) -> Gist | None:
    value = value.strip(_MARKS)
    if _HAZARD.search(value):
        return None
    named = _chinese(value) if is_chinese(value) else _english(value)
    if UNSURE in named:
        return None
    names = [name for name in named if name not in {NOT, SKIP, DONE} and name[0] != "#"]
    denials = sum(name == NOT for name in named) + sum(name in _DENYING for name in names)
    concepts = {"like" if name in _DENYING else name for name in names}
    if DONE in named and not (concepts & LASTS or (value.endswith("了") and (denials or HAVE in concepts))):
        return None  # over, or just begun
    if concepts & ILL:
        concepts.discard(HAVE)
    joined = _AND.search(value) is not None
    if (denials and joined) or denials > 1 or len(concepts & PERSONS) > 1 or len(concepts & PLACES) > 1:
        return None
    if named and named[0] in PERSONS:
        concepts.add(f"by {named[0]}")
    return Gist(frozenset(concepts), tuple(name for name in named if name.startswith("#")), denials)


# --- words to concepts ----------------------------------------------------------------------------------------------------------------

_LITTLE = frozenset(
    (SKIP, "have to", *words("can want need like have must should undone only good new today send write ask find done not ? #1"))
)
"""Concepts that tell little of what a text is about."""
_NAME = lazy_re(r"^=[a-z][\w-]{2,}$", re.ASCII)
_MARKS = " \t.,;:!?。，；：！？、"
_CJK = lazy_re(f"[{CJK}]")
_AND = lazy_re(r"\b(?:and|nor|plus)\b|[和与及、并]|而且")
_HAZARD = lazy_re(
    r"[,;，；]|\b(?:than|over|instead|rather|unless|except|if|but|or|before|after|until|since|from|between|used to|without|when|while"
    r"|because|more|less)\b|比(?!较|萨|利时|如|赛)|而不|除了|除非|除外|如果|要是|但|或|之前|之后|以前|以后|直到|从(?!不|来不)|至|不含|才|时候|因为|(?<!不)再(?!也?不)|[别不]是"
)
"""What sets one thing against another, or under a condition."""
_FRAME = lazy_re(
    r"^(?:(?:please|always|from now on|in (?:the )?future|going forward|make sure(?: to)?|be sure to|remember to|the user(?:'s)?"
    r"|请(?:你|您)?|以后|今后|从现在起|从今以后|往后|一律|务必|一定要?|总是|记得|用户的?|我们?的?)[\s,，]*)+"
)
_DENYING = frozenset({"dislike", "hate", "can not stand"})

_ASIDE = tuple(
    (
        english,
        lazy_re(
            rf"(?P<said>[^,，]+?)(?: |, ){english} (?P<aside>[^,，]+)|{english} (?P<aside2>[^,，]+), (?P<said2>[^,，]+)"
            rf"|(?P<aside3>[^,，]+?){chinese}[,，]?(?P<said3>[^,，]+)"
        ),
    )
    for english, chinese in (
        ("before", "(?:之前|以前|前(?=先|一定|必须|都|要|请|务必))"),
        ("after", "(?:之后|以后|后(?=先|一定|必须|都|要|请|务必))"),
    )
)


_MONTH_NUMBER = {name: number for number, name in enumerate(words("jan feb mar apr may jun jul aug sep oct nov dec"), 1)}
_DAYS = (
    lazy_re(rf"\b(?P<month>{MONTHS})\.? (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b"),
    lazy_re(rf"\b(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{MONTHS})\b"),
    lazy_re(r"(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]?"),
)


def _dated(value: str) -> str:
    """Days of the year as `--05-04`, whichever language names them."""
    for pattern in _DAYS:
        value = pattern.sub(lambda m: f"--{_month(m['month']):02}-{int(m['day']):02} ", value)
    return value


def _month(name: str) -> int:
    return int(name) if name.isdigit() else _MONTH_NUMBER[name[:3]]


_EN: dict[tuple[str, ...], tuple[str, ...]] = {(stem,): (UNSURE,) for stem in UNSURE_EN}
_ZH: dict[str, tuple[str, ...]] = {}
for _same, _name in ((SKIPPED_ZH, SKIP), (NOT_ZH, NOT), (UNSURE_ZH, UNSURE)):
    _ZH.update(dict.fromkeys(_same, (_name,)))
for _english_words, _chinese_words in ENTRIES:
    _EN.update({stems(word): (_english_words[0],) for word in _english_words})
    _ZH.update(dict.fromkeys(_chinese_words, (_english_words[0],)))
_EN |= PHRASES_EN
_ZH |= PHRASES_ZH
_AS_LISTED = frozenset(word for english, _ in ENTRIES for word in english) | {"moved", "preferred"}
_LONGEST_EN, _LONGEST_ZH = max(map(len, _EN)), max(map(len, _ZH))

_PIECE = lazy_re(rf"--\d\d-\d\d|\d+(?:[.,:/-]\d+)*|[{CJK}]+|[^\W\d_{CJK}](?:(?![{CJK}])[\w'-])*|[%€$£¥]")
_SIGN = {"€": "euro", "$": "dollar", "£": "pound", "¥": "yuan", "%": "percent"}


def _english(value: str) -> list[str]:
    pieces: list[str] = _PIECE.findall(value)
    found = [_stem_of(piece) for piece in pieces]
    named: list[str] = []
    at = 0
    while at < len(found):
        for length in range(min(_LONGEST_EN, len(found) - at), 0, -1):
            if (names := _EN.get(tuple(found[at : at + length]))) is not None:
                named += names if length > 1 or not _is_past(pieces, at) else (UNSURE,)
                at += length
                break
        else:
            named += _one_english(found[at])
            at += 1
    return _without_one(named)


def _stem_of(piece: str) -> str:
    if piece[0].isdigit() or piece.startswith("--"):
        return f"#{piece}"
    return _SIGN.get(piece) or (stems(piece) or (piece,))[0]


def _is_past(pieces: list[str], at: int) -> bool:
    """ "lived", but neither "retired" nor "be contacted"."""
    return pieces[at].endswith("ed") and pieces[at] not in _AS_LISTED and not (at and pieces[at - 1] in BE)


def _one_english(stem: str) -> list[str]:
    if stem.startswith("#") or stem in _SIGN.values():
        return [stem]
    if stem in NOT_EN:
        return [NOT]
    if stem in OWN_EN:
        return []
    return [SKIP] if stem in SKIPPED_EN else [f"={stem}"]


def _chinese(value: str) -> list[str]:
    named: list[str] = []
    for piece in _PIECE.findall(value):
        if piece[0].isdigit() or piece.startswith("--"):
            named.append(f"#{piece}")
        elif not is_chinese(piece):
            named += [_SIGN[piece]] if piece in _SIGN else _english(piece)
        else:
            named += _one_run(piece)
    return _without_one(named)


def _one_run(run: str) -> list[str]:
    named: list[str] = []
    at = 0
    while at < len(run):
        for length in range(min(_LONGEST_ZH, len(run) - at), 0, -1):
            if (found := _ZH.get(run[at : at + length])) is not None:
                named += found
                at += length
                break
        else:
            named.append(f"={run[at]}")
            at += 1
    return named


def _without_one(named: list[str]) -> list[str]:
    """ "a dog", "one dog" and 一只狗 are one; a counted unit keeps its number."""
    units = {"day", "week", "month", "year", "hour", "minute", "o'clock", "euro", "dollar", "yuan", "pound", "percent", "km"}
    return [name for at, name in enumerate(named) if name != "#1" or (at + 1 < len(named) and named[at + 1] in units)]
