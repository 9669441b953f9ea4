"""The short form, for small models: one lesson in plain parts. All else that a lesson has is read from the transcript by code.

A model of one or two billion parameters loses its way in the long form: it retells the task and leaves the lists empty. Asked for one
thing, with an example, it finds it. What it may not know is not asked: the type, the tools, the quote and the error that is the reason
stand in the turns that it names. A lesson whose words do not come from the transcript is refused, since such a model makes things up.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from hindwise.errors import AnswerUnusable
from hindwise.model.episode import Episode, OutcomeStatus
from hindwise.model.memory import LessonType
from hindwise.reflect.judged import SURE
from hindwise.reflect.llm.prompt import Question
from hindwise.reflect.llm.window import ShownTurn
from hindwise.reflect.rules.wording import clause_variants, fitting, general_error, when
from hindwise.reflect.steps import steps_in
from hindwise.reflect.transcript import Step
from hindwise.safety.identities import identities
from hindwise.safety.poison import poison_in
from hindwise.text.clean import nfkc, one_line
from hindwise.text.language import Language, say
from hindwise.text.lazy_re import lazy_re
from hindwise.text.tokens import tokens

UNSURE = 0.3
"""Confidence of a lesson in the short form that no failed call bears out."""
BORNE_OUT: dict[Language, float] = {"en": 0.4, "zh": 0.3}
"""Share of a lesson's words, but for those that any lesson has, that stand in the transcript. Chinese is cut into overlapping pairs."""
_ANY_LESSON = frozenset(
    tokens(
        "agent again ask argument avoid before call change check customer error fail first follow instead next request retry situation step"
        " task tool try turn use user value 用户 智能体 工具 调用 再次调用 失败 参数 步骤 任务 应该 避免 使用 先确认 检查 改为"
    )
)
_MAX_QUOTE_CHARS = 200
_MAX_PART_CHARS = 1_000
"""Of what a small model wrote into one field: it may go on with one sign until it is stopped, and a lesson has 160."""
_PARTS = ("applies_when", "do", "why")
_TEXT = {"type": "string"}
_WHEN = {"en": lazy_re(r"(?i)^(?:when(?:ever)?|if|in case)\s+"), "zh": lazy_re(r"^(?:当|如果|若|在)")}
_AFTER = {"en": lazy_re(r"[\s.,;:]+$"), "zh": lazy_re(r"(?:的?时候?|的情况下?|[\s，。；：,.])+$")}
_BECAUSE = {"en": lazy_re(r"(?i)^(?:because|since|as)\s+"), "zh": lazy_re(r"^(?:因为|由于)")}
_PLAIN_START = lazy_re(r"[A-Z][a-z]+\s")
"""A capital that stands only for the beginning of a sentence."""


@cache
def short_schema() -> dict[str, Any]:
    """The JSON schema that is sent: a part of the long one, but for `do`. The same object each time: it is not changed."""
    turns = {"type": "array", "items": {"type": "integer"}}
    lesson = _object({"turns": turns} | dict.fromkeys(_PARTS, _TEXT))
    thoughts = _object(dict.fromkeys(("what_failed_and_why", "what_worked"), _TEXT))
    return _object({"retrospective": thoughts, "lessons": {"type": "array", "items": lesson}, "nothing_because": _TEXT})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def in_long_form(parsed: dict[str, object], episode: Episode, asked: Question) -> dict[str, object]:
    """Return the answer with all that the long form has. Raises AnswerUnusable for a lesson that the transcript does not bear out.

    What the model thought before its lesson is not kept: nothing shows that it is true. Where it thought and named no lesson that is an
    answer: pressed for a reason it makes up a lesson. An entry with a conclusion is in the long form already; what is of another type than
    asked for is left for the form to refuse.
    """
    lessons = parsed.get("lessons")
    if not isinstance(lessons, list):
        return parsed
    if not lessons and _thought(parsed.get("retrospective")) and not parsed.get("nothing_because"):
        return {"nothing_because": say(asked.lang, "the model named no lesson", "模型没有说出经验")}
    whole = [_whole(entry, place, episode, asked) if isinstance(entry, dict) else entry for place, entry in enumerate(lessons)]
    thoughts = parsed.get("retrospective") if any(isinstance(entry, dict) and "conclusion" in entry for entry in lessons) else {}
    return {**parsed, "retrospective": thoughts, "lessons": whole}


def _thought(retrospective: object) -> bool:
    return isinstance(retrospective, dict) and any(isinstance(text, str) and text.strip() for text in retrospective.values())


def _whole(entry: dict[str, Any], place: int, episode: Episode, asked: Question) -> dict[str, Any]:
    parts = {name: one_line(entry[name])[:_MAX_PART_CHARS] if isinstance(entry.get(name), str) else "" for name in _PARTS}
    cited = _cited(entry.get("turns"), asked)
    if entry.get("conclusion") or not (parts["applies_when"] and parts["do"] and cited):
        return entry
    if not _is_told(f"{parts['applies_when']} {parts['do']}", _texts(asked.shown, asked), asked.lang):
        raise AnswerUnusable(f"lessons[{place}]: {_made_up(asked.lang)}")
    failed = next((step for step in steps_in(episode) if step.error and _is_cited(step, cited, asked)), None)
    told = general_error(failed.error, identities(episode), asked.lang) if failed else ""
    # What gives orders to whoever reads it bears nothing out: small models obey.
    proven = bool(told and failed and failed.result and not poison_in(failed.result.content))
    reason = _said_by_tool(told, asked.lang) if told else _reason(parts["why"], cited, asked)
    condition = _AFTER[asked.lang].sub("", _begun(_WHEN[asked.lang].sub("", parts["applies_when"])))
    action = _AFTER[asked.lang].sub("", _begun(parts["do"]))
    numbers = _with_call(cited, failed, asked)
    return {
        "turns": numbers,
        "quote": _quote(numbers, action, asked),
        "conclusion": _conclusion(condition, action, reason, asked.lang),
        "lesson_type": _type_of(episode, failed),
        "applies_when": condition,
        "why": f"{failed.name}: {told}" if failed and told else "".join(reason[:1]),
        "tools": list(dict.fromkeys(step.name for step in steps_in(episode) if step.name in f"{condition} {action}")),
        "confidence": SURE if proven else UNSURE,
        "unproven": not proven,
    }


def _cited(turns: object, asked: Question) -> list[int]:
    """Numbers of turns that were shown; empty where another is among them, so that it is complained about."""
    numbers = turns if isinstance(turns, list) else [turns]
    known = [number for number in numbers if isinstance(number, int) and number in asked.shown]
    return list(dict.fromkeys(known)) if len(known) == len(numbers) else []


def _texts(numbers: Iterable[int], asked: Question) -> str:
    return "\n".join(f"{asked.shown[number].turn.name} {asked.shown[number].turn.text()}" for number in numbers)


def _is_told(words: str, texts: str, lang: Language) -> bool:
    """Whether enough of `words` stands in `texts` for them to be about it."""
    said = set(tokens(words)) - _ANY_LESSON
    return bool(said) and len(said & set(tokens(texts))) >= BORNE_OUT[lang] * len(said)


def _made_up(lang: Language) -> str:
    return say(
        lang,
        "its words do not stand in the transcript: name the tools, arguments and errors that the turns show",
        "其中的内容没有出现在记录里：写出各轮中出现的工具、参数和报错",
    )


def _is_cited(step: Step, cited: Sequence[int], asked: Question) -> bool:
    seqs = {asked.shown[number].turn.seq for number in cited}
    return step.turn.seq in seqs or (step.result is not None and step.result.seq in seqs)


def _with_call(cited: list[int], failed: Step | None, asked: Question) -> list[int]:
    """The turn of the failed call with the others: an error alone does not say what was done."""
    if failed is None:
        return cited
    return list(dict.fromkeys([*(n for n, shown in asked.shown.items() if shown.turn.seq == failed.turn.seq), *cited]))


def _said_by_tool(told: str, lang: Language) -> tuple[str, ...]:
    return tuple(say(lang, f'the tool said "{one}"', f"工具报“{one}”") for one in clause_variants(told))


def _reason(why: str, cited: Sequence[int], asked: Question) -> tuple[str, ...]:
    """The model's own reason, where the words of the turns that it names bear it out."""
    plain = _AFTER[asked.lang].sub("", _begun(_BECAUSE[asked.lang].sub("", why)))
    return (plain,) if plain and _is_told(plain, _texts(cited, asked), asked.lang) else ()


def _begun(text: str) -> str:
    return text[:1].lower() + text[1:] if _PLAIN_START.match(text) and not text.startswith("I ") else text


def _conclusion(condition: str, action: str, reason: Sequence[str], lang: Language) -> str:
    """One line; without its reason where the three are too long together."""
    if reason:
        return when(lang, condition, action, tuple(reason))
    return fitting([say(lang, f"When {condition}, {action}.", f"当{condition}时，{action}。")])


def _type_of(episode: Episode, failed: Step | None) -> LessonType:
    """A failure after which the same tool worked was recovered from."""
    if failed is not None:
        steps = steps_in(episode)
        later = steps[steps.index(failed) + 1 :]
        return LessonType.RECOVERY if any(step.worked and step.name == failed.name for step in later) else LessonType.PITFALL
    bad = (OutcomeStatus.FAILURE, OutcomeStatus.PARTIAL, OutcomeStatus.ABORTED)
    return LessonType.PITFALL if episode.outcome.status in bad else LessonType.STRATEGY


def _quote(numbers: Sequence[int], action: str, asked: Question) -> str:
    """The line of the named turns with most of the lesson's words, whoever is no tool first; "" where none has any."""
    wanted = set(tokens(action)) - _ANY_LESSON
    lines = [
        (asked.shown[number].turn.role == "tool", -len(wanted & set(tokens(line))), line)
        for number in numbers
        for line in _lines(asked.shown[number])
    ]
    return min((one for one in lines if one[1]), default=(False, 0, ""), key=lambda one: one[:2])[2]


def _lines(shown: ShownTurn) -> list[str]:
    """What was shown of a turn and stands in it word for word."""
    whole = one_line(nfkc(shown.turn.text()))
    lines = (line.strip()[:_MAX_QUOTE_CHARS] for line in shown.text.splitlines())
    return [line for line in lines if line and one_line(nfkc(line)) in whole]
