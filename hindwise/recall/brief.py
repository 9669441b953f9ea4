"""The text that an agent is given: a guide sentence, fixed headings, a line per memory, folded into a token budget. Pure.

Full lines become short ones, and short ones are dropped, from the last item upwards; nothing is cut within a conclusion. The same items
give the same bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hindwise.model.memory import Status
from hindwise.model.turn import Origin
from hindwise.recall import wording
from hindwise.recall.rows import Telling
from hindwise.recall.select import BRIEF_PLACES
from hindwise.text.clean import one_line, truncate
from hindwise.text.language import Language
from hindwise.text.token_budget import count_tokens

Tier = Literal["full", "line", "dropped"]
_MAX_EXTRA_CHARS = 160
"""Of each addition to a full line: the conclusion is the message."""
_MAX_BEFORE_CHARS = 60
_OUTSIDE = frozenset({Origin.TOOL, Origin.WEB})


@dataclass(frozen=True, slots=True)
class Brief:
    """`text`: "" where nothing is told. `tiers`: how much of each item was told, in their order. `needed`: of the shortest brief."""

    text: str
    tokens: int
    tiers: tuple[Tier, ...]
    needed: int = 0


@dataclass(frozen=True, slots=True)
class _Lines:
    section: wording.Section
    full: str
    short: str

    def of(self, tier: Tier) -> str:
        return self.full if tier == "full" else self.short


def write_brief(items: Sequence[Telling], earlier: Mapping[str, str], lang: Language, budget_tokens: int) -> Brief:
    """Write the brief of at most eight items, the most important first; later ones are dropped.

    earlier: by memory id, what a head replaced. `tokens` never exceeds `budget_tokens`.
    """
    lines = [_lines(telling, earlier.get(telling.id, ""), lang) for telling in items[:BRIEF_PLACES]]
    tiers: list[Tier] = ["full"] * len(lines)
    text = _render(lines, tiers, lang)
    while lines and (used := count_tokens(text)) > budget_tokens and _fold(tiers):
        text = _render(lines, tiers, lang)
    beyond: list[Tier] = ["dropped"] * (len(items) - len(lines))
    if all(tier == "dropped" for tier in tiers):
        least = min((count_tokens(_render([line], ["line"], lang)) for line in lines), default=0)
        return Brief("", 0, (*tiers, *beyond), least)
    return Brief(text, used, (*tiers, *beyond))


def _fold(tiers: list[Tier]) -> bool:
    """Take one step down, from the last item upwards: first all lines become short, then they go. False when nothing is left."""
    steps: tuple[tuple[Tier, Tier], ...] = (("full", "line"), ("line", "dropped"))
    for target, lower in steps:
        for at in range(len(tiers) - 1, -1, -1):
            if tiers[at] == target:
                tiers[at] = lower
                return lower != "dropped" or any(tier != "dropped" for tier in tiers)
    return False


def _render(lines: Sequence[_Lines], tiers: Sequence[Tier], lang: Language) -> str:
    told: dict[wording.Section, list[str]] = {}
    for line, tier in zip(lines, tiers, strict=True):
        if tier != "dropped":
            told.setdefault(line.section, []).append(line.of(tier))
    parts = [wording.GUIDE[lang]]
    for section in wording.SECTIONS:
        if of_section := told.get(section):
            parts += [wording.HEADINGS[lang][section], *of_section]
    return "\n".join(parts)


def _lines(telling: Telling, before: str, lang: Language) -> _Lines:
    marks = wording.UNCONFIRMED[lang] if telling.status is Status.PENDING else ""
    marks += wording.DISPUTED[lang] if telling.disputed else ""
    short = f"- {one_line(telling.conclusion)}{marks}"
    extras = [wording.changed(telling.valid_from, _short(before, _MAX_BEFORE_CHARS), lang)] if before else []
    if telling.not_when:
        extras.append(wording.not_when(_short(telling.not_when), lang))
    if cause := _cause(telling):
        extras.append(wording.why(cause, lang))
    extras.append(wording.seen(telling.recorded_at, telling.evidence_count, lang))
    outside = str(telling.origin) if telling.origin in _OUTSIDE else ""
    extras.append(wording.source(shared=telling.space.startswith("agent:"), outside=outside, lang=lang))
    full = f"{short}（{'；'.join(extras)}）" if lang == "zh" else f"{short} ({'; '.join(extras)})"
    return _Lines(wording.SECTION_OF[telling.kind], full, short)


def _cause(telling: Telling) -> str:
    """What stood behind a conclusion, where the conclusion does not say it already."""
    stood_behind = telling.retrospective["what_failed_and_why"] or telling.retrospective["what_worked"]
    cause = _short(stood_behind) if stood_behind else ""
    return "" if cause in telling.conclusion else cause


def _short(text: str, max_chars: int = _MAX_EXTRA_CHARS) -> str:
    return truncate(one_line(text), max_chars)
