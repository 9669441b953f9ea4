"""Words that a user shows and does not say: a page, a letter or a message quoted in a turn, English and Chinese."""

import re
import unicodedata

_SOURCE = (
    r"(?:(?:the|this|that|a|an|my|our|his|her|their) )?(?:\w+ ){0,2}(?:page|site|website|article|e-?mail|mail|letter|message|post|blog|"
    r"docs?|documentation|readme|ticket|comment|review|tool|output|"
    r"log|notice|banner|popup|text|author|vendor)"
)
_REPORTED = re.compile(
    rf"(?i)\b{_SOURCE} (?:\w+ ){{0,2}}(?:says?|said|reads?|states?|claims?|told|tells|wrote|writes|shows?|asks?)\b"
    r"|\b(?:according to|copied from|quoted? from|pasted? from|here is what|i found (?:this|that)|it says)\b"
    r"|(?:网页|页面|网站|文章|邮件|信件?|消息|帖子|博客|文档|说明|工单|评论|工具|输出|日志|公告|弹窗|通知|广告)\S{0,6}(?:说|写着|写道|写的|显示|提示|声称|要求|里有|上有|内容)"
    r"|(?:据|根据|摘自|复制自|引用自|转自|以下是)\S{0,12}(?:网页|页面|网站|文章|邮件|文档|内容|输出)|(?:上面|里面|它|其中)(?:说|写着|写道)"
)
_QUOTED = re.compile(
    r"\"[^\"]{4,4000}\"|“[^”]{4,4000}”|「[^」]{2,4000}」|『[^』]{2,4000}』|```.{4,20000}?```|<[a-z]+>.{4,4000}?</[a-z]+>", re.DOTALL
)
_CITED_LINES = re.compile(r"(?m)(?:^[ \t]*>.*(?:\n|$))+")
_MAX_CHARS = 65_536


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def is_shown_only(content: str, quote: str) -> bool:
    """True when `quote` stands in `content` only inside of what the user shows of somebody else's words.

    Shown: lines cited with ">", code blocks, and quotation marks or what follows a colon after "the page says" / 「网页上写着」.
    """
    content, wanted = content[:_MAX_CHARS], _fold(quote).strip('"“”「」『』> ')
    if not wanted or wanted not in _fold(content):
        return False
    own = _CITED_LINES.sub(" ", content)
    if said := _REPORTED.search(own):
        before, after = own[: said.start()], own[said.start() :]
        marked = _QUOTED.sub(" ", after)
        if marked == after:
            # No quotation marks: the shown words follow the colon, to the end of the paragraph.
            marked = re.sub(r"[:：].*?(?=\n\s*\n|\Z)", " ", after, count=1, flags=re.DOTALL)
        own = before + marked
    return wanted not in _fold(own)
