"""Numbers of services that anybody may call: China's 400 and 800, toll-free ones of North America. They reach no person, and what to call
belongs into a lesson ("call 400-810-8888"). Only where somebody says that such a number is his, it is treated like any other.
"""

from hindwise.text.lazy_re import lazy_re

_HOTLINE = lazy_re(r"(?:(?:00)?86)?[48]00\d{7}|(?:00)?1?8(?:00|88|77|66|55|44|33)[2-9]\d{6}")
_NOT_A_DIGIT = lazy_re(r"[^0-9]")
_OWN = lazy_re(
    r"(?i)(?:(?<![a-z])(?:my|his|her|their)(?: [a-z]{2,12})? ?(?:phone|telephone|tel|mobile|cell(?:[ -]?phone)?|fax|number|line|whatsapp)"
    r"|(?<![a-z])(?:mobile|cell[ -]?phone|whatsapp)"
    r"|(?<![a-z])(?:call|reach|ring|phone|text) (?:me|him|her|them)(?: back)?"
    r"|(?:我|他|她|本人|客户|用户)(?:们)?的?(?:个人|办公|家庭|联系|私人)?(?:电话|手机|号码|座机|联系方式|传真)|手机|(?:打给?|联系|致电)(?:我|他|她))"
    r"(?:[ _.-]?(?:number|num|no|nr)|号码?)?\.?(?:\\{0,3}[\"'])?\s?"
    r"(?:is|was|are|at|on|under|是|为|[:：=#，,])?\s?(?:now |现在)?(?:\\{0,3}[\"'(（])?$"
)
"""The words right before a number that make it a person's."""
_OWN_KEY = lazy_re(r"(?i)mobile|cell|whatsapp|msisdn|手机")
_BEFORE_CHARS = 64


def is_hotline(number: str) -> bool:
    """Whether `number`, with any marks between its digits, is a 400 or 800 number of China or a toll-free one of North America."""
    return _HOTLINE.fullmatch(_NOT_A_DIGIT.sub("", number)) is not None


def is_anybodys(number: str, text: str, start: int) -> bool:
    """Whether `number`, which stands in `text` at `start`, is a hotline, and nobody says before it that it is a person's."""
    return is_hotline(number) and _OWN.search(text, max(0, start - _BEFORE_CHARS), start) is None


def is_anybodys_under(key: str, number: str) -> bool:
    """The same for a number that stands in JSON under `key`."""
    return is_hotline(number) and _OWN_KEY.search(key) is None
