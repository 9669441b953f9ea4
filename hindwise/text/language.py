"""Which of the two languages a text is in. Only Chinese and English are told apart: the brief has headings for these two."""

import re
from typing import Literal

from hindwise.text.clean import nfkc
from hindwise.text.lazy_re import lazy_re

Language = Literal["en", "zh"]

CJK = "\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
"""Inside of a character class: Han, kana and Hangul, the scripts that are written without spaces or cut into bigrams here."""

_CJK_CHAR = lazy_re(f"[{CJK}]")
_LATIN_WORD = lazy_re(r"[A-Za-z\u00c0-\u024f][\w'’.-]*", re.ASCII)

_CHARS_PER_WORD = 1.5
"""A Chinese word is one or two characters long."""
_SHARE = 0.3
"""A Chinese sentence about English tool names stays Chinese; an English one that quotes a Chinese name stays English."""


def language_of(text: str) -> Language:
    """Return "zh" where at least three words in ten are CJK, else "en" (also for empty text)."""
    folded = nfkc(text)
    if folded.isascii():
        return "en"
    words_zh = len(_CJK_CHAR.findall(folded)) / _CHARS_PER_WORD
    words_en = len(_LATIN_WORD.findall(folded))
    return "zh" if words_zh > 0 and words_zh >= _SHARE * (words_zh + words_en) else "en"


def say(language: Language, en: str, zh: str) -> str:
    """The sentence of the two that fits."""
    return zh if language == "zh" else en
