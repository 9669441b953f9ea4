"""Cuts a text to what an embedder reads, without its tokenizer: counting costs as much as a small embedding."""

from hindwise.text.clean import clean

MAX_TOKENS = 480
"""A little below the 512 of small models, for the prefix and for what the estimate misses. Larger models are given no more either:
a memory is short, and a vector of a long text is a vector of nothing in particular."""

LONGEST = MAX_TOKENS * 8
"""Characters: what stands behind them is never looked at."""

_ASCII_WORD = 0.28
"""Tokens per ASCII letter or space in multilingual vocabularies; digits, marks and Chinese characters count up to one."""


def shorten(text: str) -> str:
    """Return `text` cleaned and cut to about 480 tokens."""
    cleaned = clean(text[:LONGEST])
    if len(cleaned) <= MAX_TOKENS:
        return cleaned
    spent = 0.0
    for at, char in enumerate(cleaned):
        spent += _ASCII_WORD if char.isascii() and (char.isalpha() or char == " ") else 1.0
        if spent > MAX_TOKENS:
            return cleaned[:at]
    return cleaned
