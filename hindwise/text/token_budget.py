"""How many tokens of a language model a text costs, roughly, without a model's tokenizer.

The brief is folded into a budget by this estimate. Counted against common BPE tokenizers it lies within about a fifth for English
prose and Chinese; it rather counts too many than too few, so that a brief keeps to its budget. Same text, same number.
"""

import math
import re

from hindwise.text.language import CJK

CJK_TOKENS_PER_CHAR = 0.75
"""Between 0.6 (vocabularies made for Chinese) and 1.0 (older ones)."""
LATIN_CHARS_PER_TOKEN = 6
"""Words of up to six letters are one token; with spaces and punctuation this comes to about four characters a token."""
DIGITS_PER_TOKEN = 3

_PIECE = re.compile(rf"(?P<cjk>[{CJK}]+)|(?P<digits>\d+)|(?P<word>(?:(?![{CJK}])[^\W\d])+)|(?P<mark>[^\w\s]|\n)")


def count_tokens(text: str) -> int:
    """Return the estimated number of tokens; 0 for empty text."""
    total = 0.0
    for piece in _PIECE.finditer(text):
        length = piece.end() - piece.start()
        match piece.lastgroup:
            case "cjk":
                total += length * CJK_TOKENS_PER_CHAR
            case "digits":
                total += math.ceil(length / DIGITS_PER_TOKEN)
            case "word":
                total += math.ceil(length / LATIN_CHARS_PER_TOKEN)
            case _:
                total += 1
    return math.ceil(total)
