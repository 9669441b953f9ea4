"""What did the user ask for that was not done? Requests that were refused, forgotten, or that no call fulfilled: lessons and todos."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hindwise.model.memory import Draft, Evidence, Kind, LessonType
from hindwise.model.turn import Origin, Turn
from hindwise.reflect import cues
from hindwise.reflect.rules.findings import MAX_QUOTE_CHARS, Read, evidence, lesson
from hindwise.reflect.rules.slots import content_key, unique_attribute
from hindwise.reflect.rules.statements import sentences_of
from hindwise.reflect.rules.task import requests_in
from hindwise.reflect.rules.task_en import Request
from hindwise.reflect.rules.wording import last_of, when, whole
from hindwise.reflect.transcript import Step, call_names, user_turns, without_briefs
from hindwise.safety.origin import trust_of
from hindwise.text.lazy_re import lazy_re
from hindwise.text.tokens import tokens

MAX_TURNS = 60
"""Of the user's: what is said later than that is no part of one task."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """A request that nothing in the run fulfilled."""

    turn: Turn
    sentence: str
    """The user's own, as it stands in the turn."""
    phrase: str
    """In general words, without anybody's name."""
    why: str
    """`refused` by the agent, `forgotten` as the user says, or `undone`: no call did it."""
    answer: Turn | None = None
    withdrawn: bool = False
    looked_up: tuple[Step, ...] = ()
    """Calls between the request and its refusal."""


_VERBS = {
    "cancel": r"cancel|取消|退订|撤销",
    "book": r"book|reserve|预订|预定|订",
    "refund": r"refund|退款|退还|退",
    "send": r"send|mail|notify|发送|发|通知|寄",
    "delete": r"delete|remove|删除|移除|注销|删",
    "create": r"create|add|new|open|创建|新建|添加|增加",
    "update": r"update|change|modify|edit|set|upgrade|downgrade|switch|move|adjust|reset|rename"
    r"|更新|修改|更改|更换|变更|调整|升级|换|重置|重设",
    "pay": r"pay|charge|支付|付款|缴",
    "close": r"close|shut|关闭|关",
}
_STARTS = {what: lazy_re(rf"(?:{words})", re.IGNORECASE) for what, words in _VERBS.items()}


def _deed(phrase: str) -> str:
    """What sort of change a request asks for, by its first verb; empty for what changes nothing or is not known."""
    phrase = re.sub(r"^把.{1,20}?(?=取消|订|退|发|删|改|换)", "", phrase)
    return next((what for what, words in _STARTS.items() if words.match(phrase)), "")


def _done_later(run: Read, phrase: str, turn: Turn) -> bool:
    """A call that worked after the request bears its verb."""
    deed = _deed(phrase)
    later = [s for s in run.steps if s.turn.seq > turn.seq and s.worked and s.changes]
    return any(_STARTS[deed].search(step.name) for step in later) if deed else bool(later)


MAX_REFUSAL_CHARS = 400
"""Of an answer: who refuses says so at once; further down "cannot" is said of something else."""


_WEIGHT = ("forgotten", "refused", "undone")
"""What the user says was left out is surer than what no call shows."""


def unmet_requests(run: Read) -> list[Unmet]:
    """Return requests that were refused, forgotten or left undone, in the order of the transcript; each phrase once, as it is surest."""
    found: dict[str, Unmet] = {}
    said = list(user_turns(run.episode))[:MAX_TURNS]
    for place, (turn, words) in enumerate(said):
        following = said[place + 1] if place + 1 < len(said) else None
        for unmet in (*_forgotten(run, turn, words), *_refused(run, turn, words, following), *_undone(run, turn, words)):
            known = found.get(unmet.phrase)
            if known is None or _WEIGHT.index(unmet.why) < _WEIGHT.index(known.why):
                found[unmet.phrase] = unmet
    return list(found.values())


def _forgotten(run: Read, turn: Turn, words: str) -> Iterator[Unmet]:
    """What a complaint names: "You forgot to refund the fee" / 「你忘了退费」."""
    for match in cues.FORGOTTEN.finditer(words[:2_000]):
        told = (match["en"] or match["en2"] or match["zh"] or f"{match['deed']}{match['thing']}").strip()
        request = next(iter(requests_in(told, run.names, run.language)), None)
        phrase = request[1].phrase if request else _meant(run, told, turn)
        if phrase and not _done_later(run, phrase, turn):
            yield Unmet(turn, match[0].strip(), phrase, "forgotten")


def _meant(run: Read, told: str, turn: Turn) -> str:
    """The earlier request that "delete it" /「注销」 points at: the last one that begins with the same verb; empty where there is none."""
    verb = re.match(r"[a-z]+\b|[\u4e00-\u9fff]{2}", told.lower())
    if not verb:
        return ""
    before = [words for earlier, words in list(user_turns(run.episode))[:MAX_TURNS] if earlier.seq < turn.seq]
    asked = [request.phrase for words in before for _, request in requests_in(words, run.names, run.language)]
    return next((phrase for phrase in reversed(asked) if phrase.lower().startswith(verb[0])), "")


def _refused(run: Read, turn: Turn, words: str, following: tuple[Turn, str] | None) -> Iterator[Unmet]:
    """The request of a message to which the agent answered that it cannot: the one that the refusal names, else the last one.

    After a change in between only a named one: the rest of the message may be done.
    """
    end = following[0].seq if following else run.episode.turns[-1].seq + 1
    answers = [t for t in run.episode.turns if turn.seq < t.seq < end and t.role == "assistant" and t.content]
    sentence, clause = _refusal(without_briefs(answers[-1].content)) if answers else ("", "")
    if not sentence:
        return
    between = [s for s in run.steps if turn.seq < s.turn.seq < end]
    found = [pair for pair in requests_in(words, run.names, run.language) if not _NOUN.match(pair[1].phrase)]
    changed = any(s.worked and s.changes for s in between)
    several = found if len(found) > 1 or changed else []
    named = _named_in(several, clause) or _named_in(several, sentence)
    for sentence, request in (named or ([] if changed else found))[-1:]:
        if (named and changed) or not _done_later(run, request.phrase, turn):
            withdrawn = following is not None and cues.WITHDRAWN.search(following[1][:300]) is not None
            yield Unmet(turn, sentence, request.phrase, "refused", answers[-1], withdrawn, tuple(s for s in between if not s.changes))


def _named_in(found: Sequence[tuple[str, Request]], words: str) -> list[tuple[str, Request]]:
    return [pair for pair in found if not _things(pair[1].phrase).isdisjoint(tokens(words))]


def _refusal(answer: str) -> tuple[str, str]:
    """The sentence that refuses, and the clause of it; empty where nothing is refused."""
    said = next((s for s in sentences_of(answer[:MAX_REFUSAL_CHARS]) if cues.REFUSED.search(s)), "")
    return said, next((clause for clause in re.split(r"[，,；;]", said) if cues.REFUSED.search(clause)), said)


def _things(phrase: str) -> frozenset[str]:
    """What a request is about: its words without the verb."""
    return frozenset(tokens(re.sub(r"^[a-z-]+ |^[\u4e00-\u9fff]{2}(?=[\u4e00-\u9fff]{2})", "", phrase.lower())))


_NOUN = lazy_re(r"(?i)\w+ of\b")
""" "Change of plan": a noun that looks like a verb."""


def _undone(run: Read, turn: Turn, words: str) -> Iterator[Unmet]:
    """A request for a known sort of change, in a run whose tools make changes or look things up, that no call made."""
    if not run.failed or not run.steps:
        return
    for sentence, request in requests_in(words, run.names, run.language):
        deed = _deed(request.phrase)
        if deed in _DISTINCT and not _NEGATED.search(sentence) and not any(_may_have_done(s, deed, request.phrase) for s in run.steps):
            yield Unmet(turn, sentence, request.phrase, "undone")


_DISTINCT = frozenset({"cancel", "book", "refund", "send", "delete"})
"""What is changed, added or set goes by too many names to say that no call did it."""
_NEGATED = lazy_re(r"(?i)\b(?:not|no|never|without|avoid|unless|if|whether|instead)\b|n't\b|不|别|无需|如果|是否|要是|除非")


def _may_have_done(step: Step, deed: str, phrase: str) -> bool:
    """A call that worked and bears the request's verb, or names the thing that the request is about."""
    if not step.worked or not step.changes:
        return False
    things = [word[:3] for word in re.findall(r"[a-z]{4,}", phrase.lower())[1:]]
    return _STARTS[deed].search(step.name) is not None or any(thing in step.name.lower() for thing in things)


def lessons_of_unmet(run: Read, unmet: Sequence[Unmet]) -> list[Draft]:
    """Return one pitfall for the weightiest request that a failed run did not fulfil: it is visible, and most likely why it failed."""
    if not run.failed or not unmet:
        return []
    one = min(unmet, key=lambda u: (_WEIGHT.index(u.why), -u.turn.seq))
    condition = run.say(f"asked to {one.phrase}", one.phrase)
    names = call_names(one.looked_up)
    if one.why == "refused":
        way = (
            [run.say(f"check {last_of(names, n)} again before refusing", f"拒绝之前再次核对 {last_of(names, n)} 的结果") for n in (2, 1)]
            if names
            else [run.say("look it up before refusing", "先查询再答复，不要直接拒绝")]
        )
        because = run.say("a run that refused it failed", "拒绝该请求的一次任务失败了")
    elif one.why == "forgotten":
        way = [run.say("do it before reporting the task as done", "完成它之后再报告结束")]
        because = run.say("the user said that it was left out", "用户指出漏做了这一项")
    else:
        way = [run.say("do not end before a call has done it", "调用完成之前不要结束任务")]
        because = run.say("a run without that call failed", "没有执行该操作的一次任务失败了")
    told = {"refused": ("refused", "被拒绝"), "forgotten": ("left out", "漏做"), "undone": ("not done", "未执行")}[one.why]
    return [
        lesson(
            run,
            LessonType.PITFALL,
            when(run.language, condition, way, because),
            evidences=[evidence(run.episode, one.turn, one.sentence[:80]), *([evidence(run.episode, one.answer)] if one.answer else [])],
            tools=names[-2:],
            condition=condition,
            failed=run.say(f"{one.phrase}: {told[0]}", f"{one.phrase}：{told[1]}"),
            next_time=way[0],
            importance=7,
            confidence=0.6,
            topics=("unmet", "cause"),
        )
    ]


_VAGUE = lazy_re(
    r"(?i)(?:make|do|change|update|set|add|get|修改|更改|调整|处理)\s?(?:\w{0,3} )?"
    r"(?:changes?|it|that|this|things?|something|一下|东西|内容)?"
)


def todos_of_unmet(run: Read, unmet: Sequence[Unmet]) -> list[Draft]:
    """Return what the user still waits for: requests refused or forgotten that the user did not withdraw, at most two."""
    if run.succeeded:
        return []
    # What was only asked to be told is answered with the refusal; a deed stays to be done.
    open_ones = [u for u in unmet if u.why == "forgotten" or (u.why == "refused" and not u.withdrawn and _deed(u.phrase))]
    open_ones = [u for u in open_ones if not _VAGUE.fullmatch(u.phrase)]
    return [_todo(run, one) for one in open_ones[-2:]]


def _todo(run: Read, one: Unmet) -> Draft:
    phrase = one.phrase[:1].upper() + one.phrase[1:]
    attribute = content_key(one.phrase) or unique_attribute(one.phrase)
    return Draft(
        kind=Kind.TODO,
        conclusion=whole(run.say(f"{phrase}: asked for, but not done", f"{phrase}：用户要求过，尚未完成"), 160),
        subject="user",
        attribute=attribute[:200],
        value=one.phrase[:300],
        language=run.language,
        importance=6,
        confidence=0.6,
        origin=Origin.USER,
        trust=trust_of([Origin.USER]),
        evidence=(
            Evidence(episode_id=run.episode.id, seq=one.turn.seq, turn_id=one.turn.turn_id, quote=one.sentence[:MAX_QUOTE_CHARS].strip()),
        ),
    )
