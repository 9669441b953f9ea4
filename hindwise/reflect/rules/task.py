"""What was asked: the request among greetings, wishes and feelings, in general words that fit a condition. English and Chinese."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from hindwise.model.episode import Episode
from hindwise.model.memory import Kind
from hindwise.reflect import cues
from hindwise.reflect.rules import task_en, task_zh
from hindwise.reflect.rules.statements import asks_too, kind_of, sentences_of
from hindwise.reflect.rules.task_en import Request
from hindwise.reflect.transcript import Language, Step, call_names, user_turns
from hindwise.safety.personal import find_personal, scrub
from hindwise.text.clean import one_line, truncate
from hindwise.text.generalise import generalise
from hindwise.text.lazy_re import lazy_re
from hindwise.text.remembered import remembered

MAX_FIRST_CHARS = 1_000
"""Of a goal or first message: what is longer is material, not the request."""

MAX_TURNS = 8
MAX_SENTENCES = 40
MAX_SENTENCE_CHARS = 400
_NUMBERED = lazy_re(r"(?i)\s+(?:on|at|by|for|from|to|until|before|after)\s+(?:[a-z]+\s+)?\S*\d\S*|[自从在]?[\d月日号至到~-]*\d+[月日号]的?")
_LATER = 0.55
"""What each later turn weighs less: a task is mostly told at the beginning, but seldom in a greeting."""


@dataclass(frozen=True, slots=True)
class Task:
    """What was asked. `phrase` is general, short and holds nothing personal; empty where no request was found."""

    phrase: str
    asks: str
    """How the condition goes on: `to` a verb, `about` a noun, `title` for a goal that is neither."""
    specific: str
    """The same with places and times: for what only the user reads."""
    first: str
    """The goal or the first request, word for word."""
    requests: tuple[str, ...]
    """Up to three requests in general words, the phrase's among them: the lesson's key besides its text."""
    places: tuple[str, ...] = ()
    """The requests with where and for what, without dates and numbers: who asks for the same again mostly says it again."""
    calls: tuple[str, ...] = ()
    """The telling calls: they name the task where words do not."""
    hooked: bool = False
    """It was the run of a workflow, told by a hook."""

    def asked(self, language: Language) -> str:
        """The condition of a lesson: `asked to book a flight` / 「预订航班」, to stand between `When …,` / 「当…时，」."""
        zh = language == "zh"
        if not self.phrase:
            return self._by_calls(language)
        if self.asks == "title":
            return f"处理“{self.phrase}”" if zh else f'working on "{self.phrase}"'
        if self.asks == "to":
            return self.phrase if zh else f"asked to {self.phrase}"
        return f"被问到“{self.phrase}”" if zh else f"asked about {self.phrase}"

    def _by_calls(self, language: Language) -> str:
        if not self.calls:
            if self.hooked:
                return "运行此工作流" if language == "zh" else "running this workflow"
            return "未用工具作答" if language == "zh" else "answering without any tool"
        path, thing = " → ".join(dict.fromkeys(self.calls[-2:])), _thing(self.calls[-1])
        if language == "zh":
            return f"处理{'' if not thing.isascii() else ' '}{thing or '任务'}（{path}）"
        return f"handling {thing or 'a task'} ({path})"

    def title(self, language: Language, *, own: bool) -> str:
        """The task at the head of an event: `Book a flight` / 「预订航班」; `own`: with places and times, for the user alone."""
        if not self.phrase:
            text = self._by_calls(language)
            if not self.calls:
                text = ("工作流运行" if language == "zh" else "workflow run") if self.hooked else "答复" if language == "zh" else "answer"
        else:
            text = (self.specific if own else self.phrase) or self.phrase
            text = f"{'关于' if language == 'zh' else 'question about '}{text}" if self.asks == "about" else text
        return text[:1].upper() + text[1:]


def _thing(name: str) -> str:
    """What a call is about, from its name without the verb: `cancel_reservation` → `reservation`; 「提交申请」→「申请」."""
    last = re.split(r"\.|__", name)[-1]
    if not last.isascii():
        return re.sub(rf"^(?:{task_zh.VERBS})(?=.{{2}})", "", last)[:12]
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", last)]
    return " ".join(words[1:4]) if len(words) > 1 else ""


def task_of(episode: Episode, names: Collection[str], language: Language, steps: Sequence[Step] = ()) -> Task:
    """Read the task: the goal where the caller gave one, else the user's requests, the one that says most, sooner before later."""
    said = [words for _, words in user_turns(episode)][:MAX_TURNS]
    found = list(_requests(episode.goal, said, names, language))
    ranked = sorted(found, key=lambda pair: -pair[1].weight)
    last = max((place for place, step in enumerate(steps) if step.changes and step.worked), default=len(steps) - 1)
    hooked = episode.source not in ("api", "cli")
    calls = tuple(call_names(steps[: last + 1])[-4:])
    first = truncate(one_line(episode.goal) or _first_words(said), MAX_FIRST_CHARS)
    if not ranked:
        # Without a request and without calls the trouble itself is what the task is about.
        title = _title(episode.goal, names, language) or ("" if steps or hooked else _trouble(said, names, language))
        return Task(title, "title" if title else "", title, first, (title,) if title else (), (), calls, hooked)
    best = ranked[0][1]
    phrases = tuple(dict.fromkeys(request.phrase for _, request in ranked))
    asks = best.asks
    return Task(
        best.phrase,
        asks,
        best.specific,
        first or ranked[0][0],
        phrases[:3],
        _places(ranked[:4], names, language),
        calls,
        hooked,
    )


def requests_in(text: str, names: Collection[str], language: Language) -> Iterator[tuple[str, Request]]:
    """Yield the sentences of one message with what each asks for, in order; phrases that name somebody are left out.

    "Cancel the tour and refund the deposit" / 「取消行程，再把订金退给我」 are two: each part is told with its own request.
    """
    parts = (part for sentence in sentences_of(text[:4_000])[:MAX_SENTENCES] for part in _coordinate(sentence, language))
    for part in parts:
        if request := _request_of(part[: MAX_SENTENCE_CHARS + 1], frozenset(names), language):
            yield part, request


def _coordinate(sentence: str, language: Language) -> list[str]:
    """The parts of a sentence that each open with a verb of doing; the sentence where there is but one."""
    if len(sentence) > MAX_SENTENCE_CHARS:
        return [sentence]
    cut = task_zh.COORDINATE if language == "zh" else task_en.COORDINATE
    return [part.strip() for part in cut.split(sentence) if part.strip()]


@remembered(2_048)
def _request_of(sentence: str, names: frozenset[str], language: Language) -> Request | None:
    """What one sentence asks for, or None. Remembered: the task and its unmet requests are read from the same sentences."""
    if not _may_ask(sentence):
        return None
    read = task_zh.request_of if language == "zh" else task_en.request_of
    request = read(_impersonal(sentence[:MAX_SENTENCE_CHARS], names))
    phrase = _checked(request.phrase, names, language) if request else ""
    return request._replace(phrase=phrase) if request and phrase else None


def _requests(goal: str, said: Sequence[str], names: Collection[str], language: Language) -> Iterator[tuple[str, Request]]:
    """Sentences with what they ask for; those of the goal weigh most, those of later turns less."""
    sources = [(-2, goal)] if goal else []
    sources += list(enumerate(said))
    named = frozenset(names)
    count = 0
    for place, text in sources:
        for number, sentence in enumerate(sentences_of(text[:4_000])):
            count += 1
            if count > MAX_SENTENCES:
                return
            if request := _request_of(sentence[: MAX_SENTENCE_CHARS + 1], named, language):
                weight = request.weight - _LATER * place - 0.1 * min(number, 5) + (5 if place < 0 else 0)
                yield one_line(sentence), request._replace(weight=weight)


def _places(ranked: Sequence[tuple[str, Request]], names: Collection[str], language: Language) -> tuple[str, ...]:
    """The specific phrases without what holds a number, the words that led to it included."""
    told = dict.fromkeys(_NUMBERED.sub("", request.specific).strip() for _, request in ranked if request.specific != request.phrase)
    known = {request.phrase for _, request in ranked}
    return tuple(text for text in told if text not in known and not re.search(r"\d", text) and _checked(text, names, language))


def _may_ask(sentence: str) -> bool:
    """What the user is, prefers or orders for good is no request of this task; nor is a supposition or a thank-you."""
    thanks = cues.THANKS.search(sentence[:40])
    if cues.is_filler(sentence) or (thanks and thanks.start() < 3 and len(sentence) < 40):
        return False
    stated = kind_of(sentence[:MAX_SENTENCE_CHARS]) in (Kind.INSTRUCTION, Kind.PREFERENCE, Kind.FACT)
    return not stated or asks_too(sentence[:MAX_SENTENCE_CHARS])


def _impersonal(sentence: str, names: Collection[str]) -> str:
    text = one_line(sentence)
    for span in reversed(find_personal(text, names=names)):
        text = text[: span.start] + "…" + text[span.end :]
    return text


def _checked(phrase: str, names: Collection[str], language: Language) -> str:
    """The phrase, or nothing where it still names somebody."""
    return phrase if "…" not in phrase and "http" not in phrase and scrub(phrase, names=names, language=language) == phrase else ""


def _first_words(said: Sequence[str]) -> str:
    """The first message that is more than a filler, without standing orders where it asks for something besides."""
    first = next((words for words in said if not cues.is_filler(words)), said[0] if said else "")
    asking = [s for s in sentences_of(first[:4_000])[:MAX_SENTENCES] if _may_ask(s)] if len(first) <= 4_000 else []
    return one_line(" ".join(asking) or first)


def _trouble(said: Sequence[str], names: Collection[str], language: Language) -> str:
    """The first sentence, in general words, of whoever tells what is wrong and asks for nothing: `heater is cold`."""
    first = next((s for words in said[:1] for s in sentences_of(truncate(words, 1_000)) if not cues.is_filler(s) and _may_ask(s)), "")
    return _title(generalise(_impersonal(first, names)), names, language) if len(first) >= 6 else ""


def _title(goal: str, names: Collection[str], language: Language) -> str:
    """A goal that is no sentence with a verb, as the caller named it: whole, or its first clause."""
    text = _impersonal(goal, names).strip(" .。!！?？")
    limit = task_zh.MAX_CHARS if language == "zh" else task_en.MAX_CHARS
    if len(text) > limit:
        text = re.split(r"[,;:，。；：]|\s[-–—]\s", text)[0].strip()
    return _checked(text, names, language) if 0 < len(text) <= limit else ""
