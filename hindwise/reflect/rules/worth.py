"""Does a single turn hold anything worth carrying beyond its own task? Decided from its words and from who said them, free of any model.

Of the user: what they state of themselves, order for good, or confirm as the cause or the fix. Of the agent: how it ended, with the cause.
Of a tool: a short error that explains a failure. Never: fillers, progress, questions, suppositions, jokes, what others said, raw dumps,
secrets, and orders that stand in what was read.
"""

from hindwise.model.turn import Origin, Turn
from hindwise.reflect import cues
from hindwise.reflect.rules.statements import sentences_of, statements_of
from hindwise.reflect.transcript import error_of, spoken
from hindwise.safety.masking import mask
from hindwise.safety.origin import is_order_in_error, looks_injected
from hindwise.text.cue import Cue

MAX_RAW_CHARS = 500
"""A longer result of a tool is a dump: its gist belongs in a retrospective, not its lines."""
MAX_REPORT_CHARS = 4_000
MAX_SENTENCE_CHARS = 400
"""A longer one is no report of one thing."""

_CONFIRMED = Cue(
    r"\b(?:is|are) (?:green|back|fine|up) (?:again|now)\b|\b(?:went|goes) through\b|\b(?:solved|fixed|resolved|works now"
    r"|working again)\b"
    r"|\b(?:that|it|this) (?:worked|works|did it|fixed it|solved it|helped)\b"
    r"|解决了|搞定了|好了|可以了|修好了|成功了|恢复了|通过了|正常了|没事了"
)
_CAUSE = Cue(
    r"\bbecause\b|\bdue to\b|\b(?:since|as|after|by|once) (?:\w+ ){0,3}\w+ing\b|\bafter i\b|\bturn(?:s|ed) out\b|\bcaused by\b"
    r"|\bthe (?:cause|reason|problem|issue|culprit) was\b|\bit was (?:the|a|an|my|our)\b"
    r"|原来|因为|由于|是因为|之后就|改成|换成|把.{1,20}(?:改|换|设|调|关|打开)|原因|没设|忘了"
)
_ENDED = Cue(
    r"\b(?:is|are|was|were|been|be|could not|couldn't|did not|didn't) (?:\w+ ){0,2}\w+(?:ed|en|nt|lt|ne)\b"
    r"|\b(?:failed|succeeded|finished|completed)\b"
    r"|失败|成功|被拒|没有?(?:能)?(?:完成|成功|通过|送达)|没\S{0,2}成|未能?(?:完成|成功|通过)"
    r"|已(?:经)?(?:成功)?(?:完成|改为|取消|拒绝|处理好|回滚|恢复|修复|部署|导入)"
)
_RUNNING = Cue(
    r"\b(?:working on|in progress|let me|please wait|one moment)|\bi(?:'ll| will) (?:now )?(?:open|check|look|start|try)"
    r"|\d{1,3} ?% (?:done|complete)|\bstill (?:running|working)\b"
    r"|正在|请稍等|稍等|继续中|处理中|进行中|我来(?:看|查|试)|\d\s?/\s?\d"
)
_WHY = Cue(
    r"\bbecause\b|\bdue to\b|\bcaused by\b|\bsince the\b|\bthe (?:cause|reason) (?:is|was)\b|\bas the \w+ (?:was|is)\b"
    r"|\b(?:failed|refused|rejected|bounced|stopped|n't (?:be )?\w+|not (?:be )?\w+): \w+"
    r"|因为|由于|原因是?|原来|不允许|[：:].{0,40}(?:不|没|未|缺|超|是|为)"
)


def confirms_cause(sentence: str) -> bool:
    """True where somebody says that it works now, and by what."""
    if len(sentence) > MAX_SENTENCE_CHARS:
        return False
    return bool(_CONFIRMED.search(sentence) and _CAUSE.search(sentence)) and not sentence.endswith(("?", "？"))


def is_running(sentence: str) -> bool:
    """True for what is still on its way, or only announced."""
    return _RUNNING.search(sentence) is not None or sentence.endswith(("?", "？", ":", "："))


def tells_end_with_cause(sentence: str) -> bool:
    """True for a report of how something ended together with why; not for what is still on its way."""
    if len(sentence) > MAX_SENTENCE_CHARS:
        return False
    return bool(_ENDED.search(sentence) and _WHY.search(sentence)) and not _RUNNING.search(sentence) and not sentence.endswith(("?", "？"))


def why_not_kept(turn: Turn) -> str | None:
    """Return None when the turn holds something to carry on, else why not."""
    text = spoken(turn)
    if not text or cues.is_filler(text):
        return "a filler: it says nothing"
    if turn.origin in (Origin.TOOL, Origin.WEB):
        return _of_tool(text)
    if turn.origin is Origin.USER:
        return _of_user(text)
    return _of_agent(text)


def _of_tool(text: str) -> str | None:
    error = error_of(text)
    if len(text) > MAX_RAW_CHARS:
        return f"raw output of more than {MAX_RAW_CHARS} characters"
    if not error:
        return "an answer of a tool: what it means stands in the agent's words"
    return "orders in a tool's output" if is_order_in_error(text) else None


def _of_user(text: str) -> str | None:
    masked = mask(text)
    if any(True for _ in statements_of(masked.text)):
        return None
    if any(confirms_cause(s) for s in sentences_of(masked.text)):
        return None
    return "nothing but a secret" if masked.found else "no statement of the user that outlives this task"


def _of_agent(text: str) -> str | None:
    if looks_injected(text):
        return "orders that the agent read somewhere"
    if len(text) > MAX_REPORT_CHARS:
        return "a long text: its gist belongs in a retrospective"
    if any(tells_end_with_cause(s) for s in sentences_of(text)):
        return None
    return "no final outcome with its cause"
