"""Telephone numbers and addresses that a model made up: nobody told them, so nothing keeps them."""

from collections.abc import Mapping, Sequence
from typing import Any

from hindwise.safety.contacts import NO_CONTACTS, Contacts, mask_contacts


def without_made_up(answer: Any, asked: Sequence[Mapping[str, str]], contacts: Contacts) -> Any:
    """Return a parsed answer with the contacts masked that do not stand in the question, as far as `contacts` says.

    A text that occurs in the question as it was sent is left, letter by letter: an order's number may look like a telephone's without
    the words around it, and a quotation must be found again.
    """
    if contacts == NO_CONTACTS or _masked(answer, "", contacts) == answer:
        return answer
    sent = "\n".join(mask_contacts(message["content"], contacts, []) for message in asked)
    return _masked(answer, sent, contacts)


_MAX_DEPTH = 16
"""No answer in form is nested so deep: what is not in form is not read."""


def _masked(value: Any, sent: str, contacts: Contacts, depth: int = 0) -> Any:
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {key: _masked(inner, sent, contacts, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner, sent, contacts, depth + 1) for inner in value]
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    text = str(value)
    masked = mask_contacts(text, contacts, [])
    return value if masked == text or text in sent else masked
