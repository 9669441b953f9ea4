"""What is asked? The words and the language of a query. Pure."""

from dataclasses import dataclass
from typing import Literal

from hindwise.model.brief import RecallQuery
from hindwise.model.space import spaces_of
from hindwise.text.clean import clean
from hindwise.text.language import language_of
from hindwise.text.telling import telling_tokens

MAX_TOKENS = 200
"""Distinct tokens that are searched for. A text that needs more is a document, and its beginning says what it is about."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, read once.

    `tokens`: distinct, in order; `language`: its own; `lang`: of the brief's headings.
    """

    text: str
    language: Literal["en", "zh"]
    lang: Literal["en", "zh"]
    tokens: tuple[str, ...]
    spaces: tuple[str, ...]


def read_question(query: RecallQuery) -> Question:
    """Return what is asked and in which spaces. Raises InvalidInput where no owner is named."""
    text = clean(query.query)
    found = dict.fromkeys(telling_tokens(text))
    language = language_of(text)
    return Question(
        text=text,
        language=language,
        lang=query.lang or language,
        tokens=tuple(found)[:MAX_TOKENS],
        spaces=spaces_of(query.user_id, query.agent_id),
    )
