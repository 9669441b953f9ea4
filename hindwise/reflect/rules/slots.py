"""Which attribute does a statement speak of? The same thing said in other words must meet in one slot, so that the newer closes the older.

Common attributes are listed (see `attributes`), in both languages; for the rest the object of the statement names the attribute.
When unsure the attribute is narrow: two statements that fail to meet are both kept, two that meet wrongly lose one.
"""

import re
from typing import NamedTuple

from hindwise.model.ids import digest
from hindwise.reflect.rules.attributes import ATTRIBUTES, VALUES_ZH
from hindwise.reflect.rules.deadlines import deadline_of, is_deadline
from hindwise.text.lazy_re import lazy_re

__all__ = ["ATTRIBUTES", "VALUES_ZH", "Slot", "content_key", "scope_of", "slot_of", "unique_attribute"]


class Slot(NamedTuple):
    """Where a statement belongs, and what it says there. `value` is empty where the words themselves are the value."""

    subject: str
    attribute: str
    value: str


_ALLERGY = lazy_re(
    r"(?i)\ballergic to (?P<en>[\w -]{2,40})|\bmy (?P<en2>[\w ]{2,30}) allergy\b|对(?P<zh>[\u4e00-\u9fffA-Za-z]{1,12}?)(?:严重|轻度)?过敏"
)
_LIKES = lazy_re(
    r"(?i)\bi (?:really |also |much |still )?(?P<no>don'?t |do not |no longer |never |can'?t |cannot )?(?:really )?(?:any ?more )?"
    r"(?P<verb>like|love|enjoy|prefer|hate|dislike|drink|eat|stand|want)s? (?:to )?(?P<en>[^,.;!?]{2,60})|\bi(?:'ve"
    r"| have) gone off (?P<off>[^,.;!?]{2,40})"
    r"|我?(?P<nozh>不再|不|不太|最不|并不|再也不)?(?P<verbzh>最?喜欢|爱|偏好|偏爱|讨厌|受不了|想要)(?:喝|吃|看|用|玩"
    r"|听)?(?P<zh>[^，。,.；;！!？?]{1,20})"
)
_TAILS = lazy_re(
    r"(?i)\s+(?:over|rather than|instead of|to|than|when|for|in|on|at|because|since|any ?more|these days|now|please|from now on"
    r"|so much|a lot)\b.*$"
)
_TAILS_ZH = lazy_re(r"(?:了|的|吧|啊|呢|，|比较多)+$")
_FAVOURITE = lazy_re(
    r"(?i)\bmy favou?rite (?P<en>[a-z ]{2,30}?) (?:is|are)\b|(?P<en2>[a-z ]{2,30}?) (?:is|are) my favou?rite\b"
    r"|我最喜欢的(?P<zh>[\u4e00-\u9fff]{1,8})是"
)
_MY = lazy_re(
    r"(?i)\b(?:my|our) (?P<en>[a-z][a-z' -]{1,40}?)(?:'s)? (?:is|are|has|have|was|closes|opens|lives|starts|weighs|likes)\b"
    r"|我们?的?(?P<zh>妈妈|爸爸|母亲|父亲|妻子|太太|丈夫|女儿|儿子|孩子|哥哥|姐姐|弟弟|妹妹|朋友|老板|领导|经理|团队|公司|猫|狗)"
    r"|我(?:们)?的(?P<zh2>[\u4e00-\u9fff]{1,8}?)(?:是|叫|在|有|为)"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP = _words(
    """a an the i me my you your it its is are be to of in on at for with and or so but please always never from now today
    every time whenever make sure remember do don't not stop give send use put keep when then that this these those any
    all no more anymore again should must can will would want need have if as by into out up just also only than it's i'm
    i'd i'll i've you'd we us our ever going forward future next default thanks yes right"""
)
_ZH_FRAME = lazy_re(
    r"^对了|以后|今后|从今(?:天|往后)?起?|一律|每次|总是|永远|别再|不要再|再也不要|请?记住|务必|必须|下[次回]|也这样|往后|日后|一定要?|先|默认|都"
    r"|请(?!求|假|客|示)"
    r"|给我|好的|不对|都按这个来|[，。：:,.!！\s]"
)


def slot_of(sentence: str) -> Slot:
    """Return subject, attribute and value of a statement. The subject is `user`; an attribute is always found, if need be in the words."""
    if due := deadline_of(sentence):
        return Slot("user", due.attribute, due.when)
    others = _OF_OTHERS.search(sentence) is not None
    for attribute in ATTRIBUTES:
        if attribute.pattern.search(sentence) and not (others and attribute.name in _OF_A_PERSON):
            # Where both values are named ("not window but aisle"), the one told last is meant, unless it is the one refused.
            named = [
                (m.start(), value)
                for value, words in attribute.values
                for m in words.finditer(sentence)
                if not _refused(sentence, m.start())
            ]
            return Slot("user", attribute.name, max(named)[1] if named else "")
    return _by_object(sentence)


_OF_OTHERS = lazy_re(
    r"(?i)^\W*(?:(?:and|but|also|oh),? )?(?:my|our) (wife|husband|partner|daughter|son|mother|father|mum|mom|dad|sister|brother|friend"
    r"|boss|colleague|roommate|flatmate)\b(?! and I\b)"
    r"|(?<![和跟与])我们?的?(妈妈?|爸爸?|母亲|父亲|妻子|太太|老婆|丈夫|先生|老公|女儿|儿子|孩子|哥哥?|姐姐?|弟弟?|妹妹?|爷爷|奶奶|外公|外婆|朋友"
    r"|老板|同事|室友)(?![和跟与]我)"
)
_OF_A_PERSON = frozenset(
    {"residence", "hometown", "employer", "occupation", "birthday", "diet", "native language", "get-up time", "name", "time zone"}
)
"""Where my mother lives is not where I live: it has a slot of its own, and closes nothing of the user's."""


def _refused(sentence: str, position: int) -> bool:
    before = sentence[max(0, position - 18) : position].lower()
    return (
        re.search(
            r"(?:\bnot|\bnever|\bno|instead of|rather than|\bover|no longer|\bthan|不|别|而不是|不要|不再|don'?t (?:like"
            r"|want))(?: the| an?"
            r"| my)? ?(?:坐|用|要|喜欢)?$",
            before,
        )
        is not None
    )


def _by_object(sentence: str) -> Slot:
    if match := _ALLERGY.search(sentence):
        whose = f"{relative[1] or relative[2]} " if (relative := _OF_OTHERS.search(sentence)) else ""
        return Slot("user", whose + (f"allergy to {_noun(match['en'] or match['en2'])}" if not match["zh"] else f"对{match['zh']}过敏"), "")
    if match := _FAVOURITE.search(sentence):
        return Slot("user", f"favourite {_noun(match['en'] or match['en2'])}" if not match["zh"] else f"最喜欢的{match['zh']}", "")
    if match := _LIKES.search(sentence):
        zh = match["zh"]
        thing = _TAILS_ZH.sub("", zh) if zh else _noun(match["en"] or match["off"] or "")
        refuses = bool(match["no"] or match["nozh"] or match["off"]) or (match["verb"] or match["verbzh"] or "").lower() in _DISLIKES
        if thing:
            return Slot("user", thing[:80], ("不喜欢" if refuses else "喜欢") if zh else ("dislikes" if refuses else "likes"))
    if match := _MY.search(sentence):
        thing = (match["zh"] or match["zh2"] or _noun(match["en"] or ""))[:80]
        part = _PART_ZH.search(sentence)
        aspect = part["part"] if part else next((name for name, words in _ASPECTS if words.search(sentence)), "")
        return Slot("user", f"{thing} {aspect}".strip() if thing else unique_attribute(sentence), "")
    return Slot("user", content_key(sentence) or unique_attribute(sentence), "")


_PART_ZH = lazy_re(
    r"我们?的?(?:公司|团队|店|学校|部门|单位|家)的?(?P<part>[\u4e00-\u9fff]{2,6}?)(?=是|从|在|叫|为|定在|每[天周月年]|改[成为到]|[一二三四五六七八九十\d]+月)"
)
"""Of an office or a firm it counts what is told of: 「公司的财年从七月开始」 and 「公司的仓库在嘉兴」 are two things."""
_ASPECTS = (
    ("name", lazy_re(r"(?i)\b(?:is|are) called\b|叫")),
    ("age", lazy_re(r"(?i)\byears? old\b|岁")),
    ("residence", lazy_re(r"(?i)\blives? in\b|住")),
)
"""What is told about a person or thing: "my dog is called Pixel" and "my dog is three years old" are two attributes."""

_DISLIKES = frozenset({"hate", "dislike", "stand", "讨厌", "受不了"})


def _noun(phrase: str) -> str:
    """Return the bare thing, without qualifiers, articles and verbs of use: `drinking green tea in the morning` → `green tea`."""
    phrase = _TAILS.sub("", phrase.strip().lower())
    phrase = re.sub(r"^(?:the|a|an|my|some|any|any more|drinking|eating|drink|eat|using|use|having|have|getting)\s+", "", phrase)
    return " ".join(phrase.split()[-4:])


def content_key(sentence: str) -> str:
    """Return the first words of content, without those that make it a rule: `prices without vat`. Empty where none are left."""
    if any("\u4e00" <= c <= "\u9fff" for c in sentence):
        return _ZH_FRAME.sub("", sentence)[:12]
    words = [w for w in re.findall(r"[a-z0-9][a-z0-9'_-]*", sentence.lower()) if w not in _STOP]
    return " ".join(words[:4])


def unique_attribute(sentence: str) -> str:
    """An attribute that only this text has: a bare note never supersedes another one."""
    return f"note {digest(' '.join(sentence.lower().split()))[:12]}"


_SCOPE = lazy_re(
    r"(?i)(?:^|[.,;] ?)(?:for|in|on|at|from|during|when|whenever|while) (?P<head>(?!short\b|now\b|today\b|the future|future|me\b"
    r"|my (?:replies|answers))[^,]{2,60}), "
    r"|\b(?:on|for|in|at|during|when|while) (?P<tail>(?:my |the )?(?:long|short|work|business|internal|external|overnight"
    r"|international|domestic|week-?days?|"
    r"week-?ends?|winter|summer|mornings?|evenings?|night|nights|work|customers?|code|meetings?|holidays?|trips?|long-haul|hotels?"
    r"|travell?ing)\b[\w -]{0,30})"
    r"|\b(?:for|on|in) (?:all )?(?:of )?(?:my|our) (?P<mine>(?:\w+ )?(?:flights?|trips|orders|bookings|reports?|invoices|e-?mails"
    r"|documents"
    r"|presentations|projects?|repos(?:itories)?|tickets))\b"
    r"|\b(?P<now>this week|this month|today only|this time)\b"
    r"|^(?:以后|今后|另外|好的，)?(?:我)?(?P<zh>工作日|周末|夏天|冬天|出差(?:时|的时候)?|旅游(?:时|的时候)?|订酒店|订机票|长途(?:航班"
    r"|飞行)|短途|这周|本周|这次|国内订单|海外订单|线上环境|测试环境"
    r"|给(?:[\u4e00-\u9fff]{1,6})的邮件|早饭|晚饭)"
)


_FLIGHTS_ONLY = frozenset({"seat", "cabin class", "stopovers", "departure time"})
"""Attributes of journeys: "for my flights" narrows nothing there, and must not part a changed mind from the older wish."""


def scope_of(sentence: str, attribute: str = "") -> str:
    """Return under which condition a statement holds, in its own words, lower case; empty = always."""
    if is_deadline(attribute):
        return ""
    scope = _told_scope(sentence)
    return "" if attribute in _FLIGHTS_ONLY and re.fullmatch(r"(?:all )?(?:my )?(?:flights?|trips?|航班|机票)", scope) else scope


def _told_scope(sentence: str) -> str:
    match = _SCOPE.search(sentence)
    if not match:
        return ""
    scope = next(group for group in (match["head"], match["tail"], match["mine"], match["now"], match["zh"]) if group)
    return re.sub(r"(?i)^(?:my|the|our)\s+|\s+(?:i|please|and|but|only)\b.*$|(?:时|的时候)$", "", scope.strip()).lower()[:120]
