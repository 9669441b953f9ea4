"""The form of a lesson in which others may read it: words that may name somebody are not in it.

`personal` finds what is known or has a form. A name that nobody introduced has neither; it is known by what it is not: a word that
begins with a capital inside of a sentence and is no tool, no argument, no acronym, no place and nothing said in small letters.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from copy import copy
from itertools import pairwise

from hindwise.model.episode import Episode
from hindwise.model.memory import MAX_CONCLUSION_CHARS, Draft, Retrospective
from hindwise.model.once import once_per_episode
from hindwise.safety.identities import identities
from hindwise.safety.personal import ALSO_WORDS, find_personal
from hindwise.safety.proper_nouns import PROPER_NOUNS
from hindwise.text.lazy_re import lazy_re
from hindwise.text.particulars import NOT_NAMES
from hindwise.text.stop_words import STOP_WORDS

MAX_READ_CHARS = 400_000
"""Of a transcript: a word of a longer one is judged by its beginning."""

_LETTERS = r"A-Za-z\u00c0-\u024f"
_WORD = lazy_re(rf"(?<![{_LETTERS}0-9_@./\\-])[{_LETTERS}](?:[{_LETTERS}]|['’-](?=[{_LETTERS}]))*(?![{_LETTERS}0-9_@/\\]|\.[{_LETTERS}])")
_IDENTIFIER = lazy_re(rf"[{_LETTERS}]+")
_OPENS = lazy_re(r"(?:^|[.!?:：。！？;；→\n—|\]])[\s\"'“”‘’(（*#-]*$|[\"“‘(（「『《]\s*$")
_OF_THINGS = lazy_re(r"(?:tions?|ments?|ness|ical|able|ible|ings)$")
"""So end no names, but nouns and adjectives."""
_OF_A_PERSON = lazy_re(
    r"\s+(?:(?:is|was|has|had|should|must|will|would|can|cannot|could|may|might|does|did|wants?|wanted|waits?|waited|needs?|asks?|asked"
    r"|says?|said|told|tells|calls?|called|confirms?|confirmed|prefers?|agreed|refused|refuses|paid|pays|lives|works)\b|and [A-Z])"
    r"|['’]s\b|, (?:the|my|his|her|who)\b"
)
"""What follows a name that opens a sentence sooner than any other word in capitals."""

_ERROR_CODE = lazy_re(r"E[A-Z]+$|SIG[A-Z]+$")
_GOES_ON = lazy_re(r"(?i)\b(?:he|she|his|her|hers|him)\b|[他她]")
_FIELDS = ("conclusion", "applies_when", "not_when", "task_type", "generalized_query", "scope", "value")
_KEYS = frozenset({"generalized_query", "task_type"})
"""Read by the search alone: there a name leaves no mark."""

_LIMITS = {"conclusion": MAX_CONCLUSION_CHARS, "scope": 200}

_SOMEONE = {"en": "someone", "zh": "某人"}


def shared_form(draft: Draft, episode: Episode) -> Draft:
    """Return the draft as others may read it: without identities of the episode and without words that may be somebody's name.

    Evidence stays as it is: it is kept with the user. Deterministic; reads at most 400,000 characters of the transcript.
    """
    parts = draft.retrospective.model_dump()
    names, known = identities(episode), _known_of(episode)
    # Whom one field shows by a capital, another may hold in small letters.
    known = known.with_strange(_strange_words((episode.goal, *(getattr(draft, name) for name in _FIELDS), *parts.values()), known))

    def clean(name: str, text: str) -> str:
        told = _clean(text, names, known, "" if name in _KEYS else _SOMEONE["zh" if draft.language == "zh" else "en"])
        # `someone` may be longer than the name it stands for: no field outgrows its bounds.
        return told if len(told) <= len(text) else _clean(text, names, known, "") if len(told) > _LIMITS.get(name, 400) else told

    words = {name: clean(name, getattr(draft, name)) for name in _FIELDS}
    words["conclusion"] = words["conclusion"] or draft.conclusion
    listed = {
        name: tuple(text for text in getattr(draft, name) if clean("generalized_query", text) == text) for name in ("topics", "entities")
    }
    told = {name: clean(name, text) for name, text in parts.items()}
    return draft.model_copy(update={**words, **listed, "retrospective": Retrospective(**told)})


def without_people(text: str, episode: Episode) -> str:
    """Return `text` without its sentences that tell of a person, one of the episode or one whom nobody introduced: that is private.

    Where one goes, those that go on about `she` or 「他」 go with it.
    """
    names, known = identities(episode), _known_of(episode)
    told = _sentences(text)
    kept = [s for s in told if not (any(span.kind == "name" for span in find_personal(s, names=names)) or _tells_of_a_person(s, known))]
    if len(kept) < len(told):
        kept = [sentence for sentence in kept if not _GOES_ON.search(sentence)]
    return "".join(kept).strip()


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])(?=\s)|(?<=[。！？\n])", text)


class _Known:
    """Which words of an episode are ordinary, and which stand capitalised inside of a sentence."""

    def __init__(self, texts: Iterable[str], identifiers: Iterable[str]) -> None:
        self.small: set[str] = set()
        self.capital: set[str] = set()
        self.loud: set[tuple[str, str]] = set()
        self._named: dict[str, bool] = {}
        self._lines: set[str] = set()
        self.parts = {part.lower() for name in identifiers for part in _parts(name)}
        room = MAX_READ_CHARS
        for text in texts:
            if room <= 0:
                break
            self._read(text[:room])
            room -= len(text)
        self._named.clear()
        self._lines.clear()
        self.strange = {word for word in self.capital if not self.is_ordinary(word)}
        # Who shouts a word means the word; two unknown ones in a row are a name.
        self.strange.update(word for pair in self.loud if not any(map(self.is_ordinary, pair)) for word in pair)
        self.strange_small = {_base(word) for word in self.strange} - ALSO_WORDS

    def with_strange(self, words: Iterable[str]) -> "_Known":
        """The same with more words that may name somebody."""
        other = copy(self)
        other.strange = self.strange.union(words)
        other.strange_small = {_base(word) for word in other.strange} - ALSO_WORDS
        return other

    def _read(self, text: str) -> None:
        for line in text.splitlines():
            if line in self._lines:
                continue  # tools answer the same again and again
            self._lines.add(line)
            found = list(_WORD.finditer(line))
            words = [match[0] for match in found]
            distinct = set(words)
            small = {word for word in distinct if word.islower()}
            self.small |= small
            if len(small) == len(distinct):
                continue
            rest = [match for match, word in zip(found, words, strict=True) if word not in small]
            shouted = {word for word in distinct - small if _is_loud(word)}
            loud = [pair for pair in pairwise(words) if shouted.issuperset(pair)] if shouted else []
            self.loud.update(loud if len(loud) < 3 else ())
            capital = [match for match in rest if self._is_named(match[0])]
            if len(capital) < 3 or len(capital) < 0.7 * len(found):  # else a headline, whose capitals tell nothing
                self.capital.update(match[0] for match in capital if not _opens(line, match))

    def _is_named(self, word: str) -> bool:
        """Whether it is capitalised and more than shouted; judged once for each word."""
        known = self._named.get(word)
        if known is None:
            known = self._named[word] = _is_capitalised(word) and not word.isupper()
        return known

    def is_ordinary(self, word: str) -> bool:
        low = _base(word)
        if low in self.small or low in self.parts or low in PROPER_NOUNS or low in NOT_NAMES:
            return True
        return word.lower() in STOP_WORDS or _OF_THINGS.search(low) is not None


@once_per_episode
def _known_of(episode: Episode) -> _Known:
    names = [call.name for turn in episode.turns for call in turn.tool_calls]
    names += [turn.name for turn in episode.turns if turn.role == "tool"]
    for turn in episode.turns:
        for call in turn.tool_calls:
            if isinstance(call.arguments, dict):
                names += [str(name) for name in call.arguments]
    return _Known((episode.outcome.note, episode.goal, *(turn.content for turn in episode.turns)), names)


def _opens(text: str, match: re.Match[str]) -> bool:
    """Whether a sentence or a quotation begins here: there every word has a capital."""
    before = text[max(0, match.start() - 6) : match.start()]
    return _OPENS.search(before if match.start() <= 6 else f"x{before}") is not None


def _parts(name: str) -> Iterator[str]:
    for run in _IDENTIFIER.findall(name):
        yield run
        yield from re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", run)


def _base(word: str) -> str:
    return _without_s(word.lower())


def _without_s(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word


def _is_capitalised(word: str) -> bool:
    """A capital and small letters: no acronym, and no `GitHub` or `iOS`, which are names of things. Long ones in capitals alone too."""
    if word.isupper():
        return _is_loud(word)
    return word[0].isupper() and len(word) > 1 and not re.search(r"[a-z][A-Z]", word.replace("-", ""))


def _is_loud(word: str) -> bool:
    return word.isupper() and len(word) >= 5 and not _ERROR_CODE.match(word)


def _strange(text: str, known: _Known) -> list[tuple[int, int]]:
    """Spans of words that may name somebody, in order."""
    found = list(_WORD.finditer(text))
    spans: dict[int, int] = {}
    for place, match in enumerate(found):
        word = match[0]
        if (
            _base(word) in known.strange_small
            or _without_s(word) in known.strange
            or (
                _is_capitalised(word)
                and not known.is_ordinary(word)
                and (not _opens(text, match) or _OF_A_PERSON.match(text, match.end()) or _goes_on(text, found, place, known))
            )
        ):
            spans[match.start()] = match.end()
    return sorted(spans.items())


def _strange_words(texts: Iterable[str], known: _Known) -> Iterator[str]:
    for text in texts:
        for start, end in _strange(text, known):
            yield _without_s(text[start:end])


def _tells_of_a_person(text: str, known: _Known) -> bool:
    """Whether an unknown word is one of two in a row, or does what people do."""
    spans = _strange(text, known)
    in_a_row = any(text[end:start] == " " for (_, end), (start, _) in pairwise(spans))
    return in_a_row or any(_OF_A_PERSON.match(text, end) for _, end in spans)


def _goes_on(text: str, found: list[re.Match[str]], place: int, known: _Known) -> bool:
    """Whether another unknown word in capitals follows: first and last name."""
    if place + 1 >= len(found) or text[found[place].end() : found[place + 1].start()] != " ":
        return False
    return _is_capitalised(found[place + 1][0]) and not known.is_ordinary(found[place + 1][0])


def _clean(text: str, names: Collection[str], known: _Known, someone: str) -> str:
    if not text:
        return text
    spans = [(span.start, span.end) for span in find_personal(text, names=names) if span.kind == "name"]
    spans = sorted({*spans, *_strange(text, known)})
    if not spans:
        return text
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and (start <= merged[-1][1] or text[merged[-1][1] : start] in (" ", "·")):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    for start, end in reversed(merged):
        text = text[:start] + someone + text[end:]
    return re.sub(r"(?<!\s)\s+(?=[,.;:])", "", re.sub(r" {2,}", " ", text)).strip()
