"""Passwords as people say them: "my password is correct horse battery", 「密码是芝麻开门」, "from X to Y", a user and what he logs in with.

A word after "the password is" is mostly no password ("… is wrong", "… is stored hashed"): what may be one is told by the words that
cannot. Each rule finds where somebody begins to say it, then reads a bounded piece behind it, so that hostile text takes linear time.
"""

import re
from collections.abc import Callable, Iterator

from hindwise.safety.spoken_phrase import phrase
from hindwise.safety.spoken_words import (
    FUNCTION,
    IMPERATIVE,
    NOT_SAID_ZH,
    OF_FORMS,
    PREDICATES,
    SAYS_ZH_NOT_BEGIN,
    SAYS_ZH_NOT_END,
    words_of,
)
from hindwise.text.lazy_re import lazy_re

SIGNS = ("security answer", "security question", "login", "log in", "log-in", "sign in", " to verify", " to confirm your")
OTHER_SIGNS = ("密匙", "密 码", "密保", "账号", "帐号", "用户名")
"""As for the other rules: in small letters, what a text holds at least where one of these rules begins."""

_SAID = lazy_re(
    r"(?i)(?<![A-Za-z0-9])(?:(?:set|change) (?:(?:the|my|your|his|her|our) )?(?:\w{1,16} )?(?:password|passphrase|passcode)(?= to )"
    r"|pass[ _-]?(?:word|wd|code|phrase)s?|pwd?|security answer"
    r"|(?:answer|reply) to (?:my|the|his|her|our) security question)"
    r"(?: ?\([^()\n]{1,24}\)|(?: (?:for|to|of|on|at)(?: [\w.@'’-]{1,32}){1,5}?)?)"
    r"(?: (?:(?:(?:got|was|is|has been) )?(?:changed|set|reset|updated) to|to"
    r"|is now|is still|was always|is|was|are|will be|would be|used to be)(?= )|['’]s(?= )|[ \t]?[:=：] ?(?:is )?|(?= [\"'“「]))[ \t]{0,2}"
)
_IS_SET = lazy_re(r"(?i)^(?:set|change) |(?:changed|set|reset|updated) to\s*$")
_GERUND = lazy_re(r"(?i)[a-z]{2,16}ing (?:(?:an?|the|my|your|our|his|her|their) )?(?:[a-z]{1,16} )?$")
_BEFORE_CHARS = 48
_PIECE_CHARS = 160
_QUOTES = {'"': '"', "'": "'", "“": "”", "`": "`", "「": "」", "『": "』", "‘": "’"}

_SAID_ZH = lazy_re(
    r"(?i)(?:密 ?码|口令|密匙|密保(?:问题)?的?答案|pass(?:word|phrase|code))(?:[（(][^）)\n]{1,16}[）)])?[ \t]?"
    r"(?:我|你|您)?(?:就|应该|还|仍|现在|默认|一直|目前|已经?)?(?:用的|写的|设的|填的)?"
    r"(?:是|为|叫|(?:设|改|换|定)(?:成|为)了?|[：:=]|(?=[“「『]))[ \t：:]{0,2}"
)
_RUN_ZH = lazy_re(r"[\u4e00-\u9fff]{1,16}(?: [\u4e00-\u9fff]{1,8}){0,6}")
_END_ZH = lazy_re(r"\s*(?:$|[。，,.!！；;？?\n）)」』”\"'、])")
_ASCII_ZH = lazy_re(r"[!-~]{4,64}")

_FROM_TO = lazy_re(
    r"(?i)(?<![A-Za-z])(?:password|passphrase|passcode|pwd)s?(?: (?:for|of|on)(?: [\w.@'’-]{1,32}){1,4}?)? from[ ]"
    r"(?P<old>[^\s\"']{4,64}) to (?P<new>[^\s\"',;]{4,64})"
)
_FROM_TO_ZH = lazy_re(r"(?:密码|口令)[从由](?P<old>[!-~]{4,64}?)[ ]?(?:改|换|变|更新)[成为]了?[ ]?(?P<new>[!-+\--~]{4,64})(?![A-Za-z0-9])")
_AS_PASSWORD = lazy_re(
    r"(?i)(?<![A-Za-z])(?:use|using|set|enter|try|type|with) [\"'“]?(?P<new>[^\s\"'“”]{4,64})[\"'”]? as "
    r"(?:the |my |your |our |his |her |a )?(?:new |admin |root |login |wifi )?(?:password|passphrase|passcode|pwd)"
    r"(?![A-Za-z_-])(?: (?P<next>[A-Za-z-]{1,24}))?"
)
_AS_PASSWORD_ZH = lazy_re(
    r"[用以把将][ ]?[“\"「']?(?P<new>[!-~]{4,64}?)[”\"」']?[ ]?(?:来)?"
    r"(?:作为|当作|当成|当|做|设为|设成)(?:我的|新的?)?(?:登录|开机|管理员)?(?:密码|口令)"
    r"(?=[ ]?(?:$|[^\u4e00-\u9fffA-Za-z _-]|登[录陆入]|解锁|开[机门锁]|进[入去]?|访问|连接|验证|来(?!源)|哈(?!希)|后(?![端台])|时(?!效)"
    r"|[吧了呢啊呀哦嘛就即并然再去试才也和或但都给可不]))"
)
_PAIR = lazy_re(
    r"(?i)(?<![A-Za-z])(?:(?:user(?:name)?|login|account|e-?mail)[ ]?(?:[:=]|is)|(?:log|sign)(?:ged|ing)?[ -]?in (?:as|with))"
    r"[ ]?[\"']?[\w.@+-]{1,64}[\"']?[\s,;|/]{1,3}(?:and )?"
    r"(?:pass(?:word|wd|code)?|pwd?)[ ]?(?:[:=]|is )[ ]?[\"']?(?P<new>[^\s\"',;]{4,64})"
)
_PAIR_ZH = lazy_re(
    r"(?:账号|帐号|用户名|账户|登录名)[ ：:是为]{0,3}[\w.@+-]{1,64}[\s,，;；/、和|]{0,3}"
    r"(?:登录)?密码[ ：:是为]{0,3}(?P<new>[!-+\--~]{4,64})(?![A-Za-z0-9])",
    re.ASCII,
)
_BESIDE = lazy_re(
    r"(?i)(?:(?<![A-Za-z])(?:credentials?|log-?in|user(?:name)?[ ]?/[ ]?pass(?:word)?)"
    r"(?: for(?: [\w.-]{1,32}){1,4}?)?[ ]?(?:[:=]|is|are|with|as)"
    r"|(?:账号|帐号|用户名?)[ /、和与及]{0,2}密码(?:分别)?[ ]?[：:是为=])"
    r"[ ]{0,2}(?P<user>[A-Za-z][\w.@+-]{0,63})[ ]?(?P<between>[/|、,，]|and|和)[ ]?(?P<new>[^\s\"',;，。/|]{4,64})",
    re.ASCII,
)
DOOR_CODE = lazy_re(
    r"(?i)(?<![A-Za-z])(?:door|gate|alarm|lock|lockbox|entry|entrance|garage|keypad|safe|vault|wifi)[ -]code"
    r"(?: (?:for|to|of)(?: \w{1,20}){1,3}?)?"
    r"(?: is| was|[ ]?[:=])?[ ](?P<new>\d{4,8}#?)(?![\w-])"
)
_VERIFY = lazy_re(
    r"(?i)(?<![\w.-])(?:use|enter|type)(?: (?:the )?code)? (?P<new>\d{4,8}) to (?:verify|confirm your (?:identity|account|e-?mail|log-?in"
    r"|sign-?in|number|phone|device|address|registration|new )|log ?in|sign ?in)"
)
_SHORT_ZH = lazy_re(
    r"(?<!的)(?:门禁|锁屏|支付|开机|取款|银行卡|保险箱|开门|大门|行李箱|解锁|交易|查询|服务)密码[ ]?"
    r"(?P<new>\d{4,8}#?)(?![\w位个次天年月分秒条-])"
)


def mask_said(text: str, found: list[str]) -> str:
    """Return `text` with passwords that are said in words masked; notes each in `found`."""
    small = text.lower()
    if "pass" in small or "pw" in small or "security" in small:
        text = _replaced(text, _said(text), "password", found)
        if "from" in small:
            text = _with_groups(_FROM_TO, text, found, ("old", "new"), _is_no_word_of_speech)
        if " as " in small:
            text = _with_groups(_AS_PASSWORD, text, found, ("new",), _is_no_word_of_speech, also=_ends_with_password)
        text = _with_groups(_PAIR, text, found, ("new",), _may_be_typed)
    if "密" in text or "口令" in text or (not text.isascii() and "pass" in small):
        text = _replaced(text, _said_zh(text), "password", found)
        for pattern, names in ((_FROM_TO_ZH, ("old", "new")), (_AS_PASSWORD_ZH, ("new",)), (_PAIR_ZH, ("new",)), (_SHORT_ZH, ("new",))):
            text = _with_groups(pattern, text, found, names, _may_be_typed)
    if "credential" in small or "login" in small or "log-in" in small or "pass" in small or "密码" in text:
        text = _with_groups(_BESIDE, text, found, ("new",), _is_no_word_of_speech, also=_says_both)
    if " code" in small or "-code" in small:
        text = _with_groups(DOOR_CODE, text, found, ("new",), _may_be_typed)
    if " to " in small and any(c.isdigit() for c in small):
        text = _with_groups(_VERIFY, text, found, ("new",), _may_be_typed)
    return text


def _replaced(text: str, places: Iterator[tuple[int, int]], what: str, found: list[str]) -> str:
    parts, position = [], 0
    for start, end in places:
        if start < position:
            continue
        parts += [text[position:start], f"[masked:{what}]"]
        found.append(what)
        position = end
    return "".join([*parts, text[position:]]) if parts else text


def _with_groups(
    pattern: re.Pattern[str],
    text: str,
    found: list[str],
    names: tuple[str, ...],
    counts: Callable[[str], bool],
    also: Callable[[re.Match[str]], bool] = lambda _: True,
) -> str:
    def places() -> Iterator[tuple[int, int]]:
        for match in pattern.finditer(text):
            if also(match) and all(counts(match[name]) for name in names):
                yield from (_without_end(match, name) for name in names)

    return _replaced(text, places(), "password", found)


def _without_end(match: re.Match[str], name: str) -> tuple[int, int]:
    value = match[name]
    return match.start(name), match.start(name) + len(value.rstrip(".!?,;)")) if value[-1] in ".,;)" else match.end(name)


def _may_be_typed(value: str) -> bool:
    """Neither a mask, nor a placeholder, nor a word that tells something of the password."""
    return not value.startswith(("[masked", "$", "<", "{", "%", "***")) and value.lower().strip(".!?,;'\"") not in PREDICATES


def _is_no_word_of_speech(value: str) -> bool:
    low = value.lower().strip(".!?,;'\"")
    return _may_be_typed(value) and low not in FUNCTION and low not in OF_FORMS and low not in IMPERATIVE


def _ends_with_password(match: re.Match[str]) -> bool:
    """Not "as password hash", "as the password manager": there a thing is named, and is what a lesson tells."""
    following = match["next"]
    return following is None or following.lower() in FUNCTION | IMPERATIVE or following.lower().endswith(("where", "ly"))


def _says_both(match: re.Match[str]) -> bool:
    """Letters and digits mixed; or the words before say that a password follows the user."""
    value = match["new"]
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed or "密码" in match[0][: match.start("user") - match.start()]


def _said(text: str) -> Iterator[tuple[int, int]]:
    for match in _SAID.finditer(text):
        start = match.end()
        piece = text[start : start + _PIECE_CHARS]
        link, set_to = match[0].rstrip(" \t")[-1:], match[0].rstrip().endswith(" to")
        if match[0].rstrip().endswith(("'s", "’s")) and not _is_short_for_is(text, match.start(), start):
            continue
        if set_to and not _IS_SET.search(match[0]):
            continue
        if "security" in match[0].lower():
            span = _answer(piece)
        else:
            prose = link not in (":", "=", "：") or "(" in match[0]
            judged = prose and _GERUND.search(text, max(0, match.start() - _BEFORE_CHARS), match.start()) is not None
            span = _quoted(piece, alone=link.isalpha()) or phrase(piece, prose=prose, set_to=set_to, judged=judged)
        if span:
            yield start + span[0], start + span[1]


_OWN_AT_START = lazy_re(r"(?i)(?:^|[.!?,;:\n]|\b(?:and|so|but|yes|ok|okay|hi|hello))\s{0,4}(?:my|his|her|our|their) (?:[a-z-]{1,16} )?$")
_WHOLE_CLAUSE = lazy_re(r"[A-Za-z]{3,24}+(?: [A-Za-z]{3,24}+){0,5}?(?=\s?(?:[.!?,;\n]|$)| (?:and|so|but|for) )")
_OF_PASSWORDS = words_of(
    """hash hashes hashing salt length strength complexity expiry expiration age history policy policies format owner reset change rotation
    hint hints rules rule value values entropy encryption encoding digest algorithm date field case characters character name type
    state status validity validation requirements requirement security quality purpose source end start key manager"""
)


def _is_short_for_is(text: str, start: int, end: int) -> bool:
    """Whether "'s" before `end` is an "is" ("my password's swordfish"), or tells whose something is ("the password's hash").

    It is one where somebody begins with his own, and all that follows are words that passwords do not have. What is mixed of letters and
    digits other rules know.
    """
    if not _OWN_AT_START.search(text, max(0, start - _BEFORE_CHARS), start):
        return False
    clause = _WHOLE_CLAUSE.match(text, end, end + _PIECE_CHARS)
    return clause is not None and _OF_PASSWORDS.isdisjoint(clause[0].lower().split())


_ANSWER = lazy_re(r"[\"'“]?(?P<new>[A-Za-z0-9][^\n.,;!?\"”]{1,60})")


def _answer(piece: str) -> tuple[int, int] | None:
    """All words of the clause: an answer may be anything."""
    match = _ANSWER.match(piece)
    return match.span("new") if match and match["new"].split()[0].lower() not in PREDICATES | FUNCTION - {"my", "the"} else None


def _quoted(piece: str, *, alone: bool) -> tuple[int, int] | None:
    """Several words between quotation marks (or one, where nothing but a blank says so), which tell nothing of the password."""
    close = _QUOTES.get(piece[:1])
    end = piece.find(close, 1, 82) if close else -1
    inner = piece[1:end]
    if end < 4 or "\n" in inner or (" " not in inner.strip() and not alone) or inner.startswith("[masked"):
        return None
    words = [word.lower().strip(".!?,;:") for word in inner.split()]
    return None if words[0] in FUNCTION | PREDICATES | IMPERATIVE or OF_FORMS.intersection(words) else (1, end)


def _said_zh(text: str) -> Iterator[tuple[int, int]]:
    for match in _SAID_ZH.finditer(text):
        start = match.end()
        piece = text[start : start + _PIECE_CHARS]
        if span := _quoted(piece, alone=False) or _quoted_zh(piece) or _phrase_zh(piece) or _letters_zh(piece):
            yield start + span[0], start + span[1]


def _quoted_zh(piece: str) -> tuple[int, int] | None:
    close = _QUOTES.get(piece[:1])
    end = piece.find(close, 1, 42) if close else -1
    inner = piece[1:end]
    if end < 3 or "\n" in inner or inner.isascii():
        return None
    return (1, end) if not NOT_SAID_ZH.search(inner) else None


def _phrase_zh(piece: str) -> tuple[int, int] | None:
    """Chinese words that end where a clause ends, and tell nothing of the password."""
    match = _RUN_ZH.match(piece)
    if not match or len(match[0]) < 2 or not _END_ZH.match(piece, match.end()):
        return None
    said = match[0]
    ends = said.count(" ") < 2 and SAYS_ZH_NOT_END.search(said)
    if SAYS_ZH_NOT_BEGIN.match(said) or ends or NOT_SAID_ZH.search(said):
        return None
    return 0, match.end()


def _letters_zh(piece: str) -> tuple[int, int] | None:
    """Letters and digits right behind a link that the other rules do not know."""
    match = _ASCII_ZH.match(piece)
    if not match or not _may_be_typed(match[0]) or match[0][0] in "[{(\"'" or not any(c.isalnum() for c in match[0]):
        return None
    value = re.split(r"[,;\"'\\)}\]&<>|]", match[0])[0].rstrip(".!?:")
    if len(value) < 4 or value.lower() in OF_FORMS or value.startswith("-") or re.search(r"[(\[$]|^[A-Za-z_]+\.[A-Za-z_]", value):
        return None
    return 0, len(value)
