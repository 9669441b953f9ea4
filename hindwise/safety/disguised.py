"""Letters that only look different: full-width, with invisible ones between, with odd blanks and dashes. A secret may hide behind them."""

from hindwise.text.lazy_re import lazy_re

_ODD = lazy_re("[\uff10-\uff19\uff1d\uff20\uff21-\uff3a\uff3f\uff41-\uff5a\u00a0\u00ad\u2007-\u200f\u2010-\u2015\u2060\u202f\ufeff]")
_PLAIN: dict[int, int | None] = {
    **{code: code - 0xFEE0 for first, last in ((0xFF10, 0xFF19), (0xFF20, 0xFF3A), (0xFF41, 0xFF5A)) for code in range(first, last + 1)},
    **dict.fromkeys((0x00A0, 0x2007, 0x2008, 0x2009, 0x200A, 0x202F), ord(" ")),
    **dict.fromkeys((0x00AD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF), None),
    **dict.fromkeys(range(0x2010, 0x2016), ord("-")),
    0xFF1D: ord("="),
    0xFF3F: ord("_"),
}


def undisguised(text: str) -> str | None:
    """Return `text` as it is read: plain letters, digits, blanks and hyphens, nothing invisible. None where it is so already."""
    if text.isascii() or not _ODD.search(text):
        return None
    return text.translate(_PLAIN)
