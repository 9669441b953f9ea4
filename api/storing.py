"""What must happen to any words before they are stored: unreadable characters out, secrets masked."""

from typing import Any

from hindwise.safety.masking import mask, mask_json
from hindwise.text.clean import clean, one_line, truncate


def safe(text: str) -> str:
    """Return `text` without control characters and with secrets masked."""
    return mask(clean(text)).text


def safe_line(text: str, max_chars: int) -> str:
    """Return `text` safe, on one line, in at most `max_chars` characters."""
    return truncate(mask(one_line(text)).text, max_chars)


def safe_json(value: Any) -> Any:
    """Return a JSON value with every string in it safe, names included."""
    return mask_json(_clean(value))


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {clean(str(key)): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return clean(value) if isinstance(value, str) else value
