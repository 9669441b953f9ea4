"""Which attribute does a statement speak of? The same thing said in other words must meet in one slot, so that the newer closes the older.

Common attributes are listed, in both languages; for the rest the object of the statement names the attribute. When unsure the attribute is
narrow: two statements that fail to meet are both kept, two that meet wrongly lose one.
"""

import re
from typing import NamedTuple

from hindwise.model.ids import digest


class Slot(NamedTuple):
    """Where a statement belongs, and what it says there. `value` is empty where the words themselves are the value."""

    subject: str
    attribute: str
    value: str


class _Attribute(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    values: tuple[tuple[str, re.Pattern[str]], ...] = ()


def _attribute(name: str, pattern: str, **values: str) -> _Attribute:
    compiled = tuple((value.replace("_", " "), re.compile(f"(?i){words}")) for value, words in values.items())
    return _Attribute(name, re.compile(f"(?i){pattern}"), compiled)


_LANGUAGES = {
    "English": r"english|英文|英语",
    "Chinese": r"chinese|mandarin|中文|汉语|普通话",
    "German": r"german|德语|德文",
    "French": r"french|法语|法文",
    "Spanish": r"spanish|西班牙语",
    "Japanese": r"japanese|日语|日文",
}

ATTRIBUTES: tuple[_Attribute, ...] = (
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
        r"|uk |us )?(?:english|chinese|mandarin|german|french|spanish|japanese)\b|\buk spelling\b|(?:用|使用|说|写|改用)(?:简体|繁体)?(?:中文|英文"
        r"|英语|汉语|日语|法语|德语)(?!.{0,3}(?:文档|报告))|(?:中文|英文|英语)(?:来)?(?:回复|回答|交流|沟通)",
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
        r"|answer) (?:more )?(?:concise|brief|detailed|thorough)|(?:回答|回复|答案|解释|说明|答复|说话).{0,10}(?:简洁|简短|简单|精简|详细|具体|长一?点|短一?点|要点"
        r"|分步)|(?:简洁|简短|简单|精简|详细|具体)(?:一?点|一?些)?(?:地|的)?(?:回答|回复|答案|解释|说明|答复)|说?(?:详细|简短|简洁)(?:一?点|一?些)",
        step_by_step=r"step[- ]by[- ]step|分步",
        bullet_points="bullet|要点",
        detailed=r"detail|longer|long(?! and)|thorough|verbose|in[- ]depth|详细|具体|长一?点",
        concise="concise|brief|short|to the point|简洁|简短|简单|精简|短一?点",
    ),
    _attribute(
        "tone",
        r"\b(?:formal|informal|casual|friendly|professional|polite) (?:tone|language|style|mails?|emails?)|\btone\b|\b(?:be|sound"
        r"|write) (?:more )?(?:formal|informal|casual|friendly)|\b(?:mails?|emails?)\b.{0,20}\b(?:formal|informal)|语气|(?:正式|随意|口语化"
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
    _attribute(
        "form of address", r"\bcall me\b(?! (?:at|on|back|by|when|if|later))|\baddress me as\b|(?:叫|称呼|喊)我(?!.{0,2}的(?:人|名))"
    ),
    _attribute("name", r"\bmy (?:full )?name is\b|我叫|我的名字(?:是|叫)|我姓"),
    _attribute("birthday", r"\b(?:my birthday|my date of birth|i was born on)\b|我?的?生日(?:是)?|出生日期"),
    _attribute("e-mail address", r"\bmy e-?mail(?: address)? is\b|我的(?:邮箱|电子邮件)(?:地址)?是"),
    _attribute("telephone number", r"\bmy (?:phone|mobile|telephone|cell)(?: number)? is\b|我的(?:手机|电话)(?:号码?)?是"),
    _attribute("time zone", r"\btime ?zone\b|时区|东[一二三四五六七八九十]+区"),
    _attribute(
        "meeting time",
        r"\b(?:meetings?|calls?|appointments?)\b.{0,40}\b(?:morning|afternoon|evening|before|after|am|pm|o'clock|noon)\b"
        r"|\b(?:morning|afternoon) (?:meetings?|calls?|appointments?)|(?:开会|会议|约会议|见面).{0,10}(?:上午|下午|早上|晚上|之前|之后|点)|(?:上午|下午|早上"
        r"|晚上).{0,6}(?:开会|会议)",
    ),
    _attribute(
        "departure time",
        r"\b(?:fly|flights?|depart|departures?|leave|trains?)\b.{0,30}\b(?:before|after|morning|afternoon|evening|night|red-?eye"
        r"|early|late)\b|\b(?:morning|evening|early|late|red-?eye) (?:flights?|trains?|departures?)|(?:早|晚|上午|下午|夜间|红眼)(?:班|航班"
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

_ALLERGY = re.compile(
    r"(?i)\ballergic to (?P<en>[\w -]{2,40})|\bmy (?P<en2>[\w ]{2,30}) allergy\b|对(?P<zh>[\u4e00-\u9fffA-Za-z]{1,12}?)(?:严重|轻度)?过敏"
)
_LIKES = re.compile(
    r"(?i)\bi (?:really |also |much |still )?(?P<no>don'?t |do not |no longer |never |can'?t |cannot )?(?:really )?(?:any ?more )?"
    r"(?P<verb>like|love|enjoy|prefer|hate|dislike|drink|eat|stand|want)s? (?:to )?(?P<en>[^,.;!?]{2,60})|\bi(?:'ve"
    r"| have) gone off (?P<off>[^,.;!?]{2,40})"
    r"|我?(?P<nozh>不再|不|不太|最不|并不|再也不)?(?P<verbzh>最?喜欢|爱|偏好|偏爱|讨厌|受不了|想要)(?:喝|吃|看|用|玩|听)?(?P<zh>[^，。,.；;！!？?]{1,20})"
)
_TAILS = re.compile(
    r"(?i)\s+(?:over|rather than|instead of|to|than|when|for|in|on|at|because|since|any ?more|these days|now|please|from now on"
    r"|so much|a lot)\b.*$"
)
_TAILS_ZH = re.compile(r"(?:了|的|吧|啊|呢|，|比较多)+$")
_FAVOURITE = re.compile(
    r"(?i)\bmy favou?rite (?P<en>[a-z ]{2,30}?) (?:is|are)\b|(?P<en2>[a-z ]{2,30}?) (?:is|are) my favou?rite\b"
    r"|我最喜欢的(?P<zh>[\u4e00-\u9fff]{1,8})是"
)
_MY = re.compile(
    r"(?i)\b(?:my|our) (?P<en>[a-z][a-z' -]{1,40}?)(?:'s)? (?:is|are|has|have|was|closes|opens|lives|starts|weighs|likes)\b"
    r"|我们?的?(?P<zh>妈妈|爸爸|母亲|父亲|妻子|太太|丈夫|女儿|儿子|孩子|哥哥|姐姐|弟弟|妹妹|朋友|老板|领导|经理|团队|公司|猫|狗)"
    r"|我(?:们)?的(?P<zh2>[\u4e00-\u9fff]{1,8}?)(?:是|叫|在|有|为)"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP = _words(
    """a an the i me my you your it its is are be to of in on at for with and or so but please always never from now today every time whenever make sure remember
    do don't not stop give send use put keep when then that this these those any all no more anymore again should must can will would want need have
    if as by into out up just also only than it's i'm i'd i'll i've you'd we us our ever going forward future next default thanks yes right"""
)
_ZH_FRAME = re.compile(
    r"以后|今后|从今(?:天|往后)?起?|一律|每次|总是|永远|别再|不要再|再也不要|请?记住|务必|必须|下次|也这样|往后|一定要?|先|默认|都|请|给我|好的|不对|都按这个来|[，。：:,.!！\s]"
)


VALUES_ZH = {
    "window": "靠窗", "aisle": "靠过道", "middle": "中间", "front": "前排", "English": "英文", "Chinese": "中文", "British English": "英式英语",
    "German": "德语", "French": "法语", "Spanish": "西班牙语", "Japanese": "日语", "none": "不用", "welcome": "可以用", "concise": "简洁", "detailed": "详细",
    "step by step": "分步", "bullet points": "要点", "formal": "正式", "informal": "随意", "friendly": "亲切", "metric": "公制", "imperial": "英制",
    "e mail": "邮件", "telephone": "电话", "text message": "短信", "WeChat": "微信", "DingTalk": "钉钉", "Feishu": "飞书", "credit card": "信用卡",
    "gift card": "礼品卡", "Alipay": "支付宝", "WeChat Pay": "微信支付", "invoice": "发票", "bank transfer": "转账", "company card": "公司卡",
    "basic economy": "基础经济舱", "economy": "经济舱", "business": "商务舱", "first": "头等舱", "vegan": "纯素", "vegetarian": "素食", "halal": "清真",
    "eats meat": "吃肉", "table": "表格", "tabs": "制表符", "spaces": "空格",
}  # fmt: skip
"""The listed values in Chinese: a memory speaks the language of its transcript."""


def slot_of(sentence: str) -> Slot:
    """Return subject, attribute and value of a statement. The subject is `user`; an attribute is always found, if need be from the words."""
    for attribute in ATTRIBUTES:
        if attribute.pattern.search(sentence):
            # Where both values are named ("not window but aisle"), the one told last is meant, unless it is the one refused.
            named = [
                (m.start(), value)
                for value, words in attribute.values
                for m in words.finditer(sentence)
                if not _refused(sentence, m.start())
            ]
            return Slot("user", attribute.name, max(named)[1] if named else "")
    return _by_object(sentence)


def _refused(sentence: str, position: int) -> bool:
    before = sentence[max(0, position - 18) : position].lower()
    return (
        re.search(
            r"(?:\bnot|\bnever|\bno|instead of|rather than|\bover|no longer|\bthan|不|别|而不是|不要|不再|don'?t (?:like|want))(?: the| an?"
            r"| my)? ?(?:坐|用|要|喜欢)?$",
            before,
        )
        is not None
    )


def _by_object(sentence: str) -> Slot:
    if match := _ALLERGY.search(sentence):
        return Slot("user", f"allergy to {_noun(match['en'] or match['en2'])}" if not match["zh"] else f"对{match['zh']}过敏", "")
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
        aspect = next((name for name, words in _ASPECTS if words.search(sentence)), "")
        return Slot("user", f"{thing} {aspect}".strip() if thing else unique_attribute(sentence), "")
    return Slot("user", content_key(sentence) or unique_attribute(sentence), "")


_ASPECTS = (
    ("name", re.compile(r"(?i)\b(?:is|are) called\b|叫")),
    ("age", re.compile(r"(?i)\byears? old\b|岁")),
    ("residence", re.compile(r"(?i)\blives? in\b|住")),
)
"""What is told about a person or thing: "my dog is called Pixel" and "my dog is three years old" are two attributes."""

_DISLIKES = frozenset({"hate", "dislike", "stand", "讨厌", "受不了"})


def _noun(phrase: str) -> str:
    """Return the phrase without what qualifies it from behind, articles and a verb of use: `drinking green tea in the morning` → `green tea`."""
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


_SCOPE = re.compile(
    r"(?i)(?:^|[.,;] ?)(?:for|in|on|at|from|during|when|whenever|while) (?P<head>(?!now\b|today\b|the future|future|me\b"
    r"|my (?:replies|answers))[^,]{2,60}), "
    r"|\b(?:on|for|in|at|during|when|while) (?P<tail>(?:my |the )?(?:long|short|work|business|internal|external|overnight"
    r"|international|domestic|week-?days?|"
    r"week-?ends?|winter|summer|mornings?|evenings?|night|nights|work|customers?|code|meetings?|holidays?|trips?|long-haul|hotels?"
    r"|travell?ing)\b[\w -]{0,30})"
    r"|\b(?P<now>this week|this month|today only|this time)\b"
    r"|^(?:以后|今后|另外|好的，)?(?:我)?(?P<zh>工作日|周末|夏天|冬天|出差(?:时|的时候)?|旅游(?:时|的时候)?|订酒店|订机票|长途(?:航班|飞行)|短途|这周|本周|这次|国内订单|海外订单|线上环境|测试环境"
    r"|给(?:[\u4e00-\u9fff]{1,6})的邮件|早饭|晚饭)"
)


def scope_of(sentence: str) -> str:
    """Return under which condition a statement holds, in its own words, lower case; empty = always."""
    match = _SCOPE.search(sentence)
    if not match:
        return ""
    scope = next(group for group in (match["head"], match["tail"], match["now"], match["zh"]) if group)
    return re.sub(r"(?i)^(?:my|the|our)\s+|\s+(?:i|please|and|but|only)\b.*$|(?:时|的时候)$", "", scope.strip()).lower()[:120]
