"""What a shared lesson may not hold: a run of its user's own words. A few in a row name a task; more are a quote.

Names and numbers are found by `personal`; this finds what no pattern can, because it is anybody's plain speech. What is taken out
are the function words of the run, so that its subject can still be recognised and found, and then what is still too long.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from hindwise.model.memory import Draft, Retrospective
from hindwise.text.lazy_re import lazy_re
from hindwise.text.stop_words import STOP_WORDS

_LIMIT = 12.0
_LATIN, _HAN = 1.5, 1.0
"""Eight words, or twelve Chinese characters, may stand as the user said them."""

_TOKEN = lazy_re(r"[a-z0-9]+|[\u4e00-\u9fff]", re.IGNORECASE)
_MEANT = frozenset({"not", "no", "don", "cannot", "without", "before", "after", "until", "不", "没", "别", "未"})
_EMPTY = (STOP_WORDS | {"I"} | frozenset("的了吗呢吧啊请我你您他她它们想要把被给在是还和跟与就都也很这那个有得着过")) - _MEANT
"""In small letters, so that a month of May stays."""

_Cut = Callable[[Sequence[re.Match[str]], Sequence[int]], Sequence[int]]
"""Which of the covered tokens go: (all tokens, covered places) -> places."""

_FIELDS = ("conclusion", "applies_when", "not_when", "task_type", "generalized_query", "scope", "value")


def unquoted(draft: Draft, said: Sequence[str]) -> Draft:
    """Return the draft without runs of `said` (what the user said, text by text) in any of its fields but the evidence."""
    texts = {name: getattr(draft, name) for name in _FIELDS}
    parts = draft.retrospective.model_dump()
    cleaned = dict(zip([*texts, *parts], without_quotes([*texts.values(), *parts.values()], said), strict=True))
    words = {name: text for name in texts if (text := cleaned[name]) != texts[name] and (text or name != "conclusion")}
    return draft.model_copy(update={**words, "retrospective": Retrospective(**{name: cleaned[name] for name in parts})})


def without_quotes(texts: Sequence[str], said: Sequence[str]) -> list[str]:
    """Return the texts without runs of `said` that are longer than a quote may be. One pass over `said`, whatever its length."""
    left = _take_out(texts, said, _without_empty)
    return list(texts) if left is None else _take_out(left, said, _without_rest) or left


def _take_out(texts: Sequence[str], said: Sequence[str], cut: _Cut) -> list[str] | None:
    """The texts without what is cut out of their quotes; None where there are none."""
    tokens = [list(_TOKEN.finditer(text)) for text in texts]
    windows = [list(_windows([match[0].lower() for match in found])) for found in tokens]
    quoted = _occurring({window for found in windows for _, window in found}, said)
    if not quoted:
        return None
    result = []
    for text, found, own in zip(texts, tokens, windows, strict=True):
        covered = sorted({start + step for start, window in own if window in quoted for step in range(len(window))})
        result.append(_tidy(_without(text, [found[place] for place in cut(found, covered)])) if covered else text)
    return result


def _windows(words: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield (start, words) of every shortest run that is too long to stand as it is."""
    for start in range(len(words)):
        weight = 0.0
        for end in range(start, len(words)):
            weight += _HAN if "\u4e00" <= words[end][0] <= "\u9fff" else _LATIN
            if weight > _LIMIT:
                yield start, tuple(words[start : end + 1])
                break


def _occurring(wanted: set[tuple[str, ...]], said: Sequence[str]) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    lengths = sorted({len(window) for window in wanted})
    for text in said if wanted else ():
        words = [match[0].lower() for match in _TOKEN.finditer(text)]
        for length in lengths:
            for start in range(len(words) - length + 1):
                if (window := tuple(words[start : start + length])) in wanted:
                    found.add(window)
    return found


def _without_empty(found: Sequence[re.Match[str]], covered: Sequence[int]) -> Sequence[int]:
    return [place for place in covered if found[place][0] in _EMPTY]


def _without_rest(found: Sequence[re.Match[str]], covered: Sequence[int]) -> Sequence[int]:
    """All but the beginning of each run."""
    gone: list[int] = []
    weight, before = 0.0, -2
    for place in covered:
        weight = weight if place == before + 1 else 0.0
        weight += _HAN if "\u4e00" <= found[place][0] <= "\u9fff" else _LATIN
        before = place
        if weight > _LIMIT / 2:
            gone.append(place)
    return gone


def _without(text: str, gone: Sequence[re.Match[str]]) -> str:
    for match in reversed(gone):
        text = text[: match.start()] + text[match.end() :]
    return text


def _tidy(text: str) -> str:
    text = re.sub(r"(?<!\w)['’]+|['’]+(?!\w)", "", text)
    text = re.sub(r"(?<!\s)\s+(?=[,.;:!?，。；：！？])|(?<=[(（])\s+", "", text)
    return re.sub(r"(?:[,;，；]\s*){2,}", ", ", re.sub(r"\s{2,}", " ", text)).strip(" ,;，；")
