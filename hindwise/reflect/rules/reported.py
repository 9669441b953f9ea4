"""How something ended and why, as somebody reported it in one sentence: "after lowering the batch size to 50 the import went through".

Kept in the speaker's own words as an event beside the one of the whole task, with the user alone. The user's word comes before the
agent's; of the agent only the last answer before the user speaks again counts, because what stands further up is on its way.
"""

from collections.abc import Iterator
from itertools import zip_longest

from hindwise.model.episode import OutcomeStatus
from hindwise.model.memory import MAX_CONCLUSION_CHARS, Draft, Evidence, Kind
from hindwise.model.turn import Origin, Turn
from hindwise.reflect import cues
from hindwise.reflect.rules.findings import MAX_QUOTE_CHARS, Read
from hindwise.reflect.rules.statements import sentences_of
from hindwise.reflect.rules.worth import MAX_SENTENCE_CHARS, confirms_cause, is_running, tells_end_with_cause
from hindwise.reflect.transcript import spoken, user_turns
from hindwise.safety.origin import is_order_in_error, trust_of
from hindwise.text.clean import one_line
from hindwise.text.language import language_of
from hindwise.text.lazy_re import lazy_re

MAX_REPORTED = 2
MIN_CHARS = 8
MAX_TURNS = 40


def reported(run: Read) -> list[Draft]:
    """Return at most two events, the user's first; none that is too long to be told whole, and none in another language."""
    found: dict[str, Draft] = {}
    for turn, sentence in (*_of_user(run), *_of_agent(run)):
        line = _plain(sentence)
        if any(mark in sentence for mark in "|├└{}"):
            continue  # a row of a table, a tree of files, a piece of code: cells say little out of their table
        if MIN_CHARS <= len(line) <= MAX_CONCLUSION_CHARS - 24 and language_of(line) == run.language and not is_order_in_error(line):
            found.setdefault(line, _event(run, turn, sentence, line))
    return list(found.values())[:MAX_REPORTED]


_DONE = lazy_re(
    rf"{cues.FINISHED.expression}|✅|已(?:经)?(?![知有然定])[\u4e00-\u9fff]{{1,2}}|完成了|(?:都|全部)(?:生效|通过|完成)"
    r"|\b(?:is|are) now \w+|\b(?:has|have) been \w+ed\b"
)
"""In the words of an agent, and with the marks that agents like."""
_LIST_MARK = lazy_re(r"^\W*(?:\d{1,2}[.)、]\s)?\W*")


def _plain(sentence: str) -> str:
    """One line without the marks of Markdown."""
    line = one_line(sentence).replace("`", "").replace("**", "")
    return _LIST_MARK.sub("", line).strip(" -*#>✅❌⚠️")


def _of_user(run: Read) -> Iterator[tuple[Turn, str]]:
    for turn, words in list(user_turns(run.episode))[-MAX_TURNS:]:
        yield from ((turn, sentence) for sentence in sentences_of(words) if confirms_cause(sentence))
    if not run.succeeded:
        for turn, words in list(user_turns(run.episode))[-MAX_TURNS:]:
            yield from (
                (turn, sentence)
                for sentence in sentences_of(words)
                if len(sentence) <= MAX_SENTENCE_CHARS and cues.TROUBLE.search(sentence)
            )


def _of_agent(run: Read) -> Iterator[tuple[Turn, str]]:
    """Only where nobody judged the task: then what the agent says of its end is all there is to tell. Else its word may be the mistake."""
    if run.episode.outcome.status is not OutcomeStatus.UNKNOWN:
        return
    turns = [t for t in run.episode.turns if t.role in ("user", "assistant") and spoken(t)]
    last = [t for t, then in zip_longest(turns, turns[1:]) if t.role == "assistant" and (not then or then.role == "user")]
    said = [
        (turn, sentence)
        for turn in reversed(last[-MAX_TURNS:])
        for sentence in sentences_of(spoken(turn))
        if len(sentence) <= MAX_SENTENCE_CHARS
    ]
    yield from ((turn, sentence) for turn, sentence in said if tells_end_with_cause(sentence))
    yield from ((turn, sentence) for turn, sentence in said if _DONE.search(sentence) and not is_running(_plain(sentence)))


def _event(run: Read, turn: Turn, sentence: str, line: str) -> Draft:
    origin = Origin.USER if turn.origin is Origin.USER else Origin.AGENT
    if origin is Origin.USER and not confirms_cause(sentence):
        line = run.say(f"The user reported: {line}", f"用户反映：{line}")
    elif origin is Origin.AGENT:
        line = run.say(f"The agent reported: {line}", f"助手报告：{line}")
    return Draft(
        kind=Kind.EVENT,
        conclusion=line,
        topics=("reported",),
        language=run.language,
        importance=6,
        confidence=0.8 if origin is Origin.USER else 0.65,
        origin=origin,
        trust=trust_of([origin]),
        evidence=(Evidence(episode_id=run.episode.id, seq=turn.seq, turn_id=turn.turn_id, quote=sentence[:MAX_QUOTE_CHARS].strip()),),
    )
