"""A turn of a session with what is read from it once: does it open, close, thank, ask, and what is it about?"""

from dataclasses import dataclass
from functools import cached_property

from hindwise.model.turn import Turn
from hindwise.reflect import cues as common
from hindwise.reflect.rules import task_en, task_zh
from hindwise.reflect.rules.statements import sentences_of
from hindwise.reflect.segment import cues
from hindwise.reflect.transcript import spoken
from hindwise.text.language import language_of
from hindwise.text.tokens import tokens

_MAX_CHARS = 2_000
_LEADING = 3
"""Sentences among which one may say that something new begins."""
_MARKS = " ,，.。:：;；!！–—-"

_GENERAL_EN = """
    help thank can could would like need want know get make tell check find look new task question topic sure great good
    done one also use work time day let now right ok okay hello hi welcom anyth els assist provid inform detail user id
    result true fals null name order
"""
_GENERAL = frozenset(_GENERAL_EN.split())
_LITTLE_ZH = frozenset("的了我你您请帮把要一下是在有吗呢这那个给和也都就不能可以什么怎么好没还再想需谢先吧啊到为对会已经被让跟与及或")


@dataclass(frozen=True)
class Spoken:
    """A turn with what is read from it once."""

    turn: Turn

    @cached_property
    def words(self) -> str:
        """Its own words, without briefs and client notes."""
        return spoken(self.turn)[:_MAX_CHARS] if self.turn.role != "tool" else self.turn.content[:_MAX_CHARS]

    @cached_property
    def by_user(self) -> bool:
        """Only a user's own words begin a task: nothing that a tool or a page says."""
        return self.turn.role == "user" and self.turn.origin == "user"

    @cached_property
    def says(self) -> bool:
        """A user's turn that is more than a filler."""
        return self.by_user and bool(self.words) and not common.is_filler(self.words)

    @cached_property
    def content(self) -> frozenset[str]:
        """The telling tokens of words and calls."""
        calls = " ".join(f"{call.name} {call.arguments}" for call in self.turn.tool_calls)
        return telling(f"{self.words} {calls[:_MAX_CHARS]}")

    @cached_property
    def tools(self) -> frozenset[str]:
        """Names of what it calls."""
        return frozenset(call.name for call in self.turn.tool_calls) | ({self.turn.name} if self.turn.role == "tool" else frozenset())

    @cached_property
    def begun(self) -> str:
        """What follows the words that open a task; empty where it opens none. They may stand behind a thank-you for the last one."""
        if not self.says or cues.RETURNS.search(self.words[:200]):
            return ""
        at = 0
        for sentence in sentences_of(self.words[:400])[:_LEADING]:
            at = max(at, self.words.find(sentence, at))
            if at < 200 and (opening := cues.OPENS.search(sentence)):
                return self.words[at + opening.end() :].lstrip(_MARKS) or sentence
        return ""

    @cached_property
    def asked(self) -> str:
        """Its words behind the thanks or the approval that it begins with."""
        at = 0
        for sentence in sentences_of(self.words[:400])[:_LEADING]:
            at = max(at, self.words.find(sentence, at))
            if not _accepts(sentence):
                thanks = next((sentence[: comma + 1] for mark in ",，" if (comma := sentence.find(mark)) > 0), "")
                return self.words[at + len(thanks) if _accepts(thanks) else at :].lstrip(_MARKS)
        return self.words

    @property
    def thanks_first(self) -> bool:
        """It begins with thanks for what was done, or takes it for done, and goes on."""
        return self.says and len(self.asked) < len(self.words.lstrip(_MARKS))

    @cached_property
    def thanks(self) -> bool:
        """What stands before it are thanks in so many words, not just an "OK"."""
        return self.thanks_first and common.THANKS.search(self.words[: len(self.words) - len(self.asked)]) is not None

    @cached_property
    def added(self) -> str:
        """What it asks for besides, after the words that say so ("Also, …"); empty where it does not."""
        marked = cues.ADDS.match(self.asked)
        return self.asked[marked.end() :].lstrip(_MARKS) if marked else ""

    @property
    def opens(self) -> bool:
        """It says that something new begins."""
        return bool(self.begun)

    @cached_property
    def may_begin(self) -> bool:
        """No thank-you and no good-bye alone."""
        ends = self.closes or (self.wraps and not self.requests and not self.asks)
        return self.says and (self.opens or not ends)

    @cached_property
    def closes(self) -> bool:
        """It says that a task is over."""
        words = self.words
        short = self.by_user and len(words) <= 160 and "?" not in words and "？" not in words
        return short and cues.CLOSES.search(words) is not None and common.COMPLAINT.search(words) is None

    @cached_property
    def wraps(self) -> bool:
        """Thanks or a filler and no more: nothing is open from the user's side."""
        words = self.words
        short = self.by_user and len(words) <= 80 and "?" not in words and "？" not in words
        return short and (common.is_filler(words) or (common.THANKS.search(words) is not None and not self.requests))

    @cached_property
    def requests(self) -> bool:
        """It asks for something, and says for what."""
        words = self.words[:600]
        read = task_zh.request_of if language_of(words) == "zh" else task_en.request_of
        found = [request for sentence in sentences_of(words)[:3] if (request := read(sentence[:400]))]
        wanted = any(request.asks == "to" for request in found) or cues.NEEDS.search(words) is not None
        return wanted or common.TROUBLE.search(words) is not None

    @cached_property
    def asks(self) -> bool:
        """It is a question that could stand alone."""
        return cues.ASKS.search(self.words[:600]) is not None


def _accepts(words: str) -> bool:
    thanks = 0 < len(words) <= 80 and common.THANKS.search(words) is not None and common.COMPLAINT.search(words) is None
    return bool(words) and (cues.ACCEPTS.fullmatch(words) is not None or (thanks and cues.WISHES.search(words) is None))


def telling(text: str) -> frozenset[str]:
    """The tokens of a text that tell what it is about: no stop words, no courtesies, no bigram with a function character."""
    return frozenset(
        token for token in tokens(text) if len(token) > 1 and token not in _GENERAL and not any(char in _LITTLE_ZH for char in token)
    )
