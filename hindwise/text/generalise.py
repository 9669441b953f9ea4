"""The task behind a request: what was to be done, without for whom, which and when.

"Cancel reservation XEHM4B for Mia Li" and "Please cancel the reservation NO6JO3" are one task. Lessons are keyed by it, and earlier
episodes of the same task are found by it. Everything particular is dropped rather than replaced, so that a request that names a
thing equals one that does not.
"""

import re

from hindwise.text import particulars as p
from hindwise.text.clean import nfkc, truncate
from hindwise.text.lazy_re import lazy_re

MAX_CHARS = 300

_HOLE = "\ue000"
"""Stands where something particular was; from the private use area, so that no text brings its own. Gone in the end."""

_DROPPED = (p.URL, p.EMAIL, p.UUID, p.DATE, p.TIME, p.MONEY, p.CODE, p.TITLED_NAME_ZH)
_AIRPORTS = lazy_re(r"\b(?i:from|to|via|at|in) [A-Z]{3}\b")
_CITIES = lazy_re(r"\b(?i:from|to|via) [A-Z][a-z]+(?: [A-Z][a-z]+)*\b")
_FOR_NAME = lazy_re(r"\b(?i:for|with|of|by) ([A-Z][a-z]+)(?:'s)?(?=\s*(?:$|[.,;:!?]|\ue000))")
_POSSESSIVE = lazy_re(r"\b[A-Z][a-z]+'s\b")
_ZH_COUNT = lazy_re(
    r"(?:第|(?<![\d零〇一二两三四五六七八九十百千万亿]))(?:[\d零〇一二两三四五六七八九十百千万亿]{1,24}+|\ue000)\s{0,8}(?:天|日|号|个月|个|次|张|元|块|小时|分钟|年|月|周|人|位|件|岁|点|晚|间)"
)
_EN_COUNT = lazy_re(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred)\b(?!-)")
_COURTESY = lazy_re(
    r"^(?:(?:(?:hi|hello|hey)(?: there)?|please|kindly|(?:can|could|would) you(?: please)?|i(?: would|'d) like (?:you )?to|"
    r"i (?:want|need)(?: you)? to|i(?: am|'m) (?:looking|trying|hoping) to|i was (?:looking|trying|hoping) to|help me(?: to)?|"
    r"你好|您好|请问|请你|请您|请|麻烦你|麻烦您|麻烦|我想要|我想|我要|我需要|帮我|帮忙)(?![a-z'])[\s,，!！.。]*)+"
)
_THANKS = lazy_re(
    r"[\s,，!！.。?？]*(?:\bplease|\bthanks|\bthank you|"
    r"\b(?:can|could|would) you (?:please )?(?:help|assist)(?: me)?(?: with (?:that|this|it))?|"
    r"谢谢你?您?|多谢|可以吗|好吗|行吗|能帮我吗)[\s,，!！.。?？]*$"
)
_LITTLE_WORDS = lazy_re(r"\b(?:a|an|the|my|your|our|his|her|their|this|that)\b(?=\s)")
_LINK = (
    r"(?:for|of|named|called|by|to|from|on|at|with|under|in|via|until|since|before|after|between|about|and|or|"
    r"with id|id|number|no\.?|numbered|due)"
)
_DANGLING = lazy_re(rf"(?:\b{_LINK}\s+)+{_HOLE}|{_HOLE}")
_DANGLING_ZH = lazy_re(rf"[为给帮替从到在于和与及叫是]?\s*{_HOLE}\s*的?")
_INTRODUCTION = lazy_re(
    rf"(?:\bmy name is|\bi am|\bi'm|\bthis is|\b(?:my )?(?:user )?(?:name|id|email|number)(?: is|:)?|我叫|我是|"
    rf"(?:我的)?(?:用户)?(?:名字|姓名|id|编号|账号)(?:是|叫|为|:)?)\s*{_HOLE}[\s,.;!，。；！]*(?:\band\b)?"
)
"""Who somebody is, said before what they want."""
_MARKS = lazy_re(r"[^\w\s'-]|(?<!\w)'|'(?!\w)|(?<!\w)-|-(?!\w)")
_SPACE_AT_CJK = lazy_re(r"(?<=[\u3400-\u9fff])\s+|\s+(?=[\u3400-\u9fff])")
_LAST_LINK = lazy_re(rf"\s+{_LINK}$")
_MAX_ROW = 40
_ROW = lazy_re(r"[\s,，!！.。?？]{41,}|\d{41,}")
"""Of marks, blanks or digits: all of them go in the end, and some expressions are tried anew from each of a row."""


def generalise(text: str) -> str:
    """Return the task in lower case without ids, numbers, dates, names, addresses and quoted literals; at most 300 characters.

    A text that is nothing but particulars is returned as it is, in lower case, so that the key is never empty for a non-empty text.
    """
    folded = _ROW.sub(lambda row: row[0][:_MAX_ROW], nfkc(text).replace(_HOLE, "").replace("’", "'"))
    task = _tidy(_without_numbers(_without_names(_without_marked(folded))))
    return truncate(task or " ".join(folded.lower().split()), MAX_CHARS)


def _without_marked(text: str) -> str:
    text = p.SINGLE_QUOTED.sub(_HOLE, p.QUOTED.sub(_HOLE, text))
    for pattern in _DROPPED:
        text = pattern.sub(_HOLE, text)
    return text


def _without_names(text: str) -> str:
    for pattern in p.CHINESE_NAMES:
        text = pattern.sub(lambda m: m["cue"] + _HOLE, text)
    text = p.CUED_NAME_EN.sub(lambda m: f"{m[1]} {_HOLE}", text)
    if not _is_heading(text):
        text = p.NAME_EN.sub(_drop_name, text)
        text = _CITIES.sub(lambda m: m.group() if p.only_known_words(m.group().split(" ", 1)[1]) else _HOLE, text)
    text = _AIRPORTS.sub(_HOLE, text)
    text = _FOR_NAME.sub(lambda m: m.group() if p.only_known_words(m[1]) else _HOLE, text)
    text = text.replace(f"{_HOLE}'s", _HOLE)
    return _POSSESSIVE.sub(lambda m: m.group() if m.start() == 0 or p.only_known_words(m.group()[:-2]) else _HOLE, text)


def _drop_name(match: re.Match[str]) -> str:
    """A run of capitalised words; the first word of a sentence is capitalised without being a name ("Cancel Mia Li's booking")."""
    before = match.string[: match.start()].rstrip()
    opens = not before or before[-1] in ".!?。！？:\n"
    name = match.group()
    if not opens:
        return name if p.only_known_words(name) else _HOLE
    first, *rest = name.split(" ")
    return f"{first} {_HOLE}" if len(rest) > 1 and not p.only_known_words(" ".join(rest)) else name


def _is_heading(text: str) -> bool:
    """Whether no longer word is in lower case: then capitals say nothing."""
    words = re.findall(r"[A-Za-z]{4,}", text)
    return len(words) >= 3 and all(word[0].isupper() for word in words)


def _without_numbers(text: str) -> str:
    text = _ZH_COUNT.sub(_HOLE, text)
    text = p.NUMBER.sub(_HOLE, text.lower())
    return _EN_COUNT.sub(_HOLE, text)


def _tidy(text: str) -> str:
    """Drop courtesy, articles, marks, and the little words that led to what is gone; repeated until nothing changes."""
    text = _THANKS.sub("", _COURTESY.sub("", text.strip()))
    text = _LITTLE_WORDS.sub("", text)
    text = _DANGLING_ZH.sub(f" {_HOLE} ", _INTRODUCTION.sub(_HOLE, text))
    previous = ""
    while text != previous:
        previous = text
        text = _DANGLING.sub(" ", text) if _HOLE in text else text
        text = " ".join(_MARKS.sub(" ", text).split())
        text = _THANKS.sub("", _COURTESY.sub("", _LITTLE_WORDS.sub("", text))).strip()
        text = _LAST_LINK.sub("", text)
    return _SPACE_AT_CJK.sub("", text)
