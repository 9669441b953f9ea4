"""Does a draft stand on this transcript? Evidence, quotes, tools; and not on a brief of ours."""

from hindwise.model.episode import Episode
from hindwise.model.memory import SLOTTED, Draft
from hindwise.reflect.transcript import holds_brief, without_briefs
from hindwise.reflect.validators.base import Said, fold, folded, shorten, turns_of
from hindwise.reflect.validators.form import IN_CHINESE
from hindwise.reflect.verdict import verdict_of
from hindwise.safety.masking import mask


def has_evidence(episode: Episode, draft: Draft) -> Said | None:
    """At least one place in the transcript."""
    if any(turns_of(episode, place) for place in draft.evidence):
        return None
    return Said(
        "name at least one turn of the transcript as evidence (its turn id or seq) with a quote from it",
        "至少指明对话记录中的一轮作为证据（轮次编号），并引用其中的原话",
    )


def statement_is_quoted(episode: Episode, draft: Draft) -> Said | None:
    """A fact, preference, instruction or todo stands on somebody's words, so it quotes them: a turn's number alone proves nothing."""
    if draft.kind not in SLOTTED or not draft.evidence or any(place.quote.strip() for place in draft.evidence):
        return None
    return Said(
        f"a {draft.kind} needs a `quote`: words copied out of the turn that says it",
        f"{IN_CHINESE[draft.kind]}必须有 `quote`：从说出它的那一轮逐字抄录",
    )


def quotes_occur(episode: Episode, draft: Draft) -> Said | None:
    """Every quote stands in the turn that it names; NFKC, white space folded."""
    for place in draft.evidence:
        turns, where = turns_of(episode, place), place.turn_id or place.seq
        if not turns:
            return Said(
                f"evidence names turn {where}, which is not in the transcript: use an existing turn",
                f"证据指向第 {where} 轮，但记录中没有这一轮：请用存在的轮次",
            )
        if place.quote and not any(fold(place.quote) in folded(turn.text()) for turn in turns):
            told = shorten(mask(place.quote).text)
            return Said(
                f'the quote "{told}" does not occur in turn {where}: copy it word for word',
                f"引文“{told}”没有出现在第 {where} 轮：请逐字抄录",
            )
    return None


def not_from_a_brief(episode: Episode, draft: Draft) -> Said | None:
    """Nothing is learned again from a brief that was told to the agent."""
    for place in draft.evidence:
        for turn in turns_of(episode, place):
            if (
                holds_brief(turn.content)
                and place.quote
                and fold(place.quote) not in fold(without_briefs(turn.content) + turn.text()[len(turn.content) :])
            ):
                return Said(
                    "the quote stands in a brief that was given to the agent: it is known already, leave it out",
                    "引文出自先前提供给智能体的简报：这是已知内容，请去掉",
                )
    return None


def tools_occur(episode: Episode, draft: Draft) -> Said | None:
    """Every tool named was called, answered, or is named by the environment's note."""
    verdict = verdict_of(episode.outcome.note)
    known = {call.name for turn in episode.turns for call in turn.tool_calls} | {t.name for t in episode.turns if t.role == "tool"}
    known |= {*verdict.missing, *verdict.extra, *(name for name, _ in verdict.other)}
    unknown = [name for name in draft.tools if name not in known and name not in episode.outcome.note]
    if not unknown:
        return None
    name = shorten(unknown[0])
    return Said(
        f"tool {name} does not occur in the transcript: name only tools that were called",
        f"记录中没有工具 {name}：只写确实调用过的工具",
    )
