"""When is a thing due? "The report is due Friday" and "… is due Monday now" / 「报告周五交」、「报告改到周一交」 speak of one deadline.

Only a sentence that tells this and nothing else is read, and a thing is known by all of its words: "the sales report" is another than
"the report". So the day told last closes the one before, and two things never meet.
"""

from typing import NamedTuple

from hindwise.text.lazy_re import lazy_re
from hindwise.text.particulars import MONTHS


class Deadline(NamedTuple):
    """What is due, as the attribute of a slot, and when, both in the words of the sentence."""

    attribute: str
    when: str


_DAY = (
    r"(?:(?:this|next|coming) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tonight|tomorrow|next (?:week|month)|\d{4}-\d{2}-\d{2}"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th)(?: of (?:{MONTHS}))?|(?:{MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
    rf"|\d{{1,2}} (?:{MONTHS})(?: \d{{4}})?|(?:the )?end of (?:(?:the|this|next) )?(?:week|month|quarter|year|{MONTHS})"
)
_WHEN = rf"(?P<when>(?:{_DAY})(?:,? (?:at|by) (?:noon|midnight|\d{{1,2}}(?::\d\d)?(?: ?[ap]m)?))?)(?: now| instead)?"
_THING = r"(?P<thing>(?!(?:deadline|due date)\b)[a-z][\w-]*(?: (?!(?:and|or|is|are|was|not|deadline|due)\b)[a-z][\w-]*){0,3})"
_IS = r"(?:is|are|(?:has|have|was|were)(?: been)? (?:moved|postponed|changed|extended|brought forward|pushed back) to|moved to)(?: now)?"
_LEAD = r"\W*(?:(?:actually|sorry|correction|update|oh|no)[,:] )?(?:(?:please )?(?:remember|note)(?: that|:|,)? )?"
_ENGLISH = tuple(
    lazy_re(rf"(?i){_LEAD}{said} (?:on |by )?{_WHEN}[.!]?\s*")
    for said in (
        rf"(?:the|my|our) {_THING} (?:is|are) (?:now )?due(?: now)?",
        rf"(?:the |my |our )?(?:deadline|due date) (?:for|of) (?:(?:the|my|our) )?{_THING} {_IS}",
        rf"(?:the|my|our) {_THING}(?:'s)? (?:deadline|due date) {_IS}",
    )
)
_NUMERAL = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_DAY_ZH = (
    r"(?:这|本|下下?)?个?(?:周|星期|礼拜)[一二三四五六日天末]|今[天晚]|明[天晚]|后天|(?:这|本|下|今|明)?个?(?:月|季度|年)[底末]|\d{4}-\d{2}-\d{2}"
    rf"|(?:\d{{4}}年)?(?:{_NUMERAL}月)?{_NUMERAL}[日号]"
)
_WHEN_ZH = rf"(?P<when>(?:{_DAY_ZH})(?:上午|下午|中午|晚上|早上)?(?:{_NUMERAL}点半?)?)(?:之前|以前|前)?"
_NO_THING_ZH = r"(?!截止|提交|交付|到期|改|推迟|提前|延|[和与及跟在把将这那下本每])"
_THING_ZH = rf"(?:我们?的|这[份个篇]|那[份个篇])?(?P<thing>(?:{_NO_THING_ZH}[\u4e00-\u9fff]){{2,8}}?)"
_MOVED_ZH = r"(?:改|推迟|提前|延期|延|顺延|调整|变更?)(?:[到至成为])"
_LEAD_ZH = r"\W*(?:(?:对了|更正|不对|不好意思)[，,：:])?(?:请?(?:记住|记下|注意)[：:，,]?\s?)?"
_CHINESE = tuple(
    lazy_re(rf"{_LEAD_ZH}{_THING_ZH}{said}(?:了|啦)?[。.！!]?\s*")
    for said in (
        rf"(?:现在)?(?:{_MOVED_ZH})?{_WHEN_ZH}(?:要|得|必须|需要|就要|才)?(?:提交|上交|交付|交稿|交|截止|到期)",
        rf"的?(?:截止|提交|交付|到期)(?:日期?|时间|期限)?(?:现在)?(?:是|为|在|定在|{_MOVED_ZH})?{_WHEN_ZH}",
    )
)
_NO_NAME = lazy_re(
    r"(?i)(?:(?:first|second|third|last|next|other|latter|former|same|whole|new|old)(?: |$))?(?:ones?|things?|others?|rest)?"
    r"|.*(?:[我你您他她它咱谁不没别]|大家|可以|希望|已经|这个|那个|东西|[今昨明]天).*"
)
"""What does not say which thing it is: 「我们周五交」 and "The other one is due Monday", said twice, may be of two."""
_OF = {"en": "deadline of the {}", "zh": "{}的截止日期"}


def deadline_of(sentence: str) -> Deadline | None:
    """Return what is due and when, or None where the sentence tells something else, or more."""
    if len(sentence) > 200:
        return None
    for language, forms in (("en", _ENGLISH), ("zh", _CHINESE)):
        for form in forms:
            if (match := form.fullmatch(sentence)) and not _NO_NAME.fullmatch(match["thing"]):
                return Deadline(_OF[language].format(match["thing"].lower()), match["when"])
    return None


def is_deadline(attribute: str) -> bool:
    """Whether the attribute of a slot is one of these."""
    return attribute.startswith("deadline of the ") or attribute.endswith("的截止日期")
