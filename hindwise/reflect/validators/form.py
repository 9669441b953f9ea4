"""Has a draft all that its kind needs, in one line, in the transcript's language?"""

from hindwise.model.episode import Episode
from hindwise.model.memory import MAX_CONCLUSION_CHARS, SLOTTED, Draft, Kind
from hindwise.reflect.steps import language_in
from hindwise.reflect.validators.base import Said, turns_of
from hindwise.text.language import language_of

IN_CHINESE = {
    Kind.LESSON: "经验",
    Kind.FACT: "事实",
    Kind.PREFERENCE: "偏好",
    Kind.INSTRUCTION: "约定",
    Kind.TODO: "待办",
    Kind.EVENT: "事件",
    Kind.SNIPPET: "摘录",
}
"""How complaints in Chinese name the kinds."""


def lesson_has_trigger(episode: Episode, draft: Draft) -> Said | None:
    """A lesson says when it applies, and does not only admonish."""
    if draft.kind is not Kind.LESSON or draft.applies_when.strip():
        return None
    return Said(
        "a lesson needs `applies_when`: the condition under which to act on it",
        "经验必须填写 `applies_when`：在什么条件下适用",
    )


def has_slot(episode: Episode, draft: Draft) -> Said | None:
    """Facts, preferences, instructions and todos have a subject and an attribute."""
    if draft.kind not in SLOTTED or (draft.subject.strip() and draft.attribute.strip()):
        return None
    return Said(
        f"a {draft.kind} needs `subject` and `attribute`: whom and what it is about",
        f"{IN_CHINESE[draft.kind]}必须填写 `subject` 和 `attribute`：说的是谁、是哪一方面",
    )


def fits_in_one_line(episode: Episode, draft: Draft) -> Said | None:
    """One line of at most 160 characters."""
    if draft.conclusion.strip() and "\n" not in draft.conclusion and len(draft.conclusion) <= MAX_CONCLUSION_CHARS:
        return None
    return Said(
        f"the conclusion must be one line of at most {MAX_CONCLUSION_CHARS} characters",
        f"`conclusion` 必须是一行，最多 {MAX_CONCLUSION_CHARS} 字",
    )


def speaks_the_language(episode: Episode, draft: Draft) -> Said | None:
    """The conclusion is in the transcript's language, or in that of the turn it stands on."""
    # A Chinese sentence full of tool names is still Chinese: four Chinese characters are enough there.
    chinese = sum("\u4e00" <= c <= "\u9fff" for c in draft.conclusion)
    written = "zh" if language_of(draft.conclusion) == "zh" or chinese >= 4 else "en"
    turns = [turn for place in draft.evidence for turn in turns_of(episode, place)]
    allowed = {language_in(episode)} | ({language_of(t.content) for t in turns if t.role == "user"} if draft.kind in SLOTTED else set())
    if written in allowed and draft.language in allowed:
        return None
    english, chinese_name = ("Chinese", "中文") if "zh" in allowed else ("English", "英文")
    return Said(
        f"write the conclusion in the transcript's language ({english}) and set `language` accordingly",
        f"`conclusion` 要用对话记录的语言（{chinese_name}）书写，`language` 与之一致",
    )


def agrees_with_itself(episode: Episode, draft: Draft) -> Said | None:
    """Value ranges that the schema cannot tell: evidence of this episode only; only a lesson has a lesson type."""
    if any(place.episode_id != episode.id for place in draft.evidence):
        return Said("evidence must name this episode and no other", "证据只能出自本次任务，不能出自其他任务")
    if draft.lesson_type is not None and draft.kind is not Kind.LESSON:
        return Said("only a lesson has a `lesson_type`", "只有经验才有 `lesson_type`")
    return None
