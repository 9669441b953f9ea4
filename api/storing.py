"""What must happen to any words before they are stored: unreadable characters out, secrets masked, contacts as the settings say."""

from dataclasses import dataclass
from typing import Any

from hindwise.safety.contacts import Contacts
from hindwise.safety.json_text import object_of
from hindwise.safety.masking import mask, mask_json
from hindwise.text.clean import clean, one_line, truncate

_BY_DEFAULT = Contacts(phones=True)


@dataclass(frozen=True, slots=True)
class Storing:
    """How words are made fit to be stored. Every door takes the one of its `Services`; the default is that of the settings' defaults."""

    contacts: Contacts = _BY_DEFAULT

    def text(self, text: str) -> str:
        """Return `text` without control characters and with secrets masked."""
        return mask(clean(text), self.contacts).text if text else ""

    def line(self, text: str, max_chars: int) -> str:
        """Return `text` safe, on one line, in at most `max_chars` characters."""
        # Most turns have no name and belong to no call.
        return truncate(mask(one_line(text), self.contacts).text, max_chars) if text else ""

    def json(self, value: Any) -> Any:
        """Return a JSON value with every string in it safe, names included."""
        return mask_json(_clean(value), self.contacts)


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return object_of((clean(str(key)), _clean(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return clean(value) if isinstance(value, str) else value
