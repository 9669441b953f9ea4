"""Makes any text safe to store, to tokenise and to hand to C code; and cuts it. Nothing here changes a visible character."""

import unicodedata

from hindwise.text.lazy_re import lazy_re

_UNWANTED = lazy_re("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""C0 controls but tab and newline, DEL, and lone surrogates: a NUL cuts text in C code silently, a surrogate cannot be encoded."""

ELLIPSIS = "…"


def clean(text: str) -> str:
    """Return `text` without NUL, other C0 controls (tab and newline stay) and lone surrogates; CR and CRLF become newline."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNWANTED.sub("", text)


def nfkc(text: str) -> str:
    """Return `text` cleaned and in NFKC: full-width letters and digits folded, one code for what looks alike."""
    cleaned = clean(text)
    return cleaned if cleaned.isascii() else unicodedata.normalize("NFKC", cleaned)


def one_line(text: str) -> str:
    """Return `text` cleaned, on one line, with single spaces and none at the ends."""
    return " ".join(clean(text).split())


def truncate(text: str, max_chars: int) -> str:
    """Return `text` in at most `max_chars` characters, the ellipsis included.

    The cut falls on a space where one is near (the last quarter), never before a combining mark. `max_chars` < 1 gives "".
    """
    if len(text) <= max_chars:
        return text
    if max_chars < 1:
        return ""
    end = max_chars - 1
    while end > 0 and _joins_left(text[end]):
        end -= 1
    if _is_latin(text[end]) and end > 0 and _is_latin(text[end - 1]):
        space = max(text.rfind(" ", 0, end), text.rfind("\n", 0, end))
        if space >= end * 3 // 4:
            end = space
    return text[:end].rstrip() + ELLIPSIS


def _joins_left(char: str) -> bool:
    return unicodedata.combining(char) != 0 or char in "\u200d\ufe0f\ufe0e"


def _is_latin(char: str) -> bool:
    return char.isalnum() and ord(char) < 0x2E80
