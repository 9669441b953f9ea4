"""Is an order bound to the task at hand: to a day, to one order, to the thing just pointed at? Then it is no standing order, however firm.

"务必今天送到" and "please remember to attach the receipt to this order" sound like rules and end with their task. What says "from now on"
holds on, whatever day it names.
"""

from hindwise.text.cue import Cue
from hindwise.text.lazy_re import lazy_re

_CLOCK = r"(?:[零一二两三四五六七八九十\d]{1,3}(?:点|[:：]\d\d)(?:半|钟|一刻|[\d一二三四五十]{1,3}分)?)"
_FOR_GOOD = Cue(
    r"\bfrom (?:now|here|this point|today|tomorrow)\b(?! (?:to|until|till)\b)|\bstarting (?:today|tomorrow|now|next|on \w+day|this)"
    r"|\bgoing forward\b(?! with)"
    r"|\bin (?:the |all )?future\b|\bhenceforth\b|\bby default\b|\bnext time\b"
    r"|\bas a rule\b|\bfor good\b|\b(?:our|my) (?:rule|policy|custom)\b"
    r"|\b(?:every|each) (?:time|day|morning|afternoon|evening|night|week|month|quarter|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|\b(?:don'?t|do not) (?:\w+ ){1,2}(?:this|that|these) \w+ (?:again|any ?more)\b"
    r"|\bmake it a (?:habit|rule)\b|^\W*(?:please )?(?:if|when|whenever)\b"
    r"|(?:^|[，。；：、,;:\s]|[我请把你您那])以后|今后|往后|日后|从今|从现在|从此|从(?:明天|后天|今晚|下[^，。]{1,4})(?:起|开始)|下[次回]|默认|长期"
    r"|每(?:天|日|周|星期|月|年|季度|次|回|逢|当|[早晚]|到)|凡是?|^(?:如果|要是|遇到|碰到|当)|规[矩定]|惯例"
)
"""Holds from now on, whatever else is named."""
_EVER = Cue(r"\balways\b|\bnever\b(?! mind)|\bever\b|总是|永远|一律|从不")
"""Holds from now on, unless the same clause is bound to one task."""
_THING = (
    r"(?:order|booking|reservation|flight|train|bus|trip|journey|parcel|package|shipment|delivery|ticket|contract|invoice|appointment"
    r"|meeting|payment|refund|stay|purchase|return|upgrade|claim|form|file|photo|attachment|document|letter|transfer)s?"
)
_BOUND = Cue(
    r"\b(?:today|tonight|tomorrow)\b(?!'s (?:date|news|weather))|\bthis (?:morning|afternoon|evening|time|once|one|\w+day)\b"
    r"|\b(?:on )?\w+day this week\b|\bjust this\b|\bnext (?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    rf"|\b(?:this|these|that) (?:\w+ )?{_THING}\b"
    rf"|\bmy (?:\w+ )?{_THING} (?:on \w+day\b(?!s)|for (?:to|this|\w+day)|at \d|number \d)"
    rf"|\b{_THING} (?:no\.? ?|number |#)?\d{{3,}}"
    r"|今天(?!的(?:日期|新闻|天气))|今[晚早夜]|明[天晚早](?!的(?:日期|天气))|后天|[今明]日|刚才|刚刚|眼下"
    r"|下个?(?:周|星期|礼拜)[一二三四五六日天]|[这本]个?(?:周|星期|礼拜)[一二三四五六日天末]"
    r"|[这那此本](?:次|趟|单|班|笔|回)|[这那][一二两三四五几\d]?(?:张|份|件|封|个|间|些)(?:[^，。的]{0,3})"
    r"(?:包裹|快递|订单|会议|航班|车次|行程|预[订约定]|附件|文件|照片|图片|合同|发票|报告|房间|座位|退款|申请|票|单子?|材料|表格|邮件)"
    r"|(?:订单|单号|工单|预订|航班)号?[是为：:#]?\s?[a-zA-Z]{0,3}\d{3,}"
    rf"|{_CLOCK}(?:之前|以前|前)把"
    r"|把[^，。]{1,24}(?:取消|退掉|撤回|改签|改约|改期|改订|推迟|提前|延后|顺延|[改换调挪](?:到|至|成)[^，。]{0,12}(?:点|周.|号|日|月底|月初|上午|下午|晚上)[^，。]{0,4}(?:以后|之后|以前|之前))"
)
"""A day, one order by its number, the thing pointed at, or a booking that is moved."""


_AS_SAID = lazy_re(
    r"(?i)\b(?:as|like|what) (?:i|you|we) (?:\w+ ){1,3}(?:today|tonight)\b"
    r"|[我你您](?:今天|刚才|刚刚|今早|今晚)(?:就|也|已经)?[说讲提做写问](?:过|的|了)?"
)
"""When it was said is not when it is to be done."""


_ANY_DAY = lazy_re(r"(?i)^\W*(?:please )?(?:always|never)\b(?! mind)|^\W*(?:请)?(?:总是|永远|从不)")
_OF_THAT_DAY = lazy_re(
    r"(?i)\b(?:today|tonight|tomorrow)['’]s (?:meetings|appointments|calls|classes|lessons|shifts|tasks|reminders|to-?dos?|plans?|schedule"
    r"|agenda|calendar|(?:to-?do )?list|menu|summary|briefing)\b"
    r"|[今明]天的(?:会议?|日程|安排|行程安排|计划|待办(?:事项)?|任务|课程?|班次|提醒|清单|菜单|总结|简报)(?=[^\u4e00-\u9fff]|[都发给排放写改告提列整在])"
)
"""Who begins with "never" or "always" means each day's: "Never put tomorrow's meetings before nine" is an order for every evening.

Of one flight or order there is but one: "Never book tomorrow's flight with a stopover". And 「明天的会都…」 is about that day alone.
"""


def is_of_once(sentence: str) -> bool:
    """Whether an order ends with the task at hand."""
    if _FOR_GOOD.search(sentence):
        return False
    told = _AS_SAID.sub("", sentence)
    return _BOUND.search(_OF_THAT_DAY.sub("", told) if _ANY_DAY.search(told) else told) is not None


def outlasts(clause: str) -> bool:
    """Whether a clause of a sentence that is bound to one task holds on by its own words: "…tomorrow, and never by bus"."""
    return not is_of_once(clause) and (_FOR_GOOD.search(clause) or _EVER.search(clause)) is not None
