"""How conclusions are worded: one whole sentence of at most 160 characters, "When …, …, because …." / 「当…时，…，因为…。」.

Nothing is cut in the middle: what is too long is said in fewer words (fewer names, no details), the retrospective keeps the rest.
"""

import re
from collections.abc import Collection, Sequence
from itertools import product
from typing import TypeAlias

from hindwise.model.episode import OutcomeStatus
from hindwise.model.memory import MAX_CONCLUSION_CHARS
from hindwise.reflect.transcript import Language
from hindwise.safety.origin import is_order_in_error
from hindwise.safety.personal import find_personal
from hindwise.text.clean import one_line
from hindwise.text.language import say
from hindwise.text.lazy_re import lazy_re

STATUS = {
    "en": {"success": "success", "partial": "partial success", "failure": "failure", "aborted": "an abort", "unknown": "an unknown way"},
    "zh": {"success": "成功", "partial": "部分成功", "failure": "失败", "aborted": "中止", "unknown": "结果未知"},
}

ENDED = {
    "en": {
        "success": "succeeded",
        "partial": "partly succeeded",
        "failure": "failed",
        "aborted": "was aborted",
        "unknown": "ended unknown",
    },
    "zh": {"success": "成功", "partial": "部分成功", "failure": "失败", "aborted": "被中止", "unknown": "结果未知"},
}

Variants: TypeAlias = str | Sequence[str]
"""One thing said in several ways, the fullest first."""


def status_word(status: OutcomeStatus, language: Language) -> str:
    """The outcome as a noun."""
    return STATUS[language][str(status)]


def ended_word(status: OutcomeStatus, language: Language) -> str:
    """The outcome as a verb: `failed` / 「失败」."""
    return ENDED[language][str(status)]


def listed(names: Sequence[str], language: Language, *, at_most: int = 3) -> str:
    """`a, b and c` / 「a、b 和 c」, the rest counted."""
    shown, rest = list(names[:at_most]), len(names) - at_most
    if rest > 0:
        return say(language, f"{', '.join(shown)} and {rest} more", f"{'、'.join(shown)} 等{len(names)}项")
    if len(shown) < 2:
        return "".join(shown)
    return say(language, f"{', '.join(shown[:-1])} and {shown[-1]}", f"{'、'.join(shown[:-1])} 和 {shown[-1]}")


def careful(names: str, language: Language) -> str:
    """What to do about calls that were wrong this time. Not "never": the task asked for them; unchecked was whether they may be made."""
    return say(language, f"check that {names} is allowed first", f"先确认允许再调用 {names}")


def chain(names: Sequence[str], *, at_most: int = 5) -> str:
    """`a → b → c`; a long chain keeps its end, where it was decided."""
    shown = list(names) if len(names) <= at_most else ["…", *names[-(at_most - 1) :]]
    return " → ".join(shown)


def last_of(names: Sequence[str], count: int) -> str:
    """The last `count` of a chain, without a mark for what stood before."""
    return " → ".join(names[-count:])


def variants(options: Variants) -> tuple[str, ...]:
    """The ways to say it, each once, the fullest first."""
    return (options,) if isinstance(options, str) else tuple(dict.fromkeys(options)) or ("",)


def when(language: Language, condition: Variants, action: Variants, because: Variants) -> str:
    """Compose a lesson in at most 160 characters from the fullest wordings that fit; without its reason rather than with a cut one."""
    frame = say(language, "When {}, {}, because {}.", "当{}时，{}，因为{}。")
    short = say(language, "When {}, {}.", "当{}时，{}。")
    conditions = tuple(_spaced(c, language) for c in variants(condition))
    ways = (conditions, variants(action), variants(because))
    order = sorted(product(*(range(len(way)) for way in ways)), key=lambda place: (sum(place), place[2], place[1]))
    whole = [frame.format(*(way[i] for way, i in zip(ways, place, strict=True))) for place in order]
    without = [short.format(ways[0][place[0]], ways[1][place[1]]) for place in order]
    return fitting([*whole, *without])


def _spaced(condition: str, language: Language) -> str:
    return f" {condition}" if language == "zh" and condition[:1].isascii() else condition


def fitting(options: Sequence[str], limit: int = MAX_CONCLUSION_CHARS) -> str:
    """Return the first option that fits, else the last one made to fit."""
    return next((option for option in options if len(option) <= limit), None) or whole(options[-1], limit)


# One sign a round: with a run of them a round, a row of commas is split in every way there is.
_DANGLING = lazy_re(
    r"(?i)(?:[\s,;:(（\"“'—→-]|\s(?:and|or|the|a|an|of|to|for|with|in|on|at|by|from|because|that|but|is|are|not|before|after)"
    r"|[，、；：和与及的])+$"
)


def whole(text: str, limit: int) -> str:
    """Return `text` in at most `limit` characters without a cut mark: it ends with a clause where it can, else with a word."""
    if len(text) <= limit:
        return text
    room = text[: limit - 2]
    ends = [m.start() for m in re.finditer(r"[,;:.] |[，；。：]| — ", room)]
    if ends and ends[-1] >= limit // 2:
        kept = room[: ends[-1]]
    else:
        space = room.rfind(" ")
        kept = room[:space] if space >= limit // 2 else room
    kept = _DANGLING.sub("", kept)
    for opening, closing in (('"', '"'), ("“", "”"), ("(", ")"), ("（", "）")):
        odd = kept.count(opening) % 2 if opening == closing else kept.count(opening) > kept.count(closing)
        if odd:
            at = kept.rfind(opening)
            kept = kept[:at].rstrip(" ,，") if at >= limit // 2 else kept + closing
    return kept + ("。" if re.search(r"[\u4e00-\u9fff]$", kept) and text.endswith("。") else "." if text.endswith(".") else "")


# --- what an error says, without the values of one case -------------------------------------------------------------------------------

_UNIT = r"(?:%|[KMG]?B\b|ms\b|s\b|seconds?|minutes?|hours?|days?|requests?|characters?|tokens?|per\b|次|秒|分钟|小时|天|字|个|位|元|条|页)"
_FREE_NUMBER = lazy_re(rf"(?<![\w.-])(?<!HTTP )(?<!status )(?<!code )(?<!Status )\d+(?:[.,:/-]\d+)*(?![\w-])(?!\s?{_UNIT})")
_LED = lazy_re(
    r"(?i)\s*(?:\b(?:on|for|of|in|at|with|by|from|to|is|was|are|but|only|than|and|paid|id|number|=|:)\s+(?:the |a )?){1,6}"
    r"(?:[a-z]+ )?[\"'“]?…[\"'”]?"
)
MAX_ERROR_CHARS = 90
_READ_OF_ERROR = 400
"""Once what is personal has gone: what stands behind is never told."""


def general_error(error: str, names: Collection[str], language: Language, *, trusted: bool = False) -> str:
    """Return the error without the values of this one case: ids and free numbers go, with the words that led to them.

    Empty for an error that gives orders: it is told by its tool's name alone. `trusted`: words of whoever judged, who may give some.
    """
    text = one_line(error)
    if not trusted and is_order_in_error(text):
        return ""
    for span in reversed(find_personal(text, names=names)):
        text = text[: span.start] + "…" + text[span.end :]
    text = _begun(text)
    # It is told between quotation marks: its own become single ones.
    text = text.replace('"', "'").replace("“", "‘").replace("”", "’")
    is_chinese = any("\u4e00" <= c <= "\u9fff" for c in text)
    text = _FREE_NUMBER.sub("" if is_chinese else "…", text)
    text = re.sub(r"^(?:[\u4e00-\u9fff]{0,4}失败|错误|报错)\s*[:：]\s*(?=\S{4})", "", text)
    text = re.sub(r"(?i)^(?:fatal |runtime |internal )*(?:error|exception|failure)\s*[:：]\s*(?=\S{4})", "", text)
    clauses = re.split(r"(?<=[,;])\s+|(?<=[.])\s+(?=[A-Z])", text)
    clear = [clause for clause in clauses if "…" not in clause]
    if clear and clear[0] == clauses[0]:
        text = " ".join(clear)
    text = re.sub(r"[\"'“]?…[\"'”]?", "", _LED.sub("", text) if not is_chinese else text.replace("…", ""))
    text = re.sub(r"\s+", "" if is_chinese and not re.search(r"[A-Za-z]", text) else " ", text)
    text = re.sub(r"\s+(?=[,.;:])|\(\s*\)", "", text).strip(" .,;:。，；：-")
    return whole(text, MAX_ERROR_CHARS).rstrip(".。")


def _begun(text: str) -> str:
    """The beginning of a long error, up to a whole word where there are words."""
    if len(text) <= _READ_OF_ERROR:
        return text
    words = text[:_READ_OF_ERROR]
    return words[: words.rfind(" ")] if " " in words[MAX_ERROR_CHARS:] else words


def error_variants(told: str) -> tuple[str, ...]:
    """The error in full, then what stands behind its colon (mostly the cause), then its first clause, then its first words."""
    clause = re.split(r"[,;，；。(（]\s?|\. ", told)[0].strip()
    head = re.split(r"[:：]\s", clause)[0]
    clause = head if len(head.split()) >= 3 else clause
    clause = clause if len(clause) >= 6 else told
    tail = re.split(r"[:：]\s", told)[-1].strip()
    tails = (tail,) if 8 <= len(tail) < len(told) else ()
    return variants((told, *tails, whole(clause, 60).rstrip("."), whole(clause, 40).rstrip(".")))


def clause_variants(told: str) -> tuple[str, ...]:
    """The ways to tell an error in what others read: its first clause at the most. What stands behind is not the tool's error alone."""
    clause = re.split(r"[;；。\n]\s?|[,，]\s?|[.!?！？]\s", told)[0].strip()
    return error_variants(clause if len(clause) >= 6 else whole(told, 60).rstrip("."))
