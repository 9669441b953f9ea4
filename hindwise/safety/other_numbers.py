"""Numbers that look like a telephone's and are called something else: orders, ids, amounts, dates, addresses of machines."""

import re

from hindwise.text.lazy_re import lazy_re

_OTHER_NUMBER = lazy_re(
    r"(?i)(?:(?<![a-z])(?:[a-z]{1,20}[_-]?)?id|uid|order|booking|ticket|tracking|serial|invoice|reference|case|account|batch|request|trace"
    r"|flight|reservation|confirmation|version|build|timestamp|time|(?<![a-z])ts|sku|isbn|amount|total|sum|price|balance|row|line|offset|seed|size|bytes"
    r"|(?<![a-z])(?:part|ver|model|item|lot)"
    r"|单号|订单|编号|流水|工号|序号|学号|卡号|批次|单|号段|金额|总额|余额|时间戳|版本|QQ)"
    r"(?:[ _-]?(?:number|num|no|nr|code|id|号码?))?s?\.?\\{0,3}[\"']?\s{0,2}(?:is|was|are|were|[:：=#是为])?\s{0,2}"
    r"(?:\\{0,3}[\"'#$¥￥€])?$|[#$¥￥€]\s?$"
)
"""The words right before a number that name something else."""
_BEFORE_CHARS = 48
_AND = r"\s{0,2}(?:[,，、;；/&]\s{0,2}(?:and |or )?|(?:and|or) |[和及与或]|以及|还有)\s{0,2}(?:no\.? ?|#)?"
_ENUMERATED = lazy_re(_AND + rf"(?:\d[\d-]{{0,20}}{_AND}){{0,4}}", re.IGNORECASE)
_NUMBERS_BEFORE = lazy_re(rf"(?i)(?<![A-Za-z0-9_.-])(?:\d[\d-]{{0,20}}{_AND}){{1,4}}$")
_CALLED_AFTER = lazy_re(
    r"(?i)[ ]?(?:is|was|是|为)[ ]?(?:my|his|her|their|the|我|他|她|您|你)(?:的)?[ ]?(?:[a-z]{1,12} )?"
    r"(?:phone|mobile|cell|tel|number|电话|手机|号码)"
)
_KEY_BEFORE = lazy_re(r"[\"'](?P<key>[\w .-]{1,48})\\{0,3}[\"']\s{0,4}:\s{0,4}(?P<mark>\\{0,3}[\"'])?$")

PHONE_KEY = lazy_re(
    r"(?i)(?:^|[_-])(?:phone|telephone|tel|mobile|cell(?:phone)?|fax|whatsapp|msisdn)(?:[_-]?(?:number|num|no))?$"
    r"|[a-z](?:Phone|Mobile)(?:Number|No)?$|手机|电话|座机|传真|联系方式"
)
"""Under such a name in JSON stands a telephone number, also one that is written as a number."""
_SAYS_PHONE = lazy_re(
    r"(?i)(?:^|[ _-])(?:(?:tele|cell)?phone|tel|mobile|cell|fax|whatsapp|msisdn)(?:[ _-]?(?:number|num|no))?s?(?:[ _-]?\d{1,2})?$"
    r"|(?:^|[ _-])(?:phone|mobile|contact|cell|sms)[ _-]?(?:number|num|no|info|list)s?(?:[ _-]?\d{1,2})?$"
    r"|(?:^|[ _-])(?:contacts?|sms|whom?_to_call|to|recipients?|receivers?|callers?|callees?|call|dial(?:ed)?)$"
    r"|联系|^号码$"
)
"""The same of several or of one among several, and keys under which a number of eleven digits is most likely one."""
_OTHER_KEY = lazy_re(
    r"(?i)(?:^|[a-z]?[_-]|[a-z](?=[A-Z]))(?:id|ids|no|nos|number|numbers|code|codes|uid|uids|ts|timestamp|amount|price|total|sku|isbn|seed"
    r"|size|offset|count|bytes|memory|mem|disk|capacity|limit|quota|duration|elapsed|ns|us|ms|at|time|views|revenue|volume|balance|sum)$"
    r"|(?:order|invoice|tracking|serial)|[a-z](?:Id|No|Number|Code)s?$|单号|订单|编号|流水|工号|卡号"
)
_LIST_OF_OTHERS = lazy_re(
    r"(?P<key>(?<=[\"'])[\w .-]{1,64}|(?<![\w-])[\w-]{1,64})(?P<mark>\\{0,3}[\"'])?\s{0,4}[:=：]\s{0,4}\["
    r"(?P<items>(?:[\d\s,\"'\\]++|null|None|\[[\d\s,\"'\\]*+\])++)\]"
)
AFTER_BARE = (",", "}", "]", "\n", "\r", " ", "")
"""What may stand behind a bare number of JSON."""
_DATE = lazy_re(r"(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])")
_MACHINE = lazy_re(r"\d{1,3}(?:\.\d{1,3}){3}")
_OF_MOBILES = lazy_re(r"(?i)mobile|cell|手机")


def number_of_something_else(key: str, value: str) -> bool:
    """Whether the text `value` is a bare number that the JSON key `key` calls something else than a telephone."""
    return value.strip().isdigit() and calls_something_else(key)


def calls_something_else(key: str) -> bool:
    """Whether the JSON key `key` names ids, orders, amounts and the like."""
    return _OTHER_KEY.search(key) is not None and not says_phone(key)


def says_phone(key: str) -> bool:
    """Whether what stands under the JSON key `key` is a telephone number, or several."""
    return PHONE_KEY.search(key) is not None or _SAYS_PHONE.search(key) is not None


def is_no_number_to_call(said: str, number: str) -> bool:
    """Whether `number` is none, though `said` (a word before it, or its key) is one for telephones: an address, a date, a count."""
    if _MACHINE.fullmatch(number):
        return True
    digits = re.sub(r"\D", "", number)
    return _OF_MOBILES.search(said) is not None and (len(digits) < 8 or (digits == number and _DATE.fullmatch(number) is not None))


def is_date(digits: str) -> bool:
    """Whether eight digits are a day of these two centuries."""
    return _DATE.fullmatch(digits) is not None


def apart_from_lists(text: str) -> list[tuple[str, bool]]:
    """Return `text` in pieces, and of each whether it is a list of numbers under a key that calls them something else.

    Where none of them is a string, a key of JSON that does not say that they are telephone numbers is enough.
    """
    pieces: list[tuple[str, bool]] = []
    position = 0
    for match in _LIST_OF_OTHERS.finditer(text) if "[" in text else ():
        bare = match["mark"] and "'" not in match["items"] and '"' not in match["items"] and not says_phone(match["key"])
        if bare or calls_something_else(match["key"]):
            pieces += [(text[position : match.start("items")], False), (match["items"], True)]
            position = match.end("items")
    return [*pieces, (text[position:], False)]


class SomethingElse:
    """Which of the numbers of one text are something else: asked for one after the other, from the first on."""

    def __init__(self) -> None:
        self._named_until = -1

    def named(self, match: re.Match[str]) -> bool:
        """Whether the words before name it, or name the enumeration of which it is a part: "orders 1…, 2… and 3…"."""
        if self._is_named(match):
            self._named_until = match.end()
            return True
        return False

    def _is_named(self, match: re.Match[str]) -> bool:
        text, start = match.string, match.start()
        begin = max(0, start - _BEFORE_CHARS)
        if _OTHER_NUMBER.search(text, begin, start):
            return True
        if key := _KEY_BEFORE.search(text, max(0, start - 64), start):
            bare = not key["mark"] and match[0].isdigit() and text[match.end() : match.end() + 1] in AFTER_BARE
            if calls_something_else(key["key"]) or (bare and not says_phone(key["key"])):
                return True
        if _CALLED_AFTER.match(text, match.end()):
            return False
        if 0 <= self._named_until <= start <= self._named_until + 80:
            return _ENUMERATED.fullmatch(text, self._named_until, start) is not None
        before = _NUMBERS_BEFORE.search(text, begin, start)
        return before is not None and _OTHER_NUMBER.search(text, max(0, before.start() - _BEFORE_CHARS), before.start()) is not None
