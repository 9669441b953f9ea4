"""What only tells of a secret, though it stands under its name: messages of validation ("must contain a digit") and states ("expired").

Lessons are made of them. A message is known by its words: all of them are ones of forms, and one at least demands or refuses something.
"""

import re

from hindwise.safety.spoken_words import FUNCTION, OF_FORMS
from hindwise.text.lazy_re import lazy_re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STATES = _words(
    """required optional missing expired denied invalid incorrect wrong empty weak mismatch mismatched revoked granted unauthorized
    forbidden rejected accepted refused unset updated changed blank null none disabled enabled malformed unsupported unavailable absent
    present verified unverified failed failure unknown taken reused"""
)
"""One word that says how it stands with a secret."""
_DEMANDS = _STATES | _words(
    """must should cannot can't mustn't too least most minimum maximum match matches contain contains include includes valid allowed
    provided supplied specified found"""
)
_OF_MESSAGES = (
    _DEMANDS
    | OF_FORMS
    | (FUNCTION - _words("my his her our their i we they he she who whom whose"))
    | _words(
        """short long common simple similar strong different same previous old new current special numeric number numbers uppercase
        lowercase upper lower case letter alphanumeric ascii non-alphanumeric whitespace space spaces containing contained matching matched
        confirmation confirmed confirm given entered set don't than following exceed exceeds exceeded fewer equal left format error key
        api authorization header bearer authentication account please try again enter another choose provide stronger longer shorter"""
    )
)
_SMALL_NUMBER = lazy_re(r"\d{1,3}(?:[-–]\d{1,3})?")
_WORD = lazy_re(r"[^\s,.;:!?()\"'/]+(?:'[a-z]+)?")
_MESSAGE_ZH = lazy_re(
    r"(?:[您你]的?|该|此|新|旧|原|两次|确认|登录|密码|口令|密钥|令牌|长度|强度|格式|位数|字符|字母|数字|符号|大写|小写|大小写|特殊|空格|输入|填写|提供|设置|更新"
    r"|修改|包含|含有?|至少|最少|最多|不少于|不超过|不低于|不能|不可|不得|不应|必须|需要?|应该?|请|重新|再次|不足|不够|不对|不正确|不符合?|不匹配|不一致|不合法|要求"
    r"|规则|与|和|或|及|为空|为|空|太短|太长|过短|过长|太弱|过于?|太|简单|短|长|弱|错误|有误|正确|无效|失效|已|过期|缺失|缺少|必填|选填|未|被|拒绝|撤销|吊销|相同|一致"
    r"|以上|以下|之间|到|至|[个位]|\d{1,3}|[的了在是，,。.！!：:、\s~-])+"
)
_DEMANDS_ZH = lazy_re(
    r"不足|不够|不能|不可|不得|必须|至少|最少|最多|不少于|不超过|不对|不正确|不符|不匹配|不一致|不合法|为空|太|过[短长于期]|错误|有误|无效|失效|缺[失少]|[必选]填|未|拒绝"
    r"|[撤吊]销|请"
)


def only_tells(value: str) -> bool:
    """Whether `value` is a message about a secret, or the state it is in: "too short", "expired", 「长度不足」."""
    value = value.strip()
    if not 2 <= len(value) <= 200:
        return False
    if not value.isascii():
        return _MESSAGE_ZH.fullmatch(value) is not None and _DEMANDS_ZH.search(value) is not None
    words = [word.lower() for word in _WORD.findall(value)]
    if len(words) < 2:
        return words[:1] != [] and value.lower().rstrip(".!") in _STATES
    told = all(word in _OF_MESSAGES or _SMALL_NUMBER.fullmatch(word) for word in words)
    return told and not _DEMANDS.isdisjoint(words)


_STANDS_IN = lazy_re(
    r"(?i)<[^<>]{1,60}>|\{\{?[^{}]{1,60}\}?\}|\$\{[^{}]{1,60}\}|%[A-Z_]{2,40}%|[*•●·]{2,40}|x{3,40}|\.{2,8}|…{1,2}"
    r"|(?:(?:enter|insert|type in|put in|replace with) )?your (?:[a-z]{1,12} ){0,2}"
    r"(?:password|passphrase|passcode|secret|token|key|cookie)(?: (?:here|goes here))?"
    r"|(?:(?:在此|请)?(?:输入|填写|填入|替换(?:为|成)))?[你您]的?(?:[\u4e00-\u9fff]{0,4})(?:密码|口令|密钥|令牌)"
)


def stands_in(value: str) -> bool:
    """Whether `value` only keeps the place of a secret: `<your password>`, `{{ password }}`, `***`, 「你的密码」."""
    return _STANDS_IN.fullmatch(value.strip()) is not None


_ENDS = lazy_re(r"[.;,(\n\r\"'}\]，。；）]|$")
_PATH = lazy_re(r"(?:/|~/?|[A-Za-z]:\\{1,2})[\w./\\ ~+@-]*")
_WORKING_DIRECTORY = lazy_re(r"(?i)(?:old)?pwd$")


def told_from(text: str, start: int, quote: str) -> bool:
    """Whether what begins in `text` at `start`, up to the end of its clause or of its quotation marks, is such a message."""
    piece = text[start : start + 200]
    end = piece.find(quote[-1]) if quote else -1
    if end < 0:
        found = _ENDS.search(piece)
        end = found.start() if found else len(piece)
    return only_tells(piece[:end].rstrip("\\"))


def is_working_directory(name: str, value: str) -> bool:
    """Whether `value` is a path and `name` is `pwd` or `OLDPWD`, which name the directory one is in."""
    return _WORKING_DIRECTORY.fullmatch(name) is not None and _PATH.fullmatch(value) is not None


_NAME_BEFORE = lazy_re(r"[A-Za-z0-9_]{0,24}$")


def says_where(match: re.Match[str]) -> bool:
    """Whether a rule's `name` and `value` are those of the directory one is in: `OLDPWD=/tmp`, not `DB_PWD=/x1`."""
    end = match.end("name")
    before = _NAME_BEFORE.search(match.string, max(0, end - 24), end)
    return before is not None and is_working_directory(before[0], match["value"])
