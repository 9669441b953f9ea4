"""Statements as one-liners about the user: "Prefers aisle seats (back problem)", 「希望回答简洁」. Courtesy, openings and hedges go.

Where the attribute and its value are listed, a fixed sentence says them; else the user's own clause in the third person.
"""

import re

from hindwise.model.memory import MAX_CONCLUSION_CHARS
from hindwise.reflect.rules.attributes import VALUES_ZH
from hindwise.reflect.rules.slots import Slot
from hindwise.reflect.rules.wording import whole
from hindwise.reflect.transcript import Language
from hindwise.text.clean import one_line
from hindwise.text.lazy_re import lazy_re

_TEMPLATES: dict[str, tuple[str, str]] = {
    "seat": ("Prefers {} seats", "喜欢{}的座位"),
    "answer language": ("Wants answers in {}", "希望用{}回答"),
    "answer style": ("Wants {} answers", "希望回答{}"),
    "tone": ("Wants a {} tone", "希望语气{}"),
    "units": ("Wants {} units", "使用{}单位"),
    "cabin class": ("Prefers {} class", "偏好{}"),
    "package manager": ("Uses {}", "使用 {}"),
    "indentation": ("Indents with {}", "用{}缩进"),
}
_FIXED: dict[tuple[str, str], tuple[str, str]] = {
    ("answer style", "step by step"): ("Wants step-by-step answers", "希望分步回答"),
    ("answer style", "bullet points"): ("Wants answers in bullet points", "希望分要点回答"),
    ("tone", "informal"): ("Wants an informal tone", "希望语气随意"),
    ("emoji", "none"): ("Wants no emojis", "不希望使用表情符号"),
    ("emoji", "welcome"): ("Likes emojis", "喜欢表情符号"),
    ("cabin class", "basic economy"): ("Prefers basic economy", "偏好基础经济舱"),
}
_CONDITION = lazy_re(r"(?i)\b(?:when|whenever|while|if|where|in case)\b|(?:的?时候?|的话)(?=[，,\u4e00-\u9fff])|如果|要是|凡是")
"""A wish that holds only then: the fixed sentence would drop it."""
MAX_PLAIN_WORDS = 16
MAX_PLAIN_CHARS_ZH = 26
"""A longer statement says more than its value: it is told in its own words."""

_NEGATION = lazy_re(r"(?i)\b(?:not|never|no|nor|without|unless|except|avoid|only|but)\b|n't\b|不|别|除|仅|只")
_REASON = lazy_re(
    r"(?i)[,;]?\s*\b(?:because of|due to|because|since(?! i'?m)|as)\s+(?P<why>(?:my|i|the|of)\b[^,.;!?]{3,50})"
    r"|[,;]\s*(?P<own>my \w+(?: \w+)? (?:needs?|hurts?|aches?|requires?|likes?|is|are|can'?t)\b[^,.;!?]{0,30})"
)
_REASON_ZH = lazy_re(
    r"[，,；]?\s*因为(?P<why>[^，。；！!]{2,20})|[，,；]\s*(?P<own>我?的?[\u4e00-\u9fff]{1,4}(?:不好|不舒服|疼|痛|受伤了?"
    r"|需要)[^，。；！!]{0,8})"
)

# --- openings that are no part of a statement -----------------------------------------------------------------------------------------

_OPENING = lazy_re(
    r"(?i)^\W*(?:(?:(?:no|yes|sure|certainly|of course|got it|alright|great|perfect|well|actually|sorry|wait|ok(?:ay)?|also|and|so|but|oh"
    r"|hi|hello|hey|thanks|thank you|by the way|btw|fyi"
    r"|that(?:'s| is| was) (?:wrong|incorrect|not right|not correct)|for the next (?:ones?|times?)|one (?:more|other) thing"
    r"|honestly|in fact|please|kindly|not like that|on second thou?ghts?|correction|just so you know|for the record"
    r"|(?:please )?(?:remember|note|keep in mind)(?: that)?|from (?:now|today) on|from today|going forward|in (?:the )?future"
    r"|next time|henceforth|i think|i guess|i suppose|i believe|maybe|i(?:'ve| have)? changed my mind"
    r"|in short|since(?= i'?m\b))\b|[-,.!:;])[\s,.!:;]*)+"
)
_ASIDE = lazy_re(
    r"(?i),?\s*\b(?:please|from now on|from today(?: on)?|going forward|in (?:the )?future|henceforth|if you (?:can|could|don'?t mind)"
    r"|if possible|thanks|thank you|i think|i guess|kindly|for me)\b(?=\s*[,.!;:]|\s|$)"
)
_OPENING_ZH = lazy_re(
    r"^(?:(?:(?:好的?|对|是的?|不对|不是|等等|其实|那个?|嗯|可能|也许|还有)[了啊呀吧]?[，,。：:；！!、\s]+"
    r"|好的|不对(?!称|劲)|等等|另外|还有|请(?!求|假|客|示|教)|麻烦你?您?|请?(?:记住|记得|注意)|我?改(?:变)?主意了|以后|今后"
    r"|从今(?:天|往|以)?后?起?|从现在(?:开始|起)|往后|下次|帮我|给我|我觉得|我想|谢谢你?|说了这么多|就?一个要求)(?:都"
    r"|也)?[，,。：:；！!、\s]*)"
)
_ASIDE_ZH = lazy_re(r"[，,]?(?:下次也这样|(?:以后)?都按这个来|谢谢你?|好吗|可以吗|行吗|麻烦了|吧)(?=[，。！!？?]|$)")

_VERB_S = lazy_re(r"(?:s|x|z|ch|sh|o)$")
_IRREGULAR = {"have": "has", "do": "does", "am": "is", "was": "was", "went": "went", "bought": "bought", "got": "got", "had": "had"}
_PAST = frozenset(
    [
        "went",
        "bought",
        "got",
        "had",
        "was",
        "did",
        "made",
        "took",
        "lost",
        "broke",
        "began",
        "met",
        "left",
        "came",
        "gave",
        "told",
        "knew",
        "can",
        "must",
        "may",
        "might",
        "will",
        "would",
        "could",
    ]
)
_ADVERBS = r"(?:no longer|never|always|now|also|really|usually|still|only|strongly|much|mostly|currently|just|already|often)"


def _third(verb: str) -> str:
    low = verb.lower()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low in _PAST or low.endswith("ed"):
        return low
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return low[:-1] + "ies"
    return low + ("es" if _VERB_S.search(low) else "s")


_CONTRACTED = (
    (r"\bi(?:'d| would) (?:really |much )?(?:prefer|rather have|love)\b", "i prefer"),
    (r"\bi(?:'d| would) rather\b", "i would rather"),
    (r"\bi(?:'d| would) like\b", "i want"),
    (r"\bi(?:'m| am)\b", "i is"),
    (r"\bi(?:'ve| have) (?=\w+(?:ed|ne|en|ut|ot)\b)", "i has "),
    (r"\bi(?:'ll| will)\b", "i will"),
    (r"\bi(?:'ve)\b", "i has"),
    (r"\bi (?:don'?t|do not)\b", "i does not"),
    (r"\bi (?:can'?t|cannot)\b", "i cannot"),
    (r"\bi didn'?t\b", "i did not"),
)
_SAID = frozenset(("is", "has", "does", "cannot", "did", "will", "would"))


def one_liner(sentence: str, language: Language, slot: Slot) -> str:
    """Return the statement about the user in at most 160 characters, without a full stop."""
    told = _by_template(sentence, language, slot)
    return told or whole(clause(sentence, language), MAX_CONCLUSION_CHARS)


def _by_template(sentence: str, language: Language, slot: Slot) -> str:
    """The fixed sentence of a listed value with its reason; empty where the statement says more or denies something."""
    pair = _FIXED.get((slot.attribute, slot.value)) or _TEMPLATES.get(slot.attribute)
    if not slot.value or not pair:
        return ""
    zh = language == "zh"
    reason = (_REASON_ZH if zh else _REASON).search(sentence)
    rest = sentence.replace(reason[0], "") if reason else sentence
    bare = _OPENING.sub("", rest) if not zh else _without_openings_zh(rest)
    if (slot.attribute != "emoji" and _NEGATION.search(bare)) or _CONDITION.search(bare):
        return ""
    if len(bare) > MAX_PLAIN_CHARS_ZH if zh else len(bare.split()) > MAX_PLAIN_WORDS:
        return ""
    line = pair[zh].format(VALUES_ZH.get(slot.value, slot.value) if zh else slot.value)
    why = _why(reason["why"] or reason["own"], language) if reason else ""
    return f"{line}（{why}）" if why and zh else f"{line} ({why})" if why else line


def _why(text: str, language: Language) -> str:
    if language == "zh":
        return re.sub(r"^我的?", "", text).strip("了的，。 ")
    text = re.sub(r"(?i)^of ", "", text.strip())
    noun = re.fullmatch(r"(?i)my ((?:\w+ ){0,2}(?:problems?|pain|injury|condition|allergy|knees?|back|legs?|height))", text)
    if noun:
        return noun[1].lower()
    told = clause(text, language)
    told = told[:1].lower() + told[1:]
    return re.sub(r"^the user's\b", "their", told)


def clause(sentence: str, language: Language) -> str:
    """Return the user's clause in the third person, without courtesy and openings."""
    line = one_line(sentence).replace("’", "'")
    return _clause_zh(line) if language == "zh" else _clause_en(line)


def _clause_en(line: str) -> str:
    text = _ASIDE.sub("", _OPENING.sub("", line)).strip(" ,;:.!") or line
    text = re.sub(r"(?i)^(?:i (?:want|need|would like|'d like) you to|you (?:should|must)|can you|could you)\s+", "", text)
    given = re.match(r"(?i)(?P<how>always |never )?(?:please )?(?:give|send|show|get) me (?P<what>.+)", text)
    if given:
        how = {"always": "Always wants", "never": "Never wants"}.get((given["how"] or "").strip().lower(), "Wants")
        text = f"{how} {given['what']}"
    text = re.sub(r"(?i)^remind me (?:to|about) ", "", text)
    text = re.sub(r"^[Ww]e(?:'ve| have)? (?=(?:just )?moved\b|live\b)", "I ", text)
    text = re.sub(r"\b(?:w|W)e(?:'re| are)\b", "the user's group is", text)
    for short, full in _CONTRACTED:
        text = re.sub(f"(?i){short}", full, text)
    opens = re.match(r"(?i)i\b", text) is not None
    text = re.sub(
        rf"\b[iI] (?P<adverbs>(?:{_ADVERBS} )*)(?P<verb>[a-z]+)\b",
        lambda m: f"\ue000 {m['adverbs']}{m['verb'] if m['verb'] in _SAID else _third(m['verb'])}",
        text,
    )
    text = re.sub(r"^\ue000 ", "", text)
    text = re.sub(r"\b(and|so|but|or) \ue000 ", r"\1 " if opens else r"\1 the user ", text).replace("\ue000", "the user")
    text = re.sub(r"^(?:[Mm]y|[Oo]ur)\b", "The user's", text)
    for own, their in (
        (r"\b[Mm]yself\b", "themselves"),
        (r"\b(?:mine|ours)\b", "theirs"),
        (r"\b(?:my|our)\b", "their"),
        (r"\bme\b", "them"),
    ):
        text = re.sub(own, their, text)
    text = re.sub(r"\bI\b", "the user", text)
    text = re.sub(r"\bwe\b", "they", re.sub(r"\bus\b", "them", text))
    return text[:1].upper() + text[1:]


def _without_openings_zh(line: str) -> str:
    text = line
    for _ in range(4):
        text = _OPENING_ZH.sub("", text)
    return _ASIDE_ZH.sub("", text)


def _clause_zh(line: str) -> str:
    text = _without_openings_zh(line).strip(" ，,。；;：:！!") or line
    text = re.sub(r"我们(?=团队|公司|组|部门|家)", "用户的", text)
    text = re.sub(r"^我(?=们?(?:的|团队|公司|家|妈|爸|妻|太太|丈夫|女儿|儿子|孩子|哥|姐|弟|妹))", "用户", text)
    text = re.sub(r"^我(?!们)|(?<=[，,])我(?=[\u4e00-\u9fff])(?!们|的|妈|爸|妻|太太|丈夫|女儿|儿子|孩子|家)", "", text)
    text = re.sub(r"(?<=[\u4e00-\u9fff])我(?=只|都|一般|通常|习惯|喜欢|偏好)|给我(?=推荐|发|订|安排|做|写)", "", text)
    return re.sub(r"我(?!们)", "用户", text.replace("用户们", "用户方").replace("我们", "用户方"))


_EXCEPT = lazy_re(
    r"(?i)\b(?:unless|except (?:when|if|for|in|on))\s+(?P<en>[^.;!?]{3,80})"
    r"|除非(?P<zh>[^，。；！!]{2,40})|除了(?P<zh2>[^，。；！!]{1,30}?)(?:以外|之外|时)"
)


def not_when_of(sentence: str) -> str:
    """Return the exception that a statement names, in its own words; empty where it names none."""
    match = _EXCEPT.search(sentence)
    if not match:
        return ""
    return clause(match["en"], "en").lower() if match["en"] else (match["zh"] or match["zh2"]).strip()
