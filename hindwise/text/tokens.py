"""Cuts a text into the tokens that both indexes search by.

English: lower case, stop words out, Snowball stems. Chinese: overlapping bigrams, which need no dictionary and find names that
word cutters get wrong (notes: R@5 58 against 55 with a cutter). Identifiers give their parts and themselves.
A change here makes stored tokens wrong: raise TOKENIZER_VERSION and rebuild the index.
"""

import threading
from collections.abc import Iterator

import Stemmer

from hindwise.text.clean import nfkc
from hindwise.text.language import CJK
from hindwise.text.lazy_re import lazy_re
from hindwise.text.remembered import remembered
from hindwise.text.stop_words import STOP_WORDS

TOKENIZER_VERSION = 1
"""Stored beside every row of an index."""

_MAX_TOKEN_CHARS = 64
"""Longer runs (base64, minified code) are cut: nobody searches for them."""

_RUN = lazy_re(rf"(?P<cjk>[{CJK}]+)|(?P<word>(?:(?![{CJK}])\w)+(?:['.,:/-](?:(?![{CJK}])\w)+)*)")
_NUMBER = lazy_re(r"\d+(?:,\d{3})*(?:\.\d+)?")
_JOINTS = lazy_re(r"[_.,:/-]+")
_CAMEL = lazy_re(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_local = threading.local()


def tokens(text: str) -> list[str]:
    """Return the tokens of `text` in order, repeated as they occur; [] where only stop words stand."""
    return [token for token, is_stop in _scan(text) if not is_stop]


def query_tokens(text: str) -> list[str]:
    """Return the tokens of a question; its stop words where nothing else is in it ("who am I")."""
    scanned = list(_scan(text))
    return [token for token, is_stop in scanned if not is_stop] or [token for token, _ in scanned]


def _scan(text: str) -> Iterator[tuple[str, bool]]:
    for match in _RUN.finditer(nfkc(text).replace("’", "'")):
        if match.lastgroup == "cjk":
            yield from ((bigram, False) for bigram in _bigrams(match.group()))
        else:
            run = match.group()
            yield from _known_word(run) if len(run) <= _MAX_TOKEN_CHARS else _word_tokens(run)


def _bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


@remembered(8_192)  # people and tools say the same words again and again
def _known_word(run: str) -> tuple[tuple[str, bool], ...]:
    return tuple(_word_tokens(run))


def _word_tokens(run: str) -> Iterator[tuple[str, bool]]:
    if _NUMBER.fullmatch(run):
        yield run.replace(",", "")[:_MAX_TOKEN_CHARS], False
        return
    parts = [part for joint in _JOINTS.split(run) for part in _CAMEL.split(joint) if part]
    for part in parts:
        word = part.lower()
        yield _stem(word[:_MAX_TOKEN_CHARS]), word in STOP_WORDS
    if len(parts) > 1 and _is_identifier(run):
        yield run.lower()[:_MAX_TOKEN_CHARS], False


def _is_identifier(run: str) -> bool:
    """snake_case, camelCase, and joined runs with a digit (2026-05-01, gpt-4, v1.2); not "well-known" or "either/or"."""
    return "_" in run or any(c.isdigit() for c in run) or (_CAMEL.search(run) is not None and not _JOINTS.search(run))


def _stem(word: str) -> str:
    if any(c.isdigit() for c in word):
        return word
    # A Stemmer object keeps state while it works and is not safe to share between threads.
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    stem: str = stemmer.stemWord(word)
    return stem or word
