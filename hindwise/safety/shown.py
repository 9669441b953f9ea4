"""Words that a user shows and does not say: a page, a letter or a message quoted in a turn, English and Chinese."""

import re
import unicodedata

from hindwise.text.lazy_re import lazy_re

_SOURCE = (
    r"(?:(?:the|this|that|a|an|my|our|his|her|their) )?(?:\w+ ){0,2}(?:page|site|website|article|e-?mail|mail|letter|message|post|blog|"
    r"docs?|documentation|readme|ticket|comment|review|tool|output|"
    r"log|notice|banner|popup|text|author|vendor)"
)
_REPORTED = lazy_re(
    rf"(?i)\b{_SOURCE} (?:\w+ ){{0,2}}(?:says?|said|reads?|states?|claims?|told|tells|wrote|writes|shows?|asks?)\b"
    r"|\b(?:according to|copied from|quoted? from|pasted? from|here is what|i found (?:this|that)|it says)\b"
    r"|(?:网页|页面|网站|文章|邮件|信件?|消息|帖子|博客|文档|说明|工单|评论|工具|输出|日志|公告|弹窗|通知|广告)\S{0,6}(?:说|写着|写道|写的|显示|提示|声称|要求|里有|上有|内容)"
    r"|(?:据|根据|摘自|复制自|引用自|转自|以下是)\S{0,12}(?:网页|页面|网站|文章|邮件|文档|内容|输出)|(?:上面|里面|它|其中)(?:说|写着|写道)"
)
_MARKED = r"\"[^\"]{4,4000}\"|“[^”]{4,4000}”|「[^」]{2,4000}」|『[^』]{2,4000}』"
_QUOTED = lazy_re(rf"{_MARKED}|```.{{4,20000}}?```|<[a-z]+>.{{4,4000}}?</[a-z]+>", re.DOTALL)
_SOMEBODY = (
    r"\b(?:(?:my|our|his|her|their) (?:[\w'’-]{1,30} ){0,2}[\w'’-]{1,30}|he|she|they|some(?:one|body)|(?:an?|the|this|that|one) (?:\w+ )?"
    r"(?:man|woman|lady|gentleman|person|friend|colleague|customer|client|caller|stranger|neighbou?r|boss|manager|doctor|teacher)"
    r"|(?-i:(?!(?:We|You|Then|Also|Please|Always|Never)\b)[A-Z][\w'’-]{1,30}(?: [A-Z][\w'’-]{1,30})?))"
    r" (?:(?:has|have|had|just|always|once) ){0,2}(?:writes?|wrote|written|says?|said|tells?|told|texts?|texted|messaged|e-?mailed"
    r"|repl(?:y|ies|ied)|answers?|answered)(?: (?:back|again|today|yesterday|to|me|us|him|her|them)){0,3}"
)
_SOMEBODY_ZH = (
    r"(?:[他她]们?|有人|对方|[\u4e00-\u9fff]{0,6}?(?:[爸妈哥姐弟妹姨姑叔伯舅婶爷奶公婆]|母亲|父亲|妻子|丈夫|太太|儿子|女儿|邻居|房东|室友|朋友|同事"
    r"|同学|客户|顾客|老板|领导|先生|女士|小姐|老师|医生|经理|主管|律师))"
    r"(?:[今昨]天|刚才|刚刚|总是|总|又|[给对跟向][我他她]们?|写信|来信|回信|发消息|发短信|发邮件|留言|打电话来?){0,3}(?:说|写道|写着|写|回复|道|告诉我们?)"
)
_SAID_BY_SOMEBODY = lazy_re(rf"(?i)(?:{_SOMEBODY}|{_SOMEBODY_ZH})\s?[:：,，]?\s?(?:{_MARKED})")
"""A person, what they did to say it, and right behind it their words: those alone, since what is marked further on may be the user's."""
_CITED_LINES = lazy_re(r"(?m)(?:^[ \t]*>.*(?:\n|$))+")
_MAX_CHARS = 65_536


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def is_shown_only(content: str, quote: str) -> bool:
    """True when `quote` stands in `content` only inside of what the user shows of somebody else's words.

    Shown: lines cited with ">", code blocks, and quotation marks or what follows a colon after "the page says" / 「网页上写着」; and the
    quotation marks right behind "my aunt writes to me:" / 「我姨妈写信说：」.
    """
    content, wanted = content[:_MAX_CHARS], _fold(quote).strip('"“”「」『』> ')
    if not wanted or wanted not in _fold(content):
        return False
    own = _SAID_BY_SOMEBODY.sub(" ", _CITED_LINES.sub(" ", content))
    if said := _REPORTED.search(own):
        before, after = own[: said.start()], own[said.start() :]
        marked = _QUOTED.sub(" ", after)
        if marked == after:
            # No quotation marks: the shown words follow the colon, to the end of the paragraph.
            marked = re.sub(r"[:：].*?(?=\n\s*\n|\Z)", " ", after, count=1, flags=re.DOTALL)
        own = before + marked
    return wanted not in _fold(own)
