"""The common attributes and how people speak of them, in English and Chinese. `slots` decides which one a statement is about."""

import re
from typing import NamedTuple

from hindwise.text.bilingual_words import VALUES_ZH
from hindwise.text.cue import Cue
from hindwise.text.lazy_re import lazy_re

__all__ = ["ATTRIBUTES", "A_CALL", "LISTED", "VALUES_ZH", "Attribute"]


class Attribute(NamedTuple):
    """A name, how it is spoken of, and the values that are listed, each with its words."""

    name: str
    pattern: Cue
    values: tuple[tuple[str, re.Pattern[str]], ...] = ()


def _attribute(name: str, pattern: str, **values: str) -> Attribute:
    compiled = tuple((value.replace("_", " ").replace("e mail", "e-mail"), lazy_re(f"(?i){words}")) for value, words in values.items())
    return Attribute(name, Cue(pattern), compiled)


A_CALL = (
    r" (?:(?:at|on|back|by|when|if|later|today|tonight|tomorrow|now|again|first|once|before|after|about|for|from|in|this|next|any ?more"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|as soon)\b)"
)
"""Behind "call me": a telephone call is meant, and no name follows."""

_LANGUAGES = {
    "English": r"english|英文|英语",
    "Chinese": r"chinese|mandarin|中文|汉语|普通话",
    "German": r"german|德语|德文",
    "French": r"french|法语|法文",
    "Spanish": r"spanish|西班牙语",
    "Japanese": r"japanese|日语|日文",
}

ATTRIBUTES: tuple[Attribute, ...] = (
    _attribute(
        "seat",
        r"\b(?:window|aisle|middle|front|exit[- ]row)\b.{0,12}\bseats?\b|\bseats?\b.{0,24}\b(?:window|aisle|middle)\b|\b(?:window"
        r"|aisle) (?:please|instead)|\bsit (?:by|at|near|next to|on)\b|(?:靠|临)(?:窗|过道|走道)|座位",
        window="window|靠窗|临窗",
        aisle="aisle|过道|走道",
        middle="(?<!not the )(?<!never the )middle",
        front="front",
    ),
    _attribute("native language", r"native (?:language|tongue)|mother tongue|母语", **_LANGUAGES),
    _attribute(
        "answer language",
        r"\b(?:answer|reply|replies|respond|write|speak|talk|explain|communicate|answers)\b.{0,30}\b(?:in )?(?:british |american "
        r"|uk |us )?(?:english|chinese|mandarin|german|french|spanish|japanese)\b|\buk spelling\b|(?:用|使用|说|写|改用)(?:简体"
        r"|繁体)?(?:中文|英文"
        r"|英语|汉语|日语|法语|德语)(?!.{0,3}(?:文档|报告|名|标题|界面|版|邮件|字体|注释|日志|菜单|书))|(?:中文|英文|英语)(?:来)?(?:回复|回答|交流|沟通)",
        British_English=r"british english|uk (?:spelling|english)",
        **_LANGUAGES,
    ),
    _attribute(
        "emoji",
        r"\bemojis?\b|表情(?:符号|包)?|emoji",
        none=r"stop|no |don'?t|without|never|别|不要|不用|禁",
        welcome=r"like|more|喜欢|多用",
    ),
    _attribute(
        "answer style",
        r"\b(?:concise|brief|short(?:er)?|detailed|longer|thorough|verbose|in[- ]depth|bullet(?:ed)?[- ]points?|step[- ]by[- ]step"
        r"|to the point)\b.{0,30}\b(?:answers?|repl(?:y|ies)|responses?|explanations?|summar(?:y|ies)|messages?)\b|\b(?:answers?"
        r"|repl(?:y|ies)|responses?|explanations?)\b.{0,30}\b(?:concise|brief|short|detailed|long|thorough|verbose|bullet|point"
        r"|step[- ]by[- ]step|more detail)|\bkeep (?:it|your answers|answers|things) (?:short|brief|concise)|\bmore detail|\b(?:be"
        r"|answer) (?:more )?(?:concise|brief|detailed|thorough)|(?:回答|回复|答案|解释|说明|答复|说话).{0,10}(?:简洁|简短|简单|精简"
        r"|详细|具体|长一?点|短一?点|要点"
        r"|分步)|(?:简洁|简短|简单|精简|详细|具体)(?:一?点|一?些)?(?:地|的)?(?:回答|回复|答案|解释|说明|答复)|说?(?:详细|简短"
        r"|简洁)(?:一?点|一?些)",
        step_by_step=r"step[- ]by[- ]step|分步",
        bullet_points="bullet|要点",
        detailed=r"detail|longer|long(?! and)|thorough|verbose|in[- ]depth|详细|具体|长一?点",
        concise="concise|brief|short|to the point|简洁|简短|简单|精简|短一?点",
    ),
    _attribute(
        "tone",
        r"\b(?:formal|informal|casual|friendly|professional|polite) (?:tone|language|style|mails?|emails?)|\btone\b|\b(?:be|sound"
        r"|write) (?:more )?(?:formal|informal|casual|friendly)|\b(?:mails?|emails?)\b.{0,20}\b(?:formal|informal)|语气|(?:正式|随意"
        r"|口语化"
        r"|亲切)(?:一?点|一?些)|邮件.{0,6}(?:正式|随意)",
        informal="informal|casual|随意|口语",
        formal=r"\bformal|professional|正式",
        friendly="friendly|亲切",
    ),
    _attribute(
        "units",
        r"\b(?:metric|imperial) (?:units|system)?|\b(?:celsius|fahrenheit|kilomet(?:er|re)s|miles)\b|公制|英制|摄氏|华氏|用(?:公里|英里)",
        metric="metric|celsius|kilomet|公制|摄氏|公里",
        imperial="imperial|fahrenheit|miles|英制|华氏|英里",
    ),
    _attribute(
        "contact channel",
        r"\b(?:contact|reach|notify|text|call|ping|message) me\b(?! back).{0,20}\b(?:by|via|on|through|over|e-?mail|phone|sms)"
        r"|\bprefer(?:red)? (?:contact|e-?mail|phone|text|sms)\b|\b(?:by|via) (?:e-?mail|phone|sms|text)\b.{0,12}\binstead|(?:用|通过"
        r"|发|打)(?:电子)?(?:邮件|短信|电话|微信|钉钉|飞书).{0,4}(?:联系|通知|告诉|找|给)我?|联系方式",
        e_mail="e-?mail|邮件",
        telephone=r"phone|call|电话",
        text_message="sms|text|短信",
        WeChat="wechat|微信",
        DingTalk="dingtalk|钉钉",
        Slack="slack",
        Feishu="feishu|lark|飞书",
    ),
    _attribute(
        "payment method",
        r"\bpay(?:ing|ments?)?\b.{0,20}\b(?:by|with|using|via|from)\b|\bpayment method\b|\buse my .{0,30}\b(?:card|certificate"
        r"|balance)\b.{0,12}\bpay|(?:用|使用)(?:支付宝|微信|信用卡|银行卡|礼品卡|公司卡).{0,4}(?:支付|付款|结账|付)|支付方式|付款方式",
        credit_card="credit card|信用卡",
        gift_card="gift card|礼品卡",
        PayPal="paypal",
        Alipay="alipay|支付宝",
        WeChat_Pay="wechat|微信",
        invoice="invoice|发票",
        bank_transfer="bank transfer|转账",
        company_card="company card|公司卡",
    ),
    _attribute(
        "cabin class",
        r"\b(?:fly|flights?|travel|book|seats?|cabin|ticket)\b.{0,24}\b(?:economy|business|first)(?: class)?\b|\b(?:economy"
        r"|business|first)[ -]class\b|经济舱|商务舱|公务舱|头等舱",
        basic_economy="basic economy",
        economy="economy|经济舱",
        business="business|商务舱|公务舱",
        first="first|头等舱",
    ),
    _attribute(
        "stopovers",
        r"\b(?:direct|non-?stop) flights?|\b(?:fly|flights?) (?:direct|non-?stop)|\bstop-?overs?\b|\blayovers?\b|直飞|转机|中转",
    ),
    _attribute(
        "room",
        r"\b(?:hotel )?rooms?\b.{0,40}\b(?:quiet|view|floor|smoking|street|balcony|twin|double|king)|\b(?:quiet|high-floor"
        r"|non-?smoking) rooms?|(?:住|要|订).{0,8}(?:房间|房)|(?:临街|高层|安静|无烟).{0,4}房",
    ),
    _attribute(
        "diet",
        r"\b(?:vegan|vegetarian|pescatarian|halal|kosher|gluten[- ]free|lactose)\b|\b(?:eat|eating) (?:meat|fish|pork|beef)\b|吃素|素食"
        r"|吃荤|荤菜|清真|忌口|不吃(?:肉|猪肉|牛肉|鱼)|吃肉",
        vegan="vegan|纯素",
        vegetarian="vegetarian|吃素|素食|荤菜.{0,4}不",
        halal="halal|清真",
        kosher="kosher",
        eats_meat=r"(?:i|now|again) eat (?:meat|fish)|(?<!不)吃肉了",
    ),
    _attribute("budget", r"\bbudget\b|\bspend (?:at most|up to|no more)|预算"),
    _attribute(
        "residence",
        r"\b(?:i|we)(?:'m|'re| am| are)? (?:now |currently )?(?:live|living|based|settled|reside)\b(?: \w+)? in\b|\b(?:i|we)(?:'ve"
        r"| have)? (?:just )?moved to\b|\bmy home (?:is|town) in\b|(?:住在|搬到|搬去|搬家到|定居|我家在|居住在)",
    ),
    _attribute("hometown", r"\bmy home ?town\b|\bi(?:'m| am| come) (?:originally )?from\b|老家|家乡"),
    _attribute(
        "employer",
        r"\b(?:i|we) (?:now )?work (?:at|for)\b|\bi(?:'ve| have)? (?:just )?(?:joined|started at)\b|\bmy (?:employer|company) is\b"
        r"|在.{1,16}(?:上班|工作|任职|就职)|跳槽到|入职|我(?:的)?公司(?:是|叫)|我在.{2,16}(?:公司|科技|集团|软件|银行)做",
    ),
    _attribute(
        "occupation",
        r"\bi(?:'m| am| work as) an? (?:\w+ ){0,3}(?:engineer|developer|teacher|doctor|nurse|designer|manager|analyst|lawyer"
        r"|student|writer|scientist|accountant|consultant|architect)\b|\bmy (?:job|profession|occupation)\b"
        r"|我是(?:一?[名个位])?[\u4e00-\u9fff]{1,8}(?:师|员|医生|老师|学生|经理|律师|程序员|教授)|我的(?:职业|工作)是",
    ),
    _attribute("form of address", rf"\bcall me\b(?!{A_CALL})|\baddress me as\b|(?:叫|称呼|喊)我(?!.{{0,2}}的(?:人|名))"),
    _attribute("name", r"\bmy (?:full )?name is\b|我叫|我的名字(?:是|叫)|我姓"),
    _attribute("birthday", r"\b(?:my birthday|my date of birth|i was born on)\b|我?的?生日(?:是)?|出生日期"),
    _attribute("e-mail address", r"\bmy e-?mail(?: address)? is\b|我的(?:邮箱|电子邮件)(?:地址)?是"),
    _attribute("telephone number", r"\bmy (?:phone|mobile|telephone|cell)(?: number)? is\b|我的(?:手机|电话)(?:号码?)?是"),
    _attribute("time zone", r"\btime ?zone\b|时区|东[一二三四五六七八九十]+区"),
    _attribute(
        "meeting time",
        r"\b(?:meetings?|calls?|appointments?)\b.{0,40}\b(?:morning|afternoon|evening|before|after|am|pm|o'clock|noon)\b"
        r"|\b(?:morning|afternoon) (?:meetings?|calls?|appointments?)|(?:开会|会议|约会议|见面).{0,10}(?:上午|下午|早上|晚上|之前"
        r"|之后|点)|(?:上午|下午|早上"
        r"|晚上).{0,6}(?:开会|会议)",
    ),
    _attribute(
        "departure time",
        r"\b(?:fly|flights?|depart|departures?|leave|trains?)\b.{0,30}\b(?:before|after|morning|afternoon|evening|night|red-?eye"
        r"|early|late)\b|\b(?:morning|evening|early|late|red-?eye) (?:flights?|trains?|departures?)|(?:早|晚|上午|下午|夜间"
        r"|红眼)(?:班|航班"
        r"|的?航班)|(?:航班|起飞|出发).{0,8}(?:早上|上午|下午|晚上|之前|之后)",
    ),
    _attribute("get-up time", r"\bget up at\b|\bwake up at\b|[点半]起床|起床"),
    _attribute("date format", r"\bdate format\b|\bdates? (?:as|in) \w{2,4}[-/]|日期格式"),
    _attribute(
        "currency", r"\bprices? in (?:euros?|dollars?|usd|eur|rmb|yuan)\b|\bcurrency\b|(?:价格|金额).{0,4}用(?:人民币|美元|欧元)|币种"
    ),
    _attribute(
        "file format",
        r"\b(?:send|give|deliver|export|want|prefer|use)\b.{0,30}\b(?:csv|pdf|xlsx|excel|docx|word documents?|markdown|json|html)\b"
        r"|(?:发|给|导出|用|要|改).{0,10}(?:csv|pdf|excel|word|markdown|json|表格|文档格式)",
        CSV=r"csv(?!.{0,20}instead of the csv)",
        PDF=r"(?<!instead of the )(?<!instead of )(?<!not )pdf",
        Excel="excel|xlsx",
        Markdown="markdown",
        JSON="json",
        table="表格",
        Word="word",
    ),
    _attribute("tables", r"\btables? for\b|\buse tables?\b|\bin (?:a )?tables?\b"),
    _attribute(
        "package manager",
        r"\b(?:npm|pnpm|yarn|pip|poetry|uv)\b",
        **{name: rf"\b{name}\b" for name in ("pnpm", "yarn", "poetry", "uv", "npm", "pip")},
    ),
    _attribute("indentation", r"\bindent(?:ation)?\b|\btabs\b.{0,10}\bspaces\b|缩进", tabs="tabs|制表符", spaces="spaces|空格"),
    _attribute(
        "family",
        r"\bi have (?:no|an?|one|two|three|four|\d+) (?:kids?|children|child|sons?|daughters?)\b|\bi don'?t have (?:kids|children)"
        r"|我有.{1,3}个(?:孩子|小孩|儿子|女儿)|我没有孩子",
    ),
)
"""Order matters: the first whose pattern occurs wins, so the narrow ones stand first."""

LISTED = frozenset(attribute.name for attribute in ATTRIBUTES)
