"""The environment's verdict in a note: which calls were missing, extra, or made with other arguments. Names only, never values."""

import re
from dataclasses import dataclass

from hindwise.text.lazy_re import lazy_re
from hindwise.text.remembered import remembered

_SECTIONS = {
    "missing": lazy_re(r"(?i)(?:missing|not called|缺少|遗漏|未调用)(?: calls?|的?调用)?\s*[:：]\s*([^;；\n]+)"),
    "extra": lazy_re(r"(?i)(?:extra|unexpected|unneeded|多余|不该)(?: calls?|的?调用)?\s*[:：]\s*([^;；\n]+)"),
    "other": lazy_re(r"(?i)(?:other|different|wrong) arguments?\s*[:：]\s*([^;；\n]+)|参数(?:不同|有误|错误)\s*[:：]\s*([^;；\n]+)"),
}
_CALL = lazy_re(r"([A-Za-z_\u4e00-\u9fff][\w.\u4e00-\u9fff-]{1,60})(?:\s*[x×](\d+))?(?:\s*[(（]([^)）]*+)(?:[)）]|$))?")
"""Arguments of any length, also cut ones, are passed over whole and once: their words are no calls."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the environment's note names: calls that were missing or extra (with how often), and arguments that were other ones, by call."""

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    other: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def is_empty(self) -> bool:
        """True when the note names no call."""
        return not (self.missing or self.extra or self.other)


@remembered(64)  # the lessons of an episode read its note again and again
def verdict_of(note: str) -> Verdict:
    """Read a note such as `missing: a; extra: b; other arguments: c(x, y)`; Chinese headings too. Anything else gives an empty verdict."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for section, pattern in _SECTIONS.items():
        if match := pattern.search(note):
            text = next(group for group in match.groups() if group)
            found[section] = [
                (call[1], tuple(a for a in re.split(r"[,，、\s]+", call[3] or "") if a))
                for call in _CALL.finditer(text)
                if len(call[1]) > 2
            ]
    return Verdict(
        missing=tuple(dict.fromkeys(name for name, _ in found.get("missing", ()))),
        extra=tuple(dict.fromkeys(name for name, _ in found.get("extra", ()))),
        other=tuple(found.get("other", ())),
    )
