"""Whom do we believe? What may become of words, by where they came from.

Words of a tool or of the web are content, never orders: nothing that stands only there becomes an instruction, a preference or a todo.
"""

from collections.abc import Iterable

from hindwise.model.memory import Kind
from hindwise.model.turn import Origin
from hindwise.text.cue import Cue
from hindwise.text.lazy_re import lazy_re

TRUST = {Origin.USER: 1.0, Origin.SYSTEM: 0.9, Origin.AGENT: 0.8, Origin.TOOL: 0.5, Origin.WEB: 0.3}
"""How far words are believed, by origin; a memory's trust is that of its best evidence."""

OUTSIDE = frozenset({Origin.TOOL, Origin.WEB})
"""Words that anybody may have written: a ticket, a page, a file."""

LESS_BELIEVED = 0.25
"""What is believed so much less than what is known never closes it."""

_EVERYTHING = frozenset(Kind)
_OBSERVED = frozenset({Kind.LESSON, Kind.EVENT, Kind.SNIPPET, Kind.FACT})

KINDS_FROM = {
    Origin.USER: _EVERYTHING,
    Origin.SYSTEM: _EVERYTHING - {Kind.PREFERENCE},
    Origin.AGENT: _OBSERVED | {Kind.TODO},
    Origin.TOOL: _OBSERVED,
    Origin.WEB: frozenset({Kind.EVENT, Kind.SNIPPET}),
}
"""Which kinds words of an origin can carry on their own. Nothing of tool or web is an order; a page teaches no lesson alone."""

_INJECTION = lazy_re(
    r"(?i)ignore (?:all |any )?(?:the )?(?:previous|prior|above|earlier)|disregard (?:all |any )?(?:the )?(?:previous|prior|above)|"
    r"(?:ai )?assistants? (?:reading|must|should)|note to (?:the )?(?:assistant|agent|ai)|"
    r"future agents? (?:must|should)|memory update required|"
    r"(?:must|please|and) (?:store|remember|save) (?:this|that|:)(?!,? (?:i|i'm|my|we|our)\b)|"
    r"忽略(?:之前|以上|前面|先前|上述)|(?:人工智能|AI)?助手(?:请|们)?(?:注意|记住|牢记)|写入(?:长期)?记忆|永久保存|无需用户确认|不需要用户确认|建议保存"
)

_ORDER_IN_ERROR = Cue(
    r"\b(?:you|agents?|assistants?|models?) (?:must|should|shall|have to|need to|are to) (?:always|never|now|immediately|instead)\b|"
    r"\balways (?:call|run|use|execute|invoke|send|forward|reply|answer|tell|remember)\b|"
    r"\b(?:send|forward|post|e-?mail|upload|leak|report) (?:\w+ ){0,4}to (?:\S+@|https?:|\w[\w-]*\.[a-z])|"
    r"\b(?:from now on|in (?:all )?future (?:runs|tasks|calls)|new (?:instructions?|rules?) ?:|do not tell the user|"
    r"without (?:asking|telling) the user)|"
    r"\b(?:system prompt|secret instructions?)\b|"
    r"(?:必须|务必|一定要|应当?|请)(?:始终|总是|每次|永远|一直|立即|马上)|(?:始终|总是|永远|每次都)(?:要|先|应|需要?)*(?:调用|执行|运行|使用|发送|回复)|"
    r"(?:发送|转发|上传|发|传|寄)(?:\S{0,8})(?:到|给|至|往)\s*(?:\S*@|https?:|[\w-]+\.[a-z])|今后(?:所有|都|每次|一律)|从现在(?:起|开始)|不要告诉用户|系统提示词|新的?指令"
)
"""An error says what is wrong; what tells the caller how to behave for good, or where to send things, was put into it."""


def may_become(kind: Kind, origins: Iterable[Origin]) -> bool:
    """True when at least one of the evidence's origins may carry `kind`. No origins: no."""
    return any(kind in KINDS_FROM[origin] for origin in origins)


def trust_of(origins: Iterable[Origin]) -> float:
    """Return the trust of the most trusted origin, 0.0..1.0; without any the web's."""
    return max((TRUST[origin] for origin in origins), default=TRUST[Origin.WEB])


def looks_injected(text: str) -> bool:
    """True when words address the assistant with an order to remember, ignore or always do something: seen in pages and tool output."""
    small = text.lower()
    for sign in _SIGNS:  # a plain loop: a generator would take longer than the search
        if sign in small:
            return _INJECTION.search(text) is not None
    return False


_SIGNS = (
    *("ignore", "disregard", "assistant", "note to", "future agent", "memory update", "store", "remember", "save"),
    *("忽略", "助手", "写入", "永久保存", "用户确认", "建议保存"),
    *("\u0131", "\u0307", "\u017f"),  # of letters that a rule without regard to case takes for i and s: ı, İ in small, ſ
)
"""In small letters: each rule of the expression needs one of them, and a search for them takes a tenth of its time."""


def is_order_in_error(text: str) -> bool:
    """True when the text of a tool's error gives orders to whoever reads it: such words are told to nobody."""
    return looks_injected(text) or _ORDER_IN_ERROR.search(text) is not None
