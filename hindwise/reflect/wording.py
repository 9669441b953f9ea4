"""How conclusions are worded: one line of at most 160 characters, "When …, …, because …" / 「当…时,…,因为…」."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hindwise.model.episode import Episode, OutcomeStatus
from hindwise.model.memory import MAX_CONCLUSION_CHARS
from hindwise.reflect.transcript import Language, user_turns
from hindwise.safety.personal import find_personal, scrub
from hindwise.text.clean import one_line, truncate

MAX_TASK_CHARS = 64
"""Leaves room for tools and cause in one conclusion."""

MAX_FIRST_CHARS = 1_000
"""Of a goal or first message: what is longer is material, not the request."""

STATUS = {
    "en": {"success": "success", "partial": "partial success", "failure": "failure", "aborted": "an abort", "unknown": "an unknown way"},
    "zh": {"success": "成功", "partial": "部分成功", "failure": "失败", "aborted": "中止", "unknown": "结果未知"},
}


def status_word(status: OutcomeStatus, language: Language) -> str:
    """The outcome as a noun."""
    return STATUS[language][str(status)]


def say(language: Language, en: str, zh: str) -> str:
    """The sentence of the two that fits."""
    return zh if language == "zh" else en


def listed(names: Sequence[str], language: Language, *, at_most: int = 3) -> str:
    """`a, b and c` / 「a、b 和 c」, the rest counted."""
    shown, rest = list(names[:at_most]), len(names) - at_most
    if rest > 0:
        return say(language, f"{', '.join(shown)} and {rest} more", f"{'、'.join(shown)} 等{len(names)}项")
    if len(shown) < 2:
        return "".join(shown)
    return say(language, f"{', '.join(shown[:-1])} and {shown[-1]}", f"{'、'.join(shown[:-1])} 和 {shown[-1]}")


def chain(names: Sequence[str], *, at_most: int = 5) -> str:
    """`a → b → c`; a long chain keeps its end, where it was decided."""
    shown = list(names) if len(names) <= at_most else ["…", *names[-(at_most - 1) :]]
    return " → ".join(shown)


def when(language: Language, condition: str, action: str, because: str) -> str:
    """Compose a lesson in at most 160 characters. What is too long is cut at a word: the condition first, then the action.

    `because` is short by design (at most 60 characters): a lesson without its reason is an order.
    """
    frame_en, frame_zh = "When {}, {}, because {}.", "当{}时，{}，因为{}。"
    frame = say(language, frame_en, frame_zh)
    room = MAX_CONCLUSION_CHARS - len(frame.format("", "", ""))
    because = truncate(because, 64)
    if language == "zh" and condition[:1].isascii():
        condition = f" {condition}"
    condition = _cut(condition, max(28, room - len(action) - len(because)))
    action = truncate(action, max(24, room - len(because) - len(condition)))
    condition = _cut(condition, max(16, room - len(action) - len(because)))
    if condition.count('"') % 2:
        condition = truncate(condition, len(condition) - 1) + '"'
    return truncate(frame.format(condition, action, because), MAX_CONCLUSION_CHARS)


# --- what an error says, without the values of one case -------------------------------------------------------------------------------

_UNIT = r"(?:%|[KMG]?B\b|ms\b|s\b|seconds?|minutes?|hours?|days?|requests?|characters?|tokens?|per\b|次|秒|分钟|小时|天|字|个|位|元|条|页)"
_FREE_NUMBER = re.compile(rf"(?<![\w.-])(?<!HTTP )(?<!status )(?<!code )(?<!Status )\d+(?:[.,:/-]\d+)*(?![\w-])(?!\s?{_UNIT})")


def general_error(error: str, names: Collection[str], language: Language) -> str:
    """Return the error without the values of this one case: ids and free numbers become `…` (left out in Chinese text)."""
    text = one_line(error)
    for span in reversed(find_personal(text, names=names)):
        text = text[: span.start] + "…" + text[span.end :]
    is_chinese = any("\u4e00" <= c <= "\u9fff" for c in text)
    text = _FREE_NUMBER.sub("" if is_chinese else "…", text)
    text = re.sub(r"\s+", "" if is_chinese and not re.search(r"[A-Za-z]", text) else " ", text)
    text = re.sub(r"(?:… ?){2,}", "… ", text).replace("… ,", "…,").strip(" .。,，;；")
    return truncate(text, 90)


# --- what the task was ----------------------------------------------------------------------------------------------------------------

_GREETING = re.compile(
    r"(?i)^(?:(?:hi|hello|hey|bonjour|greetings|good (?:morning|afternoon|evening)|sure|yes|ok(?:ay)?|thanks?(?: you)?"
    r"|thank you so much|well|so"
    r"|actually|please|great|also|and)(?: there| everyone| team)?\b[!,.:;\s]*|(?:你好|您好|请问|麻烦(?:你|您)?|嗨|好的"
    r"|谢谢)[!！,，。\s]*)+"
)
_LEAD = re.compile(
    r"(?i)^(?:i(?:'m| am|’m)? (?:really |also |just |currently )?(?:looking (?:to|for)|hoping (?:to|for)|trying to|planning to"
    r"|calling (?:to|about)|writing to"
    r"|interested in|wondering if you (?:can|could)(?: help(?: me)?(?: with)?)?)|i (?:was |am )?(?:also |just "
    r"|really )?(?:hoping to|hoping for|want(?:ed)? to|want|need(?:ed)? to|need"
    r"|wish to|would like to|would like|would love to)|i(?:'d|’d) (?:also |really )?(?:like|love) (?:to)?|(?:can|could|would"
    r"|will) you (?:please |also |then |possibly )*"
    r"(?:(?:help|assist|tell|check|let)(?: me)?(?: with| to| know)? )?"
    r"|help me (?:to |with )?|(?:some )?(?:help|assistance|assist me) (?:with|in|to)|make (?:some|a few|a) changes? to|let's|please)\s+"
)
_LEAD_ZH = re.compile(r"^(?:我?(?:想要?|要|需要|希望|打算)|请?(?:帮我|帮忙|替我)|能不能|可不可以|能否|可以|请|麻烦)+")
_TAIL = re.compile(
    r"(?i)[,.;]?\s*(?:please|thanks?(?: you)?|can you (?:help|assist)(?: me)?(?: with (?:that|this|it))?|if possible"
    r"|as soon as possible)\W*$|[吗呢吧]?[?？。！!.]+$"
)
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_WHEN = re.compile(
    rf"(?i)\s*(?:,|\b(?:on|for|by|at|of|from|to|until|till|before|after|dated)\b)?\s*(?:the )?(?:\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd"
    rf"|th)?(?:,? \d{{4}})?"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b(?:,? \d{{4}})?|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}(?::\d\d)? ?[ap]m\b(?: est)?)"
    r"|(?:从|自|在)?(?:\d{2,4}年)?\d{1,2}月\d{1,2}[日号]?(?:\s?[到至~—-]\s?(?:\d{1,2}月)?\d{1,2}[日号])?的?"
)
_NUMBERED = re.compile(
    r"(?i)[,.;]?\s*(?:(?:and |with |under |for |using )?(?:the |my )?(?:reservation|booking|order|confirmation|ticket|user|customer"
    r"|case)s?"
    r"(?: (?:id|number|code|no\.?))s?(?: (?:is|are))?:?\s*(?:…(?:,? and |, )?)+)"
)
_REQUEST = re.compile(
    r"(?i)\b(?:want|need|like to|looking|hoping|could you|can you|please|help|change|cancel|book|update|add|remove|upgrade"
    r"|downgrade|refund|find|fix|write"
    r"|create|send|make|check|move|add|compensation|how|why)\b|想|要|请|帮|改|取消|预订|申请|查|修|写|生成|发送|退|提交|怎么|为什么"
)
_VERB_FIRST = re.compile(
    r"(?i)(?:change|cancel|keep|figure|double-check|book|update|modify|add|remove|upgrade|downgrade|get|find|fix|write|create|send"
    r"|make|check|move|know|see"
    r"|understand|discuss|request"
    r"|switch|reschedule|rebook|return|exchange|buy|order|pay|apply|confirm|tell|explain|run|build|deploy|migrate|import|export"
    r"|install|set|test|translate"
    r"|adjust|downgrade|correct|compensate|reimburse|summari[sz]e|plan|review|search|look|list|show|compare|prepare|schedule"
    r"|generate|refund|inquire|ask|report|submit|delete|rename|speak|push|extend|swap)\b"
)


@dataclass(frozen=True, slots=True)
class Task:
    """What was asked. `phrase` is general and holds nothing personal; `first` is the goal or the first request, word for word."""

    phrase: str
    first: str
    requests: tuple[str, ...]
    """Up to three requests in general words, the phrase's among them: the lesson's key besides its text."""

    def asked(self, language: Language) -> str:
        """The condition of a lesson: `asked to …` / 「用户要求…」."""
        if not self.phrase:
            return say(language, "working on a task like this", "处理此类任务")
        if language == "zh":
            return f"任务是“{self.phrase}”"
        return f"asked {'to' if _VERB_FIRST.match(self.phrase) else 'about'} {self.phrase}"


def task_of(episode: Episode, names: Collection[str], language: Language) -> Task:
    """Read the task: the goal where the caller gave one, else the user's requests, the first that says enough."""
    first = one_line(episode.goal) or next((one_line(words) for _, words in user_turns(episode)), "")
    first = truncate(first, MAX_FIRST_CHARS)
    first = truncate(first, MAX_FIRST_CHARS)
    sentences = [episode.goal] if episode.goal else []
    for _, words in list(user_turns(episode))[:8]:
        sentences += [s for s in re.split(r"(?<=[.!?。！？])\s*|\n+", words[:4_000]) if s.strip()][:20]
    phrases: list[str] = []
    for position, sentence in enumerate(sentences):
        if position == 0 or _REQUEST.search(sentence[:400]):
            phrase = _general_phrase(sentence[:400], names, language)
            if phrase and phrase not in phrases:
                phrases.append(phrase)
    if not phrases:
        return Task("", first, ())
    ranked = phrases if episode.goal else sorted(phrases[:6], key=lambda p: -_weight(p) + 0.7 * phrases.index(p))
    others = [p for p in (*ranked[1:], *phrases[6:]) if _weight(p) >= 3][:2]
    return Task(_cut(ranked[0], MAX_TASK_CHARS), first, (ranked[0], *others))


def _cut(phrase: str, max_chars: int) -> str:
    """Shorten at the end of a clause where there is one, else at a word."""
    if len(phrase) <= max_chars:
        return phrase
    ends = [
        m.start() for m in re.finditer(r",? (?:and|that|because|so|but|when|which|to be|for the) |[,;:，；。]", phrase[: max_chars + 4])
    ]
    return phrase[: ends[-1]] if ends and ends[-1] >= 18 else truncate(phrase, max_chars)


_VAGUE = re.compile(r"(?i)\b(?:proceed|that|this|it|them|these|those|look it up|can you|could you|assist|some changes)\b|the user|\.\.\.|…")


def _weight(phrase: str) -> float:
    """How much a phrase says about a task: its words (Chinese characters by two), more when it starts with what to do, less for each
    word that only points elsewhere."""
    words = len(re.findall(r"[A-Za-z]{3,}", phrase)) + len(re.findall(r"[\u4e00-\u9fff]", phrase)) / 2
    verb = 4 if _VERB_FIRST.match(phrase) else -4 if _NO_OBJECT.match(phrase) else 0
    return min(words, 9) + verb - 2 * len(_VAGUE.findall(phrase))


_NO_OBJECT = re.compile(r"(?i)(?:the user|is|are|can|could|if|no|it|unfortunately|start|use|alright|yes|just|there|what|do|does)\b")
"""Beginnings of a sentence that is no request, or only a detail of one."""


def _general_phrase(sentence: str, names: Collection[str], language: Language) -> str:
    text = one_line(sentence).replace("’", "'")
    for span in reversed(find_personal(text, names=names)):
        text = text[: span.start] + "…" + text[span.end :]
    for _ in range(3):
        text = _LEAD_ZH.sub("", _LEAD.sub("", _GREETING.sub("", text)))
    text = _NUMBERED.sub("", _WHEN.sub("", text))
    for _ in range(2):
        text = _TAIL.sub("", text)
    for short, full in ((r"\bI'm\b|\bI am\b", "the user is"), (r"\bI'd\b", "the user would"), (r"\bI'll\b", "the user will")):
        text = re.sub(short, full, text, flags=re.IGNORECASE)
    text = re.sub(r"(?i)\bmy\b", "the", re.sub(r"(?i)\b(?:me|I)\b", "the user", text)).replace("我的", "").replace("我", "用户")
    text = re.sub(
        r"(?i)(?:\s*\"?\b(?:named|called|under|with|by|number|ids?|code|and|in|from|of|for|to)\b)*[\s\"]*…\"?(?:\s*(?:,|and)\s*…)*",
        "",
        text,
    )
    text = text.strip(" ,.;:!?…。，；：！？、-")
    return truncate(scrub(text[:1].lower() + text[1:] if text[1:2].islower() else text, names=names, language=language), 150)
