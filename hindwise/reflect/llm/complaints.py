"""What is wrong with the form of an answer, in the transcript's language: by path and rule, never by content."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from hindwise.model.reflection import Complaint
from hindwise.text.language import Language

MAX_FAULTS = 5

_IN_CHINESE = {
    "no JSON object in the answer": "回答里没有 JSON 对象：只输出一个 JSON 对象",
    "the answer is empty": "回答是空的",
    "the answer is not valid JSON": "回答不是合法的 JSON：检查引号、逗号、括号和数字",
    "the answer is not one JSON object": "回答不是一个 JSON 对象",
    "the answer ends in the middle": "回答在中途断了：请写得更短，并写完整",
    "the answer was cut at": "回答超出长度被截断：请写得更短",
    "the answer is empty and nothing_because gives no reason": "回答是空的，nothing_because 也没有原因：写出学到的内容，或说明为什么没有",
    "the model declined to answer": "模型拒绝回答",
}
_FAULTS: dict[str, tuple[str, str]] = {
    "missing": ("is missing", "缺少"),
    "string_too_long": ("at most {max_length} characters", "最多 {max_length} 字"),
    "string_too_short": ("must not be empty", "不能为空"),
    "string_type": ("must be a text", "必须是文字"),
    "too_long": ("at most {max_length} entries", "最多 {max_length} 项"),
    "too_short": ("at least {min_length} entries", "至少 {min_length} 项"),
    "list_type": ("must be a list", "必须是列表"),
    "literal_error": ("must be {expected}", "只能是 {expected}"),
    "greater_than_equal": ("at least {ge:g}", "不小于 {ge:g}"),
    "less_than_equal": ("at most {le:g}", "不大于 {le:g}"),
    "int_type": ("must be a whole number", "必须是整数"),
    "int_parsing": ("must be a whole number", "必须是整数"),
    "int_from_float": ("must be a whole number", "必须是整数"),
    "float_type": ("must be a number", "必须是数字"),
    "float_parsing": ("must be a number", "必须是数字"),
    "bool_type": ("must be true or false", "必须是 true 或 false"),
    "bool_parsing": ("must be true or false", "必须是 true 或 false"),
    "model_type": ("must be an object", "必须是对象"),
    "model_attributes_type": ("must be an object", "必须是对象"),
}
"""By pydantic's names. What is not listed is told in pydantic's own words, which hold nothing of the answer."""


_BEYOND = ("no JSON object in the answer", "the answer is empty", "the answer is not valid JSON")
"""What models say, or fail to say, for which the long form is too much. A cut answer or one bad field tells of a slip."""


def is_beyond(complaint: Complaint) -> bool:
    """Whether the model said nothing at all in the form that it was asked for, in whichever language it was told so."""
    starts = [words for english in _BEYOND for words in (english, _IN_CHINESE[english])]
    return complaint.rule == "form" and complaint.text.startswith(tuple(starts))


def told(detail: str, lang: Language) -> str:
    """A complaint about the whole answer, in one language; as it is where no words for it are known."""
    if lang != "zh":
        return detail
    known = [english for english in _IN_CHINESE if detail.startswith(english)]
    return _IN_CHINESE[max(known, key=len)] if known else detail


def of_form(error: ValidationError, lang: Language) -> str:
    """One line, at most five faults: where, and what is wanted there."""
    faults = [_fault(fault, lang) for fault in error.errors(include_input=False, include_url=False)[:MAX_FAULTS]]
    more = error.error_count() - len(faults)
    if more > 0:
        faults.append(f"另有 {more} 处" if lang == "zh" else f"and {more} more")
    return ("；" if lang == "zh" else "; ").join(faults)


def _fault(fault: Any, lang: Language) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault["loc"]).lstrip(".") or "answer"
    return f"{path}: {_wanted(fault, fault.get('ctx') or {}, lang)}"


def _wanted(fault: Any, context: Mapping[str, Any], lang: Language) -> str:
    kind = str(fault["type"])
    if kind in ("too_long", "too_short") and context.get("field_type") != "List":
        kind = f"string_{kind}"  # so pydantic calls it where a text was tidied before it was measured
    if kind not in _FAULTS:
        return str(fault["msg"])
    wanted = _FAULTS[kind][lang == "zh"].format_map(context)
    return wanted.replace(" or ", "、") if lang == "zh" else wanted
