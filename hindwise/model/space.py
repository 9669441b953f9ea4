"""What is a space? The unit of isolation: every read and every write names its spaces first; nothing crosses."""

import re
from unicodedata import category

from hindwise.errors import InvalidInput

MAX_ID_CHARS = 200
"""Longest caller-chosen id (user, agent, session, run, turn)."""

ANONYMOUS_PREFIX = "~anonymous:"
"""Owner of runs that name no user, one per source. No caller may name it: ids that start with `~` are refused."""


_BROKEN = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffd]")
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffd]")
"""Control characters of both sets, the two that end a line or paragraph, half a surrogate pair, broken characters."""


def check_id(value: str, what: str, *, to_erase: bool = False) -> str:
    """Return `value` if it can be an id. Raises InvalidInput with what to change.

    to_erase: also what was taken as an id before it was looked at so closely, so that nobody is kept who cannot be erased.
    """
    if not value or not value.strip():
        raise InvalidInput(f"{what} is empty: give the id that your system uses")
    if len(value) > MAX_ID_CHARS:
        raise InvalidInput(f"{what} has {len(value)} characters: at most {MAX_ID_CHARS}")
    if value.startswith("~"):
        raise InvalidInput(f"{what} may not start with '~': that mark is reserved")
    # U+FFFD is what broken characters were read as: two ids that differ in them alone would be one, and so would their owners.
    if (_BROKEN if to_erase else _UNFIT).search(value):
        raise InvalidInput(f"{what} holds control characters, half a surrogate pair or broken characters: send it as valid UTF-8")
    # A zero-width joiner has its place within a name; a name of nothing else could be told from no other.
    if not to_erase and not any(category(c)[0] in "LNPS" for c in value):
        raise InvalidInput(f"{what} holds no sign that anybody could read: give the id that your system uses")
    return value


def user_space(user_id: str) -> str:
    """The private space of one user."""
    return f"user:{user_id}"


def agent_space(agent_id: str) -> str:
    """The space of lessons shared by all who use one agent."""
    return f"agent:{agent_id}"


def anonymous_user(source: str) -> str:
    """The owner of runs that name no user: one per source, unreachable by any named user."""
    return f"{ANONYMOUS_PREFIX}{source}"


def spaces_of(user_id: str | None, agent_id: str | None) -> tuple[str, ...]:
    """The spaces a call may touch, the private one first. Raises InvalidInput when neither id is given."""
    spaces = tuple(space for space in (user_space(user_id) if user_id else "", agent_space(agent_id) if agent_id else "") if space)
    if not spaces:
        raise InvalidInput("name `user_id`, `agent_id` or both: nothing is read or written without an owner")
    return spaces
