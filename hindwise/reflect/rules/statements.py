"""Plain statements of the user become preferences, facts, instructions and todos with a slot. English and Chinese.

Suppositions, jokes, questions and what others said are no statements of the user. When unsure, nothing is taken.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hindwise.model.memory import MAX_CONCLUSION_CHARS, Draft, Kind
from hindwise.model.turn import Origin
from hindwise.reflect import cues
from hindwise.reflect.rules import task_en, task_zh
from hindwise.reflect.rules.attributes import A_CALL, LISTED, VALUES_ZH
from hindwise.reflect.rules.deadlines import deadline_of, is_deadline
from hindwise.reflect.rules.once import is_of_once, outlasts
from hindwise.reflect.rules.slots import Slot, content_key, scope_of, slot_of, unique_attribute
from hindwise.reflect.rules.tidy import clause, not_when_of, one_liner
from hindwise.reflect.transcript import Language
from hindwise.safety.origin import looks_injected, trust_of
from hindwise.text.clean import one_line, truncate
from hindwise.text.cue import Cue
from hindwise.text.language import language_of
from hindwise.text.lazy_re import lazy_re
from hindwise.text.remembered import remembered

MAX_STATEMENT_CHARS = 300
"""A longer sentence is a story: it goes to the model, not to rules."""

_PREFERENCE = Cue(
    r"\bi(?:'d| would)? (?:really |strongly |much |still |always |usually )?(?:prefer|rather have|love|enjoy|hate|dislike)\b"
    r"|\bi(?:'d| would) rather\b"
    r"|\bi (?:really |also |much )?like (?!to (?:know|book|change|cancel|ask)|you to)\b|\bi (?:don'?t|do not|no longer"
    r"|never) (?:like|drink|eat|want to (?:get|see|receive)|enjoy|fly|use|take)\b"
    r"|\b(?:for|with|in|on|at) (?:anything|everything|any|every|all|each)\b[^.!?]{2,60}\bi(?:'d)? (?:want|need|like|expect)\b"
    r"|\bi (?:want|need|like|expect) (?:every|each) (?:\w+ ){1,3}(?:in|as|with)\b"
    r"|\bi (?:only|never) (?:ever )?(?:take|fly|use|eat|drink|buy|book|travel|work|want|accept|read|stay|sit|order|pay)\b"
    r"|\bi (?:can'?t|cannot) (?:bear|abide|deal with)\b|\bmy favou?rite\b|\bmy preferred\b|\bi(?:'ve| have) gone off\b"
    r"|\bi can'?t stand\b|\bi always (?:fly|take|use|sit|order|pay"
    r"|travel|book|eat|drink)\b"
    r"|我(?:更|最|很|比较|还是|其实|一直|也|现在)?(?:喜欢|爱(?:喝|吃|看|用|坐)|偏好|偏爱|习惯)|我(?:不再|不太|不|最不|从不"
    r"|再也不)(?:喜欢|爱|想|吃|喝|抽|坐|用|住)|我?(?:最)?(?:讨厌|受不了)"
    r"|我(?:们)?(?:都|一般|平时|一向|从来)?只(?:喝|吃|坐|住|用|要|看|买|接受|收|订|穿|飞)|我更?想要?(?:靠|坐|住)"
    r"|我(?:坐|乘|搭|住|去|出差|旅行|出门)[^，。？?]{0,6}只(?:喝|吃|坐|住|用|要|看|买|接受|收|订|穿|飞|选)"
    r"|我(?:这边|这里)?的习惯是|我们?(?:从来|一向|历来|向来)都?(?:是|用|填|写|按|要|只)|我们?(?:要|用|订)的一直都?是"
    r"|我们(?:周[一二三四五六日]|这边|这里|公司)?不(?:收|接受|上班|营业|卖)(?!了?[吗呢])"
    r"|我(?:最|很|特别|非常)(?:烦|怕|不喜欢|看重|在意)"
    r"|\b(?:mornings|afternoons|evenings|weekends|\w+days) (?:work|suit|are) (?:me )?(?:best|better)\b|\bmore of an? \w+ person\b"
    r"|我(?:一般|通常|平时)?(?:上午|早上|下午|晚上|周末|周[一二三四五六日])(?:都|比较|更|最)(?:方便|合适)|我(?:更愿意|宁愿|宁可|不太想)"
    r"|\bi (?:don'?t|do not|never) \w+ (?:\w+ ){0,3}(?:in the (?:mornings?|afternoons?|evenings?)|at night|on (?:weekends|\w+days))\b"
    r"|我(?:早上|上午|中午|下午|晚上|夜里|周末|平时)(?:都|从来?)?不(?![在能行方好舒])[\u4e00-\u9fff]{1,6}(?:的|[，。！!]|$)"
    r"|我们?从来不(?:要|用|看|喝|吃|坐|住|想|买|收)"
)
_FACT = Cue(
    r"\b(?:i|we)(?:'m|'re| am| are)? (?:now |currently |also )?(?:live|living|based|located|settled)\b|\b(?:i|we)(?:'ve"
    r"| have)? (?:just )?moved to\b|\bi (?:now )?work (?:at|for|as|from|in|out)\b"
    r"|\bi(?:'m| am) (?:severely |also )?(?:allergic|(?:an? )?(?:strict )?(?:vegan|vegetarian|pescatarian)"
    r"|diabetic|pregnant|left-handed|colou?r-?blind|based|retired"
    r"|an? (?!bit|little|gold|lot|few)(?:\w+ ){0,2}(?:engineer|developer|teacher|doctor|nurse|designer|manager|analyst|lawyer"
    r"|student|writer|scientist|accountant|consultant|architect))\b"
    r"|\bi(?:'ve| have) (?:been|had) (?:an? )?\w+(?: \w+){0,3} (?:since|for (?:years|\w+ years)|from birth|all my life)\b"
    r"|\b(?:since|as|because) i(?:'m| am) (?:\w+ )?(?:intolerant|allergic|diabetic|vegan|vegetarian|pregnant|deaf|blind|disabled"
    r"|coeliac|celiac)\b"
    r"|\bi(?:'m| am) (?:\w+[- ])?(?:intolerant|coeliac|celiac|deaf|blind|disabled|dyslexic|epileptic|asthmatic)\b"
    r"|\bi(?:'m| am) (?:on|in) (?:a wheelchair|parental leave|night shifts?)\b|\bi can(?:'?t|not) (?:climb|hear|see|lift|walk|drive"
    r"|read|digest|tolerate)\b"
    r"|\bwe(?:'re| are) (?:an? )?(?:team|family|company|group|household|startup|shop|party) of\b"
    r"|\bour (?:[a-z]+ ){0,2}[a-z]+ (?:starts?|begins?|ends?|opens?|closes?|runs? on|is based|is located)\b"
    r"|\bmy (?:wife|husband|partner|daughter|son|mother|father|mum|mom|dad|sister|brother|child|kids?|boss|team|company) "
    r"(?:uses|has|can'?t|cannot|doesn'?t|does not|works|speaks|suffers|hates|likes|eats|sits|starts|attends|goes)\b"
    r"|\bi (?:run|own|manage|lead|study|speak|teach) (?:a |an |my |the |at )?\w+|\bi have (?:a |an |two |three |no "
    r"|\d+ )(?:\w+ )?(?:kids?|children|daughters?|sons?|dogs?|cats?|allerg(?:y|ies)|brothers?|sisters?|team)\b"
    rf"|\bmy (?:full )?name is\b|\bcall me(?!{A_CALL}) [A-Z]"
    r"|\bmy (?:job|employer|company|boss|manager|wife|husband|partner|daughter|son|mother"
    r"|father|mom|dad|sister|brother|dog|cat|team|birthday|time ?zone|native language|mother tongue|e-?mail(?: address)?"
    r"|phone(?: number)?|address|doctor|home(?: airport| town)?|budget|allergy|blood type|school|title|role)\b(?:'s \w+)? (?:is|are"
    r"|has|'s|closes|starts|lives)\b"
    r"|\b(?:our|the) (?:main |team'?s )?(?:database|team|office|company|budget|stack|repo(?:sitory)?|api|time ?zone|deadline|launch"
    r"|supplier)\b (?:also )?(?:is|are|has|runs|needs|uses|times|allows)\b|\bsince i(?:'m| am) (?:vegan|vegetarian|allergic"
    r"|diabetic|pregnant)"
    r"|我(?:现在|目前|今年|从今年起|已经)?(?:住在|搬到|搬去|定居)|我家在|我(?:现在|目前)?在.{1,16}(?:上班|工作|任职|就职"
    r"|做[\u4e00-\u9fff]{2,8})|我叫(?![了的过车人您你他她它])|我的名字"
    r"|叫我[\u4e00-\u9fffA-Z]|称呼我|我对.{1,12}过敏|我有(?:糖尿病|高血压|哮喘|.{1,3}个(?:孩子|儿子|女儿))"
    r"|我是(?:一?[名个位])?(?!会员|成员|新用户)[\u4e00-\u9fff]{1,8}(?:师|员|医生|老师|学生|经理|律师|程序员|教授|素食者|独生子)|我的(?:生日|职业|工作"
    r"|老家|家乡|邮箱|手机|电话|地址|血型|母语|公司|预算)"
    r"(?=[^，。！？]{0,8}(?:是|在|为|叫|有|改|变|换|[:：\d]|大概|大约|不超过|最多|左右))|我(?:妈妈"
    r"|爸爸|妻子|太太|丈夫|女儿|儿子|孩子|哥哥|姐姐)(?:今年|现在|已经|在(?=.{1,12}(?:上班|工作|任职|上学|读|念|留学|当|教|住))|是|对|有|叫|不|会|住|读|上(?![次个周月面回]))|我们(?:团队|公司|组)(?:一共|总共|(?:都)?(?:有|是|在|用|做|主营|叫|要|支持|[\d一二两三四五六七八九十]))"
    r"|我(?:们?(?:全|一)?家人?)?都?吃素|我(?:在孕期|怀孕了)"
    r"|我从今年起|另外我"
    r"|我(?:\S{0,8}岁起|从小|一直|天生)就?(?:有|是|患|对)|我(?:有|患有?)(?:\S{0,4}(?:病|症|炎|过敏|障碍))|我\S{1,6}不耐受"
    r"|(?<![帮给替为让])我在[\u4e00-\u9fff]{2,14}?(?:教(?!我)|当(?!前|天|地|时)|任教|读(?:书|大学|研|博|高|初))[\u4e00-\u9fff]{0,8}"
    r"|我(?:先生|老公|老婆|爱人|媳妇|爷爷|奶奶|外公|外婆|姥姥|室友|母亲|父亲|妹妹|弟弟)(?:今年|在(?=.{1,12}(?:上班|工作|任职|上学|读|念|留学|当|教|住))|是|对|有|叫|坐|住|用|不|只)"
    r"|我(?:现在|目前|已经|最近|刚)?(?:改|转|调)(?:到|去|在)了?[^，。？]{1,16}(?:上班|工作|任职|就职)"
    r"|我(?:妈|爸|姐|哥|弟|妹)(?:今年|在(?=.{1,12}(?:上班|工作|任职|住))|是|对|有|叫|不(?!要|用)|住|吃|喜欢)"
    r"|我(?:家(?:里)?)?(?:有|养了?)[一两二三四五六七八九十\d]+[只条匹](?:小|大)?[\u4e00-\u9fff]{1,4}[，。！!,.]?$"
    r"|我(?:爬不了|听不见|看不清|走不了|提不动|开不了|吃不了|喝不了|不能(?:吃|喝|爬|久站|开车|喝酒))"
    r"|我们?(?:公司|团队|学校|店里?|单位|家)的?[\u4e00-\u9fff]{1,8}(?:从|在|是).{1,12}(?:开始|结束|开门|关门|起算)"
    r"|\bwe have (?:an? |our |two |three )?(?:\w+ )?(?:office|warehouse|branch|shop|store|plant|factory)(?:e?s)? in\b"
    r"|\b(?:my|our) (?:\w+ ){1,3}(?:is|are) called\b|\bi work (?:\w+ )?(?:nights|night shifts?|early shifts?|late shifts?|weekends)\b"
    r"|\b(?:our|the|my) (?:shop|office|store|warehouse|school|practice|clinic) (?:is|are) (?:closed|open) (?:on|from|until)\b"
    r"|我们在.{2,10}(?:也|还)?有.{0,4}(?:办公室|仓库|分店|门店|分公司|工厂)|我们?的?(?:会计|律师|医生|助理|秘书|老板|同事|供应商)叫"
    r"|\bwe(?:'re| are) (?:all |both )?(?:vegans?|vegetarians?|muslims?|jewish)\b"
    r"|\b(?:is|are) (?:now )?(?:responsible for|in charge of) (?:our|the|my)\b"
    r"|(?:由|归)[\u4e00-\u9fff]{2,10}(?:负责|签字|审批|管理?|接手|对接)(?:了|的)?[。！!]?$"
    r"|我(?:一般|平时)?(?:上|值)[夜早晚白]班|(?:店里?|公司|办公室|仓库|诊所|学校).{0,4}周[一二三四五六日末](?:不营业|休息|关门|不开)"
    r"|我(?![们的]).{0,2}[\u4e00-\u9fff]{1,4}过敏|我们?(?:公司)?的?(?:财年|财务年度|会计年度|学年).{0,8}(?:开始|结束|起算)"
    r"|我们?(?:仓库|公司|办公室|总部|店铺?|工厂|学校)(?:是|就)?在(?!等|找|催|开会|排|搞|查|.{0,6}(?:吗|哪))"
    r"|我们(?:这边|这里|公司|部门)?的[\u4e00-\u9fff]{2,6}都(?:是|在)|我们?(?:内部|这边|这里|平时)?(?:说的?|叫的?)[“「][^”」]{1,12}[”」](?:就?是)?指"
    r"|我(?:儿子|女儿|孩子)[^，。]{0,8}(?:上学|入学|上(?:小学|初中|高中|大学|幼儿园)|毕业|开学)"
)
_MOMENTARY = Cue(
    r"\bis (?:\w+ly )?(?:still )?(?:waiting|sick|ill|stuck|broken|locked|blocked|asleep|crying|out of order|on (?:his|her|the) way)\b"
    r"|\b(?:right now|at the moment|this minute)\b"
    r"|今天|刚才|刚刚|正在|被(?:锁|吞|拒|封|冻结|扣)|等着|等了|在等|排队|发烧|坏了|停电|断网|断了|丢了|没到|打不通|登不上|请假|住(?:在)?\d+号?(?:房|室)"
    r"|在(?:开会|发烧|催|排队|忙|路上|楼下|门口)|现在[^，。]{0,8}(?:停|断|没|坏|堵)|我的(?:手机|电话|地址|邮箱)是[^，。]{1,8}的(?:[，。！]|$)"
)
"""How things stand while somebody asks for help: gone tomorrow, no fact about a person."""
_CLAUSE_END = lazy_re(r"[，。！？；,.!?;]")


def _is_fact(bare: str) -> bool:
    """Something lasting that the user tells of himself, his people or his work."""
    match = _FACT.search(bare)
    if match is None or _TASK_BOUND.search(bare):
        return False
    end = _CLAUSE_END.search(bare, match.end())
    return _MOMENTARY.search(bare[match.start() : end.end() if end else len(bare)]) is None


_QUESTION = lazy_re(r"[?？]\s*$|(?:吗|呢)[。\s]*$|多少钱|怎么(?:办|改|样)[？?。]?$")
_TASK_BOUND = Cue(
    r"\b(?:reservation|booking|order|confirmation|ticket|flight|invoice|user|account|card|tracking)(?: id| number"
    r"| code)?\b.{0,12}\b(?:is|are)\b|订单号|单号|编号"
)
"""Said to get this one task done: true today, no memory."""

_IMPORTANCE = {Kind.INSTRUCTION: 8, Kind.PREFERENCE: 7, Kind.FACT: 6, Kind.TODO: 6}
_CONFIDENCE = {Kind.INSTRUCTION: 0.85, Kind.PREFERENCE: 0.85, Kind.FACT: 0.8, Kind.TODO: 0.7}

MAX_READ_CHARS = 12_000
"""Of one turn: what is longer is a document, not a person's words."""


class Statement(NamedTuple):
    """One sentence of the user, and what it is."""

    kind: Kind
    sentence: str
    retracts: bool


_SENTENCE_END = lazy_re(r"(?<=[.!?])\s+|(?<=[。！？；;])")
_BEFORE_QUESTION = lazy_re(r"(?i)((?:since|as|because) i(?:'m| am) [^,]{3,60}|我[^，。？?]{2,40})[,，](?=.{2,}[?？]$)")


@remembered(256)  # several readers of an episode ask for the same messages
def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, in order; a leading clause before a question is one of its own."""
    # Full stops inside of quotation marks end no sentence of the speaker.
    held = cues.QUOTED.sub(lambda match: match[0].replace("。", "\ue001").replace(". ", "\ue002"), text[:MAX_READ_CHARS])
    parts: list[str] = []
    for line in held.splitlines():
        parts += [part.strip() for part in _SENTENCE_END.split(line) if part.strip()]
    whole: list[str] = []
    for part in parts:
        head = _BEFORE_QUESTION.match(part) if part.endswith(("?", "？")) else None
        whole += [head[1]] if head else [part]
    return tuple(part.replace("\ue001", "。").replace("\ue002", ". ") for part in whole)


@remembered(512)  # several readers of an episode ask for the same sentences
def kind_of(sentence: str) -> Kind | None:
    """Return what a sentence of the user states, or None: no statement, or not the user's own."""
    if len(sentence) > MAX_STATEMENT_CHARS:
        return None
    sentence = sentence.replace("’", "'")
    bare = cues.QUOTED.sub("", sentence) if cues.REPORTED.search(sentence) else sentence
    if looks_injected(sentence) or cues.is_filler(sentence) or _no_statement(bare):
        return None
    if _QUESTION.search(bare) and not _asks_for_good(bare):
        return None
    changes = cues.CHANGE.search(bare) is not None
    once = is_of_once(bare)
    due = deadline_of(bare) is not None  # "remember that the report is due Friday" tells a day, and orders nothing
    known = changes and not once and not due and slot_of(bare).value != ""
    rules = (
        (Kind.TODO, cues.UNFINISHED.search(bare) and not cues.is_standing(bare)),
        (
            Kind.PREFERENCE,
            known and not _FACT.search(bare) and (cues.is_standing(bare) or not _TODAY.search(bare)),
        ),  # "aisle seats from now on": a known attribute changes its value
        (Kind.FACT if due else Kind.INSTRUCTION, cues.is_standing(bare) and not once and not _PROMISE.search(bare)),
        (Kind.PREFERENCE, _PREFERENCE.search(bare) and not _only_now(bare)),
        (Kind.FACT, _is_fact(bare)),
    )
    return next((kind for kind, holds in rules if holds), None)


_TODAY = Cue(
    r"\b(?:want|like|need|wish|decided|remembered) (?:that i )?(?:also |now )?(?:want )?to (?:also )?(?:change|book|cancel"
    r"|modify|upgrade"
    r"|downgrade|switch|move|reserve|order|buy|choose)\b|我(?:还)?(?:想|要)(?:把|改|换|订|取消|退)"
)
"""Asked for today, though it names a listed attribute."""
_PROMISE = Cue(r"\bi(?:'ll| will) (?:make sure|try|remember|have|be|do|check|look|bring|keep)\b|我(?:下次|以后)?会")
"""What the user will do is no order to the agent."""
_WOULD = lazy_re(r"(?i)\b(?:'d|would) (?:really |much )?(?:prefer|rather|love)\b")


def _only_now(bare: str) -> bool:
    """ "I would prefer …" is mostly said to get one task done: it counts where it tells a listed attribute with a value."""
    return _WOULD.search(bare) is not None and not slot_of(bare).value


_ASKED = lazy_re(r"(?i)^\W*(?:could|can|would|will) you\b|^\W*(?:能不能|可不可以|可以|能否|麻烦)")


def _asks_for_good(bare: str) -> bool:
    """ "Could you … from here on?" is an order, politely."""
    return _ASKED.match(bare) is not None and re.search(_FOR_GOOD, bare) is not None


_FOR_GOOD = (
    r"(?i)\bfrom (?:now|here|this point|today) on|\bgoing forward\b|\bin (?:the )?future\b|\b(?:always|never)\b|以后|今后|从现在起"
    r"|从今|一律"
)


def _no_statement(bare: str) -> bool:
    return any(pattern.search(bare) for pattern in (cues.HYPOTHETICAL, cues.JOKE, cues.PAST))


def statements_of(text: str) -> Iterator[Statement]:
    """Yield the statements of a user's turn, in order."""
    if cues.SARCASM.search(text[:400]):
        return
    before: Kind | None = None
    for sentence in sentences_of(text):
        if told := _mixed(sentence):
            yield from (Statement(each, clause, cues.RETRACTION.search(clause) is not None) for each, clause in told)
        elif kind := kind_of(sentence):
            if kind is before is Kind.TODO and _POINTS_BACK.search(sentence):
                continue  # "Let's do that next week" says when, of what was just said to be open
            before = kind
            retracts = cues.RETRACTION.search(sentence) is not None
            for part in _parts(sentence) if kind in (Kind.PREFERENCE, Kind.INSTRUCTION) else (sentence,):
                yield Statement(kind, part, retracts)


_POINTS_BACK = lazy_re(
    r"(?i)\b(?:do|finish|continue|pick up|handle|remind me (?:of|about)) (?:that|this|it|those|them|the rest)\b"
    r"|^\W*(?:那|就|等|先)*(?:明天|下周|下次|改天|回头|以后|晚点|过后)(?:再|继续)(?:说|做|弄|办|来|处理|搞)?吧?[。！!]?$"
)
"""An open end whose object stands in the sentence before."""

_CLAUSE = lazy_re(r"[，,；;]\s*(?:and\b|而且|并且)?|(?i:\band\b)(?=\s+I\b)")


def asks_too(sentence: str) -> bool:
    """True for a statement that also asks for something today: the sentence holds a task besides."""
    return bool(_mixed(sentence))


def _mixed(sentence: str) -> list[tuple[Kind, str]]:
    """The statements of a sentence that also asks for today's task: each clause is one of its own, and the task is none.

    "帮我订酒店，我对海鲜过敏，以后房间都要高楼层" is a task, a fact and a standing wish. Empty where the sentence is of one piece.
    """
    clauses = [clause.strip() for clause in _CLAUSE.split(sentence) if clause.strip()]
    if len(clauses) < 2:
        return []
    kinds = [kind_of(clause) for clause in clauses]
    once = is_of_once(sentence)
    told = [
        (kind, clause)
        for kind, clause in zip(kinds, clauses, strict=True)
        if kind and not (once and kind is Kind.INSTRUCTION and not outlasts(clause))
    ]
    if not all(content_key(clause) for _, clause in told):
        return []  # ", every time" only says how far the rest holds
    asks = any(kind is None and _REQUEST.match(clause) for kind, clause in zip(kinds, clauses, strict=True))
    asks = asks or bool(told and kinds[0] is None and _asks(clauses[0]))
    return told if asks else []


def _asks(clause: str) -> bool:
    """A clause that opens the sentence with a request in plain words: "Book a hotel in Bern, and …" / 「在成都订个酒店，…」."""
    if len(clause) > MAX_STATEMENT_CHARS:
        return False
    read = (task_zh if language_of(clause) == "zh" else task_en).request_of
    return cues.CHANGE.search(clause) is None and (request := read(clause)) is not None and request.asks == "to"


_REQUEST = lazy_re(
    r"(?i)(?:请|麻烦)?(?:帮我|帮忙|替我|给我|我想要?|我要|我需要)|(?:please|can you|could you|would you|help me|i need to|i want to)\b"
)
"""How a clause begins that asks for today's task."""

_OF_ONESELF = lazy_re(r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur)\b|我")


def _parts(sentence: str) -> list[str]:
    """The clauses of a sentence that sets several listed attributes at once, else the sentence."""
    clauses = [clause.strip() for clause in re.split(r"[，,；;]|(?i:\band\b)", sentence) if clause.strip()]
    told = {slot.attribute: clause for clause in clauses if (slot := slot_of(clause)).value and slot.attribute in LISTED}
    return list(told.values()) if len(told) > 1 else [sentence]


# --- as drafts ------------------------------------------------------------------------------------------------------------------------


def _value(slot: Slot, sentence: str, language: Language) -> str:
    if slot.value:
        return VALUES_ZH.get(slot.value, slot.value) if language == "zh" else slot.value
    return truncate(clause(sentence, language), 300)


def draft_of(statement: Statement, language: Language, origin: Origin) -> Draft:
    """Return the draft for one statement, without evidence: whoever knows the turn adds it."""
    slot = slot_of(statement.sentence)
    return Draft(
        kind=statement.kind,
        conclusion=one_liner(statement.sentence, language, slot),
        not_when=not_when_of(statement.sentence),
        subject=slot.subject,
        attribute=truncate(slot.attribute, 200),
        scope=scope_of(statement.sentence, slot.attribute),
        value=_value(slot, statement.sentence, language),
        language=language,
        importance=_IMPORTANCE[statement.kind],
        confidence=_CONFIDENCE[statement.kind],
        origin=origin,
        trust=trust_of([origin]),
        retracts=statement.retracts,
    )


def classify_statement(text: str, origin: Origin = Origin.USER) -> Draft:
    """Return exactly one draft for a sentence that somebody wants kept: kind, slot and value as read from its words.

    What is no recognised statement becomes a fact with an attribute of its own, so that a bare note never supersedes another. The
    conclusion keeps the words as they are (at most 160 characters; the whole text, at most 1,000, stands in `value`).
    Raises ValueError for a blank text.
    """
    line = one_line(text)
    if not line:
        raise ValueError("an empty text cannot be remembered: send what should be kept")
    language = language_of(line)
    asked = re.sub(r"(?i)^(?:please )?(?:remember|note|keep in mind)(?: that|:|,)?\s+|^请?(?:记住|记下|注意)[：:，,]?\s*", "", line) or line
    kind = kind_of(asked) or kind_of(line)
    is_one = len(sentences_of(line)) == 1
    if kind is None or not is_one:
        slot = slot_of(asked) if is_one else Slot("user", unique_attribute(line), "")
        # Only a listed attribute, told by a person of themselves or with a known value, may stand in a shared slot: anything else could
        # close an unrelated note.
        listed = slot.attribute in LISTED and (slot.value or _OF_ONESELF.search(asked))
        shared = is_one and (listed or is_deadline(slot.attribute)) and not _no_statement(asked)
        slot = slot if shared and not _QUESTION.search(asked) else Slot("user", unique_attribute(line), "")
        kind = kind or Kind.FACT
        scope = scope_of(asked, slot.attribute) if shared else ""
    else:
        slot, scope = slot_of(asked), scope_of(asked, slot_of(asked).attribute)
    return Draft(
        kind=kind,
        conclusion=truncate(line, MAX_CONCLUSION_CHARS),
        subject=slot.subject,
        attribute=truncate(slot.attribute, 200),
        scope=scope,
        value=truncate(_value(slot, line, language) if slot.value else line, 1_000),
        language=language,
        importance=_IMPORTANCE.get(kind, 5),
        confidence=0.9,
        origin=origin,
        trust=trust_of([origin]),
        retracts=cues.RETRACTION.search(line) is not None,
    )
