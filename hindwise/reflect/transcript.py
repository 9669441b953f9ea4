"""How a transcript is read: calls paired with their results, errors told from answers, our own briefs left out.

Reading only; what it means is decided in `rules` and its rooms.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from hindwise.model.episode import Episode
from hindwise.model.once import once_per_episode
from hindwise.model.turn import Turn
from hindwise.text.language import language_of
from hindwise.text.lazy_re import lazy_re
from hindwise.text.task_key import BRIEF_MARKER, holds_brief, without_briefs

__all__ = [
    "BRIEF_MARKER",
    "Language",
    "Step",
    "call_names",
    "changes_state",
    "error_of",
    "holds_brief",
    "is_empty_result",
    "is_nothing",
    "is_thought",
    "language_of_episode",
    "spoken",
    "steps_of",
    "user_turns",
    "without_briefs",
]

Language = Literal["en", "zh"]

_ERROR_START = lazy_re(
    r"(?i)\s*[\[(<\"'*]{0,3}(?:error|exception|traceback|failed|failure|fatal|invalid|denied|forbidden|not found|timeout|timed out"
    r"|[a-z]+(?:error|exception)\b|http(?:/\d(?:\.\d)?)?[ :]*[45]\d\d|status(?: code)?[ :]+[45]\d\d|错误|失败|异常|报错|出错|超时"
    r"|无权限|拒绝|(?!no\b|0\b|none\b)(?:[a-z]+ ){1,3}failed\s*(?:[:,;.]|$|with\b|because\b)|[\u4e00-\u9fff]{1,8}失败\s*[:：，。]"
    r"|[45]\d\d[ :,-]{1,3}(?:not \w+|bad (?:request|gateway)|unauthori[sz]ed|unprocessable|unsupported|forbidden|conflict|gone\b|locked"
    r"|too many|payload|internal|service|gateway|error|未|没有|无权|无法|不存在|不允许|不可用|禁止|服务|请求(?:过|超|错)|权限|错误))"
)
_SHORT_ERROR = lazy_re(
    r"(?i)(?:(?:permission|access) denied|connection (?:refused|reset|lost|closed)|(?:could not|couldn'?t|can(?:no|')?t|unable to) \w+"
    r"|no such (?:file|table|user|item|order|record|key|command)|no permission|unknown (?:parameter|argument|field|command|option|column)"
    r"|rate limit|too many requests|quota exceeded|missing (?:required )?(?:parameter|argument|field)"
    r"|not (?:allowed|permitted|authori[sz]ed|logged in|supported)|unauthori[sz]ed"
    r"|(?:\w+ ){1,4}(?:(?:is |was |has )?(?:already (?:taken|booked|reserved|in use|exists)|expired|unavailable"
    r"|out of (?:stock|range|memory|space))|exceeded|is (?:required|offline)|not (?:supported|permitted))"
    r"|(?:\w+ ){1,6}timed out|\S{0,12}超时"
    r"|没有.{0,12}权限|无权|连接(?:被拒绝|被重置|中断)|无法\S{2}|找不到|未知(?:的)?(?:参数|字段|命令|选项)|请求(?:过于频繁|过多)|不允许|不支持"
    r"|\S{2,10}?(?:无法(?:解析|识别|访问|连接|打开|处理|读取)|已(?:用完|被占用|被预订|被预定|约满|满员|过期|失效|锁定|存在)|不足|离线|不可用"
    r"|不支持|超出(?:限制|范围|上限)|不存在|未登录))[^\n]{0,60}"
)
"""A whole answer of one short line that is an error though no word at its beginning says so: `Permission denied for /srv`."""
MAX_SHORT_ERROR_CHARS = 80
_NOT_ERROR = lazy_re(r"(?i)\s*(?:errors?|failures?|failed|异常|错误|失败)\s*[:=：]?\s*(?:0|none|null|无|没有)\b|\s*无(?:异常|错误)")
_EXIT = lazy_re(
    r"(?i)\s{0,8}(?:exit[ _-]?(?:code|status)|退出码)\s{0,3}[:：=]?\s{0,3}(?P<code>\d{1,3})\b[^\n:]{0,40}\n?"
    r"(?:\s{0,8}(?:code output|output|stdout|stderr|输出)\s{0,3}[:：])?"
)
"""How a terminal reports: the exit code first, then the output."""
_ERROR_KEYS = ("error", "errors", "error_message", "errorMessage", "exception", "错误", "错误信息")

_READING = lazy_re(
    r"(?i)(?:get|list|search|find|fetch|read|look|lookup|query|check|calculate|compute|think|plan|reflect|view|show|describe|count|verify"
    r"|validate|inspect|browse|open|retrieve|select|geocode|locate|track|monitor|measure|scan|probe|ping|download|extract|lookup"
    r"|detect|test|parse|preview|estimate|compare|summari[sz]e|translate|classify|grep|ls|cat|head"
    r"|stat)(?=[^a-z]|[A-Z]|$)"
    r"|(?:查|检|搜|读|取(?!消)|获|列|看|算|计算|校验|验证|核对|分析|判断|识别|解析|比较|统计|思考|规划|开始|结束|分类|提取|汇总|翻译)"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One call with its result, or one step of a workflow run (then without arguments and with `turn` = `result`)."""

    name: str
    arguments: dict[str, Any]
    turn: Turn
    result: Turn | None
    error: str
    """The error in words, one line; empty when it worked."""
    changes: bool
    """It may change the world. Told by the verb of its name: what only reads or computes changes nothing."""

    @property
    def worked(self) -> bool:
        """An answer came and it was no error."""
        return self.result is not None and not self.error


def user_turns(episode: Episode) -> Iterator[tuple[Turn, str]]:
    """The user's own turns that say something, with their words (briefs left out)."""
    return iter(_said_by_user(episode))


@once_per_episode
def _said_by_user(episode: Episode) -> tuple[tuple[Turn, str], ...]:
    own = (turn for turn in episode.turns if turn.role == "user" and turn.origin == "user")
    return tuple((turn, words) for turn in own if (words := spoken(turn)))


_NOTE = lazy_re(
    r"(?i)\s{0,20}[\[【(（<](?:system|client|gateway|platform|系统|客户端|平台)[^\]】)）>:：\n]{0,30}[:：]"
    r"[^\]】]{1,2000}[\]】)）>]\s{0,20}"
)
"""A client puts words of its own before the user's: they are not the user's."""


def spoken(turn: Turn) -> str:
    """The turn's own words: without briefs that we gave, and without the notes that a client put before them."""
    words = without_briefs(turn.content)
    note = _NOTE.match(words)
    return words[note.end() :].strip() if note else words.strip()


def language_of_episode(episode: Episode) -> Language:
    """The language of the user's words, else of the goal, else of everything."""
    words = " ".join(words for _, words in user_turns(episode))[:4_000]
    return language_of(words or episode.goal or " ".join(t.content for t in episode.turns)[:4_000])


def changes_state(name: str) -> bool:
    """True when a call of this name may change the world: every verb but those that read, think or compute."""
    return not _READING.match(re.split(r"\.|__", name)[-1].lstrip("_"))


def error_of(text: str) -> str:
    """Return the error that a tool's answer tells, as one line of at most 300 characters; empty when it is none."""
    if text[:1] in "{[" and len(text) <= 65_536:
        try:
            return _error_in_json(json.loads(text))
        except (ValueError, RecursionError):  # no JSON, or nested deeper than any answer that a tool means
            return ""
    if ended := _EXIT.match(text):
        return _clean_error(text[ended.end() :] or text) if ended["code"] != "0" else ""
    starts = _ERROR_START.match(text) or (len(text) <= MAX_SHORT_ERROR_CHARS and _SHORT_ERROR.fullmatch(text.strip()))
    return _clean_error(text) if starts and not _NOT_ERROR.match(text) else ""


_NOTHING = lazy_re(
    r"(?i)\s*(?:\[\s*\]|\{\s*\}|null|none|empty|\{\s*\"\w{1,30}\"\s*:\s*(?:\[\s*\]|null|0)\s*\}"
    r"|(?:no|0|zero) (?:\w+ ){0,3}(?:results?|matches|hits|rows?|records?|entries|items?)(?: (?:were )?found)?"
    r"|nothing (?:was )?(?:found|matched)|not found"
    r"|(?:没有|未|无)(?:找到|查到|查询到|搜索到)?(?:任何|相关|匹配的?|符合条件的?)?(?:结果|记录|数据|内容|条目|匹配项)?"
    r"|(?:没有|未|无)(?:找到|查到|查询到|搜索到)[\u4e00-\u9fff]{1,12}|查无\S{1,6}|(?:结果|列表)为空)\s*[.。!！]?\s*"
)


def is_nothing(text: str) -> bool:
    """True for an answer that found nothing: an empty list, no results."""
    return len(text) <= 200 and _NOTHING.fullmatch(text) is not None


def is_empty_result(text: str) -> bool:
    """True for a program's end without any output: it did nothing that can be seen."""
    ended = _EXIT.match(text)
    return ended is not None and not text[ended.end() :].strip()


def _error_in_json(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    for key in _ERROR_KEYS:
        inner = value.get(key)
        if isinstance(inner, dict):
            inner = inner.get("message") or inner.get("detail") or inner.get("code")
        if inner and not isinstance(inner, bool | list):
            return _clean_error(str(inner))
    says_failed = str(value.get("status", "")).lower() in {"error", "failed", "failure"}
    says_failed = says_failed or any(value.get(key) is False for key in ("success", "ok", "succeeded", "成功"))
    if says_failed or value.get("isError") is True:
        return _clean_error(str(value.get("message") or value.get("detail") or value.get("reason") or value.get("status") or "error"))
    return ""


def _clean_error(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if not lines:
        return ""
    line = _raised(lines) if lines[0].lower().startswith("traceback") else lines[0]
    line = re.sub(r"(?i)^(?:\W{0,3}(?:error|错误|失败|exception|报错)\s*[:：]\s*)+", "", line).strip()
    return (line or lines[0])[:300]


def _raised(lines: list[str]) -> str:
    """The line of a traceback that names what was raised; what a program printed after it says nothing of the error."""
    return next((line for line in lines[1:] if _RAISED.match(line)), lines[-1])


_RAISED = lazy_re(r"(?:[A-Za-z_]\w{0,40}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit|Warning)\b")


@dataclass(slots=True)
class _Open:
    """Calls that still wait for their result, oldest first."""

    waiting: list[tuple[int, Turn, str, str, dict[str, Any]]] = field(default_factory=list)

    def take(self, turn: Turn) -> tuple[int, Turn, str, str, dict[str, Any]] | None:
        """The waiting call that this tool turn answers: by id, else by name, else the oldest."""
        # Ids are not unique in real transcripts, so the oldest match wins and every call is taken once.
        for matches in (
            lambda call: bool(turn.tool_call_id) and call[2] == turn.tool_call_id,
            lambda call: not (turn.tool_call_id and call[2]) and bool(turn.name) and call[3] == turn.name,
            lambda call: not turn.tool_call_id and not turn.name,
        ):
            for position, call in enumerate(self.waiting):
                if matches(call):
                    return self.waiting.pop(position)
        return None


def steps_of(turns: Iterable[Turn]) -> tuple[Step, ...]:
    """Return the calls of a transcript in the order in which they were made, each with its result where one came."""
    steps: list[tuple[int, Step]] = []
    open_calls = _Open()
    count = 0
    for turn in turns:
        for call in turn.tool_calls:
            arguments = call.arguments if isinstance(call.arguments, dict) else {"text": call.arguments} if call.arguments else {}
            open_calls.waiting.append((count, turn, call.id, call.name, arguments))
            count += 1
        if turn.role == "tool":
            text = without_briefs(turn.content)
            if taken := open_calls.take(turn):
                number, asked, _, name, arguments = taken
                steps.append((number, Step(name, arguments, asked, turn, error_of(text), changes_state(name))))
            elif turn.name:
                steps.append((count, Step(turn.name, {}, turn, turn, error_of(text), changes_state(turn.name))))
                count += 1
    steps += [
        (number, Step(name, arguments, asked, None, "", changes_state(name))) for number, asked, _, name, arguments in open_calls.waiting
    ]
    return tuple(step for _, step in sorted(steps, key=lambda pair: pair[0]))


def is_thought(step: Step) -> bool:
    """True for calls that only think or compute: they belong to no procedure."""
    return _THOUGHT.match(step.name) is not None


_THOUGHT = lazy_re(r"(?i)(?:think|reflect|plan|calculate|calculator|compute)(?=[^a-z]|$)|思考|计算")


def call_names(steps: Iterable[Step]) -> list[str]:
    """Names of the calls in order, thoughts left out, repetitions in a row told once."""
    names: list[str] = []
    for step in steps:
        if not is_thought(step) and (not names or names[-1] != step.name):
            names.append(step.name)
    return names
