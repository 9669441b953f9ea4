"""Who an episode is about: names and ids of its user and of those that were served, as far as the episode itself tells them.

From the user id, from inputs, tool arguments and answers by the key they stand under, and from "my name is …" / 「我叫…」.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from hindwise.model.episode import Episode
from hindwise.model.once import once_per_episode
from hindwise.safety.introductions import introduced, is_chinese_name, titled
from hindwise.safety.proper_nouns import PROPER_NOUNS
from hindwise.text.lazy_re import lazy_re
from hindwise.text.remembered import remembered
from hindwise.text.stop_words import STOP_WORDS

_PERSON_KEYS = lazy_re(
    r"(?i)(?:first|last|full|given|family|middle|user|customer|contact|passenger|employee|guest|owner)_?name$|(?:客户|员工|用户)?姓名$|联系人$|收货人$"
)
_ROLE_KEYS = lazy_re(
    r"(?i)(?:passenger|recipient|guest|patient|payee|travell?er|attendee|beneficiary|card_?holder)s?$|(?:乘客|旅客|收件人|入住人|持卡人|患者)$"
)
"""Under these stands a person, however it is written; a name in small letters is one too."""
_WORKING_KEYS = lazy_re(
    r"(?i)(?:.*_)?(?:approver|assignee|reporter|reviewer|supervisor|owner|sender|author|driver|signer|contact|caller|requester|doctor)s?$"
    r"|(?:审批人|负责人|经办人|申请人|发件人|经理|主管)$"
)
"""Under these stands a person, or a team: small letters name one only where there are two words."""
_ROLE_NAME = lazy_re(r"[A-Za-z\u00c0-\u024f'’-]{2,30}(?: [A-Za-z\u00c0-\u024f'’-]{1,30}){0,3}|[\u4e00-\u9fff]{2,5}")
_ID_KEYS = lazy_re(
    r"(?i)(?:.*_)?(?:id|ids|number|no|code|email|phone|mobile|address1?|address2|zip|dob|account|iban|reservations?|payment_methods)$"
    r"|编号|工号|单号|电话|手机|邮箱|地址|账号|卡号"
)


def _looks_like_id(text: str) -> bool:
    return any(c.isdigit() for c in text) or (text.isupper() and len(text) >= 5) or "@" in text


MAX_DEPTH = 40
"""Deeper JSON is no record about a person."""


@remembered(1024)
def _names_an_id(key: str) -> bool:
    return _ID_KEYS.match(key) is not None


@remembered(1024)
def _names_a_person(key: str) -> bool:
    return _PERSON_KEYS.match(key) is not None


@remembered(1024)
def _names_a_role(key: str) -> bool:
    return _ROLE_KEYS.match(key) is not None


def _from_json(value: Any, key: str = "", depth: int = 0) -> Iterator[str]:
    """Names and ids in a tool's arguments or answer, told by the key they stand under; lists inherit the key."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            if _names_an_id(key) and _looks_like_id(str(name)):
                yield str(name)
            yield from _from_json(inner, str(name), depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _from_json(inner, key, depth + 1)
    elif isinstance(value, str) and _stands_for_a_person(key, value):
        yield value.title() if value.islower() else value
    elif isinstance(value, str) and (_is_name(key, value) or (_names_an_id(key) and 3 <= len(value) <= 60 and _looks_like_id(value))):
        yield value


MAX_FREE_CHARS = 20_000
"""Of one value or turn that is no user's: what is longer is material."""


def _free_texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The sentences among the values: what has blanks, or Chinese."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        for inner in value.values():
            yield from _free_texts(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _free_texts(inner, depth + 1)
    elif isinstance(value, str) and (" " in value or not value.isascii()):
        yield value[:MAX_FREE_CHARS]


def _stands_for_a_person(key: str, value: str) -> bool:
    if _names_a_role(key):
        return _ROLE_NAME.fullmatch(value) is not None
    return _WORKING_KEYS.match(key) is not None and _is_worker(value)


def _is_worker(value: str) -> bool:
    """A person's name and no team's."""
    if _is_chinese(value):
        return is_chinese_name(value)
    words = value.split()
    may = _ROLE_NAME.fullmatch(value) is not None and (len(words) > 1 or value[:1].isupper()) and not value.isupper()
    return may and not any(word.lower() in PROPER_NOUNS or word.lower() in STOP_WORDS for word in words)


def _is_name(key: str, value: str) -> bool:
    if not 2 <= len(value) <= 40:
        return False
    plain = key.lower() == "name"
    if not (plain or _names_a_person(key)) or any(c.isdigit() for c in value):
        return False
    if plain:  # of a person or of a thing: only two or three capitalised words, or a short Chinese name, are taken
        return re.fullmatch(r"[A-Z][a-z'-]+(?: [A-Z][a-z'-]+){1,2}", value) is not None or is_chinese_name(value)
    return value[:1].isupper() or _is_chinese(value)


def _is_chinese(text: str) -> bool:
    return bool(text) and all("\u4e00" <= c <= "\u9fff" for c in text)


@once_per_episode
def identities(episode: Episode) -> frozenset[str]:
    """Return what is known to name this episode's user and their things, to be given to `personal_data` as `names`.

    The user id, names and ids in the inputs, in tool arguments and answers, and names by which people introduce themselves.
    """
    found: set[str] = set()
    if episode.user_id and not episode.user_id.startswith("~"):
        found.add(episode.user_id)
    found.update(_from_json(dict(episode.inputs)))
    for text in (episode.goal, episode.outcome.note, *_free_texts(dict(episode.inputs))):
        found.update(introduced(text))
    for turn in episode.turns:
        for call in turn.tool_calls:
            if not isinstance(call.arguments, str):
                found.update(_from_json(call.arguments))
            for text in _free_texts(call.arguments):
                found.update(introduced(text))
        found.update(titled(turn.content[:MAX_FREE_CHARS]))
        if turn.role == "tool" and turn.content[:1] in "{[":
            try:
                found.update(_from_json(json.loads(turn.content)))
            except (ValueError, RecursionError):
                continue  # not JSON after all: nothing to read by key
        elif turn.role == "user":
            found.update(introduced(turn.content))
    return frozenset(found)
