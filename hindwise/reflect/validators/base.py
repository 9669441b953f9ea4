"""What every rule looks at: the turns a draft names, its words, and how a complaint is put in both languages."""

import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hindwise.model.episode import Episode
from hindwise.model.memory import Draft, Evidence
from hindwise.model.turn import Turn
from hindwise.text.language import Language
from hindwise.text.remembered import remembered

MAX_COMPLAINT_CHARS = 500


class Said(NamedTuple):
    """What to change, in both languages; the model hears the transcript's. Without secrets."""

    en: str
    zh: str

    def by(self, lang: Language) -> str:
        """The words in one language, at most 500 characters."""
        return (self.zh if lang == "zh" else self.en)[:MAX_COMPLAINT_CHARS]


Rule = Callable[[Episode, Draft], Said | None]
"""Returns what to change, or None where a draft keeps to the rule."""


def fold(text: str) -> str:
    """NFKC with white space folded to single blanks: what looks alike counts as alike."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


@remembered(32)
def folded(text: str) -> str:
    """The same, remembered: the turns of one episode are asked again and again."""
    return fold(text)


def turns_of(episode: Episode, place: Evidence) -> list[Turn]:
    """The turns that one piece of evidence names: by id where it has one, else by number."""
    return [t for t in episode.turns if (place.turn_id and t.turn_id == place.turn_id) or (not place.turn_id and t.seq == place.seq)]


def words_of(draft: Draft) -> Iterator[tuple[str, str]]:
    """All words of a draft but its evidence, with the field they stand in."""
    for name in ("conclusion", "applies_when", "not_when", "task_type", "generalized_query", "subject", "attribute", "scope", "value"):
        yield name, getattr(draft, name)
    for name, text in draft.retrospective.model_dump().items():
        yield f"retrospective.{name}", text
    for name in ("topics", "entities", "tools"):
        yield name, " ; ".join(getattr(draft, name))


def shorten(text: str, limit: int = 60) -> str:
    """At most `limit` characters, with a mark where something is missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
