"""What a model is asked: instructions from versioned files, and the episode as fenced data.

The instructions hold nothing of the episode. Everything that came from outside (transcript, goal, verdict, known items, earlier attempts,
complaints) stands between fences with a marker that is derived from the episode's id and occurs in none of these texts, so that no text
can close its own fence or pose as another turn.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hindwise.model.episode import Episode, OutcomeStatus
from hindwise.model.memory import Memory
from hindwise.model.reflection import Complaint
from hindwise.model.turn import Turn
from hindwise.reflect.base import Known
from hindwise.reflect.llm.schema import form_sketch
from hindwise.reflect.llm.window import Gap, Piece, ShownTurn, cut_middle, fit, window
from hindwise.reflect.transcript import language_of_episode, without_briefs
from hindwise.safety.masking import mask
from hindwise.text.clean import clean, one_line, truncate
from hindwise.text.language import Language
from hindwise.text.token_budget import count_tokens

PROMPT_VERSION = "4"
MODEL_BUDGET = 24_000
"""Tokens of prompt and answer together that are never exceeded, whatever the transcript."""
TRANSCRIPT_BUDGET = 16_000
SHORT_TRANSCRIPT_BUDGET = 3_000
"""Of the short form, which is for models whose window is small too: with all else it stays within 4,096 tokens."""
SHORT_ANSWER_TOKENS = 400
ALLOWANCE = 2_500
"""Prompt and answer together may cost 1.3 times the transcript and this, the first time an episode is asked about."""
MIN_ANSWER_TOKENS = 1_000
MAX_ANSWER_TOKENS = 3_000
NOTE_TOKENS, GOAL_TOKENS, COMPLAINT_TOKENS, EXAMPLE_TOKENS = 900, 300, 600, 240
MAX_KNOWN = 10
SCHEMA_TOKENS = 1_300
"""Room for the JSON schema, which some endpoints put into the context."""
_LONG_CHARS = 200_000
"""A transcript of more characters never fits the window whole."""
_LETTERS = "bcdfghjklmnpqrst"
FENCE_TOKENS = 16
"""What a fence of its own costs at most."""
_ENTRY_TOKENS = 3
"""What numbering one known item costs."""

_LANGUAGE = {"en": "English", "zh": "简体中文"}
_BEFORE_EXAMPLES: dict[Language, str] = {
    "en": "People here confirmed these from other tasks; they show what is worth keeping and how, and tell nothing of this task:",
    "zh": "以下是本处人员确认过的其他任务的结论，仅示范什么值得保留、如何表述，与本任务无关：",
}
_GOOD = (OutcomeStatus.SUCCESS,)
_BAD = (OutcomeStatus.PARTIAL, OutcomeStatus.FAILURE, OutcomeStatus.ABORTED)


@dataclass(frozen=True)
class Question:
    """All that one call needs, and what is needed to read its answer."""

    messages: tuple[dict[str, str], ...]
    max_tokens: int
    lang: Language
    shown: dict[int, ShownTurn]
    """By the number the model uses."""
    known: dict[int, Memory]
    """By the number the model uses."""
    transcript_tokens: int
    """Of the turns' words alone, before any is left out."""
    short: bool
    """It asks for the short form."""
    prompt_tokens: int
    """Of the messages. Where an endpoint shows the schema to the model too, SCHEMA_TOKENS come on top."""


def question(episode: Episode, known: Known, complaints: Sequence[Complaint] = (), *, short: bool = False) -> Question:
    """Build the question for one episode, in the long form or the short one. The same input gives the same bytes."""
    texts = _words(episode.turns)
    return _short_question(episode, texts, complaints) if short else _long_question(episode, texts, known, complaints)


def _short_question(episode: Episode, texts: Sequence[str], complaints: Sequence[Complaint]) -> Question:
    """One thing is asked, with an example and without known items or earlier attempts."""
    lang = language_of_episode(episode)
    pieces = window(episode.turns, texts, SHORT_TRANSCRIPT_BUDGET)
    data = {"task": fit(_task(episode), GOAL_TOKENS), "complaints": _told(complaints, COMPLAINT_TOKENS // 3)}
    marker = _marker(episode.id, [*texts, *data.values(), *(turn.name for turn in episode.turns)])
    system = _fill(_prompt("short", lang), language=_LANGUAGE[lang]) + _fill(_prompt("record", lang), marker=marker, today=_day(episode))
    user = _user_message(lang, marker, pieces, data)
    return _question_of(system, user, pieces, texts, lang, SHORT_ANSWER_TOKENS, {}, short=True)


def _long_question(episode: Episode, texts: Sequence[str], known: Known, complaints: Sequence[Complaint]) -> Question:
    whole = sum(map(count_tokens, texts))
    lang = language_of_episode(episode)
    pieces = window(episode.turns, texts, TRANSCRIPT_BUDGET)
    task = _task(episode)
    # Known items are offered where they fit, and the instructions about them cost room themselves.
    offered = any(memory.language == lang for memory in known.memories)
    instructions = _instructions(episode, lang, offered) + _prompt("record", lang)
    bare = count_tokens(instructions) + count_tokens(_user_message(lang, _LETTERS[:6], pieces, {"task": task}))
    beside = _beside(episode, known, lang, whole, int(1.3 * whole) + ALLOWANCE - MIN_ANSWER_TOKENS - bare)
    told = _told(complaints, COMPLAINT_TOKENS)
    data = {"task": task, **beside.data, "complaints": told}
    marker = _marker(episode.id, [*texts, *data.values(), *(turn.name for turn in episode.turns)])
    user = _user_message(lang, marker, pieces, data)
    parts = [_instructions(episode, lang, bool(beside.known)), *([_prompt("contrast", lang)] if data["earlier"] else [])]
    system = "".join([*parts, _fill(_prompt("record", lang), marker=marker, today=_day(episode))])
    spent = count_tokens(system) + count_tokens(user)
    # What is said of the last answer belongs to the second question, whose answer gets as much room as the first.
    allowed = int(1.3 * whole) + ALLOWANCE - spent + count_tokens(told)
    room = max(MIN_ANSWER_TOKENS, min(MAX_ANSWER_TOKENS, allowed, MODEL_BUDGET - SCHEMA_TOKENS - spent))
    return _question_of(system, user, pieces, texts, lang, room, beside.known)


def _question_of(
    system: str,
    user: str,
    pieces: Sequence[Piece],
    texts: Sequence[str],
    lang: Language,
    max_tokens: int,
    known: dict[int, Memory],
    *,
    short: bool = False,
) -> Question:
    return Question(
        messages=({"role": "system", "content": system}, {"role": "user", "content": user}),
        max_tokens=max_tokens,
        lang=lang,
        shown={piece.number: piece for piece in pieces if isinstance(piece, ShownTurn)},
        known=known,
        transcript_tokens=sum(map(count_tokens, texts)),
        prompt_tokens=count_tokens(system) + count_tokens(user),
        short=short,
    )


def _told(complaints: Sequence[Complaint], budget: int) -> str:
    return fit("\n".join(f"- {_complaint_line(complaint)}" for complaint in complaints), budget)


def _day(episode: Episode) -> str:
    return episode.ended_at.date().isoformat()


def _instructions(episode: Episode, lang: Language, with_known: bool) -> str:
    """All that does not change from task to task stands first, so that an endpoint that remembers beginnings reads it once."""
    about_known = _prompt("known", lang) if with_known else ""
    form = form_sketch(with_known=with_known)
    always = _fill(_prompt("system", lang), language=_LANGUAGE[lang], known=about_known, form=form)
    return always + "\n" + _prompt(_mood(episode), lang)


@dataclass(frozen=True)
class _Beside:
    """What stands beside the transcript: known items by number, and the texts by the name of their fence."""

    known: dict[int, Memory]
    data: dict[str, str]


def _beside(episode: Episode, known: Known, lang: Language, whole: int, room: int) -> _Beside:
    """Known items first, then the contrast, then examples, as far as `room` tokens go: a short task is asked about shortly."""
    numbered = _nearest([memory for memory in known.memories if memory.language == lang], min(room - FENCE_TOKENS, 250 + whole // 20, 800))
    listed = "\n".join(f"{number}. {_known_line(memory)}" for number, memory in numbered.items())
    room -= _cost_of_fence(listed)
    others = min(room - count_tokens(_prompt("contrast", lang)) - FENCE_TOKENS, 100 + int(0.15 * whole), 1_200)
    earlier = _contrast(episode, known, others) if others >= 100 else ""
    room -= _cost_of_fence(earlier) + (count_tokens(_prompt("contrast", lang)) if earlier else 0)
    lines = [_example_line(memory) for memory in known.examples if memory.language == lang]
    examples = _as_fit(lines, min(room - FENCE_TOKENS - count_tokens(_BEFORE_EXAMPLES[lang]), EXAMPLE_TOKENS))
    return _Beside(numbered, {"known": listed, "earlier": earlier, "examples": examples})


def _cost_of_fence(text: str) -> int:
    return count_tokens(text) + FENCE_TOKENS if text else 0


def _as_fit(lines: Sequence[str], budget: int) -> str:
    """Whole lines in order, those that fit: half an example shows nothing, and a long one hides no short one behind it."""
    kept: list[str] = []
    for line in lines:
        cost = count_tokens(line) + 1
        if cost <= budget:
            kept.append(line)
            budget -= cost
    return "\n".join(kept)


def _words(turns: Sequence[Turn]) -> list[str]:
    """What a model is shown of each turn: masked, and without briefs of ours, so that nothing told is learned again.

    Masking and counting megabytes takes seconds, so each turn of a very long transcript is cut to its share first; the window cuts most
    of them again. What is stored is masked already: masking here is the second net.
    """
    long = sum(len(turn.content) for turn in turns) > _LONG_CHARS
    share = max(8_000, min(100_000, 600_000 // len(turns))) if long else None
    texts = [turn.model_copy(update={"content": without_briefs(clean(turn.content))}).text() for turn in turns]
    return [mask(cut_middle(clean(text), share)).text for text in texts]


@cache
def _prompt(name: str, lang: Language) -> str:
    return files("hindwise.reflect.llm").joinpath("prompts", f"v{PROMPT_VERSION}-{name}.{lang}.md").read_text(encoding="utf-8")


def load_prompts() -> None:
    """Read every prompt file once, so that no question reads a disk on the event loop. Raises FileNotFoundError where one is missing."""
    for name in ("system", "known", "record", "success", "failure", "unknown", "contrast", "short"):
        _prompt(name, "en")
        _prompt(name, "zh")


def _fill(template: str, **values: str) -> str:
    for name, value in values.items():
        template = template.replace("{{" + name + "}}", value)
    return template


def _mood(episode: Episode) -> str:
    if episode.outcome.status in _GOOD:
        return "success"
    return "failure" if episode.outcome.status in _BAD else "unknown"


def _marker(episode_id: str, texts: Sequence[str]) -> str:
    """Six letters by episode id that occur in none of the texts. Letters, because they cost a third of the tokens of hex digits."""
    salt = 0
    while True:
        marker = "".join(_LETTERS[byte % 16] for byte in hashlib.sha256(f"{episode_id}/{salt}".encode()).digest()[:6])
        if not any(marker in text for text in texts):
            return marker
        salt += 1


def _fence(marker: str, name: str, text: str) -> str:
    return f"<<{marker} {name}\n{text}\n{marker}>>"


def _user_message(lang: Language, marker: str, pieces: Sequence[Piece], data: dict[str, str]) -> str:
    transcript = "\n".join(_piece_line(marker, piece) for piece in pieces) or "(no turns)"
    parts = [_fence(marker, "task", data["task"])]
    parts += [_fence(marker, name, data[name]) for name in ("known", "earlier") if data.get(name)]
    if data.get("examples"):
        parts += [_BEFORE_EXAMPLES[lang], _fence(marker, "examples", data["examples"])]
    parts.append(_fence(marker, "transcript", transcript))
    if data.get("complaints"):
        before = "Your last answer was refused for these reasons; do better:" if lang == "en" else "上次的回答因以下原因未被接受，请改正："
        parts += [before, _fence(marker, "complaints", data["complaints"])]
    parts.append(f"Answer now, in {_LANGUAGE[lang]}: the JSON object alone." if lang == "en" else "现在用简体中文作答：只输出 JSON 对象。")
    return "\n".join(parts)


def _piece_line(marker: str, piece: Piece) -> str:
    if isinstance(piece, Gap):
        return f"{marker} turns {piece.first} to {piece.last} left out"
    turn = piece.turn
    name = f" {one_line(mask(turn.name).text)}" if turn.name and turn.role == "tool" else ""
    return f"{marker} {piece.number} {turn.origin}{name}: {piece.text}"


def _task(episode: Episode) -> str:
    """Goal and verdict; the environment's words about it are worth more room than the goal."""
    outcome = episode.outcome
    lines = [f"outcome: {outcome.status} (says: {outcome.source})"]
    if outcome.score is not None:
        lines.append(f"score: {outcome.score:g}")
    if outcome.note:
        lines.append(f"note: {fit(mask(clean(outcome.note)).text, NOTE_TOKENS)}")
    if episode.goal:
        lines.append(f"goal: {fit(mask(clean(episode.goal)).text, GOAL_TOKENS)}")
    return "\n".join(lines)


def _nearest(memories: Sequence[Memory], budget: int) -> dict[int, Memory]:
    """The nearest known items that fit, numbered from 1. In the transcript's language only: an answer in two would be refused."""
    numbered: dict[int, Memory] = {}
    for memory in memories[:MAX_KNOWN]:
        budget -= count_tokens(_known_line(memory)) + _ENTRY_TOKENS
        if budget < 0:
            break
        numbered[len(numbered) + 1] = memory
    return numbered


def _example_line(memory: Memory) -> str:
    """A confirmed memory with its condition and the words it came from, where the reader may see them."""
    quote = next((place.quote for place in memory.evidence if place.quote), "")
    parts = (memory.applies_when and f"when: {memory.applies_when}", quote and f'said: "{truncate(one_line(quote), 160)}"')
    return "- " + " | ".join(mask(one_line(part)).text for part in (f"{memory.kind}: {memory.conclusion}", *parts) if part)


def _known_line(memory: Memory) -> str:
    return f"{memory.kind}: {mask(memory.conclusion).text}"


def _complaint_line(complaint: Complaint) -> str:
    return one_line(f"{complaint.rule}: {complaint.text}")


def _contrast(episode: Episode, known: Known, budget: int) -> str:
    """One or two earlier attempts that ended the other way: verdict, the calls in order, the last words. Empty where there is none."""
    mine = _mood(episode)
    opposite = {"success": "failure", "failure": "success"}.get(mine)
    others = [other for other in known.earlier if _mood(other) == opposite][:2]
    return "\n\n".join(_attempt(other, budget // len(others)) for other in others)


def _attempt(other: Episode, budget: int) -> str:
    """At most about `budget` tokens: the names of the calls say most about what was done differently."""
    calls = [call.name for turn in other.turns for call in turn.tool_calls]
    last = next((turn.content for turn in reversed(other.turns) if turn.content), "")
    lines = [f"outcome: {other.outcome.status} (says: {other.outcome.source})", f"calls: {', '.join(calls) or 'none'}"]
    lines += [f"note: {other.outcome.note}"] if other.outcome.note else []
    text = mask(clean("\n".join([*lines, f"last words: {last}"]))).text
    return fit(text, budget)
