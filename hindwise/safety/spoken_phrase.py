"""Passwords of several plain words: where does a phrase behind "the password is" end, and does it only tell something of the password?"""

from hindwise.safety.spoken_words import BEGIN_TWO_WORDS, BESIDE_PREDICATES, FUNCTION, IMPERATIVE, OF_FORMS, PREDICATES
from hindwise.text.lazy_re import lazy_re

_Word = tuple[str, int, int]
"""A word, and where it begins and ends."""

_GOES_ON = lazy_re(r"(?i) (?:with|the|an?|my|your|our|it|them|this|that|for|from|in|on|by|as|to|more|less|every)\b")
_WORD_FORM = lazy_re(r"[A-Za-z0-9!@#$%^&*+?~._'’-]{1,40}")
_SUFFIXES = ("ed", "ing", "ly", "able", "ible", "ful", "less")
_MAX_WORDS = 8
_NEVER_FIRST = (FUNCTION | IMPERATIVE | OF_FORMS) - BEGIN_TWO_WORDS


def phrase(piece: str, *, prose: bool, set_to: bool, judged: bool) -> tuple[int, int] | None:
    """The words up to the first that cannot belong to a password: a mark, a function word, the name of the next field.

    judged: the sentence speaks of what somebody does with the password ("rotating the password is …").
    """
    words = _run(piece)
    if not words or _tells_of_password(piece, words, judged=judged or not prose, set_to=set_to):
        return None
    first = words[0][0]
    if not first.isalpha() or (not prose and len(words) == 1):
        return None  # other rules know it
    if set_to and _GOES_ON.match(piece, words[-1][2]):
        return None  # a verb: it was changed to do something
    return words[0][1], words[-1][2]


def _tells_of_password(piece: str, words: list[_Word], *, judged: bool, set_to: bool) -> bool:
    """Whether the words say how the password is, or what is to be done about it."""
    first = words[0][0].lower()
    if "'" in first or len(first) < 3 or first in _NEVER_FIRST or piece[words[-1][2] : words[-1][2] + 1] == "(":
        return True
    if len(words) > 3:
        return False
    if first in PREDICATES:
        return judged or not _goes_beyond_predicate([word for word, *_ in words])
    return len(first) > 6 and first.endswith(_SUFFIXES) and not set_to


def _goes_beyond_predicate(words: list[str]) -> bool:
    """Whether two or three words that begin like "is correct" say more than that: "correct horse battery", not "correct username".

    Of two words the first must be one that tells little of passwords ("secret garden"), and the second no name ("correct Ann").
    """
    first, *others = words
    if not others or not all(_is_plain(word) for word in others):
        return False
    begins = first.lower() in BEGIN_TWO_WORDS
    names = first[0].islower() and others[0][0].isupper()
    return (not names or begins) if len(others) > 1 else (begins and not names)


def _is_plain(word: str) -> bool:
    """A word of letters that nobody says of a password."""
    low = word.lower()
    listed = low in PREDICATES or low in IMPERATIVE or low in OF_FORMS or low in BESIDE_PREDICATES
    return low.isalpha() and len(low) > 2 and not listed and not low.endswith(_SUFFIXES)


def _run(piece: str) -> list[_Word]:
    """Words with their places: at most eight, one blank between, none of them a function word but perhaps the first."""
    words: list[_Word] = []
    position = 0
    while len(words) < _MAX_WORDS and (match := _WORD_FORM.match(piece, position)):
        word = match[0].rstrip(".!?'’")
        if not word or (words and (word.lower() in FUNCTION or piece[match.end() : match.end() + 1] in (":", "=", "："))):
            break
        words.append((word, match.start(), match.start() + len(word)))
        if word != match[0] or piece[match.end() : match.end() + 1] != " ":
            break
        position = match.end() + 1
    return words
